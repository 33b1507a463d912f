"""Cards: a question, the claim it makes, and what a graph says of that claim; read from and written to JSON Lines.

One line a card: `{"id", "subtype", "gold", "question", "claim": {"subj", "pred", "obj"}, "why", "label"}`. `gold` is
the answer; `label`, which is not read, says the same: E (entailed), C (contradicted) or U (neither).
"""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, RootModel
from pydantic.dataclasses import dataclass

from ovrag_core.base import CardError, read_records, write_records
from ovrag_core.text import one_line

Label = Literal["E", "C", "U"]
Gold = Literal["YES", "NO", "UNKNOWN"]
LABELS: tuple[Label, ...] = get_args(Label)
GOLD: tuple[Gold, ...] = get_args(Gold)
GOLD_OF: dict[Label, Gold] = dict(zip(LABELS, GOLD, strict=True))
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
    gold: Gold
    question: _Text
    claim: CardClaim
    why: str = ""

    @property
    def label(self) -> Label:
        """The letter of the gold answer."""
        return LABELS[GOLD.index(self.gold)]


def read_cards(path: Path) -> tuple[Card, ...]:
    """The cards of a file, in its order.

    Raises CardError for a file that cannot be read or holds no card, and, with the line, for broken JSON, a missing
    field, an unknown gold, and an id that stands twice.
    """
    cards: dict[str, Card] = {}
    for number, line in read_records(path, RootModel[Card], CardError, REMEDY):
        card = line.root
        if card.id in cards:
            raise CardError(
                f"{path}, line {number}: the id {one_line(card.id, 60)!r} stands in a line before; change it"
            )
        cards[card.id] = card
    if not cards:
        raise CardError(f"{path} holds no card; give one JSON object a line")
    return tuple(cards.values())


def write_cards(cards: Iterable[Card], path: Path) -> int:
    """Write cards as lines of JSON and return their number. Raises CardError where they cannot be written."""
    return write_records(map(as_record, cards), path, CardError)


def as_record(card: Card) -> dict[str, object]:
    """A card as it stands in a file."""
    subject, *more = card.claim.subjects
    claim = {"subj": [subject, *more] if more else subject, "pred": card.claim.pred, "obj": card.claim.obj}
    return asdict(card) | {"label": card.label, "claim": claim}
