"""The words of a sentence that relate a cause and an effect, found and sorted out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Literal

from ovrag_core.studies.causal.directions import split
from ovrag_core.studies.causal.wording import (
    ADVERB,
    AUXILIARY,
    BE,
    DETERMINER,
    NOT,
    any_of,
    entries,
    forms,
    text_of,
    verbs,
)

Relation = Literal["raises", "lowers", "affects"]
Kind = Literal["forward", "backward", "both"]  # cause first, effect first, neither ("is independent of")
RELATIONS: tuple[Relation, ...] = ("raises", "lowers", "affects")
CONJUNCTION = r"(?:and|but|or|yet|nor|while|whereas|so)"

_PRE = rf"(?:(?:{NOT}|{AUXILIARY}|{ADVERB})\s+){{0,5}}"
_HEDGED = re.compile(r"\b(?:may|might|need|could|not necessarily|not always|not usually|not often)\b")
_HARDLY = re.compile(r"\b(?:hardly|scarcely|barely|rarely|seldom)\b")
_NEGATED = re.compile(rf"\b{NOT}(?=\s|$)|n't\b|n’t\b")
_ONLY = re.compile(r"\b(?:not only|not just|not merely)\b")
_NOUN_AFTER = re.compile(
    r"\s*(?:(?:of|in|for|by|at(?! (?:least|most))|from|with|on|among|between|do|does|did|is|are|was|were|has|have|will|can|may|than)\b|[,.;:)]|$|and\s+(?:of|in)\b)"
)
_ADJECTIVE_BEFORE = re.compile(rf"(?:^|\b)(?:{DETERMINER}|more|less|fewer|higher|greater|further)\s*$")
_THEREBY = re.compile(r"\b(?:in turn|thereby|thus|hence)\b")
_SIGNS: tuple[tuple[Relation, re.Pattern[str]], ...] = (
    ("raises", re.compile(r"\b(?:positively|favou?rably|beneficially)\b")),
    ("lowers", re.compile(r"\b(?:negatively|adversely|unfavou?rably|detrimentally|inversely)\b")),
)
_MEANING = re.compile(
    r"\s+(?:an?|the|that|higher|lower|more|less|fewer|greater|smaller|stronger|weaker|rising|falling)\b"
)
_SEPARATED = re.compile(r"[,;(]|\b(?:and|but|or|yet|nor|while|whereas|so|which|that|this|thus)\b")
_UNTOUCHED = re.compile(
    r"\b(?:is|are|was|were|remains?|remained|stays?|stayed)\s+(?:untouched|unaffected|unchanged|uninfluenced|unmoved)\s+by(?=\s)"
)
_INNER_ADVERB = re.compile(
    "(?:directly|indirectly|eventually|ultimately|usually|often|also|inevitably|quickly|slowly|mainly)"
)
_SIGNED = {
    "raises": "positive|beneficial|favou?rable|boosting|stimulating|reinforcing|increasing|raising",
    "lowers": "negative|adverse|detrimental|dampening|harmful|depressing|inhibiting|inhibitory|reducing|lowering|damping|suppressing",
}
_EFFECT = r"(?:effect|influence|impact|bearing)s?"
_HAVE = r"(?:has|have|had|having|exerts?|exerted)"
_NONE = re.compile(
    rf"\b(?:{_PRE}{_HAVE}\s+(?:absolutely |virtually |practically |at all )?no\s+(?:[a-z]+ ){{0,2}}?{_EFFECT}\s+(?:whatsoever |at all |whatever )?(?:on|upon)"
    rf"|{_PRE}(?:does|do|did)(?:\s+nothing|n't\s+do\s+anything|\s+not\s+do\s+anything)\s+(?:at all )?to(?:\s+(?:change|alter|affect|influence|raise or lower))?"
    rf"|{_PRE}(?:makes?|made)\s+no\s+difference\s+(?:at all |whatsoever |whatever )?to|{_PRE}leaves?\s+unchanged)(?=\s)"
)
_APART = re.compile(
    rf"\b(?:{BE}\s+(?:{ADVERB}\s+)?(?:independent of|unrelated to|not related to|causally unrelated to)"
    r"|(?:has|have|had)\s+nothing\s+to\s+do\s+with)(?=\s)"
)


@dataclass(frozen=True, slots=True)
class Cue:
    """Words at `start` to `end` that relate what is before and behind them.

    `weak`: the words may be a noun or an adjective as well. `trailing`: an -ing form behind a clause ("…, raising Y").
    """

    start: int
    end: int
    relation: Relation
    kind: Kind
    negative: bool
    hedged: bool
    weak: bool = False
    trailing: bool = False
    word: str = ""
    in_turn: bool = False
    means: bool = False  # "by raising Y", which the same cause does
    moving: bool = False  # its object says where it goes: "makes X rise"


def find_cues(sentence: str, names: Sequence[tuple[int, int]] = ()) -> list[Cue]:
    """The cues of a sentence in lower case, in order, none within another or within the span of one of the `names`.

    Nouns and adjectives that look like verbs are left out.
    """
    found: list[Cue] = []
    for cue in sorted(_all(sentence), key=lambda cue: (cue.start, -cue.end)):
        if any(start <= cue.start and cue.end <= end for start, end in names) or _is_no_verb(
            cue, "x", sentence[cue.end :]
        ):
            continue
        if not found or cue.start >= found[-1].end:
            found.append(cue)
        elif cue.end > found[-1].end and found[-1].weak:
            found[-1] = cue
    return _sorted_out(sentence, found)


def signed(relation: Relation, words: str) -> Relation:
    """The relation with the sign that an adverb gives it: "negatively affects"."""
    found = (sign for sign, pattern in _SIGNS if pattern.search(words))
    return next(found, relation) if relation == "affects" else relation


def may_relate(name: str) -> bool:
    """Whether a word of a name looks like a verb that relates something."""
    return next(_all(f"x {name} y"), None) is not None


def association(sentence: str) -> re.Match[str] | None:
    """Words that relate without saying which is the cause."""
    return _associated().search(sentence)


def _sorted_out(sentence: str, cues: list[Cue]) -> list[Cue]:
    kept = _spaced(sentence, cues)
    kept = [cue for cue, before, after in _around(sentence, kept) if not _is_no_verb(cue, before, after)]
    for _ in range(len(kept)):
        odd = next((cue for cue in _unseparated(sentence, kept)), None)
        if odd is None:
            break
        kept.remove(odd)
    return kept


def _around(sentence: str, cues: list[Cue]) -> Iterator[tuple[Cue, str, str]]:
    """Each cue with the words between it and the one before, and the one behind."""
    ends = [0, *(cue.end for cue in cues)]
    starts = [*(cue.start for cue in cues), len(sentence)]
    for at, cue in enumerate(cues):
        yield cue, sentence[ends[at] : cue.start], sentence[cue.end : starts[at + 1]]


def _spaced(sentence: str, cues: list[Cue]) -> list[Cue]:
    """Of two cues with nothing between them one is no verb: "tax cuts boost", "leads to reduced"."""
    kept: list[Cue] = []
    for cue in cues:
        if kept and not cue.trailing and not sentence[kept[-1].end : cue.start].strip():
            if cue.weak and (not kept[-1].weak or cue.word in _adjectives()):
                continue
            kept.pop()
        kept.append(cue)
    return kept


def _unseparated(sentence: str, cues: list[Cue]) -> Iterator[Cue]:
    """Weak cues beside others that no word separates from them: "global mean temperature lowers"."""
    for first, second in pairwise(cues):
        if second.trailing or _SEPARATED.search(sentence[first.end : second.start]) is not None:
            continue
        if first.weak != second.weak:
            yield first if first.weak else second


@cache
def _adjectives() -> frozenset[str]:
    return frozenset(word for way in ("up", "down") for word in entries("directions", way, "adjectives"))


def _is_no_verb(cue: Cue, before: str, after: str) -> bool:
    """Whether it is a noun ("a rise in", "the causes of") or an adjective ("reduced growth"), or has no object."""
    if cue.kind != "forward" or cue.trailing:
        return False
    if not after.strip(" ,.") or _NOUN_AFTER.match(after) is not None:
        return True
    if cue.moving and split(after.split(",")[0]).direction == "none":
        return True
    return cue.weak and (not before.strip(" ,") or _ADJECTIVE_BEFORE.search(before) is not None)


def _all(sentence: str) -> Iterator[Cue]:
    for match in _NONE.finditer(sentence):
        # "has no effect" denies by itself, and a "not" before it takes that back
        denied = len(_NEGATED.findall(match[0])) % 2 == ("anything" in match[0])
        yield Cue(match.start(), match.end(), "affects", "forward", denied, False)
    for match in _APART.finditer(sentence):
        yield Cue(match.start(), match.end(), "affects", "both", True, False)
    for relation, pattern in _signed():
        for match in pattern.finditer(sentence):
            yield _cue(match, relation, "forward")
    for pattern, kind in ((_passive(), "backward"), (_backward(), "backward"), (_active(), "forward")):
        for match in pattern.finditer(sentence):
            if match["verb"] == "mean" and _MEANING.match(sentence, match.end()) is None:
                continue  # "the mean temperature"
            relation, weak = _lookup()[kind if pattern is not _passive() else "passive"][_key(match["verb"])]
            yield _cue(match, relation, "backward" if kind == "backward" else "forward", weak=weak and not match["pre"])
    for match in _adjectival().finditer(sentence):
        yield _cue(match, "raises", "backward")
    for match in _UNTOUCHED.finditer(sentence):
        yield Cue(match.start(), match.end(), "affects", "backward", True, False)
    for match in _trailing().finditer(sentence):
        relation, _ = _lookup()["trailing"][_key(match["verb"])]
        yield replace(_cue(match, relation, "forward", trailing=True), means=match["by"] is not None)
    for match in _moving().finditer(sentence):
        if match["pre"] or match["verb"] not in forms(text_of("movers that are nouns"), "base"):
            yield _cue(match, "raises", "forward", weak=not match["pre"], moving=True)
    for match in re.finditer(r"\s*(?:-+>|=+>|→|⟶|⇒|⟹)\s*", sentence):
        yield Cue(match.start(), match.end(), "raises", "forward", False, False, trailing=True)


def _cue(
    match: re.Match[str],
    relation: Relation,
    kind: Kind,
    *,
    weak: bool = False,
    trailing: bool = False,
    moving: bool = False,
) -> Cue:
    words = _ONLY.sub("", match[0])
    relation = signed(relation, words)
    hardly = _HARDLY.search(words) is not None
    negative = len(_NEGATED.findall(words)) % 2 == 1 or hardly
    hedged = hardly or _HEDGED.search(match[0]) is not None
    word = str(match.groupdict().get("verb") or "")
    return Cue(
        match.start(),
        match.end(),
        relation,
        kind,
        negative,
        hedged,
        weak,
        trailing,
        word,
        _THEREBY.search(match[0]) is not None,
        moving=moving,
    )


def _key(words: str) -> str:
    first, *rest = words.split()
    return " ".join([first, *(word for word in rest if not _INNER_ADVERB.fullmatch(word))])


@cache
def _lookup() -> dict[str, dict[str, tuple[Relation, bool]]]:
    """What is said by the words of a verb, and whether they may be no verb: by the kind of pattern they stand in."""
    found: dict[str, dict[str, tuple[Relation, bool]]] = {"forward": {}, "backward": {}, "passive": {}, "trailing": {}}
    for relation in RELATIONS:
        for strength in ("ambiguous", "plain"):
            for verb in verbs(text_of("verbs", relation, strength)):
                single = " " not in verb.base
                for text in (verb.base, verb.past, verb.participle):
                    found["forward"][text] = (relation, single)
                found["forward"][verb.third] = (relation, strength == "ambiguous")
                found["passive"][verb.participle] = (relation, False)
                found["trailing"][verb.ing] = (relation, False)
        for verb in verbs(text_of("backward", relation)):
            for text in (verb.base, verb.third, verb.past):
                found["backward"][text] = (relation, False)
    return found


def _loose(verbs_: Iterable[str]) -> str:
    """A pattern for verbs of which those of several words may have an adverb behind the first."""
    return any_of(verbs_).replace(r"\s+", rf"\s+(?:{_INNER_ADVERB.pattern}\s+)?")


@cache
def _active() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?P<pre>{_PRE})(?P<verb>{_loose(_lookup()['forward'])})(?![\w-])")


@cache
def _passive() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w-])(?P<pre>{_PRE}(?:{BE}|has been|have been)(?:n't|n’t)?\s+(?:(?:{NOT}|{ADVERB}|been|being)\s+){{0,3}})"
        rf"(?P<verb>{any_of(_lookup()['passive'])})\s+(?:(?:up|down|in part|at least in part|mainly|largely|chiefly)\s+)?(?:by|through|via)(?![\w-])"
    )


@cache
def _backward() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?P<pre>{_PRE})(?P<verb>{any_of(_lookup()['backward'])})(?![\w-])")


@cache
def _adjectival() -> re.Pattern[str]:
    phrases = any_of(entries("adjectival", "raises"))
    return re.compile(
        rf"(?<![\w-])(?P<pre>{_PRE}{BE}(?:n't|n’t)?\s+(?:(?:{NOT}|{ADVERB}|at least|in part|partly)\s+){{0,3}}){phrases}(?![\w-])"
    )


@cache
def _trailing() -> re.Pattern[str]:
    verbs_ = any_of(_lookup()["trailing"])
    return re.compile(
        rf"(?:,\s*(?:(?:and|thus|thereby|hence|so|ultimately|in turn|therefore|then|eventually|finally|not)\s+){{0,3}}"
        rf"|\s(?:thus|thereby|hence)\s+|\s(?P<by>by)\s+)(?P<verb>{verbs_})(?![\w-])"
    )


def _movers() -> list[str]:
    """Those that are nouns as well ("the pull") count where an ending shows that they are verbs."""
    verbs_, nouns = text_of("movers"), text_of("movers that are nouns")
    return [*forms(verbs_, "base", "third", "past"), *forms(nouns, "base", "third", "past")]


@cache
def _moving() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?P<pre>{_PRE})(?P<verb>{any_of(_movers())})(?![\w-])(?=\s+(?!of\b|in\b))")


@cache
def _signed() -> tuple[tuple[Relation, re.Pattern[str]], ...]:
    found: list[tuple[Relation, re.Pattern[str]]] = []
    for relation in RELATIONS[:2]:
        found.append(
            (
                relation,
                re.compile(
                    rf"(?<![\w-])(?:{_PRE}){_HAVE}\s+an?\s+(?:[a-z]+ly )?(?:(?:strong|weak|clear|direct|large|small|marked) )?"
                    rf"(?:{_SIGNED[relation]})\s+{_EFFECT}\s+(?:on|upon)(?![\w-])"
                ),
            )
        )
    adjective = r"(?:[a-z-]+\s+){0,2}?"
    found.append(
        (
            "affects",
            re.compile(
                rf"(?<![\w-])(?:{_PRE}){_HAVE}\s+(?:an?|some|any)\s+{adjective}{_EFFECT}\s+(?:on|upon)(?![\w-])"
            ),
        )
    )
    found.append(
        (
            "raises",
            re.compile(
                rf"(?<![\w-])(?:{_PRE})(?:is|are|was|were)(?:n't)?\s+(?:(?:{NOT}|{ADVERB})\s+)?(?:an?|the|one|one of the)\s+{adjective}(?:causes?|drivers?|source|reason|reasons) (?:of|for|behind)(?![\w-])"
                rf"|(?<![\w-])(?:{_PRE})(?:is|are|was|were)(?:n't)?\s+(?:(?:{NOT}|{ADVERB})\s+)?(?:responsible for|behind|at the root of)(?![\w-])"
            ),
        )
    )
    return tuple(found)


@cache
def _associated() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){any_of(entries('association'))}(?![\w-])")
