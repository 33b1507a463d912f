"""Contracts as graphs over their chunks: what is next, in one section, defined, used, referred to, introduced; walks.

Three designs share one graph and differ in the edges they walk. v1 and v2 are those of the thesis: chunks with their
neighbours, and sections, found by their summaries. The third adds terms, references, and parties. Every walk begins
with a ranking of a contract's chunks by some retriever: their numbers with their scores, best first.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Literal

import numpy
from numpy.typing import NDArray

from ovrag_core.retrieval import Vectors
from ovrag_studies.contract_review.retrieval.retrievers import Shelved
from ovrag_studies.contract_review.texts.chunkers import ContractChunk
from ovrag_studies.contract_review.texts.clause_tree import ContractClause, find_clauses
from ovrag_studies.contract_review.texts.structure import find_parties, find_references, find_terms, find_uses

EdgeKind = Literal["NEXT", "PART_OF", "DEFINES", "USES", "REFERS_TO", "PARTY_TO"]
Exact = NDArray[numpy.float64]
Span = tuple[int, int]
Pair = tuple[int, int]
Ranking = Sequence[tuple[int, float]]

_SECTION = 12_000  # characters: a longer part without headings is cut where its content shifts
_PIECE = 6_000  # characters that such a part is cut into, about
_REACH = 5  # passages before and after a cut that are compared
_BEGINNING = 300  # characters of a clause that say where it stands
_SUMMARY = 500  # characters of a section's own sentences that summarise it
_HEADING = 120  # characters: a first passage so short is a heading, and always kept
_NOVELTY = 0.3  # weight of not repeating what was taken (maximal marginal relevance, Carbonell and Goldstein 1998)


@dataclass(frozen=True, slots=True)
class GraphSection:
    """A part of a contract `[start, end)`, the numbers of its chunks, and the vector of its summary (d)."""

    start: int
    end: int
    chunks: tuple[int, ...]
    vector: Exact


@dataclass(frozen=True, slots=True)
class ContractGraph:
    """The graph of one contract; chunks are known by their numbers.

    `defines` names the chunk of each term's definition, `uses` the chunks that use it; `references` are pairs of
    chunks of which the first refers to the second; `parties` are the chunks that introduce one.
    """

    chunks: tuple[ContractChunk, ...]
    sections: tuple[GraphSection, ...]
    defines: Mapping[str, int]
    uses: Mapping[str, frozenset[int]]
    references: frozenset[Pair]
    parties: frozenset[int]

    def links(self, kind: EdgeKind) -> Iterator[Pair]:
        """Yield pairs of chunks of which the first leads to the second; a used term leads to its definition."""
        if kind in ("NEXT", "REFERS_TO"):
            for pair in pairwise(range(len(self.chunks))) if kind == "NEXT" else self.references:
                yield from (pair, pair[::-1])
        elif kind == "PART_OF":
            for section in self.sections:
                yield from permutations(section.chunks, 2)
        elif kind == "USES":
            for term, definer in self.defines.items():
                yield from ((user, definer) for user in self.uses.get(term, ()))


def build_graph(shelved: Shelved) -> ContractGraph:
    """Return the graph of a contract over the chunks that it was cut into."""
    text, chunks, passages = shelved.document.text, shelved.chunks, shelved.passages
    clauses = find_clauses(text)
    terms = find_terms(text, clauses, passages)
    defines = {term.name: number for term in terms if (number := _holder(chunks, term.start)) is not None}
    uses: defaultdict[str, set[int]] = defaultdict(set)
    for use in find_uses(text, terms):
        if (number := _holder(chunks, use.start)) is not None:
            uses[terms[use.term].name].add(number)
    spans = [(chunk.start, chunk.end) for chunk in chunks]

    def beginning(clause: ContractClause) -> int | None:
        """The chunk that holds most of a clause's beginning; its heading may stand at the end of the one before."""
        return _most(spans, clause.start, min(clause.end, clause.start + _BEGINNING))

    references = {(_holder(chunks, r.start), beginning(clauses[r.target])) for r in find_references(text, clauses)}
    parties = {_holder(chunks, start) for start, _ in find_parties(text, clauses)}
    return ContractGraph(
        chunks,
        tuple(_sections(text, chunks, clauses, passages, shelved.sentence_vectors)),
        defines,
        {term: frozenset(places) for term, places in uses.items()},
        frozenset(
            (source, target) for source, target in references if source is not None and target not in (None, source)
        ),
        frozenset(party for party in parties if party is not None),
    )


