"""Two versions of a result compared by what they say, where their bytes may differ: numbers, drawings, pictures."""

import base64
import io
import re

import matplotlib.image
import numpy
from pypdf import PageObject, PdfReader

NUMBERS = 1e-3  # between two numbers, or that share of them; whole numbers are the same
POINTS = 0.5  # between numbers of a drawing: coordinates, 72 to the inch
SHADE, SHARE = 0.1, 0.005  # of the full brightness; of the pixels that may differ by more
HOW = (
    f"text by its numbers ({NUMBERS:g}, or that share; whole numbers and words the same), PDF by those of its drawing "
    f"({POINTS:g} points), PNG by its pixels ({SHARE:.1%} of them by more than {SHADE:.0%})"
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w|\.\d)")
_PICTURE = re.compile(r"iVBORw0KGgo[A-Za-z0-9+/=]*(?:\\n)?")  # a PNG within a page or a notebook


def alike(name: str, one: bytes, other: bytes) -> bool:
    """Whether two versions of the file of that name say the same; of other kinds than those of HOW, the same bytes."""
    if one == other:
        return True
    if name.endswith(".png"):
        return _same_pixels(one, other)
    if name.endswith(".pdf"):
        return _same_drawing(one, other)
    try:
        return _same_text(one.decode(), other.decode())
    except UnicodeDecodeError:
        return False


def _same_text(one: str, other: str) -> bool:
    pictures = (_PICTURE.findall(one), _PICTURE.findall(other))
    if len(pictures[0]) != len(pictures[1]):
        return False
    if not all(_same_pixels(_decoded(a), _decoded(b)) for a, b in zip(*pictures, strict=True) if a != b):
        return False
    first, second = (_PICTURE.sub("", text) for text in (one, other))
    if _words(_NUMBER.sub("#", first)) != _words(_NUMBER.sub("#", second)):
        return False
    numbers = zip(_NUMBER.findall(first), _NUMBER.findall(second), strict=True)
    return all(a == b or _near(a, b) for a, b in numbers)


def _words(text: str) -> str:
    """Text as it is, but for the widths of columns, which follow those of numbers."""
    return re.sub(r"[ \t]+", " ", text)


def _near(one: str, other: str) -> bool:
    if not any(sign in one + other for sign in ".e"):
        return False
    return abs(float(one) - float(other)) <= NUMBERS * max(1.0, abs(float(one)))


def _decoded(picture: str) -> bytes:
    return base64.b64decode(picture.removesuffix("\\n"))


def _same_pixels(one: bytes, other: bytes) -> bool:
    first, second = (matplotlib.image.imread(io.BytesIO(each), format="png") for each in (one, other))
    if first.shape != second.shape:
        return False
    return float((numpy.abs(first - second) > SHADE).any(axis=-1).mean()) <= SHARE


def _same_drawing(one: bytes, other: bytes) -> bool:
    """What is drawn on the pages and in the forms and markers that they use, number by number."""
    first, second = ([_drawn(page) for page in PdfReader(io.BytesIO(each)).pages] for each in (one, other))
    return len(first) == len(second) and all(_same_commands(a, b) for a, b in zip(first, second, strict=True))


def _drawn(page: PageObject) -> list[str]:
    parts = [page.get_contents().get_data()]
    forms = (page["/Resources"].get("/XObject") or {}).items()
    parts += [form.get_object().get_data() for _, form in sorted(forms)]
    return b"\n".join(parts).decode("latin-1").split()


def _same_commands(one: list[str], other: list[str]) -> bool:
    if len(one) != len(other):
        return False
    return all(a == b or _close(a, b) for a, b in zip(one, other, strict=True))


def _close(one: str, other: str) -> bool:
    try:
        return abs(float(one) - float(other)) <= POINTS
    except ValueError:
        return False
