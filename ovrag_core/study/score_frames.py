"""Scores of a study as one tidy frame: a row for each set, arm and measure, with its interval."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy
import pandas

from ovrag_core.evaluation import Difference, Estimate, confusion
from ovrag_core.report import numbers, with_bounds, with_interval

COLUMNS = ("set", "arm", "measure", "n", "value", "low", "high", "method")
_NUMBERS = ["value", "low", "high"]
bounds = confusion.bounds


def scores(figures: Mapping[str, Mapping[str, Estimate | Difference]], n: int, of: str = "") -> pandas.DataFrame:
    """Return the figures of each arm by their measures as a tidy frame. `of` names the set of `n` items."""
    rows = [
        (of, arm, measure, n, figure.value, figure.low, figure.high, getattr(figure, "method", ""))
        for arm, measured in figures.items()
        for measure, figure in measured.items()
    ]
    return pandas.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(_NUMBERS, float))


def wide(frame: pandas.DataFrame, measures: Iterable[str], by: Sequence[str] = ("arm",)) -> pandas.DataFrame:
    """Return a row for each of `by`, in the order of their first, with the columns `x`, `x_low`, `x_high` a measure."""
    wanted = list(measures)
    rows: dict[tuple[str, ...], dict[str, object]] = {}
    for row in frame.to_dict("records"):
        key = tuple(row[name] for name in by)
        cells = rows.setdefault(key, dict(zip(by, key, strict=True)))
        if (measure := row["measure"]) in wanted:
            cells |= {measure: row["value"], f"{measure}_low": row["low"], f"{measure}_high": row["high"]}
    return pandas.DataFrame(list(rows.values()), columns=[*by, *with_bounds(wanted)])


def estimates_of(frame: pandas.DataFrame) -> dict[str, dict[str, Estimate]]:
    """Return the figures of a tidy frame by arm and measure."""
    by_arm: dict[str, dict[str, Estimate]] = {}
    for row in frame.to_dict("records"):
        value, low, high = (None if pandas.isna(row[name]) else row[name] for name in _NUMBERS)
        by_arm.setdefault(row["arm"], {})[row["measure"]] = Estimate(value, low, high, row["n"], row["method"])
    return by_arm


def macros(frame: pandas.DataFrame, name: Callable[[str, str], str]) -> dict[str, str]:
    """Return two macros for each row, its figure's and its interval's; `name` makes a name of arm and measure."""
    definitions: dict[str, str] = {}
    for row in frame.to_dict("records"):
        definitions |= with_interval(name(row["arm"], row["measure"]), *(row[column] for column in _NUMBERS))
    return definitions


def told(found: Estimate | Difference) -> str:
    """Return a figure with its interval, for prose."""
    bounds = None if found.low is None else [found.low, found.high]
    return numbers.number(found.value) + (f" {numbers.interval(bounds)}" if bounds else "")


def milliseconds(seconds: Sequence[float]) -> dict[str, object]:
    """Return number, median, 95th percentile and maximum as the columns of a table."""
    return {
        "n": len(seconds),
        "median": float(numpy.median(seconds)) * 1000,
        "95th percentile": float(numpy.quantile(seconds, 0.95)) * 1000,
        "longest": max(seconds) * 1000,
    }
