"""Tell whether two phrases speak of the same thing: words by stem and common beginning; what is a negation."""

import re
from functools import lru_cache

from ovrag_core.text import negation, stem

WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_LACKING = frozenset(["non", "lack", "lacks", "lacking", "absence", "absent"])
_FUNCTION_WORDS = """
a an the this that these those who whom whose which what it its their his her they them he she of to for from in on at
by with as and or if than then be is are was were been being am has have had having do does did doing can could will
would shall should may might must get gets got people person persons individual individuals
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


@lru_cache(maxsize=4096)
def words(phrase: str) -> tuple[str, ...]:
    """In lower case; “don't” stays one word."""
    return tuple(WORD.findall(phrase.lower().replace("’", "'")))


def is_negation(word: str) -> bool:
    """Return True where a word turns a phrase round."""
    return word in _LACKING or negation.is_negation(word)


@lru_cache(maxsize=4096)
def content(phrase: str) -> tuple[str, ...]:
    """Stems of the words that carry meaning, negations left out; all words where none does."""
    meaningful = [word for word in words(phrase) if word not in FUNCTION_WORDS and not is_negation(word)]
    return tuple(stem(word) for word in meaningful or words(phrase))


@lru_cache(maxsize=65536)
def word_likeness(one: str, other: str) -> float:
    """1 for the same stem, the share of a common beginning of at least four letters, else 0."""
    if one == other:
        return 1.0
    common = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    share = common / max(len(one), len(other))
    return share if common >= 4 and share >= 0.5 else 0.0


@lru_cache(maxsize=65536)
def likeness(one: str, other: str) -> float:
    """Shared words over the geometric mean of both lengths, from 0 to 1."""
    left, right = content(one), content(other)
    shared = sum(max(word_likeness(a, b) for b in right) for a in left)
    return float(shared / (len(left) * len(right)) ** 0.5)
