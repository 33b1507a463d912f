"""Files opened as documents, whatever their kind, and folders of them."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ovrag_core.base import CorpusError, Document, DocumentError, Page, bar
from ovrag_core.documents import html, pdf, word
from ovrag_core.documents.kind import BYTE_ORDER_MARKS, tell_kind
from ovrag_core.documents.sections import find_sections

SUFFIXES = (".pdf", ".txt", ".text", ".html", ".htm", ".xhtml", ".docx", ".docm", ".md")
MAX_BYTES = 200_000_000
MAX_CHARACTERS = 5_000_000  # some 1,500 pages, whose reading takes minutes
# From Latin-1 to WHATWG's windows-1252, where the five bytes that it leaves undefined stand for themselves.
_WINDOWS_1252 = {byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0xA0)}


def load(path: Path, document_id: str | None = None) -> Document:
    """The document at `path`; its id is `document_id`, or the stem of the file's name.

    Raises DocumentError, with one sentence that names the file and the remedy, for whatever cannot be read: a missing
    path, a folder, an empty, encrypted, truncated or scanned file, or a kind that is not supported.
    """
    data = _read_bytes(path)
    kind = tell_kind(path.name, data)
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
    marked = next((encoding for mark, encoding in BYTE_ORDER_MARKS.items() if data.startswith(mark)), None)
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
