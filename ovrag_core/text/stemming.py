"""Words as stems, for all that matches words by what they mean."""

import re
from functools import lru_cache

import Stemmer

from ovrag_core.text.tokens import word_list

STOP_WORDS = word_list("stop")
_WORD = re.compile(r"[a-z0-9]+")
_UNSEEN = str.maketrans("", "", "\u00ad\u200b\ufeff")  # soft hyphens and the like stand within words
_stemmer = Stemmer.Stemmer("english")


def stems(text: str, empty: frozenset[str] = STOP_WORDS) -> list[str]:
    """Stems of the words of `text` in order, without those that are `empty` (function words)."""
    words = _WORD.findall(text.translate(_UNSEEN).lower())
    return [stem(word) for word in words if word not in empty]


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Stem of a word in lower case (Porter's second English stemmer)."""
    stemmed: str = _stemmer.stemWord(word)
    return stemmed
