"""Tables of facilities: one column (or one row) for each facility of an agreement, and a cell for each of its terms.

A row of such a table says as many things as it has cells, each of another facility. So each cell becomes a unit of its
own, under the facility's name as its heading and with the term's name as its label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ovrag_core.text import Span, strip_span

_FEWEST_COLUMNS = 3
_FEWEST_ROWS = 3
_RULE = re.compile(r"[\s|+=:_-]*")
_NUMBERED = re.compile(r"(?:no|item|#|\d+)[.)]*", re.IGNORECASE)
_CREDIT = re.compile(
    r"\b(?:facility|tranche|loan|advance|overdraft|revolv\w+|credit|line|card|bridge|mortgage|note|term)\b",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"\b(?:amount|sum|limit|principal|commitment|interest|rate|margin|fees?|repay\w*|security|secured|collateral|"
    r"availab\w+|purpose|maturity|term|final|expiry|currency|kind|type|draw\w+|payment|due)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell of a table, on one term of one facility: its span and the names of its column and row."""

    start: int
    end: int
    facility: str
    term: str


def facility_cells(text: str) -> list[Cell]:
    """The cells of all tables of facilities of a plain text, in order; a wrapped cell is one for each of its lines."""
    if "|" not in text and "   " not in text:
        return []
    return [cell for rows in _grids(text) for cell in _cells(text, rows)]


def _grids(text: str) -> Iterator[list[list[Span]]]:
    """Runs of neighbouring lines with the same number of columns; ruled lines between them are passed over."""
    rows: list[list[Span]] = []
    bordered = False
    start = 0
    for line in [*text.split("\n"), ""]:
        body = line.strip()
        if not body or not _RULE.fullmatch(body):
            row = _row(line, start, bordered=bordered) if rows else None
            if row is None or len(rows[0]) != len(row):
                if len(rows) >= _FEWEST_ROWS:
                    yield rows
                rows = []
                bordered = body.startswith("|") and body.endswith("|")
                row = _row(line, start, bordered=bordered)
            if row is not None:
                rows.append(row)
        start += len(line) + 1


def _row(line: str, offset: int, *, bordered: bool) -> list[Span] | None:
    """The cells of a line between its bars, some of them empty, or between its wide gaps."""
    if "|" in line:
        bars = [match.start() for match in re.finditer(r"\|", line)]
        edges = bars if bordered else [-1, *bars, len(line)]
        spans = [(left + 1, right) for left, right in pairwise(edges)]
    else:
        spans = [match.span() for match in re.finditer(r"\S+(?: {1,2}\S+)*", line)]
    if len(spans) < _FEWEST_COLUMNS:
        return None
    stripped = [strip_span(line, *span) for span in spans]
    return [(offset + start, offset + end) for start, end in stripped]


def _has_facilities_by_column(head: Sequence[str], side: Sequence[str]) -> bool | None:
    """Tell if the columns of a table, or else its rows, are facilities; None where neither are."""
    if _name_facilities(head) and _share_of_terms(side) >= 0.4:
        return True
    return False if _name_facilities(side) and _share_of_terms(head) >= 0.6 else None


def _cells(text: str, rows: Sequence[list[Span]]) -> list[Cell]:
    """The cells of a table whose columns, or whose rows, are facilities; none of any other table."""
    words = [[" ".join(text[start:end].split()) for start, end in row] for row in rows]
    label_column = 1 if sum(_NUMBERED.fullmatch(row[0]) is not None for row in words) > len(words) // 2 else 0
    head = words[0][label_column + 1 :]
    side = [row[label_column] for row in words[1:] if row[label_column]]
    by_column = _has_facilities_by_column(head, side)
    if by_column is None:
        return []
    cells = []
    label = ""
    for row, row_words in zip(rows[1:], words[1:], strict=True):
        label = row_words[label_column] or label  # a line that goes on with a wrapped cell has no label
        for column, title in enumerate(head, start=label_column + 1):
            start, end = row[column]
            facility, term = (title, label) if by_column else (label, title)
            if end > start and facility:
                cells.append(Cell(start, end, facility, term))
    return cells


def _name_facilities(titles: Sequence[str]) -> bool:
    """Return True for two or more titles of facilities: a few words each, one of them of credit."""
    named = [t for t in titles if _CREDIT.search(t) and not t[:1].isdigit() and len(t.split()) <= 6]
    return len(titles) >= 2 and len(named) == len(titles)


def _share_of_terms(titles: Sequence[str]) -> float:
    filled = [title for title in titles if title]
    return sum(_TERM.search(title) is not None for title in filled) / max(1, len(filled))
