"""Patterns of the words that relate a cause and an effect, made of the verbs in `language.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

from ovrag_core.text.tokens import any_of
from ovrag_studies.causal.language.wording import ADVERB, AUXILIARY, BE, NOT, entries, forms, text_of, verbs

Relation = Literal["raises", "lowers", "affects"]
Place = Literal["forward", "backward", "passive", "trailing"]
RELATIONS: tuple[Relation, ...] = ("raises", "lowers", "affects")

_PRE = rf"(?:(?:{NOT}|{AUXILIARY}|{ADVERB})\s+){{0,5}}"
_START, _STOP = r"(?<![\w-])", r"(?![\w-])"
_IS = r"(?:is|are|was|were)(?:n't|n’t)?"
_ON = r"(?:on|upon)"
_EFFECT = r"(?:effect|influence|impact|bearing)s?"
_HAVE = r"(?:has|have|had|having|exerts?|exerted)"
_INNER_ADVERB = re.compile(
    "(?:directly|indirectly|eventually|ultimately|usually|often|also|inevitably|quickly|slowly|mainly)"
)
_SIGNED: Mapping[Relation, str] = {
    "raises": "positive|beneficial|favou?rable|boosting|stimulating|reinforcing|increasing|raising",
    "lowers": (
        "negative|adverse|detrimental|dampening|harmful|depressing|inhibiting|inhibitory|reducing|lowering|damping"
        "|suppressing"
    ),
}

NO_EFFECT = re.compile(
    rf"\b{_PRE}(?:{_HAVE}\s+(?:absolutely |virtually |practically |at all )?(?:no|zero)\s+(?:[a-z]+ ){{0,2}}?"
    rf"{_EFFECT}\s+(?:whatsoever |at all |whatever )?{_ON}"
    r"|(?:does|do|did)(?:\s+nothing|n't\s+do\s+anything|\s+not\s+do\s+anything)\s+(?:at all )?to"
    r"(?:\s+(?:change|alter|affect|influence|raise or lower))?"
    r"|(?:makes?|made)\s+no\s+difference\s+(?:at all |whatsoever |whatever )?to|leaves?\s+unchanged"
    rf"|{BE}\s+(?:not\s+)?(?:{ADVERB}\s+)?(?:irrelevant|immaterial)\s+(?:to|for))(?=\s)"
)
APART = re.compile(
    rf"\b(?:{BE}\s+(?:{ADVERB}\s+)?(?:independent of|unrelated to|not related to|causally unrelated to)"
    r"|(?:has|have|had)\s+nothing\s+to\s+do\s+with)(?=\s)"
)
UNTOUCHED = re.compile(
    r"\b(?:is|are|was|were|remains?|remained|stays?|stayed)\s+"
    r"(?:untouched|unaffected|unchanged|uninfluenced|unmoved)\s+by(?=\s)"
)
ARROW = re.compile(r"\s*(?:-+>|=+>|→|⟶|⇒|⟹)\s*")


@cache
def said_by(place: Place) -> dict[str, tuple[Relation, bool]]:
    """What the words of a verb say in a kind of place, and whether they may be no verb at all."""
    found: dict[str, tuple[Relation, bool]] = {}
    for relation in RELATIONS:
        if place == "backward":
            listed = forms(text_of("backward", relation), "base", "third", "past")
            found |= dict.fromkeys(listed, (relation, False))
            continue
        for strength in ("ambiguous", "plain"):
            for verb in verbs(text_of("verbs", relation, strength)):
                single = " " not in verb.base
                if place == "forward":
                    found |= dict.fromkeys((verb.base, verb.past, verb.participle), (relation, single))
                    found[verb.third] = (relation, strength == "ambiguous")
                else:
                    found[verb.participle if place == "passive" else verb.ing] = (relation, False)
    return found


def plain(words: str) -> str:
    """The words of a verb as they are listed, without an adverb among them."""
    first, *rest = words.split()
    return " ".join([first, *(word for word in rest if not _INNER_ADVERB.fullmatch(word))])


@cache
def forward() -> re.Pattern[str]:
    """Verbs between cause and effect; those of several words may have an adverb behind the first."""
    loose = any_of(said_by("forward")).replace(r"\s+", rf"\s+(?:{_INNER_ADVERB.pattern}\s+)?")
    return re.compile(rf"{_START}(?P<pre>{_PRE})(?P<verb>{loose}){_STOP}")


@cache
def passive() -> re.Pattern[str]:
    """Verbs between an effect and what brings it about: "is lowered by"."""
    between = rf"(?:(?:{NOT}|{ADVERB}|been|being)\s+){{0,3}}"
    aside = r"(?:(?:up|down|in part|at least in part|mainly|largely|chiefly)\s+)?"
    return re.compile(
        rf"{_START}(?P<pre>{_PRE}(?:{BE}|has been|have been)(?:n't|n’t)?\s+{between})"
        rf"(?P<verb>{any_of(said_by('passive'))})\s+{aside}(?:by|through|via){_STOP}"
    )


@cache
def backward() -> re.Pattern[str]:
    """Verbs between an effect and its cause: "results from"."""
    return re.compile(rf"{_START}(?P<pre>{_PRE})(?P<verb>{any_of(said_by('backward'))}){_STOP}")


@cache
def adjectival() -> re.Pattern[str]:
    """What an effect is: "is largely due to"."""
    between = rf"(?:(?:{NOT}|{ADVERB}|at least|in part|partly)\s+){{0,3}}"
    phrases = any_of(entries("adjectival", "raises"))
    return re.compile(rf"{_START}(?P<pre>{_PRE}{BE}(?:n't|n’t)?\s+{between}){phrases}{_STOP}")


@cache
def trailing() -> re.Pattern[str]:
    """Verbs behind a clause: "…, raising", "thereby raising", "by raising"."""
    words = "and|thus|thereby|hence|so|ultimately|in turn|therefore|then|eventually|finally|not"
    return re.compile(
        rf"(?:,\s*(?:(?:{words})\s+){{0,3}}|\s(?:thus|thereby|hence)\s+|\s(?P<by>by)\s+)"
        rf"(?P<verb>{any_of(said_by('trailing'))}){_STOP}"
    )


@cache
def moving() -> re.Pattern[str]:
    """Verbs whose object says where it goes: "makes Y rise". The bare form of one that is a noun too needs a "will"."""
    nouns = text_of("movers that are nouns")
    always = [*forms(text_of("movers"), "base", "third", "past"), *forms(nouns, "third", "past")]
    bare = any_of(forms(nouns, "base"))
    helped = rf"(?P<helped>(?:(?:{NOT}|{AUXILIARY}|{ADVERB})\s+){{1,5}}){bare}"
    return re.compile(rf"{_START}(?:{helped}|(?P<pre>{_PRE})(?P<verb>{any_of(always)})){_STOP}(?=\s+(?!of\b|in\b))")


@cache
def nominal() -> tuple[tuple[Relation, re.Pattern[str]], ...]:
    """Nouns for what a cause does or is: "has a negative effect on", "is one of the drivers of"."""
    being = rf"{_START}{_PRE}{_IS}\s+(?:(?:{NOT}|{ADVERB})\s+)?"
    which = r"(?:[a-z-]+\s+){0,2}?"
    signed: list[tuple[Relation, re.Pattern[str]]] = [
        (
            relation,
            re.compile(rf"{_START}{_PRE}{_HAVE}\s+an?\s+{which}(?:{_SIGNED[relation]})\s+{_EFFECT}\s+{_ON}{_STOP}"),
        )
        for relation in RELATIONS[:2]
    ]
    return (
        *signed,
        ("affects", re.compile(rf"{_START}{_PRE}{_HAVE}\s+(?:an?|some|any)\s+{which}{_EFFECT}\s+{_ON}{_STOP}")),
        (
            "raises",
            re.compile(
                rf"{being}(?:an?|the|one|one of the)\s+{which}"
                rf"(?:causes?|drivers?|source|reasons?) (?:of|for|behind){_STOP}"
            ),
        ),
        ("raises", re.compile(rf"{being}(?:responsible for|behind|at the root of){_STOP}")),
    )


@cache
def no_effect_of_sign() -> tuple[tuple[Relation, re.Pattern[str]], ...]:
    """What is denied by "has no positive effect on", by the sign."""
    return tuple((relation, re.compile(rf"\b(?:no|zero)\b.*\b(?:{words})\b")) for relation, words in _SIGNED.items())


@cache
def associated() -> re.Pattern[str]:
    """Words that relate without saying which is the cause."""
    return any_pattern(entries("association"))


def any_pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of the phrases as whole words."""
    return re.compile(rf"{_START}{any_of(phrases)}{_STOP}")
