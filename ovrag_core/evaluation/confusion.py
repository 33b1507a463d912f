"""Flagged against expected: the confusion matrix of a run, whole and by part, with intervals over documents.

Flagged means refused or reported as contradicting itself. `queries` counts the judged queries, in every table; failed
and unchecked ones stand beside them. The matrix holds those with a label: tp + fp + tn + fn + unlabelled = queries.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd

from ovrag_core.base import ARM_NAMES, LatencyRecord, QueryRecord
from ovrag_core.evaluation.statistics import (
    Difference,
    Estimate,
    McNemar,
    Resampling,
    exact_mcnemar,
    paired_difference,
    ratio,
    wilson,
)

MATRIX = ("tp", "fp", "tn", "fn")
BESIDE = ("unchecked", "error", "unlabelled")
RATES = ("precision", "recall", "f1")
CLEAN = "clean"
Asked = TypeVar("Asked", QueryRecord, LatencyRecord)


def cell(record: QueryRecord) -> str:
    """Name the place of a record: a cell of the matrix, or beside it."""
    if record.outcome in ("unchecked", "error"):
        return record.outcome
    if record.label not in ("CLEAN", "CLASH"):
        return "unlabelled"
    if record.label == "CLASH":
        return "tp" if record.flagged else "fn"
    return "fp" if record.flagged else "tn"


def query_frame(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """One row a query, arms in their usual order, then document, then question.

    Columns: arm, document_id, question_id, label, clash_type (`clean` where none is expected, empty without a label),
    outcome, cause, cell, one 0/1 column per cell, flagged, hard_rejected, completed, attempts, accepted_at (number of
    corrections before acceptance, or missing), needed and succeeded (corrections), model. `completed` marks the judged
    queries; a correction is needed only by one of them.
    """
    return pd.DataFrame([_row(record) for record in ordered(records)], columns=list(_row(EMPTY)))


def ordered(records: Sequence[Asked]) -> list[Asked]:
    """Records by arm in the usual order, then by document and question."""
    rank = {arm: number for number, arm in enumerate(arms_of(records))}
    return sorted(records, key=lambda record: (rank[record.arm], record.document_id, record.question_id))


def arms_of(records: Sequence[QueryRecord | LatencyRecord]) -> list[str]:
    """The arms of a run in their usual order; unknown ones (of imported runs) after them, by name."""
    present = {record.arm for record in records}
    return [arm for arm in ARM_NAMES if arm in present] + sorted(present - set(ARM_NAMES))


def count(frame: pd.DataFrame) -> dict[str, int]:
    """The counts of a query frame or of a part of it: cells, those beside the matrix, and `queries`, the judged ones.

    Those beside the matrix are not part of any rate; queries about documents without a label are judged too.
    """
    cells = {name: int(frame[name].sum()) for name in (*MATRIX, *BESIDE)}
    return {"queries": sum(cells[name] for name in (*MATRIX, "unlabelled")), **cells}


def rates(frame: pd.DataFrame, plan: Resampling) -> dict[str, Estimate]:
    """Precision, recall and F1 of a query frame with their intervals, documents as clusters.

    Precision and F1 need both labels: among clashes alone precision is 1 by construction, so there it is not given.
    """
    sums = _cluster_sums(frame)
    both = sums[["tp", "fn"]].to_numpy().any() and sums[["fp", "tn"]].to_numpy().any()
    return {name: ratio(*_parts(sums, name), plan) if both or name == "recall" else Estimate(None) for name in RATES}


def confusion_by(frame: pd.DataFrame, keys: Sequence[str], plan: Resampling) -> pd.DataFrame:
    """Counts and rates of each group: keys, judged queries, cells, each rate with `_low` and `_high`.

    Groups keep the order of their first row. A group of one document has rates but no intervals.
    """
    rows = []
    for names, group in frame.groupby(list(keys), sort=False, dropna=False):
        row: dict[str, object] = dict(zip(keys, names, strict=True))
        row |= count(group)
        for name, estimate in rates(group, plan).items():
            row |= bounds(name, estimate)
        rows.append(row)
    return pd.DataFrame(rows, columns=[*keys, "queries", *MATRIX, *BESIDE, *with_bounds(RATES)])


def with_bounds(names: Iterable[str]) -> list[str]:
    """Columns with their `_low` and `_high`."""
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


def bounds(name: str, figure: Estimate | Difference) -> dict[str, float | None]:
    """A figure as three columns: the value, `_low`, `_high`."""
    return {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}


def mean_of(group: pd.DataFrame, column: str, plan: Resampling) -> Estimate:
    """Mean of a column over queries with its interval over documents; missing values are left out."""
    sums = group.groupby("document_id", sort=True)[column].agg(["sum", "count"])
    return ratio(sums["sum"].tolist(), sums["count"].tolist(), plan, proportion=False)


def share_of(frame: pd.DataFrame, part: str, whole: str, plan: Resampling) -> Estimate:
    """Sum of a 0/1 column over that of another, with its interval over documents.

    `hard_rejected` of `completed`: hard rejects among queries that neither failed nor went unchecked. `succeeded` of
    `needed`: corrections that led to acceptance.
    """
    sums = frame.groupby("document_id", sort=True)[[part, whole]].sum()
    return ratio(sums[part].tolist(), sums[whole].tolist(), plan)


def document_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per arm and document: label, clash_type, flagged (at least once)."""
    inside = frame[frame["cell"].isin(MATRIX)]
    return inside.groupby(["arm", "document_id", "label", "clash_type"], sort=False)["flagged"].any().reset_index()