def _holder(chunks: Sequence[ContractChunk], offset: int) -> int | None:
    """The chunk that holds `offset`, the last to begin where several do; None between chunks."""
    number = bisect_right(chunks, offset, key=lambda each: each.start) - 1
    return number if number >= 0 and chunks[number].end > offset else None


def _most(spans: Sequence[Span], start: int, end: int) -> int | None:
    """The span that most of `[start, end)` lies in, the first of equal ones; None where none holds any of it."""
    shared = [min(right, end) - max(left, start) for left, right in spans]
    return shared.index(max(shared)) if shared and max(shared) > 0 else None


def _sections(
    text: str,
    chunks: Sequence[ContractChunk],
    clauses: Sequence[ContractClause],
    passages: Sequence[Span],
    vectors: Vectors,
) -> Iterator[GraphSection]:
    """The uppermost clauses, what stands between them, and pieces of what is long, each with its chunks."""
    uppermost = [clause.start for clause in clauses if clause.level == 0]
    spans = [
        piece
        for start, end in pairwise(sorted({0, *uppermost, len(text)}))
        for piece in _pieces(start, end, passages, vectors)
    ]
    owners = [_most(spans, chunk.start, chunk.end) for chunk in chunks]
    for number, (start, end) in enumerate(spans):
        inside = [row for row, (begin, _) in enumerate(passages) if start <= begin < end]
        members = tuple(member for member, owner in enumerate(owners) if owner == number)
        yield GraphSection(start, end, members, _summary([passages[row] for row in inside], vectors[inside]))


def _pieces(start: int, end: int, passages: Sequence[Span], vectors: Vectors) -> Iterator[Span]:
    """`[start, end)`, cut where its content shifts most as long as it is long."""
    inside = [row for row, (begin, _) in enumerate(passages) if start + _PIECE // 2 <= begin <= end - _PIECE // 2]
    if end - start <= _SECTION or not inside:
        yield start, end
        return
    cut = min(inside, key=lambda place: (_cohesion(vectors, place), place))
    yield from _pieces(start, passages[cut][0], passages, vectors)
    yield from _pieces(passages[cut][0], end, passages, vectors)


def _cohesion(vectors: Vectors, place: int) -> float:
    """Measure how alike the passages before and after `place` are (TextTiling's idea, Hearst 1997, with vectors)."""
    before = vectors[max(0, place - _REACH) : place].astype(numpy.float64).mean(axis=0)
    after = vectors[place : place + _REACH].astype(numpy.float64).mean(axis=0)
    return round(float(before @ after), 9)


def _summary(passages: Sequence[Span], vectors: Vectors) -> Exact:
    """Mean vector of a section's summary: its heading and the passages nearest to its own mean; zero without any."""
    exact = vectors.astype(numpy.float64)
    if not passages:
        return numpy.zeros(exact.shape[1])
    lengths = [end - start for start, end in passages]
    near = exact @ _unit(exact.mean(axis=0))
    chosen = [0 if lengths[0] <= _HEADING else int(near.argmax())]
    used = lengths[chosen[0]]
    repeated = exact @ exact[chosen[0]]
    while len(chosen) < len(passages):
        relevance = (1 - _NOVELTY) * near - _NOVELTY * repeated
        relevance[chosen] = -numpy.inf
        best = int(relevance.argmax())
        used += lengths[best]
        if used > _SUMMARY:
            break
        chosen.append(best)
        repeated = numpy.maximum(repeated, exact @ exact[best])
    return _unit(exact[sorted(chosen)].mean(axis=0)).astype(numpy.float32).astype(numpy.float64)


def _unit(vector: Exact) -> Exact:
    norm = float(numpy.linalg.norm(vector))
    return vector / norm if norm else vector


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


WALKED: tuple[EdgeKind, ...] = ("DEFINES", "USES", "REFERS_TO", "PARTY_TO")
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
    defines a term that the seed uses, the seed refers to it or it to the seed, it is next to the seed or in one section
    with it. The greatest gain counts.
    """
    walked = frozenset(edges)
    ranks = {n: rank for rank, (n, _) in enumerate(ranking, 1)}
    score = {n: (_RRF + 1) / (_RRF + rank) for n, rank in ranks.items()}
    gains: defaultdict[int, float] = defaultdict(float)
    for number, gain in _named(graph, frozenset(_WORD.findall(question.lower())), walked):
        gains[number] = max(gains[number], gain)
    for kind in sorted(walked):
        for seed, number in graph.links(kind):
            if ranks.get(seed, SEEDS + 1) <= SEEDS:
                gains[number] = max(gains[number], LINKED * score[seed])
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
