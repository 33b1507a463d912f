"""Tables and figures of a run: what was asked, and flagged against expected, with published figures beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from ovrag_core.evaluation import confusion, contract_counts, holm
from ovrag_core.report import figures
from ovrag_core.report.run import (
    CELLS,
    COMPARISONS,
    MARK,
    UNLABELLED,
    Run,
    integers,
    number_of,
    quoting,
    save,
    source,
    write,
)
from ovrag_core.report.tables import Note, with_bounds


def corpus_table(run: Run, kinds: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Contracts by kind of loan, with their types of contradiction: `corpus`; the CSV has a row a contract."""
    contracts = contract_counts.contract_frame(run.records, {} if run.imported else kinds)
    note = run.note(
        interval=False, n=f"{len(contracts)} contracts", more="Kinds and labels are those of the ground truth"
    )
    headers = {"kind": "Kind of loan", "contradictions": "Of these contradictions"}
    caption = "Contracts by kind of loan and type of contradiction."
    table = contract_counts.distribution(contracts)
    table = table if table["unlabelled"].any() else table.drop(columns="unlabelled")
    return write(run, table, "corpus", caption, note, headers=headers, full=contracts)


def confusion_table(run: Run) -> pd.DataFrame:
    """Counts per arm, published ones beside them: `confusion`."""
    counts = ["queries", *confusion.MATRIX, *confusion.BESIDE]
    table = confusion.confusion_by(run.frame, ["arm"], run.plan)[["arm", *counts]]
    table = _with_published(run, table, counts)
    if not table["unlabelled"].fillna(0).any():
        table = table.drop(columns="unlabelled")
    more = "Flagged: refused or reported as contradicting itself. Unchecked and failed queries stand beside the matrix"
    caption = "Confusion matrix by arm: contradiction flagged against contradiction expected."
    return write(run, table, "confusion", caption, run.note(interval=False, more=source(run, more)))


def rates_table(run: Run) -> pd.DataFrame:
    """Precision, recall and F1 per arm with intervals, published ones beside them: `rates`."""
    names = with_bounds(confusion.RATES)
    table = confusion.confusion_by(run.frame, ["arm"], run.plan)[["arm", "queries", *names]]
    table = _with_published(run, table, ["queries", *confusion.RATES])
    caption = "Precision, recall and F1 of flagging by arm."
    more = source(run, "Precision is not defined for an arm that flags nothing")
    return write(run, table, "rates", caption, run.note(more=more))


def clash_type_table(run: Run) -> pd.DataFrame:
    """Counts and recall per arm and clash type, published ones beside them: `confusion_by_clash_type`."""
    table = confusion.confusion_by(run.frame, ["arm", "clash_type"], run.plan)
    table = table[["arm", "clash_type", *CELLS, *with_bounds(["recall"])]]
    if run.published and "ovrag" in run.arms:
        rows = [
            {"arm": f"ovrag {MARK}", "clash_type": name, **counts, "recall": _recall(counts)}
            for name, counts in run.published.per_clash_type.items()
        ]
        table = integers(pd.concat([table, pd.DataFrame(rows)], ignore_index=True), CELLS)
    caption = "Confusion by arm and type of contradiction."
    return write(run, table, "confusion_by_clash_type", caption, run.note(more=source(run)))


def question_table(run: Run) -> pd.DataFrame:
    """Counts and rates per arm and question: `confusion_by_question`."""
    table = confusion.confusion_by(run.frame, ["arm", "question_id"], run.plan)
    table = table[["arm", "question_id", *CELLS, *with_bounds(["precision", "recall"])]]
    caption = "Confusion by arm and question."
    return write(run, table, "confusion_by_question", caption, run.note())


def contract_table(run: Run) -> pd.DataFrame:
    """Flagged queries per contract, one column an arm: `confusion_by_contract`."""
    documents = confusion.document_frame(run.frame)
    keys = ["document_id", "label", "clash_type"]
    wide = documents.pivot_table(index=keys, columns="arm", values="flagged_queries", sort=True).reset_index()
    arms = [arm for arm in run.arms if arm in wide.columns]
    table = integers(wide[[*keys, *arms]].rename_axis(columns=None), arms)
    questions = run.frame["question_id"].nunique()
    note = run.note(interval=False, more=f"Cells count flagged queries of {questions}")
    return write(
        run,
        table,
        "confusion_by_contract",
        "Flagged queries by contract and arm.",
        note,
        headers=dict(zip(arms, arms, strict=True)),
        long=True,
    )


def detection_table(run: Run) -> pd.DataFrame:
    """Contracts flagged at least once, with Wilson intervals: `detection_by_contract`."""
    table = confusion.document_rates(run.frame, run.plan.confidence)
    note = run.note(n=f"{run.frame['document_id'].nunique()} contracts per arm")
    note = Note(note.model, note.arm, note.n, f"{run.plan.confidence:.0%}, Wilson, a contract is a trial", note.more)
    caption = "Contracts flagged in at least one of their queries, by arm."
    return write(run, table, "detection_by_contract", caption, note)


