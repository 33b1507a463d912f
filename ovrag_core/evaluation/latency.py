"""Seconds spent: per part and per number of attempts. All figures depend on the machine."""

from collections.abc import Sequence

import pandas as pd

from ovrag_core.base import LatencyRecord
from ovrag_core.evaluation.confusion import mean_of, ordered
from ovrag_core.evaluation.statistics import Resampling

PARTS = ("retrieval", "answering", "rag", "extraction", "validation")
TOTAL = "total"
STATISTICS = ("n", "mean", "median", "p25", "p75", "p95", "max", "share")


def latency_frame(latency: Sequence[LatencyRecord]) -> pd.DataFrame:
    """One row a query, arms in their usual order: arm, document_id, question_id, seconds by part, total, attempts."""
    rows = [record.model_dump() for record in ordered(latency)]
    return pd.DataFrame(rows, columns=list(LatencyRecord.model_fields)).astype(dict.fromkeys((*PARTS, TOTAL), float))


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
    by_part = frame.melt(["arm", "document_id"], [*PARTS, TOTAL], var_name="part", value_name="seconds")
    return _mean_bounds(by_part, ["arm", "part"], "seconds", plan)


def by_attempts(frame: pd.DataFrame) -> pd.DataFrame:
    """Per arm and number of attempts: n, mean, median and 95th percentile of the total (seconds)."""
    rank = {arm: number for number, arm in enumerate(frame["arm"].unique())}
    groups = frame.groupby(["arm", "attempts"], sort=True)[TOTAL]
    table = groups.agg(n="size", mean="mean", median="median", p95=lambda total: total.quantile(0.95)).reset_index()
    return table.sort_values("arm", key=lambda arms: arms.map(rank), kind="stable", ignore_index=True)


def attempt_intervals(frame: pd.DataFrame, plan: Resampling) -> pd.DataFrame:
    """Bounds of the mean total by arm and number of attempts, documents as clusters; for `by_attempts`."""
    return _mean_bounds(frame, ["arm", "attempts"], TOTAL, plan)


def _mean_bounds(frame: pd.DataFrame, keys: list[str], column: str, plan: Resampling) -> pd.DataFrame:
    rows = []
    for names, group in frame.groupby(keys, sort=False):
        mean = mean_of(group, column, plan)
        rows.append((*names, mean.low, mean.high))
    return pd.DataFrame(rows, columns=[*keys, "mean_low", "mean_high"]).astype({"mean_low": float, "mean_high": float})
