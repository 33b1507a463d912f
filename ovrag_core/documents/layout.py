"""Reading order of a page: lines from pieces, columns from the gutters between them.

Texts side by side may be a label and its value, which belong on one line, or two columns, read one after the other: a
gutter through several lines is found first; then columns are told from a table by prose that fills its column on both
sides, or by the same labels on both sides (the blocks of two signatories).
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from itertools import chain, pairwise
from statistics import median
from typing import TypeVar

from ovrag_core.documents.glyphs import TextRun

_SAME_BASELINE = 0.12  # of the size: how far apart two baselines are drawn that are meant as one
_SAME_LINE = 0.4  # of the size: how far apart two baselines of one line may be
_RAISED = 0.6  # of the size: how far a mark in a smaller size may be raised or lowered
_SMALL = 0.95  # of the page's usual size: smaller text may be such a mark
_WORD_GAP = 0.15  # of the size: a narrower gap is kerning
_CELL_GAP = 1.0  # of the size: a wider gap separates cells
_STOP_GAP = 0.4  # of the size: the same before a place where cells begin again and again
_STOP_LINES = 4
_PARAGRAPH_GAP = 1.75  # of the size: a wider step from baseline to baseline separates paragraphs
_FILLED = 0.75  # of a column's width: a line of prose
_TIGHT = 1.3  # of the size: lines of one cell are no further apart
_TABLE_ROWS = 2
_LABEL_LINES = 4
_PROSE_LINES = 4
_PROSE_WORDS = 4

_RULE = re.compile(r"_{4,}|\.{8,}|-{8,}|…{3,}")
_LABEL = re.compile(r"\s*([^\W\d_][^:_]{0,30}?)\s*:")
_ONLY_LABEL = re.compile(r"\s*\(?[^\W\d_][^:]{0,60}:\s*$")

Line = list[TextRun]  # cells: texts without a wide gap inside
Gap = tuple[float, float]
T = TypeVar("T")


def compose(pieces: list[TextRun]) -> str:
    """The text of pieces, one at least, that all stand the same way up, line by line in reading order."""
    lines = _lines(pieces)
    # Where cells begin again and again, in whole points, a narrow gap parts cells too.
    starts = Counter(round(cell.x0) for line in lines for cell in _cells(line, frozenset()))
    stops = {x for x, count in starts.items() if count >= _STOP_LINES}
    return _compose([cells for line in lines if (cells := _cells(line, stops))])


def _lines(pieces: list[TextRun]) -> list[list[TextRun]]:
    """Pieces by baseline, downwards.

    Texts that stand a little higher or lower beside one another are one line, and raised or lowered marks in a smaller
    size join the line that they belong to.
    """
    body = _SMALL * median(piece.size for piece in pieces for _ in range(min(len(piece.text), 100)))
    downwards = sorted(pieces, key=_downwards)
    level = _grouped(
        (piece for piece in downwards if piece.size >= body), lambda line, piece: _near(line[0], piece, _SAME_BASELINE)
    )
    lines = [list(chain(*group)) for group in _grouped(level, _are_beside)]
    for piece in downwards:
        if piece.size < body:
            near = min(lines, key=lambda line: abs(line[0].y - piece.y))
            if abs(near[0].y - piece.y) <= _RAISED * near[0].size:
                near.append(piece)
            else:
                lines.append([piece])
    return sorted(lines, key=lambda line: _downwards(line[0]))


def _downwards(piece: TextRun) -> tuple[float, float]:
    return (-piece.y, piece.x0)


def _near(above: TextRun, below: TextRun, distance: float) -> bool:
    """Return True where two baselines are no further apart, in sizes of the smaller text."""
    return above.y - below.y <= distance * min(above.size, below.size)


def _grouped(items: Iterable[T], belongs: Callable[[list[T], T], bool]) -> list[list[T]]:
    """Items in order, each in the group before where it belongs there."""
    groups: list[list[T]] = []
    for item in items:
        if groups and belongs(groups[-1], item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _are_beside(above: list[list[TextRun]], below: list[TextRun]) -> bool:
    """Return True where texts are one line, a little higher and lower, and beside one another."""
    near = _near(above[0][0], below[0], _SAME_LINE)
    return near and all(a.x1 <= b.x0 or b.x1 <= a.x0 for a in chain(*above) for b in below)


def _cells(line: list[TextRun], stops: Collection[int]) -> Line:
    cells: Line = []
    for piece in sorted(line, key=lambda piece: (round(piece.x0, 2), piece.x1)):
        least = _STOP_GAP if round(piece.x0) in stops else _CELL_GAP
        if cells and piece.x0 - cells[-1].x1 <= least * max(cells[-1].size, piece.size):
            cells[-1] = _join(cells[-1], piece)
        elif piece.text.strip():
            cells.append(piece)
    return [cell._replace(text=" ".join(cell.text.split())) for cell in cells]


def _join(cell: TextRun, piece: TextRun) -> TextRun:
    right, size = max(cell.x1, piece.x1), max(cell.size, piece.size)
    if not piece.text.strip():
        # A drawn space counts for its width, or cells would be cut at it.
        return cell._replace(x1=right, text=cell.text + " ")
    space = " " if piece.x0 - cell.x1 > _WORD_GAP * size else ""
    return cell._replace(x1=right, size=size, text=cell.text + space + piece.text)


def _compose(lines: list[Line]) -> str:
    text = ""
    above: list[Line] = []
    for block, gutter in _blocks(lines):
        written = _write_rows(block) if gutter is None else "\n\n".join(map(_compose, _sides(block, gutter)))
        if above:
            text += "\n" if _near(above[-1][0], block[0][0], _PARAGRAPH_GAP) and "\n\n" not in written else "\n\n"
        text += written
        above = block
    return text


def _blocks(lines: list[Line]) -> list[tuple[list[Line], float | None]]:
    """The lines in runs that share a gutter; the gutter's middle where its sides are to be read one after the other."""
    blocks: list[tuple[list[Line], float | None]] = []
    start = 0
    while start < len(lines):
        rows, gutter, start = _next_block(lines, start)
        if gutter is None and blocks and blocks[-1][1] is None:
            blocks[-1][0].extend(rows)
        else:
            blocks.append((rows, gutter))
    return blocks


