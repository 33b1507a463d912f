"""Contracts as graphs over their chunks: what is next, in one section, defined, used, referred to, introduced; walks.

Three designs share one graph and differ in the edges they walk. v1 and v2 are those of the thesis: chunks with their
neighbours, and sections, found by their summaries. The third adds terms, references, and parties. Every walk begins
with a ranking of a contract's chunks by some retriever: their numbers with their scores, best first.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple, get_args

import numpy
from numpy.typing import NDArray

from ovrag_studies.contract_review.retrieval.retrievers import Shelved
from ovrag_studies.contract_review.texts.chunkers import ContractChunk
from ovrag_studies.contract_review.texts.clause_tree import ContractClause, find_clauses
from ovrag_studies.contract_review.texts.structure import find_parties, find_references, find_terms, find_uses

EdgeKind = Literal["DEFINES", "USES", "REFERS_TO", "PARTY_TO"]
Exact = NDArray[numpy.float64]
Pair = tuple[int, int]
Ranking = Sequence[tuple[int, float]]

_LARGEST = 12  # chunks of a section: a longer part without headings is cut into several
_BEGINNING = 200  # characters of a clause that say where it stands; a heading may end the chunk before


class GraphSection(NamedTuple):
    """The numbers of the chunks of a section, and the mean vector of its sentences (d), which stands for a summary."""

    chunks: tuple[int, ...]
    vector: Exact


@dataclass(frozen=True, slots=True)
class ContractGraph:
    """The graph of one contract; chunks are known by their numbers.

    `defines` names the chunk of each term's definition, `uses` the other chunks that use it; `references` are pairs of
    chunks of which the first refers to the second; `parties` are the chunks that introduce one.
    """

    chunks: tuple[ContractChunk, ...]
    sections: tuple[GraphSection, ...]
    defines: Mapping[str, int]
    uses: Mapping[str, Collection[int]]
    references: Collection[Pair]
    parties: Collection[int]

    def links(self, kind: EdgeKind) -> Iterator[Pair]:
        """Yield pairs of chunks of which the first leads to the second; a used term leads to its definition."""
        if kind == "REFERS_TO":
            for pair in self.references:
                yield from (pair, pair[::-1])
        elif kind == "USES":
            for term, definer in self.defines.items():
                yield from ((user, definer) for user in self.uses[term])


def build_graph(shelved: Shelved) -> ContractGraph:
    """Return the graph of a contract over the chunks that it was cut into."""
    text, chunks = shelved.document.text, shelved.chunks
    clauses, terms = find_clauses(text), find_terms(text)
    defines = {name: number for name, start in terms if (number := _holder(chunks, start)) is not None}
    uses: dict[str, set[int]] = {name: set() for name in defines}
    for name, start in find_uses(text, terms):
        if name in uses and (number := _holder(chunks, start)) not in (None, defines[name]):
            uses[name].add(number)
    references = set()
    for start, index in find_references(text, clauses):
        clause = clauses[index]
        middle = (clause.start + min(clause.end, clause.start + _BEGINNING)) // 2
        source, target = _holder(chunks, start), _holder(chunks, middle)
        if source is not None and target is not None and source != target:
            references.add((source, target))
    starts = find_parties(text, clauses, terms)
    parties = {number for start in starts if (number := _holder(chunks, start)) is not None}
    return ContractGraph(chunks, tuple(_sections(shelved, clauses)), defines, uses, references, parties)


def _holder(chunks: Sequence[ContractChunk], offset: int) -> int | None:
    """The chunk that holds `offset`, the last to begin where several do; None between chunks."""
    number = bisect_right(chunks, offset, key=lambda each: each.start) - 1
    return number if number >= 0 and chunks[number].end > offset else None


def _sections(shelved: Shelved, clauses: Sequence[ContractClause]) -> Iterator[GraphSection]:
    """The chunks whose middles lie in one uppermost clause, or between two, `_LARGEST` at most."""
    starts = [clause.start for clause in clauses if clause.level == 0]
    middles = [(chunk.start + chunk.end) // 2 for chunk in shelved.chunks]
    for _, inside in groupby(range(len(middles)), lambda number: bisect_right(starts, middles[number])):
        members = tuple(inside)
        for first in range(0, len(members), _LARGEST):
            part = members[first : first + _LARGEST]
            total = shelved.sentence_vectors[numpy.isin(shelved.owners, part)].sum(axis=0, dtype=numpy.float64)
            yield GraphSection(part, total / max(1e-9, float(numpy.linalg.norm(total))))


TOP = 3  # chunks and sections from which the thesis's designs begin


def neighbours(graph: ContractGraph, ranking: Ranking) -> list[tuple[int, float]]:
    """Return graph v1's choice: the best three chunks of a ranking, then the chunks before and after each."""
    scores = dict(ranking[:TOP])
    for number, score in ranking[:TOP]:
        for beside in (number - 1, number + 1):
            if 0 <= beside < len(graph.chunks):
                scores.setdefault(beside, score)
    return list(scores.items())


