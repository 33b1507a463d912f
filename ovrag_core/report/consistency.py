"""Tables and figures of a run: what was asked, and flagged against expected, with published figures beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ovrag_core.evaluation import confusion, effort, holm
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
    with_rows,
    write,
)
from ovrag_core.report.tables import with_bounds


def corpus_table(run: Run, kinds: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Contracts by kind of loan, with their types of contradiction: `corpus`; the CSV has a row a contract."""
    contracts = confusion.contract_frame(run.records, {} if run.imported else kinds)
    more = "Kinds and labels are those of the ground truth"
    note = run.note(interval=False, n=f"{len(contracts)} contracts", more=more)
    headers = {"kind": "Kind of loan", "contradictions": "Of these contradictions"}
    table = _without_empty(confusion.distribution(contracts))
    caption = "Contracts by kind of loan and type of contradiction."
    return write(run, table, "corpus", caption, note, headers=headers, full=contracts)


def _without_empty(table: pd.DataFrame) -> pd.DataFrame:
    """The table without its column of contracts that have no label, where there are none."""
    return table if table["unlabelled"].fillna(0).any() else table.drop(columns="unlabelled")


def confusion_table(run: Run) -> pd.DataFrame:
    """Counts per arm, published ones beside them: `confusion`."""
    counts = ["queries", *confusion.MATRIX, *confusion.BESIDE]
    table = confusion.confusion_by(run.frame, ["arm"], run.plan)[["arm", *counts]]
    table = _without_empty(_with_published(run, table, counts))
    more = "Flagged: refused or reported as contradicting itself. Unchecked and failed queries stand beside the matrix"
    caption = "Confusion matrix by arm: contradiction flagged against contradiction expected."
    return write(run, table, "confusion", caption, run.note(interval=False, more=source(run, more)))


def rates_table(run: Run) -> pd.DataFrame:
    """Precision, recall and F1 per arm with intervals, published ones beside them: `rates`."""
    table = confusion.confusion_by(run.frame, ["arm"], run.plan)[["arm", "queries", *with_bounds(confusion.RATES)]]
    table = _with_published(run, table, ["queries", *confusion.RATES])
    more = source(run, "Precision is not defined for an arm that flags nothing")
    return write(run, table, "rates", "Precision, recall and F1 of flagging by arm.", run.note(more=more))


def clash_type_table(run: Run) -> pd.DataFrame:
    """Counts and recall per arm and clash type, published ones beside them: `confusion_by_clash_type`."""
    table = confusion.confusion_by(run.frame, ["arm", "clash_type"], run.plan)
    table = table[["arm", "clash_type", *CELLS, *with_bounds(["recall"])]]
    rows = []
    for name, counts in run.published.per_clash_type.items() if run.published and "ovrag" in run.arms else ():
        clashes = counts["tp"] + counts["fn"]
        recall = counts["tp"] / clashes if clashes else None
        rows.append({"arm": f"ovrag {MARK}", "clash_type": name, **counts, "recall": recall})
    caption = "Confusion by arm and type of contradiction."
    table = with_rows(table, rows, CELLS)
    return write(run, table, "confusion_by_clash_type", caption, run.note(more=source(run)))


def question_table(run: Run) -> pd.DataFrame:
    """Counts and rates per arm and question: `confusion_by_question`."""
    table = confusion.confusion_by(run.frame, ["arm", "question_id"], run.plan)
    table = table[["arm", "question_id", *CELLS, *with_bounds(["precision", "recall"])]]
    return write(run, table, "confusion_by_question", "Confusion by arm and question.", run.note())


def detection_table(run: Run) -> pd.DataFrame:
    """Contracts flagged at least once, with Wilson intervals: `detection_by_contract`."""
    table = confusion.document_rates(run.frame, run.plan.confidence)
    note = run.note(n=f"{run.frame['document_id'].nunique()} contracts per arm")
    note = replace(note, interval=f"{run.plan.confidence:.0%}, Wilson, a contract is a trial")
    caption = "Contracts flagged in at least one of their queries, by arm."
    return write(run, table, "detection_by_contract", caption, note)


