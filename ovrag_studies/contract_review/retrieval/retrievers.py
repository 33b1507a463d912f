"""Contracts on a shelf, and retrievers of their chunks by name.

A scorer gives every chunk of the contracts in scope a number, -inf where nothing matches; a retriever takes the best.
In scope is one contract (scoped), several, or all (pooled). Ties go to the earlier chunk, so results are repeatable.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Literal

import numpy
from numpy.typing import NDArray

from ovrag_core.base.errors import CorpusError, SettingsError
from ovrag_core.base.progress import bar
from ovrag_core.base.types import Chunk, Document
from ovrag_core.documents import chunking
from ovrag_core.retrieval import index as chroma
from ovrag_core.retrieval.embedding import Embedder, Vectors
from ovrag_core.retrieval.fusion import join
from ovrag_core.retrieval.lexical import Scores, WordRanker
from ovrag_core.retrieval.vectors import VECTORS, kept_vectors
from ovrag_core.text import passages as passages_module
from ovrag_core.text.passages import find_passages
from ovrag_core.text.sentences import Span
from ovrag_core.text.stems import pairs, stems
from ovrag_studies.contract_review.retrieval.expansion import ChunkQuery, model_clauses
from ovrag_studies.contract_review.texts import chunkers, clause_tree
from ovrag_studies.contract_review.texts.chunkers import ContractChunk

Units = Literal["chunk", "caption", "passage", "phrase"]
CUTS = Path("data/cache/contract_review")
KEPT = 4_096  # lexicons in memory
DECIMALS = 6  # of a cosine: beyond, machines disagree
OPENING = 2000.0  # characters after which the prior of what stands at the beginning has fallen to 1/e
PHRASES, PASSAGES, SENTENCES, HEADINGS = 0.3, 0.3, 0.5, 0.3  # weights of standardised scores beside that of BM25
BEGINNING = 4.0  # standard deviations that the beginning is preferred by, for what stands there


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk that was retrieved, with its score; scores of two retrievers do not compare."""

    chunk: ContractChunk
    score: float


