"""The words of a sentence that relate a cause and an effect, found and sorted out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Literal

from ovrag_studies.causal.language import cue_patterns as patterns
from ovrag_studies.causal.language.cue_patterns import Place, Relation
from ovrag_studies.causal.language.directions import split
from ovrag_studies.causal.language.wording import DETERMINER, NOT, entries

Kind = Literal["forward", "backward", "both"]  # cause first, effect first, neither ("is independent of")

_HEDGED = re.compile(r"\b(?:may|might|need|could|not necessarily|not always|not usually|not often)\b")
_PARTLY = re.compile(  # denied of one way of causing only, or of its strength
    r"(?:\bnot|n't|n’t|\bnever)\s+(?:directly|immediately|strongly|greatly|much|solely|entirely|wholly|fully|completely"
    r"|exclusively|primarily|mainly|chiefly|largely|drastically|dramatically|substantially|considerably)\b"
    r"|\bno\s+(?:[a-z-]+\s+)?(?:direct|immediate|lasting|strong|large|big|great|major|known|proven|obvious|clear|additional"
    r"|further|special|particular|substantial|considerable|long-term|short-term)\s"
)
_HARDLY = re.compile(r"\b(?:hardly|scarcely|barely|rarely|seldom)\b")
_NEGATED = re.compile(rf"\b{NOT}(?=\s|$)|n't\b|n’t\b")
_ONLY = re.compile(r"\b(?:not only|not just|not merely)\b")
_NOUN_AFTER = re.compile(
    r"\s*(?:(?:of|in|for|by|at(?! (?:least|most))|from|with|on|among|between|do|does|did|is|are|was|were|has|have|will"
    r"|can|may|than)\b|[,.;:)]|$|and\s+(?:of|in)\b)"
)
_ADJECTIVE_BEFORE = re.compile(rf"(?:^|\b)(?:{DETERMINER}|more|less|fewer|higher|greater|further)\s*$")
_KEPT_FROM = re.compile(r"[^,;]*?\sfrom\s+[a-z]+ing\b")
_THEREBY = re.compile(r"\b(?:in turn|thereby|thus|hence)\b")
_SIGNS: tuple[tuple[Relation, re.Pattern[str]], ...] = (
    ("raises", re.compile(r"\b(?:positively|favou?rably|beneficially)\b")),
    ("lowers", re.compile(r"\b(?:negatively|adversely|unfavou?rably|detrimentally|inversely)\b")),
)
_MEANING = re.compile(
    r"\s+(?:an?|the|that|higher|lower|more|less|fewer|greater|smaller|stronger|weaker|rising|falling)\b"
)
_SEPARATED = re.compile(r"[,;(]|\b(?:and|but|or|yet|nor|while|whereas|so|which|that|this|thus)\b")


@dataclass(frozen=True, slots=True)
class CausalCue:
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


def find_cues(sentence: str, names: Sequence[tuple[int, int]] = ()) -> list[CausalCue]:
    """The cues of a sentence in lower case, in order, none within another or within the span of one of the `names`.

    Nouns and adjectives that look like verbs are left out.
    """
    found: list[CausalCue] = []
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
    return patterns.associated().search(sentence)


def _sorted_out(sentence: str, cues: list[CausalCue]) -> list[CausalCue]:
    kept = _spaced(sentence, cues)
    kept = [cue for cue, before, after in _around(sentence, kept) if not _is_no_verb(cue, before, after)]
    for _ in range(len(kept)):
        odd = next((cue for cue in _unseparated(sentence, kept)), None)
        if odd is None:
            break
        kept.remove(odd)
    return kept


def _around(sentence: str, cues: list[CausalCue]) -> Iterator[tuple[CausalCue, str, str]]:
    """Each cue with the words between it and the one before, and the one behind."""
    ends = [0, *(cue.end for cue in cues)]
    starts = [*(cue.start for cue in cues), len(sentence)]
    for at, cue in enumerate(cues):
        yield cue, sentence[ends[at] : cue.start], sentence[cue.end : starts[at + 1]]


def _spaced(sentence: str, cues: list[CausalCue]) -> list[CausalCue]:
    """Of two cues with nothing between them one is no verb: "tax cuts boost", "leads to reduced"."""
    kept: list[CausalCue] = []
    for cue in cues:
        if kept and not cue.trailing and not sentence[kept[-1].end : cue.start].strip():
            if cue.weak and (not kept[-1].weak or cue.word in _adjectives()):
                continue
            kept.pop()
        kept.append(cue)
    return kept


def _unseparated(sentence: str, cues: list[CausalCue]) -> Iterator[CausalCue]:
    """Weak cues beside others that no word separates from them: "global mean temperature lowers"."""
    for first, second in pairwise(cues):
        if second.trailing or _SEPARATED.search(sentence[first.end : second.start]) is not None:
            continue
        if first.weak != second.weak:
            yield first if first.weak else second


@cache
def _adjectives() -> frozenset[str]:
    return frozenset(word for way in ("up", "down") for word in entries("directions", way, "adjectives"))


def _is_no_verb(cue: CausalCue, before: str, after: str) -> bool:
    """Whether it is a noun ("a rise in", "the causes of") or an adjective ("reduced growth"), or has no object."""
    if cue.kind != "forward" or cue.trailing:
        return False
    if not after.strip(" ,.") or _NOUN_AFTER.match(after) is not None:
        return True
    if cue.moving and split(after.split(",", maxsplit=1)[0]).direction == "none":
        return True
    return cue.weak and (not before.strip(" ,") or _ADJECTIVE_BEFORE.search(before) is not None)


def _all(sentence: str) -> Iterator[CausalCue]:
    """Everything that may be a cue, in no order, overlapping."""
    yield from _of_verbs(sentence)
    yield from _of_phrases(sentence)
    for match in patterns.ARROW.finditer(sentence):
        yield CausalCue(match.start(), match.end(), "raises", "forward", False, False, trailing=True)


def _of_verbs(sentence: str) -> Iterator[CausalCue]:
    places: tuple[tuple[Place, Kind, re.Pattern[str]], ...] = (
        ("forward", "forward", patterns.forward()),
        ("backward", "backward", patterns.backward()),
        ("passive", "backward", patterns.passive()),
    )
    for place, kind, pattern in places:
        for match in pattern.finditer(sentence):
            if match["verb"] != "mean" or _MEANING.match(sentence, match.end()):  # or else "the mean temperature"
                relation, weak = patterns.said_by(place)[patterns.plain(match["verb"])]
                yield _cue(match, relation, kind, weak=weak and not match["pre"])
    for match in patterns.trailing().finditer(sentence):
        relation, _ = patterns.said_by("trailing")[patterns.plain(match["verb"])]
        yield replace(_cue(match, relation, "forward"), trailing=True, means=match["by"] is not None)
    for match in patterns.moving().finditer(sentence):
        helped = match["helped"] or match["pre"]
        kept = _KEPT_FROM.match(sentence, match.end()) is not None  # "keeps Y from falling"
        yield replace(_cue(match, "lowers" if kept else "raises", "forward", weak=not helped), moving=True)


def _of_phrases(sentence: str) -> Iterator[CausalCue]:
    for match in patterns.NO_EFFECT.finditer(sentence):
        # "has no effect" denies by itself, and a "not" before it takes that back
        denied = len(_NEGATED.findall(match[0])) % 2 == ("anything" in match[0])
        relation: Relation = next(
            (sign for sign, pattern in patterns.no_effect_of_sign() if pattern.search(match[0])), "affects"
        )
        yield CausalCue(match.start(), match.end(), relation, "forward", denied, _PARTLY.search(match[0]) is not None)
    for match in patterns.APART.finditer(sentence):
        yield CausalCue(match.start(), match.end(), "affects", "both", True, False)
    for match in patterns.UNTOUCHED.finditer(sentence):
        yield CausalCue(match.start(), match.end(), "affects", "backward", True, False)
    for relation, pattern in patterns.nominal():
        for match in pattern.finditer(sentence):
            yield _cue(match, relation, "forward")
    for match in patterns.adjectival().finditer(sentence):
        yield _cue(match, "raises", "backward")


def _cue(match: re.Match[str], relation: Relation, kind: Kind, *, weak: bool = False) -> CausalCue:
    words = _ONLY.sub("", match[0])
    hardly = _HARDLY.search(words) is not None
    return CausalCue(
        match.start(),
        match.end(),
        signed(relation, words),
        kind,
        negative=hardly or len(_NEGATED.findall(words)) % 2 == 1,
        hedged=hardly or _HEDGED.search(words) is not None or _PARTLY.search(words) is not None,
        weak=weak,
        word=str(match.groupdict().get("verb") or ""),
        in_turn=_THEREBY.search(words) is not None,
    )
