"""Train what tells purposes and the kinds of loan they make: `python tools/train_purposes.py`.

Logistic regressions: one on hashed words (Weinberger et al. 2009) for whether a passage tells a purpose, one on the
passages' vectors by the bundled embedder for none, personal, business or study, and one for green ones. They learn from
the sentences and rows of the marked agreements, those with a marked purpose by the kind in the agreement's header, and
from the typical purposes of `training/loans/purposes.tsv`. Prints how the drafters set aside are read. A minute.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch
from marked_agreements import ASIDE, MarkedAgreement, marked_agreements
from safetensors.torch import save_file
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from training_data import hashed_rows, notes

from ovrag_core.loans import passage_of
from ovrag_core.loans.reading.purposes import KINDS_BY_USE, WEIGHTS, find_purpose
from ovrag_core.loans.reading.sentences import plain_text, units
from ovrag_core.retrieval import minilm

MARKED = Path("training/loans/marked")
TYPICAL = Path("training/loans/purposes.tsv")
LEARNED_FROM = [f"{MARKED}/*/*.txt", str(TYPICAL)]
OPEN = -1  # of a passage: what kind of loan its purpose makes is not known
PERSONAL, BUSINESS, STUDY = 1, 2, 3
NOTHING = 0.1  # weight of a passage that tells no purpose: few such pass the screen


@dataclass(frozen=True, slots=True)
class Example:
    """A passage, its use (0: none; OPEN; or one more than its kind's place in `KINDS_BY_USE`), whether it is green."""

    passage: str
    use: int
    green: bool = False


def use_of(facts: dict[str, str]) -> int:
    """The use that an agreement's kinds of loan tell; a mortgage alone is for whoever borrows."""
    kinds = facts["loan_types"].split(", ")
    for use in (STUDY, BUSINESS, PERSONAL):
        if KINDS_BY_USE[use - 1] in kinds:
            return use
    if kinds == ["none"]:
        return OPEN
    return PERSONAL if facts["borrower_kind"] == "person" else BUSINESS


def examples_of(agreement: MarkedAgreement) -> list[Example]:
    """The sentences and rows of an agreement; one that a marked purpose covers, by most of either, tells."""
    plain = plain_text(agreement.text)
    marks = [(plain.offset(mark.start), plain.offset(mark.end)) for mark in agreement.marks if mark.label == "purpose"]
    use, green = use_of(agreement.facts), "GreenLoan" in agreement.facts["loan_types"]
    found = []
    for unit in units(plain.text):
        if unit.kind in ("sentence", "row") and unit.end > unit.start:
            passage = passage_of(unit.heading, plain.text[unit.start : unit.end])
            tells = any(
                2 * (min(unit.end, end) - max(unit.start, start)) > min(end - start, unit.end - unit.start)
                for start, end in marks
            )
            found.append(Example(passage, use if tells else 0, tells and green))
    return found


def typical() -> list[Example]:
    """Typical purposes of each kind."""
    with TYPICAL.open(encoding="utf-8", newline="") as file:
        return [
            Example(row["purpose"], KINDS_BY_USE.index(row["use"]) + 1, row["green"] == "yes")
            for row in csv.DictReader(file, delimiter="\t")
        ]


def learned(examples: list[Example]) -> dict[str, Tensor]:
    """The weights of the three models."""
    use = numpy.array([example.use for example in examples])
    passages = [example.passage for example in examples]
    screen = LogisticRegression(C=5, max_iter=2000, class_weight="balanced")
    screen.fit(hashed_rows(passages), use != 0)
    vectors = numpy.asarray(minilm().embed(passages))
    uses = LogisticRegression(C=3, max_iter=3000)
    known = use != OPEN
    uses.fit(vectors[known], use[known], sample_weight=numpy.where(use[known] == 0, NOTHING, 1))
    telling = use != 0
    green = LogisticRegression(C=3, max_iter=3000)
    green.fit(vectors[telling], numpy.array([example.green for example in examples])[telling])
    return {
        "screen.weight": torch.tensor(screen.coef_[0]).half(),
        "screen.bias": torch.tensor(screen.intercept_).float(),
        "uses.weight": torch.tensor(uses.coef_).float().contiguous(),
        "uses.bias": torch.tensor(uses.intercept_).float(),
        "green.weight": torch.tensor(green.coef_[0]).float(),
        "green.bias": torch.tensor(green.intercept_).float(),
    }


def read_aside() -> tuple[int, int]:
    """Of the agreements set aside whose kind a purpose tells, those whose likeliest kind is right, and how many."""
    right = told = 0
    for agreement in marked_agreements(ASIDE):
        if (use := use_of(agreement.facts)) != OPEN:
            plain = plain_text(agreement.text)
            purpose = find_purpose(plain.text, units(plain.text))
            told += 1
            right += purpose is not None and max(KINDS_BY_USE, key=purpose.kinds.__getitem__) == KINDS_BY_USE[use - 1]
    return right, told


def main() -> None:
    """Train on all there is and write the weights."""
    examples = [example for agreement in marked_agreements(MARKED) for example in examples_of(agreement)] + typical()
    save_file(learned(examples), WEIGHTS, metadata=notes(LEARNED_FROM))
    print(f"{WEIGHTS}: trained on {len(examples)} passages; set aside, {'{} of {} right'.format(*read_aside())}")


if __name__ == "__main__":
    main()
