"""A corpus of policies as paragraphs, each one piece of evidence wherever and however often it stands.

The text of a document is its paragraphs in order, with an empty line between two of them; offsets count in it. A
paragraph's id is its document and the hash of its text, with a number where a document says the same twice: it stays
when other paragraphs come or go.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ovrag_core.errors import CorpusError
from ovrag_core.lines import one_line

BETWEEN = "\n\n"
HASH_DIGITS = 12

_PUBLISHED_HASH = re.compile(r"::([0-9a-f]{12})$")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a paragraph stands: `Document.text[start:end]` is its text. `published_id` is what its file calls it."""

    doc_id: str
    page: int
    index: int
    id: str
    start: int
    end: int
    published_id: str | None = None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One piece of evidence with all its places, at least one; it is cited by its first."""

    text: str
    places: tuple[Place, ...]

    @property
    def doc_id(self) -> str:
        """The document of the first place."""
        return self.places[0].doc_id

    @property
    def page(self) -> int:
        """The page of the first place, from 1."""
        return self.places[0].page

    @property
    def index(self) -> int:
        """Its number on that page, from 0."""
        return self.places[0].index

    @property
    def id(self) -> str:
        """The id of the first place."""
        return self.places[0].id

    @property
    def start(self) -> int:
        """Where it begins in the text of its document."""
        return self.places[0].start

    @property
    def end(self) -> int:
        """Where it ends in the text of its document."""
        return self.places[0].end

    @property
    def ids(self) -> frozenset[str]:
        """All names that it goes by: ids of its places, and those that files gave it."""
        return frozenset(name for place in self.places for name in (place.id, place.published_id) if name is not None)


@dataclass(frozen=True, slots=True)
class PolicyDocument:
    """A document of the corpus; `sha256` is that of the file that it was read from."""

    doc_id: str
    file: str
    sha256: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Paragraphs in the order of their first places, and the documents by their ids."""

    paragraphs: tuple[Paragraph, ...]
    documents: dict[str, PolicyDocument]

    def by_id(self) -> dict[str, Paragraph]:
        """Each paragraph by every name that it goes by."""
        return {name: paragraph for paragraph in self.paragraphs for name in paragraph.ids}


@dataclass(frozen=True, slots=True)
class Read:
    """A paragraph as a file gives it, before its offsets are known."""

    doc_id: str
    file: str
    page: int
    index: int
    text: str
    published_id: str | None = None


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    doc_id: str
    source_file: str
    page: int
    paragraph_index: int
    paragraph_id: str
    text: str


def read_corpus(path: Path) -> Corpus:
    """The corpus of a file of paragraphs, one JSON object a line.

    Raises CorpusError, with the line, where a line is none, an id stands twice, or a text is not the one that its id
    was made for.
    """
    try:
        data = path.read_bytes()
        lines = data.decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise CorpusError(f"{path} cannot be read; give a file of paragraphs in UTF-8") from None
    read = [_read_line(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not read:
        raise CorpusError(f"{path} holds no paragraph; index the documents anew")
    again = [name for name, times in Counter(each.published_id for each in read).items() if times > 1]
    if again:
        raise CorpusError(f"{path} gives the id {again[0]} to several paragraphs; index the documents anew")
    digest = hashlib.sha256(data).hexdigest()
    return assemble(read, dict.fromkeys((each.doc_id for each in read), digest))


def _read_line(path: Path, number: int, line: str) -> Read:
    try:
        given = _Line.model_validate_json(line)
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
    return Read(given.doc_id, given.source_file, given.page, given.paragraph_index, given.text, given.paragraph_id)


def assemble(read: Iterable[Read], sha256: dict[str, str]) -> Corpus:
    """The corpus of paragraphs in reading order, those of a document together; `sha256` is by document."""
    by_document: dict[str, list[Read]] = {}
    for each in read:
        by_document.setdefault(each.doc_id, []).append(each)
    places: dict[str, list[Place]] = {}
    for paragraphs in by_document.values():
        for place, paragraph in zip(_placed(paragraphs), paragraphs, strict=True):
            places.setdefault(paragraph.text, []).append(place)
    documents = {
        doc_id: PolicyDocument(
            doc_id, paragraphs[0].file, sha256[doc_id], BETWEEN.join(each.text for each in paragraphs)
        )
        for doc_id, paragraphs in by_document.items()
    }
    return Corpus(tuple(Paragraph(text, tuple(found)) for text, found in places.items()), documents)


def _placed(paragraphs: Sequence[Read]) -> list[Place]:
    start, seen, result = 0, Counter[str](), []
    for each in paragraphs:
        digest = text_hash(each.text)
        seen[digest] += 1
        again = f"::{seen[digest]}" if seen[digest] > 1 else ""
        end = start + len(each.text)
        result.append(
            Place(each.doc_id, each.page, each.index, f"{each.doc_id}::{digest}{again}", start, end, each.published_id)
        )
        start = end + len(BETWEEN)
    return result


def text_hash(text: str) -> str:
    """The first 12 hexadecimal digits of the text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
