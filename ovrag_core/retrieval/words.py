"""Words of texts and questions as stems, for all that matches words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import Stemmer

_WORD = re.compile(r"[a-z0-9]+")
_UNSEEN = str.maketrans("", "", "\u00ad\u200b\ufeff")  # soft hyphens and the like stand within words
_STOP_WORDS = """a an and any are as at be been but by can could did do does each else for from had has have he her his
how if in into is it its may no nor not of on or other shall she should so such than that the their them then there
these they this those to under upon was we were what when where whether which who whom will with would you your"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
_stemmer = Stemmer.Stemmer("english")


def stems(text: str) -> list[str]:
    """Stems (Porter's second English stemmer) of the words of `text` in order, without stop words."""
    words = _WORD.findall(text.translate(_UNSEEN).lower())
    return [_stem(word) for word in words if word not in STOP_WORDS]


def pairs(stemmed: Sequence[str]) -> list[str]:
    """Neighbouring stems, joined by a blank."""
    return [f"{first} {second}" for first, second in pairwise(stemmed)]


@lru_cache(maxsize=1 << 17)
def _stem(word: str) -> str:
    stem: str = _stemmer.stemWord(word)
    return stem
