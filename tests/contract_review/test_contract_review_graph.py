"""Graphs of contracts: built and walked."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy
import pytest

from ovrag_core.base.types import Document
from ovrag_core.retrieval.embedding import Vectors
from ovrag_studies.contract_review.graphs.graph import (
    ContractGraph,
    EdgeKind,
    build_graph,
    by_section,
    neighbours,
    walk,
)
from ovrag_studies.contract_review.retrieval.retrievers import Shelved
from ovrag_studies.contract_review.texts import chunkers
from ovrag_studies.contract_review.texts.chunkers import by_clause

EDGE_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)
HOSTILE = "'}) DETACH DELETE n //"
FIRM = "Acme'} DETACH DELETE n //"
TEXT = f"""\
SUPPLY AGREEMENT

This Agreement is made between Norrland Timber AB ("Seller") and Harbour Joinery, Inc. ("Buyer").

1. Definitions

1.1 "Goods" means sawn timber listed in Exhibit A.

1.2 "{FIRM}" means a firm {{x: $rows}} with "quotes", `ticks` and a back\\slash.

2. Price

Buyer shall pay Seller for the Goods on the terms that Section 3 of this Agreement and Section 9 provide.

3. Payment

Payment is due under Section 2 within 30 days.

EXHIBIT A

Spruce and pine.
"""


class Letters:
    """A text's letters, counted: a stand-in for an embedder that needs no model."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> Vectors:
        counts = numpy.asarray([[text.lower().count(letter) + 0.01 for letter in "abcdefghij"] for text in texts])
        rows = counts.astype(numpy.float32).reshape(len(texts), 10)
        return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def small_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(
        chunkers.CHUNKERS, "small", lambda document, clauses: by_clause(document, clauses, size=120, least=1)
    )


def graph_of(text: str, chunker: str = "small") -> ContractGraph:
    return build_graph(Shelved(Document("a", text), chunker, Letters().embed))


def holding(graph: ContractGraph, words: str) -> int:
    return next(place for place, chunk in enumerate(graph.chunks) if words in chunk.text)


# -- building


def test_chunks_define_use_refer_and_introduce() -> None:
    graph = graph_of(TEXT)
    price, payment = holding(graph, "Buyer shall pay"), holding(graph, "Payment is due")
    assert [other for one, other in graph.references if one == price] == [payment]  # there is no Section 9
    assert [other for one, other in graph.references if one == payment] == [price]
    assert {term for term, users in graph.uses.items() if price in users} >= {"Goods", "Buyer", "Seller"}
    assert graph.defines["Goods"] == holding(graph, '"Goods" means')
    assert graph.parties == {holding(graph, "is made between")}


def test_each_chunk_is_in_one_section() -> None:
    graph = graph_of(TEXT)
    assert sorted(place for section in graph.sections for place in section.chunks) == list(range(len(graph.chunks)))


def test_a_long_text_without_headings_is_cut_into_sections() -> None:
    text = "The abbey had a bad cab, a bag and a cabbage. " * 300 + "High jig, dig fig, hide chief. " * 500
    graph = graph_of(text, "recursive-2048")
    assert len(graph.chunks) > 12 >= max(len(section.chunks) for section in graph.sections)
    assert all(numpy.linalg.norm(section.vector) == pytest.approx(1) for section in graph.sections)


@pytest.mark.parametrize("text", ["", " \n ", "one line", "\ufeff\r\n\f1. A\r\n"])
def test_texts_with_little_in_them_have_a_graph(text: str) -> None:
    graph = graph_of(text)
    assert (graph.defines, graph.references, graph.parties) == ({}, frozenset(), frozenset())
    assert walk(graph, [(place, 1.0) for place in range(len(graph.chunks))], "parties", edges=EDGE_KINDS) is not None


def test_every_link_joins_two_chunks_of_the_contract() -> None:
    graph = graph_of(TEXT)
    for kind in EDGE_KINDS:
        assert all(0 <= place < len(graph.chunks) for pair in graph.links(kind) for place in pair)


# -- walking


def test_v1_adds_the_chunks_beside_the_best_ones() -> None:
    graph = graph_of(TEXT)
    price = holding(graph, "Buyer shall pay")
    assert neighbours(graph, [(price, 1.0)]) == [(price, 1.0), (price - 1, 1.0), (price + 1, 1.0)]
    assert neighbours(graph, [(0, 2.0), (1, 1.0)])[:2] == [(0, 2.0), (1, 1.0)]
    assert neighbours(graph, []) == []


def test_v2_looks_in_the_sections_whose_summaries_are_near() -> None:
    graph = graph_of(TEXT)
    near = graph.sections[-1]
    ranking = [(place, 1.0) for place in reversed(range(len(graph.chunks)))]
    found = by_section(graph, ranking, near.vector.astype(numpy.float32))
    assert len(graph.sections) > 3 and found[0][0] in near.chunks
    assert by_section(graph_of(""), [], numpy.ones(10, dtype=numpy.float32)) == []


def test_a_question_leads_to_what_it_names() -> None:
    graph = graph_of(TEXT)
    payment = holding(graph, "Payment is due")
    plain = dict(walk(graph, [(payment, 3.0)], "?", edges=()))
    found = dict(walk(graph, [(payment, 3.0)], "Who are the parties, and which goods are sold?"))
    assert set(plain) == {payment}
    assert {payment, holding(graph, "is made between"), graph.defines["Goods"]} <= set(found)
    without = walk(graph, [(payment, 3.0)], "Who are the parties?", edges=("DEFINES", "USES", "REFERS_TO"))
    assert holding(graph, "is made between") not in dict(without)


def test_each_kind_of_edge_leads_somewhere_and_can_be_switched_off() -> None:
    graph = graph_of(TEXT)
    price = holding(graph, "Buyer shall pay")
    ends = {"USES": graph.defines["Goods"], "REFERS_TO": holding(graph, "Payment is due")}
    for kind, end in ends.items():
        assert end in dict(walk(graph, [(price, 1.0)], "?", edges=(kind,)))
    assert walk(graph, [(price, 1.0)], "Who are the parties?", edges=()) == [(price, 1.0)]


def test_without_edges_the_order_is_that_of_the_ranking() -> None:
    graph = graph_of(TEXT)
    order = list(reversed(range(len(graph.chunks))))
    assert [place for place, _ in walk(graph, [(each, 0.0) for each in order], "parties", edges=())] == order
    assert walk(graph, [], "parties", edges=()) == []


def test_a_walk_in_a_circle_ends_and_names_each_chunk_once() -> None:
    graph = graph_of("1. First. See Section 2 of this.\n\n2. Second. See Section 1 of this.\n")
    found = walk(graph, [(place, 1.0) for place in range(len(graph.chunks))], "name", edges=EDGE_KINDS)
    assert sorted(place for place, _ in found) == list(range(len(graph.chunks)))
