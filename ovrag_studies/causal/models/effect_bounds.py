"""Between what an average effect lies that is not identified, for a binary cause and effect.

Sources: Robins (1989) and Manski (1990) without, Balke and Pearl (JASA 92, 1997) with a binary instrument.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import linprog

from ovrag_core.base import CausalError, ImpossibleEvidenceError
from ovrag_studies.causal.models.distributions import Joint, Values, marginal


def effect_bounds(joint: Joint, cause: str, effect: str, instrument: str | None = None) -> tuple[float, float]:
    """The least and greatest average effect of a binary cause on a binary effect that fit the observations.

    Without an instrument the two are 1 apart (Robins 1989, Manski 1990); with a binary one they are those of Balke and
    Pearl (1997). Raises CausalError where the observations refute the instrument.
    """
    if instrument is None:
        table = _binary(joint, (cause, effect))
        return float(table[1, 1] - table[0, 1] - table[1].sum()), float(table[1, 1] + table[0].sum() - table[0, 1])
    return _instrument_bounds(_binary(joint, (instrument, cause, effect)), instrument)


def _binary(joint: Joint, names: tuple[str, ...]) -> Values:
    axes = [joint.names.index(name) for name in names]
    table = np.asarray(marginal(joint, set(names)))
    table = np.moveaxis(table, axes, range(len(axes))).reshape([joint.table.shape[axis] for axis in axes])
    if set(table.shape) != {2}:
        raise CausalError(f"bounds are computed for binary variables alone, and one of {', '.join(names)} is not")
    return table


def _instrument_bounds(table: Values, name: str) -> tuple[float, float]:
    instrument_chances = table.sum(axis=(1, 2))
    if not np.all(instrument_chances > 0):
        raise ImpossibleEvidenceError(f"“{name}” never varies, so it is no instrument")
    observed = (table / instrument_chances[:, None, None]).reshape(-1)[:-1]
    cells = list(product((0, 1), repeat=3))[:-1]  # the last follows from the others
    rows = [[float(takes[z] == x and gives[x] == y) for takes, gives in _TYPES] for z, x, y in cells]
    extremes = _extremes(rows, observed)
    if extremes is None:
        raise CausalError(f"the observations refute “{name}” as an instrument: no population would give them")
    return extremes


# How someone's cause answers the instrument, and their effect the cause: 16 types of people (Balke and Pearl)
_ANSWERS = ((0, 0), (0, 1), (1, 0), (1, 1))
_TYPES = tuple(product(_ANSWERS, _ANSWERS))
_GAIN = np.array([float(gives[1] - gives[0]) for _, gives in _TYPES])


def _extremes(rows: list[list[float]], observed: Values) -> tuple[float, float] | None:
    """The least and greatest mean gain of populations whose `rows` of types add up to what was observed, if any."""
    table, shares = [[1.0] * len(_TYPES), *rows], [1.0, *observed]
    least, most = (linprog(sign * _GAIN, A_eq=table, b_eq=shares, method="highs") for sign in (1.0, -1.0))
    if not (least.success and most.success):
        return None
    return float(least.fun) + 0.0, 0.0 - float(most.fun)
