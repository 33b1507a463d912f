"""Cutting, asking, retrieving, reranking and measuring in the study of contract review."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovrag_core.base.errors import CorpusError, QuestionError
from ovrag_core.base.types import Document
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.retrieval.embedding import Vectors, minilm
from ovrag_core.retrieval.lexical import WordRanker, join
from ovrag_core.text.tokens import stems
from ovrag_studies.contract_review.measures import chunk_metrics
from ovrag_studies.contract_review.retrieval.expansion import (
    ask,
    queries,
    read_descriptions,
    titled,
    vocabulary,
)
from ovrag_studies.contract_review.retrieval.retrievers import SCORERS, ContractShelf, FoundChunk, search
from ovrag_studies.contract_review.settings import Wording
from ovrag_studies.contract_review.texts.chunkers import CHUNKERS, ContractChunk, chunk
from ovrag_studies.contract_review.texts.datasets import ChecklistQuestion, Contract, load_cuad

PLAN = Resampling()
BOATS = """SUPPLY OF BOATS

This agreement is made on May 2, 2016 by and between Leith Yard Ltd. and Forth Ferries Ltd.

1. Price. The buyer pays ten pounds for each boat.

2. Insurance. The yard shall maintain marine insurance and name the buyer as an additional insured.

3. Assignment. Neither party may assign this agreement without the prior written consent of the other.

4. Governing Law. This agreement is governed by and construed in accordance with the laws of Scotland.
"""
TEA = """LICENSE OF A TEA BLEND

1. Grant. The owner grants the house a perpetual, irrevocable license to sell the blend.

2. Law. The laws of Ceylon govern.
"""


class Letters:
    """An embedder that counts letters: quick, and alike for like words."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> Vectors:
        counted = [[1e-3 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        vectors = numpy.array(counted, dtype=numpy.float32).reshape(len(texts), 26)
        return (vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)).astype(numpy.float32)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # vectors are kept below the current folder


@pytest.fixture
def shelf() -> ContractShelf:
    return small_shelf(BOATS, TEA)


def small_shelf(*texts: str, chunker: str = "clause-1024") -> ContractShelf:
    documents = [Document(f"contract {number}", text) for number, text in enumerate(texts)]
    return ContractShelf(documents, chunker, Letters())


def cut(text: str) -> str:
    """The text with its clauses made long enough to be chunks of their own."""
    return text.replace(".\n", ". And so" + " and so" * 60 + ".\n")


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> ContractShelf:
    """Two contracts with the real embedder, which makes their vectors once."""
    contracts = [Document("boats", cut(BOATS)), Document("tea", cut(TEA))]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("embedded"))
        return ContractShelf(contracts, "clause-1024", minilm())


@pytest.mark.parametrize("name", list(CHUNKERS))
@pytest.mark.parametrize(
    "text",
    ["", " \n\f ", "One line.", BOATS, BOATS.replace("\n", "\r\n"), "\ufeff" + BOATS, "word " * 3000, "x" * 5000],
    ids=["empty", "blank", "line", "plain", "crlf", "bom", "no headings", "no space"],
)
def test_every_character_is_in_a_chunk_of_its_span(name: str, text: str) -> None:
    chunks = chunk(Document("d", text), name)
    covered = {place for each in chunks for place in range(each.start, each.end)}
    assert all(each.text == text[each.start : each.end] and each.text.strip() for each in chunks)
    assert all(text[place].isspace() for place in set(range(len(text))) - covered)
    assert all(each.end - each.start <= 2048 for each in chunks)
    assert len({each.id for each in chunks}) == len(chunks)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([*BOATS.splitlines(), "(a)(i) x;", "\f", "\u00ad", "word " * 400, "y" * 900])))
def test_clause_chunks_are_in_order_and_apart(lines: list[str]) -> None:
    chunks = chunk(Document("d", "\n".join(lines)), "clause-1024")
    assert all(first.end <= second.start for first, second in pairwise(chunks))
    assert all(each.end - each.start <= 1024 for each in chunks)


def test_a_chunk_knows_its_section() -> None:
    chunks = chunk(Document("d", cut(BOATS)), "clause-1024")
    insured = next(each for each in chunks if "additional insured" in each.text)
    assert insured.section == "2 Insurance"
    assert chunks[chunks.index(insured) + 1].section in {"2 Insurance", "3 Assignment"}
    assert chunks[0].section == ""


def test_unknown_names_are_named(shelf: ContractShelf) -> None:
    with pytest.raises(QuestionError, match="'Weather' is no category of the checklist"):
        queries("Weather", "vocabulary")
    with pytest.raises(CorpusError, match="no contract 'contract 7' among the 2"):
        search(shelf, "bm25", [ask("law")], within="contract 7")
    with pytest.raises(QuestionError, match="the question is empty"):
        ask("  ")
    with pytest.raises(CorpusError, match="two contracts are called d"):
        ContractShelf([Document("d", BOATS), Document("d", TEA)], "fixed-2048", Letters())


