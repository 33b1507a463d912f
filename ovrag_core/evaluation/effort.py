"""Cost of a run's queries: attempts, model calls, tokens and money."""

from collections.abc import Sequence

import pandas as pd

from ovrag_core.base import Attempt, QueryRecord
from ovrag_core.evaluation.confusion import bounds, mean_of, ordered, with_bounds
from ovrag_core.evaluation.statistics import Resampling

OUTCOMES = ["accepted", "corrected", "hard_rejected", "source_finding", "unchecked", "error"]
MEASURES = ("attempts", "calls", "prompt_tokens", "completion_tokens", "cost_usd")


def effort_frame(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """One row a query: arm, document_id, question_id, outcome, attempts, calls, prompt and completion tokens, cost_usd.

    The cost is missing where no price was known, and calls and tokens where a run recorded elsewhere has none.
    """
    rows = [
        (record.arm, record.document_id, record.question_id, record.outcome, record.attempt_count, *_usage(record))
        for record in ordered(records)
    ]
    frame = pd.DataFrame(rows, columns=["arm", "document_id", "question_id", "outcome", *MEASURES])
    return frame.astype(dict.fromkeys(MEASURES[1:], float))


def by_outcome(frame: pd.DataFrame, plan: Resampling) -> pd.DataFrame:
    """Per arm and outcome, and over all outcomes: queries, mean of each measure with its interval, summed cost.

    Intervals have documents as clusters. A mean over no query with a value is missing.
    """
    rows = []
    for arm, of_arm in frame.groupby("arm", sort=False):
        groups = {name: of_arm[of_arm["outcome"] == name] for name in OUTCOMES}
        if of_arm["outcome"].nunique() > 1:
            groups["all"] = of_arm
        for outcome, group in groups.items():
            row: dict[str, object] = {"arm": arm, "outcome": outcome, "queries": len(group)}
            for name in MEASURES:
                row |= bounds(name, mean_of(group, name, plan))
            rows += [row | {"cost_usd_sum": group["cost_usd"].sum(min_count=1)}] if len(group) else []
    numbers = [*with_bounds(MEASURES), "cost_usd_sum"]
    table = pd.DataFrame(rows, columns=["arm", "outcome", "queries", *numbers])
    return table.astype(dict.fromkeys(numbers, float))


def _usage(record: QueryRecord) -> tuple[float | None, ...]:
    usage = record.usage
    known_usage = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    return (*((None, None, None) if record.recorded and not usage.calls else known_usage), record.cost_usd)


def broken_rules(attempt: Attempt) -> frozenset[str]:
    """The rules of the clashes that an attempt was judged to have."""
    violations = attempt.verdict.violations if attempt.verdict else ()
    return frozenset(violation.rule for violation in violations if violation.severity == "clash")