def outcome_table(run: Run) -> pd.DataFrame:
    """Queries per arm and outcome: `outcomes`."""
    order = ("accepted", "corrected", "hard_rejected", "source_finding", "unchecked", "error")
    counts = pd.crosstab(run.frame["arm"], run.frame["outcome"])
    counts = counts.reindex(index=run.arms, columns=list(order), fill_value=0)
    table = counts.rename_axis(columns=None).reset_index()
    rows = [{"arm": f"{arm} {MARK}", **outcomes} for arm in run.arms if (outcomes := _published_outcomes(run, arm))]
    table = integers(pd.concat([table, pd.DataFrame(rows)], ignore_index=True) if rows else table, order)
    return write(run, table, "outcomes", "Outcomes of queries by arm.", run.note(interval=False, more=source(run)))


def correction_table(run: Run) -> pd.DataFrame:
    """Corrections and hard rejects per arm with acceptance by attempt: `corrections`."""
    rows = [_corrections(run, arm) for arm in run.arms]
    for arm in run.arms:
        if run.published and (counts := run.published.arms.get(arm, {})).get("needed"):
            accepted = counts.get("accepted_at")
            by = {f"accepted_{attempt}": n for attempt, n in accepted.items()} if isinstance(accepted, dict) else {}
            names = ("needed", "succeeded", "success_rate", "hard_rejected", "hard_reject_rate")
            rows.append({"arm": f"{arm} {MARK}", **{name: counts.get(name) for name in names}, **by})
    table = pd.DataFrame(rows)
    by_attempt = [str(name) for name in table if str(name).startswith("accepted_")]
    table = integers(table, ["needed", "succeeded", "hard_rejected", *by_attempt])
    headers = {name: f"At {name.removeprefix('accepted_')}" for name in by_attempt}
    more = "At k: accepted after k corrections. Rejects are of completed queries" + quoting(run)
    caption = "Corrections needed and succeeded, hard rejects, and acceptance by number of corrections."
    return write(run, table, "corrections", caption, run.note(more=source(run, more)), headers=headers)


def comparison_table(run: Run) -> pd.DataFrame:
    """Paired comparisons of arms: difference, interval, p and Holm's p within each metric: `comparisons`.

    Rates are resampled by contract; `contracts judged rightly` is McNemar's exact test, one pair a contract.
    """
    pairs = [pair for pair in COMPARISONS if set(pair) <= set(run.arms)]
    rows: list[dict[str, object]] = []
    differences = [confusion.compare(run.frame, a, b, run.plan) for a, b in pairs]
    for metric in confusion.RATES:
        by_pair = [difference[metric] for difference in differences]
        adjusted = holm([difference.p for difference in by_pair])
        for (arm_a, arm_b), difference, p_holm in zip(pairs, by_pair, adjusted, strict=True):
            if difference.value is not None:
                row = {"difference": difference.value, "difference_low": difference.low}
                row |= {"difference_high": difference.high, "p": difference.p, "p_holm": p_holm}
                rows.append({"metric": metric, "first": arm_a, "second": arm_b, **row})
    tests = [confusion.compare_documents(run.frame, a, b) for a, b in pairs]
    for (arm_a, arm_b), test, p_holm in zip(pairs, tests, holm([test.p for test in tests]), strict=True):
        share = (test.first_only - test.second_only) / test.pairs if test.pairs else None
        row = {"difference": share, "p": test.p, "p_holm": p_holm}
        rows.append({"metric": "contracts judged rightly", "first": arm_a, "second": arm_b, **row})
    names = ["metric", "first", "second", *with_bounds(["difference"]), "p", "p_holm"]
    table = pd.DataFrame(rows, columns=names)
    more = "First arm minus second. p: bootstrap, or McNemar's exact test for contracts judged rightly. Holm by metric"
    headers = {"f1": "F1", "p": "p", "p_holm": "p (Holm)"}
    caption = "Paired comparisons of arms."
    return write(run, table, "comparisons", caption, run.note(more=more), headers=headers, decimals=3)


def confusion_figure(run: Run) -> Path:
    """Heat map of the matrix per arm; a sentence where no contract has a label."""
    caption = "Confusion matrices by arm; shading and percentages are shares of a row."
    note = run.note(interval=False, more=source(run))
    if not run.labelled:
        return save(run, figures.sentence(UNLABELLED, run.width), "confusion", caption, note)
    maps = {}
    for arm in run.arms:
        counts = confusion.count(run.frame[run.frame["arm"] == arm])
        cells: list[list[float]] = [[counts.tp, counts.fn], [counts.fp, counts.tn]]
        maps[arm] = pd.DataFrame(cells, index=["clash", "clean"], columns=["flagged", "not"])
        beside = _published_rates(run, confusion.MATRIX).get(arm, {})
        if len(beside) == len(confusion.MATRIX):
            cells = [[beside["tp"], beside["fn"]], [beside["fp"], beside["tn"]]]
            maps[f"{arm} {MARK}"] = pd.DataFrame(cells, index=["clash", "clean"], columns=["flagged", "not"])
    fig = figures.heat_maps(maps, run.width, row_label="expected", column_label="")
    return save(run, fig, "confusion", caption, note)


