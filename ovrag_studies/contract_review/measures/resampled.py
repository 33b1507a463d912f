"""Figures that are no ratios of sums, with intervals: contracts or agreements are drawn, and all is measured anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy

from ovrag_core.evaluation import Estimate, Resampling

T = TypeVar("T")


def resample(parts: Sequence[T], measure: Callable[[Sequence[T]], Iterable[float]], plan: Resampling) -> list[Estimate]:
    """Return each figure of `measure` with its percentile bootstrap interval over `parts`; NaN is not defined."""
    values = [None if numpy.isnan(value) else float(value) for value in measure(parts)]
    if len(parts) < 2:
        return [Estimate(value, clusters=len(parts)) for value in values]
    chance = numpy.random.default_rng(plan.seed)
    draws = (chance.integers(0, len(parts), len(parts)) for _ in range(plan.samples))
    drawn = numpy.array([tuple(measure([parts[row] for row in draw])) for draw in draws])
    tail = (1 - plan.confidence) / 2
    low, high = numpy.nanquantile(drawn, [tail, 1 - tail], axis=0)
    return [
        Estimate(None, clusters=len(parts))
        if value is None
        else Estimate(value, float(low[column]), float(high[column]), len(parts), "percentile")
        for column, value in enumerate(values)
    ]
