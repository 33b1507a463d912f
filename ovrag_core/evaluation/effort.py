"""What a run's queries cost: attempts, model calls, tokens and money."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ovrag_core.base.types import Outcome, QueryRecord
from ovrag_core.evaluation.confusion import columns, mean_of, ordered
from ovrag_core.evaluation.statistics import Resampling

OUTCOMES: tuple[Outcome, ...] = (
    "accepted",
    "corrected",
    "hard_rejected",
    "source_finding",
    "unchecked",
    "error",
)
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
    numbers = list(MEASURES[1:])
    frame[numbers] = frame[numbers].astype(float)
    return frame


def by_outcome(frame: pd.DataFrame, plan: Resampling) -> pd.DataFrame:
    """Per arm and outcome, and over all outcomes: queries, mean of each measure with its interval, summed cost.

    Intervals have documents as clusters. A mean over no query with a value is missing.
    """
    rows = []
    for arm, of_arm in frame.groupby("arm", sort=False):
        parts = [(str(name), of_arm[of_arm["outcome"] == name]) for name in OUTCOMES]
        for outcome, part in [*parts, ("all", of_arm)]:
            if part.empty or (outcome == "all" and of_arm["outcome"].nunique() == 1):
                continue
            row: dict[str, object] = {"arm": arm, "outcome": outcome, "queries": len(part)}
            for name in MEASURES:
                row |= columns(name, mean_of(part, name, plan))
            priced = part["cost_usd"].notna().any()
            rows.append(row | {"cost_usd_sum": float(part["cost_usd"].sum()) if priced else None})
    ends = [f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")]
    table = pd.DataFrame(rows, columns=["arm", "outcome", "queries", *ends, "cost_usd_sum"])
    numbers = [*ends, "cost_usd_sum"]
    table[numbers] = table[numbers].astype(float)
    return table


def _usage(record: QueryRecord) -> tuple[float | None, ...]:
    usage = record.usage
    if record.recorded and not usage.calls:
        return (None, None, None, record.cost_usd)
    return (usage.calls, usage.prompt_tokens, usage.completion_tokens, record.cost_usd)
