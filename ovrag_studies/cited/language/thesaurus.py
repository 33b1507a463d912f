"""Words of rules that mean the same, and words that exclude each other, as far as policies of any trade use them.

A sentence becomes concepts: stems, of which those of one row of `thesaurus.yaml` share the first. What is missing there
is left to the vectors of words; those bring contraries together ("weekday", "weekend"), so that contraries are listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypedDict

import yaml

from ovrag_core.text import stems


class _Thesaurus(TypedDict):
    phrases: dict[str, str]
    synonyms: str
    contraries: str
    opposites: str


_LISTS: _Thesaurus = yaml.safe_load(Path(__file__).with_name("thesaurus.yaml").read_text(encoding="utf-8"))
_PHRASES = _LISTS["phrases"]


def _rows(text: str) -> list[list[str]]:
    return [row.split() for row in text.strip().split("\n")]


def _stem(word: str) -> str:
    return (stems(word) or [word])[0]


_PHRASE = re.compile(
    "|".join(rf"(?P<p{number}>\b(?:{pattern})\b)" for number, pattern in enumerate(_PHRASES.values())), re.I
)
_NAMES = tuple(_PHRASES)
_NOT = re.compile(r"\bnon[- ](?=[a-z])", re.I)


def _canonical() -> Mapping[str, str]:
    by_stem: dict[str, str] = {}
    for row in _rows(_LISTS["synonyms"]):
        row_concept = by_stem.get(_stem(row[0]), _stem(row[0]))
        for word in row:
            by_stem.setdefault(_stem(word), row_concept)
    return by_stem


_CANONICAL = _canonical()


def canonical(stem: str) -> str:
    """The concept of a stem."""
    return _CANONICAL.get(stem, stem)


def concept(word: str) -> str:
    """The concept of a word: its stem, or that of the first word of its row; empty for a stop word."""
    word_stems = stems(word)
    return _CANONICAL.get(word_stems[0], word_stems[0]) if word_stems else ""


@lru_cache(maxsize=1 << 16)
def unite(text: str) -> str:
    """A text with phrases that are one in meaning as one word ("carried out": "conduct")."""
    named = _PHRASE.sub(lambda found: _NAMES[int(str(found.lastgroup)[1:])], text)
    return _NOT.sub("non", re.sub(r"\bIT\b", "infotech", named))  # "it" is a stop word, IT a department


@lru_cache(maxsize=1 << 16)
def concepts(text: str) -> tuple[str, ...]:
    """The concepts of a text in order, without stop words."""
    return tuple(_CANONICAL.get(stem, stem) for stem in stems(unite(text)))


_EXCLUDING = tuple(frozenset(concept(word) for word in row) for row in _rows(_LISTS["contraries"]))
_NEGATIVE = re.compile(r"^(?:non|un)(?=[a-z]{4})")


def exclude(first: frozenset[str], second: frozenset[str]) -> bool:
    """Return True where each set of concepts has one that the other set lacks, and these two exclude each other."""
    only_first, only_second = first - second, second - first
    if any(only_first & row and only_second & row for row in _EXCLUDING):
        return True
    return any(
        _NEGATIVE.sub("", word) in theirs
        for mine, theirs in ((only_first, only_second), (only_second, only_first))
        for word in mine
        if _NEGATIVE.match(word)
    )
