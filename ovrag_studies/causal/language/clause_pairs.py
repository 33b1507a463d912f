"""Two clauses of which a conjunction makes one the cause of the other, and the words of a mention among other words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ovrag_core.text.tokens import any_of
from ovrag_studies.causal.language.directions import has_motion, split
from ovrag_studies.causal.language.wording import entries

Strength = Literal["clause", "noun", "weak", "therefore"]

_EDGE = ' \t\r\n.,;:!?"“”‘*_`'
_BEFORE = re.compile(
    r"^(?:(?:and|but|or|nor|so|then|that|both|either|in turn|also|thus|hence|while|whereas|because|to|therefore)\b"
    r"[,\s]*)+",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:[,\s]+(?:and|but|or|so|then|in turn|as well|too|also|thus|hence|while|whereas|both|thereby|therefore))+$",
    re.IGNORECASE,
)
_COMPARED = "more|less|fewer|higher|lower|greater|smaller|larger|stronger|weaker|faster|slower|longer|shorter|bigger"
_CORRELATIVE = re.compile(
    rf"^the\s+(?P<first>{_COMPARED})\s+(?P<cause>[^,]+),\s*the\s+(?P<second>{_COMPARED})\s+(?P<effect>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_WITH = re.compile(
    rf"^(?:with|where there (?:is|are)|when there (?:is|are))\s+(?P<first>{_COMPARED})\s+(?P<cause>[^,]+?)"
    r"(?:\s*,\s*(?:there (?:is|are|will be)|comes?|you get|we get|we see)"
    r"|\s+(?:there (?:is|are|will be)|comes?|you get|we get|we see))"
    rf"\s+(?P<second>{_COMPARED})\s+(?P<effect>.+)$|^(?P<more>{_COMPARED})\s+(?P<thing>[^,]+),\s*"
    rf"(?P<less>{_COMPARED})\s+(?P<other>[^,]+)$",
    re.IGNORECASE | re.DOTALL,
)
_LINKING_VERB = re.compile(
    r"\s+(?:(?:there )?(?:is|are|was|were|gets?|becomes?|will be)|there (?:is|are|will be))$|^of\s+", re.IGNORECASE
)
_UNRELATED = re.compile(
    r"^(?P<first>.+?)\s+and\s+(?P<second>.+)\s+are\s+(?:causally |completely |entirely |mutually )?"
    r"(?:independent|unrelated|unconnected)(?:\s+of each other|\s+of one another)?$",
    re.IGNORECASE | re.DOTALL,
)
_NO_LINK = re.compile(
    r"^there\s+is\s+no\s+(?:causal |direct )?(?P<what>link|effect|influence|connection|relation|relationship)\s+"
    r"(?:of|between|from)\s+(?P<first>.+?)\s+(?:and|on|to)\s+(?P<second>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_CAUSE_IS = re.compile(
    r"^(?:the|an?|one)\s+(?:\w+\s+)?(?:cause|driver|reason|source)s?\s+(?:of|for|behind)\s+(?P<effect>.+?)\s+"
    r"(?P<verb>is|are|was|is not|isn't|are not)\s+(?P<cause>(?!not\b).+)$",
    re.IGNORECASE | re.DOTALL,
)
_UPWARDS = "positive|beneficial|favou?rable"
_EFFECT_IS = re.compile(
    r"^(?:the\s+)?(?:causal |overall |total |net )?(?:effect|impact|influence) of (?P<cause>.+?) (?:up)?on "
    rf"(?P<effect>.+?)\s+is\s+(?P<no>not\s+)?(?:(?P<up>{_UPWARDS})|negative|adverse|detrimental|unfavou?rable)$",
    re.IGNORECASE | re.DOTALL,
)
_SO_DOES = re.compile(r"(?:so )?(?:does|do|did|will|has|have|is|are)\s+(?P<thing>[\w' -]+)$", re.IGNORECASE)
_BREAKS = (
    re.compile(
        r"(?:;\s*(?:and|but|while|whereas)?|\s\((?:and|but|while)?|,\s*(?:and|but|while|whereas|so)|\s(?:but|while|whereas))(?=\s|$|(?<=\())",
        re.IGNORECASE,
    ),
    re.compile(r"(?:^|\s)and(?=\s|$)", re.IGNORECASE),
    re.compile(r",(?=\s|$)"),
)


@dataclass(frozen=True, slots=True)
class ClauseFrame:
    """A cause and an effect by the conjunction between them or before the first; `word` is that in lower case.

    `cause_at` and `effect_at` are offsets in the text; `joint_at` that of the conjunction.
    """

    cause: str
    effect: str
    word: str
    strength: Strength
    cause_at: int
    effect_at: int
    joint_at: int
    leading: bool


def mention(text: str) -> str:
    """The words of a mention without what joins it to others."""
    text = _BEFORE.sub("", text.strip(_EDGE))
    text = _AFTER.sub("", text).strip(_EDGE)
    if text.endswith(")") and "(" not in text:
        text = text[:-1].strip(_EDGE)
    return " ".join(text.split())


def is_joined(text: str) -> bool:
    """Whether nothing but a conjunction is left of a text, so that what it lacks stands further on."""
    return bool(text.strip()) and not mention(f"x {text}")[1:].strip()


def break_at(text: str) -> tuple[int, int] | None:
    """Where the last word that separates two clauses begins and ends; None where there is none."""
    for pattern in _BREAKS:
        spans = [match.span() for match in pattern.finditer(text)]
        if spans:
            return spans[-1]
    return None


def correlative(text: str) -> tuple[str, str] | None:
    """Cause and effect of "the more …, the less …", "with more … there is less …"."""
    match = _CORRELATIVE.match(text) or _WITH.match(text)
    if match is None:
        return None
    first, cause, second, effect = (part for part in match.groups() if part is not None)
    return _compared(first, cause), _compared(second, effect)


def unrelated(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs of which a sentence says that the first has no effect on the second."""
    if match := _UNRELATED.match(text):
        return (match["first"], match["second"]), (match["second"], match["first"])
    if match := _NO_LINK.match(text):
        pair = (match["first"], match["second"])
        return (pair,) if match["what"].lower() in ("effect", "influence") else (pair, (pair[1], pair[0]))
    return ()


