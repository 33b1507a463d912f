"""Seconds: tables, figures and numbers of a run. Every file's name says latency, as it depends on the machine."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ovrag_core.evaluation import latency
from ovrag_core.report import figures, numbers
from ovrag_core.report.run import MARK, Run, extent, with_rows
from ovrag_core.report.tables import with_bounds


def _timed(seconds: pd.DataFrame) -> dict[str, object]:
    """The words on the arms and queries that were timed, which an arm judged again was not."""
    return {} if seconds.empty else extent(seconds)


def latency_table(run: Run, seconds: pd.DataFrame) -> pd.DataFrame:
    """Seconds per arm and part, published ones beside them: `latency`."""
    table = latency.summary(seconds, run.plan)[["arm", "part", "n", *with_bounds(["mean"]), *latency.STATISTICS[2:]]]
    printed = run.published.latency if run.published and "ovrag" in run.arms else {}
    rows = [{"arm": f"ovrag {MARK}", "part": stage, **row} for stage, row in printed.items()]
    decimals = {**dict.fromkeys(latency.STATISTICS, 4), "share": 3}
    return run.table(with_rows(table, rows, ["n"]), "latency", _timed(seconds), decimals=decimals)


def latency_attempts_table(run: Run, seconds: pd.DataFrame) -> pd.DataFrame:
    """Seconds per arm and number of attempts, published ones beside them: `latency_by_attempts`."""
    table = latency.by_attempts(seconds, run.plan)[["arm", "attempts", "n", *with_bounds(["mean"]), "median", "p95"]]
    printed = run.published.latency_by_attempts if run.published and "ovrag" in run.arms else []
    table = with_rows(table, [{**row, "arm": f"ovrag {MARK}"} for row in printed], ["n", "attempts"])
    return run.table(table, "latency_by_attempts", _timed(seconds), decimals=4)


def latency_histogram(run: Run, seconds: pd.DataFrame) -> Path:
    """Histogram of totals per arm, on a logarithmic scale."""
    samples = {str(arm): group[latency.TOTAL] for arm, group in seconds.groupby("arm", sort=False)}
    histogram = figures.log_histograms(samples, run.width)
    return run.figure(histogram, "latency_histogram", _timed(seconds))


def latency_figure(run: Run, seconds: pd.DataFrame) -> Path:
    """Distribution of each part and of totals, by arm, on a logarithmic scale."""
    stages = [stage for stage in latency.PARTS if seconds[stage].any()] + [latency.TOTAL]
    printed = run.published.latency if run.published and "ovrag" in run.arms else {}
    published = {"ovrag": {stage: row["median"] for stage, row in printed.items()}}
    boxes = figures.part_distributions(seconds, stages, run.width, published)
    return run.figure(boxes, "latency_parts", _timed(seconds))


def latency_numbers_file(run: Run, seconds: pd.DataFrame) -> Path:
    """Macros of mean, median and 95th percentile per arm and part: `numbers_latency.tex`."""
    values = {}
    for _, row in latency.summary(seconds).iterrows():
        for name in ("mean", "median", "p95"):
            values[numbers.macro_name("latency", row["arm"], row["part"], name)] = figures.duration(float(row[name]))
    path = run.tables / run.folder / "numbers_latency.tex"
    return numbers.write_numbers(values, path, f"Run {run.name}; one machine.")
