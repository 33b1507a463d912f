"""Contracts cut into chunks in the ways the study compares; every chunk knows its span and the clause it begins in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from ovrag_core.base import Chunk, Document
from ovrag_core.documents import split
from ovrag_core.text import Span, strip_span
from ovrag_studies.contract_review.texts.clause_tree import ContractClause, find_clauses, label, path_at


@dataclass(frozen=True, slots=True)
class ContractChunk(Chunk):
    """A chunk with the clauses that its first character lies in, in words; empty before the first clause."""

    section: str = ""


Chunker = Callable[[Document, Sequence[ContractClause]], list[Span]]


def chunk(document: Document, name: str) -> tuple[ContractChunk, ...]:
    """Return the chunks of a contract in order, cut as `name` says (a key of `CHUNKERS`)."""
    id_, text = document.id, document.text
    tree = find_clauses(text)
    return tuple(
        ContractChunk(f"{id_}#{number:04d}", id_, start, end, text[start:end], label(path_at(tree, start)))
        for number, (start, end) in enumerate(CHUNKERS[name](document, tree))
    )


def by_clause(document: Document, clauses: Sequence[ContractClause], size: int, least: int) -> list[Span]:
    """Whole clauses, short ones joined with the next until `least` characters, long ones cut at the ends of sentences.

    No chunk is longer than `size` characters, and none crosses into an uppermost clause once it has `least`.
    """
    text = document.text
    parts: list[Span] = []
    for start, end in pairwise(sorted({0, len(text), *(clause.start for clause in clauses)})):
        if end - start <= size:
            parts.append((start, end))
        else:
            pieces = split(Document("", text[start:end]), "recursive", size, 0)
            parts += [(start + piece.start, start + piece.end) for piece in pieces]
    chunks: list[Span] = []
    for start, end in parts:
        chunk_start, chunk_end = chunks[-1] if chunks else (start, start)
        if chunks and end - chunk_start <= size and chunk_end - chunk_start < least:
            chunks[-1] = (chunk_start, end)
        else:
            chunks.append((start, end))
    return [span for span in (strip_span(text, *chunk) for chunk in chunks) if span[0] < span[1]]


def _shared(document: Document, clauses: Sequence[ContractClause], method: str, size: int, overlap: int) -> list[Span]:
    return [(piece.start, piece.end) for piece in split(document, method, size, overlap)]


CHUNKERS: dict[str, Chunker] = {
    "fixed-2048": partial(_shared, method="fixed", size=2048, overlap=0),
    "recursive-2048": partial(_shared, method="recursive", size=2048, overlap=0),
    "recursive-2048-200": partial(_shared, method="recursive", size=2048, overlap=200),
    "paragraph": partial(_shared, method="paragraph", size=2048, overlap=0),
    "clause-1024": partial(by_clause, size=1024, least=300),
}
