"""Reading order of a page: lines from pieces, columns from the gutters between them.

Two texts that stand side by side may be a label and its value, which belong on one line, or two columns, which are
read one after the other. A gutter that runs through several lines is found first; then the columns are told from a
table by what stands in them: prose that fills its column on both sides, or the same labels on both sides (the blocks
of two signatories). Nothing here depends on what a document is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ovrag_core.documents.glyphs import Piece

_SAME_LINE = 0.4  # of the size: how far apart two baselines of one line may be
_RAISED = 0.6  # of the size: how far a mark in a smaller size may be raised or lowered
_SMALL = 0.8  # of the page's usual size: smaller text may be such a mark
_WORD_GAP = 0.15  # of the size: a narrower gap is kerning
_CELL_GAP = 1.0  # of the size: a wider gap separates cells
_PARAGRAPH_GAP = 1.75  # of the size: a wider step from baseline to baseline separates paragraphs
_FILLED = 0.75  # of a column's width: a line of prose
_PROSE_LINES = 4
_PROSE_WORDS = 4
_MAX_DEPTH = 6
_RIGHT_PART = 0.25  # of the width, from the left: a second column begins beyond

_WIDE_SPACE = re.compile(r" {3,}")
_RULE = re.compile(r"_{4,}|\.{8,}|-{8,}|…{3,}")
_LABEL = re.compile(r"\s*([^\W\d_][^:_]{0,30}?)\s*:")
_ONLY_LABEL = re.compile(r"\s*\(?[^\W\d_][^:]{0,60}:\s*$")


@dataclass(frozen=True, slots=True)
class Cell:
    """Text without a wide gap inside, in points."""

    x0: float
    x1: float
    y: float
    size: float
    text: str


Line = list[Cell]
Gap = tuple[float, float]


def compose(pieces: list[Piece]) -> str:
    """The text of pieces that all stand the same way up, line by line in reading order."""
    lines = [_cells(line) for line in _lines(list(_split_wide(pieces)))]
    return _compose([line for line in lines if line], 0)


def _split_wide(pieces: list[Piece]) -> Iterator[Piece]:
    """Pieces cut where runs of spaces stand for a gap, as in typewritten pages; places are estimated."""
    for piece in pieces:
        if not _WIDE_SPACE.search(piece.text):
            yield piece
            continue
        step = (piece.x1 - piece.x0) / len(piece.text)
        position = 0
        for match in [*_WIDE_SPACE.finditer(piece.text), None]:
            end = match.start() if match else len(piece.text)
            if piece.text[position:end].strip():
                left, right = piece.x0 + position * step, piece.x0 + end * step
                yield piece._replace(x0=left, x1=right, text=piece.text[position:end])
            position = match.end() if match else end


def _lines(pieces: list[Piece]) -> list[list[Piece]]:
    """Pieces by baseline, downwards. Raised and lowered marks in a smaller size join the line that they belong to."""
    if not pieces:
        return []
    body = _SMALL * median(piece.size for piece in pieces for _ in range(min(len(piece.text), 100)))
    lines: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: (piece.size < body, -piece.y, piece.x0)):
        if not piece.text.strip() and not lines:
            continue
        line = _line_of(piece, lines, _SAME_LINE if piece.size >= body else _RAISED)
        if line is None:
            lines.append([piece])
        else:
            line.append(piece)
    return sorted(lines, key=lambda line: (-line[0].y, line[0].x0))


def _line_of(piece: Piece, lines: list[list[Piece]], tolerance: float) -> list[Piece] | None:
    # Only the last lines can be near while pieces come downwards; small ones, which come last, look at all.
    near = lines if tolerance == _RAISED else lines[-1:]
    apart = [(abs(line[0].y - piece.y), number) for number, line in enumerate(near)]
    distance, number = min(apart, default=(0.0, -1))
    if number < 0 or distance > tolerance * max(near[number][0].size, piece.size):
        return None
    return near[number]


def _cells(line: list[Piece]) -> Line:
    cells: Line = []
    for piece in sorted(line, key=lambda piece: (round(piece.x0, 2), piece.x1)):
        if not cells or piece.x0 - cells[-1].x1 > _CELL_GAP * max(cells[-1].size, piece.size):
            if piece.text.strip():
                cells.append(_cell(piece))
        elif not _is_overprint(cells[-1], piece):
            cells[-1] = _join(cells[-1], piece)
    return [
        Cell(cell.x0, cell.x1, cell.y, cell.size, " ".join(cell.text.split())) for cell in cells if cell.text.strip()
    ]


def _cell(piece: Piece) -> Cell:
    return Cell(piece.x0, piece.x1, piece.y, piece.size, piece.text)


def _is_overprint(cell: Cell, piece: Piece) -> bool:
    """Bold by drawing twice: the same text again, nearly at the same place."""
    text = piece.text.strip()
    return (
        bool(text)
        and cell.text.rstrip().endswith(text)
        and abs(cell.x1 - piece.x1) < 0.25 * piece.size
        and (cell.x1 - piece.x0 > 0.5 * (piece.x1 - piece.x0))
    )


def _join(cell: Cell, piece: Piece) -> Cell:
    gap = piece.x0 - cell.x1
    space = " " if gap > _WORD_GAP * max(cell.size, piece.size) else ""
    if not piece.text.strip():
        # A drawn space counts for its width, or cells would be cut at it.
        return Cell(cell.x0, max(cell.x1, piece.x1), cell.y, cell.size, cell.text + " ")
    return Cell(cell.x0, max(cell.x1, piece.x1), cell.y, max(cell.size, piece.size), cell.text + space + piece.text)


def _compose(lines: list[Line], depth: int) -> str:
    blocks = []
    for block, gutter in _blocks(lines) if depth < _MAX_DEPTH and _may_have_columns(lines) else [(lines, None)]:
        if gutter is None:
            blocks.append((block, _write_rows(block)))
            continue
        left = [side for line in block if (side := [cell for cell in line if cell.x1 <= gutter])]
        right = [side for line in block if (side := [cell for cell in line if cell.x1 > gutter])]
        blocks.append((block, f"{_compose(left, depth + 1)}\n\n{_compose(right, depth + 1)}"))
    text = ""
    above: list[Line] = []
    for block, written in blocks:
        if above:
            text += "\n\n" if _is_paragraph_gap(above[-1], block[0]) or "\n\n" in written else "\n"
        text += written
        above = block
    return text


def _may_have_columns(lines: list[Line]) -> bool:
    """Whether anything begins in the right part of the page: most pages of prose need no search."""
    low = min((line[0].x0 for line in lines), default=0.0)
    high = max((line[-1].x1 for line in lines), default=0.0)
    return any(cell.x0 > low + _RIGHT_PART * (high - low) for line in lines for cell in line)


def _blocks(lines: list[Line]) -> list[tuple[list[Line], float | None]]:
    """The lines in runs that share a gutter; the gutter's middle where its sides are to be read one after the other."""
    blocks: list[tuple[list[Line], float | None]] = []
    start = 0
    while start < len(lines):
        end, gutter = _columns(lines, start)
        if gutter is None and blocks and blocks[-1][1] is None:
            blocks[-1][0].append(lines[start])
        else:
            blocks.append((lines[start:end], gutter))
        start = end
    return blocks


