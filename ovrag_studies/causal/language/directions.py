"""A mention taken apart: the thing itself, where it moves, and whether its absence is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

from ovrag_core.text.tokens import any_of
from ovrag_studies.causal.language.wording import ADVERB, entries, forms, text_of

Direction = Literal["up", "down", "steady", "none"]
_SIGN: dict[Direction, int] = {"up": 1, "down": -1}
_LONGEST = 400  # characters of a mention that are looked at
_STAGES = 40
_ARTICLE = r"(?:(?:an?|the|every|each|any|some|its|their|this|that|these|such|both)\s+)"
_STRONG = (
    r"(?:(?:sharp|steep|slight|small|large|big|further|marked|strong|modest|sudden|gradual|rapid|steady|general|net|major"
    r"|substantial|significant|considerable|mild|moderate|slow|long-term|continued|overall|serious|severe|real|own|even)\s+)"
)
_MUCH = rf"(?:(?:{ADVERB}|much|far|a lot|a little|somewhat|slightly|very|rather|quite|even|still)\s+)"
_BE = (
    r"(?:(?:has|have|had|will|would|can|could|may|might|must|should|does|do|did|is|are|was|were|be|been|being|to|from"
    r"|becomes?|became|becoming|gets?|got|turns?|keeps?|starts?|begins?|then)\s+)"
)
_TAIL = re.compile(
    r"\s+(?:as well|too|than (?:before|usual|normal|earlier)|(?:two|three|four|five|ten)fold|over time"
    r"|in the (?:long|short) (?:run|term)|by [\d.,]+ ?(?:%|per ?cent|percent|degrees?|points?)?"
    rf"|as a result|in turn|{ADVERB}|by a lot|a lot|a little|a bit|somewhat|slightly)$"
)
_THERE = re.compile(r"^there (?:is|are|was|were|will be|has been|have been|being) ")
_NT = re.compile(r"\b(do|does|did|would|could|should|has|have|had|is|are|was|were)n't\b")
_EDGES = " \t\n.,;:!?\"'“”‘’()[]*_`"


@dataclass(frozen=True, slots=True)
class MentionParts:
    """What is left of a mention, the direction of the words taken off it so far, and whether they deny it."""

    core: str
    direction: Direction = "none"
    negative: bool = False


@lru_cache(maxsize=1 << 14)
def stages(mention: str) -> tuple[MentionParts, ...]:
    """The mention with words of direction and denial taken off in every order, the whole first, the least first."""
    found = {MentionParts(_plain(mention)): None}
    for parts in _growing(found):
        for less in _less(parts):
            found.setdefault(less)
        if len(found) > _STAGES:
            break
    return tuple(found)


def _growing(found: dict[MentionParts, None]) -> Iterator[MentionParts]:
    """The members of a table that grows meanwhile."""
    at = 0
    while at < len(found):
        yield list(found)[at]
        at += 1


@lru_cache(maxsize=1 << 14)
def split(mention: str) -> MentionParts:
    """The mention with all words of direction and denial taken off, what governs the others first."""
    parts = MentionParts(_plain(mention))
    while (less := next(_less(parts), None)) is not None:
        parts = less
    return parts


def state_of(phrase: str) -> MentionParts:
    """A phrase for a state without its verb: "economic growth accelerates" is economic growth, going up."""
    parts, patterns = MentionParts(_plain(phrase)), _patterns()
    for direction, pattern in patterns.verbs:
        if (rest := _without(pattern, parts.core)) is not None:
            return replace(parts, core=rest, direction=direction)
    if (rest := _without(patterns.occurring, parts.core)) is not None:
        parts = replace(parts, core=rest)
    if (rest := _without(patterns.absent_before, parts.core)) is not None:
        parts = replace(parts, core=rest, negative=True)
    return parts


def moved(first: Direction, second: Direction) -> Direction:
    """The direction of a movement of a movement: a fall of a fall is a rise, steadiness of anything is steadiness."""
    if first == "none" or second == "none":
        return second if first == "none" else first
    if "steady" in (first, second):
        return "steady"
    return "up" if _SIGN[first] == _SIGN[second] else "down"


def sign(direction: Direction) -> int:
    """1 for up and where nothing is said, -1 for down, 0 for what stays the same."""
    return 0 if direction == "steady" else _SIGN.get(direction, 1)


def has_motion(mention: str) -> bool:
    """Whether a word says that something moves, happens, or is not there."""
    parts = split(mention)
    return parts.direction != "none" or parts.negative or _patterns().occurring.search(_plain(mention)) is not None


def is_state(sentence: str) -> bool:
    """Whether a sentence ends by saying that something moves, happens or is not there, or begins with "there is"."""
    text, patterns = _plain(sentence), _patterns()
    ends = [pattern for _, pattern in patterns.verbs] + [patterns.occurring, patterns.absent_after]
    return any(_without(pattern, text) is not None for pattern in ends) or _THERE.match(text) is not None


def _plain(mention: str) -> str:
    text = " ".join(mention[:_LONGEST].split()).strip(_EDGES).casefold().replace("’", "'").replace("‐", "-")
    text = _NT.sub(
        r"\1 not", text.replace("cannot", "can not").replace("can't", "can not").replace("won't", "will not")
    )
    return re.sub(rf"^{_ARTICLE}+(?=\S)", "", re.sub(r"\s*\([^()]*\)", "", text)).strip(_EDGES)


def _less(parts: MentionParts) -> Iterator[MentionParts]:
    """The mention without the first thing that can be taken off it, in the order of what governs what."""
    text, patterns = parts.core, _patterns()
    for pattern in (patterns.outer_denial, patterns.absent_before, patterns.absent_after):
        if (rest := _without(pattern, text)) is not None:
            yield replace(parts, core=rest, negative=not parts.negative)
    if (rest := _without(patterns.opposite, text)) is not None:
        inner = split(rest)
        if inner.direction in _SIGN:
            yield replace(parts, core=rest, direction=moved(parts.direction, "down"))
        else:
            yield replace(parts, core=rest, negative=not parts.negative)
    if (match := patterns.inner_denial.search(text)) is not None:
        rest = " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())
        if rest:
            yield replace(parts, core=rest, negative=not parts.negative)
    for direction, pattern in patterns.moving:
        if (rest := _without(pattern, text)) is not None:
            yield replace(parts, core=rest, direction=moved(parts.direction, direction))
    for pattern in (_TAIL, _THERE, patterns.occurring, patterns.measure):
        if (rest := _without(pattern, text)) is not None:
            yield replace(parts, core=rest)


def _without(pattern: re.Pattern[str], text: str) -> str | None:
    """What a pattern at one end of the text leaves of it, None where it is not there or leaves nothing."""
    match = pattern.search(text)
    if match is None:
        return None
    rest = _plain(text[: match.start()] + text[match.end() :])
    return rest or None


@dataclass(frozen=True, slots=True)
class _Patterns:
    outer_denial: re.Pattern[str]
    inner_denial: re.Pattern[str]
    opposite: re.Pattern[str]
    absent_before: re.Pattern[str]
    absent_after: re.Pattern[str]
    occurring: re.Pattern[str]
    measure: re.Pattern[str]
    verbs: tuple[tuple[Direction, re.Pattern[str]], ...]
    moving: tuple[tuple[Direction, re.Pattern[str]], ...]


@cache
def _patterns() -> _Patterns:
    directions: tuple[Direction, ...] = ("steady", "up", "down")
    moving = [
        (direction, pattern)
        for build in (_verb_behind, _word_behind, _noun_before, _noun_behind, _adjective_before)
        for direction in directions
        for pattern in build(direction)
    ]
    occurring = any_of(forms(text_of("occurring")))
    hyphened = [entry for entry in entries("absent_before") if entry.endswith("-")]
    absent = [entry for entry in entries("absent_before") if not entry.endswith("-")]
    return _Patterns(
        outer_denial=re.compile(r"^it is (?:not (?:the case|true|so)|false|untrue|wrong) that\s+"),
        inner_denial=re.compile(
            r"(?<=\s)(?:(?:do|does|did|will|would|can|could|should) (?:not|never)|not|never|no longer"
            r"|(?:fails?|failed) to)(?=\s)"
        ),
        opposite=re.compile(r"^(?:opposite|reverse|contrary) of\s+"),
        absent_before=re.compile(rf"^(?:{any_of(absent)}\s+|{any_of(hyphened)})(?=\S)"),
        absent_after=re.compile(rf"\s+{_BE}?{any_of(entries('absent_after'))}$"),
        occurring=re.compile(rf"\s+{_BE}{{0,3}}{occurring}$"),
        measure=re.compile(
            r"^(?:levels?|amounts?|quantit(?:y|ies)|degrees?|values?|occurrence|presence|onset|existence|magnitude"
            r"|size|extent|rates?|change|changes|shift|event) (?:of|in)\s+|\s+(?:levels?|values?|amounts?)$"
        ),
        verbs=tuple(moving[: 2 * len(directions)]),
        moving=tuple(moving),
    )


def _verb_behind(direction: Direction) -> Iterator[re.Pattern[str]]:
    verbs = any_of(forms(text_of("directions", direction, "verbs")))
    yield re.compile(rf"\s+{_BE}{{0,4}}{_MUCH}?{verbs}$")


def _word_behind(direction: Direction) -> Iterator[re.Pattern[str]]:
    yield re.compile(rf"\s*\s{_BE}{{0,4}}{_MUCH}?{any_of(entries('directions', direction, 'after'))}$")


def _noun_before(direction: Direction) -> Iterator[re.Pattern[str]]:
    nouns = any_of(_plurals(entries("directions", direction, "nouns")))
    yield re.compile(rf"^{_STRONG}{{0,2}}{nouns} (?:in|of|to|for)\s+")
    gerunds = any_of(forms(text_of("directions", direction, "verbs"), "ing"))
    yield re.compile(rf"^{gerunds}\s+(?:of\s+)?(?=\S)")


def _noun_behind(direction: Direction) -> Iterator[re.Pattern[str]]:
    yield re.compile(rf"\s+{_STRONG}?{any_of(_plurals(entries('directions', direction, 'nouns')))}$")


def _adjective_before(direction: Direction) -> Iterator[re.Pattern[str]]:
    adjectives = [
        *entries("directions", direction, "adjectives"),
        *forms(text_of("directions", direction, "verbs"), "participle", "ing"),
    ]
    yield re.compile(rf"^{_MUCH}?{any_of(adjectives)}\s+(?:of\s+)?(?=\S)")


def _plurals(nouns: list[str]) -> list[str]:
    return [*nouns, *(noun + ("es" if noun.endswith(("s", "sh", "ch")) else "s") for noun in nouns)]