def named_cause(text: str) -> tuple[str, str, bool] | None:
    """Cause, effect and denial of "the cause of … is …"."""
    match = _CAUSE_IS.match(text)
    if match is None:
        return None
    return mention(match["cause"]), mention(match["effect"]), match["verb"].lower() not in ("is", "are", "was")


def signed_effect(text: str) -> tuple[str, str, bool, bool] | None:
    """Cause, effect, whether that is raised, and denial of "the effect of … on … is negative"."""
    match = _EFFECT_IS.match(text)
    if match is None:
        return None
    return mention(match["cause"]), mention(match["effect"]), match["up"] is not None, match["no"] is not None


def so_does(text: str) -> str | None:
    """What "does Z" behind "and so" says the same of."""
    match = _SO_DOES.match(text.strip())
    return match["thing"] if match else None


def is_conditional(text: str) -> bool:
    """Whether it holds under a condition, or in spite of something."""
    return _patterns().condition.search(text) is not None


def is_doubt(text: str) -> bool:
    """Whether a sentence opens with doubt."""
    return _patterns().doubt.match(text) is not None


def frames(text: str) -> list[ClauseFrame]:
    """The ways in which a sentence may be two clauses, the surest first."""
    found: list[ClauseFrame] = []
    patterns = _patterns()
    for pattern in (patterns.first, patterns.therefore, patterns.last):
        match = pattern.match(text)
        if match is None:
            continue
        word = " ".join(match["word"].lower().split())
        strength: Strength = "therefore" if pattern is patterns.therefore else _strengths()[word]
        leading = pattern is patterns.first
        cause = match["cause"]
        if word in ("without", "in the absence of"):
            cause = f"without {cause}"
        effect = _likewise(cause, match["effect"])
        places = (match.start("cause"), match.start("effect"), match.start("word"))
        found.append(ClauseFrame(cause, effect, word, strength, *places, leading))
    return found


def _likewise(cause: str, effect: str) -> str:
    """The effect of "… falls, so does Y" in words of its own."""
    match = _SO_DOES.match(effect)
    if match is None:
        return effect
    return f"a {'fall' if split(cause).direction == 'down' else 'rise'} in {match['thing']}"


def is_plain(frame: ClauseFrame) -> bool:
    """Whether the sides of a weak conjunction, which may join anything, say that something moves."""
    if frame.strength == "therefore":
        return has_motion(frame.effect)
    if frame.strength != "weak":
        return True
    return has_motion(frame.effect) and (frame.word in _BARE or has_motion(frame.cause))


_BARE = frozenset(("with", "without", "under", "in the absence of", "given"))


def _compared(word: str, rest: str) -> str:
    return f"{word.lower()} {_LINKING_VERB.sub('', mention(rest))}"


@dataclass(frozen=True, slots=True)
class _Patterns:
    first: re.Pattern[str]
    therefore: re.Pattern[str]
    last: re.Pattern[str]
    condition: re.Pattern[str]
    doubt: re.Pattern[str]


@cache
def _strengths() -> dict[str, Strength]:
    kinds: tuple[tuple[str, Strength], ...] = (("nouns", "noun"), ("clauses", "clause"), ("weak", "weak"))
    return {word: strength for key, strength in kinds for word in entries("reasons", key)}


@cache
def _patterns() -> _Patterns:
    reasons, flags = any_of(_strengths()), re.IGNORECASE | re.DOTALL
    strong, behind_comma = (any_of(entries("therefore", key)) for key in ("strong", "behind a comma"))
    adverb = r"(?:(?:precisely|mainly|largely|chiefly|simply|partly|just|mostly|only)\s+)?"
    return _Patterns(
        first=re.compile(
            rf"^(?P<word>{reasons})\s+(?P<cause>[^,]+?)(?:,\s*(?:then\s+)?|\s+then\s+)(?P<effect>\S.*)$", flags
        ),
        therefore=re.compile(
            rf"^(?P<cause>.*?\S)(?:,?\s+(?P<word>{strong}|(?<=,\s){behind_comma}))\s*,?\s+(?P<effect>\S.*)$", flags
        ),
        last=re.compile(rf"^(?P<effect>.*?\S),?\s+{adverb}(?P<word>{reasons})\s+(?P<cause>\S.*)$", flags),
        condition=re.compile(rf"(?<!\w){any_of(entries('conditions'))}(?!\w)", flags),
        doubt=re.compile(rf"{any_of(entries('doubts'))}(?!\w)", flags),
    )
