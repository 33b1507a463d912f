"""Splitting documents into chunks that know their span.

`recursive` follows LangChain's recursive character splitter: cut at the coarsest separator that a window holds
(paragraph, line, sentence, word), and begin the next chunk a little before, so that no statement is lost at a cut.
"""

import re
from collections.abc import Iterable, Iterator

from ovrag_core.base import Chunk, Document
from ovrag_core.text import Span, strip_span

_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")
_WORD = re.compile(r"\s+")
_SEPARATORS = (_BLANK_LINES, re.compile(r"\n"), re.compile(r"(?<=[.!?;:])[\"'”’)\]]*\s+"), _WORD)
_OVERLAP_SEPARATORS = (re.compile(r"(?<=[.!?;])[\"'”’)\]]*\s+|\n\s*"), _WORD)
_HEADING_LENGTH = 80


def split(document: Document, method: str, size: int, overlap: int) -> list[Chunk]:
    """Chunks of at most `size` characters in document order; neighbours share at most `overlap` characters.

    `method` is `recursive`, `fixed` or `paragraph`. Every character that is not white space is in at least one chunk,
    and no chunk is blank or begins or ends with white space. Ids are `<document id>#<number>`. Raises ValueError for
    an unknown method or sizes that cannot be met.
    """
    if method not in SPLITTERS:
        raise ValueError(f"unknown way of splitting {method!r}; known are {', '.join(sorted(SPLITTERS))}")
    if size < 1 or not 0 <= overlap < size:
        raise ValueError(f"overlap ({overlap}) must be at least 0 and smaller than the size ({size})")
    spans = [strip_span(document.text, start, end) for start, end in SPLITTERS[method](document.text, size, overlap)]
    return [
        Chunk(f"{document.id}#{number:04d}", document.id, start, end, document.text[start:end])
        for number, (start, end) in enumerate(_advancing(spans))
    ]


def _advancing(spans: list[Span]) -> Iterator[Span]:
    """Spans that hold something which the one before did not."""
    reached = 0
    for start, end in spans:
        if start < end and end > reached:
            yield start, end
            reached = end


def _fixed(text: str, size: int, overlap: int) -> Iterator[Span]:
    """Windows of exactly `size` characters, `overlap` of them shared with the one before."""
    for start in range(0, len(text), size - overlap):
        yield start, min(start + size, len(text))
        if start + size >= len(text):
            return


def _paragraph(text: str, size: int, overlap: int) -> Iterator[Span]:
    """Paragraphs, parted by blank lines; a heading stays with its paragraph, a long paragraph is split recursively."""
    for start, end in _join_headings(_parts(text), size):
        if end - start <= size:
            yield start, end
        else:
            yield from _recursive(text, size, overlap, start, end)


def _recursive(text: str, size: int, overlap: int, start: int = 0, stop: int | None = None) -> Iterator[Span]:
    """Windows of up to `size` characters, cut at the coarsest separator in their second half."""
    start, stop = strip_span(text, start, len(text) if stop is None else stop)
    end = start
    while stop - start > size:
        end = _cut(text, start, size, end)
        yield start, end
        start = _next_start(text, start, end, overlap)
        while start < stop and text[start].isspace():
            start += 1
    if start < stop:
        yield start, stop


def _cut(text: str, start: int, size: int, last: int) -> int:
    """Find the end of the chunk from `start`: the coarsest cut in its second half that lies beyond `last`."""
    limit = start + size
    half = min(max(start + size // 2, last) + 1, limit)
    for separator in _SEPARATORS:
        # A separator may begin at the limit itself: the chunk ends before it.
        cuts = [match.start() for match in separator.finditer(text, half, limit + 2) if match.start() <= limit]
        if cuts:
            return cuts[-1]
    return limit


def _next_start(text: str, start: int, end: int, overlap: int) -> int:
    """Find the next chunk's start: at most `overlap` before `end`, at the start of a sentence, a line, or a word."""
    earliest = max(start + 1, end - overlap)
    if overlap == 0 or earliest >= end:
        return end
    for separator in _OVERLAP_SEPARATORS:
        for match in separator.finditer(text, max(0, earliest - 1), end):
            if earliest <= match.end() < end:
                return match.end()
    return end


def _parts(text: str) -> Iterator[Span]:
    start = 0
    for match in _BLANK_LINES.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _join_headings(parts: Iterable[Span], size: int) -> Iterator[Span]:
    headings: Span | None = None  # that wait for their paragraph
    for start, end in parts:
        if headings and end - headings[0] > size:
            yield headings[0], start
            headings = None
        begin = headings[0] if headings else start
        headings = (begin, end) if end - begin < _HEADING_LENGTH else None
        if not headings:
            yield begin, end
    if headings:
        yield headings


SPLITTERS = {"recursive": _recursive, "fixed": _fixed, "paragraph": _paragraph}
