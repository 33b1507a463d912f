"""Cost of a run's queries: attempts, model calls, tokens and money, and what attempts did to the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from ovrag_core.base import Attempt, Outcome, QueryRecord
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
REFUSED = "flagged at once"
UNSAID = "not recorded"


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
        groups = [(str(name), of_arm[of_arm["outcome"] == name]) for name in OUTCOMES]
        for outcome, group in [*groups, ("all", of_arm)]:
            if group.empty or (outcome == "all" and of_arm["outcome"].nunique() == 1):
                continue
            row: dict[str, object] = {"arm": arm, "outcome": outcome, "queries": len(group)}
            for name in MEASURES:
                row |= columns(name, mean_of(group, name, plan))
            priced = group["cost_usd"].notna().any()
            rows.append(row | {"cost_usd_sum": float(group["cost_usd"].sum()) if priced else None})
    ends = [f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")]
    table = pd.DataFrame(rows, columns=["arm", "outcome", "queries", *ends, "cost_usd_sum"])
    numbers = [*ends, "cost_usd_sum"]
    table[numbers] = table[numbers].astype(float)
    return table


def rejects(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """Each hard reject: arm, document, question, label, cause, attempts, distinct answers, rules at first and at last.

    `course` says what the attempts did to the reasons: the same, fewer, more, or others.
    """
    rows = []
    for record in ordered(records):
        if record.outcome != "hard_rejected":
            continue
        rules = [_rules(attempt) for attempt in record.attempts]
        answers = len({attempt.answer.text for attempt in record.attempts})
        rules_first, rules_last = (rules[0], rules[-1]) if rules else (frozenset[str](), frozenset[str]())
        key = (record.arm, record.document_id, record.question_id, record.label or "", record.cause or "")
        names = (", ".join(sorted(rules_first)), ", ".join(sorted(rules_last)))
        rows.append((*key, record.attempt_count, answers or None, *names, _course(rules)))
    keys = ["arm", "document_id", "question_id", "label", "cause", "attempts"]
    table = pd.DataFrame(rows, columns=[*keys, "distinct_answers", "rules_first", "rules_last", "course"])
    return table.astype({"distinct_answers": "Int64"})


def _usage(record: QueryRecord) -> tuple[float | None, ...]:
    usage = record.usage
    if record.recorded and not usage.calls:
        return (None, None, None, record.cost_usd)
    return (usage.calls, usage.prompt_tokens, usage.completion_tokens, record.cost_usd)


def _rules(attempt: Attempt) -> frozenset[str]:
    if attempt.verdict is None:
        return frozenset()
    return frozenset(violation.rule for violation in attempt.verdict.violations if violation.severity == "clash")


def _course(rules: Sequence[frozenset[str]]) -> str:
    if not any(rules):
        return UNSAID
    if len(rules) == 1:
        return REFUSED
    if all(before == after for before, after in pairwise(rules)):
        return "same reasons"
    if rules[-1] < rules[0]:
        return "fewer reasons"
    return "more reasons" if rules[-1] > rules[0] else "other reasons"
