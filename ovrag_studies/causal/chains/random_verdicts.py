"""The published table of the causal loop, replayed without a model, a text or a knowledge base.

The verifier of those runs ignores what was written: it draws 3 to 7 placeholder propositions and a verdict for each, by
a hint h that the arm sets (Georgiev and Gegov's repository, MIT). This arm draws the same way. Published cells within
the range of replays say that the table carries nothing about a model, not how a model would do.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas

FIGURES = ("inference depth", "contradiction rate", "entailment accuracy", "semantic invariance")
HINTS: Mapping[str, float] = {"CAF": 0.7, "Vanilla": 0.7, "CoT": 0.6, "RAG": 0.6, "RAG+CoT": 0.6}
# From the recorded run, by `FIGURES`; the paper prints them rounded. A baseline's invariance is 0 there because nothing
# measured it.
PUBLISHED: Mapping[str, tuple[float | None, ...]] = {
    "CAF": (1.32, 0.84, 0.7649, 0.7108),
    "Vanilla": (2.973, 0.7067, 0.6199, None),
    "CoT": (2.333, 0.7467, 0.5236, None),
    "RAG": (2.52, 0.7067, 0.538, None),
    "RAG+CoT": (2.413, 0.7467, 0.5268, None),
}
STEPS = {2: 6, 3: 13, 4: 7, 5: 8, 6: 13, 7: 5, 8: 11, 9: 6, 10: 6}  # how many of the 75 chains have how many steps
PARAPHRASES = 3
_FEWEST, _MOST = 3, 7
_NEVER = _MOST  # the place of a contradiction, from 0, where there is none
_THETA, _ALPHA, _BETA, _ROUNDS = 0.8, 0.5, 0.5, 5
REPLAYS = 2000
_AT_ONCE = 100  # replays


def replay(
    replays: int = REPLAYS, seed: int = 42, *, confidence: float = 0.95, rounds: int = _ROUNDS
) -> pandas.DataFrame:
    """All cells of the published table and those that it has as 0, by `replays` runs of 75 chains and paraphrases.

    A row has arm, figure, the published value (missing where none was measured), the mean of the replayed ones, the
    range of a share `confidence` of them (low, high), and whether the published value is `inside`.
    """
    tail = (1 - confidence) / 2
    rows = []
    for number, (arm, hint) in enumerate(HINTS.items()):
        rng = np.random.default_rng([seed, number])
        batches = [
            _run(rng, hint, rounds if arm == "CAF" else 1, min(_AT_ONCE, replays - start))  # the others draft once
            for start in range(0, replays, _AT_ONCE)
        ]
        for figure, published, values in zip(FIGURES, PUBLISHED[arm], np.concatenate(batches, axis=1), strict=True):
            low, high = (float(bound) for bound in np.quantile(values, [tail, 1 - tail]))
            inside = None if published is None else low <= published <= high
            rows.append((arm, figure, published, float(values.mean()), low, high, inside))
    return pandas.DataFrame(rows, columns=["arm", "figure", "published", "mean", "low", "high", "inside"])


def reproduced(cells: pandas.DataFrame) -> tuple[int, int]:
    """Count the measured cells of the published table that lie within their range, and all measured cells."""
    measured = cells["inside"].dropna()
    return int(measured.sum()), len(measured)


def _run(rng: np.random.Generator, hint: float, rounds: int, replays: int) -> npt.NDArray[np.float64]:
    """The loop over drawn verdicts: another draw until the score suffices. A row for each of `FIGURES`.

    The prompt is the first wording. A chain without a contradiction has its full depth.
    """
    lengths = np.repeat(list(STEPS), list(STEPS.values()))
    bounds = np.cumsum([0.8 * hint, 0.2 * hint, 0.3 * (1 - hint)])
    shape = (replays, lengths.size, 1 + PARAPHRASES)
    score, accuracy = np.zeros(shape), np.zeros(shape)
    first_contradiction = np.full(shape, _NEVER)  # the least number of verdicts before one
    running = np.ones(shape, dtype=bool)
    for _ in range(rounds):
        n = rng.integers(_FEWEST, _MOST + 1, size=shape)
        kinds = np.digitize(rng.random((*shape, _MOST)), bounds)  # 0 verified, 1 partial, 2 failed, 3 contradicted
        is_used = np.arange(_MOST) < n[..., None]
        is_contradicted = (kinds == 3) & is_used
        earliest = np.where(is_contradicted.any(axis=-1), is_contradicted.argmax(axis=-1), _NEVER)
        verified, partial, contradicted = (((kinds == kind) & is_used).sum(axis=-1) for kind in (0, 1, 3))
        new_score = np.clip((verified + _ALPHA * partial - _BETA * contradicted) / n, 0, 1)
        score = np.where(running, new_score, score)
        accuracy = np.where(running, (verified + 0.5 * partial) / n, accuracy)
        first_contradiction = np.minimum(first_contradiction, np.where(running, earliest, _NEVER))
        running &= new_score < _THETA
    depths = first_contradiction[:, :, 0]
    return np.array(
        [
            np.where(depths == _NEVER, lengths, depths).mean(axis=1),
            (depths < _NEVER).mean(axis=1),
            accuracy[:, :, 0].mean(axis=1),
            (1 - np.abs(score[:, :, :1] - score[:, :, 1:])).mean(axis=(1, 2)),
        ]
    )
