"""Which sentence of a reply each citation belongs to, wherever the model put it.

Read alike are citations before and after the full stop, several in a row, at the head of sentences, and in lists. A
citation belongs to the words before it; only a line that begins with one and does not end with one cites ahead.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ovrag_core.text.passages import find_passages

_MARKED = re.compile(r"[\[(【]\s*(?:citations?|cites?|sources?)\s*[:：=]?\s+?([^\[\]()【】]{1,2000})[\])】]", re.I)
_BARE = re.compile(r"[\[(【]([^\[\]()【】]{1,2000})[\])】]")
_BETWEEN_IDS = re.compile(r"\s*(?:[,;|]|\band\b|\s)\s*")
_BETWEEN_MARKS = re.compile(r"[\s,;&]*(?:and\s*)?")
_ITEM = re.compile(r"\s*(?:[•·▪◦‣*–—-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,5})[.)])\s+")
_ENDS = ".!?:"


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence without its citations, and the ids that it cites, each once, in order."""

    text: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _CitationMark:
    start: int
    end: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _ReplyLine:
    sentences: tuple[Cited, ...]
    item: bool
    trailing: tuple[str, ...] = ()  # ids of a line that holds nothing else


def read_citations(reply: str, known: Collection[str] = ()) -> tuple[Cited, ...]:
    """The sentences of a reply with what they cite. `[CITATION: id]` is a citation, and `[id]` where the id is known.

    An item of a list that cites nothing itself cites what the line that leads to the list cites, or else what stands
    on a line of its own after it; a line that leads to a list and cites nothing cites what its items cite.
    """
    names = frozenset(known)
    lines = [_read_line(line, names) for line in reply.splitlines() if line.strip()]
    return tuple(sentence for line in _shared(lines) for sentence in line.sentences)


def _read_line(line: str, known: frozenset[str]) -> _ReplyLine:
    item = bool(_ITEM.match(line))
    body = _ITEM.sub("", line, count=1) if item else line
    marks = list(_runs(body, known))
    plain, placed = _without(body, marks)
    spans = list(find_passages(plain))
    if not spans:
        return _ReplyLine((), item, tuple(dict.fromkeys(name for _, ids in placed for name in ids)))
    ahead = bool(marks) and not body[: marks[0].start].strip() and bool(body[marks[-1].end :].strip(" ."))
    found: list[list[str]] = [[] for _ in spans]
    for position, ids in placed:
        found[_owner(spans, position, ahead)].extend(ids)
    return _ReplyLine(
        tuple(
            Cited(" ".join(plain[start:end].split()), tuple(dict.fromkeys(ids)))
            for (start, end), ids in zip(spans, found, strict=True)
        ),
        item,
    )


def _owner(spans: list[tuple[int, int]], position: int, ahead: bool) -> int:
    """The sentence before a citation, or after it where citations stand ahead."""
    if ahead:
        return next((row for row, (_, end) in enumerate(spans) if end > position), len(spans) - 1)
    return max((row for row, (start, _) in enumerate(spans) if start < position), default=0)


def _marks(line: str, known: frozenset[str]) -> Iterator[_CitationMark]:
    taken = 0
    for match in _BARE.finditer(line):
        marked = _MARKED.fullmatch(match[0])
        ids = tuple(filter(None, _BETWEEN_IDS.split((marked or match)[1].strip())))
        if match.start() >= taken and ids and (marked or all(each in known for each in ids)):
            yield _CitationMark(match.start(), match.end(), ids)
            taken = match.end()


def _runs(line: str, known: frozenset[str]) -> Iterator[_CitationMark]:
    """Marks; those that follow each other with nothing but commas between are one."""
    begun: _CitationMark | None = None
    for mark in _marks(line, known):
        if begun and _BETWEEN_MARKS.fullmatch(line, begun.end, mark.start):
            begun = _CitationMark(begun.start, mark.end, begun.ids + mark.ids)
            continue
        if begun:
            yield begun
        begun = mark
    if begun:
        yield begun


def _without(line: str, marks: list[_CitationMark]) -> tuple[str, list[tuple[int, tuple[str, ...]]]]:
    """The line without its marks, and where in it each stood."""
    plain, last, placed = "", 0, []
    for mark in marks:
        plain += line[last : mark.start]
        last = mark.end
        rest = line[last:].lstrip()
        if rest[:1] in tuple(".,;:!?") and rest:
            plain = plain.rstrip()
            last = len(line) - len(rest)
            if plain[-1:] in tuple(_ENDS) and plain and rest[0] == ".":
                last += 1  # a full stop after the citation of a sentence that has one
        placed.append((len(plain.rstrip()), mark.ids))
    return plain + line[last:], placed


def _shared(lines: list[_ReplyLine]) -> list[_ReplyLine]:
    """Lines with the citations that a list shares with the line before or after it."""
    blocks: list[list[_ReplyLine]] = []  # a line and the items that follow it
    for line in lines:
        if line.item and blocks:
            blocks[-1].append(line)
        else:
            blocks.append([line])
    following = [block[0].trailing for block in blocks[1:]]
    joined = (_joined(block, after) for block, after in zip(blocks, [*following, ()], strict=False))
    return [line for block in joined for line in block if line.sentences]


def _joined(block: list[_ReplyLine], after: tuple[str, ...]) -> list[_ReplyLine]:
    """A block with its own citations shared, and those that stand on the line below it."""
    head, *items = block if not block[0].item else (_ReplyLine((), False), *block)
    if not items:
        return [_with_last(head, after)]
    last = head.sentences[-1] if head.sentences else None
    if last is None or not last.text.endswith(":"):
        return [head, *(_filled(item, after) for item in items)]
    items = [_filled(item, last.ids or after) for item in items]
    named = tuple(dict.fromkeys(name for item in items for each in item.sentences for name in each.ids))
    return [head if last.ids else _with_last(head, named), *items]


def _with_last(line: _ReplyLine, ids: tuple[str, ...]) -> _ReplyLine:
    """The line, its last sentence citing `ids` as well."""
    if not line.sentences or not ids:
        return line
    *others, last = line.sentences
    return _ReplyLine((*others, Cited(last.text, tuple(dict.fromkeys(last.ids + ids)))), line.item, line.trailing)


def _filled(line: _ReplyLine, ids: tuple[str, ...]) -> _ReplyLine:
    """The line, its sentences citing `ids` where none of them cites anything."""
    if any(each.ids for each in line.sentences):
        return line
    return _ReplyLine(tuple(Cited(each.text, ids) for each in line.sentences), line.item, line.trailing)
