"""Tables of what a run's queries cost, and of what a model said in vain."""

from __future__ import annotations

import pandas as pd

from ovrag_core.evaluation import effort
from ovrag_core.report.run import MARK, Run, source, with_rows, write
from ovrag_core.report.tables import with_bounds


def effort_table(run: Run) -> pd.DataFrame:
    """Attempts, model calls, tokens and cost per query by arm and outcome: `effort`.

    Columns without any value, as a cost where no price was known, are left out of LaTeX.
    """
    table = effort.by_outcome(effort.effort_frame(run.records), run.plan)
    beside = _published_efforts(run)
    spent = [name for name in effort.MEASURES[1:] if table[name].fillna(0).any()]
    shown = ["arm", "outcome", "queries", *with_bounds(["attempts", *spent])]
    shown += ["cost_usd_sum"] if table["cost_usd_sum"].notna().any() else []
    more = "Means per query. An outcome that no query had is left out"
    if not spent:
        more += "; the run does not say what its model was paid for" if run.imported else "; no model was called"
    headers = {"cost_usd": "Cost (USD)", "cost_usd_sum": "Sum (USD)"}
    caption = "Attempts, model calls, tokens and cost per query, by arm and outcome."
    decimals = {"attempts": 2, "calls": 2, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 4, "cost_usd_sum": 2}
    note = run.note(more=source(run, more))
    shown += ["calls"] if beside and "calls" not in shown else []
    table = with_rows(table, beside, ["queries"])
    return write(run, table[shown], "effort", caption, note, headers=headers, decimals=decimals, full=table)


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
    table = table.groupby(["arm", "reason"], as_index=False).sum()
    note = run.note(interval=False, more="A text that several queries read counts for each of them")
    return write(run, table, "discarded", "Statements of a model that were not used, by reason.", note)
