"""Contracts as graphs over their chunks: what is next, in one section, defined, used, referred to, introduced.

Three designs share one graph and differ in the edges they walk (`graph_walks`). v1 and v2 are those of the thesis:
chunks with their neighbours, and sections, found by their summaries, with the chunks in them. The third adds what makes
a contract a graph: terms with the chunks that define and use them, references, and parties.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Literal, get_args

import numpy
from numpy.typing import NDArray

from ovrag_core.retrieval import Vectors
from ovrag_studies.contract_review.retrieval.retrievers import Shelved
from ovrag_studies.contract_review.texts.chunkers import ContractChunk
from ovrag_studies.contract_review.texts.clause_tree import ContractClause, find_clauses
from ovrag_studies.contract_review.texts.structure import find_parties, find_references, find_terms, find_uses

EdgeKind = Literal["NEXT", "PART_OF", "DEFINES", "USES", "REFERS_TO", "PARTY_TO"]
EDGE_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)
Span = tuple[int, int]
Pair = tuple[int, int]

_SECTION = 12_000  # characters: a longer part without headings is cut where its content shifts
_PIECE = 6_000  # characters that such a part is cut into, about
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
    vector: NDArray[numpy.float64]


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
        if kind == "NEXT":
            for pair in pairwise(range(len(self.chunks))):
                yield from (pair, pair[::-1])
        elif kind == "PART_OF":
            for section in self.sections:
                yield from permutations(section.chunks, 2)
        elif kind == "REFERS_TO":
            for pair in self.references:
                yield from (pair, pair[::-1])
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
    references = {
        (_holder(chunks, reference.start), _beginning(chunks, clauses[reference.target]))
        for reference in find_references(text, clauses)
    }
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


def _beginning(chunks: Sequence[ContractChunk], clause: ContractClause) -> int | None:
    """The chunk that holds most of a clause's beginning; its heading may stand at the end of the one before."""
    return _most(chunks, clause.start, min(clause.end, clause.start + _BEGINNING))


def _most(parts: Sequence[ContractChunk] | Sequence[Span], start: int, end: int) -> int | None:
    """The part that most of `[start, end)` lies in, the first of equal ones; None where none holds any of it."""
    spans = [p if isinstance(p, tuple) else (p.start, p.end) for p in parts]
    shared = [min(right, end) - max(left, start) for left, right in spans]
    return shared.index(max(shared)) if shared and max(shared) > 0 else None


# -- sections ---------------------------------------------------------------------------------------------------------


def _sections(
    text: str,
    chunks: Sequence[ContractChunk],
    clauses: Sequence[ContractClause],
    passages: Sequence[Span],
    vectors: Vectors,
) -> Iterator[GraphSection]:
    spans = list(_parts(text, clauses, passages, vectors))
    owners = [_most(spans, chunk.start, chunk.end) for chunk in chunks]
    for number, (start, end) in enumerate(spans):
        inside = [row for row, (begin, _) in enumerate(passages) if start <= begin < end]
        members = tuple(member for member, owner in enumerate(owners) if owner == number)
        yield GraphSection(start, end, members, _summary([passages[row] for row in inside], vectors[inside]))


def _parts(text: str, clauses: Sequence[ContractClause], passages: Sequence[Span], vectors: Vectors) -> Iterator[Span]:
    """Spans of the uppermost clauses, of what stands between them, and of pieces of what is long."""
    uppermost = [clause.start for clause in clauses if clause.level == 0]
    for start, end in pairwise(sorted({0, *uppermost, len(text)})):
        yield from _pieces(start, end, passages, vectors)


def _pieces(start: int, end: int, passages: Sequence[Span], vectors: Vectors) -> Iterator[Span]:
    """`[start, end)`, cut where its content shifts most as long as it is long."""
    inside = [row for row, (begin, _) in enumerate(passages) if start + _PIECE // 2 <= begin <= end - _PIECE // 2]
    if end - start <= _SECTION or not inside:
        yield start, end
        return
    cut = min(inside, key=lambda place: (_cohesion(vectors, place), place))
    yield from _pieces(start, passages[cut][0], passages, vectors)
    yield from _pieces(passages[cut][0], end, passages, vectors)


def _cohesion(vectors: Vectors, place: int, reach: int = 5) -> float:
    """Measure how alike the passages before and after `place` are (TextTiling's idea, Hearst 1997, with vectors)."""
    before = vectors[max(0, place - reach) : place].astype(numpy.float64).mean(axis=0)
    after = vectors[place : place + reach].astype(numpy.float64).mean(axis=0)
    return round(float(before @ after), 9)


def _summary(passages: Sequence[Span], vectors: Vectors) -> NDArray[numpy.float64]:
    """Mean vector of a section's summary: its heading and the passages nearest to its own mean; zero without any.

    The mean is taken of sentences, so that no summary is cut off at what an embedder can read at once.
    """
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


def _unit(vector: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    norm = float(numpy.linalg.norm(vector))
    return vector / norm if norm else vector