@pytest.mark.parametrize("retriever", list(SCORERS))
def test_retrievers_find_what_is_asked(retriever: str, embedded: ContractShelf) -> None:
    query = queries("Insurance", "vocabulary")
    found = search(embedded, retriever, query, 2, within="boats")
    assert any("marine insurance" in each.chunk.text for each in found)
    assert {each.chunk.document_id for each in found} == {"boats"}
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


@pytest.mark.parametrize("retriever", list(SCORERS))
def test_k_may_exceed_the_chunks_and_texts_may_be_empty(retriever: str) -> None:
    shelf = small_shelf("", "One line about law.", " \f ")
    found = search(shelf, retriever, queries("Governing Law", "vocabulary"), 50)
    assert [each.chunk.text for each in found] == ["One line about law."]
    assert search(shelf, retriever, [ask("law")], 3, within="contract 0") == []


def test_a_question_with_no_indexed_word_finds_nothing_by_words(shelf: ContractShelf) -> None:
    query = [ask("zebra crossing")]
    assert search(shelf, "bm25", query) == []
    assert search(shelf, "rrf", query) == search(shelf, "rrf", query) != []
    assert search(shelf, "bm25", [ask("of the and")]) == []


def test_the_title_leads_to_its_contract() -> None:
    contracts = [Document("Leith Supply Agreement", BOATS), Document("Kandy License Agreement", "Kandy. " + TEA)]
    shelf = ContractShelf(contracts, "fixed-2048", Letters())
    query = titled(ask("Which law governs?"), "Kandy License Agreement")
    assert query.text == "In the contract Kandy License Agreement: Which law governs?"
    assert search(shelf, "bm25", [query])[0].chunk.document_id == "Kandy License Agreement"


def test_what_stands_at_the_beginning_is_sought_there() -> None:
    text = cut(BOATS) + cut("\n5. Dates. Made and entered into as of the date of the agreement dated May 3, 2016.\n")
    shelf = small_shelf(text)
    [placed] = queries("Agreement Date", "vocabulary")
    unplaced = replace(placed, beginning=False)
    assert placed.beginning
    first = [[each.chunk.start for each in search(shelf, "blend", [query], 9)].index(0) for query in (placed, unplaced)]
    assert first[0] < first[1]


def test_ranks_are_joined_as_published() -> None:
    first, second = numpy.array([3.0, 2.0, -numpy.inf]), numpy.array([-numpy.inf, 5.0, -numpy.inf])
    assert join([first, second]).tolist() == [1 / 61, 1 / 62 + 1 / 61, -numpy.inf]


def test_bm25_is_that_of_the_books() -> None:
    lexicon = WordRanker([["a", "b", "a"], ["b"], []])
    length, mean = 3, 4 / 3
    inverse = numpy.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = inverse * 2 / (2 + 1.5 * (1 - 0.75 + 0.75 * length / mean))
    assert lexicon.scores([("a", 2.0)])[0] == pytest.approx(2 * expected, rel=1e-5)
    assert lexicon.scores([("a", 1.0)]).tolist()[1:] == [-numpy.inf, -numpy.inf]
    assert WordRanker([]).scores([("a", 1.0)]).tolist() == []


def test_soft_hyphens_and_endings_do_not_part_words() -> None:
    assert stems("The insur\u00adances, IN\u00adSURED") == ["insur", "insur"]


def test_the_vocabulary_is_whole() -> None:
    assert len(vocabulary()) == 41
    placed = [category for category, words in vocabulary().items() if words.place == "beginning"]
    assert placed == ["Document Name", "Parties", "Agreement Date", "Effective Date"]
    for category in vocabulary():
        for wording in get_args(Wording):
            assert len(queries(category, wording)) == (4 if wording == "rewordings" else 1)


