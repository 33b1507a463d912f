"""Contracts as graphs: what their nodes and edges are, and how they are made of a text.

Three designs share one graph and differ in the edges they walk (`graph_walks`). v1 and v2 are those of the thesis:
chunks with their neighbours, and sections, found by their summaries, with the chunks in them. The third adds what makes
a contract a graph: terms with the chunks that define and use them, references, parties, and what it amends.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy

from ovrag_core.base.types import Chunk, Document
from ovrag_core.retrieval.embedding import Embedder, Vectors
from ovrag_core.retrieval.vectors import kept_vectors
from ovrag_core.text.passages import find_passages
from ovrag_studies.contract_review.graphs.summaries import Summary, extractive_summary
from ovrag_studies.contract_review.texts.clause_tree import ContractClause, label, path_at
from ovrag_studies.contract_review.texts.structure import Structure, find_structure

EdgeKind = Literal["NEXT", "PART_OF", "DEFINES", "USES", "REFERS_TO", "PARTY_TO", "AMENDS"]
EDGE_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SectionNode:
    """A part of a contract `[start, stop)` under one heading, or between two shifts of its content, with a summary."""

    id: str
    seq: int
    number: str
    title: str
    start: int
    stop: int
    summary: str
    vector: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ChunkNode:
    """A chunk: `text` is `[start, stop)` of the contract; `section` names the clauses it begins in."""

    id: str
    seq: int
    section: str
    start: int
    stop: int
    text: str

    @property
    def end(self) -> int:
        """One beyond the last character, as chunks elsewhere call it."""
        return self.stop


@dataclass(frozen=True, slots=True)
class TermNode:
    """A defined term and the place of its name in its definition."""

    id: str
    seq: int
    name: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class PartyNode:
    """A party by its full and its short name."""

    id: str
    seq: int
    name: str
    short: str


Node = ChunkNode | SectionNode | TermNode | PartyNode


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between two nodes by their ids; `why` are the words of the contract that make it."""

    kind: EdgeKind
    start: str
    end: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ContractGraph:
    """The graph of one contract; nodes in the order of the text, edges by kind and place."""

    document: str
    characters: int
    chunks: tuple[ChunkNode, ...]
    sections: tuple[SectionNode, ...]
    terms: tuple[TermNode, ...]
    parties: tuple[PartyNode, ...]
    edges: tuple[Edge, ...]

    def of(self, kind: EdgeKind) -> Iterator[Edge]:
        """The edges of one kind."""
        return (edge for edge in self.edges if edge.kind == kind)

    def counts(self) -> dict[str, int]:
        """How many nodes and edges there are, by label; the document is a node too."""
        nodes = {
            "Document": 1,
            "Section": len(self.sections),
            "Chunk": len(self.chunks),
            "Term": len(self.terms),
            "Party": len(self.parties),
        }
        kinds = Counter(edge.kind for edge in self.edges)
        return {**nodes, **{kind: kinds[kind] for kind in EDGE_KINDS}}


_SECTION = 12_000  # characters: a longer part without headings is cut where its content shifts
_PIECE = 6_000  # characters that such a part is cut into, about
_BEGINNING = 300  # characters of a clause that say where it stands


def build_graph(
    document: Document,
    chunks: Sequence[Chunk],
    embedder: Embedder,
    *,
    structure: Structure | None = None,
    summarise: Callable[[str], Summary] | None = None,
) -> ContractGraph:
    """The graph of a contract over `chunks`, in order and each inside the text.

    `summarise` writes the summary of a section from its text; without it, it is made of the section's own sentences.
    """
    read = find_structure(document.text) if structure is None else structure
    passages = list(find_passages(document.text))
    vectors = kept_vectors(embedder, [document.text[start:end] for start, end in passages])
    sections = _sections(document, read.clauses, passages, vectors, summarise)
    nodes = tuple(
        ChunkNode(each.id, seq, label(path_at(read.clauses, each.start)), each.start, each.end, each.text)
        for seq, each in enumerate(chunks)
    )
    terms = tuple(
        TermNode(f"{document.id}#term-{seq:04d}", seq, each.name, each.start, each.end)
        for seq, each in enumerate(read.terms)
    )
    parties = tuple(
        PartyNode(f"{document.id}#party-{seq:04d}", seq, each.name, each.short) for seq, each in enumerate(read.parties)
    )
    edges = _in_order(_edges(document, read, nodes, sections, terms, parties), [sections, nodes, terms, parties])
    return ContractGraph(document.id, len(document.text), nodes, sections, terms, parties, edges)


def _sections(
    document: Document,
    clauses: Sequence[ContractClause],
    passages: Sequence[Span],
    vectors: Vectors,
    summarise: Callable[[str], Summary] | None,
) -> tuple[SectionNode, ...]:
    starts = [start for start, _ in passages]
    nodes = []
    for seq, (number, title, start, stop) in enumerate(_parts(document.text, clauses, passages, vectors)):
        first, last = bisect_right(starts, start - 1), bisect_right(starts, stop - 1)
        summary = (
            summarise(document.text[start:stop])
            if summarise and document.text[start:stop].strip()
            else extractive_summary(document.text, passages[first:last], vectors[first:last])
        )
        section = f"{document.id}#section-{seq:04d}"
        nodes.append(SectionNode(section, seq, number, title, start, stop, summary.text, summary.vector))
    return tuple(nodes)


