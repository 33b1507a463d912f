"""How likely two sentences cannot both be kept, by weights that were learned from pairs of rules.

A logistic regression over the numbers of `opposition`. `tools/train_policy_conflicts.py` makes the weights from the
pairs in `training/cited`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy

from ovrag_core.base import SettingsError
from ovrag_studies.cited.conflicts.opposition import NAMES, Features

WEIGHTS = Path(__file__).parents[1] / "weights" / "conflicts.json"


class ConflictModel(NamedTuple):
    """Of the numbers of two sentences: their middles and widths in training, their weights, and the bias."""

    middles: Features
    widths: Features
    weights: Features
    bias: float

    def chance(self, features: Features) -> float:
        """How likely it is that two sentences cannot both be kept, from 0 to 1."""
        score = float(numpy.clip((features - self.middles) / self.widths, -4, 4) @ self.weights) + self.bias
        return float(1 / (1 + numpy.exp(-score)))


@cache
def load_model(path: Path = WEIGHTS) -> ConflictModel:
    """The weights. Raises SettingsError where they are missing or were learned for other numbers."""
    again = f"make {path} anew with tools/train_policy_conflicts.py"
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        rows = said["features"]
        if list(rows) != list(NAMES):
            raise SettingsError(f"the weights of conflicts were learned for other numbers; {again}")
        middles, widths, weights = (numpy.array([rows[name][place] for name in NAMES], float) for place in range(3))
        return ConflictModel(middles, widths, weights, float(said["bias"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        raise SettingsError(f"the weights of conflicts cannot be read; {again}") from None
