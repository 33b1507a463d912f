"""Cost of a run's queries: attempts, model calls, tokens and money, and what attempts did to the reasons."""

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from ovrag_core.base import Attempt, QueryRecord
from ovrag_core.evaluation.confusion import bounds, mean_of, ordered, with_bounds
from ovrag_core.evaluation.statistics import Resampling

OUTCOMES = ["accepted", "corrected", "hard_rejected", "source_finding", "unchecked", "error"]
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


def rejects(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """Each hard reject: arm, document, question, label, cause, attempts, distinct answers, rules at first and at last.

    `course` says what the attempts did to the reasons: the same, fewer, more, or others.
    """
    rows = []
    for record in ordered([record for record in records if record.outcome == "hard_rejected"]):
        rules = [broken_rules(attempt) for attempt in record.attempts]
        answers = len({attempt.answer.text for attempt in record.attempts})
        key = (record.arm, record.document_id, record.question_id, record.label or "", record.cause or "")
        names = [", ".join(sorted(broken)) for broken in (rules[0], rules[-1])] if rules else ["", ""]
        rows.append((*key, record.attempt_count, answers or None, *names, _course(rules)))
    keys = ["arm", "document_id", "question_id", "label", "cause", "attempts"]
    table = pd.DataFrame(rows, columns=[*keys, "distinct_answers", "rules_first", "rules_last", "course"])
    return table.astype({"distinct_answers": "Int64"})


def _usage(record: QueryRecord) -> tuple[float | None, ...]:
    usage = record.usage
    known_usage = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    return (*((None, None, None) if record.recorded and not usage.calls else known_usage), record.cost_usd)


def broken_rules(attempt: Attempt) -> frozenset[str]:
    """The rules of the clashes that an attempt was judged to have."""
    violations = attempt.verdict.violations if attempt.verdict else ()
    return frozenset(violation.rule for violation in violations if violation.severity == "clash")


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
