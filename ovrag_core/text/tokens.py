"""Words of a text: one way to fold, find, stem and leave them out, and patterns that match any of a list."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources

import Stemmer
import yaml

_WORD = re.compile(r"[^\W_]+")
_INNER_MARK = re.compile(r"(?<=\w)['’´.](?=\w\b)")


def any_of(phrases: Iterable[str]) -> str:
    """A pattern that matches any of the phrases, the longest first, with any blanks between their words."""
    ordered = sorted(dict.fromkeys(phrases), key=lambda phrase: (-len(phrase), phrase))
    return "(?:" + "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in ordered) + ")"


@lru_cache(maxsize=1 << 14)
def fold(text: str) -> str:
    """The text without case and accents."""
    if text.isascii():
        return text.lower()
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


@lru_cache(maxsize=4096)
def plain_words(text: str) -> str:
    """The words of a text in lower case, accents and punctuation gone, one blank between them."""
    bare = fold(unicodedata.normalize("NFKC", text))
    return " ".join(_WORD.findall(_INNER_MARK.sub("", bare)))


@cache
def word_list(name: str) -> frozenset[str]:
    """A list of `words.yaml`: stop (function words), asking (of questions), title (of headings), negation and so on."""
    return frozenset(_lists()[name].split())


@cache
def _lists() -> dict[str, str]:
    lists: dict[str, str] = yaml.safe_load(resources.files(__package__).joinpath("words.yaml").read_text("utf-8"))
    return lists


STOP_WORDS = word_list("stop")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_UNSEEN = str.maketrans("", "", "\u00ad\u200b\ufeff")  # soft hyphens and the like stand within words
_stemmer = Stemmer.Stemmer("english")


def stems(text: str, empty: frozenset[str] = STOP_WORDS) -> list[str]:
    """Stems of the words of `text` in order, without those that are `empty` (function words)."""
    words = _ASCII_WORD.findall(text.translate(_UNSEEN).lower())
    return [stem(word) for word in words if word not in empty]


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Stem of a word in lower case (Porter's second English stemmer)."""
    stemmed: str = _stemmer.stemWord(word)
    return stemmed