def _next_block(lines: list[Line], start: int) -> tuple[list[Line], float | None, int]:
    """Columns, a table of labels and values, or else one line from `start` on; the gutter of columns; and the end."""
    end, gaps = _run(lines, start)
    rows = lines[start:end]
    middles = [(left + right) / 2 for left, right in sorted(gaps, key=lambda gap: (gap[0] - gap[1], gap))]
    for middle in middles:
        if _are_columns(rows, middle):
            return rows, middle, end
    for middle in middles:
        parted = [_parted(line, middle) for line in rows]
        if parted[0][0] and sum(bool(left and right) for left, right in parted) >= _TABLE_ROWS:
            return _join_wrapped(rows, middle), None, end
    return [lines[start]], None, start + 1


def _run(lines: list[Line], start: int) -> tuple[int, list[Gap]]:
    """End of the longest run of lines from `start` that leave a gutter free, and the gutters they leave."""
    low = min(cell.x0 for line in lines for cell in line)
    high = max(cell.x1 for line in lines for cell in line)
    gaps = _free(lines[start], low, high)
    end = start + 1
    while end < len(lines):
        width = _STOP_GAP * max(cell.size for cell in lines[end])
        pairs = ((max(a[0], b[0]), min(a[1], b[1])) for a in gaps for b in _free(lines[end], low, high))
        shared = [(left, right) for left, right in pairs if right - left >= width]
        if not shared:
            break
        gaps = shared
        end += 1
    return end, gaps


def _free(line: Line, low: float, high: float) -> list[Gap]:
    edges = [low, *(edge for cell in line for edge in (cell.x0, cell.x1)), high]
    return [(left, right) for left, right in zip(edges[::2], edges[1::2], strict=True) if right > left]


def _parted(line: Line, gutter: float) -> tuple[Line, Line]:
    """The cells left and right of a gutter."""
    return [cell for cell in line if cell.x1 <= gutter], [cell for cell in line if cell.x1 > gutter]


def _sides(block: list[Line], gutter: float) -> tuple[list[Line], list[Line]]:
    """What stands left and right of a gutter, by line, where there is anything."""
    parted = [_parted(line, gutter) for line in block]
    return [left for left, _ in parted if left], [right for _, right in parted if right]


def _join_wrapped(block: list[Line], gutter: float) -> list[Line]:
    """Rows of a table whose labels or values take several lines, each with its whole label on the first line."""
    rows: list[Line] = []
    for group in _grouped(block, lambda above, line: _near(above[-1][0], line[0], _TIGHT)):
        left, right = _sides(group, gutter)
        if left and right and _is_one_label(left, len(group) > len(right)):
            label = left[0][0]._replace(text=" ".join(cell.text for line in left for cell in line))
            rows += [[label, *right[0]], *right[1:]]
        else:
            rows += group
    return rows


def _is_one_label(lines: list[Line], stands_apart: bool) -> bool:
    """Return True for lines of one label: some stand beside no value, or each but the first begins in lower case."""
    texts = [_text(line) for line in lines]
    if len(lines) > _LABEL_LINES or any(":" in text for text in texts):
        return False
    return stands_apart or (len(texts) > 1 and all(text[0].islower() for text in texts[1:]))


def _are_columns(block: list[Line], gutter: float) -> bool:
    parted = [_parted(line, gutter) for line in block]
    if _are_signatures([(_text(left), _text(right)) for left, right in parted if left and right]):
        return True
    return all(_is_prose(side) for side in _sides(block, gutter))


def _are_signatures(texts: list[tuple[str, str]]) -> bool:
    """The same labels, or two rules, or two bare labels as heads, side by side."""
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
    return 2 * sum(line[-1].x1 - line[0].x0 >= _FILLED * width for line in side) >= len(side)


def _write_rows(lines: list[Line]) -> str:
    text = _text(lines[0])
    for above, line in pairwise(lines):
        # The rows of a table are set wider than lines of prose and stay together.
        table = len(line) > 1 and len(above) > 1
        text += "\n" if table or _near(above[0], line[0], _PARAGRAPH_GAP) else "\n\n"
        text += _text(line)
    return text


def _text(line: Line) -> str:
    """The cells of a line; a label that ends in a colon takes one space before its value, other cells take two."""
    text = line[0].text
    for before, cell in pairwise(line):
        text += (" " if before.text.endswith(":") else "  ") + cell.text
    return text
