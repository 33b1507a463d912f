"""Records of what systems said of cards, as lines of JSON: the same bytes on every run, seconds in a file apart."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ovrag_core.base import CardError, Frozen, read_records, sidecar, write_records
from ovrag_studies.abstention.arms.model_replies import CardAnswer
from ovrag_studies.abstention.cards.card import Gold
from ovrag_studies.abstention.measures import CardOutcome

REMEDY = "give what `ovrag epistemic run` wrote"


class Record(Frozen):
    """Answer of one system to one card. `cluster` names the cards that are not independent of it."""

    id: str
    arm: str
    subtype: str
    cluster: str
    gold: Gold
    answer: CardAnswer
    confidence: Annotated[float, Field(ge=0, le=1)]
    evidence: tuple[str, ...] = ()
    detail: str = ""

    def outcome(self) -> CardOutcome:
        """The record as metrics count it."""
        return CardOutcome(self.id, self.gold, str(self.answer), self.confidence, self.cluster, self.subtype)


@dataclass(frozen=True, slots=True)
class CardRun:
    """Answers of systems to cards, arm after arm, and the seconds that each answer took, unless read from a file."""

    records: tuple[Record, ...]
    seconds: tuple[float, ...] = ()

    def by_arm(self) -> dict[str, tuple[Record, ...]]:
        """The records of each arm, in the order of cards."""
        arms = dict.fromkeys(record.arm for record in self.records)
        return {arm: tuple(record for record in self.records if record.arm == arm) for arm in arms}


def write_run(made: CardRun, path: Path) -> None:
    """Write records as lines of JSON, and their seconds beside them. Raises CardError where they cannot be written."""
    seconds = (
        {"id": record.id, "arm": record.arm, "seconds": round(duration, 6)}
        for record, duration in zip(made.records, made.seconds, strict=True)
    )
    write_records((record.model_dump(mode="json") for record in made.records), path, CardError)
    write_records(seconds, sidecar(path, "latency"), CardError)


def read_run(path: Path) -> CardRun:
    """The records of a run as they were written. Raises CardError, with the line, for what is none."""
    return CardRun(tuple(record for _, record in read_records(path, Record, CardError, REMEDY)))
