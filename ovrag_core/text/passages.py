"""Texts cut into passages: sentences, items of lists, and labels together with their values."""

import re
from collections.abc import Iterator

from ovrag_core.text.lines import Span, strip_span
from ovrag_core.text.sentence_split import sentences

_LINE = re.compile(r"[^\n\r]+")
_LABEL_ONLY = re.compile(r"[^\W\d_][^.:;]{0,60}:")
_LABEL_VALUE = re.compile(r"[^\W\d_][^.:;]{0,60}:\s+\S")
_MAX_LABEL_WORDS = 8
_CELLS = re.compile(r"\S {2,}\S")
_ITEM = re.compile(r"(?:[•·▪◦‣*–—-]|\(?(?:\d{1,2}(?:\.\d{1,2})*|[a-z]|[ivx]{1,5})[.)])\s")
_BRACKETED = re.compile(r"[(\[][^()\[\]]{1,60}[)\]]")
_BLANK = re.compile(r"[\s_.…*=-]*")
_CONTINUED = (",", "-", "–", "—", "&", "/")
_ITEM_NEXT = re.compile(r";\s+(?=(?:and |or )?\(?(?:[a-z]|[ivx]{1,5}|\d{1,2})[.)]\s)")
_SEMICOLON = re.compile(r";\s+")
_LONG = 300  # characters: a longer sentence is cut at its semicolons


def find_passages(text: str, start: int = 0) -> Iterator[Span]:
    """Spans of the passages of `text`, in order and without surrounding space; `start` is added to both ends.

    Lines of one paragraph are read together, so that a sentence may cross a line end. A line that is a label and its
    value, an item, or a row of cells is a passage of its own; a label alone takes the line after it, a bracketed line
    (the role below a name) the line before it.
    """
    for block in _blocks(text):
        block_start, block_end = block
        is_labelled = _is_label_only(text[block_start:block_end].partition("\n")[0].strip())
        spans = iter([block]) if is_labelled else _sentences(text, block_start, block_end)
        for left, right in spans:
            if not _BLANK.fullmatch(text, left, right):
                yield start + left, start + right


def _blocks(text: str) -> Iterator[Span]:
    """Lines that belong together."""
    begun: Span | None = None
    for match in _LINE.finditer(text):
        span = strip_span(text, *match.span())
        if _BLANK.fullmatch(match.group().strip()):
            continue
        if begun is None:
            begun = span
        elif _belongs(text, begun, span):
            begun = (begun[0], span[1])
        else:
            yield begun
            begun = span
    if begun is not None:
        yield begun


def _belongs(text: str, block: Span, line: Span) -> bool:
    above, below = text[block[0] : block[1]], text[line[0] : line[1]]
    last_line = above.rpartition("\n")[2].strip()
    breaks = text.count("\n", block[1], line[0])
    if _is_label_only(last_line):
        return breaks <= 2 and not _is_label_only(below) and not _is_label_value(below)
    if _BRACKETED.fullmatch(below):
        return breaks <= 2 and "\n" not in above and len(above) <= 100
    if breaks > 1 or _is_label_only(below) or _is_label_value(below) or _ITEM.match(below):
        return False
    if _is_label_only(above.partition("\n")[0].strip()):
        return False  # the label has its value
    if last_line.endswith(_CONTINUED) or below[0].islower():
        return True
    return len(last_line) > 60 and not _CELLS.search(last_line)


def _is_label_only(line: str) -> bool:
    return bool(_LABEL_ONLY.fullmatch(line)) and len(line.split()) <= _MAX_LABEL_WORDS


def _is_label_value(line: str) -> bool:
    return bool(_LABEL_VALUE.match(line)) and len(line.partition(":")[0].split()) <= _MAX_LABEL_WORDS


def _sentences(text: str, first: int, last: int) -> Iterator[Span]:
    for start, end in sentences(text, first, last, few=True):  # as in the runs that are recorded
        begin = start
        for match in _ITEM_NEXT.finditer(text, start, end):
            yield from _clauses(text, begin, match.start() + 1)
            begin = match.end()
        yield from _clauses(text, begin, end)


def _clauses(text: str, start: int, end: int) -> Iterator[Span]:
    if end - start > _LONG:
        for match in _SEMICOLON.finditer(text, start, end):
            yield start, match.start() + 1
            start = match.end()
    if start < end:
        yield start, end