def rates_figure(run: Run) -> Path:
    """Precision, recall and F1 per arm with intervals and published values."""
    table = confusion.confusion_by(run.frame, ["arm"], run.plan)
    titles = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
    if run.labelled:
        fig = figures.rates_by_group(table, "arm", titles, run.width, published=_published_rates(run, titles))
    else:
        fig = figures.sentence(UNLABELLED, run.width)
    return save(run, fig, "rates", "Precision, recall and F1 by arm.", run.note(more=source(run)))


def detection_figure(run: Run) -> Path:
    """Every query as a cell: contracts across, questions down, a panel for each arm that validates."""
    order = run.frame[["document_id", "clash_type"]].drop_duplicates().sort_values("document_id")
    places = {name: number for number, name in enumerate(order["clash_type"].unique())}
    order = order.assign(place=order["clash_type"].map(places)).sort_values(["place", "document_id"], kind="stable")
    kinds = {
        "tp": ("clash, flagged", "#3d8fc4"),
        "fn": ("clash, missed", "#f5c27f"),
        "fp": ("clean, flagged", "#56000f"),
        "tn": ("clean, accepted", "0.93"),
        "unchecked": ("unchecked", "0.6"),
        "error": ("error", "0.3"),
        "unlabelled": ("no label", "#fdf3c8"),
    }
    tables = {}
    for arm, group in run.frame[run.frame["arm"].isin(run.judging)].groupby("arm", sort=False):
        wide = group.pivot(index="question_id", columns="document_id", values="cell")
        tables[str(arm)] = wide.reindex(columns=order["document_id"]).rename(columns=number_of)
    caption = "Every query by contract and question: what was expected and what was flagged."
    note = run.note(interval=False, arm=", ".join(tables))
    if not tables:
        return save(run, figures.sentence("No arm of this run has verdicts.", run.width), "detection", caption, note)
    groups = order["clash_type"].tolist()
    look = {"row_label": "question", "column_label": "contract"}
    fig = figures.grid_of_cells(tables, kinds, run.width, groups=groups, **look)
    return save(run, fig, "detection", caption, note)


def _corrections(run: Run, arm: str) -> dict[str, object]:
    frame = run.frame[run.frame["arm"] == arm]
    row: dict[str, object] = {"arm": arm, "needed": int(frame["needed"].sum())}
    row["succeeded"] = int(frame["succeeded"].sum())
    row |= confusion.columns("success_rate", confusion.correction_success(frame, run.plan))
    row["hard_rejected"] = int(frame["hard_rejected"].sum())
    row |= confusion.columns("hard_reject_rate", confusion.hard_reject_rate(frame, run.plan))
    most = max(int(run.frame["accepted_at"].max()) if run.frame["accepted_at"].notna().any() else 0, 2)
    return row | {f"accepted_{attempt}": int((frame["accepted_at"] == attempt).sum()) for attempt in range(most + 1)}


def _with_published(run: Run, table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with a row for each published arm that the run has; what was not published is missing."""
    rows = [
        {"arm": f"{arm} {MARK}"} | {name: run.published.value(arm, name) for name in names}
        for arm in run.arms
        if run.published and any(run.published.value(arm, name) is not None for name in names if name != "queries")
    ]
    both = pd.concat([table, pd.DataFrame(rows)], ignore_index=True) if rows else table
    return integers(both, [name for name in names if name not in confusion.RATES])


def _published_outcomes(run: Run, arm: str) -> dict[str, object]:
    """Return outcomes of the queries of a published arm, under our names; nothing where those were not published."""
    counts = run.published.arms.get(arm, {}) if run.published else {}
    accepted = counts.get("accepted_at")
    if not isinstance(accepted, dict):
        return {}
    outcomes: dict[str, object] = {"accepted": accepted.get(0), "corrected": counts.get("succeeded")}
    return outcomes | {name: counts.get(name) for name in ("hard_rejected", "error")}


def _published_rates(run: Run, names: Iterable[str]) -> dict[str, dict[str, float]]:
    if run.published is None:
        return {}
    published = {arm: {name: run.published.value(arm, name) for name in names} for arm in run.arms}
    rates = {arm: {n: v for n, v in values.items() if v is not None} for arm, values in published.items()}
    return {arm: values for arm, values in rates.items() if values}


def _recall(counts: dict[str, int]) -> float | None:
    clashes = counts["tp"] + counts["fn"]
    return counts["tp"] / clashes if clashes else None
