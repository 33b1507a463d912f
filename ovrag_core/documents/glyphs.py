"""Pieces of text with their place on a PDF page, read from its content streams (ISO 32000-1, sections 8 and 9).

pypdf's own modes give a page as one string: `plain` follows the order of drawing and loses which value stands beside
which label, `layout` spreads the page over a grid of characters on which columns drift together, and leaves out form
XObjects. Both throw away the places that a layout is told from, so these are read here, with pypdf's parser and fonts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import NamedTuple

from pypdf import PageObject
from pypdf.generic import ArrayObject, ContentStream, DictionaryObject, NullObject, StreamObject
from pypdf.generic._font import Font

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
MAX_DEPTH = 8  # form XObjects inside one another
MAX_GLYPH_RUNS = 200_000  # on one page; a dense page has about 5,000
MAX_CONTENT = 10_000_000  # bytes that draw one page
_SETTERS = {b"Tc": "character_space", b"Tw": "word_space", b"TL": "leading", b"Ts": "rise"}  # operators of one number


class TextRun(NamedTuple):
    """A run of text on one baseline, in points: `x0` to `x1`, baseline `y` (upwards), font size, quarter turns."""

    x0: float
    x1: float
    y: float
    size: float
    text: str
    turn: int


class PageTooComplex(Exception):
    """A page that draws more text than any honest page does."""


@dataclass(slots=True)
class _State:
    """State that `q` saves: the transformation and the text state."""

    ctm: Matrix = IDENTITY
    font: _Face | None = None
    size: float = 0.0
    character_space: float = 0.0
    word_space: float = 0.0
    scale: float = 1.0
    leading: float = 0.0
    rise: float = 0.0


@dataclass(slots=True)
class _Face:
    """A font that remembers how it decoded each string of codes."""

    font: Font
    known: dict[str, tuple[str, float]] = field(default_factory=dict)

    def show(self, code: bytes | str) -> list[tuple[str, float, bool]]:
        """Text, width in thousandths of the size, and whether it is a space, of each code."""
        return [(*self._glyph(raw), raw == " ") for raw in self._codes(code)]

    def _codes(self, code: bytes | str) -> str:
        if isinstance(code, str):
            return code
        if isinstance(self.font.encoding, str):
            try:
                return code.decode(self.font.encoding, "surrogatepass")
            except UnicodeDecodeError:
                return code.decode(self.font.encoding, "replace")
        return code.decode("latin-1")

    def _glyph(self, raw: str) -> tuple[str, float]:
        if raw not in self.known:
            named = self.font.encoding.get(ord(raw), raw) if isinstance(self.font.encoding, dict) else raw
            text = "".join(str(self.font.character_map.get(character, character)) for character in named)
            width = self.font.space_width if raw == self.font.space_char else self.font.get_text_width(raw)
            self.known[raw] = (text if self.font.interpretable else "", float(width))
        return self.known[raw]


def read_pieces(page: PageObject) -> list[TextRun]:
    """All text of a page in drawing order. Raises PageTooComplex, and whatever pypdf raises on a damaged page."""
    contents = page.get("/Contents", NullObject()).get_object()
    if not isinstance(contents, (ArrayObject, StreamObject)):
        return []
    pieces: list[TextRun] = []
    resources = _dictionary(page.get("/Resources")) or DictionaryObject()  # pypdf hands down those of parents
    _run(_operations(contents, page), resources, _State(), page, pieces, 0)
    turned = page.rotation // 90 % 4
    return [piece._replace(turn=(piece.turn - turned) % 4) for piece in pieces] if turned else pieces


def _operations(contents: ArrayObject | StreamObject, page: PageObject) -> list[tuple[list[object], bytes]]:
    stream = ContentStream(contents, page.pdf, "bytes")
    if len(stream.get_data()) > MAX_CONTENT:
        raise PageTooComplex
    return stream.operations


def _dictionary(value: object) -> DictionaryObject | None:
    resolved = value.get_object() if hasattr(value, "get_object") else value
    return resolved if isinstance(resolved, DictionaryObject) else None


def _faces(resources: DictionaryObject) -> dict[str, _Face]:
    fonts = _dictionary(resources.get("/Font")) or DictionaryObject()
    described = {str(name): _dictionary(fonts.raw_get(name)) for name in fonts}
    return {name: _Face(Font.from_font_resource(font)) for name, font in described.items() if font is not None}


def _run(
    operations: Iterable[tuple[list[object], bytes]],
    resources: DictionaryObject,
    state: _State,
    page: PageObject,
    pieces: list[TextRun],
    depth: int,
) -> None:
    faces = _faces(resources)
    saved: list[_State] = []
    text = line = IDENTITY
    for operands, operator in operations:
        numbers = _numbers(operands)
        if (moved := _moved(operator, numbers, state, line)) is not None:
            text = line = moved
        if operator in (b"Tj", b"TJ", b"'", b'"'):
            text = _show(_shown(operands, operator), state, text, pieces)
        elif operator == b"q":
            if len(saved) < 1000:
                saved.append(copy(state))
        elif operator == b"Q":
            state = saved.pop() if saved else state
        elif operator == b"Do" and operands:
            _draw(str(operands[0]), resources, state, page, pieces, depth)
        else:
            _set(state, operator, operands, numbers, faces)


def _moved(operator: bytes, numbers: list[float], state: _State, line: Matrix) -> Matrix | None:
    """Return where a line of text begins after the operator; None for one that begins no line."""
    match operator:
        case b"BT":
            return IDENTITY
        case b"Td" | b"TD" if len(numbers) >= 2:
            if operator == b"TD":
                state.leading = -numbers[1]
            return _times((1, 0, 0, 1, numbers[0], numbers[1]), line)
        case b"Tm" if len(numbers) >= 6:
            return _matrix(numbers)
        case b"T*" | b"'" | b'"':
            if operator == b'"' and len(numbers) >= 2:
                state.word_space, state.character_space = numbers[0], numbers[1]
            return _times((1, 0, 0, 1, 0, -state.leading), line)
    return None


def _set(state: _State, operator: bytes, operands: list[object], numbers: list[float], faces: dict[str, _Face]) -> None:
    if operator == b"Tf" and operands:
        state.font = faces.get(str(operands[0]))
        state.size = numbers[-1] if numbers else state.size
    elif operator == b"cm" and len(numbers) >= 6:
        state.ctm = _times(_matrix(numbers), state.ctm)
    elif not numbers:
        return
    elif operator == b"Tz":
        state.scale = numbers[0] / 100
    elif operator in _SETTERS:
        setattr(state, _SETTERS[operator], numbers[0])


def _draw(
    name: str, resources: DictionaryObject, state: _State, page: PageObject, pieces: list[TextRun], depth: int
) -> None:
    objects = _dictionary(resources.get("/XObject"))
    form = _dictionary(objects.get(name)) if objects is not None else None
    if depth >= MAX_DEPTH or not isinstance(form, StreamObject) or form.get("/Subtype") != "/Form":
        return
    inner = copy(state)
    matrix = form.get("/Matrix")
    if isinstance(matrix, ArrayObject) and len(matrix) >= 6:
        inner.ctm = _times(_matrix(_numbers(list(matrix))), inner.ctm)
    form_resources = _dictionary(form.get("/Resources")) or resources
    _run(_operations(form, page), form_resources, inner, page, pieces, depth + 1)


def _shown(operands: list[object], operator: bytes) -> Iterator[bytes | str | float]:
    """The strings of a showing operator, and the numbers of `TJ` that move between them."""
    if not operands:
        return
    operand = operands[-1]
    elements = list(operand) if operator == b"TJ" and isinstance(operand, (ArrayObject, list)) else [operand]
    for element in elements:
        if isinstance(element, (bytes, str, float, int)):
            yield element


def _show(shown: Iterator[bytes | str | float], state: _State, text: Matrix, pieces: list[TextRun]) -> Matrix:
    if state.font is None:
        return text
    for element in shown:
        if isinstance(element, (float, int)):
            text = _times((1, 0, 0, 1, -float(element) / 1000 * state.size * state.scale, 0), text)
            continue
        glyphs = state.font.show(element)
        width = sum(
            (glyph[1] / 1000 * state.size + state.character_space + glyph[2] * state.word_space) * state.scale
            for glyph in glyphs
        )
        moved = _times((1, 0, 0, 1, width, 0), text)
        written = "".join(glyph[0] for glyph in glyphs)
        if written:
            pieces.append(_place(written, _times(text, state.ctm), _times(moved, state.ctm), state))
        text = moved
        if len(pieces) > MAX_GLYPH_RUNS:
            raise PageTooComplex
    return text


def _place(text: str, start: Matrix, end: Matrix, state: _State) -> TextRun:
    a, b, c, d, *_ = start
    turn = _quarter(a, b)
    x0, y0 = start[4] + state.rise * c, start[5] + state.rise * d
    x1, y1 = end[4] + state.rise * c, end[5] + state.rise * d
    # The corner from which the text would be read with the sheet turned `turn` quarters.
    along, across = (
        ((x0, x1), y0),
        ((y0, y1), -x0),
        ((-x0, -x1), -y0),
        ((-y0, -y1), x0),
    )[turn]
    size = abs(state.size) * ((c * c + d * d) ** 0.5 or (a * a + b * b) ** 0.5)
    return TextRun(min(along), max(along), across, size, text, turn)


def _quarter(a: float, b: float) -> int:
    """Quarter turns, anticlockwise, of text whose baseline runs along (a, b)."""
    if abs(a) >= abs(b):
        return 0 if a >= 0 else 2
    return 1 if b > 0 else 3


def _numbers(values: Iterable[object]) -> list[float]:
    return [float(value) for value in values if isinstance(value, (int, float))]


def _matrix(numbers: list[float]) -> Matrix:
    a, b, c, d, e, f = numbers[-6:]
    return (a, b, c, d, e, f)


def _times(m: Matrix, n: Matrix) -> Matrix:
    return (
        m[0] * n[0] + m[1] * n[2],
        m[0] * n[1] + m[1] * n[3],
        m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3],
        m[4] * n[0] + m[5] * n[2] + n[4],
        m[4] * n[1] + m[5] * n[3] + n[5],
    )
