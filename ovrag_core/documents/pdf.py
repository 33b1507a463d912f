"""PDF: pages in reading order, from the places of their text."""

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError

from ovrag_core.base import DocumentError, Page
from ovrag_core.documents.cleaning import clean, join_hyphenated, tidy
from ovrag_core.documents.glyphs import PageTooComplex, TextRun, read_pieces
from ovrag_core.documents.layout import compose

MAX_PAGES = 5_000
_PAGE_NUMBER = re.compile(r"(?:page\s+)?[-–—(\[]?\s*\d{1,4}\s*[-–—)\]]?(?:\s*(?:of|/)\s*\d{1,4})?", re.I)
_DIGITS = re.compile(r"\d+")
# pypdf reports every oddity of a file as a warning; what matters is raised here as one error.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def read(name: str, data: bytes) -> tuple[str, tuple[Page, ...]]:
    """The text of a PDF, its pages separated by a blank line, and their spans.

    Raises DocumentError for a file that is encrypted, truncated, scanned, or damaged beyond reading.
    """
    reader = _open(name, data)
    texts = [_set_page(pieces) for pieces in _drawn(name, reader)]
    if any(text.strip() for text in texts):
        return _join_pages(texts)
    if scanned := next((number for number, page in enumerate(reader.pages, 1) if _has_image(page)), None):
        raise DocumentError(
            f"{name} is scanned, without a text layer from page {scanned} on; run text recognition (OCR) on it and try "
            "again"
        )
    raise DocumentError(f"{name} holds no text; check that it is the right file")


def _open(name: str, data: bytes) -> PdfReader:
    truncated = DocumentError(f"{name} is truncated; fetch or save it again")
    if b"%%EOF" not in data[-2048:] and b"startxref" not in data[-2048:]:
        raise truncated
    try:
        reader = PdfReader(io.BytesIO(data))
        # A file locked for printing or changing only opens with the empty password.
        locked = reader.is_encrypted and not reader.decrypt("")
        count = 0 if locked else len(reader.pages)
    except DependencyError:
        raise DocumentError(
            f"{name} is encrypted in an unknown way; save it without a password and try again"
        ) from None
    except Exception:
        raise truncated from None
    if locked:
        raise DocumentError(f"{name} is encrypted; remove the password and try again")
    if count == 0:
        raise DocumentError(f"{name} has no pages; fetch or save it again")
    if count > MAX_PAGES:
        raise DocumentError(f"{name} has more than {MAX_PAGES:,} pages; split it and try again")
    return reader


def _drawn(name: str, reader: PdfReader) -> Iterator[list[TextRun]]:
    """The pieces of text that each page draws."""
    try:
        for page in reader.pages:
            yield read_pieces(page)
    except PageTooComplex:
        raise DocumentError(f"{name} draws too much on one page to be read; print it to a new PDF") from None
    except Exception:  # on damaged files pypdf raises all kinds
        raise DocumentError(f"{name} is damaged and cannot be read; fetch or save it again") from None


def _set_page(pieces: Sequence[TextRun]) -> str:
    """The text of a page, its pieces in reading order."""
    # A soft hyphen that is drawn stands at the end of a line, where it is a hyphen.
    cleaned = (p._replace(text=clean(p.text.replace("\u00ad", "-")).replace("\n", " ")) for p in pieces)
    turned: dict[int, list[TextRun]] = {turn: [] for turn in range(4)}
    for piece in cleaned:
        if piece.text:
            turned[piece.turn].append(piece)
    # Text that stands across the page (a stamp in the margin) comes after the page's own.
    blocks = sorted(turned.values(), key=lambda block: -sum(len(piece.text) for piece in block))
    return tidy(join_hyphenated("\n\n".join(compose(block) for block in blocks if block)))


def scanned_pages(data: bytes, numbers: Sequence[int]) -> list[int]:
    """Those of the pages without text, by number from 1, that hold an image, of a PDF that can be read."""
    pages = _open("the document", data).pages
    return [number for number in numbers if _has_image(pages[number - 1])]


def _has_image(page: PageObject) -> bool:
    try:
        return len(page.images) > 0
    except Exception:
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
            edges = [_DIGITS.sub("0", lines[edge].strip()) for lines in pages]
            counts = Counter(filter(None, edges))
            running = {line for line, count in counts.items() if count >= 3 and 2 * count > len(edges)}
            pages = [
                _strip_edge(lines, edge, repeated=masked in running and edges.index(masked) != number)
                for number, (lines, masked) in enumerate(zip(pages, edges, strict=True))
            ]
    return ["\n".join(lines) for lines in pages]


def _strip_edge(lines: list[str], edge: int, *, repeated: bool) -> list[str]:
    line = lines[edge].strip()
    remaining = lines[1:] if edge == 0 else lines[:-1]
    if not any(neighbour.strip() for neighbour in remaining):
        return lines
    return remaining if repeated or not line or _PAGE_NUMBER.fullmatch(line) else lines