def _parts(
    text: str, clauses: Sequence[ContractClause], passages: Sequence[Span], vectors: Vectors
) -> Iterator[tuple[str, str, int, int]]:
    """Number, heading and span of the uppermost clauses, of what stands between them, and of pieces of what is long."""
    place = 0
    for clause in [each for each in clauses if each.level == 0]:
        if clause.start > place:
            yield from (("", "", *piece) for piece in _pieces(place, clause.start, passages, vectors))
        begin = max(place, clause.start)
        for number, piece in enumerate(_pieces(begin, clause.end, passages, vectors)):
            yield clause.number, clause.title if number == 0 else f"{clause.title} (continued)", *piece
        place = max(place, clause.end)
    if place < len(text):
        yield from (("", "", *piece) for piece in _pieces(place, len(text), passages, vectors))


def _pieces(start: int, stop: int, passages: Sequence[Span], vectors: Vectors) -> Iterator[Span]:
    """`[start, stop)`, cut where its content shifts most as long as it is long."""
    if stop - start <= _SECTION:
        if stop > start:
            yield start, stop
        return
    inside = [place for place, (first, _) in enumerate(passages) if start + _PIECE // 2 <= first <= stop - _PIECE // 2]
    if not inside:
        yield start, stop
        return
    cut = min(inside, key=lambda place: (_cohesion(vectors, place), place))
    yield from _pieces(start, passages[cut][0], passages, vectors)
    yield from _pieces(passages[cut][0], stop, passages, vectors)


def _cohesion(vectors: Vectors, place: int, reach: int = 5) -> float:
    """How alike the passages before and after `place` are (TextTiling's idea, Hearst 1997, with vectors)."""
    before = vectors[max(0, place - reach) : place].astype(numpy.float64).mean(axis=0)
    after = vectors[place : place + reach].astype(numpy.float64).mean(axis=0)
    return round(float(before @ after), 9)


def _edges(
    document: Document,
    read: Structure,
    chunks: Sequence[ChunkNode],
    sections: Sequence[SectionNode],
    terms: Sequence[TermNode],
    parties: Sequence[PartyNode],
) -> Iterator[Edge]:
    for first, second in pairwise(chunks):
        yield Edge("NEXT", first.id, second.id)
    for chunk in chunks:
        yield Edge("PART_OF", chunk.id, document.id)
        if section := _section_of(chunk, sections):
            yield Edge("PART_OF", chunk.id, section.id)
    for section in sections:
        yield Edge("PART_OF", section.id, document.id)
    at = _ChunkPlaces(chunks)
    yield from _distinct(
        Edge("DEFINES", chunk.id, term.id, term.name) for term in terms for chunk in at.holding(term.start)
    )
    yield from _distinct(
        Edge("USES", chunk.id, terms[use.term].id, terms[use.term].name)
        for use in read.uses
        for chunk in at.holding(use.start)
    )
    yield from _distinct(
        Edge("REFERS_TO", chunk.id, target.id, reference.text)
        for reference in read.references
        if reference.target is not None
        for chunk in at.holding(reference.start)
        for target in at.beginning(read.clauses[reference.target])
        if target.id != chunk.id
    )
    for party, found in zip(parties, read.parties, strict=True):
        yield Edge("PARTY_TO", party.id, document.id, party.short)
        yield from (Edge("PARTY_TO", party.id, chunk.id, party.short) for chunk in at.holding(found.start))
    yield from _distinct(
        Edge("AMENDS", chunk.id, document.id, f"{amendment.action}: {amendment.target}")
        for amendment in read.amendments
        for chunk in at.holding(amendment.start)
    )


def _in_order(edges: Iterable[Edge], nodes: Sequence[Sequence[Node]]) -> tuple[Edge, ...]:
    """Edges by kind, then by the places of the nodes at their ends; the document stands before all of them."""
    places = {node.id: (group, node.seq) for group, members in enumerate(nodes, 1) for node in members}
    return tuple(
        sorted(
            edges,
            key=lambda edge: (
                EDGE_KINDS.index(edge.kind),
                places.get(edge.start, (0, 0)),
                places.get(edge.end, (0, 0)),
            ),
        )
    )


def _distinct(edges: Iterable[Edge]) -> Iterator[Edge]:
    seen: set[tuple[str, str]] = set()
    for edge in edges:
        if (edge.start, edge.end) not in seen:
            seen.add((edge.start, edge.end))
            yield edge


def _section_of(chunk: ChunkNode, sections: Sequence[SectionNode]) -> SectionNode | None:
    """The section that most of a chunk stands in."""
    shared = [(min(each.stop, chunk.stop) - max(each.start, chunk.start), -each.seq) for each in sections]
    if not shared or max(shared)[0] <= 0:
        return None
    return sections[-max(shared)[1]]


class _ChunkPlaces:
    """Chunks by the places they hold."""

    def __init__(self, chunks: Sequence[ChunkNode]) -> None:
        self._chunks = sorted(chunks, key=lambda chunk: (chunk.start, chunk.seq))
        self._starts = [chunk.start for chunk in self._chunks]

    def holding(self, offset: int) -> list[ChunkNode]:
        """The chunk that holds `offset`, the last to begin where several do; none between chunks."""
        place = bisect_right(self._starts, offset)
        return [chunk for chunk in self._chunks[max(0, place - 1) : place] if chunk.stop > offset]

    def beginning(self, clause: ContractClause) -> list[ChunkNode]:
        """The chunk that holds most of a clause's beginning; its heading may stand at the end of the one before."""
        stop = min(clause.end, clause.start + _BEGINNING)
        first, last = bisect_right(self._starts, clause.start) - 1, bisect_right(self._starts, stop - 1)
        near = self._chunks[max(0, first) : last]
        shared = [min(chunk.stop, stop) - max(chunk.start, clause.start) for chunk in near]
        return [near[shared.index(max(shared))]] if shared and max(shared) > 0 else []
