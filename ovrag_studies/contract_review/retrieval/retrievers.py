"""Contracts on a shelf, and scorers of their chunks by name: a number for each chunk, -inf where nothing matches.

In scope is one contract (scoped), or all (pooled). Ties go to the earlier chunk, so results are repeatable.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy
from numpy.typing import NDArray

from ovrag_core.base import CorpusError, Document, bar
from ovrag_core.retrieval import Embedder, Scores, Vectors, WordRanker, join, kept_vectors
from ovrag_core.text import find_passages, stems
from ovrag_studies.contract_review.retrieval.expansion import ChunkQuery
from ovrag_studies.contract_review.texts.chunkers import ContractChunk, chunk

Units = Literal["chunk", "passage"]
DECIMALS = 6  # of a cosine: beyond, machines disagree
OPENING = 2000.0  # characters after which the prior of what stands at the beginning has fallen to 1/e
PASSAGES, SENTENCES = 0.5, 0.5  # weights of standardised scores beside that of BM25, the same for all categories
BEGINNING = 4.0  # standard deviations that the beginning is preferred by, for what stands there


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk that was retrieved, with its score; scores of two retrievers do not compare."""

    chunk: ContractChunk
    score: float


class Remembered:
    """An embedder that embeds a text once, however often it is asked for."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}
        self.name = embedder.name

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text (n × d)."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._known |= dict(zip(missing, self._embedder.embed(missing), strict=True))
        return numpy.stack([self._known[text] for text in texts]) if texts else self._embedder.embed([])


class Shelved:
    """One contract with its chunks and passages; vectors are made when they are needed (n × d)."""

    def __init__(self, document: Document, chunker: str, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self.document = document
        self.chunks = chunk(document, chunker)
        self.passages = tuple(find_passages(document.text))
        self._embed = embed

    def texts(self, what: Units) -> list[str]:
        """Return the texts of chunks or of passages."""
        spans = self.passages if what == "passage" else [(c.start, c.end) for c in self.chunks]
        return [self.document.text[start:end] for start, end in spans]

    @cached_property
    def sentence_vectors(self) -> Vectors:
        """Vectors of the passages."""
        return self._embed(self.texts("passage"))

    @cached_property
    def chunk_vectors(self) -> Vectors:
        """Vectors of the chunks."""
        return self._embed(self.texts("chunk"))

    @cached_property
    def owners(self) -> NDArray[numpy.intp]:
        """For each passage, the chunk that its middle lies in."""
        starts = [c.start for c in self.chunks]
        middles = [(start + end) // 2 for start, end in self.passages]
        return numpy.clip(numpy.searchsorted(starts, middles, "right") - 1, 0, None)


class ContractShelf:
    """Contracts cut by `chunker` (of `CHUNKERS`), ready to be searched. Raises CorpusError for two of one title."""

    def __init__(self, documents: Sequence[Document], chunker: str, embedder: Embedder) -> None:
        self.embedder = embedder
        self._lexicons: dict[tuple[Units, tuple[str, ...]], WordRanker] = {}
        self.contracts: dict[str, Shelved] = {}
        with bar(len(documents), "indexing", "contract") as progress:
            for document in documents:
                if document.id in self.contracts:
                    raise CorpusError(f"two contracts are called {document.id}; give each a title of its own")
                shelved = Shelved(document, chunker, partial(kept_vectors, embedder))
                self.contracts[document.id] = shelved
                _ = shelved.sentence_vectors
                progress.update()

    def words(self, what: Units, scope: Sequence[Shelved], query: ChunkQuery) -> Scores:
        """BM25 of the query's terms over chunks or passages; word statistics are those of the contracts in scope."""
        key = what, tuple(shelved.document.id for shelved in scope)
        if key not in self._lexicons:
            self._lexicons[key] = WordRanker([stems(text) for shelved in scope for text in shelved.texts(what)])
        return self._lexicons[key].scores(query.terms)


Scorer = Callable[[ContractShelf, ChunkQuery, Sequence[Shelved]], Scores]


def bm25(shelf: ContractShelf, query: ChunkQuery, scope: Sequence[Shelved]) -> Scores:
    """BM25 of the chunks."""
    return shelf.words("chunk", scope, query)


