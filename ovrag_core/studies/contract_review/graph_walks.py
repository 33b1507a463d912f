"""Retrieval that walks the graph of a contract: which chunks, best first, and by which path each was reached.

Every walk stays in one contract and begins with a ranking of its chunks by some retriever, so that what a graph adds to
that retriever can be measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy

from ovrag_core.studies.contract_review.graph import ChunkNode, ContractGraph, EdgeKind, SectionNode

Ranking = Sequence[tuple[str, float]]  # ids of chunks with their scores, best first


@dataclass(frozen=True, slots=True)
class Found:
    """A retrieved chunk with its score and the reason: the path that led to it, in words."""

    chunk: ChunkNode
    score: float
    reason: str


def neighbours(
    graph: ContractGraph, ranking: Ranking, k: int = 3, *, edges: Iterable[EdgeKind] = ("NEXT",)
) -> list[Found]:
    """Graph v1: the best `k` chunks of a ranking, then the chunks before and after each."""
    chunks = {chunk.id: chunk for chunk in graph.chunks}
    best = [(each, score) for each, score in ranking if each in chunks][:k]
    return list(_with_neighbours(graph, chunks, best, "NEXT" in set(edges), ""))


def by_section(
    graph: ContractGraph,
    ranking: Ranking,
    query: Sequence[float],
    *,
    sections: int = 3,
    k: int = 3,
    edges: Iterable[EdgeKind] = ("PART_OF", "NEXT"),
) -> list[Found]:
    """Graph v2: the sections whose summaries are nearest to the query's vector, their best chunks, and neighbours."""
    chunks = {chunk.id: chunk for chunk in graph.chunks}
    walked = set(edges)
    inside = set(chunks)
    why = ""
    if "PART_OF" in walked and graph.sections:
        near = nearest_sections(graph, query)[:sections]
        chosen = {section.id for section, _ in near}
        inside = {edge.start for edge in graph.of("PART_OF") if edge.end in chosen}
        why = ", in a section near by its summary"
    best = [(each, score) for each, score in ranking if each in inside][:k]
    return list(_with_neighbours(graph, chunks, best, "NEXT" in walked, why))


def nearest_sections(graph: ContractGraph, query: Sequence[float]) -> list[tuple[SectionNode, float]]:
    """Sections by the cosine of their summaries to the query's vector, best first."""
    wanted = numpy.asarray(query, dtype=numpy.float64)
    scored = [
        (section, float(numpy.asarray(section.vector) @ wanted) if len(section.vector) == len(wanted) else 0.0)
        for section in graph.sections
    ]
    return sorted(scored, key=lambda each: (-each[1], each[0].seq))


def _with_neighbours(
    graph: ContractGraph, chunks: Mapping[str, ChunkNode], best: Ranking, widened: bool, why: str
) -> Iterator[Found]:
    given = {each for each, _ in best}
    for rank, (each, score) in enumerate(best, 1):
        yield Found(chunks[each], score, f"rank {rank}{why}")
    if not widened:
        return
    before = {edge.end: edge.start for edge in graph.of("NEXT")}
    after = {edge.start: edge.end for edge in graph.of("NEXT")}
    for rank, (each, score) in enumerate(best, 1):
        for beside, where in ((before.get(each), "before"), (after.get(each), "after")):
            if beside is not None and beside not in given:
                given.add(beside)
                yield Found(chunks[beside], score, f"NEXT: {where} rank {rank}")
