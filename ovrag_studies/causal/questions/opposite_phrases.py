"""Whether two phrases say the same of a thing or the opposite: "the prisoner's death" and "the prisoner is alive".

Words are paired by stem, by a prefix that turns them round ("non-competitive") and by the two ends of a scale
(`scales.yaml`, general English, no list of topics); what is negated is counted. Where words of both phrases are left
over, neither is negated and no scale decides, the sign is None and nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from pathlib import Path
from typing import TypedDict

import yaml

from ovrag_core.text import any_of, stem
from ovrag_studies.causal.questions.phrases import FUNCTION_WORDS, PREFIXES, is_negation, word_likeness, words


@dataclass(frozen=True, slots=True)
class PhraseComparison:
    """`sign` 1 same, -1 opposite, None not to be told; `closeness` 0 to 1, how much of the phrases is paired."""

    sign: int | None
    closeness: float


class _Scales(TypedDict):
    scales: dict[str, dict[str, str]]
    pools: dict[str, str]
    privative: str
    together: dict[str, str]
    forms: str
    middle: str
    strange: str
    turning: str
    turning_before: list[str]
    any: str


@dataclass(frozen=True, slots=True)
class _Lexicon:
    ends: dict[str, dict[str, int]]  # stem: scale: 1 or -1
    pools: dict[str, dict[str, int]]  # stem: pool of scales: 1 or -1
    privative: frozenset[str]
    together: dict[str, str]
    several: re.Pattern[str]  # any key of `together`
    forms: dict[str, str]  # stem: stem of the base form
    middle: frozenset[str]
    strange: frozenset[str]
    turning: frozenset[str]
    before: re.Pattern[str]
    empty: frozenset[str]


_PAIRED_PREFIXES = (("en", "dis"), ("over", "under"), ("in", "ex"), ("in", "de"), ("pro", "anti"), ("up", "down"))
_SENTENCE = re.compile(
    r"(?:the|an?|his|her|their)\s+(?P<subject>[\w-]+(?:\s+[\w-]+)??)"
    r"\s+(?P<verb>\w+s|are|were|have|had|do|did|can|cannot|could|will|would|\w+n['’]t)\b"
)
_DOER = re.compile(r"(?P<base>\w{2,}?(?P<last>[a-z]))(?P=last)?(?:er|or)")
_GOER = re.compile(r"\b(\w{3,})goer(s?)\b")
_FREE = re.compile(r"-free\b")
_SHORTEST_ADVERB = 6  # letters
_NOT_ADVERBS = "family supply reply apply assembly butterfly monopoly"
NOT_ADVERBS = frozenset(_NOT_ADVERBS.split())
_LEAST_COMPOUND = 4  # letters of each part of a word made of two
_LEAST_BASE = 3  # letters that a prefix must leave


@lru_cache(maxsize=16384)
def compare(one: str, other: str) -> PhraseComparison:
    """Two phrases for a state of a thing, in any order."""
    (left, turned_left), (right, turned_right) = _content(one), _content(other)
    lexicon, subjects = _lexicon(), _subject(one) | _subject(other)
    size = prod(sum(word not in lexicon.turning for word in each) for each in (left, right)) ** 0.5
    stated = any(word in lexicon.ends and word in right and word not in subjects for word in left)
    left, right, pairs, turned = _pair_words(left, right)
    paired, of_state = len(pairs), any(word not in subjects for word in pairs)
    left, right, scaled, turned_ends = _pair_ends(left, right, _between_ends)
    closeness = (paired + scaled) / size if size else 0.0
    turning = turned_left + turned_right + sum(word in lexicon.turning for word in (*left, *right))
    left, right = ([word for word in each if word not in lexicon.turning] for each in (left, right))
    turned_either = turning % 2 == 1 or turned > 0  # "does not burn down": not "on fire", whatever burning is
    flips = turning + turned + turned_ends
    left, right = ([word for word in each if word not in subjects] for each in (left, right))
    left, right, pooled, turned = _pair_ends(left, right, _between_pools)
    flips += turned
    clashing = all(any(word in lexicon.ends for word in each) for each in (left, right))
    if not clashing:  # "low X" is the opposite of "X", as "X loss" is, and "high X" the same
        flips += sum(_takes_away(word) for word in (*left, *right))
    told = scaled + pooled > 0 or (stated and not clashing) or (of_state and (not (left and right) or turned_either))
    return PhraseComparison((-1 if flips % 2 else 1) if told else None, min(1.0, closeness))


def contrast(one: str, other: str) -> int | None:
    """The likely sign of two phrases for one thing of two states that no scale tells.

    What is said of one head is another state ("clay soil", "sandy soil"), as is another object of one verb ("takes the
    bus", "taking the train") and what alone is negated ("the dog does not wake", "the dog barks"); a word that they
    share otherwise makes them the same ("hit by the flu", "flu outbreak").
    """
    lexicon = _lexicon()
    said = [_content(each) for each in (one, other)]
    turning = sum(turned + sum(word in lexicon.turning for word in kept) for kept, turned in said)
    left, right = (
        [word for word in kept if word not in _subject(each) | lexicon.turning]
        for (kept, _), each in zip(said, (one, other), strict=True)
    )
    low = any(min(lexicon.ends.get(word, {}).values(), default=0) < 0 for word in (*left, *right))
    if turning % 2 and not low:
        return -1
    shared = [(word, each) for word in left for each in right if _alike(word, each)]
    if not shared or len(left) == len(shared) or len(right) == len(shared):
        return None
    if (left[0], right[0]) in shared:
        return -1
    if any(_acts(each) for each in (one, other)):  # a verb that is left over may be the other's in other words
        return None
    return -1 if (left[-1], right[-1]) in shared else 1


def _acts(phrase: str) -> bool:
    """Whether a sentence has a verb beside "is" and "has", or a phrase begins with one in -ing."""
    match = _SENTENCE.match(phrase.casefold())
    return phrase.casefold().split()[0].endswith("ing") if match is None else match["verb"] not in FUNCTION_WORDS


def same_words(one: str, other: str) -> bool:
    """Whether the phrases differ in articles and case alone."""
    return _bare(one) == _bare(other)


def _bare(phrase: str) -> tuple[str, ...]:
    return tuple(word for word in words(phrase) if word not in ("a", "an", "the"))


def _content(phrase: str) -> tuple[list[str], int]:
    """Stems of the words that carry meaning, and how often the phrase is turned round."""
    lexicon = _lexicon()
    text, turned = lexicon.before.subn(" ", phrase.casefold().replace("’", "'"))
    text = lexicon.several.sub(lambda match: lexicon.together[match[0]], text)
    text = _GOER.sub(r"\1 attend\2", text)
    text, freed = _FREE.subn(" ", text)
    turned += freed
    said = words(text)
    kept = []
    for place, word in enumerate(said):
        if is_negation(word) or word == "non":
            turned += 1
        elif word == "on" and place == len(said) - 1:
            kept.append(word)
        elif word not in FUNCTION_WORDS and word not in lexicon.empty:
            kept.append(lexicon.forms.get(_stem(word), _stem(word)))
    return kept, turned


def _subject(phrase: str) -> frozenset[str]:
    """The stems of who or what a sentence is about: "the bus driver has an accident"."""
    match = _SENTENCE.match(phrase.casefold())
    forms = _lexicon().forms
    return frozenset(forms.get(_stem(word), _stem(word)) for word in words(match["subject"])) if match else frozenset()


def _pair_words(left: list[str], right: list[str]) -> tuple[list[str], list[str], list[str], int]:
    """Words with the same stem, or with one turned round by a prefix: what is left over, the paired, and turns."""
    pairs, turns = list[str](), 0
    for match in (_alike, _turned):
        for word in list(left):
            found = next((each for each in right if match(word, each)), None)
            if found is not None:
                left.remove(word)
                right.remove(found)
                pairs.append(word)
                turns += match is _turned
    return left, right, pairs, turns


def _alike(one: str, other: str) -> bool:
    if word_likeness(one, other) >= 0.6 or _doer(one) == other or _doer(other) == one:
        return True
    short, long = sorted((one, other), key=len)
    rest = long.removeprefix(short) if long.startswith(short) else long.removesuffix(short)
    return len(short) >= _LEAST_COMPOUND <= len(rest) < len(long) and rest != "less"  # "snows", "snowfall"


def _doer(word: str) -> str:
    """What a swimmer does."""
    match = _DOER.fullmatch(word)
    return "" if match is None else match["base"]


def _turned(one: str, other: str) -> bool:
    if _between_ends(one, other) == 0:  # "indebted" has no "in" before "debt"
        return False
    shorter, longer = sorted((one, other), key=len)
    if longer.endswith("less") and _alike(longer[:-4], shorter):
        return True
    if any(longer.startswith(each) and _based(longer[len(each) :], shorter) for each in PREFIXES):
        return True
    return any(
        first.startswith(up) and second.startswith(down) and _based(first[len(up) :], second[len(down) :])
        for up, down in _PAIRED_PREFIXES
        for first, second in ((one, other), (other, one))
    )


def _based(one: str, other: str) -> bool:
    pairs = zip(one, other, strict=False)
    same = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    return same >= _LEAST_BASE and same >= 0.6 * max(len(one), len(other))


def _pair_ends(
    left: list[str], right: list[str], between: Callable[[str, str], int | None]
) -> tuple[list[str], list[str], int, int]:
    """Words that `between` relates: what is left over, pairs, and turns."""
    pairs, turns = 0, 0
    for word in list(left):
        for found in list(right):
            turned = between(word, found)
            if turned is not None:
                left.remove(word)
                right.remove(found)
                pairs += 1
                turns += turned
                break
    return left, right, pairs, turns


def _between_ends(one: str, other: str) -> int | None:
    """1 for the two ends of a scale and for what is normal beside what is not, 0 for one end."""
    lexicon = _lexicon()
    for first, second in ((one, other), (other, one)):
        if first in lexicon.middle and second in lexicon.strange:
            return 1
    return _turn(lexicon.ends.get(one, {}), lexicon.ends.get(other, {}))


def _between_pools(one: str, other: str) -> int | None:
    """1 for good and bad, or much and little, 0 for two of a kind."""
    pools = _lexicon().pools
    return _turn(pools.get(one, {}), pools.get(other, {}))


def _turn(first: Mapping[str, int], second: Mapping[str, int]) -> int | None:
    """Whether most of the scales that two words share have them at different ends."""
    agreed = sum(first[scale] * second[scale] for scale in first if scale in second)
    return None if agreed == 0 else int(agreed < 0)


def _takes_away(word: str) -> bool:
    lexicon = _lexicon()
    return word in lexicon.privative or lexicon.ends.get(word, {}).get("amount", 0) < 0


def _pooled(ends: Mapping[str, Mapping[str, int]], pools: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """The end of each word in a pool of scales, where most of its scales agree; "-" before a scale turns it round."""
    found: dict[str, dict[str, int]] = {}
    for pool, names in pools.items():
        signs = {name.lstrip("-"): -1 if name.startswith("-") else 1 for name in names.split()}
        for word, scales in ends.items():
            total = sum(sign * signs[scale] for scale, sign in scales.items() if scale in signs)
            if total:
                found.setdefault(word, {})[pool] = 1 if total > 0 else -1
    return found


@cache
def _lexicon() -> _Lexicon:
    given: _Scales = yaml.safe_load(Path(__file__).with_name("scales.yaml").read_text(encoding="utf-8"))
    groups = [[_stem(form) for form in each.strip().split("/")] for each in given["forms"].split(",")]
    forms = {form: group[0] for group in groups for form in group}

    def base(word: str) -> str:
        return forms.get(_stem(word), _stem(word))

    ends: dict[str, dict[str, int]] = {}
    for scale, both in given["scales"].items():
        for name, sign in (("high", 1), ("low", -1)):
            for word in both[name].split():
                ends.setdefault(base(word), {})[scale] = sign
    return _Lexicon(
        ends,
        _pooled(ends, given["pools"]),
        frozenset(map(base, given["privative"].split())),
        given["together"],
        re.compile(rf"\b{any_of(given['together'])}\b"),
        forms,
        frozenset(map(base, given["middle"].split())),
        frozenset(map(base, given["strange"].split())),
        frozenset(map(base, given["turning"].split())),
        re.compile(rf"\b{any_of(given['turning_before'])}\b"),
        frozenset(given["any"].split()),
    )


def _stem(word: str) -> str:
    """An adverb has the stem of its adjective, which the stemmer leaves apart for some: heavily, sharply."""
    found = stem(word)
    if not found.endswith("li") or len(word) < _SHORTEST_ADVERB or word in NOT_ADVERBS:
        return found
    return stem(word[:-3] + "y" if word.endswith("ily") else word[:-2])
