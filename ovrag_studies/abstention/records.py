"""What systems say of cards: answers, how a model's reply is read as one, and records of them as lines of JSON.

The lines have the same bytes on every run; seconds are in a file apart.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ovrag_core.base import CardError, Frozen, read_records, sidecar, write_records
from ovrag_studies.abstention.cards.card import Gold
from ovrag_studies.abstention.measures import CardOutcome

REMEDY = "give what `ovrag epistemic run` wrote"
UNSURE = 0.5  # the confidence of a reply that gives none
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.S)
_CONFIDENCE = re.compile(r"\D{0,40}(\d{1,3})\s*%?\W*")  # `90`, `Confidence: 90%`


class CardAnswer(StrEnum):
    """Answer of a system to a card. `unparsed` and `failed` are no abstentions: they count beside the three answers."""

    YES = "YES"
    NO = "NO"
    UNKNOWN = "UNKNOWN"
    UNPARSED = "unparsed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CardReply:
    """A system's answer to a card. `evidence` are passages or triples, `detail` says why in words, for people.

    `confidence` lies between 0 and 1; `seconds` are those of the clock, and the only part that differs between runs.
    """

    answer: CardAnswer
    confidence: float
    evidence: tuple[str, ...] = ()
    seconds: float = 0.0
    detail: str = ""


def read_reply(text: str) -> CardReply:
    """Read a model's whole reply: the word on its first line, signs around it left aside, and a number on a later one.

    Unparsed is what begins with no such word ("Yesterday"), or has several of the words on lines of their own.
    """
    lines = [line.strip() for line in _THOUGHT.sub("", text).splitlines() if line.strip()]
    said = [line.strip(" .,:;!?*_`\"'()[]").upper() for line in lines]
    words = {word for word in said if word in ("YES", "NO", "UNKNOWN")}
    answer = CardAnswer(said[0]) if len(words) == 1 and said[0] in words else CardAnswer.UNPARSED
    numbers = [int(match[1]) for line in lines[1:] if (match := _CONFIDENCE.fullmatch(line))]
    return CardReply(answer, next((number / 100 for number in numbers if number <= 100), UNSURE))


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
