"""What a graph adds to a retriever on CUAD, at equal context: the thesis's two designs, ours, and ours edge by edge.

    python benchmarks/contract_review_graph.py [--bases BASE ...] [--sizes]

Both arms search one contract. v1 and v2 hand on what they find, and the plain arm as many characters of its own
ranking; ours reorders, and both are cut at the same number of characters. A chunk hits if it holds at least half of a
gold span. Intervals (95%) resample contracts. CUAD is read from contract_review/cuad under OVRAG_EXTERNAL_DATA.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from ovrag_core.base.errors import CorpusError
from ovrag_core.base.project import external_data
from ovrag_core.base.types import Document
from ovrag_core.evaluation.statistics import Resampling, paired_difference, ratio
from ovrag_core.retrieval.embedding import minilm
from ovrag_studies.contract_review.graphs.graph import EDGE_KINDS, ChunkNode, ContractGraph, EdgeKind, build_graph
from ovrag_studies.contract_review.graphs.graph_walks import (
    NAMED,
    WALKED,
    asks_for_the_opening,
    by_section,
    neighbours,
    walk,
)
from ovrag_studies.contract_review.measures.chunk_metrics import BUDGET, finds
from ovrag_studies.contract_review.retrieval.expansion import ChunkQuery, queries, read_descriptions
from ovrag_studies.contract_review.retrieval.retrievers import ContractShelf, search, shelve
from ovrag_studies.contract_review.texts.chunkers import chunk
from ovrag_studies.contract_review.texts.datasets import Contract, load_cuad

BASES = {  # name: way of cutting, retriever, wording of the query
    "recursive bm25": ("recursive-2048", "bm25", "description"),
    "recursive rrf": ("recursive-2048", "rrf", "description"),
    "clause rrf": ("clause-1024", "rrf", "description"),
    "clause blend": ("clause-1024", "blend", "vocabulary"),
}
ALL = 1_000_000
PLAN = Resampling(samples=2000)
Rows = list[tuple[float, float]]  # (hits, questions) of a contract
Ranking = list[tuple[str, float]]


class Asked:
    """A contract with its graph, and the rankings of one base for its answerable questions."""

    def __init__(
        self,
        contract: Contract,
        graph: ContractGraph,
        shelf: ContractShelf,
        retriever: str,
        asked: dict[str, ChunkQuery],
    ):
        self.graph = graph
        self.chunks = {each.id: each for each in graph.chunks}
        self.questions = [each for each in contract.questions if each.gold]
        self.queries = [asked[each.category] for each in self.questions]
        self.rankings: list[Ranking] = []
        self.seconds: list[float] = []
        for query in self.queries:
            found = search(shelf, retriever, query, ALL, within=contract.document.id)
            self.rankings.append([(each.chunk.id, each.score) for each in found])

    def plain(self, place: int) -> list[ChunkNode]:
        """The ranking of one question, without a graph."""
        return [self.chunks[each] for each, _ in self.rankings[place]]


Arm = Callable[[Asked, int], Sequence[ChunkNode]]


def is_hit(chunks: Sequence[ChunkNode], gold: Sequence[tuple[int, int]], budget: float) -> bool:
    used = 0
    for each in chunks:
        used += each.end - each.start
        if used > budget:
            return False
        if finds(each, gold):
            return True
    return False


def rows_of(contracts: Sequence[Asked], arm: Arm, budget: float | Callable[[Asked, int], float] = BUDGET) -> Rows:
    rows: Rows = []
    for asked in contracts:
        hits = 0
        for place, question in enumerate(asked.questions):
            limit = budget(asked, place) if callable(budget) else budget
            hits += is_hit(arm(asked, place), question.gold, limit)
        rows.append((float(hits), float(len(asked.questions))))
    return rows


def show(name: str, rows: Rows, base: Rows | None = None) -> None:
    value = ratio([top for top, _ in rows], [bottom for _, bottom in rows], PLAN)
    line = f"  {name:<34} {value.value:.3f} [{value.low:.3f}, {value.high:.3f}]"
    if base is not None:
        gain = paired_difference(tuple(zip(*rows, strict=True)), tuple(zip(*base, strict=True)), PLAN)
        interval = "(no spread)" if gain.low is None else f"[{gain.low:+.3f}, {gain.high:+.3f}]"
        line += f"   {gain.value:+.3f} {interval}"
    print(line, flush=True)


def characters(chunks: Sequence[ChunkNode]) -> int:
    return sum(each.end - each.start for each in chunks)


def measure(name: str, contracts: Sequence[Asked], vectors: dict[str, Sequence[float]]) -> None:
    total = sum(len(asked.questions) for asked in contracts)
    print(f"{name}: {total} questions, {len(contracts)} contracts; hit, and difference from plain at equal context")

    def plain(asked: Asked, place: int) -> Sequence[ChunkNode]:
        return asked.plain(place)

    def v1(asked: Asked, place: int) -> Sequence[ChunkNode]:
        return [each.chunk for each in neighbours(asked.graph, asked.rankings[place])]

    def v2(asked: Asked, place: int) -> Sequence[ChunkNode]:
        query = vectors[asked.queries[place].text]
        return [each.chunk for each in by_section(asked.graph, asked.rankings[place], query)]

    def v2_sections(asked: Asked, place: int) -> Sequence[ChunkNode]:
        query = vectors[asked.queries[place].text]
        found = by_section(asked.graph, asked.rankings[place], query, edges=("PART_OF",))
        return [each.chunk for each in found]

    def ours(edges: Sequence[EdgeKind]) -> Arm:
        return lambda asked, place: [
            each.chunk for each in walk(asked.graph, asked.rankings[place], asked.queries[place].text, edges=edges)
        ]

    def opening(always: bool) -> Arm:
        """No graph: the first chunk of the contract gains what a named one gains, for every question or for those."""

        def arm(asked: Asked, place: int) -> Sequence[ChunkNode]:
            score = {each: 61 / (60 + rank) for rank, (each, _) in enumerate(asked.rankings[place], 1)}
            first = asked.graph.chunks[0].id
            if always or asks_for_the_opening(asked.queries[place].text):
                score[first] = score.get(first, 0.0) + NAMED
            return [asked.chunks[each] for each in sorted(score, key=lambda each: -score[each])]

        return arm

    thesis: list[tuple[str, Arm]] = [
        ("v1: top 3, neighbours", v1),
        ("v2: sections, 3, neighbours", v2),
        ("v2 without NEXT", v2_sections),
    ]
    for label, arm in thesis:

        def as_much(asked: Asked, place: int, arm: Arm = arm) -> float:
            return characters(arm(asked, place))

        show(label, rows_of(contracts, arm, float("inf")), rows_of(contracts, plain, as_much))
    base = rows_of(contracts, plain)
    show(f"plain, {BUDGET} characters", base)
    show("plain, first chunk preferred", rows_of(contracts, opening(True)), base)
    same = rows_of(contracts, opening(False))
    show("plain, preferred where PARTY_TO is", same, base)
    started = time.perf_counter()
    whole = rows_of(contracts, ours(WALKED))
    each_walk = (time.perf_counter() - started) / total
    show("ours: " + ", ".join(WALKED), whole, base)
    show("ours against that", whole, same)
    for kind in WALKED:
        show(f"  without {kind}", rows_of(contracts, ours([each for each in WALKED if each != kind])), base)
    for kind in EDGE_KINDS[:-1]:
        edges: list[EdgeKind] = ["DEFINES", "USES"] if kind == "USES" else [kind]
        show(f"  only {', '.join(edges)}", rows_of(contracts, ours(edges)), base)
    show("  and NEXT, PART_OF", rows_of(contracts, ours([*WALKED, "NEXT", "PART_OF"])), base)
    for budget in (2048, 4096, 12288):
        show(f"ours, {budget} characters", rows_of(contracts, ours(WALKED), budget), rows_of(contracts, plain, budget))
    print(f"  a walk takes {1000 * each_walk:.1f} ms\n")


def sizes(contracts: Sequence[Contract]) -> None:
    embedder = minilm()
    for name in ("recursive-2048", "clause-1024"):
        counts: Counter[str] = Counter()
        started = time.perf_counter()
        for contract in contracts:
            counts.update(build_graph(contract.document, chunk(contract.document, name), embedder).counts())
        print(f"{name}, {len(contracts)} contracts: {dict(counts)}")
        print(f"  built in {time.perf_counter() - started:.1f} s (vectors kept)")


def longest(contracts: Sequence[Contract]) -> None:
    """A contract of 340,000 characters, made of those at hand, with its vectors not kept before."""
    text = "\n\n".join(contract.document.text for contract in contracts)[:340_000]
    embedder = minilm()
    for label in ("cold", "vectors kept"):
        started = time.perf_counter()
        document = Document("long", text)
        graph = build_graph(document, chunk(document, "clause-1024"), embedder)
        built = time.perf_counter()
        ranking = [(each.id, 1 / (number + 1)) for number, each in enumerate(graph.chunks)]
        begun = time.perf_counter()
        walk(graph, ranking, "Parties: the parties who signed the contract")
        print(
            f"340,000 characters, {label}: built in {built - started:.1f} s, "
            f"a walk {1000 * (time.perf_counter() - begun):.0f} ms; {graph.counts()}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--bases", nargs="+", choices=sorted(BASES), default=list(BASES))
    parser.add_argument("--sizes", action="store_true", help="sizes and seconds of graphs instead of hits")
    options = parser.parse_args()
    folder = external_data("contract_review", "cuad")
    try:
        contracts = load_cuad(folder)
    except CorpusError as error:
        parser.exit(2, f"{error}\n")
    if options.sizes:
        sizes(contracts)
        longest(contracts)
        return
    described = read_descriptions(folder)
    categories = list(dict.fromkeys(each.category for contract in contracts for each in contract.questions))
    embedder = minilm()
    for base in options.bases:
        cutting, retriever, wording = BASES[base]
        shelf = shelve([contract.document for contract in contracts], cutting, embedder)
        asked = {category: queries(category, wording, described)[0] for category in categories}
        prepared = []
        for contract in contracts:
            chunks = shelf.contracts[contract.document.id].chunks
            graph = build_graph(contract.document, chunks, embedder)
            prepared.append(Asked(contract, graph, shelf, retriever, asked))
        texts = list(dict.fromkeys(query.text for query in asked.values()))
        vectors = dict(zip(texts, np.asarray(embedder.embed(texts)).tolist(), strict=True))
        measure(f"{base} ({cutting}, {wording})", prepared, vectors)


if __name__ == "__main__":
    main()