def _columns(lines: list[Line], start: int) -> tuple[int, float | None]:
    """End of the columns that begin at a line, and the middle of their gutter; the next line and None without any."""
    end, gaps = _run(lines, start)
    for middle in _middles(gaps):
        if _are_columns(lines[start:end], middle):
            return _trim(lines, start, end, middle), middle
    return start + 1, None


def _run(lines: list[Line], start: int) -> tuple[int, list[Gap]]:
    """End of the longest run of lines from `start` that leave a gutter free, and the gutters they leave."""
    low = min(cell.x0 for line in lines for cell in line)
    high = max(cell.x1 for line in lines for cell in line)
    gaps = _free(lines[start], low, high)
    end = start + 1
    while end < len(lines):
        width = 0.8 * max(cell.size for cell in lines[end])
        left = _intersect(gaps, _free(lines[end], low, high), width)
        if not left:
            break
        gaps = left
        end += 1
    return end, gaps


def _free(line: Line, low: float, high: float) -> list[Gap]:
    edges = [low, *(edge for cell in line for edge in (cell.x0, cell.x1)), high]
    return [(left, right) for left, right in zip(edges[::2], edges[1::2], strict=True) if right > left]


def _intersect(some: list[Gap], others: list[Gap], width: float) -> list[Gap]:
    pairs = ((max(a[0], b[0]), min(a[1], b[1])) for a in some for b in others)
    return [(left, right) for left, right in pairs if right - left >= width]


