"""Texts cut into passages: sentences, items of lists, and labels together with their values.

A sentence ends with a mark before a blank, but not behind an abbreviation, an initial or the number of an item.
"""

import re
from collections.abc import Iterator

from ovrag_core.text.lines import Span, strip_span
from ovrag_core.text.tokens import any_of, word_list

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

_CLOSING = r"[\"'”’)\]]*"
_END = re.compile(rf"[.!?]+{_CLOSING}(?=\s+[\"'“‘(\[]?[A-Z0-9À-ÖØ-Þ€$£]|\s*$)")
_LOOSE_END = re.compile(rf"(?:[.!?]+|;)(?=[\s\"'”’)\]]|$){_CLOSING}|\n+")
_LETTERS = r"\b[A-Za-z]\.[A-Za-z]"
_ABBREVIATION = re.compile(
    rf"(?:\b{any_of(word_list('abbreviations') | word_list('few_abbreviations'))}|{_LETTERS})\.$"
)
_FEW = re.compile(rf"(?:\b{any_of(word_list('few_abbreviations'))}|{_LETTERS})\.$")
_INITIAL = re.compile(r"\b[A-Z]\.$")
_LONGEST = 14  # characters of an abbreviation
_ENUMERATOR = re.compile(r"\s*\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxlc]{1,6}|[IVXLC]{1,6})[.)]+")
# After "Inc." or "p.m." a new sentence may begin all the same: a function word in capitals shows it.
_MAY_END = re.compile(r"(?:\b(?:Inc|Ltd|Co|Corp|Pty)|N\.A|p\.a|a\.m|p\.m|U\.S|S\.A)\.$")
_BEGINS = re.compile(
    r"[\"'“‘(\[\s]*(?:The|This|It|In|If|We|You|I|No|Each|All|Any|Such|There|Interest|Payments?|Repayment|Security)\b"
)


def ends(text: str, start: int = 0, end: int | None = None, *, loose: bool = False, few: bool = False) -> Iterator[int]:
    """Yield the ends of the sentences of `text[start:end]`, behind their marks; the last one need not have any.

    `loose` is for notes and replies: a semicolon and a line end end a sentence as well, and the next one may begin
    with a small letter; a single letter ("vitamin C.") is no initial there. `few` knows few abbreviations, and none
    behind which a sentence may end.
    """
    stop = len(text) if end is None else end
    for match in (_LOOSE_END if loose else _END).finditer(text, start, stop):
        if match[0][0] == "." and _goes_on(text, start, match, loose, few):
            continue
        yield match.end()
        start = match.end()


def sentences(
    text: str, start: int = 0, end: int | None = None, *, loose: bool = False, few: bool = False
) -> Iterator[Span]:
    """Spans of the sentences of `text[start:end]` without surrounding blanks; options as in `ends`."""
    stop = len(text) if end is None else end
    for boundary in (*ends(text, start, stop, loose=loose, few=few), stop):
        left, right = strip_span(text, start, boundary)
        if left < right:
            yield left, right
        start = boundary


def _goes_on(text: str, start: int, match: re.Match[str], loose: bool, few: bool) -> bool:
    """Return True where a full stop belongs to an abbreviation, an initial or the number of an item."""
    stop = match.start() + 1
    if _ENUMERATOR.fullmatch(text, start, match.end()):
        return True
    head = text[max(start, stop - _LONGEST) : stop]
    abbreviation = (_FEW if few else _ABBREVIATION).search(head) or (not loose and _INITIAL.search(head))
    return bool(abbreviation) and (few or not (_MAY_END.search(head) and _BEGINS.match(text, match.end())))


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
