"""How far the probabilities of what was learned can be taken at their word, on drafters from whom nothing learned.

    python benchmarks/calibration.py

Each mention of a name, each value, and each sentence and row of the agreements set aside is judged; what is judged
likeliest is right where the drafter marked it so. The expected calibration error (Naeini et al. 2015) is the mean
distance, over ten bins of equal width, between the probability of the likeliest answer and the share that is right.
The second table certifies the threshold from which a sentence counts: of such sentences at most
that share is wrong, at a risk of 10% (Clopper and Pearson 1934; drafters are taken for like each other).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy
from numpy.typing import NDArray
from scipy.stats import beta

from ovrag_core.loans.reading.claims import KIND, OPPOSITES, STATED
from ovrag_core.loans.reading.judge import STATEMENTS, load_judge
from ovrag_core.retrieval import Probabilities
from tables import table

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tools"))

from judge_texts import marked_texts  # noqa: E402
from judge_training import AXES, UNKNOWN, Text  # noqa: E402
from marked_agreements import ASIDE  # noqa: E402

BINS = 10
EVEN = 0.5
OF_THE_LOAN = 10  # statements on the loan itself; those behind them are on its parties
SOMETHING = 0.1  # probability of any statement from which a sentence may say something
RISK = 0.1  # that the certified share is too low
SHOWN = ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01))
Judged = tuple[float, bool]  # the probability of the likeliest answer, and whether it is right


def told_of(text: Text, axis: int) -> Iterator[Judged]:
    """The role (axis 0) or kind (1) of each mention of a name and of each term that stands for one, or the sort of each
    value (2).
    """
    spans = [(span.start, span.end) for span in text.spans]
    judged = load_judge().read(text.text)
    found = judged.values(spans) if axis == len(AXES) - 1 else judged.names(spans)[:, axis]
    for likely, span in zip(found, text.spans, strict=True):
        if span.labels[axis] != UNKNOWN:
            yield float(likely.max()), int(likely.argmax()) == span.labels[axis]


def statements_of(text: Text) -> tuple[Probabilities, NDArray[numpy.int64]]:
    """What each sentence and row is judged to state, and what it is marked with (each n × STATEMENTS)."""
    spans = [span for span in text.spans if set(span.labels[len(AXES) :]) != {UNKNOWN}]
    found = load_judge().read(text.text).statements([(span.start, span.end) for span in spans])
    return found, numpy.array([span.labels[len(AXES) :] for span in spans]).reshape(-1, len(STATEMENTS))


def stated_of(found: Probabilities, labels: NDArray[numpy.int64], column: int) -> Iterator[Judged]:
    """Whether each sentence and row that may say something states one of STATEMENTS."""
    telling = (labels == 1).any(1) | (found >= SOMETHING).any(1)
    for likely, label in zip(found[telling, column], labels[telling, column], strict=True):
        if label != UNKNOWN:
            yield max(float(likely), 1 - float(likely)), (likely >= EVEN) == (label == 1)


def surely_stated(found: Probabilities, labels: NDArray[numpy.int64], column: int) -> Iterator[bool]:
    """For each sentence that states one of STATEMENTS as the reader counts it, whether the drafter marked it so."""
    least = STATED if STATEMENTS[column] in OPPOSITES else KIND
    for likely, label in zip(found[:, column], labels[:, column], strict=True):
        if likely >= least and label != UNKNOWN:
            yield bool(label)


def certificate_row(name: str, right: list[bool]) -> tuple[str, ...]:
    """One line of the second table."""
    wrong = len(right) - sum(right)
    most = float(beta.ppf(1 - RISK, wrong + 1, sum(right))) if any(right) else 1.0
    return name, str(len(right)), str(wrong), f"{most:.3f}"


def calibration_error(judged: list[Judged]) -> float:
    """The expected calibration error."""
    sure, right = numpy.array([probability for probability, _ in judged]), numpy.array([hit for _, hit in judged])
    bins: NDArray[numpy.int64] = numpy.minimum((sure * BINS).astype(int), BINS - 1)
    parts = [bins == number for number in range(BINS) if (bins == number).any()]
    return float(sum(part.mean() * abs(sure[part].mean() - right[part].mean()) for part in parts))


def row_of(name: str, judged: list[Judged]) -> tuple[str, ...]:
    """One line of the table."""
    bands = [[right for sure, right in judged if low <= sure < high] for low, high in SHOWN]
    sure, right = numpy.mean([probability for probability, _ in judged]), numpy.mean([hit for _, hit in judged])
    shares = (f"{sum(band)} of {len(band)}" for band in bands)
    return name, str(len(judged)), f"{sure:.3f}", f"{right:.3f}", f"{calibration_error(judged):.3f}", *shares


def main() -> None:
    """Print the table."""
    texts = marked_texts(PROJECT / ASIDE)
    names = ("role of a mention", "kind of a party, of a mention", "sort of a value")
    judged = {name: [pair for text in texts for pair in told_of(text, axis)] for axis, name in enumerate(names)}
    said = [statements_of(text) for text in texts]
    for column, name in enumerate(STATEMENTS[:OF_THE_LOAN]):
        judged[f"{name}, of a sentence"] = [pair for one in said for pair in stated_of(*one, column)]
    header = ("judged", "n", "mean probability", "right", "calibration error")
    shown = tuple(f"right at {low:.1f} to {min(high, 1.0):.1f}" for low, high in SHOWN)
    print(table((*header, *shown), (row_of(name, pairs) for name, pairs in judged.items())))
    stated = {
        name: [right for one in said for right in surely_stated(*one, column)]
        for column, name in enumerate(STATEMENTS[:OF_THE_LOAN])
    }
    header = ("stated, as the reader counts it", "sentences", "wrong", f"certified: at most wrong (risk {RISK:g})")
    print(table(header, (certificate_row(name, right) for name, right in stated.items())))


if __name__ == "__main__":
    main()
