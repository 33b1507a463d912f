"""Hashed words are those of scikit-learn, which the weights that use them were learned with."""

from pathlib import Path

import numpy
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

from ovrag_core.text import BUCKETS, hashed_words, score_words

TEXTS = [
    "The Borrower shall repay the loan; the loan shall be repaid in the currency of the loan.",
    "",
    "a b c",
    "One",
    "Größe, naïveté — l’emprunteur rembourse 12.5 % à l’échéance (2031-04-01)",
    Path("tests/data/README.md").read_text(encoding="utf-8") if Path("tests/data/README.md").exists() else "",
]


@pytest.mark.parametrize("counted", [True, False])
def test_buckets_and_values_are_those_of_scikit_learn(counted: bool):
    library = HashingVectorizer(n_features=BUCKETS, ngram_range=(1, 2), alternate_sign=False, binary=not counted)
    weight = numpy.random.default_rng(1).normal(size=BUCKETS).astype(numpy.float32)
    for text in TEXTS:
        own = numpy.zeros(BUCKETS)
        buckets, values = hashed_words(text, counted=counted)
        own[buckets] = values
        assert numpy.allclose(own, library.transform([text]).toarray()[0])
        assert score_words(text, weight, counted=counted) == pytest.approx(float(own @ weight))
