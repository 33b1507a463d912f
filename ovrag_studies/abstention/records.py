"""What systems said of cards, as lines of JSON: the same bytes on every run, as the seconds stand in a file apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ovrag_core.base.errors import CardError
from ovrag_studies.abstention.cards import Gold, numbered_lines
from ovrag_studies.abstention.metrics import Outcome
from ovrag_studies.abstention.replies import Answer


class Record(BaseModel):
    """What one system said of one card. `cluster` names the cards that are not independent of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    arm: str
    subtype: str
    phrasing: str
    cluster: str
    gold: Gold
    answer: Answer
    confidence: Annotated[float, Field(ge=0, le=1)]
    evidence: tuple[str, ...] = ()
    detail: str = ""

    def outcome(self) -> Outcome:
        """The record as metrics count it."""
        return Outcome(self.id, self.gold, str(self.answer), self.confidence, self.cluster, self.subtype)


@dataclass(frozen=True, slots=True)
class Run:
    """What systems said of cards, arm after arm, and the seconds that each answer took."""

    records: tuple[Record, ...]
    seconds: tuple[float, ...]

    def by_arm(self) -> dict[str, tuple[Record, ...]]:
        """The records of each arm, in the order of cards."""
        return by_arm(self.records)


def by_arm(records: Iterable[Record]) -> dict[str, tuple[Record, ...]]:
    """The records of each arm, in their order."""
    found: dict[str, list[Record]] = {}
    for each in records:
        found.setdefault(each.arm, []).append(each)
    return {arm: tuple(listed) for arm, listed in found.items()}


def latency_file(path: Path) -> Path:
    """Where the seconds of a run stand: beside its records."""
    return path.with_name(f"{path.stem}.latency{path.suffix}")


def write_run(made: Run, path: Path) -> None:
    """Write records as lines of JSON, and their seconds beside them; files appear when they are whole.

    Raises CardError where they cannot be written.
    """
    seconds = (
        {"id": each.id, "arm": each.arm, "seconds": round(taken, 6)}
        for each, taken in zip(made.records, made.seconds, strict=True)
    )
    _write_lines((each.model_dump(mode="json") for each in made.records), path)
    _write_lines(seconds, latency_file(path))


def _write_lines(lines: Iterable[Mapping[str, object]], path: Path) -> None:
    unfinished = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        unfinished.replace(path)
    except OSError as error:
        raise CardError(f"{path} cannot be written ({error.strerror}); name a file in a folder that can be") from None


def read_run(path: Path) -> Run:
    """A run as `write_run` wrote it, without seconds where they are not beside it.

    Raises CardError, with the line, for what is no record or stands twice.
    """
    records: dict[tuple[str, str], Record] = {}
    for number, line in numbered_lines(path):
        try:
            record = Record.model_validate_json(line)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "the line"
            raise CardError(f"{path}, line {number}: {where} is not as a record has it; run the study again") from None
        if (record.id, record.arm) in records:
            raise CardError(f"{path}, line {number}: {record.arm} has answered {record.id} before; keep one of the two")
        records[record.id, record.arm] = record
    return Run(tuple(records.values()), _read_seconds(latency_file(path)))


def _read_seconds(path: Path) -> tuple[float, ...]:
    if not path.is_file():
        return ()
    try:
        return tuple(float(json.loads(line)["seconds"]) for _, line in numbered_lines(path))
    except (ValueError, TypeError, KeyError):
        raise CardError(f"{path} holds something else than seconds; run the study again") from None
