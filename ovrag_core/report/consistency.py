"""Tables and figures of a run: what was asked, and flagged against expected, with published figures beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import pandas as pd

from ovrag_core.base import Outcome
from ovrag_core.evaluation import Difference, confusion
from ovrag_core.report import figures
from ovrag_core.report.run import CELLS, MARK, UNLABELLED, UNRECORDED, Run, number_of, paired_rows, with_rows
from ovrag_core.report.tables import with_bounds

OUTCOMES = list(get_args(Outcome))
JUDGED_RIGHTLY = "contracts judged rightly"
KINDS_OF_CELL = {  # legend and colour
    "tp": ("clash, flagged", "#3d8fc4"),
    "fn": ("clash, missed", "#f5c27f"),
    "fp": ("clean, flagged", "#56000f"),
    "tn": ("clean, accepted", "0.93"),
    "unchecked": ("unchecked", "0.6"),
    "error": ("error", "0.3"),
    "unlabelled": ("no label", "#fdf3c8"),
}


def contract_frame(run: Run, kinds: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """One row a contract: document_id, label, clash_type (`clean` where none is expected), kind, queries.

    `kinds` are the classes of loan by contract; what it does not hold is not recorded.
    """
    queries = Counter(record.document_id for record in run.records)
    rows: dict[str, tuple[object, ...]] = {}
    for record in sorted(run.records, key=lambda record: record.document_id):
        key = record.document_id
        clash_type = record.clash_type or (confusion.CLEAN if record.label == "CLEAN" else "without a label")
        rows[key] = (key, record.label or "", clash_type, " and ".join(kinds.get(key, ())) or UNRECORDED, queries[key])
    return pd.DataFrame(list(rows.values()), columns=["document_id", "label", "clash_type", "kind", "queries"])


def corpus_table(run: Run, kinds: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Contracts by kind of loan and in all, with their types of contradiction: `corpus`, a row each in the CSV."""
    contracts = contract_frame(run, {} if run.imported else kinds)
    frequent = contracts["kind"].value_counts(sort=False).sort_values(ascending=False, kind="stable").index
    rows = []
    for kind in [*frequent, "all"]:
        group = contracts if kind == "all" else contracts[contracts["kind"] == kind]
        counts = group["label"].value_counts()
        clean, clash = (int(counts.get(label, 0)) for label in ("CLEAN", "CLASH"))
        types = group.loc[group["label"] == "CLASH", "clash_type"].value_counts().sort_index()
        types = types.sort_values(ascending=False, kind="stable")
        listing = ", ".join(f"{str(name).replace('_', ' ')} {count}" for name, count in types.items())
        rows.append((kind, clean, clash, len(group) - clean - clash, len(group), listing))
    names = ["kind", "clean", "clash", "unlabelled", "contracts", "contradictions"]
    return run.table(_without_empty(pd.DataFrame(rows, columns=names)), "corpus", full=contracts)


def _without_empty(table: pd.DataFrame) -> pd.DataFrame:
    """The table without its column of contracts that have no label, where there are none."""
    return table if table["unlabelled"].fillna(0).any() else table.drop(columns="unlabelled")


def confusion_table(run: Run) -> pd.DataFrame:
    """Counts per arm, published ones beside them: `confusion`."""
    counts = ["queries", *confusion.MATRIX, *confusion.BESIDE]
    table = confusion.confusion_by(run.frame, ["arm"], run.plan)[["arm", *counts]]
    return run.table(_without_empty(_with_published(run, table, counts)), "confusion")


def rates_table(run: Run) -> pd.DataFrame:
    """Precision, recall and F1 per arm with intervals, published ones beside them: `rates`."""
    table = confusion.confusion_by(run.frame, ["arm"], run.plan)[["arm", "queries", *with_bounds(confusion.RATES)]]
    return run.table(_with_published(run, table, ["queries", *confusion.RATES]), "rates")


def clash_type_table(run: Run) -> pd.DataFrame:
    """Counts and recall per arm and clash type, published ones beside them: `confusion_by_clash_type`."""
    table = confusion.confusion_by(run.frame, ["arm", "clash_type"], run.plan)
    table = table[["arm", "clash_type", *CELLS, *with_bounds(["recall"])]]
    rows = []
    for name, counts in run.published.per_clash_type.items() if run.published and "ovrag" in run.arms else ():
        clashes = counts["tp"] + counts["fn"]
        recall = counts["tp"] / clashes if clashes else None
        rows.append({"arm": f"ovrag {MARK}", "clash_type": name, **counts, "recall": recall})
    return run.table(with_rows(table, rows, CELLS), "confusion_by_clash_type")