def minilm(shelf: ContractShelf, query: ChunkQuery, scope: Sequence[Shelved]) -> Scores:
    """Greatest cosine of a chunk with one of the query's texts."""
    return _cosines(shelf, query, [shelved.chunk_vectors for shelved in scope])


def sentences(shelf: ContractShelf, query: ChunkQuery, scope: Sequence[Shelved]) -> Scores:
    """Greatest cosine of a sentence of the chunk with one of the query's texts; -inf for a chunk without sentence."""
    return _best_of_passages(scope, _cosines(shelf, query, [shelved.sentence_vectors for shelved in scope]))


def _best_of_passages(scope: Sequence[Shelved], scores: Scores) -> Scores:
    begins = numpy.cumsum([0, *(len(shelved.chunks) for shelved in scope)])
    best = numpy.full(begins[-1], -numpy.inf)
    rows = [shelved.owners + begin for shelved, begin in zip(scope, begins, strict=False)]
    if best.size and scores.size:
        numpy.maximum.at(best, numpy.concatenate(rows), scores)
    return best


def _cosines(shelf: ContractShelf, query: ChunkQuery, vectors: Sequence[Vectors]) -> Scores:
    query_vectors = shelf.embedder.embed(query.texts).T
    by_contract = [(rows @ query_vectors).max(axis=1) for rows in vectors if len(rows)]
    cosines = numpy.concatenate(by_contract) if by_contract else numpy.empty(0)
    return numpy.round(cosines.astype(numpy.float64), DECIMALS)


def fused(shelf: ContractShelf, query: ChunkQuery, scope: Sequence[Shelved]) -> Scores:
    """Reciprocal rank fusion of words and sentences: Σ 1 / (60 + rank); what one does not match has no rank with it."""
    return join([bm25(shelf, query, scope), sentences(shelf, query, scope)])


def blend(shelf: ContractShelf, query: ChunkQuery, scope: Sequence[Shelved]) -> Scores:
    """Standardised scores of chunks, sentences and passages added up; the beginning is preferred for what is there."""
    passages = _best_of_passages(scope, shelf.words("passage", scope, query))
    weighted = [(1.0, bm25(shelf, query, scope)), (SENTENCES, sentences(shelf, query, scope)), (PASSAGES, passages)]
    total = _standardised(numpy.sum([weight * _standardised(scores) for weight, scores in weighted], axis=0))
    if query.beginning:
        starts = numpy.array([c.start for shelved in scope for c in shelved.chunks], dtype=numpy.float64)
        total += BEGINNING * numpy.exp(-starts / OPENING)
    return numpy.round(total, DECIMALS)


def _standardised(scores: Scores) -> Scores:
    finite = scores[numpy.isfinite(scores)]
    if finite.size == 0:
        return numpy.zeros(len(scores))
    filled = numpy.where(numpy.isfinite(scores), scores, min(0.0, finite.min()))
    spread = filled.std()
    return numpy.asarray((filled - filled.mean()) / spread if spread > 0 else numpy.zeros(len(scores)))


SCORERS: dict[str, Scorer] = {"minilm": minilm, "bm25": bm25, "sentences": sentences, "rrf": fused, "blend": blend}


def search(
    shelf: ContractShelf, retriever: str, asked: Sequence[ChunkQuery], k: int | None = 3, *, within: str | None = None
) -> list[FoundChunk]:
    """Return the best `k` chunks, or all, best first; fewer where there are fewer or nothing matches.

    Rankings of several queries are joined by reciprocal rank fusion. `within` is the contract to search, None for all;
    `retriever` is a key of `SCORERS`. Raises CorpusError for an unknown contract.
    """
    if within not in (None, *shelf.contracts):
        raise CorpusError(f"there is no contract {within!r} among the {len(shelf.contracts)} indexed ones")
    scope = [shelved for title, shelved in shelf.contracts.items() if within in (None, title)]
    scores = [SCORERS[retriever](shelf, query, scope) for query in asked]
    total = scores[0] if len(scores) == 1 else join(scores)
    order = numpy.argsort(-total, kind="stable")[:k]
    chunks = [c for shelved in scope for c in shelved.chunks]
    return [FoundChunk(chunks[row], float(total[row])) for row in order if numpy.isfinite(total[row])]
