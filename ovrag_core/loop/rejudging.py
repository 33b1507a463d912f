"""Recorded attempts judged again: their triples, or those with what we read in their answers, by our validator.

The verdicts stand beside the recorded ones as arms of their own, so that every table and figure compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tqdm import tqdm

from ovrag_core.base import Attempt, Outcome, QueryRecord, Reading, Rejudging, RunError, Triple, Verdict
from ovrag_core.loop.arms import ARMS
from ovrag_core.loop.pipeline import Checker, Extractor, merged

SUFFIX: dict[Rejudging, str] = {"triples": "_rejudged", "answers": "_reread"}
NO_TRIPLES = "no triples were recorded"


def rejudged(
    records: Sequence[QueryRecord],
    validator: Checker,
    reader: Extractor[Reading],
    ways: Sequence[Rejudging] = ("triples",),
) -> list[QueryRecord]:
    """The queries of which triples were recorded, judged anew in each of these ways, each as an arm of its own.

    `triples` takes the recorded triples as they are (`ovrag` becomes `ovrag_rejudged`). `answers` adds those that
    `reader` finds in the recorded answers, about the one loan of the published system (`ovrag_reread`). The loop stops
    at the first attempt that is consistent; attempts that the recorded loop did not make cannot be made up for.
    Raises RunError for a run without triples.
    """
    arms = {record.arm for record in records if any(attempt.triples for attempt in record.attempts)}
    if not arms:
        raise RunError("the run has no recorded triples to judge again; import the file that has the answers in it")
    todo = [(way, record) for way in ways for record in records if record.arm in arms]
    return [
        _rejudged(record, validator, reader, way)
        for way, record in tqdm(todo, unit="query", delay=2, disable=None, desc="judging again")
    ]


def _rejudged(record: QueryRecord, validator: Checker, reader: Extractor[Reading], way: Rejudging) -> QueryRecord:
    attempts = record.attempts if record.outcome == "error" else tuple(_judged(record, validator, reader, way))
    outcome, reason = _outcome(record, attempts)
    recorded = record.recorded.model_copy(update={"attempts": None}) if record.recorded else None
    return record.model_copy(
        update={
            "arm": record.arm + SUFFIX[way],
            "attempts": attempts,
            "outcome": outcome,
            "cause": None,
            "error": reason,
            "recorded": recorded,
        }
    )


def _judged(record: QueryRecord, validator: Checker, reader: Extractor[Reading], way: Rejudging) -> Iterator[Attempt]:
    arm = next((arm for name, arm in ARMS.items() if name == record.arm), None)
    for attempt in record.attempts:
        triples = attempt.triples if way == "triples" else _with_reading(attempt, reader)
        verdict = Verdict(status="unchecked", reason=NO_TRIPLES)
        if triples:
            closed = arm is not None and arm.closed_world
            verdict = validator.check(triples, closed_world=closed, document=record.document_id)
        yield attempt.model_copy(update={"triples": triples, "verdict": verdict})
        if verdict.status == "consistent":
            return


def _with_reading(attempt: Attempt, reader: Extractor[Reading]) -> tuple[Triple, ...]:
    """The recorded triples, then what the reader finds in the answer, about one loan, without repetitions."""
    read = reader.read_passage(attempt.answer.text, document_id="answer", origin="answer")
    return merged([*attempt.triples, *read])


def _outcome(record: QueryRecord, attempts: Sequence[Attempt]) -> tuple[Outcome, str | None]:
    if record.outcome == "error" or not attempts:
        return ("error" if record.outcome == "error" else "unchecked"), record.error
    verdict = attempts[-1].verdict
    assert verdict is not None
    if verdict.status == "unchecked":
        return "unchecked", verdict.reason
    if verdict.status == "inconsistent":
        return "hard_rejected", None
    return ("accepted" if len(attempts) == 1 else "corrected"), None