def by_section(graph: ContractGraph, ranking: Ranking, query: NDArray[numpy.float32]) -> list[tuple[int, float]]:
    """Return graph v2's choice: sections whose summaries are nearest to the query's vector, their chunks as in v1."""
    wanted = query.astype(numpy.float64)
    near = sorted(graph.sections, key=lambda section: -float(section.vector @ wanted))[:TOP]
    inside = {n for section in near for n in section.chunks}
    return neighbours(graph, [(n, score) for n, score in ranking if n in inside])


WALKED: tuple[EdgeKind, ...] = get_args(EdgeKind)
SEEDS = 10  # of a ranking, from which edges are walked
NAMED = 0.2  # what a chunk gains that introduces what the question names; the first of a ranking has 1
LINKED = 0.02  # what a chunk gains, at most, that an edge joins with a seed
_RRF = 60
_WORD = re.compile(r"[a-z]{3,}")
_OPENING = frozenset({"parties", "signed", "signatories", "name", "title", "date"})


def walk(
    graph: ContractGraph, ranking: Ranking, question: str, *, edges: Iterable[EdgeKind] = WALKED
) -> list[tuple[int, float]]:
    """Return all chunks of a ranking and those that edges lead to from its best ones and from the question.

    A chunk has 61 / (60 + rank), so that the scores of any retriever will do, and gains `NAMED` where the question
    names what it introduces: the parties, beside whom stand a contract's name and date, or a term that it defines, the
    less the more of the contract uses that term. It gains `LINKED` times a seed's score where an edge joins them: it
    defines a term that the seed uses, or the seed refers to it or it to the seed. The greatest gain counts.
    """
    walked = frozenset(edges)
    ranks = {n: rank for rank, (n, _) in enumerate(ranking, 1)}
    score = {n: (_RRF + 1) / (_RRF + rank) for n, rank in ranks.items()}
    gained = list(_named(graph, frozenset(_WORD.findall(question.lower())), walked))
    for kind in walked:
        pairs = graph.links(kind)
        gained += [(number, LINKED * score[seed]) for seed, number in pairs if ranks.get(seed, SEEDS + 1) <= SEEDS]
    gains = dict(sorted(gained))  # the greatest of a chunk comes last
    total = {n: score.get(n, 0.0) + gains.get(n, 0.0) for n in score.keys() | gains.keys()}
    return sorted(total.items(), key=lambda each: (-each[1], ranks.get(each[0], len(ranks) + 1), each[0]))


def _named(graph: ContractGraph, asked: frozenset[str], walked: Collection[EdgeKind]) -> Iterator[tuple[int, float]]:
    """Chunks that introduce what the words of a question name, each with what it gains."""
    if "DEFINES" in walked:
        for term, definer in graph.defines.items():
            words = set(_WORD.findall(term.lower()))
            if words and words <= asked:
                rare = 1 - min(1.0, len(graph.uses.get(term, ())) / len(graph.chunks))
                yield definer, NAMED * rare
    if "PARTY_TO" in walked and graph.chunks and asked & _OPENING:
        yield from ((n, NAMED) for n in {0, *graph.parties})