def outcome_table(run: Run) -> pd.DataFrame:
    """Queries per arm and outcome: `outcomes`."""
    crossed = pd.crosstab(run.frame["arm"], run.frame["outcome"])
    counted = crossed.reindex(index=run.arms, columns=effort.OUTCOMES, fill_value=0)
    table = counted.rename_axis(columns=None).reset_index()
    rows: list[dict[str, object]] = []
    for arm in run.arms:
        counts = run.printed(arm)
        if isinstance(accepted := counts.get("accepted_at"), dict):
            row = {"arm": f"{arm} {MARK}", "accepted": accepted.get(0), "corrected": counts.get("succeeded")}
            rows.append(row | {name: counts.get(name) for name in ("hard_rejected", "error")})
    table = with_rows(table, rows, effort.OUTCOMES)
    return write(run, table, "outcomes", "Outcomes of queries by arm.", run.note(interval=False, more=source(run)))


def correction_table(run: Run) -> pd.DataFrame:
    """Corrections and hard rejects per arm with acceptance by attempt: `corrections`."""
    rows: list[dict[str, object]] = []
    most = max(int(run.frame["accepted_at"].max()) if run.frame["accepted_at"].notna().any() else 0, 2)
    for arm in run.arms:
        frame = run.frame[run.frame["arm"] == arm]
        row: dict[str, object] = {"arm": arm, "needed": int(frame["needed"].sum())}
        row["succeeded"] = int(frame["succeeded"].sum())
        row |= confusion.bounds("success_rate", confusion.share_of(frame, "succeeded", "needed", run.plan))
        row["hard_rejected"] = int(frame["hard_rejected"].sum())
        row |= confusion.bounds("hard_reject_rate", confusion.share_of(frame, "hard_rejected", "completed", run.plan))
        rows.append(row | {f"accepted_{k}": int((frame["accepted_at"] == k).sum()) for k in range(most + 1)})
    for arm in run.arms:
        if (counts := run.printed(arm)).get("needed"):
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
    rows: list[tuple[object, ...]] = []
    differences = [confusion.compare(run.frame, *pair, run.plan) for pair in pairs]
    for metric in confusion.RATES:
        by_pair = [difference[metric] for difference in differences]
        for pair, d, p_holm in zip(pairs, by_pair, holm([d.p for d in by_pair]), strict=True):
            if d.value is not None:
                rows.append((metric, *pair, d.value, d.low, d.high, d.p, p_holm))
    tests = [confusion.compare_documents(run.frame, *pair) for pair in pairs]
    for pair, test, p_holm in zip(pairs, tests, holm([test.p for test in tests]), strict=True):
        share = (test.first_only - test.second_only) / test.pairs if test.pairs else None
        rows.append(("contracts judged rightly", *pair, share, None, None, test.p, p_holm))
    names = ["metric", "first", "second", *with_bounds(["difference"]), "p", "p_holm"]
    more = "First arm minus second. p: bootstrap, or McNemar's exact test for contracts judged rightly. Holm by metric"
    table = pd.DataFrame(rows, columns=names)
    return write(run, table, "comparisons", "Paired comparisons of arms.", run.note(more=more))


def rates_figure(run: Run) -> Path:
    """Precision, recall and F1 per arm with intervals and published values."""
    fig = figures.sentence(UNLABELLED, run.width)
    if run.labelled:
        table = confusion.confusion_by(run.frame, ["arm"], run.plan)
        titles = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
        published = {
            arm: {name: run.printed(arm)[name] for name in titles if name in run.printed(arm)} for arm in run.arms
        }
        fig = figures.rates_by_group(table, "arm", titles, run.width, published=published)
    return save(run, fig, "rates", "Precision, recall and F1 by arm.", run.note(more=source(run)))


def detection_figure(run: Run) -> Path:
    """Every query as a cell: contracts across, questions down, a panel for each arm that validates."""
    order = run.frame[["document_id", "clash_type"]].drop_duplicates().sort_values("document_id")
    order = order.iloc[pd.factorize(order["clash_type"])[0].argsort(kind="stable")]  # types by their first contract
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


def _with_published(run: Run, table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with a row for each published arm that the run has; what was not published is missing."""
    rows = [
        {"arm": f"{arm} {MARK}"} | {name: run.printed(arm).get(name) for name in names}
        for arm in run.arms
        if run.printed(arm).keys() & set(names) - {"queries"}
    ]
    return with_rows(table, rows, [name for name in names if name not in confusion.RATES])
