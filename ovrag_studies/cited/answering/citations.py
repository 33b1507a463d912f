"""Assign each citation of a reply to the sentence it belongs to, wherever the model put it.

Read alike are citations before and after the full stop, several in a row, at the head of sentences and on lines of
their own. A citation belongs to the words before it; only a line that begins with one and does not end with one cites
ahead.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from ovrag_core.text import find_passages

_MARKED = re.compile(r"[\[(【]\s*(?:citations?|cites?|sources?)\s*[:：=]?\s+?([^\[\]()【】]{1,2000})[\])】]", re.I)
_BARE = re.compile(r"[\[(【]([^\[\]()【】]{1,2000})[\])】]")
_BETWEEN_IDS = re.compile(r"\s*(?:[,;|]|\band\b|\s)\s*")
_BETWEEN_MARKS = re.compile(r"[\s,;&]*(?:and\s*)?")
_ITEM = re.compile(r"^\s*(?:[•·▪◦‣*–—-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,5})[.)])\s+")


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence without its citations, and the ids that it cites, each once, in order."""

    text: str
    ids: tuple[str, ...]


class _CitationMark(NamedTuple):
    start: int
    end: int
    ids: tuple[str, ...]


def read_citations(reply: str, known: Collection[str] = ()) -> tuple[Cited, ...]:
    """Return the sentences of a reply with what they cite; a line of citations alone belongs to the line above.

    `[CITATION: id]` is a citation, and `[id]` where the id is known.
    """
    names = frozenset(known)
    cited: list[Cited] = []
    for line in reply.splitlines():
        sentences, alone = _read_line(_ITEM.sub("", line, count=1), names)
        cited += sentences
        if alone and cited:
            cited[-1] = Cited(cited[-1].text, tuple(dict.fromkeys(cited[-1].ids + alone)))
    return tuple(cited)


def _read_line(line: str, known: frozenset[str]) -> tuple[list[Cited], tuple[str, ...]]:
    """Return the sentences of a line, and the ids of a line without any."""
    marks = _marks(line, known)
    plain, placed = _without(line, marks)
    spans = list(find_passages(plain))
    if not spans:
        return [], tuple(name for _, ids in placed for name in ids)
    ahead = bool(marks) and not line[: marks[0].start].strip() and bool(line[marks[-1].end :].strip(" ."))
    cited_ids: list[list[str]] = [[] for _ in spans]
    for position, ids in placed:
        cited_ids[_owner(spans, position, ahead)].extend(ids)
    return [
        Cited(" ".join(plain[start:end].split()), tuple(dict.fromkeys(ids)))
        for (start, end), ids in zip(spans, cited_ids, strict=True)
    ], ()


def _owner(spans: list[tuple[int, int]], position: int, ahead: bool) -> int:
    """Return the row of the sentence before a citation, or after it where citations stand ahead."""
    if ahead:
        return next((row for row, (_, end) in enumerate(spans) if end > position), len(spans) - 1)
    return max((row for row, (start, _) in enumerate(spans) if start < position), default=0)


def _marks(line: str, known: frozenset[str]) -> list[_CitationMark]:
    """Return the marks of a line; those that follow each other with nothing but commas between are one."""
    marks: list[_CitationMark] = []
    for match in _BARE.finditer(line):
        marked = _MARKED.fullmatch(match[0])
        ids = tuple(filter(None, _BETWEEN_IDS.split((marked or match)[1].strip())))
        if not ids or not (marked or known.issuperset(ids)):
            continue
        start = match.start()
        if marks and _BETWEEN_MARKS.fullmatch(line, marks[-1].end, start):
            start, _, earlier_ids = marks.pop()
            ids = earlier_ids + ids
        marks.append(_CitationMark(start, match.end(), ids))
    return marks


def _without(line: str, marks: list[_CitationMark]) -> tuple[str, list[tuple[int, tuple[str, ...]]]]:
    """Return the line without its marks, and where in it each stood."""
    plain, offset, placed = "", 0, []
    for mark in marks:
        plain += line[offset : mark.start]
        offset = mark.end
        tail = line[offset:].lstrip()
        if tail.startswith((".", ",", ";", ":", "!", "?")):
            plain = plain.rstrip()
            offset = len(line) - len(tail)
            if plain.endswith((".", "!", "?", ":")) and tail[0] == ".":
                offset += 1  # a full stop after the citation of a sentence that has one
        placed.append((len(plain.rstrip()), mark.ids))
    return plain + line[offset:], placed
