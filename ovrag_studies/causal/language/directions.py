"""A mention taken apart: the thing itself, where it moves, and whether its absence is meant."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from ovrag_core.text import any_of
from ovrag_studies.causal.language.wording import ADVERB, entries, forms

Direction = Literal["steady", "up", "down", "none"]
_LONGEST = 400  # characters of a mention that are looked at
_STAGES = 40
_EDGES = " \t\n.,;:!?\"'“”‘’()[]*_`"
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


class MentionParts(NamedTuple):
    """Rest of a mention, the direction of the words taken off it so far, and whether they deny it."""

    core: str
    direction: Direction = "none"
    negative: bool = False


@lru_cache(maxsize=1 << 14)
def stages(mention: str) -> tuple[MentionParts, ...]:
    """Return the mention with words of direction and denial taken off in every order, the whole first."""
    variants = [MentionParts(_plain(mention))]
    for variant in variants:  # which grows meanwhile
        variants += [less for less in dict.fromkeys(_less(variant)) if less not in variants]
        if len(variants) > _STAGES:
            break
    return tuple(variants)


@lru_cache(maxsize=1 << 14)
def split(mention: str) -> MentionParts:
    """Return the mention with all words of direction and denial taken off, what governs the others first."""
    stripped = MentionParts(_plain(mention))
    while (less := next(_less(stripped), None)) is not None:
        stripped = less
    return stripped


def state_of(phrase: str) -> MentionParts:
    """Return a phrase for a state without its verb: "economic growth accelerates" is economic growth, going up."""
    stripped = MentionParts(_plain(phrase))
    for direction, pattern in _MOVING_VERBS:
        if (core := _without(pattern, stripped.core)) is not None:
            return stripped._replace(core=core, direction=direction)
    if (core := _without(_OCCURRING, stripped.core)) is not None:
        stripped = stripped._replace(core=core)
    if (core := _without(_ABSENT_BEFORE, stripped.core)) is not None:
        stripped = stripped._replace(core=core, negative=True)
    return stripped


def moved(first: Direction, second: Direction) -> Direction:
    """Return the direction of a movement of a movement: a fall of a fall is a rise, nothing moves what is steady."""
    if first == "none" or second == "none":
        return second if first == "none" else first
    if "steady" in (first, second):
        return "steady"
    return "up" if first == second else "down"


def has_motion(mention: str) -> bool:
    """Return True where a word says that something moves, happens, or is not there."""
    stripped = split(mention)
    return stripped.direction != "none" or stripped.negative or _OCCURRING.search(_plain(mention)) is not None


def is_state(sentence: str) -> bool:
    """Return True where a sentence ends by saying that something moves, happens or is not there, or says "there is"."""
    text = _plain(sentence)
    ends = [pattern for _, pattern in _MOVING_VERBS] + [_OCCURRING, _ABSENT_AFTER]
    return any(_without(pattern, text) is not None for pattern in ends) or _THERE.match(text) is not None


def _plain(mention: str) -> str:
    text = " ".join(mention[:_LONGEST].split()).strip(_EDGES).casefold().replace("’", "'").replace("‐", "-")
    text = text.replace("cannot", "can not").replace("can't", "can not").replace("won't", "will not")
    text = re.sub(r"(?<=[a-z])n't\b", " not", text)
    return re.sub(rf"^{_ARTICLE}+(?=\S)", "", re.sub(r"\s*\([^()]*\)", "", text)).strip(_EDGES)


def _less(parts: MentionParts) -> Iterator[MentionParts]:
    """Yield the mention without each thing that can be taken off it, in the order of what governs what."""
    text = parts.core
    for pattern in _DENIALS:
        if (core := _without(pattern, text)) is not None:
            yield parts._replace(core=core, negative=not parts.negative)
    if (match := _INNER_DENIAL.search(text)) is not None:
        yield parts._replace(core=f"{text[: match.start()]}{text[match.end() :]}", negative=not parts.negative)
    for direction, pattern in _MOVING:
        if (core := _without(pattern, text)) is not None:
            yield parts._replace(core=core, direction=moved(parts.direction, direction))
    for pattern in (_TAIL, _THERE, _OCCURRING, _MEASURE):
        if (core := _without(pattern, text)) is not None:
            yield parts._replace(core=core)


def _without(pattern: re.Pattern[str], text: str) -> str | None:
    """Remove a pattern at one end of the text; None where it is not there or leaves nothing."""
    match = pattern.search(text)
    return (_plain(text[: match.start()] + text[match.end() :]) or None) if match else None


def _patterns(direction: Direction) -> list[re.Pattern[str]]:
    """Words that say a direction: a verb or a word behind the thing, a noun or gerund before it, a noun behind it, an
    adjective before it.
    """
    verbs = entries("directions", direction, "verbs")
    singulars = entries("directions", direction, "nouns")
    plurals = (noun + ("es" if noun.endswith(("s", "sh", "ch")) else "s") for noun in singulars)
    nouns = any_of([*singulars, *plurals])
    adjectives = any_of([*entries("directions", direction, "adjectives"), *forms(verbs, "participle", "ing")])
    sources = (
        rf"\s+{_BE}{{0,4}}{_MUCH}?{any_of(forms(verbs))}$",
        rf"\s*\s{_BE}{{0,4}}{_MUCH}?{any_of(entries('directions', direction, 'after'))}$",
        rf"^{_STRONG}{{0,2}}{nouns} (?:in|of|to|for)\s+",
        rf"^{any_of(forms(verbs, 'ing'))}\s+(?:of\s+)?(?=\S)",
        rf"\s+{_STRONG}?{nouns}$",
        rf"^{_MUCH}?{adjectives}\s+(?:of\s+)?(?=\S)",
    )
    return [re.compile(source) for source in sources]


_DIRECTED = {direction: _patterns(direction) for direction in get_args(Direction) if direction != "none"}
_MOVING = tuple(  # verbs and words behind of each direction first, then what stands before
    (direction, _DIRECTED[direction][index])
    for indices in ((0,), (1,), (2, 3), (4,), (5,))
    for direction in _DIRECTED
    for index in indices
)
_MOVING_VERBS = _MOVING[: 2 * len(_DIRECTED)]
_TAIL = re.compile(
    r"\s+(?:as well|too|than (?:before|usual|normal|earlier)|(?:two|three|four|five|ten)fold|over time"
    r"|in the (?:long|short) (?:run|term)|by [\d.,]+ ?(?:%|per ?cent|percent|degrees?|points?)?"
    rf"|as a result|in turn|{ADVERB}|by a lot|a lot|a little|a bit|somewhat|slightly)$"
)
_THERE = re.compile(r"^there (?:is|are|was|were|will be|has been|have been|being) ")
_INNER_DENIAL = re.compile(
    r"(?<=\s)(?:(?:do|does|did|will|would|can|could|should) (?:not|never)|not|never|no longer|(?:fails?|failed) to)\s"
)
_ABSENT_BEFORE = re.compile(rf"^(?:{any_of(entries('absent before'))}\s+|(?:not|non)-)(?=\S)")
_ABSENT_AFTER = re.compile(rf"\s+{_BE}?{any_of(entries('absent after'))}$")
_DENIALS = (
    re.compile(r"^it is (?:not (?:the case|true|so)|false|untrue|wrong) that\s+"),
    _ABSENT_BEFORE,
    _ABSENT_AFTER,
)
_OCCURRING = re.compile(rf"\s+{_BE}{{0,3}}{any_of(forms(entries('occurring')))}$")
_MEASURE = re.compile(
    r"^(?:levels?|amounts?|quantit(?:y|ies)|degrees?|values?|occurrence|presence|onset|existence|magnitude"
    r"|size|extent|rates?|change|changes|shift|event) (?:of|in)\s+|\s+(?:levels?|values?|amounts?)$"
)
