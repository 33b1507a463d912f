"""Cards: a question, the claim it makes, and what a graph says of that claim; read from and written to JSON Lines.

One line a card: `{"id", "subtype", "label", "gold", "question", "claim": {"subj", "pred", "obj"}, "why", "phrasing",
"facts"}`. `label` is E (entailed), C (contradicted) or U (neither), `gold` the answer that follows from it; one of the
two may be absent, and so may `facts`, the context that the card was recorded with.
"""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, RootModel, model_validator
from pydantic.dataclasses import dataclass

from ovrag_core.base import CardError, read_records, write_records
from ovrag_core.text import one_line
from ovrag_studies.abstention.knowledge.likeness import malformed

Label = Literal["E", "C", "U"]
Gold = Literal["YES", "NO", "UNKNOWN"]
LABELS: tuple[Label, ...] = get_args(Label)
GOLD: tuple[Gold, ...] = get_args(Gold)
GOLD_OF: dict[str, Gold] = dict(zip(LABELS, GOLD, strict=True))
LABEL_OF: dict[str, Label] = dict(zip(GOLD, LABELS, strict=True))
REMEDY = "name a file of cards, one JSON object a line"


_Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class CardClaim:
    """Claim of a question: a predicate by its name or IRI, between IRIs; `obj` may be the text of a literal.

    `subjects` are several where the name in the question fits several things; a file has them as `subj`.
    """

    subjects: Annotated[
        tuple[_Text, ...],
        Field(min_length=1, alias="subj"),
        BeforeValidator(lambda read: [read] if isinstance(read, str) else read),
    ]
    pred: _Text
    obj: _Text


@dataclass(frozen=True, slots=True)
class Card:
    """A question with the answer that the graph licenses. `subtype` is the kind of card, `why` a reason for people."""

    id: _Text
    subtype: str
    label: Label
    gold: Gold
    question: _Text
    claim: CardClaim
    why: str = ""
    phrasing: str = ""
    facts: tuple[str, ...] = ()


class _CardLine(RootModel[Card]):
    """A card as a line of a file gives it, where label or gold may follow from one another."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, read: object) -> object:
        if not isinstance(read, dict):
            return read
        gold, label = str(read.get("gold") or ""), str(read.get("label") or "")
        if not gold and not label:
            raise ValueError(f"neither gold ({', '.join(GOLD)}) nor label ({', '.join(LABELS)}) is given")
        gold, label = gold or GOLD_OF.get(label, "UNKNOWN"), label or LABEL_OF.get(gold, "U")
        if label in GOLD_OF and gold in LABEL_OF and GOLD_OF[label] != gold:
            raise ValueError(f"label {label} and gold {gold} disagree; {label} means {GOLD_OF[label]}")
        return {"subtype": ""} | read | {"gold": gold, "label": label}


def read_cards(path: Path, *, keep_malformed: bool = False) -> tuple[Card, ...]:
    """The cards of a file, in its order; IRIs that are none are kept only where `keep_malformed` is set.

    Raises CardError for a file that cannot be read or holds no card, and, with the line, for broken JSON, a missing
    field, an unknown gold or label or two that disagree, an id that stands twice, and a malformed IRI.
    """
    cards: list[Card] = []
    line_of: dict[str, int] = {}
    for number, line in read_records(path, _CardLine, CardError, REMEDY):
        where = f"{path}, line {number}"
        card = line.root
        if card.id in line_of:
            raise CardError(
                f"{where}: the id {one_line(card.id, 60)!r} stands in line {line_of[card.id]} already; give every card "
                "its own"
            )
        iris = [("subj", subject) for subject in card.claim.subjects]
        for field, iri in () if keep_malformed else (*iris, ("pred", card.claim.pred), ("obj", card.claim.obj)):
            if malformed(iri):
                raise CardError(
                    f"{where}: claim.{field} is no IRI: {one_line(iri, 100)}; write it once and whole, "
                    "or import the file as a recorded one"
                )
        line_of[card.id] = number
        cards.append(card)
    if not cards:
        raise CardError(f"{path} holds no card; give one JSON object a line")
    return tuple(cards)


def write_cards(cards: Iterable[Card], path: Path) -> int:
    """Write cards as lines of JSON and return their number. Raises CardError where they cannot be written."""
    return write_records(map(as_record, cards), path, CardError)


def as_record(card: Card) -> dict[str, object]:
    """A card as it stands in a file; `facts` only where there are any."""
    subject, *more = card.claim.subjects
    claim = {"subj": [subject, *more] if more else subject, "pred": card.claim.pred, "obj": card.claim.obj}
    record: dict[str, object] = asdict(card) | {"claim": claim, "facts": list(card.facts)}
    if not card.facts:
        del record["facts"]
    return record