def test_descriptions_come_from_either_layout(tmp_path: Path) -> None:
    described = {"Insurance": "Is there insurance?"}
    (tmp_path / "ours").mkdir()
    listed = [{"category": "Insurance", "description": "Is there insurance?", "question": "…"}]
    (tmp_path / "ours" / "categories.json").write_text(json.dumps(listed), encoding="utf-8")
    question = 'Highlight the parts (if any) related to "Insurance". Details: Is there insurance?'
    qas = [{"id": "X__Insurance", "question": question, "answers": []}]
    published = {"data": [{"title": "X", "paragraphs": [{"context": "", "qas": qas}]}]}
    (tmp_path / "CUADv1.json").write_text(json.dumps(published), encoding="utf-8")
    assert read_descriptions(tmp_path / "ours") == described
    assert read_descriptions(tmp_path / "CUADv1.json") == described
    assert queries("Insurance", "description", described["Insurance"])[0].text == "Insurance: Is there insurance?"
    (tmp_path / "ours" / "categories.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(CorpusError, match="does not list CUAD's categories"):
        read_descriptions(tmp_path / "ours")


def place(start: int, end: int, text: str = "x" * 10_000, document: str = "d") -> ContractChunk:
    return ContractChunk(f"{document}#{start}", document, start, end, text[start:end])


def test_measures_of_a_ranking() -> None:
    document = Document("d", "x" * 10_000)
    ranked = [place(0, 100), place(100, 200), place(5000, 9000), place(200, 300)]
    gold = [(160, 260), (5500, 5600)]
    measured = chunk_metrics.measure(document, ranked, gold, budget=200)
    assert (measured.recall_1, measured.recall_3, measured.mrr) == (0.0, 1.0, 1 / 3)
    assert chunk_metrics.measure(document, ranked[:2], [(150, 250)]).mrr == 1 / 2  # half of one that crosses a border
    assert chunk_metrics.measure(document, ranked[:2], [(151, 251)]).mrr == 0  # less than half
    assert (measured.hit, chunk_metrics.measure(document, ranked, gold, budget=4200).hit) == (0.0, 1.0)
    assert [chunk_metrics.measure(document, ranked, gold, budget).hit_third for budget in (12599, 12600)] == [0, 1]
    assert measured.presence == 1
    assert chunk_metrics.measure(document, ranked, [(160, 260)]).presence == 0  # the end of it is in the fourth chunk
    spaced = "x" * 99 + " " + "x" * 200
    two = [place(100, 200, spaced), place(0, 99, spaced)]
    assert chunk_metrics.measure(Document("d", spaced), two, [(50, 150)]).presence == 1
    assert chunk_metrics.measure(document, [], gold) == chunk_metrics.Measures(0, 0, 0, 0, 0, 0, None)
    with pytest.raises(ValueError, match="that have an answer"):
        chunk_metrics.measure(document, ranked, [])


def test_chunks_of_other_contracts_find_nothing() -> None:
    text = "The first sentence is here. The second sentence is there."
    gold = [(0, 27)]
    alien = place(0, len(text), text, "e")
    measured = chunk_metrics.measure(Document("d", text), [alien, place(0, len(text), text)], gold)
    assert (measured.recall_1, measured.recall_3, measured.relevancy) == (0, 1, 0.25)
    assert chunk_metrics.measure(Document("d", text), [alien], gold).presence == 0


def test_relevancy_counts_sentences() -> None:
    text = "The first sentence is here. The second sentence is there. The third one is nowhere."
    start = text.index("The second")
    measured = chunk_metrics.measure(Document("d", text), [place(0, len(text), text)], [(start, start + 10)])
    assert measured.relevancy == pytest.approx(1 / 3)


def here(contract: Contract, start: int) -> FoundChunk:
    return FoundChunk(place(start, start + 100, document=contract.document.id), 1.0)


def toy(count: int) -> list[Contract]:
    return [
        Contract(
            Document(f"c{number}", "x" * 1000),
            (ChecklistQuestion(f"c{number}__A", "A", ((0, 10),)), ChecklistQuestion(f"c{number}__B", "B", ())),
        )
        for number in range(count)
    ]


def test_arms_are_compared_by_contract() -> None:
    contracts = toy(12)
    good = chunk_metrics.run(contracts, lambda contract, question: [here(contract, 0)])
    bad = chunk_metrics.run(
        contracts, lambda contract, question: [here(contract, 0 if contract.document.id < "c5" else 500)]
    )
    assert (len(good), list(good["category"].unique())) == (12, ["A"])
    assert chunk_metrics.estimate(good, "recall_3", PLAN).value == 1
    compared = chunk_metrics.differences({"good": good, "bad": bad}, "bad", "recall_3", PLAN)
    [row] = compared.to_dict("records")
    assert row["difference"] == pytest.approx(5 / 12)
    assert row["difference_low"] > 0
    assert row["holm"] == row["p"] < 0.05
    with pytest.raises(ValueError, match="same questions"):
        chunk_metrics.difference(good, bad[1:], "recall_3", PLAN)


def test_words_alone_find_most_answers_in_cuad(external_data: Path) -> None:
    folder = external_data / "contract_review" / "cuad"
    contracts = load_cuad(folder)[:15]
    documents = [contract.document for contract in contracts]
    shelf = ContractShelf(documents, "recursive-2048", Letters())
    descriptions = read_descriptions(folder)

    def arm(wording: Wording) -> float:
        frame = chunk_metrics.run(
            contracts,
            lambda contract, question: search(
                shelf,
                "bm25",
                queries(question.category, wording, descriptions.get(question.category)),
                3,
                within=contract.document.id,
            ),
        )
        return float(frame["recall_3"].mean())

    described, expert = arm("description"), arm("vocabulary")
    assert 0.5 < described < expert
    assert expert > 0.75
