"""Retrieval that walks the graph of a contract: which chunks, best first, and by which path each was reached.

Every walk stays in one contract and begins with a ranking of its chunks by some retriever, so that what a graph adds to
that retriever can be measured.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy

from ovrag_studies.contract_review.graphs.graph import ChunkNode, ContractGraph, EdgeKind, SectionNode

Ranking = Sequence[tuple[str, float]]  # ids of chunks with their scores, best first


@dataclass(frozen=True, slots=True)
class WalkedChunk:
    """A retrieved chunk with its score and the reason: the path that led to it, in words."""

    chunk: ChunkNode
    score: float
    reason: str


def neighbours(
    graph: ContractGraph, ranking: Ranking, k: int = 3, *, edges: Iterable[EdgeKind] = ("NEXT",)
) -> list[WalkedChunk]:
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
) -> list[WalkedChunk]:
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
) -> Iterator[WalkedChunk]:
    given = {each for each, _ in best}
    for rank, (each, score) in enumerate(best, 1):
        yield WalkedChunk(chunks[each], score, f"rank {rank}{why}")
    if not widened:
        return
    before = {edge.end: edge.start for edge in graph.of("NEXT")}
    after = {edge.start: edge.end for edge in graph.of("NEXT")}
    for rank, (each, score) in enumerate(best, 1):
        for beside, where in ((before.get(each), "before"), (after.get(each), "after")):
            if beside is not None and beside not in given:
                given.add(beside)
                yield WalkedChunk(chunks[beside], score, f"NEXT: {where} rank {rank}")


# -- the third design -------------------------------------------------------------------------------------------------

WALKED: tuple[EdgeKind, ...] = ("DEFINES", "USES", "REFERS_TO", "PARTY_TO")
_BETWEEN_CHUNKS: tuple[EdgeKind, ...] = ("REFERS_TO", "NEXT")
SEEDS = 10  # of a ranking, from which edges are walked
NAMED = 0.2  # what a chunk gains that introduces what the question names; the first of a ranking has 1
LINKED = 0.02  # what a chunk gains, at most, that an edge joins with a seed
_RRF = 60
_WORD = re.compile(r"[a-z]{3,}")
_OPENING = frozenset({"parties", "signed", "signatories", "name", "title", "date"})


def walk(
    graph: ContractGraph, ranking: Ranking, question: str, *, edges: Iterable[EdgeKind] = WALKED
) -> list[WalkedChunk]:
    """All chunks of a ranking and those that edges lead to from its best ones and from the question, best first.

    A chunk has 61 / (60 + rank), so that the scores of any retriever will do, and gains `NAMED` where the question
    names what it introduces: the parties, beside whom stand a contract's name and date, or a term that it defines, the
    less the more of the contract uses that term. It gains `LINKED` times a seed's score where an edge joins them: it
    defines a term that the seed uses, the seed refers to it or it to the seed, it is next to the seed or in one section
    with it.
    """
    chunks = {chunk.id: chunk for chunk in graph.chunks}
    ranked = [each for each, _ in ranking if each in chunks]
    score = {each: (_RRF + 1) / (_RRF + rank) for rank, each in enumerate(ranked, 1)}
    gained: dict[str, list[tuple[float, str]]] = {each: [] for each in chunks}
    walked = set(edges)
    for each, gain, why in _named(graph, question, walked):
        gained[each].append((gain, why))
    ranks = {each: rank for rank, each in enumerate(ranked[:SEEDS], 1)}
    for seed, each, why in _links(graph, ranks, walked):
        gained[each].append((LINKED * score[seed], f"rank {ranks[seed]} → {why}"))
    place = {each: rank for rank, each in enumerate(ranked, 1)}
    found = []
    for each, ways in gained.items():
        if each not in score and not ways:
            continue
        gain, why = max(ways, default=(0.0, ""))
        reasons = [f"rank {place[each]}"] if each in place else []
        found.append(
            WalkedChunk(chunks[each], score.get(each, 0.0) + gain, "; ".join([*reasons, why] if why else reasons))
        )
    return sorted(found, key=lambda each: (-each.score, place.get(each.chunk.id, len(place) + 1), each.chunk.seq))


def asks_for_the_opening(question: str) -> bool:
    """Whether a question asks for the parties, the name or the date of a contract, which its opening says."""
    return bool(_OPENING & set(_WORD.findall(question.lower())))


def _named(graph: ContractGraph, question: str, walked: Collection[EdgeKind]) -> Iterator[tuple[str, float, str]]:
    """Chunks that introduce what a question names, each with what it gains and the path to it."""
    asked = set(_WORD.findall(question.lower()))
    if "DEFINES" in walked:
        users = Counter(edge.end for edge in graph.of("USES"))
        for edge in graph.of("DEFINES"):
            words = set(_WORD.findall(edge.why.lower()))
            if words and words <= asked:
                rare = 1 - min(1.0, users[edge.end] / len(graph.chunks))
                yield edge.start, NAMED * rare, f"question → DEFINES “{edge.why}”"
    if "PARTY_TO" in walked and graph.chunks and asks_for_the_opening(question):
        yield graph.chunks[0].id, NAMED, "question → PARTY_TO the contract, its beginning"
        for edge in graph.of("PARTY_TO"):
            if edge.end != graph.document:
                yield edge.end, NAMED, f"question → PARTY_TO {edge.why}".rstrip()


def _links(
    graph: ContractGraph, seeds: Collection[str], walked: Collection[EdgeKind]
) -> Iterator[tuple[str, str, str]]:
    """Seed, chunk that an edge or two join it with, and the path."""
    if "USES" in walked:
        yield from _defining(graph, seeds)
    for kind in _BETWEEN_CHUNKS:
        for edge in graph.of(kind) if kind in walked else ():
            if edge.start in seeds:
                yield edge.start, edge.end, f"{kind} {edge.why}".rstrip()
            if edge.end in seeds:
                yield edge.end, edge.start, f"← {kind} {edge.why}".rstrip()
    if "PART_OF" in walked:
        yield from _beside(graph, seeds)


def _defining(graph: ContractGraph, seeds: Collection[str]) -> Iterator[tuple[str, str, str]]:
    users: defaultdict[str, list[str]] = defaultdict(list)
    for edge in graph.of("USES"):
        if edge.start in seeds:
            users[edge.end].append(edge.start)
    for edge in graph.of("DEFINES"):
        for seed in users[edge.end]:
            yield seed, edge.start, f"USES “{edge.why}”, which it DEFINES"


def _beside(graph: ContractGraph, seeds: Collection[str]) -> Iterator[tuple[str, str, str]]:
    sections = {section.id: section for section in graph.sections}
    members: defaultdict[str, list[str]] = defaultdict(list)
    for edge in graph.of("PART_OF"):
        if edge.end in sections:
            members[edge.end].append(edge.start)
    for section, inside in members.items():
        name = f"{sections[section].number} {sections[section].title}".strip()
        for seed in inside:
            if seed in seeds:
                yield from ((seed, each, f"PART_OF {name}".rstrip()) for each in inside if each != seed)
