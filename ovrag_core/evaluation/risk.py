"""How well what is sought is ranked, and answers by confidence: risk and coverage (Geifman and El-Yaniv 2017).

The surest answers come first, those of one confidence in any order, and what was not answered last, as an error. The
area (AURC) is the mean risk over all coverages, its excess (Geifman, Uziel and El-Yaniv 2019) what remains above that
of a perfect ranking.
"""

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


def first_rank(hits: Iterable[bool]) -> int | None:
    """Return the rank, from 1, of the first hit of a ranking, best first; None without one."""
    return next((rank for rank, hit in enumerate(hits, 1) if hit), None)


def reciprocal(rank: int | None) -> float:
    """Return 1 / rank of the first hit, 0 without one; its mean over queries is the MRR."""
    return 1 / rank if rank else 0.0


def recall(gold: Collection[Hashable], found: Iterable[Hashable]) -> float:
    """Return the share of `gold` that was found; 0 where there is no gold."""
    wanted = set(gold)
    return len(wanted & set(found)) / len(wanted) if wanted else 0.0


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """Risk over the k surest items for every k: `coverage` = k/n and `risk` = errors/k, ties in expectation.

    `answered` is the share of items that are answered of the system's own accord, `own_risk` the risk there (None where
    it answers nothing). Beyond, all items are errors: the curve is that of a system made to answer.
    """

    coverage: Vector
    risk: Vector
    answered: float
    own_risk: float | None
    aurc: float
    optimum: float

    @property
    def excess(self) -> float:
        """Area above that of a system that is right wherever it can be, and asks unanswerable items last."""
        return self.aurc - self.optimum


def risk_coverage(errors: Vector, confidence: Vector, answerable: int) -> RiskCoverage:
    """Return the curve of n items. Raises ValueError without an item, or for a confidence that is no number.

    `errors` are 0 or 1, 1 also where nothing was answered, `confidence` is -inf there; `answerable` counts the items
    that can be answered rightly.
    """
    if not errors.size:
        raise ValueError("risk and coverage need an outcome")
    if np.isnan(confidence).any():
        raise ValueError("a confidence is no number")
    n = errors.size
    risk = expected_risk(errors, confidence, np.ones(n, dtype=np.int64))
    answered = int(np.isfinite(confidence).sum())
    answered_risk = float(risk[answered - 1]) if answered else None
    optimum = float(least_risk(n, answerable).mean())
    return RiskCoverage(np.arange(1, n + 1) / n, risk, answered / n, answered_risk, float(risk.mean()), optimum)


def expected_risk(errors: Vector, confidence: Vector, weights: Counts) -> Vector:
    """Return the expected share of errors among the k surest, k = 1 … Σ weights; ties come in any order.

    `errors` are 0 or 1, `weights` how often each item counts.
    """
    order = np.argsort(-confidence, kind="stable")
    sorted_confidence = confidence[order]
    groups = np.concatenate([[0], np.cumsum(sorted_confidence[1:] != sorted_confidence[:-1])])
    sizes = np.bincount(groups, weights=weights[order]).astype(np.int64)
    wrong = np.bincount(groups, weights=weights[order] * errors[order])
    groups_of = np.repeat(np.arange(sizes.size), sizes)
    before, wrong_before = np.cumsum(sizes) - sizes, np.cumsum(wrong) - wrong
    k = np.arange(1, groups_of.size + 1)
    share = wrong[groups_of] / sizes[groups_of]
    return np.asarray((wrong_before[groups_of] + (k - before[groups_of]) * share) / k, dtype=float)


def least_risk(items: int, answerable: int) -> Vector:
    """Return the risk of a system that is right wherever it can be: items without an answer come last."""
    k = np.arange(1, items + 1)
    return np.asarray(np.maximum(0, k - answerable) / k, dtype=float)
