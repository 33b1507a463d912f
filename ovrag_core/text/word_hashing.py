"""Words and pairs of words of a text as a vector of hashed counts (Weinberger et al. 2009).

What scikit-learn's `HashingVectorizer` makes of a text with the same buckets, which a test compares; importing that
takes two seconds at the start of every command.
"""

import re
from collections import Counter
from itertools import pairwise

import mmh3
import numpy
from numpy.typing import NDArray

BUCKETS = 2**15
_WORD = re.compile(r"\b\w\w+\b")


def hashed_words(text: str, *, counted: bool = True) -> tuple[NDArray[numpy.intp], NDArray[numpy.float64]]:
    """Buckets that a text fills, of BUCKETS, and how much is in each: a vector of unit length.

    Where words are not `counted`, each bucket that is filled holds as much as any other.
    """
    words = _WORD.findall(text.lower())
    counts = Counter(words)
    counts.update(map(" ".join, pairwise(words)))
    buckets: Counter[int] = Counter()
    for word, count in counts.items():
        buckets[abs(mmh3.hash(word)) % BUCKETS] += count
    values = numpy.array(list(buckets.values()) if counted else [1] * len(buckets), dtype=numpy.float64)
    length = numpy.linalg.norm(values)
    return numpy.array(list(buckets), dtype=numpy.intp), values / length if length else values


def score_words(text: str, weight: NDArray[numpy.float32], *, counted: bool = True) -> float:
    """The product of a text's hashed words with a weight for each of BUCKETS."""
    buckets, values = hashed_words(text, counted=counted)
    return float(values @ weight[buckets])
