"""Files that a corpus is read from: documents, and files of paragraphs that were made of documents before.

The paragraphs of a document are those of Policy Copilot's ingest (COMP3931, University of Leeds, 2026): blocks between
empty lines of its pages in reading order, a heading with what it stands over, long ones cut.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ovrag_core.base import CorpusError, Document, Frozen, read_records
from ovrag_core.documents import find, load, scanned_pages
from ovrag_core.text import find_passages, one_line

REMEDY = "give a file of paragraphs as it was made"
SHORTEST = 20  # characters: what is no longer says nothing by itself
LONGEST = 400  # characters, from which a paragraph is cut at the ends of sentences
HEADING = 80  # characters that a heading has at most

_PUBLISHED_HASH = re.compile(r"::([0-9a-f]{12})$")
_BLOCK = re.compile(r"\S(?:.|\n(?!\s*\n))*")
_HEADING = re.compile(r"(?:[A-Z(]|\d+(?:\.\d+)*[.)]?\s+[A-Z]).*[^\s.;,!?:]")


@dataclass(frozen=True, slots=True)
class FileParagraph:
    """A paragraph as a file gives it: page from 1, its number on that page from 0; its offsets are not known yet."""

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
    read: list[FileParagraph]
    scanned: tuple[int, ...]


class _ParagraphLine(Frozen, extra="ignore", strict=True):
    doc_id: str
    source_file: str
    page: int
    paragraph_index: int
    paragraph_id: str
    text: str


def find_sources(path: Path) -> list[Path]:
    """The file itself, a folder's file of paragraphs, else its documents. Raises DocumentError where there is none."""
    made_before = [path / "processed/paragraphs.jsonl", path / "paragraphs.jsonl"]
    return [file for file in made_before if file.is_file()][:1] or find(path)


def read_source(path: Path) -> PolicyFile:
    """The paragraphs of a document, or of a file of paragraphs, which ends in `.jsonl`; formats without pages have one.

    Raises DocumentError for a document that cannot be read, and CorpusError, with the line, where a line of a file of
    paragraphs is none, an id stands twice, or a text is not the one that its id was made for.
    """
    scanned: list[int] = []
    if path.suffix == ".jsonl":
        read = _read_lines(path)
    else:
        document = load(path)
        if not (read := list(_cut(document, path))):
            raise CorpusError(f"{path.name} holds no paragraph; check that it is the right file")
        if blank := [page.number for page in document.pages if not document.text[page.start : page.end].strip()]:
            scanned = scanned_pages(path.read_bytes(), blank)
    return PolicyFile(path, hashlib.sha256(path.read_bytes()).hexdigest(), read, tuple(scanned))


def _read_lines(path: Path) -> list[FileParagraph]:
    read = []
    for number, line in read_records(path, _ParagraphLine, CorpusError, REMEDY):
        name, text = line.paragraph_id, line.text
        if (hash_match := _PUBLISHED_HASH.search(name)) and hash_match[1] != text_digest(text)[:12]:
            made_for = f"the text is not the one that {one_line(name, 120)} was made for"
            raise CorpusError(f"{path}, line {number}: {made_for}; {REMEDY}")
        read.append(FileParagraph(line.doc_id, line.source_file, line.page, line.paragraph_index, text, name))
    if not read:
        raise CorpusError(f"{path} holds no paragraph; {REMEDY}")
    if repeated := [name for name, times in Counter(line.published_id for line in read).items() if times > 1]:
        raise CorpusError(f"{path} gives the id {repeated[0]} to several paragraphs; {REMEDY}")
    return read


def _cut(document: Document, path: Path) -> Iterator[FileParagraph]:
    blocks = ((document.page_at(m.start()) or 1, " ".join(m[0].split())) for m in _BLOCK.finditer(document.text))
    counts = Counter[int]()
    for page, text in _headed(blocks):
        for part in _parts(text):
            if len(part) > SHORTEST:
                yield FileParagraph(path.stem, path.name, page, counts[page], part)
                counts[page] += 1


def _headed(blocks: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Blocks with their pages, a heading joined with the block below it; a title stands over the whole document."""
    over = 0, ""  # the heading of the next block, with its page; empty for none
    for index, (page, text) in enumerate(blocks):
        if index == 0 and text[0].isalpha():
            yield page, text
            continue
        if over[1] and over[0] != page:
            yield over
            over = 0, ""
        joined = f"{over[1]} {text}".lstrip()
        over = page, joined if len(joined) <= HEADING and _HEADING.fullmatch(joined) else ""
        if not over[1]:
            yield page, joined
    if over[1]:
        yield over


def _parts(text: str) -> Iterator[str]:
    if len(text) <= LONGEST:
        yield text
        return
    start = end = 0
    for sentence_start, sentence_end in find_passages(text):
        if end > start and sentence_end - start > LONGEST:
            yield text[start:end]
            start = sentence_start
        end = sentence_end
    yield text[start:].strip()


def text_digest(text: str) -> str:
    """The text's SHA-256 in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
