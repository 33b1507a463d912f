"""Files opened as documents, whatever their kind, which their content tells, and folders of them."""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ovrag_core.base import CorpusError, Document, DocumentError, Page, bar
from ovrag_core.documents import html, pdf, word
from ovrag_core.documents.sections import find_sections

SUFFIXES = (".pdf", ".txt", ".text", ".html", ".htm", ".xhtml", ".docx", ".docm", ".md")
MAX_BYTES = 200_000_000
MAX_CHARACTERS = 5_000_000  # some 1,500 pages, whose reading takes minutes
# From Latin-1 to WHATWG's windows-1252, where the five bytes that it leaves undefined stand for themselves.
_WINDOWS_1252 = {byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0xA0)}

Kind = Literal["pdf", "docx", "html", "text"]
_PDF_WINDOW = 1024  # readers accept a header within the first kilobyte
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_HTML_TAG = re.compile(rb"<(?:html|body|div|p|table|span|h[1-6]|br|ul|pre)\b[^>]*>", re.I)
_IMAGES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"BM6")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x19\x1c-\x1f\x7f]")
_CONTROL_SHARE = 0.01
_MUST_NOT_BE_TEXT = {"pdf": "PDF"} | dict.fromkeys(("docx", "docm", "doc"), "Word document")


def load(path: Path, document_id: str | None = None) -> Document:
    """The document at `path`; its id is `document_id`, or the stem of the file's name.

    Raises DocumentError, with one sentence that names the file and the remedy, for whatever cannot be read: a missing
    path, a folder, an empty, encrypted, truncated or scanned file, or a kind that is not supported.
    """
    data = _read_bytes(path)
    kind = _tell_kind(path.name, data)
    pages: tuple[Page, ...] = ()
    if kind == "pdf":
        text, pages = pdf.read(path.name, data)
    else:
        text = {"docx": word.read, "html": html.read, "text": _read_plain}[kind](path.name, data)
    if not text.strip():
        raise DocumentError(f"{path.name} holds no text; check that it is the right file")
    if len(text) > MAX_CHARACTERS:
        raise DocumentError(f"{path.name} holds more than {MAX_CHARACTERS:,} characters; split it and try again")
    return Document(
        id=path.stem if document_id is None else document_id, text=text, pages=pages, sections=find_sections(text)
    )


def _read_plain(name: str, data: bytes) -> str:
    """The text of a plain-text file, without newline translation: offsets count characters of the file itself.

    A byte-order mark decides the encoding and stays in the text as its first character, so that offsets agree with
    `data.decode("utf-8")`. Without one it is UTF-8, or else Windows-1252.
    """
    marked = next((encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if data.startswith(mark)), None)
    try:
        return data.decode(marked or "utf-8")
    except UnicodeDecodeError:
        if marked:
            raise DocumentError(f"{name} is not valid {marked.upper()}; save it as UTF-8 and try again") from None
        return data.decode("latin-1").translate(_WINDOWS_1252)


def find(path: Path) -> list[Path]:
    """The file itself, or the readable documents below a folder, sorted by path.

    Files whose suffix is not supported, hidden files and Word's lock files are passed over. Raises DocumentError for a
    path that does not exist, and for a folder that holds no document.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise DocumentError(f"{path} does not exist; check the path")
    documents = [file for file in _files(path) if file.suffix.lower() in SUFFIXES]
    if not documents:
        raise DocumentError(f"{path} holds no document; supported are {', '.join(SUFFIXES)}")
    return documents


def passed_over(folder: Path) -> list[Path]:
    """Files below a folder that `find` does not return, hidden ones apart, sorted by path; none for a file."""
    return [file for file in _files(folder) if file.suffix.lower() not in SUFFIXES] if folder.is_dir() else []


def load_readable(paths: Sequence[Path]) -> tuple[list[Document], dict[Path, str]]:
    """Documents in the order of their paths, and for each that cannot be read why. Raises CorpusError for equal ids."""
    documents: list[Document] = []
    faults: dict[Path, str] = {}
    with bar(len(paths), "reading", "document") as progress:
        for path in paths:
            try:
                documents.append(load(path))
            except DocumentError as error:
                faults[path] = str(error)
            progress.update()
    refuse_doubled([document.id for document in documents])
    return documents, faults


def refuse_doubled(ids: Sequence[str]) -> None:
    """Raise CorpusError where two documents have one id."""
    if doubled := sorted(id_ for id_, count in Counter(ids).items() if count > 1):
        raise CorpusError(f"two documents are called {doubled[0]}; give each file a name of its own")


def _files(folder: Path) -> list[Path]:
    """The files below a folder, sorted by path, without hidden ones and Word's lock files."""
    shown = (
        path
        for path in folder.rglob("*")
        if not any(name.startswith((".", "~$")) for name in path.relative_to(folder).parts) and path.is_file()
    )
    return sorted(shown)


def _read_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise DocumentError(f"{path} is a folder; name a file in it")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(f"{path.name} is larger than {MAX_BYTES // 1_000_000} MB; split it and try again")
        data = path.read_bytes()
    except FileNotFoundError:
        raise DocumentError(f"{path} does not exist; check the path") from None
    except PermissionError:
        raise DocumentError(f"{path} may not be read; change its permissions and try again") from None
    except (OSError, ValueError) as error:
        raise DocumentError(f"{path} cannot be read ({error}); check the path") from None
    if not data:
        raise DocumentError(f"{path.name} is empty; check that it was saved completely")
    return data


def _tell_kind(name: str, data: bytes) -> Kind:
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
    if not data.startswith(tuple(_BYTE_ORDER_MARKS)) and len(_CONTROLS.findall(sample)) > _CONTROL_SHARE * len(sample):
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
