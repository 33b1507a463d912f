"""Words of a text: one way to fold, find and leave them out, and patterns that match any of a list."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources

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
