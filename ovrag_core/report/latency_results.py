"""Seconds: tables, figures and numbers of a run. Every file's name says latency, as it depends on the machine."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ovrag_core.evaluation import latency
from ovrag_core.report import figures, numbers
from ovrag_core.report.run import MARK, Run, save, source, with_rows, write
from ovrag_core.report.tables import Note, with_bounds


def _note(run: Run, seconds: pd.DataFrame, *, interval: bool = True, more: str = "") -> Note:
    """Note what a result rests on: the arms and queries that were timed, which an arm judged again was not."""
    if seconds.empty:
        return run.note(interval=interval, more=more)
    arms = ", ".join(str(arm) for arm in seconds["arm"].unique())
    counts = [seconds[name].nunique() for name in ("document_id", "question_id")]
    n = f"{len(seconds)} queries: {counts[0]} contracts, {counts[1]} questions"
    return run.note(interval=interval, arm=arms, n=n, more=more)


def latency_table(run: Run, seconds: pd.DataFrame) -> pd.DataFrame:
    """Seconds per arm and part, published ones beside them: `latency`."""
    table = latency.summary(seconds, run.plan)[["arm", "part", "n", *with_bounds(["mean"]), *latency.STATISTICS[2:]]]
    printed = run.published.latency if run.published and "ovrag" in run.arms else {}
    rows = [{"arm": f"ovrag {MARK}", "part": stage, **row} for stage, row in printed.items()]
    table = with_rows(table, rows, ["n"])
    more = source(run, "Seconds, one machine; the interval is the mean's; share of the summed totals")
    decimals = {**dict.fromkeys(latency.STATISTICS, 4), "share": 3}
    caption = "Latency by arm and part, in seconds."
    return write(run, table, "latency", caption, _note(run, seconds, more=more), decimals=decimals)


def latency_attempts_table(run: Run, seconds: pd.DataFrame) -> pd.DataFrame:
    """Seconds per arm and number of attempts, published ones beside them: `latency_by_attempts`."""
    table = latency.by_attempts(seconds, run.plan)[["arm", "attempts", "n", *with_bounds(["mean"]), "median", "p95"]]
    printed = run.published.latency_by_attempts if run.published and "ovrag" in run.arms else []
    table = with_rows(table, [{**row, "arm": f"ovrag {MARK}"} for row in printed], ["n", "attempts"])
    note = _note(run, seconds, more=source(run, "Seconds, one machine; the interval is the mean's"))
    return write(run, table, "latency_by_attempts", "Latency by number of attempts, in seconds.", note, decimals=4)


def latency_histogram(run: Run, seconds: pd.DataFrame) -> Path:
    """Histogram of totals per arm, on a logarithmic scale."""
    samples = {str(arm): group[latency.TOTAL] for arm, group in seconds.groupby("arm", sort=False)}
    histogram = figures.log_histograms(samples, run.width, label="seconds per query")
    note = _note(run, seconds, interval=False, more="One machine")
    return save(run, histogram, "latency_histogram", "Latency of queries by arm, logarithmic scale.", note)


def latency_figure(run: Run, seconds: pd.DataFrame) -> Path:
    """Distribution of each part and of totals, by arm, on a logarithmic scale."""
    stages = [stage for stage in latency.PARTS if seconds[stage].any()] + [latency.TOTAL]
    beside = {stage: row["median"] for stage, row in run.published.latency.items()} if run.published else {}
    published = {"ovrag": beside} if "ovrag" in run.arms and beside else None
    label = "seconds per query"
    boxes = figures.part_distributions(seconds, "arm", stages, run.width, label=label, published=published)
    box = "Boxes: quartiles, whiskers: 5th to 95th percentile, dots: beyond. One machine"
    note = _note(run, seconds, interval=False, more=source(run, box))
    return save(run, boxes, "latency_parts", "Latency by part and arm, logarithmic scale.", note)


def latency_numbers_file(run: Run, seconds: pd.DataFrame) -> Path:
    """Macros of mean, median and 95th percentile per arm and part: `numbers_latency.tex`."""
    values = {}
    for _, row in latency.summary(seconds).iterrows():
        for name in ("mean", "median", "p95"):
            values[numbers.macro_name("latency", row["arm"], row["part"], name)] = figures.duration(float(row[name]))
    path = run.tables / run.folder / "numbers_latency.tex"
    return numbers.write_numbers(values, path, f"Run {run.name}; one machine.")
