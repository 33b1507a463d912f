"""Seconds spent: per part and per number of attempts. All figures depend on the machine."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ovrag_core.base import LatencyRecord
from ovrag_core.evaluation.confusion import arms_of, mean_of
from ovrag_core.evaluation.statistics import Resampling

PARTS = ("retrieval", "answering", "rag", "extraction", "validation")
TOTAL = "total"
STATISTICS = ("n", "mean", "median", "p25", "p75", "p95", "max", "share")


def latency_frame(latency: Sequence[LatencyRecord]) -> pd.DataFrame:
    """One row a query, arms in their usual order: arm, document_id, question_id, seconds by part, total, attempts."""
    frame = pd.DataFrame([row.model_dump() for row in latency], columns=list(LatencyRecord.model_fields))
    frame = frame.astype(dict.fromkeys((*PARTS, TOTAL), float))
    rank = frame["arm"].map({arm: number for number, arm in enumerate(arms_of(latency))})
    sorted_frame = frame.assign(rank=rank).sort_values(["rank", "document_id", "question_id"], kind="stable")
    return sorted_frame.drop(columns="rank").reset_index(drop=True)


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Per arm and part, and in total: n, mean, median, quartiles, 95th percentile, maximum (seconds), and share.

    An arm has no row for a part that it does not have, and `n` leaves out queries of which a part was not timed. Shares
    are of the summed totals; what they lack to 1 is spent between the parts.
    """
    rows = []
    for arm, group in frame.groupby("arm", sort=False):
        whole = float(group[TOTAL].sum())
        for stage in (*PARTS, TOTAL):
            seconds = group[stage]
            if stage != TOTAL and not seconds.any():
                continue
            quartiles = seconds.quantile([0.5, 0.25, 0.75, 0.95]).tolist()
            share = float(seconds.sum()) / whole if whole else None
            count, mean, most = int(seconds.count()), float(seconds.mean()), float(seconds.max())
            rows.append((arm, stage, count, mean, *quartiles, most, share))
    return pd.DataFrame(rows, columns=["arm", "part", *STATISTICS])


def mean_intervals(frame: pd.DataFrame, plan: Resampling) -> pd.DataFrame:
    """Bounds of the mean seconds per arm and part, documents as clusters: arm, part, mean_low, mean_high."""
    rows = []
    for arm, group in frame.groupby("arm", sort=False):
        for stage in (*PARTS, TOTAL):
            mean = mean_of(group, stage, plan)
            rows.append((arm, stage, mean.low, mean.high))
    return pd.DataFrame(rows, columns=["arm", "part", "mean_low", "mean_high"]).astype(
        {"mean_low": float, "mean_high": float}
    )


def by_attempts(frame: pd.DataFrame) -> pd.DataFrame:
    """Per arm and number of attempts: n, mean, median and 95th percentile of the total (seconds)."""
    groups = frame.groupby(["arm", "attempts"], sort=False)[TOTAL]
    table = groups.agg(n="size", mean="mean", median="median", p95=lambda total: total.quantile(0.95)).reset_index()
    rank = table["arm"].map({arm: number for number, arm in enumerate(frame["arm"].unique())})
    return table.assign(rank=rank).sort_values(["rank", "attempts"]).drop(columns="rank").reset_index(drop=True)


def attempt_intervals(frame: pd.DataFrame, plan: Resampling) -> pd.DataFrame:
    """Bounds of the mean total by arm and number of attempts, documents as clusters; for `by_attempts`."""
    rows = []
    for (arm, attempts), group in frame.groupby(["arm", "attempts"], sort=False):
        mean = mean_of(group, TOTAL, plan)
        rows.append((arm, attempts, mean.low, mean.high))
    table = pd.DataFrame(rows, columns=["arm", "attempts", "mean_low", "mean_high"])
    return table.astype({"mean_low": float, "mean_high": float})
