"""A distribution of discrete variables, and its marginals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Joint:
    """P(V), one axis per variable in the order of `names`."""

    names: tuple[str, ...]
    table: Values


def marginal(joint: Joint, names: Iterable[str]) -> Values:
    """P of some variables; the axes of the others have length 1."""
    names = set(names)
    axes = tuple(axis for axis, name in enumerate(joint.names) if name not in names)
    return np.asarray(joint.table.sum(axes, keepdims=True))
