"""The published table of the causal loop, replayed without a model, a text or a knowledge base.

The verifier of those runs ignores what was written: it draws 3 to 7 placeholder propositions and a verdict for each, by
a hint h that the arm sets (Georgiev and Gegov's repository, MIT). This arm draws the same way. Published cells within
the range of replays say that the table carries nothing about a model, not how a model would do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Figure = Literal["inference depth", "contradiction rate", "entailment accuracy", "semantic invariance"]
Counts = npt.NDArray[np.int64]

HINTS: Mapping[str, float] = {"CAF": 0.7, "Vanilla": 0.7, "CoT": 0.6, "RAG": 0.6, "RAG+CoT": 0.6}
LOOPS = ("CAF",)  # the others draft once
# From the recorded run; the paper prints them rounded. A baseline's invariance is 0 there because nothing measured it.
PUBLISHED: Mapping[str, Mapping[Figure, float]] = {
    "CAF": {
        "inference depth": 1.32,
        "contradiction rate": 0.84,
        "entailment accuracy": 0.7649,
        "semantic invariance": 0.7108,
    },
    "Vanilla": {"inference depth": 2.973, "contradiction rate": 0.7067, "entailment accuracy": 0.6199},
    "CoT": {"inference depth": 2.333, "contradiction rate": 0.7467, "entailment accuracy": 0.5236},
    "RAG": {"inference depth": 2.52, "contradiction rate": 0.7067, "entailment accuracy": 0.538},
    "RAG+CoT": {"inference depth": 2.413, "contradiction rate": 0.7467, "entailment accuracy": 0.5268},
}
STEPS = {2: 6, 3: 13, 4: 7, 5: 8, 6: 13, 7: 5, 8: 11, 9: 6, 10: 6}  # how many of the 75 chains have how many steps
PARAPHRASES = 3
_FEWEST, _MOST = 3, 7
_THETA, _ALPHA, _BETA, _ROUNDS = 0.8, 0.5, 0.5, 5
REPLAYS = 2000
_AT_ONCE = 100  # replays


@dataclass(frozen=True, slots=True)
class ReplayedCell:
    """A published figure beside the middle and the range (`confidence` of all replays) of the replayed one."""

    arm: str
    figure: Figure
    published: float | None
    mean: float
    low: float
    high: float

    @property
    def inside(self) -> bool | None:
        """Return True where the published figure lies within the range, None where none was measured."""
        return None if self.published is None else self.low <= self.published <= self.high


def replay(
    replays: int = REPLAYS,
    seed: int = 42,
    *,
    confidence: float = 0.95,
    rounds: int = _ROUNDS,
) -> list[ReplayedCell]:
    """All cells of the published table and those that it has as 0, by `replays` runs of 75 chains and paraphrases."""
    tail = (1 - confidence) / 2
    cells = []
    for number, (arm, hint) in enumerate(HINTS.items()):
        rng = np.random.default_rng([seed, number])
        batches = [
            _run(rng, hint, rounds if arm in LOOPS else 1, min(_AT_ONCE, replays - start))
            for start in range(0, replays, _AT_ONCE)
        ]
        for figure in batches[0]:
            values = np.concatenate([batch[figure] for batch in batches])
            low, high = (float(bound) for bound in np.quantile(values, [tail, 1 - tail]))
            cells.append(ReplayedCell(arm, figure, PUBLISHED[arm].get(figure), float(values.mean()), low, high))
    return cells


def reproduced(cells: Sequence[ReplayedCell]) -> tuple[int, int]:
    """Count the measured cells of the published table that lie within their range, and all measured cells."""
    measured = [cell.inside for cell in cells if cell.inside is not None]
    return sum(measured), len(measured)


def _run(rng: np.random.Generator, hint: float, rounds: int, replays: int) -> dict[Figure, npt.NDArray[np.float64]]:
    """The loop over drawn verdicts: another draw until the score suffices. One value a replay.

    The prompt is the first wording. A chain without a contradiction has its full depth.
    """
    lengths = np.repeat(list(STEPS), list(STEPS.values()))
    shape = (replays, lengths.size, 1 + PARAPHRASES)
    score, accuracy = np.zeros(shape), np.zeros(shape)
    first_contradiction = np.full(shape, -1)  # the least number of verdicts before one; -1 where there is none
    running = np.ones(shape, dtype=bool)
    for _ in range(rounds):
        verified, partial, contradicted, earliest, n = _draw(rng, hint, shape)
        new_score = np.clip((verified + _ALPHA * partial - _BETA * contradicted) / n, 0, 1)
        score = np.where(running, new_score, score)
        accuracy = np.where(running, (verified + 0.5 * partial) / n, accuracy)
        sooner = (earliest >= 0) & ((first_contradiction < 0) | (earliest < first_contradiction))
        first_contradiction = np.where(running & sooner, earliest, first_contradiction)
        running &= new_score < _THETA
    depths = first_contradiction[:, :, 0]
    return {
        "inference depth": np.where(depths < 0, lengths, depths).mean(axis=1),
        "contradiction rate": (depths >= 0).mean(axis=1),
        "entailment accuracy": accuracy[:, :, 0].mean(axis=1),
        "semantic invariance": (1 - np.abs(score[:, :, :1] - score[:, :, 1:])).mean(axis=(1, 2)),
    }


def _draw(rng: np.random.Generator, hint: float, shape: tuple[int, ...]) -> tuple[Counts, ...]:
    """Counts of verified, partial and contradicted, the place of the first contradiction (-1: none), and n."""
    n = rng.integers(_FEWEST, _MOST + 1, size=shape)
    drawn = rng.random((*shape, _MOST))
    is_used = np.arange(_MOST) < n[..., None]
    bounds = np.cumsum([0.8 * hint, 0.2 * hint, 0.3 * (1 - hint)])
    kinds = np.digitize(drawn, bounds)  # 0 verified, 1 partial, 2 failed, 3 contradicted
    contradicted = (kinds == 3) & is_used
    earliest = np.where(contradicted.any(axis=-1), contradicted.argmax(axis=-1), -1)
    counted = [((kinds == kind) & is_used).sum(axis=-1) for kind in (0, 1)]
    return *counted, contradicted.sum(axis=-1), earliest, n
