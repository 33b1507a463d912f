"""Recorded attempts judged again by our validator, as arms of their own that stand beside the recorded ones."""

from collections.abc import Iterator, Sequence

from tqdm import tqdm

from ovrag_core.base import Attempt, Outcome, QueryRecord, RunError, Status, Verdict
from ovrag_core.loop.arms import ARMS
from ovrag_core.loop.validation import Validator

SUFFIX = "_rejudged"
NO_TRIPLES = "no triples were recorded"


def rejudged(records: Sequence[QueryRecord], validator: Validator) -> list[QueryRecord]:
    """The queries of which triples were recorded, judged anew as an arm of their own: `ovrag` becomes `ovrag_rejudged`.

    The loop stops at the first attempt that is consistent; attempts that the recorded loop did not make cannot be made
    up for. Raises RunError for a run without triples.
    """
    arms = {record.arm for record in records if any(attempt.triples for attempt in record.attempts)}
    if not arms:
        raise RunError("the run has no recorded triples to judge again; import the file that has the answers in it")
    todo = [record for record in records if record.arm in arms]
    shown = tqdm(todo, unit="query", delay=2, disable=None, desc="judging again")
    return [_rejudged(record, validator) for record in shown]


def _rejudged(record: QueryRecord, validator: Validator) -> QueryRecord:
    recorded = record.recorded.model_copy(update={"attempts": None}) if record.recorded else None
    anew = record.model_copy(update={"arm": record.arm + SUFFIX, "cause": None, "recorded": recorded})
    if record.outcome == "error":
        return anew
    attempts = tuple(_judged(record, validator))
    verdict = attempts[-1].verdict if attempts else Verdict(status="unchecked", reason=record.error)
    assert verdict is not None
    consistent: Outcome = "accepted" if len(attempts) == 1 else "corrected"
    outcomes: dict[Status, Outcome] = {"consistent": consistent, "inconsistent": "hard_rejected"}
    outcome = outcomes.get(verdict.status, "unchecked")
    error = verdict.reason if outcome == "unchecked" else None
    return anew.model_copy(update={"attempts": attempts, "outcome": outcome, "error": error})


def _judged(record: QueryRecord, validator: Validator) -> Iterator[Attempt]:
    closed = any(arm.closed_world for name, arm in ARMS.items() if name == record.arm)
    for attempt in record.attempts:
        verdict = Verdict(status="unchecked", reason=NO_TRIPLES)
        if attempt.triples:
            verdict = validator.check(attempt.triples, closed_world=closed, document=record.document_id)
        yield attempt.model_copy(update={"verdict": verdict})
        if verdict.status == "consistent":
            return
