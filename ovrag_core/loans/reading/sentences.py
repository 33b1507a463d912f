# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Sentences, rows and headings of a contract, deterministically and with exact offsets.

Text is first made plain (ligatures, invisible characters, hyphenated line ends) while a map back to the original
offsets is kept, then cut into units by its lines, and paragraphs into sentences.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ovrag_core.loans.reading.grids import Cell, facility_cells
from ovrag_core.text import Span, ends, strip_span, word_list

UnitKind = Literal["sentence", "row", "heading", "signature"]

PASSAGE = 400  # characters of a unit that is quoted whole

# One character for one character, so that the map stays small.
SAME_LENGTH = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'", "`": "'", "\u00b4": "'",
        "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u00ab": '"', "\u00bb": '"', "\u2033": '"',
        "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-", "\u2212": "-",
        "\u00a0": " ", "\u2002": " ", "\u2003": " ", "\u2007": " ", "\u2009": " ", "\u200a": " ", "\u202f": " ",
        "\u3000": " ", "\t": " ", "\u2022": "*", "\u25cf": "*", "\u25aa": "*", "\u00b7": "*", "\r": " ", "\f": "\n",
        "\v": "\n", "\u2028": "\n", "\u2029": "\n", "\x85": "\n", "\uff1a": ":",
    }
)  # fmt: skip
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u180e\u061c"
_CHANGES = re.compile(
    rf"(?P<hidden>[{_INVISIBLE}]+)|(?P<ligature>[\ufb00-\ufb06\u2026])|"
    r"(?<=[a-z])(?P<hyphen>-[ \t]*\r?\n[ \t]*)(?=[a-z])"
)

_NUMBER = re.compile(
    r"(?:(?:section|article|clause|part|item|schedule|paragraph|\u00a7)\s+)?"
    r"(?:[A-Z]-?)?(?:\d{1,3}(?:\.\d{1,3}){0,3}[.)]?|[IVXLC]{1,6}[.)]|[A-Z]\.(?=\s\s))(?:\s*[-:]\s+|\s+)|\((?:[a-z]{1,4}|\d{1,2}|"
    r"[A-Z])\)\s+|[*-]\s+|#+\s*",
    re.IGNORECASE,
)
_LABEL = r"[A-Z0-9(\"'\[*_][^:;|]{0,70}?"
_ROW = re.compile(rf"(?P<label>{_LABEL})[*_]*\s*:[*_]*(?:\s+(?P<value>\S.*))?$")
_TABLE_ROW = re.compile(r"\|?\s*(?P<label>[A-Z][^|:]{0,60}?)\s*(?:\||\s{2,}|\.{4,})\s*(?P<value>[^|\s].*)$")
_TWO_ROWS = re.compile(r"(?<=\S) {3,}(?=[A-Z][A-Za-z /-]{1,30}:(?: |$))")
_SIGNATURE = re.compile(
    r"(?:_{4,}|\.{8,}|^\s*/s/|\b(?:signed|signature|sign here|witness|in witness whereof|"
    r"executed as a deed)\b.{0,40}(?:_{3}|:|\.{4})|^\s*(?:by|name|title|its|date)\s*:\s*(?:_|$))",
    re.IGNORECASE,
)
_COLUMNS = re.compile(r"\S {2,}\S")
_RULE = re.compile(r"[-=*~+|.]{3,}")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|shall|will|may|must|agrees?|follows?|means|hereby|has|have|provided|including|pays?|"
    r"represents|warrants|i|we|you)\b",
    re.IGNORECASE,
)
_RUN_IN = re.compile(r"(?P<title>[A-Z][\w,/&'-]*(?: [\w,/&'-]+){0,7}?)(?P<stop>\.|:|\s-)(?=\s+\S)")
_SMALL_WORDS = word_list("title")

# An option that is not ticked states nothing.
_UNTICKED = re.compile(
    r"(?:\[ {0,3}\]|\( {1,3}\)|"
    r"[\u2610\u25a1\u25cb])[^\[\(\n|\u2610-\u2612\u25a1\u25a0\u25cb\u25cf]*(?:\([^)\n]*\)[^\[\(\n|\u2610-\u2612]*)?"
)
_TICK = re.compile(r"\[ ?[xX\u2713\u2714] ?\]|\( ?[xX\u2713\u2714] ?\)|[\u2611\u2612\u25a0\u25cf]")


