"""Clauses of a sentence: two that a conjunction joins, what stands between two verbs, and lists within a side."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ovrag_core.text import any_of
from ovrag_studies.causal.language.cues import CausalCue
from ovrag_studies.causal.language.directions import has_motion
from ovrag_studies.causal.language.wording import entries

Strength = Literal["clause", "noun", "weak", "therefore"]
CHANGES = "change|rise|fall|increase|decrease|drop|decline|effect|shift|reduction|growth|loss|gain"

_FLAGS = re.IGNORECASE | re.DOTALL
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
    rf"^(?:the\s+)?(?P<first>{_COMPARED})\s+(?P<cause>[^,]+),\s*(?:the\s+)?(?P<second>{_COMPARED})\s+(?P<effect>[^,]+)$",
    _FLAGS,
)
_LINKING_VERB = re.compile(r"\s+(?:is|are|was|were|gets?|becomes?|will be)$|^of\s+", re.IGNORECASE)
_RELATIVE = re.compile(r",?\s*\b(?:which|that)(?:\s+in\s+turn)?\s*$", re.IGNORECASE)
_BREAKS = (
    re.compile(
        r"(?:;\s*(?:and|but|while|whereas)?|\s\((?:and|but|while)?|,\s*(?:and|but|while|whereas|so)"
        r"|\s(?:but|while|whereas))(?=\s|$|(?<=\())",
        re.IGNORECASE,
    ),
    re.compile(r"(?:^|\s)and(?=\s|$)", re.IGNORECASE),
    re.compile(r",(?=\s|$)"),
)
_LISTED = re.compile(
    r",?\s+(?P<but>but)\s+(?:rather\s+)?(?:by |to |because of )?|\s*,\s*(?:and|or|as well as)\s+|\s*,\s*"
    r"|\s+(?:and|as well as|or)\s+",
    re.IGNORECASE,
)
_NOT = re.compile(r"not\s+(?:by |to |because of )?", re.IGNORECASE)
_COMMON = re.compile(
    rf"(?P<head>(?:(?:an?|the)\s+)?(?:\w+\s+)?(?:{CHANGES})s?\s+(?:in|of)"
    r"|higher|lower|more|less|fewer|rising|falling|increased|reduced|greater|decreased)\s+",
    re.IGNORECASE,
)
_STRENGTHS: dict[str, Strength] = {
    **dict.fromkeys(entries("reasons", "nouns"), "noun"),
    **dict.fromkeys(entries("reasons", "clauses"), "clause"),
    **dict.fromkeys(entries("reasons", "weak"), "weak"),
}
_REASON = rf"(?P<word>{any_of(_STRENGTHS)})"
_THEREFORE = (
    rf"(?P<word>{any_of(entries('therefore', 'strong'))}|(?<=,\s){any_of(entries('therefore', 'behind a comma'))})"
)
_FRAMES = (
    re.compile(rf"^{_REASON}\s+(?P<cause>[^,]+?)(?:,\s*(?:then\s+)?|\s+then\s+)(?P<effect>\S.*)$", _FLAGS),
    re.compile(rf"^(?P<cause>.*?\S)(?:,?\s+{_THEREFORE})\s*,?\s+(?P<effect>\S.*)$", _FLAGS),
    re.compile(
        rf"^(?P<effect>.*?\S),?\s+(?:(?:mainly|largely|simply|partly|just|only)\s+)?{_REASON}\s+(?P<cause>\S.*)$",
        _FLAGS,
    ),
)
_BARE = frozenset(("with", "without", "under", "in the absence of", "given"))


class ClauseFrame(NamedTuple):
    """A cause and an effect by the conjunction between them or before the first.

    `effect_at` and `joint_at` are offsets of the effect and of the conjunction in the text.
    """

    cause: str
    effect: str
    strength: Strength
    effect_at: int
    joint_at: int


class ClauseJoint(NamedTuple):
    """Joint between two cues: where the object of the first ends, and where the subject of the second begins.

    trailing: the second is an -ing form; relative: its subject is "which"; break: a conjunction or a comma is between.
    """

    object_end: int
    subject_start: int
    kind: Literal["trailing", "relative", "break", "none"]


def mention(text: str) -> str:
    """Return the words of a mention without what joins it to others."""
    text = _BEFORE.sub("", text.strip(_EDGE))
    text = _AFTER.sub("", text).strip(_EDGE)
    if text.endswith(")") and "(" not in text:
        text = text[:-1].strip(_EDGE)
    return " ".join(text.split())


def joint_of(text: str, first: CausalCue, second: CausalCue) -> ClauseJoint:
    """Return what stands between two cues of a text that follow one another."""
    between = text[first.end : second.start]
    if second.trailing:
        return ClauseJoint(second.start, second.start, "trailing")
    if relative := _RELATIVE.search(between):
        return ClauseJoint(first.end + relative.start(), second.start, "relative")
    for pattern in _BREAKS:
        if gaps := list(pattern.finditer(between)):
            return ClauseJoint(first.end + gaps[-1].start(), first.end + gaps[-1].end(), "break")
    return ClauseJoint(second.start, second.start, "none")


def correlative(text: str) -> tuple[str, str] | None:
    """Return cause and effect of "the more …, the less …"."""
    match = _CORRELATIVE.match(text)
    if match is None:
        return None
    cause, effect = (_LINKING_VERB.sub("", mention(match[side])) for side in ("cause", "effect"))
    return f"{match['first'].lower()} {cause}", f"{match['second'].lower()} {effect}"


def frames(text: str) -> list[ClauseFrame]:
    """Return the ways in which a sentence may be two clauses, the surest first.

    A weak conjunction, which may join anything, does so only where its sides say that something moves.
    """
    clause_frames: list[ClauseFrame] = []
    for pattern in _FRAMES:
        if (match := pattern.match(text)) is None:
            continue
        word = " ".join(match["word"].lower().split())
        strength = _STRENGTHS.get(word, "therefore")
        cause = f"without {match['cause']}" if word in ("without", "in the absence of") else match["cause"]
        effect = match["effect"]
        plain = strength in ("clause", "noun") or has_motion(effect)
        if plain and (strength != "weak" or word in _BARE or has_motion(cause)):
            clause_frames.append(ClauseFrame(cause, effect, strength, match.start("effect"), match.start("word")))
    return clause_frames


def members(words: str, names: Sequence[tuple[int, int]], negative: bool) -> list[tuple[str, bool]]:
    """Return the members of a list, each with True where it is denied if the others are not, or the other way round.

    They share what stands before the first ("a rise in X and Y"); `names` are spans that stay whole. "X but not Z"
    turns the second, "not X but Z" the first, and so does "X but Z" in a sentence that is `negative`.
    """
    cuts = [cut for cut in _LISTED.finditer(words) if not any(a < cut.end() and cut.start() < b for a, b in names)]
    starts, ends = [0, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), len(words)]
    listed: list[tuple[str, bool]] = []
    for start, end, cut in zip(starts, ends, [None, *cuts], strict=True):
        member = mention(words[start:end])
        denied = _NOT.match(member) if cuts else None
        contrasted = negative and cut is not None and cut["but"] is not None
        if member := member[denied.end() :] if denied else member:
            listed.append((member, contrasted != (denied is not None)))
    return _headed(listed)


def _headed(listed: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """The members, those behind the first with what stands before it."""
    head = _COMMON.match(listed[0][0]) if listed else None
    if head is None:
        return listed
    return [listed[0], *((f"{head['head']} {member}", turned) for member, turned in listed[1:])]
