"""Sides of a statement that name several things: lists, "Y but not Z", "not X but Z"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ovrag_studies.causal.language.clause_pairs import mention
from ovrag_studies.causal.language.directions import has_motion
from ovrag_studies.causal.language.statements import Span

CHANGES = "change|rise|fall|increase|decrease|drop|decline|effect|shift|reduction|growth|loss|gain"
_BUT_NOT = re.compile(r"(?P<first>.+?),?\s+but not\s+(?:by |to |because of )?(?P<second>.+)$", re.IGNORECASE)
_NOT_BUT = re.compile(r"not\s+(?P<first>.+?),?\s+but\s+(?P<second>.+)$", re.IGNORECASE)
_BUT = re.compile(r"(?P<first>.+?),?\s+but\s+(?:rather )?(?:by |to |because of )?(?P<second>.+)$", re.IGNORECASE)
_LISTED = re.compile(r"\s*,\s*(?:and|or|as well as)\s+|\s*,\s*|\s+(?:and|as well as|or)\s+", re.IGNORECASE)
_COMMON = re.compile(
    rf"(?P<head>(?:(?:an?|the)\s+)?(?:\w+\s+)?(?:{CHANGES})s?\s+(?:in|of)"
    r"|higher|lower|more|less|fewer|rising|falling|increased|reduced|greater|decreased)\s+",
    re.IGNORECASE,
)


def members(words: str, names: Sequence[Span]) -> list[str]:
    """The members of a list, which share what stands before the first ("a rise in X and Y"); `names` stay whole."""
    parts, start = [], 0
    for match in _LISTED.finditer(words):
        if not any(first < match.end() and match.start() < last for first, last in names):
            parts.append(mention(words[start : match.start()]))
            start = match.end()
    parts.append(mention(words[start:]))
    return _shared([part for part in parts if part])


def paired(causes: Sequence[str], effects: Sequence[str], negative: bool) -> Iterator[tuple[str, str, bool]]:
    """Each cause with each effect, and whether that is denied: "X, not Z, raises Y", "raises Y, not Z"."""
    for one in causes:
        excepted = len(causes) > 1 and one.lower().startswith("not ")
        for other in effects:
            apart = len(effects) > 1 and other.lower().startswith("not ")
            denied = (negative != excepted) != apart
            yield one[4:] if excepted else one, other[4:] if apart else other, denied


def _shared(parts: list[str]) -> list[str]:
    """Members of a list with the words of direction of the first, but for those that have some of their own."""
    head = _COMMON.match(parts[0]) if parts else None
    if head is None:
        return parts
    return [parts[0], *(part if has_motion(part) else f"{head['head']} {part}" for part in parts[1:])]


def contrasted(words: str, negative: bool) -> list[tuple[str, bool]]:
    """The sides of "Y but not Z", and of "not X but Z", each with whether it is denied."""
    if match := _BUT_NOT.match(words):
        return [(match["first"], negative), (match["second"], not negative)]
    if match := _NOT_BUT.match(words):
        return [(match["first"], not negative), (match["second"], negative)]
    if negative and (match := _BUT.match(words)):
        return [(match["first"], negative), (match["second"], not negative)]
    return [(words, negative)]
