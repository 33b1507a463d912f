"""What a run's queries cost, where corrections led, and what quality was had for it: tables and figures."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ovrag_core.evaluation import confusion, effort, quality, ratio
from ovrag_core.report import drawings
from ovrag_core.report.run import MARK, Run, counted, integers, quoting, save, source, write
from ovrag_core.report.tables import with_bounds

COSTS = {
    "cost_usd": "US dollars per query",
    "calls": "model calls per query",
    "attempts": "attempts per query",
}
UNPAID = "No model was called in this run, so attempts per query stand for what a model would be paid for"


def effort_table(run: Run) -> pd.DataFrame:
    """Attempts, model calls, tokens and cost per query by arm and outcome: `effort`.

    Columns without any value, as a cost where no price was known, are left out of LaTeX.
    """
    table = effort.by_outcome(effort.effort_frame(run.records), run.plan)
    beside = pd.DataFrame(_published_efforts(run))
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
    if len(beside):
        shown += [] if "calls" in shown else ["calls"]
        table = integers(pd.concat([table, beside], ignore_index=True), ["queries"])
    return write(run, table[shown], "effort", caption, note, headers=headers, decimals=decimals, full=table)


def _published_efforts(run: Run) -> list[dict[str, object]]:
    """Published queries of each outcome with their mean attempts and model calls, where both were published."""
    rows: list[dict[str, object]] = []
    calls = run.published.calls_by_attempts if run.published else {}
    for arm in run.arms:
        counts = run.published.arms.get(arm, {}) if run.published else {}
        accepted, rejected = counts.get("accepted_at"), counts.get("hard_rejected")
        if not calls or not isinstance(accepted, dict) or not isinstance(rejected, float | int):
            continue
        attempts = {"accepted": {1: accepted[0]}, "corrected": {at + 1: n for at, n in accepted.items() if at}}
        for outcome, queries in (attempts | {"hard_rejected": {max(calls): int(rejected)}}).items():
            if n := sum(queries.values()):
                row: dict[str, object] = {"arm": f"{arm} {MARK}", "outcome": outcome, "queries": n}
                row["attempts"] = sum(count * at for at, count in queries.items()) / n
                rows.append(row | {"calls": sum(count * calls[at] for at, count in queries.items()) / n})
    return rows


def reject_table(run: Run) -> pd.DataFrame:
    """Attempts of each hard reject: `hard_rejects`, a row a query; LaTeX counts those with the same course."""
    table = effort.rejects(run.records)
    keys = ["arm", "label", *(["cause"] if table["cause"].any() else []), "attempts", "distinct_answers", "course"]
    more = "Course: how the broken rules of the last attempt compare with those of the first" + quoting(run)
    note = run.note(interval=False, n=f"{len(table)} hard rejects", more=more)
    headers = {"distinct_answers": "Answers", "first_contract": "First contract"}
    caption = "Hard rejects by what their attempts did."
    return write(run, counted(table, keys), "hard_rejects", caption, note, headers=headers, full=table)


def flow_table(run: Run) -> pd.DataFrame:
    """How many queries entered each attempt, and how they left it: `correction_flow`."""
    table = effort.flow(run.records)
    used = [name for name in effort.OUTCOMES if table[name].any()]
    more = "Attempt 1 is the first answer. Again: went on to another attempt" + quoting(run)
    caption = "Queries by attempt: how many entered it and how they left it."
    shown = table[["arm", "attempt", "entered", *used, "again"]]
    return write(run, shown, "correction_flow", caption, run.note(interval=False, more=more), full=table)


def flow_figure(run: Run) -> Path:
    """The course of queries through the attempts, a panel for each arm that validates."""
    table = effort.flow(run.records)
    judging = [arm for arm in run.arms if arm in run.judging]
    fig = drawings.flow_bands(table, judging, effort.OUTCOMES, run.width)
    more = "What is too little to be seen is drawn as thick as a line; the numbers are exact" + quoting(run)
    note = run.note(interval=False, arm=", ".join(judging) or "none that validates", more=more)
    return save(run, fig, "correction_flow", "The course of queries through the attempts of the loop, by arm.", note)


def cost_figure(run: Run, scored: quality.Quality) -> Path:
    """Cost against the F1 of flagging and the likeness of accepted answers: `cost_quality`.

    Without a cost, calls stand for it, and without calls the attempts, which the caption says.
    """
    frame = effort.effort_frame(run.records)
    unit = next((name for name in COSTS if frame[name].fillna(0).any()), "attempts")
    rows = []
    for arm, of_arm in frame.groupby("arm", sort=False):
        sums = of_arm.groupby("document_id", sort=True)[unit].agg(["sum", "count"])
        paid = ratio(sums["sum"].tolist(), sums["count"].tolist(), run.plan, proportion=False)
        rows.append({"arm": arm} | confusion.columns("cost", paid))
    table = pd.DataFrame(rows).merge(with_quality(run, scored), on="arm")
    fig = drawings.against(table, "cost", drawings.QUALITIES, run.width, label=COSTS[unit])
    if unit == "attempts":
        why = UNPAID if not run.imported else "The run does not record what its model was paid for"
    else:
        why = ""
    caption = f"Quality against {COSTS[unit]}, by arm."
    return save(run, fig, "cost_quality", caption, run.note(more=why))


def with_quality(run: Run, scored: quality.Quality) -> pd.DataFrame:
    """Per arm the F1 of flagging and the mean ROUGE-L of accepted answers, each with its bounds."""
    rates = confusion.confusion_by(run.frame, ["arm"], run.plan)[["arm", *with_bounds(["f1"])]]
    likeness = quality.quality_by(scored, ["arm"], run.plan, accepted_only=True)[["arm", *with_bounds(["rouge_l"])]]
    return rates.merge(likeness, on="arm", how="left")


def contract_summary(run: Run, scored: quality.Quality, sources: pd.DataFrame) -> pd.DataFrame:
    """One row a contract and arm: how its queries ended and how good the answers were: `contract_summary`.

    LaTeX shows the last arm that answered and validates, the CSV all of them.
    """
    frame = run.frame.assign(accepted=run.frame["outcome"].isin(["accepted", "corrected"]))
    frame = frame.assign(finding=frame["outcome"] == "source_finding")
    keys = ["arm", "document_id"]
    table = frame.groupby([*keys, "label", "clash_type"], sort=False).agg(
        queries=("cell", "size"),
        flagged=("flagged", "sum"),
        accepted=("accepted", "sum"),
        hard_rejected=("hard_rejected", "sum"),
        findings=("finding", "sum"),
        attempts=("attempts", "sum"),
    )
    elsewhere = sources.assign(elsewhere=sources["about"] == "other").groupby(keys)["elsewhere"].sum()
    likeness = scored.frame.groupby(keys)["rouge_l"].mean()
    table = table.reset_index().merge(elsewhere.reset_index(), on=keys, how="left")
    table = table.merge(likeness.reset_index(), on=keys, how="left")
    table = integers(table, ["elsewhere"])
    arm = next((name for name in reversed(run.own_arms) if name in run.judging), run.arms[-1])
    more = "Elsewhere: answers about other contracts only. ROUGE-L: mean over the contract's queries"
    more += "" if len(run.arms) == 1 else "; contract_summary.csv has all arms"
    shown = table[table["arm"] == arm].drop(columns=["arm", "label"]).reset_index(drop=True)
    note = run.note(interval=False, arm=arm, n=f"{len(shown)} contracts", more=more)
    caption = f"Each contract in the arm {arm}: outcomes of its queries and likeness of its answers."
    headers = {"hard_rejected": "Rejects", "queries": "n"}
    return write(run, shown, "contract_summary", caption, note, headers=headers, long=True, full=table)
