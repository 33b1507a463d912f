"""Currency of a sign that several countries share, as the names in a text tell of its country.

A logistic regression on hashed letters of capitalised words (Weinberger et al. 2009), which `tools/train_currencies.py`
makes: people, towns and firms of a country are called alike.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import mmh3
import numpy

from ovrag_core.base import read_tensors

WEIGHTS = Path(__file__).with_name("currencies.safetensors")
BUCKETS = 1 << 14
SHORTEST = 3  # letters of a name
MARGIN = 0.3  # log-odds by which another currency must be likelier than the usual one
SHORT = 8.0  # what is added to it in a text whose names fill one bucket
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CODE = re.compile(r"[A-Z]{3}")


def letters(text: str) -> numpy.ndarray:
    """The buckets, of BUCKETS, of three to five letters in a row of the capitalised words in `text`; codes left out."""
    written = {word for word in _WORD.findall(text) if word[0].isupper() and not _CODE.fullmatch(word)}
    words = {f"<{word.lower()}>" for word in written if len(word) >= SHORTEST}
    runs = {word[at : at + size] for word in words for size in (3, 4, 5) for at in range(len(word) - size + 1)}
    return numpy.array(sorted({mmh3.hash(run, signed=False) % BUCKETS for run in runs}), dtype=numpy.intp)


def likeliest(text: str, codes: Sequence[str]) -> str:
    """The likeliest of the ISO 4217 `codes`: the first, unless the names in `text` make another surely likelier."""
    buckets = letters(text)
    size = max(1, len(buckets)) ** 0.5
    weights = {code: weight for code, weight in _weights().items() if code in codes}
    scores = {code: float(weight[buckets].sum() / size + weight[-1]) for code, weight in weights.items()}
    best = max(scores, key=lambda code: scores[code], default=codes[0])
    return best if scores.get(best, 0) > scores.get(codes[0], 0) + margin(len(buckets)) else codes[0]


def margin(buckets: int) -> float:
    """Log-odds by which a currency must be likelier than the usual one, in a text whose names fill so many buckets."""
    return float(MARGIN + SHORT / max(1, buckets) ** 0.5)


@cache
def _weights() -> dict[str, numpy.ndarray]:
    """For each currency a weight of each bucket, and last of all the bias."""
    return {code: weight.astype(numpy.float32) for code, weight in sorted(read_tensors(WEIGHTS)[0].items())}
