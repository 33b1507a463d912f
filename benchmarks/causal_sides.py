"""How often a phrase for a state is told from its opposite, by words or likeness, and the margin that likeness needs.

    python benchmarks/causal_sides.py [TABLE]

The table (tests/data/causal/states.tsv) has pairs of opposite states in several grammatical forms. The margin is the
least of those tried from which likeness alone is right in 97 of 100 phrases; it is chosen on all variables but one and
measured on that one, and then on all.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ovrag_studies.causal.questions.opposite_phrases import compare
from ovrag_studies.causal.questions.sides import MARGIN, liking, side

TABLE = Path(__file__).resolve().parent.parent / "tests" / "data" / "causal" / "states.tsv"
TRIED = (0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)
WANTED = 0.97


@dataclass(frozen=True)
class Case:
    """A phrase, two opposite states, and the place of that which it speaks of."""

    variable: str
    half: str
    phrase: str
    first: str
    second: str
    place: int


def read(table: Path) -> list[dict[str, str]]:
    """The variables of a table."""
    with table.open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows, delimiter="\t"))


def cases(rows: Sequence[dict[str, str]]) -> Iterator[Case]:
    """Nouns and sentences against the two phrases for those of whom the states are said."""
    for row in rows:
        for form in ("noun_1", "noun_0", "sentence_1", "sentence_0"):
            yield Case(
                row["variable"],
                row["half"],
                row[form].lower(),
                row["who_0"].lower(),
                row["who_1"].lower(),
                int(form[-1]),
            )


def chosen(gains: Sequence[float]) -> float:
    """The least margin from which the gains, positive where right, are right often enough."""
    for margin in TRIED:
        decided = [gain for gain in gains if abs(gain) >= margin]
        if decided and sum(gain > 0 for gain in decided) >= WANTED * len(decided):
            return margin
    return TRIED[-1]


def margins(found: Sequence[Case]) -> Iterator[str]:
    """The margin left-one-variable-out, and on all."""
    gains = [(case.variable, liking(case.phrase, case.first, case.second) * (2 * case.place - 1)) for case in found]
    outside, picked = Counter[str](), Counter[float]()
    for left_out in dict.fromkeys(variable for variable, _ in gains):
        margin = chosen([gain for variable, gain in gains if variable != left_out])
        picked[margin] += 1
        for variable, gain in gains:
            if variable == left_out:
                outside["silent" if abs(gain) < margin else "right" if gain > 0 else "wrong"] += 1
    yield f"likeness alone, margin chosen without the variable {dict(picked)}: {dict(outside)}"
    yield f"margin on all: {chosen([gain for _, gain in gains])}; in use: {MARGIN}"


def told(found: Sequence[Case]) -> Counter[str]:
    """How the cases are told."""
    outcomes = Counter[str]()
    for case in found:
        state = side(case.phrase, case.first, case.second)
        outcomes[
            "silent" if state is None else f"{'right' if state.place == case.place else 'wrong'} by {state.by}"
        ] += 1
    return outcomes


def signs(rows: Sequence[dict[str, str]]) -> Counter[str]:
    """Whether nouns and sentences are told to say the same or the opposite."""
    outcomes = Counter[str]()
    for row in rows:
        for noun in ("noun_1", "noun_0"):
            for sentence in ("sentence_1", "sentence_0"):
                sign = compare(row[noun], row[sentence]).sign
                same = noun[-1] == sentence[-1]
                outcomes["silent" if sign is None else "right" if (sign > 0) == same else "wrong"] += 1
    return outcomes


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("table", type=Path, nargs="?", default=TABLE)
    rows = read(options.parse_args().table)
    found = list(cases(rows))
    for half in dict.fromkeys(row["half"] for row in rows):
        print(f"{half}: sides {dict(told([case for case in found if case.half == half]))}")
        print(f"{half}: signs {dict(signs([row for row in rows if row['half'] == half]))}")
    print(*margins(found), sep="\n")


if __name__ == "__main__":
    main()
