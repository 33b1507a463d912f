"""A corpus of policies as paragraphs, each one piece of evidence wherever and however often it stands.

The text of a document is its paragraphs in order, with an empty line between two of them; offsets count in it. A
paragraph's id is its document and the hash of its text, with a number where a document says the same twice: it stays
when other paragraphs come or go.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from ovrag_core.base import CorpusError
from ovrag_core.text import one_line
from ovrag_studies.cited.corpus.sources import FileParagraph, PolicyFile, find_sources, read_source, text_digest

BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class ParagraphPlace:
    """Place of a paragraph: `Document.text[start:end]` is its text. `published_id` is what its file calls it.

    `page` counts from 1, `index`, its number on that page, from 0.
    """

    doc_id: str
    page: int
    index: int
    id: str
    start: int
    end: int
    published_id: str | None


@dataclass(frozen=True, slots=True)
class Paragraph(ParagraphPlace):
    """One piece of evidence with all its places; it is cited by its first, which its own fields are of."""

    text: str
    places: tuple[ParagraphPlace, ...]

    @property
    def ids(self) -> frozenset[str]:
        """All names that it goes by: ids of its places, and those that files gave it."""
        return frozenset(name for place in self.places for name in (place.id, place.published_id) if name is not None)


@dataclass(frozen=True, slots=True)
class PolicyDocument:
    """A document of the corpus. `sha256` is that of its file, be it one of paragraphs; `scanned` pages have no text."""

    doc_id: str
    file: str
    sha256: str
    text: str
    scanned: tuple[int, ...] = ()


@dataclass(frozen=True)
class PolicyCorpus:
    """Paragraphs in the order of their first places, and the documents by their ids."""

    paragraphs: tuple[Paragraph, ...]
    documents: dict[str, PolicyDocument]

    @cached_property
    def by_id(self) -> dict[str, Paragraph]:
        """Each paragraph by every name that it goes by."""
        return {name: paragraph for paragraph in self.paragraphs for name in paragraph.ids}

    @cached_property
    def digest(self) -> str:
        """A hash over the texts of all documents under their ids; the order of documents does not matter."""
        texts = sorted((document.doc_id, document.text) for document in self.documents.values())
        return text_digest(json.dumps(texts))[:16]

    def places_in(self, doc_id: str) -> list[tuple[ParagraphPlace, Paragraph]]:
        """The places in a document, in reading order, each with its paragraph."""
        places = [(place, paragraph) for paragraph in self.paragraphs for place in paragraph.places]
        return sorted((pair for pair in places if pair[0].doc_id == doc_id), key=lambda pair: pair[0].start)


def read_corpus(*paths: Path) -> PolicyCorpus:
    """Return the corpus of folders and files: documents, or files of paragraphs (one JSON object a line).

    Raises DocumentError for a document that cannot be read, and CorpusError for a line that is no paragraph, and where
    two files make documents of one id.
    """
    by_document: dict[str, PolicyFile] = {}
    read: list[FileParagraph] = []
    for source in (read_source(file) for path in paths for file in find_sources(path)):
        for doc_id in dict.fromkeys(paragraph.doc_id for paragraph in source.read):
            if by_document.setdefault(doc_id, source) is not source:
                both = f"{source.path} and {by_document[doc_id].path}"
                raise CorpusError(f"{both} both make a document {one_line(doc_id, 80)}; rename one of them")
        read += source.read
    hashes = {doc_id: source.sha256 for doc_id, source in by_document.items()}
    return assemble(read, hashes, {doc_id: source.scanned for doc_id, source in by_document.items()})


def require_known(ids: Iterable[str], corpus: PolicyCorpus, what: str) -> None:
    """Raise CorpusError, with the list, where `what` names paragraphs that the corpus does not have."""
    if unknown := sorted({name for name in ids if name not in corpus.by_id}):
        raise CorpusError(
            f"{what} names {len(unknown)} paragraphs that the corpus does not have: "
            f"{', '.join(one_line(name, 120) for name in unknown)}; give the corpus that it was made for"
        )


def assemble(
    read: Iterable[FileParagraph], sha256: Mapping[str, str], scanned: Mapping[str, tuple[int, ...]] | None = None
) -> PolicyCorpus:
    """Return the corpus of paragraphs in reading order, those of a document together; hashes and pages by document."""
    by_document: dict[str, list[FileParagraph]] = {}
    for file_paragraph in read:
        by_document.setdefault(file_paragraph.doc_id, []).append(file_paragraph)
    places: dict[str, list[ParagraphPlace]] = {}
    documents = {}
    for doc_id, paragraphs in by_document.items():
        start, counts = 0, Counter[str]()
        for paragraph in paragraphs:
            name = f"{doc_id}::{text_digest(paragraph.text)[:12]}"
            counts[name] += 1
            name += f"::{counts[name]}" if counts[name] > 1 else ""
            end = start + len(paragraph.text)
            place = ParagraphPlace(doc_id, paragraph.page, paragraph.index, name, start, end, paragraph.published_id)
            places.setdefault(paragraph.text, []).append(place)
            start = end + len(BETWEEN)
        text = BETWEEN.join(paragraph.text for paragraph in paragraphs)
        images = (scanned or {}).get(doc_id, ())
        documents[doc_id] = PolicyDocument(doc_id, paragraphs[0].file, sha256[doc_id], text, images)
    merged = (
        Paragraph(**asdict(places_of[0]), text=text, places=tuple(places_of)) for text, places_of in places.items()
    )
    return PolicyCorpus(tuple(merged), documents)
