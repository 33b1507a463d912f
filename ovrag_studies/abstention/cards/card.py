"""Cards: a question, the claim it makes, and what a graph says of that claim; read from and written to JSON Lines.

One line a card: `{"id", "subtype", "label", "gold", "question", "claim": {"subj", "pred", "obj"}, "why", "phrasing",
"facts"}`. `label` is E (entailed), C (contradicted) or U (neither), `gold` the answer that follows from it; one of the
two may be absent. `subj` is a list where the name in the question fits several things. `facts` is the context that the
card was recorded with, and often absent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ovrag_core.base import CardError, read_records, write_records
from ovrag_core.text import one_line
from ovrag_studies.abstention.knowledge.iris import malformed

Label = Literal["E", "C", "U"]
Gold = Literal["YES", "NO", "UNKNOWN"]
LABELS: tuple[Label, ...] = get_args(Label)
GOLD: tuple[Gold, ...] = get_args(Gold)
GOLD_OF: dict[Label, Gold] = dict(zip(LABELS, GOLD, strict=True))
LABEL_OF: dict[Gold, Label] = dict(zip(GOLD, LABELS, strict=True))
REMEDY = "name a file of cards, one JSON object a line"


@dataclass(frozen=True, slots=True)
class CardClaim:
    """What a question claims: a predicate by its name or IRI, between IRIs; `obj` may be the text of a literal.

    `subj` is a tuple where the name in the question fits several things.
    """

    subj: str | tuple[str, ...]
    pred: str
    obj: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """All things that the subject's name fits; one unless it is ambiguous."""
        return (self.subj,) if isinstance(self.subj, str) else self.subj


@dataclass(frozen=True, slots=True)
class Card:
    """A question with the answer that the graph licenses. `subtype` is the kind of card, `why` a reason for people."""

    id: str
    subtype: str
    label: Label
    gold: Gold
    question: str
    claim: CardClaim
    why: str = ""
    phrasing: str = ""
    facts: tuple[str, ...] = ()


class _Read(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


_Text = Annotated[str, Field(min_length=1)]


class _Claim(_Read):
    subj: Annotated[
        list[_Text], Field(min_length=1), BeforeValidator(lambda read: [read] if isinstance(read, str) else read)
    ]
    pred: _Text
    obj: _Text


class _CardLine(_Read):
    id: _Text
    subtype: str = ""
    label: Label | None = None
    gold: Gold | None = None
    question: _Text
    claim: _Claim
    why: str = ""
    phrasing: str = ""
    facts: list[str] = []


def read_cards(path: Path, *, keep_malformed: bool = False) -> tuple[Card, ...]:
    """The cards of a file, in its order; IRIs that are none are kept only where `keep_malformed` is set.

    Raises CardError for a file that cannot be read or holds no card, and, with the line, for broken JSON, a missing
    field, an unknown gold or label or two that disagree, an id that stands twice, and a malformed IRI.
    """
    cards: list[Card] = []
    seen: dict[str, int] = {}
    for number, line in read_records(path, _CardLine, CardError, REMEDY):
        where = f"{path}, line {number}"
        card = _card(line, where)
        if card.id in seen:
            raise CardError(
                f"{where}: the id {one_line(card.id, 60)!r} stands in line {seen[card.id]} already; give every card "
                "its own"
            )
        if not keep_malformed:
            _refuse_malformed(card, where)
        seen[card.id] = number
        cards.append(card)
    if not cards:
        raise CardError(f"{path} holds no card; give one JSON object a line")
    return tuple(cards)


def write_cards(cards: Iterable[Card], path: Path) -> int:
    """Write cards as lines of JSON and return their number. Raises CardError where they cannot be written."""
    return write_records(map(as_record, cards), path, CardError)


def as_record(card: Card) -> dict[str, object]:
    """A card as it stands in a file; `facts` only where there are any."""
    claim: dict[str, object] = {
        "subj": card.claim.subj if isinstance(card.claim.subj, str) else list(card.claim.subj),
        "pred": card.claim.pred,
        "obj": card.claim.obj,
    }
    record: dict[str, object] = {
        "id": card.id,
        "subtype": card.subtype,
        "label": card.label,
        "gold": card.gold,
        "question": card.question,
        "claim": claim,
        "why": card.why,
        "phrasing": card.phrasing,
    }
    return record | ({"facts": list(card.facts)} if card.facts else {})


def _card(read: _CardLine, where: str) -> Card:
    label = read.label or (LABEL_OF[read.gold] if read.gold else None)
    if label is None:
        raise CardError(f"{where}: neither gold ({', '.join(GOLD)}) nor label ({', '.join(LABELS)}) is given")
    gold = read.gold or GOLD_OF[label]
    if GOLD_OF[label] != gold:
        raise CardError(f"{where}: label {label} and gold {gold} disagree; {label} means {GOLD_OF[label]}")
    subj = read.claim.subj
    claim = CardClaim(subj[0] if len(subj) == 1 else tuple(subj), read.claim.pred, read.claim.obj)
    return Card(read.id, read.subtype, label, gold, read.question, claim, read.why, read.phrasing, tuple(read.facts))


def _refuse_malformed(card: Card, where: str) -> None:
    for field, iri in (("subj", each) for each in card.claim.subjects):
        _refuse(iri, field, where)
    _refuse(card.claim.pred, "pred", where)
    _refuse(card.claim.obj, "obj", where)


def _refuse(iri: str, field: str, where: str) -> None:
    if malformed(iri):
        raise CardError(
            f"{where}: claim.{field} is no IRI: {one_line(iri, 100)}; write it once and whole, "
            "or import the file as a recorded one"
        )
