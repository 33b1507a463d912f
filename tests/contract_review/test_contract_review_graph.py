"""Graphs of contracts: built and walked."""

from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest

from ovrag_core.base.types import Document
from ovrag_core.documents.chunking import split
from ovrag_core.retrieval.embedding import Vectors
from ovrag_studies.contract_review.graphs.graph import EDGE_KINDS, ContractGraph, build_graph
from ovrag_studies.contract_review.graphs.graph_walks import by_section, nearest_sections, neighbours, walk
from ovrag_studies.contract_review.graphs.summaries import Summary

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
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def graph_of(text: str, name: str = "a", size: int = 120) -> ContractGraph:
    document = Document(name, text)
    return build_graph(document, split(document, "recursive", size, 0), Letters())


def holding(graph: ContractGraph, words: str) -> str:
    return next(chunk.id for chunk in graph.chunks if words in chunk.text)


def whys(graph: ContractGraph, kind: str, start: str) -> set[str]:
    return {edge.why for edge in graph.edges if edge.kind == kind and edge.start == start}


# -- building


def test_every_kind_of_edge_says_why_it_is_there() -> None:
    graph = graph_of(TEXT)
    price, payment = holding(graph, "Buyer shall pay"), holding(graph, "Payment is due")
    assert whys(graph, "REFERS_TO", price) == {"Section 3"}  # there is no Section 9
    assert [edge.end for edge in graph.of("REFERS_TO") if edge.start == payment] == [price]
    assert {"Goods", "Buyer", "Seller"} <= whys(graph, "USES", price)
    assert "Goods" in whys(graph, "DEFINES", holding(graph, '"Goods" means'))
    assert [(party.name, party.short) for party in graph.parties] == [
        ("Norrland Timber AB", "Seller"),
        ("Harbour Joinery, Inc.", "Buyer"),
    ]
    assert {edge.end for edge in graph.of("PARTY_TO")} == {"a", holding(graph, "is made between")}


def test_sections_cover_the_text_without_overlap() -> None:
    graph = graph_of(TEXT)
    assert [section.title for section in graph.sections if section.number] != []
    assert graph.sections[0].start == 0 and graph.sections[-1].stop == len(TEXT)
    pairs = zip(graph.sections, graph.sections[1:], strict=False)
    assert all(first.stop == second.start for first, second in pairs)
    inside = {edge.start for edge in graph.of("PART_OF") if "#section-" in edge.end}
    assert inside >= {chunk.id for chunk in graph.chunks}


def test_a_text_without_headings_is_cut_where_its_content_shifts() -> None:
    text = "The abbey had a bad cab, a bag and a cabbage. " * 200 + "High jig, dig fig, hide chief. " * 300
    graph = graph_of(text, size=2000)
    assert len(graph.sections) > 1
    assert any(abs(section.start - text.index("High")) < 100 for section in graph.sections)


def test_a_summary_may_be_written_by_something_else() -> None:
    document = Document("a", TEXT)
    graph = build_graph(document, [], Letters(), summarise=lambda _: Summary("said", (1.0,)))
    assert {section.summary for section in graph.sections} == {"said"}


@pytest.mark.parametrize("text", ["", " \n ", "one line", "\ufeff\r\n\f1. A\r\n"])
def test_texts_with_little_in_them_have_a_graph(text: str) -> None:
    graph = graph_of(text)
    assert graph.counts()["Document"] == 1
    assert graph.terms == ()


def test_references_in_a_circle_end() -> None:
    graph = graph_of("1. First. See Section 2 of this.\n\n2. Second. See Section 1 of this.\n", size=40)
    assert len(list(graph.of("REFERS_TO"))) == 2


# -- walking


def ranking(graph: ContractGraph, *words: str) -> list[tuple[str, float]]:
    return [(holding(graph, each), 1.0 / rank) for rank, each in enumerate(words, 1)]


