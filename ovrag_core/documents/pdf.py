"""PDF: pages in reading order, from the places of their text."""

import io
import logging
import re
import struct
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError, PyPdfError

from ovrag_core.base import DocumentError, Page
from ovrag_core.documents.cleaning import clean, join_hyphenated, tidy
from ovrag_core.documents.glyphs import PageTooComplex, TextRun, read_pieces
from ovrag_core.documents.layout import compose

MAX_PAGES = 5_000
_PAGE_NUMBER = re.compile(r"(?:page\s+)?[-–—(\[]?\s*\d{1,4}\s*[-–—)\]]?(?:\s*(?:of|/)\s*\d{1,4})?", re.I)
_DIGITS = re.compile(r"\d+")
# What pypdf is known to raise on damaged files beside its own errors.
_FAULTS = (
    PyPdfError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)


def read(name: str, data: bytes) -> tuple[str, tuple[Page, ...]]:
    """The text of a PDF, its pages separated by a blank line, and their spans.

    Raises DocumentError for a file that is encrypted, truncated, scanned, or damaged beyond reading.
    """
    with _quiet():
        reader = _open(name, data)
        try:
            texts = [_read_page(page) for page in reader.pages]
        except PageTooComplex:
            raise DocumentError(f"{name} draws too much on one page to be read; print it to a new PDF") from None
        except _FAULTS:
            raise DocumentError(f"{name} is damaged and cannot be read; fetch or save it again") from None
        if not any(text.strip() for text in texts):
            _explain_no_text(name, reader)
    return _join_pages(texts)


@contextmanager
def _quiet() -> Iterator[None]:
    """pypdf reports every oddity of a file as a warning; what matters is raised here as one error."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _open(name: str, data: bytes) -> PdfReader:
    truncated = DocumentError(f"{name} is truncated; fetch or save it again")
    if b"%%EOF" not in data[-2048:] and b"startxref" not in data[-2048:]:
        raise truncated
    try:
        reader = PdfReader(io.BytesIO(data))
        # A file locked for printing or changing only opens with the empty password.
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError(f"{name} is encrypted; remove the password and try again")
        count = len(reader.pages)
    except DependencyError:
        raise DocumentError(
            f"{name} is encrypted in an unknown way; save it without a password and try again"
        ) from None
    except _FAULTS:
        raise truncated from None
    if count == 0:
        raise DocumentError(f"{name} has no pages; fetch or save it again")
    if count > MAX_PAGES:
        raise DocumentError(f"{name} has more than {MAX_PAGES:,} pages; split it and try again")
    return reader


def _read_page(page: PageObject) -> str:
    pieces = [piece for piece in read_pieces(page) if piece.text]
    turns = Counter(dict.fromkeys(range(4), 0))
    for piece in pieces:
        turns[piece.turn] += len(piece.text)
    # Text that stands across the page (a stamp in the margin) comes after the page's own.
    order = sorted(range(4), key=lambda turn: (-turns[turn], turn))
    blocks = (compose(_cleaned(piece for piece in pieces if piece.turn == turn)) for turn in order if turns[turn])
    return tidy(join_hyphenated("\n\n".join(blocks)))


def _cleaned(pieces: Iterator[TextRun]) -> list[TextRun]:
    # A soft hyphen that is drawn stands at the end of a line, where it is a hyphen.
    cleaned = (piece._replace(text=clean(piece.text.replace("\u00ad", "-")).replace("\n", " ")) for piece in pieces)
    return [piece for piece in cleaned if piece.text]


def _explain_no_text(name: str, reader: PdfReader) -> None:
    scanned = next((number for number, page in enumerate(reader.pages, 1) if _has_image(page)), None)
    if scanned is not None:
        raise DocumentError(
            f"{name} is scanned, without a text layer from page {scanned} on; run text recognition (OCR) on it and try "
            "again"
        )
    raise DocumentError(f"{name} holds no text; check that it is the right file")


def scanned_pages(data: bytes, numbers: Sequence[int]) -> list[int]:
    """Those of the pages without text, by number from 1, that hold an image, of a PDF that can be read."""
    with _quiet():
        pages = _open("the document", data).pages
        return [number for number in numbers if _has_image(pages[number - 1])]


def _has_image(page: PageObject) -> bool:
    try:
        return len(page.images) > 0
    except _FAULTS:
        return True


def _join_pages(texts: list[str]) -> tuple[str, tuple[Page, ...]]:
    """Pages with a blank line between them, or a line end where a sentence goes on on the next page."""
    text = ""
    pages = []
    for number, page in enumerate(_without_margins(texts), start=1):
        if number > 1:
            text += "\n" if _goes_on(text, page) else "\n\n"
        pages.append(Page(number, len(text), len(text) + len(page)))
        text += page
    return text, tuple(pages)


def _goes_on(text: str, page: str) -> bool:
    return bool(text and page) and page[0].islower() and (text[-1].isalnum() or text[-1] in ",-–—)”\"'")


def _without_margins(texts: list[str]) -> list[str]:
    """Pages without page numbers, and without the heads and feet that run through most of them but for the first."""
    pages = [text.split("\n") for text in texts]
    for edge in (0, -1):
        before: list[list[str]] = []
        while before != pages:
            before = pages
            edges = [_masked(lines[edge]) for lines in pages]
            counts = Counter(filter(None, edges))
            running = {line for line, count in counts.items() if count >= 3 and 2 * count > len(edges)}
            pages = [
                _strip_edge(lines, edge, {masked for masked in running if edges.index(masked) != number})
                for number, lines in enumerate(pages)
            ]
    return ["\n".join(lines) for lines in pages]


def _strip_edge(lines: list[str], edge: int, repeated: set[str]) -> list[str]:
    line = lines[edge].strip()
    remaining = lines[1:] if edge == 0 else lines[:-1]
    if not any(neighbour.strip() for neighbour in remaining):
        return lines
    return remaining if not line or _PAGE_NUMBER.fullmatch(line) or _masked(line) in repeated else lines


def _masked(line: str) -> str:
    return _DIGITS.sub("0", line.strip())
