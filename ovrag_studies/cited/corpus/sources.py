"""Files that a corpus is read from: documents, and files of paragraphs that were made of documents before."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ovrag_core.base import CorpusError, read_records
from ovrag_core.documents import find
from ovrag_core.text import one_line
from ovrag_studies.cited.corpus.paragraphs import read_paragraphs

HASH_DIGITS = 12
PARAGRAPHS = "paragraphs.jsonl"
PROCESSED = Path("processed") / PARAGRAPHS
REMEDY = "give a file of paragraphs as it was made"

_PUBLISHED_HASH = re.compile(r"::([0-9a-f]{12})$")


@dataclass(frozen=True, slots=True)
class FileParagraph:
    """A paragraph as a file gives it, before its offsets are known."""

    doc_id: str
    file: str
    page: int
    index: int
    text: str
    published_id: str | None = None


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A file with the hash of its bytes, its paragraphs in order, and pages of it that are images without text."""

    path: Path
    sha256: str
    read: tuple[FileParagraph, ...]
    scanned: tuple[int, ...] = ()


class _ParagraphLine(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    doc_id: str
    source_file: str
    page: int
    paragraph_index: int
    paragraph_id: str
    text: str


def find_sources(path: Path) -> list[Path]:
    """The file itself, the file of paragraphs of a folder that has one, else the documents in the folder.

    Raises DocumentError for a path that is not there, and for a folder without documents.
    """
    for name in (PROCESSED, Path(PARAGRAPHS)):
        if (path / name).is_file():
            return [path / name]
    return find(path)


def read_source(path: Path) -> PolicyFile:
    """The paragraphs of a document, or of a file of paragraphs, which ends in `.jsonl`.

    Raises DocumentError for a document that cannot be read, and CorpusError, with the line, where a line of a file of
    paragraphs is none, an id stands twice, or a text is not the one that its id was made for.
    """
    if path.suffix == ".jsonl":
        return _read_lines(path)
    paragraphs = read_paragraphs(path)
    if not paragraphs.cuts:
        raise CorpusError(f"{path.name} holds no paragraph; check that it is the right file")
    read = tuple(FileParagraph(path.stem, path.name, cut.page, cut.number, cut.text) for cut in paragraphs.cuts)
    return PolicyFile(path, hashlib.sha256(path.read_bytes()).hexdigest(), read, paragraphs.scanned)


def _read_lines(path: Path) -> PolicyFile:
    lines = read_records(path, _ParagraphLine, CorpusError, REMEDY)
    read = tuple(_read_line(path, number, line) for number, line in lines)
    if not read:
        raise CorpusError(f"{path} holds no paragraph; {REMEDY}")
    repeated = [name for name, times in Counter(paragraph.published_id for paragraph in read).items() if times > 1]
    if repeated:
        raise CorpusError(f"{path} gives the id {repeated[0]} to several paragraphs; {REMEDY}")
    return PolicyFile(path, hashlib.sha256(path.read_bytes()).hexdigest(), read)


def _read_line(path: Path, number: int, line: _ParagraphLine) -> FileParagraph:
    hash_match = _PUBLISHED_HASH.search(line.paragraph_id)
    if hash_match and hash_match[1] != text_hash(line.text):
        raise CorpusError(
            f"{path}, line {number}: the text is not the one that {one_line(line.paragraph_id, 120)} was made for; "
            f"{REMEDY}"
        )
    return FileParagraph(line.doc_id, line.source_file, line.page, line.paragraph_index, line.text, line.paragraph_id)


def text_hash(text: str) -> str:
    """The first 12 hexadecimal digits of the text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
