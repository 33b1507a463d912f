"""DOCX: paragraphs and tables in document order."""

import io
import zipfile
from collections.abc import Iterator

import docx
from docx.opc.exceptions import PackageNotFoundError
from lxml import etree

from ovrag_core.base import DocumentError
from ovrag_core.documents.cells import write_row
from ovrag_core.documents.cleaning import clean, tidy

MAX_UNPACKED = 300_000_000  # bytes of all parts together
MAX_BODY = 60_000_000  # bytes of the part that holds the text
MAX_RATIO = 500  # of unpacked to packed; prose packs to a tenth or a twentieth, padding to a thousandth
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_GONE = frozenset((f"{_W}del", f"{_W}moveFrom", f"{_MC}Fallback", f"{_W}rPrChange", f"{_W}pPrChange"))
_MARKS = {f"{_W}tab": "\t", f"{_W}ptab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def read(name: str, data: bytes) -> str:
    """The text of a Word document: a blank line between paragraphs, a line for each row of a table.

    Deleted and hidden text is left out, inserted text and content controls are kept. Raises DocumentError for a
    package that is encrypted, damaged, not a Word document, or unpacks to an absurd size.
    """
    _refuse_bomb(name, data)
    try:
        body = docx.Document(io.BytesIO(data)).element.body
    except (PackageNotFoundError, zipfile.BadZipFile, KeyError, ValueError, etree.LxmlError, EOFError, OSError):
        raise DocumentError(f"{name} is damaged or no Word document; save it again as DOCX") from None
    return tidy(clean("\n\n".join(text for text in _blocks(body) if text.strip())))


def _refuse_bomb(name: str, data: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError):
        raise DocumentError(f"{name} is truncated or damaged; fetch or save it again") from None
    if any(m.flag_bits & 1 for m in members):
        raise DocumentError(f"{name} is encrypted; remove the password and try again")
    size = sum(m.file_size for m in members)
    body = max((m.file_size for m in members if m.filename.endswith(".xml")), default=0)
    if size > MAX_UNPACKED or body > MAX_BODY or (size > 20_000_000 and size > MAX_RATIO * len(data)):
        raise DocumentError(f"{name} unpacks to {size // 1_000_000} MB and was not opened; save its text as a new file")


def _blocks(parent: etree._Element) -> Iterator[str]:
    for child in parent:
        if child.tag == f"{_W}p":
            yield "".join(_inline(child)).strip()
        elif child.tag == f"{_W}tbl":
            yield _table(child)
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}customXml", f"{_W}smartTag"):
            yield from _blocks(child)


def _inline(element: etree._Element) -> Iterator[str]:
    for child in element:
        tag = child.tag
        if tag in _GONE or (tag == f"{_W}r" and _is_hidden(child)):
            continue
        if tag == f"{_W}t":
            yield child.text or ""
        elif tag in _MARKS:
            yield _MARKS[tag]
        elif tag == f"{_W}txbxContent":
            yield "\n" + "\n".join(_blocks(child)) + "\n"
        elif tag not in (f"{_W}pPr", f"{_W}rPr"):
            yield from _inline(child)


def _is_hidden(run: etree._Element) -> bool:
    vanish = run.find(f"{_W}rPr/{_W}vanish")
    return vanish is not None and vanish.get(f"{_W}val") not in ("0", "false", "off")


def _table(table: etree._Element) -> str:
    rows = []
    for row in _descend(table, f"{_W}tr"):
        cells = ["\n".join(text for text in _blocks(cell) if text.strip()) for cell in _descend(row, f"{_W}tc")]
        rows.append(write_row(cells))
    return "\n".join(filter(None, rows))


def _descend(parent: etree._Element, tag: str) -> Iterator[etree._Element]:
    """Children of a kind, content controls looked through, tables in cells not."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}customXml"):
            yield from _descend(child, tag)