def document_rates(frame: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Per arm, the shares of expected clashes and of clean documents flagged at least once; intervals are Wilson's."""
    documents = document_frame(frame)
    rows = []
    for arm in frame["arm"].unique():
        row: dict[str, object] = {"arm": arm}
        for name, label, rate in (("clashes", "CLASH", "detection"), ("clean", "CLEAN", "false_alarm")):
            flagged = documents.loc[(documents["arm"] == arm) & (documents["label"] == label), "flagged"]
            hits = int(flagged.sum())
            row |= {name: len(flagged), f"{name}_flagged": hits}
            row |= bounds(rate, wilson(hits, len(flagged), confidence))
        rows.append(row)
    return pd.DataFrame(rows)


def compare(frame: pd.DataFrame, first: str, second: str, rate: str, plan: Resampling) -> Difference:
    """First arm minus second in a rate, on the documents that both have, resampled together."""
    sums_a, sums_b = (_cluster_sums(frame[frame["arm"] == arm]) for arm in (first, second))
    shared = sums_a.index.intersection(sums_b.index, sort=None)
    return paired_difference(_parts(sums_a.loc[shared], rate), _parts(sums_b.loc[shared], rate), plan)


def compare_documents(frame: pd.DataFrame, first: str, second: str) -> McNemar:
    """McNemar's test on documents judged rightly (flagged at least once exactly where a clash is expected)."""
    documents = document_frame(frame).assign(right=lambda t: t["flagged"] == (t["label"] == "CLASH"))
    wide = documents.pivot(index="document_id", columns="arm", values="right")
    if not {first, second} <= set(wide.columns):
        return McNemar(0, 0, 0, None)
    pairs = wide[[first, second]].dropna()
    return exact_mcnemar(pairs[first].astype(bool).tolist(), pairs[second].astype(bool).tolist())


def _row(record: QueryRecord) -> dict[str, object]:
    where = cell(record)
    accepted = record.outcome in ("accepted", "corrected")
    judged = record.failure is None
    needed = judged and (record.attempt_count > 1 or record.outcome in ("corrected", "hard_rejected"))
    return {
        "arm": record.arm,
        "document_id": record.document_id,
        "question_id": record.question_id,
        "label": record.label or "",
        "clash_type": CLEAN if record.label == "CLEAN" else (record.clash_type or "") if record.label else "",
        "outcome": record.outcome,
        "cause": record.cause or "",
        "cell": where,
        **{name: int(where == name) for name in (*MATRIX, *BESIDE)},
        "flagged": record.flagged,
        "hard_rejected": int(record.outcome == "hard_rejected"),
        "completed": int(judged),
        "attempts": record.attempt_count,
        "accepted_at": float(record.attempt_count - 1) if accepted and record.attempt_count else np.nan,
        "needed": int(needed),
        "succeeded": int(record.outcome == "corrected"),
        "model": record.model,
    }


EMPTY = QueryRecord(arm="", document_id="", question_id="", question="", outcome="error", model="")


def _cluster_sums(frame: pd.DataFrame) -> pd.DataFrame:
    """Counts of the matrix's cells per document that has any, by document id."""
    inside = frame[frame["cell"].isin(MATRIX)]
    return inside.groupby("document_id", sort=True)[list(MATRIX)].sum()


def _parts(sums: pd.DataFrame, rate: str) -> tuple[list[float], list[float]]:
    """Numerators and denominators of a rate per document, such that the rate is the ratio of their sums."""
    tp, fp, fn = (sums[name].astype(float) for name in ("tp", "fp", "fn"))
    top = 2 * tp if rate == "f1" else tp
    bottom = {"precision": tp + fp, "recall": tp + fn, "f1": 2 * tp + fp + fn}[rate]
    return top.tolist(), bottom.tolist()
