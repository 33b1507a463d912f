"""Ends of sentences: a mark before a blank, but not behind an abbreviation, an initial or the number of an item."""

import re
from collections.abc import Iterator

from ovrag_core.text.lines import Span, strip_span
from ovrag_core.text.tokens import any_of, word_list

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
