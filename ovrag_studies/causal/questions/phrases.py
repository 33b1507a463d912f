"""Whether two phrases speak of the same thing, and which of two opposite ones shares words or a “not” with a third.

Words are compared by stem and common beginning; what is negated is told from “not”, “no”, “without” and the like, and
from prefixes where the other phrase has the word without it (nonsmokers, smokers).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ovrag_core.text import negation, stem

WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_LACKING = frozenset(["non", "lack", "lacks", "lacking", "absence", "absent"])
PREFIXES = ("non", "un", "dis", "in", "im", "ir", "il")
_FUNCTION_WORDS = """
a an the this that these those who whom whose which what it its their his her they them he she of to for from in on at
by with as and or if than then be is are was were been being am has have had having do does did doing can could will
would shall should may might must get gets got people person persons individual individuals
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
_FREE = re.compile(r"(?<=-)free\b|\bfree\s+(?:of|from)\b", re.IGNORECASE)
LEAST_GAIN = 0.2  # of words shared with one of two states, from which it is told


@lru_cache(maxsize=4096)
def words(phrase: str) -> tuple[str, ...]:
    """In lower case; “don't” stays one word."""
    return tuple(WORD.findall(phrase.lower().replace("’", "'")))


def is_negation(word: str) -> bool:
    """Whether a word turns a phrase round."""
    return word in _LACKING or negation.is_negation(word)


@lru_cache(maxsize=4096)
def content(phrase: str) -> tuple[str, ...]:
    """Stems of the words that carry meaning, negations left out; all words where none does."""
    kept = [word for word in words(phrase) if word not in FUNCTION_WORDS and not is_negation(word)]
    return tuple(stem(word) for word in kept or words(phrase))


@lru_cache(maxsize=65536)
def word_likeness(one: str, other: str) -> float:
    """1 for the same stem, the share of a common beginning of at least four letters, else 0."""
    if one == other:
        return 1.0
    same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    share = same / max(len(one), len(other))
    return share if same >= 4 and share >= 0.5 else 0.0


@lru_cache(maxsize=65536)
def likeness(one: str, other: str) -> float:
    """Shared words over the geometric mean of both lengths, from 0 to 1."""
    left, right = content(one), content(other)
    shared = sum(max(word_likeness(a, b) for b in right) for a in left)
    return float(shared / (len(left) * len(right)) ** 0.5)


def overlap(phrase: str, stems: Iterable[str]) -> float:
    """How many words of the phrase are among the stems."""
    stems = tuple(stems)
    return sum(max((word_likeness(word, stem) for stem in stems), default=0.0) for word in content(phrase))


def agreeing_end(phrase: str, first: str, second: str) -> int | None:
    """Which of two phrases for opposite states, 0 or 1, ends as the phrase does or is the end of it."""
    ends = [_ends_alike(phrase, state) for state in (first, second)]
    return None if ends[0] == ends[1] else int(ends[1])


def agreeing_negation(phrase: str, first: str, second: str) -> int | None:
    """Which of two phrases for opposite states is negated if and only if the phrase is, where one of them is."""
    of_first, of_second = _negations(first, second), _negations(second, first)
    if of_first % 2 == of_second % 2:
        return None
    return int(_parity(phrase, first, second) != of_first % 2)


def agreeing_words(phrase: str, first: str, second: str, least: float = LEAST_GAIN) -> int | None:
    """Which of two phrases for opposite states shares more words with the phrase that the other lacks.

    Where the phrase alone is negated it speaks of the other one: "do not strike", "on strike", "at work".
    """
    only_first = [stem for stem in content(first) if stem not in content(second)]
    only_second = [stem for stem in content(second) if stem not in content(first)]
    gain = overlap(phrase, only_second) - overlap(phrase, only_first)
    if abs(gain) < least:
        return None
    negated = [_stated_negations(each) % 2 for each in (phrase, first, second)]
    alone = negated[1] == negated[2] != negated[0]
    return int((gain > 0) != alone)


def _ends_alike(one: str, other: str) -> bool:
    """Whether one is the end of the other, and nothing before it turns it round."""
    short, long = sorted((one, other), key=len)
    before = long[: len(long) - len(short)]
    return long.endswith(short) and before[-1:] in ("", " ") and not any(map(is_negation, words(before)))


def positive(first: str, second: str) -> int | None:
    """Which of two phrases for opposite states is not negated; None where the words do not tell."""
    of_first, of_second = _negations(first, second), _negations(second, first)
    return None if of_first % 2 == of_second % 2 else of_first % 2


def _stated_negations(phrase: str) -> int:
    """How often a phrase says “not” and the like, “debt-free” and “free of debt” among them."""
    return sum(map(is_negation, words(phrase))) + len(_FREE.findall(phrase))


def _negations(phrase: str, opposite: str) -> int:
    said = _stated_negations(phrase)
    return said + sum(_negates(word, base) for word in content(phrase) for base in content(opposite))


def _negates(word: str, base: str) -> bool:
    """nonsmoker negates smoker."""
    return any(
        word.startswith(prefix) and len(word) - len(prefix) >= 3 and word_likeness(word[len(prefix) :], base) >= 0.6
        for prefix in PREFIXES
    )


def _parity(phrase: str, first: str, second: str) -> int:
    """0 or 1: whether the phrase is negated, as against the two."""
    negated = [
        (word, base)
        for one, other in ((first, second), (second, first))
        for word in content(one)
        for base in content(other)
        if _negates(word, base)
    ]
    taken = sum(
        word_likeness(own, word) > word_likeness(own, base) for own in content(phrase) for word, base in negated
    )
    both = set(content(first)) & set(content(second))
    turned = sum(any(_negates(own, base) for base in both) and own not in both for own in content(phrase))
    return (_stated_negations(phrase) + taken + turned) % 2
