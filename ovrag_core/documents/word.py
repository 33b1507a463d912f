"""DOCX: paragraphs and tables in document order."""

import io
import zipfile
from collections.abc import Iterator

import docx
from lxml import etree

from ovrag_core.base import DocumentError
from ovrag_core.documents.cells import write_row
from ovrag_core.documents.cleaning import clean, tidy

MAX_UNPACKED = 300_000_000  # bytes of all parts together
MAX_BODY = 60_000_000  # bytes of the part that holds the text
MAX_RATIO = 500  # of unpacked to packed; prose packs to a tenth or a twentieth, padding to a thousandth
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LEFT_OUT = {_FALLBACK, *(f"{_W}{name}" for name in ("del", "moveFrom", "pPr", "rPr"))}
_WRAPPERS = {f"{_W}{name}" for name in ("sdt", "sdtContent", "ins", "customXml", "smartTag")}
_MARKS = {f"{_W}tab": "\t", f"{_W}ptab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def read(name: str, data: bytes) -> str:
    """The text of a Word document: a blank line between paragraphs, a line for each row of a table.

    Deleted and hidden text is left out, inserted text and content controls are kept. Raises DocumentError for a
    package that is encrypted, damaged, not a Word document, or unpacks to an absurd size.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
    if any(m.flag_bits & 1 for m in members):
        raise DocumentError(f"{name} is encrypted; remove the password and try again")
    size = sum(m.file_size for m in members)
    body_size = max((m.file_size for m in members if m.filename.endswith(".xml")), default=0)
    if size > MAX_UNPACKED or body_size > MAX_BODY or (size > 20_000_000 and size > MAX_RATIO * len(data)):
        raise DocumentError(f"{name} unpacks to {size // 1_000_000} MB and was not opened; save its text as a new file")
    try:
        body = docx.Document(io.BytesIO(data)).element.body
    except Exception:  # on a damaged package python-docx raises all kinds
        raise DocumentError(f"{name} is damaged or no Word document; save it again as DOCX") from None
    return tidy(clean("\n\n".join(text for text in _blocks(body) if text.strip())))


def _blocks(parent: etree._Element) -> Iterator[str]:
    for child in _children(parent, "p", "tbl"):
        yield "".join(_inline(child)).strip() if child.tag == f"{_W}p" else _table(child)


def _children(parent: etree._Element, *names: str) -> Iterator[etree._Element]:
    """Children of these kinds, insertions and content controls looked through, tables in cells not."""
    for child in parent:
        if child.tag in _WRAPPERS:
            yield from _children(child, *names)
        elif child.tag in {f"{_W}{name}" for name in names}:
            yield child


def _inline(element: etree._Element) -> Iterator[str]:
    for child in element:
        if child.tag in _LEFT_OUT or (child.tag == f"{_W}r" and _is_hidden(child)):
            continue
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in _MARKS:
            yield _MARKS[child.tag]
        elif child.tag == f"{_W}txbxContent":
            yield "\n" + "\n".join(_blocks(child)) + "\n"
        else:
            yield from _inline(child)


def _is_hidden(run: etree._Element) -> bool:
    vanish = run.find(f"{_W}rPr/{_W}vanish")
    return vanish is not None and vanish.get(f"{_W}val") not in ("0", "false", "off")


def _table(table: etree._Element) -> str:
    rows = (
        write_row(["\n".join(text for text in _blocks(cell) if text.strip()) for cell in _children(row, "tc")])
        for row in _children(table, "tr")
    )
    return "\n".join(filter(None, rows))
