"""How far the probabilities of what was learned can be taken at their word, on drafters from whom nothing learned.

    python benchmarks/calibration.py

Each mention of a name, each sentence and row, and each purpose of the agreements set aside is judged; what is judged
likeliest is right where the drafter marked it so. The expected calibration error (Naeini et al. 2015) is the mean
distance, over ten bins of equal width, between the probability of the likeliest answer and the share that is right.
The second table certifies the threshold from which a passage without a known phrase counts: of such passages at most
that share is wrong, at a risk of 10% (Clopper and Pearson 1934; drafters are taken for like each other).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy
from numpy.typing import NDArray
from scipy.stats import beta

from ovrag_core.loans.reading.judge import CLASSES, SURE, load_judge
from ovrag_core.loans.reading.purposes import KINDS_BY_USE, find_purpose
from ovrag_core.loans.reading.roles import load_roles
from ovrag_core.loans.reading.sentences import plain_text, units
from ovrag_core.loans.reading.values import load_values
from tables import table

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tools"))

from marked_agreements import ASIDE, MarkedAgreement, marked_agreements  # noqa: E402
from span_training import UNKNOWN  # noqa: E402
from train_judge import statements_of  # noqa: E402
from train_purposes import OPEN, use_of  # noqa: E402
from train_roles import agreement_text  # noqa: E402
from train_values import values_of  # noqa: E402

BINS = 10
RISK = 0.1  # that the certified share is too low
SHOWN = ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01))
Judged = tuple[float, bool]  # the probability of the likeliest answer, and whether it is right


def names_of(agreement: MarkedAgreement, axis: int) -> Iterator[Judged]:
    """The role (axis 0) or kind (axis 1) of each mention of a name, and of each term that stands for one."""
    text = agreement_text(agreement)
    probabilities = load_roles()(text.text, [(span.start, span.end) for span in text.spans])[:, axis]
    for found, span in zip(probabilities, text.spans, strict=True):
        if span.classes[axis] != UNKNOWN:
            yield float(found.max()), int(found.argmax()) == span.classes[axis]


def sorts_of(agreement: MarkedAgreement) -> Iterator[Judged]:
    """What each amount, percentage, date and duration is to the loan."""
    examples = list(values_of(agreement))
    judged = load_values()([(example.text, example.start, example.end) for example in examples])
    for found, example in zip(judged, examples, strict=True):
        yield float(found.max()), int(found.argmax()) == example.column


def passages_of(agreement: MarkedAgreement, column: int) -> Iterator[Judged]:
    """Whether each sentence or row that may say something states a class of the judge of passages."""
    passages, classes = zip(*statements_of(agreement), strict=True)
    judge = load_judge()
    rows = [row for row, likely in enumerate(judge.screen(passages)) if likely >= 0.3 or any(classes[row])]
    for row, likely in zip(rows, judge([passages[row] for row in rows])[:, column], strict=True):
        yield max(float(likely), 1 - float(likely)), (likely >= 0.5) == classes[row][column]


def purposes_of(agreement: MarkedAgreement) -> Iterator[Judged]:
    """The kind of loan that the agreement's purpose makes it, where one is stated."""
    plain = plain_text(agreement.text)
    purpose, use = find_purpose(plain.text, units(plain.text)), use_of(agreement.facts)
    if purpose is not None and use != OPEN:
        likely = numpy.array([purpose.kinds[kind][0] for kind in KINDS_BY_USE])
        yield float(likely.max() / likely.sum()), int(likely.argmax()) == use - 1


def surely_stated(agreement: MarkedAgreement, column: int) -> Iterator[bool]:
    """For each passage that surely states a class, whether the drafter marked it so."""
    passages, classes = zip(*statements_of(agreement), strict=True)
    for likely, marked in zip(load_judge()(passages)[:, column], classes, strict=True):
        if likely >= SURE:
            yield bool(marked[column])


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
    agreements = list(marked_agreements(PROJECT / ASIDE))
    judged = {
        "role of a mention": [pair for agreement in agreements for pair in names_of(agreement, 0)],
        "kind of a party, of a mention": [pair for agreement in agreements for pair in names_of(agreement, 1)],
        "sort of a value": [pair for agreement in agreements for pair in sorts_of(agreement)],
    }
    for column, name in enumerate(CLASSES):
        judged[f"{name}, of a passage"] = [pair for agreement in agreements for pair in passages_of(agreement, column)]
    judged["kind by purpose"] = [pair for agreement in agreements for pair in purposes_of(agreement)]
    header = ("judged", "n", "mean probability", "right", "calibration error")
    shown = tuple(f"right at {low:.1f} to {min(high, 1.0):.1f}" for low, high in SHOWN)
    print(table((*header, *shown), (row_of(name, pairs) for name, pairs in judged.items())))
    stated = {
        name: [right for agreement in agreements for right in surely_stated(agreement, column)]
        for column, name in enumerate(CLASSES)
    }
    header = (f"stated with at least {SURE:g}", "passages", "wrong", f"certified: at most wrong (risk {RISK:g})")
    print(table(header, (certificate_row(name, right) for name, right in stated.items())))


if __name__ == "__main__":
    main()
