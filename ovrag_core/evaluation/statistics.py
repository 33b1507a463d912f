"""Intervals and paired tests over clusters of queries; nothing here knows what is being counted.

Queries about one document are not independent, so documents are resampled. Every headline figure is a ratio of two sums
over documents; its interval is a bias-corrected and accelerated (BCa) bootstrap (Efron 1987), or, where resamples with
an empty denominator leave that undefined, the percentile interval of the others. Where all documents show the same
proportion a bootstrap would claim certainty: then Wilson's score interval takes each document as one trial, and a
figure that is no proportion gets no interval. With fewer than two documents there is none either.
"""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

Vector = npt.NDArray[np.float64]
# Decimals: resamples of the same clusters are equal, and differences that cancel zero, whatever the order of sums. BCa
# counts those below the estimate, and last bits, which depend on the processor, would move its bounds far.
EQUAL = 12
Method = Literal["bca", "percentile", "wilson", "none"]


@dataclass(frozen=True, slots=True)
class Resampling:
    """Plan for intervals: the number of resamples, the confidence level (0 to 1), and the seed."""

    samples: int = 2000
    confidence: float = 0.95
    seed: int = 42


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval; None where it is not defined. `clusters` counts the documents it rests on."""

    value: float | None
    low: float | None = None
    high: float | None = None
    clusters: int = 0
    method: Method = "none"


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second, on the same documents, with its interval and the two-sided p-value of no difference."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    clusters: int


@dataclass(frozen=True, slots=True)
class McNemar:
    """Discordant pairs (right only in the first, right only in the second) and the exact two-sided p-value."""

    first_only: int
    second_only: int
    pairs: int
    p: float | None


@dataclass(frozen=True, slots=True)
class Paired:
    """McNemar's test over items, its p-value after Holm's adjustment, and the difference over clusters."""

    items: McNemar
    holm: float | None
    difference: Difference


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Estimate:
    """A proportion of independent trials with its Wilson score interval."""
    if trials == 0:
        return Estimate(None)
    return Estimate(successes / trials, *_wilson_bounds(successes, trials, confidence), trials, "wilson")


def ratio(
    numerators: Sequence[float], denominators: Sequence[float], plan: Resampling, *, proportion: bool = True
) -> Estimate:
    """Σ numerators / Σ denominators over clusters, one entry each, with its interval.

    `proportion` says that the ratio lies between 0 and 1, which allows the Wilson interval where all clusters agree.
    """
    top, bottom = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    used = int(np.count_nonzero(bottom))
    if used == 0:
        return Estimate(None)
    value = float(top.sum() / bottom.sum())
    agree = np.ptp(top[bottom > 0] / bottom[bottom > 0]) < 1e-12
    if used < 2 or (agree and not proportion):
        return Estimate(value, clusters=used)
    if agree:
        return Estimate(value, *_wilson_bounds(value * used, used, plan.confidence), used, "wilson")
    low, high, method, _ = _bootstrap((top, bottom), plan)
    return Estimate(value, low, high, used, method)


def sums(values: Sequence[float], clusters: Sequence[Hashable]) -> list[float]:
    """The sum of the values of each cluster, clusters in the order in which they come first."""
    totals: dict[Hashable, float] = {}
    for value, cluster in zip(values, clusters, strict=True):
        totals[cluster] = totals.get(cluster, 0.0) + value
    return list(totals.values())


def paired_difference(
    first: tuple[Sequence[float], Sequence[float]], second: tuple[Sequence[float], Sequence[float]], plan: Resampling
) -> Difference:
    """The difference of two ratios measured on the same clusters (aligned entries), resampled together.

    The p-value is that of the bootstrap distribution: twice the smaller share of resamples on either side of zero.
    Where every cluster shows the same difference there is no spread to resample, and no interval is given.
    """
    data = tuple(np.asarray(counts, dtype=float) for counts in (*first, *second))
    used = int(np.count_nonzero((data[1] > 0) | (data[3] > 0)))
    if not data[1].sum() or not data[3].sum():
        return Difference(None, None, None, None, used)
    value = float(data[0].sum() / data[1].sum() - data[2].sum() / data[3].sum())
    if used < 2:
        return Difference(value, None, None, None, used)
    if np.array_equal(data[0], data[2]) and np.array_equal(data[1], data[3]):
        return Difference(0.0, None, None, 1.0, used)
    low, high, _, drawn = _bootstrap(data, plan)
    sides = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p = min(1.0, 2 * (sides + 1) / (drawn.size + 1))
    if high - low < 1e-12:
        return Difference(value, None, None, p, used)
    return Difference(value, low, high, p, used)


def exact_mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """McNemar's exact test on paired outcomes (right or wrong). It takes pairs as independent: use one per document."""
    a, b = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    first_only, second_only = int((a & ~b).sum()), int((~a & b).sum())
    if a.size == 0:
        return McNemar(0, 0, 0, None)
    table = [[int((a & b).sum()), first_only], [second_only, int((~a & ~b).sum())]]
    p = float(mcnemar(table, exact=True).pvalue) if first_only + second_only else 1.0
    return McNemar(first_only, second_only, int(a.size), min(1.0, p))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's (1979) step-down adjustment of a family of p-values; None stays None and is not counted in the family.

    Written out, as statsmodels collects all garbage of the process at each call, which takes longer than a table.
    """
    ranked = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, index) in enumerate(ranked):
        least = max(least, min(1.0, (len(ranked) - rank) * p))
        adjusted[index] = least
    return adjusted


def compare_pairs(
    pairs: Mapping[str, tuple[Sequence[bool], Sequence[bool]]], clusters: Sequence[Hashable], plan: Resampling
) -> dict[str, Paired]:
    """Return each pair of systems compared, first minus second; Holm's adjustment is for all of them.

    A pair says of each item whether either system is right; `clusters` names the cluster of each item.
    """
    tests = {name: exact_mcnemar(a, b) for name, (a, b) in pairs.items()}
    adjusted = holm([test.p for test in tests.values()])
    sizes = sums([1.0] * len(clusters), clusters)
    compared = {}
    for (name, (hits_a, hits_b)), p in zip(pairs.items(), adjusted, strict=True):
        successes_a, successes_b = (sums([float(hit) for hit in hits], clusters) for hits in (hits_a, hits_b))
        compared[name] = Paired(tests[name], p, paired_difference((successes_a, sizes), (successes_b, sizes), plan))
    return compared


def _wilson_bounds(successes: float, trials: int, confidence: float) -> tuple[float, float]:
    low, high = proportion_confint(successes, trials, alpha=1 - confidence, method="wilson")
    share = successes / trials
    return float(min(max(0.0, low), share)) if share else 0.0, float(max(min(1.0, high), share)) if share < 1 else 1.0


def _ratios(*counts: Vector, axis: int = -1) -> Vector:
    """Ratio of the sums of two vectors, or, of two pairs of them, the first ratio minus the second."""
    with np.errstate(invalid="ignore", divide="ignore"):
        tops, bottoms = counts[::2], counts[1::2]
        first, *second = (top.sum(axis=axis) / bottom.sum(axis=axis) for top, bottom in zip(tops, bottoms, strict=True))
    return np.asarray(first - sum(second)).round(EQUAL)


def _bootstrap(data: tuple[Vector, ...], plan: Resampling) -> tuple[float, float, Method, Vector]:
    """BCa bounds and the defined part of the bootstrap distribution; percentile bounds where BCa is undefined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # degenerate data are dealt with below
        resampled = stats.bootstrap(
            data,
            _ratios,
            paired=True,
            vectorized=True,
            n_resamples=plan.samples,
            confidence_level=plan.confidence,
            method="BCa",
            rng=np.random.default_rng(plan.seed),
        )
    drawn: Vector = resampled.bootstrap_distribution[np.isfinite(resampled.bootstrap_distribution)]
    low, high = float(resampled.confidence_interval.low), float(resampled.confidence_interval.high)
    if np.isfinite(low) and np.isfinite(high):
        return low, high, "bca", drawn
    tail = (1 - plan.confidence) / 2
    low, high = (float(bound) for bound in np.quantile(drawn, [tail, 1 - tail]))
    return low, high, "percentile", drawn
