"""Tables of what a run's queries cost, and of what a model said in vain."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ovrag_core.base import QueryRecord
from ovrag_core.evaluation import Resampling, confusion
from ovrag_core.report.consistency import OUTCOMES
from ovrag_core.report.run import MARK, Run, with_rows
from ovrag_core.report.tables import with_bounds

MEASURES = ("attempts", "calls", "prompt_tokens", "completion_tokens", "cost_usd")


def by_outcome(records: Sequence[QueryRecord], plan: Resampling) -> pd.DataFrame:
    """Per arm and outcome, and over all outcomes: queries, mean of each measure with its interval, summed cost (USD).

    Intervals have documents as clusters. A mean over no query with a value is missing. The cost is missing where no
    price was known, and calls and tokens where a run recorded elsewhere has none.
    """
    spent = [
        (r.arm, r.document_id, r.outcome, r.attempt_count, *_usage(r), r.cost_usd) for r in confusion.ordered(records)
    ]
    frame = pd.DataFrame(spent, columns=["arm", "document_id", "outcome", *MEASURES])
    frame = frame.astype(dict.fromkeys(MEASURES[1:], float))
    rows = []
    for arm, of_arm in frame.groupby("arm", sort=False):
        groups = {name: of_arm[of_arm["outcome"] == name] for name in OUTCOMES if name in set(of_arm["outcome"])}
        for outcome, group in (groups | ({"all": of_arm} if len(groups) > 1 else {})).items():
            row: dict[str, object] = {"arm": arm, "outcome": outcome, "queries": len(group)}
            for name in MEASURES:
                row |= confusion.bounds(name, confusion.mean_of(group, name, plan))
            rows.append(row | {"cost_usd_sum": group["cost_usd"].sum(min_count=1)})
    numbers = [*with_bounds(MEASURES), "cost_usd_sum"]
    return pd.DataFrame(rows, columns=["arm", "outcome", "queries", *numbers]).astype(dict.fromkeys(numbers, float))


def _usage(record: QueryRecord) -> tuple[int | None, ...]:
    usage = record.usage
    known = usage.calls or not record.recorded
    return (usage.calls, usage.prompt_tokens, usage.completion_tokens) if known else (None, None, None)


def effort_table(run: Run) -> pd.DataFrame:
    """Attempts, model calls, tokens and cost per query by arm and outcome: `effort`.

    Columns without any value, as a cost where no price was known, are left out of LaTeX.
    """
    table, beside = by_outcome(run.records, run.plan), _published_efforts(run)
    spent = [name for name in MEASURES[1:] if table[name].fillna(0).any()]
    shown = ["arm", "outcome", "queries", *with_bounds(["attempts", *spent])]
    shown += ["cost_usd_sum"] if table["cost_usd_sum"].notna().any() else []
    shown += ["calls"] if beside and "calls" not in shown else []
    unpaid = "; the run does not say what its model was paid for" if run.imported else "; no model was called"
    decimals = {"attempts": 2, "calls": 2, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 4, "cost_usd_sum": 2}
    table = with_rows(table, beside, ["queries"])
    return run.table(table[shown], "effort", {"unpaid": "" if spent else unpaid}, decimals=decimals, full=table)


def _published_efforts(run: Run) -> list[dict[str, object]]:
    """Published queries of each outcome with their mean attempts and model calls, where both were published."""
    rows: list[dict[str, object]] = []
    calls = run.published.calls_by_attempts if run.published else {}
    for arm in run.arms:
        accepted, rejected = run.printed(arm).get("accepted_at"), run.printed(arm).get("hard_rejected")
        if not calls or accepted is None or rejected is None:
            continue
        attempts = {"accepted": {1: accepted[0]}, "corrected": {k + 1: n for k, n in accepted.items() if k}}
        for outcome, queries in (attempts | {"hard_rejected": {max(calls): int(rejected)}}).items():
            if n := sum(queries.values()):
                row: dict[str, object] = {"arm": f"{arm} {MARK}", "outcome": outcome, "queries": n}
                row["attempts"] = sum(count * tries for tries, count in queries.items()) / n
                rows.append(row | {"calls": sum(count * calls[tries] for tries, count in queries.items()) / n})
    return rows


def discarded_table(run: Run) -> pd.DataFrame:
    """Statements of a model that became no triples, by arm and reason: `discarded`."""
    rows = [(record.arm, reason, number) for record in run.records for reason, number in record.discarded.items()]
    table = pd.DataFrame(rows, columns=["arm", "reason", "statements"])
    return run.table(table.groupby(["arm", "reason"], as_index=False).sum(), "discarded")
