"""Cards that others recorded, with the answers of their systems (`recorded`, by name), and the published figures."""

from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, Field

from ovrag_core.base import CardError, Frozen, read_records
from ovrag_studies.abstention.cards.card import Card, read_cards
from ovrag_studies.abstention.knowledge.likeness import malformed
from ovrag_studies.abstention.measures import CardOutcome

METRICS = ("AP", "CVRR", "FAR-NE", "LA")


@dataclass(frozen=True, slots=True)
class RecordedCards:
    """Cards and the answer of each system to each of them, in the cards' order."""

    cards: tuple[Card, ...]
    answers: dict[str, tuple[str, ...]]

    @property
    def malformed(self) -> int:
        """Number of cards that name a thing by an IRI that is none."""
        return sum(any(malformed(iri) for iri in (*card.claim.subjects, card.claim.obj)) for card in self.cards)

    @property
    def duplicates(self) -> int:
        """Number of cards that repeat a card before them: the same facts, question and gold."""
        counts = Counter((card.facts, card.question, card.gold) for card in self.cards)
        return sum(times - 1 for times in counts.values())

    def outcomes(self, system: str) -> tuple[CardOutcome, ...]:
        """One system's outcomes. KeyError for an unknown system."""
        answered = zip(self.cards, self.answers[system], strict=True)
        return tuple(CardOutcome(card.id, card.gold, answer, kind=card_kind(card)) for card, answer in answered)


class _Answers(BaseModel, strict=True):
    recorded: Annotated[dict[str, str], Field(min_length=1)]


def read_recorded(path: Path) -> RecordedCards:
    """Cards with recorded answers. Raises CardError as `read_cards`, and where systems differ between lines."""
    cards = read_cards(path, keep_malformed=True)
    recorded: list[dict[str, str]] = []
    for number, line in read_records(path, _Answers, CardError, "it gives answers by system"):
        if recorded and line.recorded.keys() != recorded[0].keys():
            raise CardError(f"{path}, line {number}: the recorded systems are others than in the lines before")
        recorded.append(line.recorded)
    return RecordedCards(cards, {system: tuple(line[system] for line in recorded) for system in recorded[0]})


def card_kind(card: Card) -> str:
    """The subtype of a card; where a record has none, what its id calls it (`CARD_D_000600`: D), else its label."""
    if card.subtype:
        return card.subtype
    segments = card.id.split("_")
    return segments[1] if len(segments) == 3 and segments[0] == "CARD" else card.label


# -- published --------------------------------------------------------------------------------------------------------

Cells = tuple[tuple[int, int, int], tuple[int, int, int]]


class RecordedRun(Frozen):
    """A run as recorded: cells `[[answered E, C, U], [abstained E, C, U]]`, and the metrics as computed then."""

    cells: Cells
    ap: Annotated[float | None, Field(alias="AP")]
    cvrr: Annotated[float, Field(alias="CVRR")]
    far_ne: Annotated[float, Field(alias="FAR-NE")]
    la: Annotated[float, Field(alias="LA")]

    @property
    def metrics(self) -> dict[str, float | None]:
        """The four metrics by their published names."""
        return dict(zip(METRICS, (self.ap, self.cvrr, self.far_ne, self.la), strict=True))


class PublishedRuns(Frozen):
    """Every published figure that ours stand beside."""

    source: str
    recorded: dict[str, RecordedRun]
    paper: dict[str, float]


def published() -> PublishedRuns:
    """The published and recorded figures, as they were given."""
    text = files(__package__).joinpath("published.yaml").read_text(encoding="utf-8")
    return PublishedRuns.model_validate(yaml.safe_load(text))
