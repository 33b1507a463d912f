"""Retrieval that walks the graph of a contract: which chunks, best first.

Every walk stays in one contract and begins with a ranking of its chunks by some retriever, so that what a graph adds to
that retriever can be measured. Rankings, given and returned, are numbers of chunks with their scores, best first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy
from numpy.typing import NDArray

from ovrag_studies.contract_review.graphs.graph import ContractGraph, EdgeKind

Ranking = Sequence[tuple[int, float]]
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


# -- the third design -------------------------------------------------------------------------------------------------

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
