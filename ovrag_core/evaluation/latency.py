"""Seconds spent: per part and per number of attempts. All figures depend on the machine."""

from collections.abc import Sequence

import pandas as pd

from ovrag_core.base import LatencyRecord
from ovrag_core.evaluation.confusion import mean_of, ordered
from ovrag_core.evaluation.statistics import Estimate, Resampling

PARTS = ("retrieval", "answering", "rag", "extraction", "validation")
TOTAL = "total"
STATISTICS = ("n", "mean", "median", "p25", "p75", "p95", "max", "share")


def latency_frame(latency: Sequence[LatencyRecord]) -> pd.DataFrame:
    """One row a query, arms in their usual order: arm, document_id, question_id, seconds by part, total, attempts."""
    rows = [record.model_dump() for record in ordered(latency)]
    return pd.DataFrame(rows, columns=list(LatencyRecord.model_fields)).astype(dict.fromkeys((*PARTS, TOTAL), float))


def summary(frame: pd.DataFrame, plan: Resampling | None = None) -> pd.DataFrame:
    """Per arm and part, and in total: n, mean, median, quartiles, 95th percentile, maximum (seconds), and share.

    With a `plan` the mean has its bounds, documents as clusters. An arm has no row for a part that it does not have,
    and `n` leaves out queries of which a part was not timed. Shares are of the summed totals; what they lack to 1 is
    spent between the parts.
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
            bounded = mean_of(group, stage, plan) if plan else Estimate(mean)
            rows.append((arm, stage, count, mean, *quartiles, most, share, bounded.low, bounded.high))
    names = ["arm", "part", *STATISTICS, "mean_low", "mean_high"]
    return pd.DataFrame(rows, columns=names).astype({"mean_low": float, "mean_high": float})


def by_attempts(frame: pd.DataFrame, plan: Resampling) -> pd.DataFrame:
    """Per arm and number of attempts: n, mean with its bounds, median, 95th percentile of the total (seconds)."""
    rank = {arm: number for number, arm in enumerate(frame["arm"].unique())}
    rows = []
    for (arm, attempts), group in frame.groupby(["arm", "attempts"], sort=True):
        total = group[TOTAL]
        figures = (len(group), total.mean(), total.median(), total.quantile(0.95))
        mean = mean_of(group, TOTAL, plan)
        rows.append((arm, attempts, *figures, mean.low, mean.high))
    names = ["arm", "attempts", "n", "mean", "median", "p95", "mean_low", "mean_high"]
    table = pd.DataFrame(rows, columns=names).astype({"mean_low": float, "mean_high": float})
    return table.sort_values("arm", key=lambda arms: arms.map(rank), kind="stable", ignore_index=True)
