"""Tell whether two phrases speak of the same thing, and whether they say the same of it or the opposite.

Words are compared by stem and common beginning. For the opposite ("the prisoner's death", "the prisoner is alive") they
are paired by stem, by a prefix that turns them round ("non-competitive") and by the two ends of a scale (`scales.yaml`,
general English, no list of topics); what is negated is counted. Where words of both phrases are left over, neither is
negated and no scale decides, the sign is None and nothing is guessed.
"""

import re
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml
from rapidfuzz.distance import Prefix

from ovrag_core.text import any_of, negation, stem

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


class PhraseComparison(NamedTuple):
    """`sign` 1 same, -1 opposite, None not to be told; `closeness` 0 to 1, how much of the phrases is paired."""

    sign: int | None
    closeness: float


class _Lexicon(NamedTuple):
    ends: dict[str, dict[str, int]]  # stem: scale: 1 or -1
    forms: dict[str, str]  # stem: stem of the base form
    turning: frozenset[str]
    before: re.Pattern[str]


Relation = Callable[[str, str], int | None]
_PREFIXES = ("non", "un", "dis", "in", "im", "ir", "il")
_SUBJECT = re.compile(
    r"(?:the|an?|his|her|their) (?P<subject>[\w-]+(?: [\w-]+)??) (?:\w+s|are|were|had|did|can|will|would)\b"
)
_ALIKE = 0.6  # share of the longer of two words that is their common beginning


@lru_cache(maxsize=16384)
def compare(one: str, other: str) -> PhraseComparison:
    """Two phrases for a state of a thing, in any order."""
    (left, turned_left), (right, turned_right) = _content(one), _content(other)
    size = (len(left) * len(right)) ** 0.5
    about = _about(one) | _about(other)
    stated = any(word in _lexicon().ends and word in right for word in set(left) - about)
    pairs = _paired(left, right)
    relations = [relate for _, _, relate in pairs]
    flips = turned_left + turned_right
    negated = flips % 2 == 1 or _turned in relations
    flips += sum(turns for _, turns, _ in pairs)
    of_state = any(word not in about for word, _, _ in pairs)
    unpaired = [set(stems) - about for stems in (left, right)]
    decided = stated or _between_ends in relations or (negated and len(pairs) > 0) or (of_state and not all(unpaired))
    return PhraseComparison((-1) ** flips if decided else None, len(pairs) / (size or 1.0))


def likeness(one: str, other: str) -> float:
    """Paired words over the geometric mean of both lengths, from 0 to 1."""
    return compare(one, other).closeness


def _paired(left: list[str], right: list[str]) -> list[tuple[str, int, Relation]]:
    """Words taken out of both lists: the left one, 1 where the other turns it round, and how the two are related."""
    pairs: list[tuple[str, int, Relation]] = []
    for relate in (_alike, _turned, _between_ends):
        for word in list(left):
            partner = next((candidate for candidate in right if relate(word, candidate) is not None), None)
            if partner is not None:
                left.remove(word)
                right.remove(partner)
                pairs.append((word, relate(word, partner) or 0, relate))
    return pairs


def _about(phrase: str) -> frozenset[str]:
    """The stems of who or what a sentence is about: "the bus driver has an accident"."""
    match = _SUBJECT.match(phrase.casefold())
    return frozenset(_content(match["subject"])[0]) if match else frozenset()


def same_words(one: str, other: str) -> bool:
    """Return True where the phrases differ in articles and case alone."""
    one_bare, other_bare = ([word for word in words(text) if word not in ("a", "an", "the")] for text in (one, other))
    return one_bare == other_bare


def _content(phrase: str) -> tuple[list[str], int]:
    """Stems of the words that carry meaning, and how often the phrase is turned round."""
    lexicon = _lexicon()
    text, turned = lexicon.before.subn(" ", phrase.casefold().replace("’", "'"))
    stems = []
    for word in words(text):
        base = lexicon.forms.get(stem(word), stem(word))
        if is_negation(word) or base in lexicon.turning:
            turned += 1
        elif word not in FUNCTION_WORDS:
            stems.append(base)
    return stems, turned


@lru_cache(maxsize=65536)
def _alike(one: str, other: str) -> int | None:
    """0 for one stem, and for a common beginning of at least four letters."""
    common = Prefix.similarity(one, other)
    return 0 if one == other or (common >= 4 and common / max(len(one), len(other)) >= _ALIKE) else None


def _turned(one: str, other: str) -> int | None:
    """1 where a prefix or “less” turns one word into the other."""
    short, long = sorted((one, other), key=len)
    if _between_ends(one, other) == 0:  # "indebted" has no "in" before "debt"
        return None
    if long.endswith("less") and _alike(long[:-4], short) is not None:
        return 1
    bases = [long.removeprefix(prefix) for prefix in _PREFIXES if long.startswith(prefix)]
    return 1 if any(_alike(base, short) == 0 for base in bases) else None


def _between_ends(one: str, other: str) -> int | None:
    """1 for words at different ends of most of the scales that they share, 0 at one end."""
    ends = _lexicon().ends
    one_ends, other_ends = ends.get(one, {}), ends.get(other, {})
    agreed = sum(one_ends[scale] * other_ends[scale] for scale in one_ends if scale in other_ends)
    return None if agreed == 0 else int(agreed < 0)


@cache
def _lexicon() -> _Lexicon:
    raw = yaml.safe_load(Path(__file__).with_name("scales.yaml").read_text(encoding="utf-8"))
    groups = [[stem(form) for form in row.strip().split("/")] for row in raw["forms"].split(",")]
    forms = {form: group[0] for group in groups for form in group}

    def bases(text: str) -> list[str]:
        return [forms.get(stem(word), stem(word)) for word in text.split()]

    ends: dict[str, dict[str, int]] = {}
    for scale, both in raw["scales"].items():
        for name, sign in (("high", 1), ("low", -1)):
            for word in bases(both[name]):
                ends.setdefault(word, {})[scale] = sign
    before = re.compile(rf"\b{any_of(raw['turning_before'])}\b")
    return _Lexicon(ends, forms, frozenset(bases(raw["turning"])), before)
