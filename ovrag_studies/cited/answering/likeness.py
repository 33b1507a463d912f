"""Test whether a document is like those that silence was calibrated on: a p-value on the bundled vectors.

How a paragraph lies between bodies of rules and other texts is told by a logistic regression on its vector; its mean
over a document is compared with those of the known documents, each by weights that learned from others (conformal:
Vovk et al. 2005). `tools/train_policy_likeness.py` makes the numbers. It cannot tell mixed documents or shuffled words.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from ovrag_core.base import SettingsError, read_tensors
from ovrag_core.retrieval import Vectors

WEIGHTS = Path(__file__).parents[1] / "weights" / "likeness.safetensors"
TRAINER = "tools/train_policy_likeness.py"
UNLIKE = 0.05  # p-value from which downwards a document is called unlike
SIZES = (3, 6, 12, 24, 10_000)  # paragraphs to which documents are cut, each to the most that it has


class Likeness(NamedTuple):
    """The weights of a paragraph's vector (DIMENSIONS,), and the means of the known documents, one row for each of
    SIZES.
    """

    weights: NDArray[numpy.float32]
    known: NDArray[numpy.float32]

    def p_value(self, vectors: Vectors) -> float:
        """The p-value of a document by the vectors of its paragraphs in order; 1 where it has too few to tell."""
        row = max((row for row, size in enumerate(SIZES) if size <= len(vectors)), default=None)
        if row is None:
            return 1.0
        mean = float((vectors[: SIZES[row]] @ self.weights).mean())
        return float((1 + int((self.known[row] <= mean).sum())) / (1 + self.known.shape[1]))


@cache
def load_likeness(path: Path = WEIGHTS) -> Likeness:
    """Load what is known of documents from a file. Raises SettingsError where it cannot be read."""
    try:
        tensors, _ = read_tensors(path)
        return Likeness(tensors["weights"], tensors["known"])
    except (OSError, SafetensorError, KeyError):
        raise SettingsError(f"{path} cannot be read; make it anew with {TRAINER}") from None