def question_table(run: Run) -> pd.DataFrame:
    """Counts and rates per arm and question: `confusion_by_question`."""
    table = confusion.confusion_by(run.frame, ["arm", "question_id"], run.plan)
    table = table[["arm", "question_id", *CELLS, *with_bounds(["precision", "recall"])]]
    return run.table(table, "confusion_by_question")


def detection_table(run: Run) -> pd.DataFrame:
    """Contracts flagged at least once, with Wilson intervals: `detection_by_contract`."""
    return run.table(confusion.document_rates(run.frame, run.plan.confidence), "detection_by_contract")


def outcome_table(run: Run) -> pd.DataFrame:
    """Queries per arm and outcome: `outcomes`."""
    crossed = pd.crosstab(run.frame["arm"], run.frame["outcome"])
    counted = crossed.reindex(index=run.arms, columns=OUTCOMES, fill_value=0)
    rows: list[dict[str, object]] = []
    for arm in run.arms:
        counts = run.printed(arm)
        if isinstance(accepted := counts.get("accepted_at"), dict):
            row = {"arm": f"{arm} {MARK}", "accepted": accepted.get(0), "corrected": counts.get("succeeded")}
            rows.append(row | {name: counts.get(name) for name in ("hard_rejected", "error")})
    table = with_rows(counted.rename_axis(columns=None).reset_index(), rows, OUTCOMES)
    return run.table(table, "outcomes")


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
            by_attempt = {f"accepted_{attempt}": n for attempt, n in counts.get("accepted_at", {}).items()}
            names = ("needed", "succeeded", "success_rate", "hard_rejected", "hard_reject_rate")
            rows.append({"arm": f"{arm} {MARK}", **{name: counts.get(name) for name in names}, **by_attempt})
    headers = {f"accepted_{k}": f"At {k}" for k in range(most + 1)}
    table = with_rows(pd.DataFrame(rows), [], ["needed", "succeeded", "hard_rejected", *headers])
    return run.table(table, "corrections", headers=headers)


def comparison_table(run: Run) -> pd.DataFrame:
    """Paired comparisons of arms: difference, interval, p and Holm's p within each metric: `comparisons`.

    Rates are resampled by contract; `contracts judged rightly` is McNemar's exact test, one pair a contract.
    """

    def difference(pair: tuple[str, str], metric: str) -> Difference:
        if metric != JUDGED_RIGHTLY:
            return confusion.compare(run.frame, *pair, metric, run.plan)
        test = confusion.compare_documents(run.frame, *pair)
        share = (test.first_only - test.second_only) / test.pairs if test.pairs else None
        return Difference(share, None, None, test.p, test.pairs)

    rows = paired_rows(run, [*confusion.RATES, JUDGED_RIGHTLY], difference)
    shown = [row for row in rows if row["difference"] is not None or row["metric"] == JUDGED_RIGHTLY]
    names = ["metric", "first", "second", *with_bounds(["difference"]), "p", "p_holm"]
    return run.table(pd.DataFrame(shown, columns=names), "comparisons")


def rates_figure(run: Run) -> Path:
    """Precision, recall and F1 per arm with intervals and published values."""
    fig = figures.sentence(UNLABELLED, run.width)
    if run.labelled:
        table = confusion.confusion_by(run.frame, ["arm"], run.plan)
        titles = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
        published = {arm: run.printed(arm) for arm in run.arms}
        fig = figures.rates_by_group(table, "arm", titles, run.width, published=published)
    return run.figure(fig, "rates")


def detection_figure(run: Run) -> Path:
    """Every query as a cell: contracts across, questions down, a panel for each arm that validates."""
    order = run.frame[["document_id", "clash_type"]].drop_duplicates().sort_values("document_id")
    order = order.iloc[pd.factorize(order["clash_type"])[0].argsort(kind="stable")]  # types by their first contract
    tables = {}
    for arm, group in run.frame[run.frame["arm"].isin(run.judging)].groupby("arm", sort=False):
        wide = group.pivot(index="question_id", columns="document_id", values="cell")
        tables[str(arm)] = wide.reindex(columns=order["document_id"]).rename(columns=number_of)
    if not tables:
        return run.figure(figures.sentence("No arm of this run has verdicts.", run.width), "detection")
    fig = figures.grid_of_cells(tables, KINDS_OF_CELL, run.width, order["clash_type"].tolist())
    return run.figure(fig, "detection", {"arms": ", ".join(tables)})


def _with_published(run: Run, table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with a row for each published arm that the run has; what was not published is missing."""
    rows = [
        {"arm": f"{arm} {MARK}"} | {name: run.printed(arm).get(name) for name in names}
        for arm in run.arms
        if run.printed(arm).keys() & set(names) - {"queries"}
    ]
    return with_rows(table, rows, [name for name in names if name not in confusion.RATES])
