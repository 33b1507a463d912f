"""Tell the kind of document that a file is by its content."""

import io
import re
import zipfile
from typing import Literal

from ovrag_core.base import DocumentError

Kind = Literal["pdf", "docx", "html", "text"]

_PDF_WINDOW = 1024  # readers accept a header within the first kilobyte
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_HTML_TAG = re.compile(rb"<(?:html|body|div|p|table|span|h[1-6]|br|ul|pre)\b[^>]*>", re.I)
_IMAGES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"BM6")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x19\x1c-\x1f\x7f]")
_CONTROL_SHARE = 0.01
_MUST_NOT_BE_TEXT = {"pdf": "PDF"} | dict.fromkeys(("docx", "docm", "doc"), "Word document")


def tell_kind(name: str, data: bytes) -> Kind:
    """The kind of the file `name` that holds `data` (not empty).

    Raises DocumentError for a kind that cannot be read, and where the content belies a suffix such as `.pdf`.
    """
    suffix = name.lower().rpartition(".")[2] if "." in name else ""
    if b"%PDF-" in data[:_PDF_WINDOW]:
        return "pdf"
    if data.startswith(b"PK"):
        return _tell_archive(name, data)
    if problem := _binary_problem(data):
        raise DocumentError(f"{name} is {problem}")
    if kind := _MUST_NOT_BE_TEXT.get(suffix):
        raise DocumentError(f"{name} is not a {kind} but plain text; rename it to end in .txt and try again")
    is_named_html = suffix in ("html", "htm", "xhtml") and _HTML_TAG.search(data)
    return "html" if is_named_html or _HTML_START.match(data.removeprefix(b"\xef\xbb\xbf")) else "text"


def _binary_problem(data: bytes) -> str | None:
    if data.startswith(_OLE) and _ENCRYPTED_PACKAGE in data:
        return "encrypted; remove the password and try again"
    if data.startswith(_OLE):
        return "in an old Office format; save it as DOCX or PDF and try again"
    if data.startswith(b"{\\rtf"):
        return "in Rich Text Format; save it as DOCX or PDF and try again"
    if data.startswith(_IMAGES):
        return "an image without text; run text recognition (OCR) on it and try again"
    sample = data[:1_000_000]
    if not data.startswith(tuple(BYTE_ORDER_MARKS)) and len(_CONTROLS.findall(sample)) > _CONTROL_SHARE * len(sample):
        return "not a document of a supported kind; convert it to PDF, DOCX, HTML or plain text"
    return None


def _tell_archive(name: str, data: bytes) -> Kind:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, EOFError):
        raise DocumentError(f"{name} is truncated or damaged; fetch or save it again") from None
    if "word/document.xml" in names or "[Content_Types].xml" in names:
        return "docx"
    raise DocumentError(f"{name} is an archive; unpack it and name the documents in it")