# Words that an amendment quotes in order to take them out.
_STRUCK = re.compile(
    r"(?:(?:striking|strike|struck|deleting|delete|omitting|removing|replacing|substituting for)(?: out)?(?: the| these)?"
    r"(?: words| sentence| clause| text| following words)*\s*:?\s*)\"[^\"]{3,900}\"|"
    r"\"[^\"]{3,900}\"\)?(?=[,\s]*\s(?:(?:is|are|shall be|be)\s+(?:hereby\s+)?(?:deleted|struck|removed|omitted|replaced|cancelled)))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a row, a heading or a signature line: its span in the plain text and what it stands under.

    `label` is the left side of a row (or a run-in heading with a value such as "Security. None."), else empty;
    `value_start` is where the right side begins (equal to `start` without a label).
    """

    start: int
    end: int
    kind: UnitKind
    heading: str = ""
    label: str = ""
    value_start: int = 0


@dataclass(frozen=True, slots=True)
class Plain:
    """A text made plain, with the map back: `original(start, end)` is the span in the text it was made from."""

    text: str
    size: int
    _plain: tuple[int, ...]
    _source: tuple[int, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Span in the original text of the plain span `[start, end)`."""
        return self._back(start), min(self._back(end - 1) + 1 if end > start else self._back(end), self.size)

    def _back(self, offset: int) -> int:
        piece = bisect_right(self._plain, offset) - 1
        return self._source[piece] + offset - self._plain[piece]

    def offset(self, source: int) -> int:
        """Offset in the plain text of the character at `source` of the original (or as if it had been kept)."""
        piece = bisect_right(self._source, source) - 1
        following = self._plain[piece + 1] if piece + 1 < len(self._plain) else len(self.text)
        return min(self._plain[piece] + source - self._source[piece], following)


def plain_text(text: str) -> Plain:
    """`text` with typographic, invisible and broken characters made plain; the map is exact."""
    pieces: list[str] = []
    plain: list[int] = [0]
    source: list[int] = [0]
    length = copied = 0
    for match in _CHANGES.finditer(text):
        before = text[copied : match.start()]
        pieces.append(before)
        length += len(before)
        for letter in unicodedata.normalize("NFKC", match["ligature"] or ""):
            pieces.append(letter)
            plain.append(length)
            source.append(match.start())
            length += 1
        copied = match.end()
        plain.append(length)
        source.append(copied)
    pieces.append(text[copied:])
    return Plain("".join(pieces).translate(SAME_LENGTH), len(text), tuple(plain), tuple(source))


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    indent: int
    text: str


def ticked_only(text: str) -> str:
    """The plain text with options that are not ticked, and the ticks of the others, blanked; every offset stays."""
    return _TICK.sub(_blank, _UNTICKED.sub(_blank, text))


def as_read(text: str) -> str:
    """A text as it is judged, offset by offset: signs made plain, what is not chosen or is struck out blanked."""
    return _STRUCK.sub(_blank, ticked_only(text.translate(SAME_LENGTH)))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def units(text: str) -> list[Unit]:
    """Units of a plain text in order of appearance; they never overlap, and blank lines belong to none."""
    return list(_Segmenter(text).run())


def pieces(text: str, unit: Unit) -> list[Span]:
    """The spans in which a unit of a plain text is judged and quoted: all of it, or its parts between semicolons."""
    if unit.end - unit.start <= PASSAGE:
        return [(unit.start, unit.end)]
    semicolons = re.compile(";").finditer(text, unit.start, unit.end)
    cuts = [unit.start, *(match.end() for match in semicolons), unit.end]
    return [span for span in _spans_between(text, cuts) if span[1] - span[0] > 1]


class _Segmenter:
    """State of one pass over the lines: the heading in force and the paragraph being gathered."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = list(_lines(text))
        self.cells = facility_cells(text)
        self.heading = ""

    def run(self) -> Iterator[Unit]:
        position = 0
        while position < len(self.lines):
            line, following = self.lines[position], position + 1
            if not line.text:
                pass
            elif cells := self._cells_of(line):
                yield from (Unit(c.start, c.end, "row", c.facility, c.term, c.start) for c in cells)
            elif _SIGNATURE.search(line.text):
                yield Unit(line.start, line.end, "signature", self.heading, "", line.start)
            elif row := self._row(position):
                row_units, following = row
                yield from row_units
            elif self._is_heading(position):
                self.heading = _strip_number(line.text).strip(" .:*#_-|") or line.text
                yield Unit(line.start, line.end, "heading", self.heading, "", line.start)
            else:
                following = self._paragraph_end(position)
                yield from self._sentences(line.start, self.lines[following - 1].end)
            position = following

    def _cells_of(self, line: _Line) -> list[Cell]:
        start = bisect_left(self.cells, line.start, key=lambda cell: cell.start)
        end = bisect_left(self.cells, line.end, key=lambda cell: cell.start)
        return self.cells[start:end]

    def _row(self, position: int) -> tuple[list[Unit], int] | None:
        line = self.lines[position]
        gaps = [line.start + gap.end() for gap in _TWO_ROWS.finditer(line.text)]
        if gaps:
            return list(self._rows_beside([line.start, *gaps, line.end])), position + 1
        row = _row_in(line.text)
        value_position = position if row is None or row["value"] else self._next_value(position)
        if row is None or value_position is None:
            return None
        value = line.end - len(row.string) + row.start("value") if row["value"] else self.lines[value_position].start
        # Wrapped lines belong to the value, a new row does not.
        first, row_end = self.lines[value_position], value_position + 1
        while row_end < len(self.lines) and _goes_on(first, self.lines[row_end - 1], self.lines[row_end]):
            row_end += 1
        return self._split_value(line.start, value, self.lines[row_end - 1].end, row["label"]), row_end

    def _rows_beside(self, cuts: list[int]) -> Iterator[Unit]:
        for start, end in _spans_between(self.text, cuts):
            row = _ROW.match(self.text[start:end])
            value = start + row.start("value") if row and row["value"] else start
            yield Unit(start, end, "row", self.heading, row["label"].strip() if row else "", value)

    def _next_value(self, position: int) -> int | None:
        """The line that holds the value of a bare label, directly below it or after one blank line."""
        below = enumerate(self.lines[position + 1 : position + 3], position + 1)
        following, candidate = next(((number, line.text) for number, line in below if line.text), (position, ""))
        row = _row_in(candidate)
        is_label = row is not None and not row["value"]
        if not candidate or _SIGNATURE.search(candidate) or is_label:
            return None
        if following > position + 1 and (len(candidate) > 90 or _NUMBER.match(candidate)):
            return None
        return following

    def _split_value(self, start: int, value: int, end: int, label: str) -> list[Unit]:
        label = re.sub(r"\s+", " ", _strip_number(label)).strip(" *_|#(")
        cuts = [*(stop for stop in ends(self.text, value, end) if stop < end), end]
        row = Unit(start, cuts[0], "row", self.heading, label, value)
        return [row, *(Unit(a, b, "sentence", label, "", a) for a, b in _spans_between(self.text, cuts))]

    def _is_heading(self, position: int) -> bool:
        line = self.lines[position]
        if not _looks_like_heading(line.text) and not self._is_question_heading(position):
            return False
        before = self.lines[position - 1].text if position else ""
        return not before or before[-1] in ".:;!?)_-=" or _looks_like_heading(before)

    def _is_question_heading(self, position: int) -> bool:
        """A short line without a full stop whose text begins below it: numbered, or set out to the left."""
        line = self.lines[position]
        body = _strip_number(line.text)
        alone = position == 0 or not self.lines[position - 1].text
        if not (alone and body[0].isupper() and _may_ask(line.text) and position + 1 < len(self.lines)):
            return False
        below = self.lines[position + 1]
        further = self.lines[min(position + 2, len(self.lines) - 1)]
        if not below.text:
            return further.indent > line.indent + 1 and further.text[:1].isupper()
        wider = len(below.text) > len(line.text) + 8 or not further.text
        return below.text[0].isupper() and wider and (body != line.text or below.indent > line.indent)

    def _paragraph_end(self, position: int) -> int:
        """First line after the paragraph: a blank line, a new number, a row or a heading ends it.

        Double-spaced and page-broken text is joined: a paragraph that stops in mid-sentence runs on where the next
        line begins in lower case.
        """
        following = position + 1
        while following < len(self.lines):
            line = self.lines[following]
            before = self.lines[following - 1].text
            if line.text:
                ended = before.endswith((".", ";", ":", "!", "?", ".)", '."', "and", "or"))
                is_row = _row_in(line.text) is not None
                if _SIGNATURE.search(line.text) or (is_row and (len(before) < 60 or _COLUMNS.search(before))):
                    return following
                if ended and (is_row or _NUMBER.match(line.text) or self._is_heading(following)):
                    return following
            else:
                after = self.lines[following + 1].text if following + 1 < len(self.lines) else ""
                if not after[:1].islower() or before[-1:] in ".;:!?":
                    return following
            following += 1
        return following

    def _sentences(self, start: int, end: int) -> Iterator[Unit]:
        text = self.text
        number = _NUMBER.match(text, start, end)
        body = number.end() if number and number.end() < end else start
        heading = self.heading
        title = _RUN_IN.match(text, body, end)
        if title is not None and _is_title(title["title"]):
            heading = title["title"]
            if number is None or not re.match(r"\(", text[start:body]):
                self.heading = heading
            body = title.end()
            answer_end = next(ends(text, body, end), end)
            answer = text[body:answer_end]
            if len(answer.split()) <= 4:
                yield Unit(start, answer_end, "row", self.heading, heading, answer_end - len(answer.lstrip()))
                body = answer_end
            else:
                yield Unit(start, title.end("title"), "heading", heading, "", start)
        for a, b in _spans_between(text, [body, *ends(text, body, end), end]):
            yield Unit(a, b, "sentence", heading, "", a)


def _lines(text: str) -> Iterator[_Line]:
    offset = 0
    for raw in text.split("\n"):
        stripped = raw.strip(" ")
        if _RULE.fullmatch(stripped):
            stripped = ""
        indent = len(raw) - len(raw.lstrip(" "))
        start = offset + indent if stripped else offset
        yield _Line(start, start + len(stripped), indent, stripped)
        offset += len(raw) + 1


def _strip_number(text: str) -> str:
    match = _NUMBER.match(text)
    return text[match.end() :] if match and match.end() < len(text) else text


def _may_ask(text: str) -> bool:
    """Return True for a short line that does not stop in the middle of a sentence."""
    stops = (".", ",", ";", ":", " the", " of", " and", " to", " a")
    return len(text) <= 72 and len(text.split()) <= 13 and text[0].isalnum() and not text.endswith(stops)


def _goes_on(first: _Line, previous: _Line, line: _Line) -> bool:
    """Return True for a wrapped line of the value that begins in the line `first`."""
    if not line.text or _SIGNATURE.search(line.text) or _NUMBER.match(line.text):
        return False
    indented = line.indent > first.indent + 3
    row = _row_in(line.text)
    if row is not None and (row.re is _ROW or not indented):
        return False
    is_long = len(previous.text) >= 72 and not previous.text.endswith((".", ";", ":"))
    return (
        indented
        or line.text[0].islower()
        or re.match(r"\|\s*\|", line.text) is not None
        or (is_long and not _looks_like_heading(line.text))
    )


def _row_in(text: str) -> re.Match[str] | None:
    """The label and the value of a line that is a row behind its number, set apart by a colon or by space."""
    body = _strip_number(text)
    row, column = _ROW.match(body), _TABLE_ROW.match(body)
    if row is not None and _is_label(row["label"]):
        return row
    return column if column is not None and _is_label(column["label"], is_column=True) else None


def _is_label(label: str, *, is_column: bool = False) -> bool:
    """Return True for a few words that make no sentence; of a cell that is set out by space, more is asked."""
    outside = re.sub(r"\([^)]*\)", "", label)
    words = outside.split()
    if not 1 <= len(words) <= 8 or re.search(r"[.!?]\s", outside) or (is_column and label.endswith((".", ",", ";"))):
        return False
    return not ((is_column or len(words) > 1) and _VERB.search(outside))


def _is_title(text: str) -> bool:
    words = [word for word in text.split() if word.lower() not in _SMALL_WORDS]
    capital = sum(word[0].isupper() or word[0].isdigit() for word in words)
    return bool(words) and not _VERB.search(text) and (len(words) <= 4 or 2 * capital >= len(words) * 1.5)


def _looks_like_heading(text: str) -> bool:
    body = _strip_number(text).strip("*#_ ")
    words = [word for word in re.findall(r"[^\W\d_][\w'-]*", body[:91]) if word.lower() not in _SMALL_WORDS]
    if not words or len(body) > 90 or body.endswith((",", ";", ".", "?")):
        return False
    if text.startswith("#") or (body.upper() == body and len(words) <= 14):
        return True
    if len(words) <= 10 and all(word[0].isupper() for word in words):
        return True
    return len(words) <= 5 and words[0][0].isupper() and not _VERB.search(body) and ":" not in body


def _spans_between(text: str, cuts: list[int]) -> list[Span]:
    return [strip_span(text, a, b) for a, b in pairwise(cuts) if text[a:b].strip()]
