"""Agreement of two raters beyond chance, with intervals; nothing here knows what was rated.

Cohen's kappa (1960), its weighted form (1968), and the prevalence- and bias-adjusted kappa (Byrt, Bishop and Carlin
1993), readable also where nearly all ratings are the same. Intervals are percentiles of a bootstrap over items, that is
of multinomial draws of the table of both raters. Resamples in which both use one category leave kappa undefined, and
are left out.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ovrag_core.evaluation.statistics import Estimate, Resampling

Weights = Literal["none", "quadratic"]
Table = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The share of items on which two raters agree, kappa, and its adjusted form; `items` were rated by both."""

    items: int
    observed: float | None
    kappa: Estimate
    pabak: Estimate


def agreement(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    categories: Sequence[Hashable],
    plan: Resampling,
    *,
    weights: Weights = "none",
) -> Agreement:
    """The agreement of two raters on the same items in the same order.

    `categories` are all that could be given, in their order where `weights` are quadratic. Raises ValueError
    where the raters' items are not as many, or a rating is none of the categories.
    """
    table = _table(first, second, categories)
    items = int(table.sum())
    if not items:
        return Agreement(0, None, Estimate(None), Estimate(None))
    apart = _apart(len(categories), weights)
    drawn = np.random.default_rng(plan.seed).multinomial(items, (table / items).ravel(), plan.samples)
    tables = drawn.reshape(-1, *table.shape).astype(float)
    return Agreement(
        items,
        float(np.trace(table) / items),
        _estimate(_kappa(table[None], apart), _kappa(tables, apart), items, plan),
        _estimate(_pabak(table[None]), _pabak(tables), items, plan),
    )


def _table(first: Sequence[Hashable], second: Sequence[Hashable], categories: Sequence[Hashable]) -> Table:
    """Count how often each category of the first rater (rows) met each of the second (columns)."""
    index = {category: number for number, category in enumerate(categories)}
    table = np.zeros((len(categories), len(categories)))
    for row, column in zip(first, second, strict=True):
        if row not in index or column not in index:
            raise ValueError(f"{row if row not in index else column!r} is none of the categories {list(categories)}")
        table[index[row], index[column]] += 1
    return table


def _apart(categories: int, weights: Weights) -> Table:
    """Weigh each pair of categories that two raters may give: 0 on the diagonal, at most 1."""
    if weights == "none":
        return 1 - np.eye(categories)
    distance = np.abs(np.subtract.outer(np.arange(categories), np.arange(categories))) / max(1, categories - 1)
    return np.asarray(distance**2, dtype=float)


def _kappa(tables: Table, apart: Table) -> Table:
    """Kappa of each table (tables, categories, categories): 1 - disagreement seen / disagreement by chance."""
    items = tables.sum(axis=(1, 2))
    chance = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :] / items[:, None, None]
    by_chance = (chance * apart).sum(axis=(1, 2))
    # Chance that agrees always leaves rounding errors behind, which would be divided by.
    by_chance[by_chance < 1e-9] = np.nan
    return np.asarray(1 - (tables * apart).sum(axis=(1, 2)) / by_chance)


def _pabak(tables: Table) -> Table:
    """(k p - 1) / (k - 1) of each table, with k categories and p the share of agreement; 2 p - 1 for two."""
    share = np.trace(tables, axis1=1, axis2=2) / tables.sum(axis=(1, 2))
    categories = tables.shape[1]
    return np.asarray((categories * share - 1) / (categories - 1))


def _estimate(value: Table, drawn: Table, items: int, plan: Resampling) -> Estimate:
    defined = drawn[np.isfinite(drawn)]
    if not np.isfinite(value[0]):
        return Estimate(None, clusters=items)
    if items < 2 or np.ptp(defined) < 1e-12:
        # Where all items agree a bootstrap has nothing to resample, and would claim certainty.
        return Estimate(float(value[0]), clusters=items)
    tail = (1 - plan.confidence) / 2
    low, high = (float(bound) for bound in np.quantile(defined, [tail, 1 - tail]))
    return Estimate(float(value[0]), low, high, items, "percentile")