def test_v1_adds_the_chunks_beside_the_best_ones() -> None:
    graph = graph_of(TEXT)
    found = neighbours(graph, ranking(graph, "Buyer shall pay", "Payment is due"), k=1)
    place = found[0].chunk.seq
    assert [each.chunk.seq for each in found] == [place, place - 1, place + 1]
    assert [each.reason for each in found] == ["rank 1", "NEXT: before rank 1", "NEXT: after rank 1"]
    assert all(each.chunk.text == TEXT[each.chunk.start : each.chunk.end] for each in found)
    assert len(neighbours(graph, ranking(graph, "Buyer shall pay"), k=1, edges=())) == 1
    assert neighbours(graph, []) == []


def test_v2_looks_in_the_sections_whose_summaries_are_near() -> None:
    graph = graph_of(TEXT)
    target = next(section for section in graph.sections if section.title == "Payment")
    best = ranking(graph, "Buyer shall pay", "Payment is due")
    found = by_section(graph, best, target.vector, sections=1, edges=("PART_OF",))
    assert [each.chunk.id for each in found] == [holding(graph, "Payment is due")]
    assert "summary" in found[0].reason
    assert nearest_sections(graph, target.vector)[0][0] == target
    assert len(by_section(graph, best, target.vector, sections=1, edges=())) == 2


def test_a_question_leads_to_what_it_names() -> None:
    graph = graph_of(TEXT)
    payment, opening = holding(graph, "Payment is due"), holding(graph, "is made between")
    found = walk(graph, [(payment, 3.0)], "Who are the parties, and which goods are sold?")
    by_id = {each.chunk.id: each for each in found}
    assert found[0].chunk.id == payment and found[0].reason == "rank 1"
    assert "question → PARTY_TO" in by_id[opening].reason
    assert "question → DEFINES “Goods”" in by_id[holding(graph, '"Goods" means')].reason
    without = walk(graph, [(payment, 3.0)], "Who are the parties?", edges=("DEFINES", "USES", "REFERS_TO"))
    assert not any("PARTY_TO" in each.reason for each in without)


def test_each_kind_of_edge_leads_somewhere_and_can_be_switched_off() -> None:
    graph = graph_of(TEXT)
    price = holding(graph, "Buyer shall pay")
    ends = {
        "USES": holding(graph, '"Goods" means'),
        "REFERS_TO": holding(graph, "Payment is due"),
        "NEXT": graph.chunks[next(chunk.seq for chunk in graph.chunks if chunk.id == price) - 1].id,
        "PART_OF": None,
    }
    for kind, end in ends.items():
        found = walk(graph, [(price, 1.0)], "?", edges=(kind,))
        assert end is None or end in {each.chunk.id for each in found if kind in each.reason}
        assert all(each.chunk.id == price or f"rank 1 → {kind}" in each.reason.replace("← ", "") for each in found)
    assert [each.chunk.id for each in walk(graph, [(price, 1.0)], "Who are the parties?", edges=())] == [price]


def test_without_edges_the_order_is_that_of_the_ranking() -> None:
    graph = graph_of(TEXT)
    order = [chunk.id for chunk in reversed(graph.chunks)]
    found = walk(graph, [(each, 0.0) for each in order], "parties of goods", edges=())
    assert [each.chunk.id for each in found] == order
    assert walk(graph, [], "parties", edges=()) == []


def test_a_walk_in_a_circle_ends_and_names_each_chunk_once() -> None:
    graph = graph_of("1. First. See Section 2 of this.\n\n2. Second. See Section 1 of this.\n", size=40)
    found = walk(graph, [(chunk.id, 1.0) for chunk in graph.chunks], "name", edges=EDGE_KINDS)
    assert len({each.chunk.id for each in found}) == len(found) == len(graph.chunks)
    assert found == walk(graph, [(chunk.id, 1.0) for chunk in graph.chunks], "name", edges=EDGE_KINDS)


def test_a_ranking_of_chunks_that_are_not_in_the_graph_finds_none_of_them() -> None:
    graph = graph_of("")
    assert walk(graph, [("elsewhere#0001", 1.0)], "parties") == []
    assert neighbours(graph, [("elsewhere#0001", 1.0)]) == []
    assert by_section(graph, [("elsewhere#0001", 1.0)], [1.0]) == []
