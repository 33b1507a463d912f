"""Is this an English loan document at all? A reader that guesses on anything else does harm.

The language is told by py3langid, a loan document by weights that `tools/train_gate.py` learns, and where these leave
doubt by whether the judge finds who borrows, who lends and the sum.
"""

from __future__ import annotations

import re
from functools import cache
from math import exp
from pathlib import Path
from typing import Literal

import numpy
from numpy.typing import NDArray

from ovrag_core.base import project_file, read_tensors
from ovrag_core.loans.reading.judge import ROLES, SORTS, load_judge
from ovrag_core.loans.reading.roles import PRINCIPALS, candidates
from ovrag_core.loans.reading.sentences import as_read
from ovrag_core.loans.reading.values import values_in
from ovrag_core.text import score_words

Status = Literal["loan", "not_loan", "not_english", "empty"]

FEWEST_WORDS = 5
SHORT = 60  # words: a shorter text is taken where it speaks of lending at all; its words are too few to weigh
SAMPLE = 6000  # characters of the beginning, the middle and the end that are looked at for the language
COMMONEST = ("the", "of", "to", "and", "in", "a", "or", "by", "is", "for")  # words of English
THE, PLAIN = 0.03, 0.15  # shares of a text's words that are the first of these, and any, and in no other language are
WEIGHTS = Path("ontologies/lexicon/gate.safetensors")
DIFFERENT = 12  # words: a longer text of fewer different ones is noise
LOAN = 0.55  # probability from which a text is taken for a loan document
DOUBT = 0.38  # the same, where the judge finds a borrower, a lender and a sum, each as likely as
FOUND = 0.85
JUDGED = 20_000  # characters from the beginning in which it looks for them
READ = 5_000, 40_000, 100_000  # characters from the beginning that are judged, each for itself
_WORD = re.compile(r"[^\W\d_]+")
_LENDING = re.compile(r"\b(?:loans?|lend\w*|lent|borrow\w*|credit|debt|owes?|repay\w*)\b", re.IGNORECASE)


def gate(text: str) -> tuple[Status, str | None]:
    """Tell the kind of a text, with a sentence of reason where it is not an English loan document."""
    sample = _sample(text)
    if len(_WORD.findall(sample)) < FEWEST_WORDS:
        return "empty", "the document holds no text to read"
    language = _language(sample)
    if language != "en":
        return "not_english", f"the document is not in English (it looks like {language})"
    if not _is_loan(text):
        return (
            "not_loan",
            "the document does not look like a loan: its words are not those of one; "
            "give the whole agreement, or name the ontology of another domain by --ontology",
        )
    return "loan", None


def _sample(text: str) -> str:
    if len(text) <= 3 * SAMPLE:
        return text
    middle = len(text) // 2
    return "\n".join((text[:SAMPLE], text[middle : middle + SAMPLE], text[-SAMPLE:]))


def _language(sample: str) -> str:
    """The code of the language, by py3langid, whose model takes half a second to load, where English is not plain."""
    words = _WORD.findall(sample.lower())
    if words.count("the") >= THE * len(words) and sum(map(words.count, COMMONEST)) >= PLAIN * len(words):
        return "en"
    import py3langid  # noqa: PLC0415

    return str(py3langid.classify(sample)[0])


def _is_loan(text: str) -> bool:
    words = _WORD.findall(text[: READ[-1]])
    if len(words) < SHORT:
        return _LENDING.search(text) is not None
    if len({word.lower() for word in words}) < DIFFERENT:
        return False
    weight, bias = _weights()
    score = max(score_words(text[:read], weight, counted=False) for read in READ) + bias
    likely = 1 / (1 + exp(-score))
    return likely >= LOAN or (likely >= DOUBT and _names_a_loan(text[:JUDGED]))


def _names_a_loan(text: str) -> bool:
    """Return True where the judge finds who borrows, who lends and the sum."""
    judged = load_judge().read(as_read(text))
    names = judged.names([(name.start, name.end) for name in candidates(text)])[:, 0]
    sums = judged.values([(value.start, value.end) for value in values_in(as_read(text))[0]])
    if not len(names) or not len(sums):
        return False
    found = (*(names[:, ROLES.index(role)].max() for role in PRINCIPALS), sums[:, SORTS.index("principal")].max())
    return bool(min(found) >= FOUND)


@cache
def _weights() -> tuple[NDArray[numpy.float32], float]:
    tensors, _ = read_tensors(project_file(WEIGHTS))
    return tensors["weight"].astype(numpy.float32), float(tensors["bias"][0])
