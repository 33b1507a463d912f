"""Files that a corpus is read from: documents, and files of paragraphs that were made of documents before."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ovrag_core.base.errors import CorpusError
from ovrag_core.documents import find
from ovrag_core.text.lines import one_line
from ovrag_studies.cited.corpus.paragraphs import read_paragraphs

HASH_DIGITS = 12
PARAGRAPHS = "paragraphs.jsonl"
PROCESSED = Path("processed") / PARAGRAPHS

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
    made = read_paragraphs(path)
    if not made.cuts:
        raise CorpusError(f"{path.name} holds no paragraph; check that it is the right file")
    read = tuple(FileParagraph(path.stem, path.name, each.page, each.number, each.text) for each in made.cuts)
    return PolicyFile(path, hashlib.sha256(path.read_bytes()).hexdigest(), read, made.scanned)


def _read_lines(path: Path) -> PolicyFile:
    try:
        data = path.read_bytes()
        lines = data.decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise CorpusError(f"{path} cannot be read; give a file of paragraphs in UTF-8") from None
    read = tuple(_read_line(path, number, line) for number, line in enumerate(lines, 1) if line.strip())
    if not read:
        raise CorpusError(f"{path} holds no paragraph; index the documents anew")
    again = [name for name, times in Counter(each.published_id for each in read).items() if times > 1]
    if again:
        raise CorpusError(f"{path} gives the id {again[0]} to several paragraphs; index the documents anew")
    return PolicyFile(path, hashlib.sha256(data).hexdigest(), read)


def _read_line(path: Path, number: int, line: str) -> FileParagraph:
    try:
        given = _ParagraphLine.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise CorpusError(f"{path}, line {number}: {where}: {one_line(first['msg'])}") from None
    said = _PUBLISHED_HASH.search(given.paragraph_id)
    if said and said[1] != text_hash(given.text):
        raise CorpusError(
            f"{path}, line {number}: the text is not the one that {one_line(given.paragraph_id, 120)} was made for; "
            "index the document anew"
        )
    return FileParagraph(
        given.doc_id, given.source_file, given.page, given.paragraph_index, given.text, given.paragraph_id
    )


def text_hash(text: str) -> str:
    """The first 12 hexadecimal digits of the text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


def published_id(read: FileParagraph) -> str:
    """A paragraph's id in the published form, `doc::p0003::i0000::sha12`, or the one that it was given."""
    return read.published_id or f"{read.doc_id}::p{read.page:04}::i{read.index:04}::{text_hash(read.text)}"
