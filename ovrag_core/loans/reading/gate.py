"""Is this an English loan document at all? A reader that guesses on anything else does harm.

The language is told by py3langid, a loan document by weights that `tools/train_gate.py` learns.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy
import py3langid
from numpy.typing import NDArray

from ovrag_core.base import project_file

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import HashingVectorizer

Status = Literal["loan", "not_loan", "not_english", "empty"]

FEWEST_WORDS = 5
SHORT = 60  # words: a shorter text is taken where it speaks of lending at all; its words are too few to weigh
SAMPLE = 6000  # characters of the beginning, the middle and the end that are looked at for the language
WEIGHTS = Path("ontologies/lexicon/gate.safetensors")
DIFFERENT = 12  # words: a longer text of fewer different ones is noise
LOAN = 0.55  # probability from which a text is taken for a loan document
READ = 5_000, 40_000, 100_000  # characters from the beginning that are judged, each for itself
_WORD = re.compile(r"[^\W\d_]+")
_LENDING = re.compile(r"\b(?:loans?|lend\w*|lent|borrow\w*|credit|debt|owes?|repay\w*)\b", re.IGNORECASE)


def gate(text: str) -> tuple[Status, str | None]:
    """What kind of text this is, with a sentence of reason where it is not an English loan document."""
    sample = _sample(text)
    if len(_WORD.findall(sample)) < FEWEST_WORDS:
        return "empty", "the document holds no text to read"
    language = str(py3langid.classify(sample)[0])
    if language != "en":
        return "not_english", f"the document is not in English (it looks like {language})"
    if not _is_loan(text):
        return (
            "not_loan",
            "the document does not look like a loan: its words are not those of one",
        )
    return "loan", None


def _sample(text: str) -> str:
    if len(text) <= 3 * SAMPLE:
        return text
    middle = len(text) // 2
    return "\n".join((text[:SAMPLE], text[middle : middle + SAMPLE], text[-SAMPLE:]))


def _is_loan(text: str) -> bool:
    words = _WORD.findall(text[: READ[-1]])
    if len(words) < SHORT:
        return _LENDING.search(text) is not None
    if len({word.lower() for word in words}) < DIFFERENT:
        return False
    weight, bias = _weights()
    scores = words_present().transform([text[:read] for read in READ]) @ weight + bias
    return bool((1 / (1 + numpy.exp(-scores))).max() >= LOAN)


@cache
def _weights() -> tuple[NDArray[numpy.float32], float]:
    from safetensors.numpy import load_file  # noqa: PLC0415

    tensors = load_file(project_file(WEIGHTS))
    return tensors["weight"].astype(numpy.float32), float(tensors["bias"][0])


@cache
def words_present() -> HashingVectorizer:
    """Which words and pairs of words a text holds, hashed (Weinberger et al. 2009)."""
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415

    return HashingVectorizer(n_features=2**15, ngram_range=(1, 2), alternate_sign=False, binary=True)
