"""Whether two phrases say the same or the opposite; `states.tsv` says how far it goes."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from ovrag_studies.causal.questions.phrases import compare

TABLE = (Path(__file__).parents[1] / "data") / "causal" / "states.tsv"


def states(half):
    with TABLE.open(encoding="utf-8", newline="") as rows:
        return [row for row in csv.DictReader(rows, delimiter="\t") if row["half"] == half]


@pytest.mark.parametrize("half", ["first", "second", "afterwards"])
def test_most_nouns_and_sentences_are_told_to_be_the_same_or_opposite(half):
    outcomes = Counter()
    for row in states(half):
        for noun in ("noun_1", "noun_0"):
            for sentence in ("sentence_1", "sentence_0"):
                sign = compare(row[noun], row[sentence]).sign
                assert sign == compare(row[sentence], row[noun]).sign
                outcomes["silent" if sign is None else (sign > 0) == (noun[-1] == sentence[-1])] += 1
    assert outcomes[True] >= 0.94 * (outcomes[True] + outcomes[False])
    assert outcomes["silent"] <= 0.2 * outcomes.total()