class Shelved:
    """One contract with its chunks and the vectors of its sentences; what is costly is made when it is needed."""

    def __init__(
        self,
        document: Document,
        chunks: Sequence[ContractChunk],
        captions: Sequence[str],
        passages: Sequence[Span],
        embed: Callable[[Sequence[str]], Vectors],
    ) -> None:
        self.document = document
        self.chunks = tuple(chunks)
        self.captions = tuple(captions)
        self.passages = tuple(passages)
        self._embed = embed

    @cached_property
    def sentence_vectors(self) -> Vectors:
        """Vectors of the passages (n × d)."""
        return self._embed([self.document.text[start:end] for start, end in self.passages])

    @cached_property
    def chunk_vectors(self) -> Vectors:
        """Vectors of the chunks (n × d)."""
        return self._embed([chunk.text for chunk in self.chunks])

    def units(self, what: Units) -> list[list[str]]:
        """What words are matched in: stems of chunks, captions or passages, or pairs of stems of chunks."""
        text = self.document.text
        if what == "passage":
            return [stems(text[start:end]) for start, end in self.passages]
        if what == "caption":
            return [stems(caption) for caption in self.captions]
        found = [stems(chunk.text) for chunk in self.chunks]
        return [pairs(each) for each in found] if what == "phrase" else found

    @cached_property
    def owners(self) -> NDArray[numpy.intp]:
        """For each passage, the chunk that its middle lies in."""
        starts = [chunk.start for chunk in self.chunks]
        middles = [(start + end) // 2 for start, end in self.passages]
        return numpy.clip(numpy.searchsorted(starts, middles, "right") - 1, 0, None)


class ContractShelf:
    """Contracts cut in one way, ready to be searched."""

    def __init__(self, shelved: Sequence[Shelved], embedder: Embedder, vectors: Path = VECTORS) -> None:
        self.contracts = {each.document.id: each for each in shelved}
        if len(self.contracts) < len(shelved):
            ids = [each.document.id for each in shelved]
            doubled = next(id_ for id_ in ids if ids.count(id_) > 1)
            raise CorpusError(f"two contracts are called {doubled}; give each a title of its own")
        self._embedder = embedder
        self._embed = partial(kept_vectors, embedder, folder=vectors)
        self._vectors: dict[str, Vectors] = {}
        self._lexicons: dict[tuple[Units, tuple[str, ...]], WordRanker] = {}

    @property
    def embedder_name(self) -> str:
        """What tables call the embedder."""
        return self._embedder.name

    def scope(self, within: Collection[str] | str | None) -> tuple[str, ...]:
        """Ids of the contracts searched, in order: one, several, or all. Raises CorpusError for an unknown one."""
        if within is None:
            return tuple(self.contracts)
        wanted = {within} if isinstance(within, str) else set(within)
        if unknown := sorted(wanted - self.contracts.keys()):
            raise CorpusError(f"there is no contract {unknown[0]!r} among the {len(self.contracts)} indexed ones")
        return tuple(id_ for id_ in self.contracts if id_ in wanted)

    def chunks(self, scope: Sequence[str]) -> list[ContractChunk]:
        """Chunks of the contracts in scope, in order."""
        return [chunk for id_ in scope for chunk in self.contracts[id_].chunks]

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Vectors of queries (n × d), each text embedded once; those of the study's own clauses are kept on disk."""
        own = model_clauses()
        if any(text in own and text not in self._vectors for text in texts):
            self._vectors |= dict(zip(own, self._embed(list(own)), strict=True))
        if missing := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
            self._vectors |= dict(zip(missing, self._embedder.embed(missing), strict=True))
        return numpy.stack([self._vectors[text] for text in texts])

    def lexicon(self, what: Units, scope: tuple[str, ...]) -> WordRanker:
        """BM25 over the chunks, captions, passages or pairs of stems of the contracts in scope."""
        key = (what, scope)
        if key not in self._lexicons:
            if len(self._lexicons) >= KEPT:
                self._lexicons.clear()
            self._lexicons[key] = WordRanker([words for id_ in scope for words in self.contracts[id_].units(what)])
        return self._lexicons[key]


def shelve(
    documents: Sequence[Document],
    chunker: str,
    embedder: Embedder,
    *,
    vectors: Path = VECTORS,
    cuts: Path = CUTS,
    embed_now: bool = True,
) -> ContractShelf:
    """Contracts cut by `chunker` (a key of `CHUNKERS`) with the vectors of their sentences, both kept on disk.

    Without `embed_now` vectors are made when a retriever needs them. Raises SettingsError for an unknown chunker and
    CorpusError for two contracts of one title.
    """
    chunkers.find_chunker(chunker)
    embed = partial(kept_vectors, embedder, folder=vectors)
    shelved: list[Shelved] = []
    with bar(len(documents), "indexing", "contract") as progress:
        for document in documents:
            one = Shelved(document, *_kept_cuts(document, chunker, cuts), embed)
            if embed_now:
                _ = one.sentence_vectors
            shelved.append(one)
            progress.update()
    return ContractShelf(shelved, embedder, vectors)


def _kept_cuts(document: Document, chunker: str, folder: Path) -> tuple[list[ContractChunk], list[str], list[Span]]:
    """Chunks, their captions and passages of a contract, from `folder` where it was cut so before."""
    digest = hashlib.sha256(f"{_cutters()}\0{chunker}\0".encode())
    digest.update(document.text.encode("utf-8", "surrogatepass"))
    file = folder / f"{digest.hexdigest()[:32]}.json"
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        return _chunks(document, kept["chunks"]), kept["captions"], [(s, e) for s, e in kept["passages"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    found = list(chunkers.chunk(document, chunker))
    captions = _captions(document, found)
    passages = list(find_passages(document.text))
    spans = [(each.start, each.end, each.section) for each in found]
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}.tmp")
    made = json.dumps({"chunks": spans, "captions": captions, "passages": passages})
    unfinished.write_text(made, encoding="utf-8")
    unfinished.replace(file)
    return found, captions, passages


@cache
def _cutters() -> str:
    """Changes with the code that cuts."""
    modules = (chunkers, clause_tree, chunking, passages_module)
    digest = hashlib.sha256()
    for module in modules:
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


def _chunks(document: Document, kept: Sequence[tuple[int, int, str]]) -> list[ContractChunk]:
    return [
        ContractChunk(f"{document.id}#{number:04d}", document.id, start, end, document.text[start:end], section)
        for number, (start, end, section) in enumerate(kept)
    ]


def _captions(document: Document, chunks: Sequence[ContractChunk]) -> list[str]:
    """For each chunk, the titles of the clauses that it begins in and of those that begin in it."""
    titled = [clause for clause in clause_tree.find_clauses(document.text) if clause.title]
    return [
        " / ".join([chunk.section, *(each.title for each in titled if chunk.start < each.start < chunk.end)])
        for chunk in chunks
    ]


Scorer = Callable[[ContractShelf, ChunkQuery, tuple[str, ...]], Scores]
Retriever = Callable[[ContractShelf, ChunkQuery, tuple[str, ...], int], list[FoundChunk]]


def bm25(shelf: ContractShelf, query: ChunkQuery, scope: tuple[str, ...]) -> Scores:
    """BM25 of the query's terms; word statistics are those of the contracts in scope."""
    return shelf.lexicon("chunk", scope).scores(query.terms)


def captions(shelf: ContractShelf, query: ChunkQuery, scope: tuple[str, ...]) -> Scores:
    """BM25 of the query's headings in the captions of chunks."""
    return shelf.lexicon("caption", scope).scores([(stem, 1.0) for stem in query.headings])


def minilm(shelf: ContractShelf, query: ChunkQuery, scope: tuple[str, ...]) -> Scores:
    """Greatest cosine of a chunk with one of the query's texts."""
    return _cosines(shelf, query, [shelf.contracts[id_].chunk_vectors for id_ in scope])


def phrases(shelf: ContractShelf, query: ChunkQuery, scope: tuple[str, ...]) -> Scores:
    """BM25 of the query's pairs of stems."""
    return shelf.lexicon("phrase", scope).scores(query.phrases)


def passages(shelf: ContractShelf, query: ChunkQuery, scope: tuple[str, ...]) -> Scores:
    """The best BM25 of a chunk's sentences."""
    return _best_of_passages(shelf, scope, shelf.lexicon("passage", scope).scores(query.terms))


def sentences(shelf: ContractShelf, query: ChunkQuery, scope: tuple[str, ...]) -> Scores:
    """Greatest cosine of a sentence of the chunk with one of the query's texts; -inf for a chunk without sentence."""
    cosines = _cosines(shelf, query, [shelf.contracts[id_].sentence_vectors for id_ in scope])
    return _best_of_passages(shelf, scope, cosines)


def _best_of_passages(shelf: ContractShelf, scope: tuple[str, ...], scores: Scores) -> Scores:
    counts = [len(shelf.contracts[id_].chunks) for id_ in scope]
    best = numpy.full(sum(counts), -numpy.inf)
    begins = [0, *numpy.cumsum(counts).tolist()]
    rows = [shelf.contracts[id_].owners + begin for id_, begin in zip(scope, begins, strict=False)]
    if best.size and scores.size:
        numpy.maximum.at(best, numpy.concatenate(rows), scores)
    return best


def _cosines(shelf: ContractShelf, query: ChunkQuery, vectors: Sequence[Vectors]) -> Scores:
    asked = shelf.vectors(query.texts).T
    parts = [(part @ asked).max(axis=1) for part in vectors if len(part)]
    found = numpy.concatenate(parts) if parts else numpy.empty(0)
    return numpy.round(found.astype(numpy.float64), DECIMALS)


def fused(*scorers: Scorer) -> Scorer:
    """Reciprocal rank fusion: Σ 1 / (60 + rank); what a scorer does not match has no rank with it."""

    def score(shelf: ContractShelf, query: ChunkQuery, scope: tuple[str, ...]) -> Scores:
        return join([scorer(shelf, query, scope) for scorer in scorers])

    return score


def blend(shelf: ContractShelf, query: ChunkQuery, scope: tuple[str, ...]) -> Scores:
    """Standardised scores of chunks, phrases, passages, sentences and captions added up and standardised again.

    The beginning is preferred for what stands there. The weights are round numbers, the same for all categories.
    """
    parts: list[tuple[float, Scorer]] = [(1.0, bm25), (SENTENCES, sentences), (PASSAGES, passages)]
    parts += [(PHRASES, phrases)] if query.phrases else []
    parts += [(HEADINGS, captions)] if query.headings else []
    total = numpy.zeros(len(shelf.chunks(scope)))
    for weight, scorer in parts:
        total += weight * _standardised(scorer(shelf, query, scope))
    total = _standardised(total)
    if query.beginning:
        starts = numpy.array([chunk.start for chunk in shelf.chunks(scope)], dtype=numpy.float64)
        total += BEGINNING * numpy.exp(-starts / OPENING)
    return numpy.round(total, DECIMALS)


def _standardised(scores: Scores) -> Scores:
    known = scores[numpy.isfinite(scores)]
    if known.size == 0:
        return numpy.zeros(len(scores))
    filled = numpy.where(numpy.isfinite(scores), scores, min(0.0, known.min()))
    spread = filled.std()
    standard: Scores = (filled - filled.mean()) / spread if spread > 0 else numpy.zeros(len(scores))
    return standard


SCORERS: dict[str, Scorer] = {
    "minilm": minilm,
    "bm25": bm25,
    "sentences": sentences,
    "rrf": fused(bm25, sentences),
    "rrf-chunks": fused(bm25, minilm),
    "blend": blend,
}


def in_chroma(
    shelf: ContractShelf, query: ChunkQuery, scope: tuple[str, ...], k: int, *, folder: Path
) -> list[FoundChunk]:
    """The chunks nearest to the query's first text, from an index in Chroma at `folder`; see `store`."""
    found = _opened(folder, shelf.embedder_name).search(shelf.vectors(query.texts[:1])[0], k, scope)
    chunks = {chunk.id: chunk for id_ in {each.document_id for each in found} for chunk in shelf.contracts[id_].chunks}
    return [FoundChunk(chunks[each.chunk_id], each.score) for each in found]


def store(shelf: ContractShelf, folder: Path) -> Retriever:
    """Store the shelf's chunks and vectors in Chroma at `folder`, and the retriever of them.

    Raises CorpusError where there is nothing to store.
    """
    parts = [part for part in shelf.contracts.values() if part.chunks]
    if not parts:
        raise CorpusError("there is no text to index; check the contracts")
    chunks = [
        Chunk(each.id, each.document_id, each.start, each.end, each.text) for part in parts for each in part.chunks
    ]
    chroma.build(folder, chunks, numpy.concatenate([part.chunk_vectors for part in parts]), shelf.embedder_name)
    _opened.cache_clear()
    return partial(in_chroma, folder=folder)


@cache
def _opened(folder: Path, embedder_name: str) -> chroma.Index:
    return chroma.open_index(folder, embedder_name)


def find_scorer(name: str) -> Scorer:
    """The scorer of that name. Raises SettingsError for an unknown one."""
    if name not in SCORERS:
        raise SettingsError(f"unknown retriever {name!r}; known are {', '.join(SCORERS)}")
    return SCORERS[name]


def search(
    shelf: ContractShelf,
    retriever: str,
    query: ChunkQuery | Sequence[ChunkQuery],
    k: int = 3,
    *,
    within: Collection[str] | str | None = None,
    threshold: float | None = None,
    documents: int | None = None,
) -> list[FoundChunk]:
    """The best `k` chunks, best first; fewer where there are fewer or nothing matches.

    Rankings of several queries are joined by reciprocal rank fusion. `within` is the contract or contracts to search,
    None for all; with `documents`, only so many contracts are kept whose titles share most with the query (a keyword
    prefilter). Below `threshold`, in the retriever's own scores, nothing is returned: the item is absent. Raises
    SettingsError for an unknown retriever or a k below 1, CorpusError for an unknown contract.
    """
    if k < 1:
        raise SettingsError(f"k is {k}; ask for at least one chunk")
    asked = [query] if isinstance(query, ChunkQuery) else list(query)
    scope = shelf.scope(within)
    if documents is not None:
        scope = prefiltered(scope, asked[0], documents)
    scorer = find_scorer(retriever)
    scores = [scorer(shelf, each, scope) for each in asked]
    total = scores[0] if len(scores) == 1 else join(scores)
    order = numpy.argsort(-total, kind="stable")[:k]
    chunks = shelf.chunks(scope)
    least = -numpy.inf if threshold is None else threshold
    return [
        FoundChunk(chunks[row], float(total[row]))
        for row in order
        if numpy.isfinite(total[row]) and total[row] >= least
    ]


def prefiltered(scope: Sequence[str], query: ChunkQuery, keep: int) -> tuple[str, ...]:
    """The `keep` contracts whose titles share most with the query, rare words counting more; all where none does."""
    titles = {id_: set(stems(id_)) for id_ in scope}
    spread: dict[str, int] = defaultdict(int)
    for words in titles.values():
        for word in words:
            spread[word] += 1
    asked = {stem for stem, _ in query.terms}
    shared = {id_: sum(1 / spread[word] for word in sorted(words & asked)) for id_, words in titles.items()}
    best = sorted(scope, key=lambda id_: -shared[id_])[:keep]
    kept = {id_ for id_ in best if shared[id_] > 0}
    return tuple(id_ for id_ in scope if id_ in kept) or tuple(scope)