def _middles(gaps: list[Gap]) -> list[float]:
    return [(left + right) / 2 for left, right in sorted(gaps, key=lambda gap: (gap[0] - gap[1], gap))]


def _are_columns(block: list[Line], gutter: float) -> bool:
    left = [_side(line, gutter, left=True) for line in block]
    right = [_side(line, gutter, left=False) for line in block]
    both = [(a, b) for a, b in zip(left, right, strict=True) if a and b]
    if _are_signatures(both):
        return True
    return _is_prose([side for side in left if side]) and _is_prose([side for side in right if side])


def _side(line: Line, gutter: float, *, left: bool) -> Line:
    return [cell for cell in line if (cell.x1 <= gutter) == left]


def _are_signatures(both: list[tuple[Line, Line]]) -> bool:
    """The same labels, or two rules, or two bare labels as heads, side by side."""
    if not both:
        return False
    texts = [(_text(a), _text(b)) for a, b in both]
    if len(texts) >= 2 and all(_ONLY_LABEL.match(text) for text in texts[0]):
        return True
    return any((_RULE.search(a) and _RULE.search(b)) or _same_label(a, b) for a, b in texts)


def _same_label(first: str, second: str) -> bool:
    a, b = _LABEL.match(first), _LABEL.match(second)
    return bool(a and b and a[1].lower() == b[1].lower())


def _is_prose(side: list[Line]) -> bool:
    if len(side) < _PROSE_LINES or median(len(_text(line).split()) for line in side) < _PROSE_WORDS:
        return False
    low = min(line[0].x0 for line in side)
    width = max(line[-1].x1 for line in side) - low
    filled = [line for line in side if line[-1].x1 - line[0].x0 >= _FILLED * width]
    return 2 * len(filled) >= len(side)


def _trim(lines: list[Line], start: int, end: int, gutter: float) -> int:
    """`end`, moved up before lines on one side only that stand apart from the columns (the next heading)."""
    last = end - 1
    while last > start and len({cell.x1 <= gutter for cell in lines[last]}) == 1:
        side = lines[last][0].x1 <= gutter
        above = next(
            (line for line in reversed(lines[start:last]) if any((cell.x1 <= gutter) == side for cell in line)), None
        )
        if above is None:
            break
        if _is_paragraph_gap(above, lines[last]):
            end = last
        last -= 1
    return max(end, start + 1)


def _is_paragraph_gap(above: Line, below: Line) -> bool:
    return above[0].y - below[0].y > _PARAGRAPH_GAP * min(above[0].size, below[0].size)


def _write_rows(lines: list[Line]) -> str:
    text = ""
    for number, line in enumerate(lines):
        if number:
            above = lines[number - 1]
            # The rows of a table are set wider than lines of prose and stay together.
            table = len(line) > 1 and len(above) > 1
            text += "\n\n" if _is_paragraph_gap(above, line) and not table else "\n"
        text += _text(line)
    return text


def _text(line: Line) -> str:
    """The cells of a line; a label that ends in a colon takes one space before its value, other cells take two."""
    text = line[0].text
    for before, cell in pairwise(line):
        text += (" " if before.text.endswith(":") else "  ") + cell.text
    return text
