"""Pieces of text with their place on a PDF page, read from its content streams (ISO 32000-1, sections 8 and 9).

pypdf's own modes give a page as one string: `plain` follows the order of drawing and loses which value stands beside
which label, `layout` spreads the page over a grid of characters on which columns drift together, and leaves out form
XObjects. Both throw away the places that a layout is told from, so these are read here, with pypdf's parser, fonts and
text state.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from pypdf import PageObject
from pypdf._text_extraction._layout_mode._text_state_manager import TextStateManager
from pypdf.generic import ArrayObject, ContentStream, DictionaryObject, NullObject, StreamObject
from pypdf.generic._font import Font

MAX_DEPTH = 8  # form XObjects inside one another
MAX_GLYPH_RUNS = 200_000  # on one page; a dense page has about 5,000
MAX_CONTENT = 10_000_000  # bytes that draw one page


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


def read_pieces(page: PageObject) -> list[TextRun]:
    """All text of a page in drawing order. Raises PageTooComplex, and whatever pypdf raises on a damaged page."""
    contents = page.get("/Contents", NullObject()).get_object()
    if not isinstance(contents, (ArrayObject, StreamObject)):
        return []
    resources = _dictionary(page.get("/Resources")) or DictionaryObject()  # pypdf hands down those of parents
    pieces = list(islice(_run(contents, resources, TextStateManager(), page, 0), MAX_GLYPH_RUNS + 1))
    if len(pieces) > MAX_GLYPH_RUNS:
        raise PageTooComplex
    turned = page.rotation // 90 % 4
    return [piece._replace(turn=(piece.turn - turned) % 4) for piece in pieces] if turned else pieces


def _dictionary(value: object) -> DictionaryObject | None:
    resolved = value.get_object() if hasattr(value, "get_object") else value
    return resolved if isinstance(resolved, DictionaryObject) else None


def _fonts(resources: DictionaryObject) -> dict[str, Font]:
    fonts = _dictionary(resources.get("/Font")) or DictionaryObject()
    described = {str(name): _dictionary(fonts.raw_get(name)) for name in fonts}
    return {name: Font.from_font_resource(font) for name, font in described.items() if font is not None}


def _run(
    contents: ArrayObject | StreamObject,
    resources: DictionaryObject,
    state: TextStateManager,
    page: PageObject,
    depth: int,
) -> Iterator[TextRun]:
    stream = ContentStream(contents, page.pdf, "bytes")
    if len(stream.get_data()) > MAX_CONTENT:
        raise PageTooComplex
    fonts = _fonts(resources)
    for operands, operator in stream.operations:
        if operator in (b"Tj", b"TJ", b"'", b'"'):
            yield from _show(operands, operator, state)
        elif operator == b"Do" and operands:
            yield from _draw(str(operands[0]), resources, state, page, depth)
        elif operator == b"Tf" and operands:
            size = operands[1] if len(operands) > 1 else state.font_size
            state.font, state.font_size = fonts.get(str(operands[0])), float(size)
        else:
            _set(operands, operator, state)


def _set(operands: list[Any], operator: bytes, state: TextStateManager) -> None:
    """Let an operator that draws nothing change the state."""
    if operator == b"q":
        state.add_q()
    elif operator == b"Q" and state.font_stack:
        state.remove_q()
    elif operator == b"cm":
        state.add_cm(*operands)
    elif operator == b"BT":
        state.reset_tm()
    elif operator == b"Tm":
        state.reset_tm()
        state.add_tm(operands)
    elif operator in (b"Td", b"TD", b"T*"):
        _move(operands, operator, state)
    else:
        state.set_state_param(operator, operands)


def _move(operands: list[Any], operator: bytes, state: TextStateManager) -> None:
    """Go on at an offset from the start of the line, that of the next line where an operator names none."""
    if operator == b"TD":
        state.set_state_param(b"TL", -operands[1])
    state.reset_trm()
    state.add_tm(operands if operator in (b"Td", b"TD") else [0, -state.TL])


def _draw(
    name: str, resources: DictionaryObject, state: TextStateManager, page: PageObject, depth: int
) -> Iterator[TextRun]:
    objects = _dictionary(resources.get("/XObject"))
    form = _dictionary(objects.get(name)) if objects is not None else None
    if depth >= MAX_DEPTH or not isinstance(form, StreamObject) or form.get("/Subtype") != "/Form":
        return
    nested = len(state.font_stack)
    state.add_q()
    state.add_cm(*form.get("/Matrix", ()))
    yield from _run(form, _dictionary(form.get("/Resources")) or resources, state, page, depth + 1)
    while len(state.font_stack) > nested:
        state.remove_q()


def _show(operands: list[Any], operator: bytes, state: TextStateManager) -> Iterator[TextRun]:
    """The strings of a showing operator; the numbers of `TJ` move between them."""
    if operator in (b"'", b'"'):
        if operator == b'"' and len(operands) > 2:
            state.set_state_param(b"Tw", operands[0])
            state.set_state_param(b"Tc", operands[1])
        _move(operands, operator, state)
    if state.font is None or not operands:
        return
    begin, moved = state.effective_transform, 0.0
    elements: Iterable[object] = operands[-1] if isinstance(operands[-1], list) else operands[-1:]
    for element in elements:
        if isinstance(element, int | float):
            moved -= float(element) / 1000 * state.font_size * state.Tz / 100
        elif isinstance(element, bytes | str):
            shown = state.text_state_params(element)
            start = moved
            moved += shown.word_tx(element)
            if shown.text and state.font.interpretable:
                yield _place(shown.text, begin, start, moved, state)
    before = state.transform_stack.maps[0]
    moved += before[4] if before["is_render"] else 0.0
    state.reset_trm()
    state.add_trm([1.0, 0.0, 0.0, 1.0, moved, 0.0])


def _place(text: str, transform: list[float], start: float, end: float, state: TextStateManager) -> TextRun:
    """The run of a text that reaches from `start` to `end` along the baseline of a transform."""
    a, b, c, d, e, f = transform[:6]
    turn = (0 if a >= 0 else 2) if abs(a) >= abs(b) else (1 if b > 0 else 3)  # quarters, anticlockwise
    x0, x1 = (e + along * a + state.Ts * c for along in (start, end))
    y0, y1 = (f + along * b + state.Ts * d for along in (start, end))
    # The corner from which the text would be read with the sheet turned `turn` quarters.
    along, across = (((x0, x1), y0), ((y0, y1), -x0), ((-x0, -x1), -y0), ((-y0, -y1), x0))[turn]
    size = abs(state.font_size) * ((c * c + d * d) ** 0.5 or (a * a + b * b) ** 0.5)
    return TextRun(min(along), max(along), across, size, text, turn)
