"""Paragraphs are found by what was asked for, and by nothing else; golden sets name paragraphs that exist."""

from pathlib import Path
from typing import get_args

import pytest

from ovrag_core.base.errors import ModelSetupError, QuestionError, SettingsError
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.retrieval.embedding import minilm
from ovrag_studies.cited.corpus.golden import GoldenQuery, read_golden, require_gold
from ovrag_studies.cited.corpus.policies import assemble, read_corpus
from ovrag_studies.cited.corpus.retrieval import (
    CorpusIndex,
    RetrievalSettings,
    Way,
    heading_of,
    make_retriever,
    retrieve,
    with_headings,
)
from ovrag_studies.cited.corpus.sources import FileParagraph
from ovrag_studies.cited.measuring.paragraph_ranks import rank_queries, ranked, summarise_ranks

TEXTS = (
    "1. Canteen Hours The canteen opens at eight. It closes at three.",
    "Trays go back to the rack. Plates are washed by the staff of the kitchen.",
    "2. Bicycles Bicycles stand in the yard behind the gate. They must be locked.",
    "The key of the yard is kept at the desk.",
    "Guests sign the book at the desk and are met by their host.",
)
SAMPLES = Path("data/samples/policy")


@pytest.fixture(scope="module")
def index() -> CorpusIndex:
    corpus = assemble(
        [FileParagraph("house", "house.txt", 1, n, text) for n, text in enumerate(TEXTS)], {"house": "0" * 64}
    )
    return CorpusIndex(corpus)


@pytest.mark.parametrize("way", get_args(Way))
def test_each_way_finds_what_was_asked(index: CorpusIndex, way: Way) -> None:
    found = retrieve("Where do I put my bicycle?", index, RetrievalSettings(by=way, top=2))
    assert [each.rank for each in found] == [1, 2]
    assert found[0].paragraph.text.startswith("2. Bicycles")
    assert {each.by for each in found} == {way}


def test_the_reader_puts_the_answer_before_what_only_speaks_of_the_thing() -> None:
    texts = (
        "Lockers stand in the hall. A locker has a number, and a locker is emptied in June.",
        "The fee for a locker is 4 pounds a term.",
        "The roof garden closes at sunset.",
    )
    index = CorpusIndex(
        assemble([FileParagraph("hall", "h", 1, n, text) for n, text in enumerate(texts)], {"hall": "0" * 64})
    )
    asked = "How much do I pay for a locker?"
    plain = retrieve(asked, index, RetrievalSettings(by="lexical", top=2))
    read = retrieve(asked, index, RetrievalSettings(by="lexical", rerank="reader", top=2))
    assert [each.paragraph.index for each in plain] == [0, 1]
    assert [each.paragraph.index for each in read] == [1, 0]
    assert {each.by for each in read} == {"reader"}


def test_a_paragraph_is_found_by_the_heading_that_it_stands_under(index: CorpusIndex) -> None:
    assert list(with_headings(index.corpus))[3] == "Bicycles The key of the yard is kept at the desk."
    first, second = retrieve("bicycles", index, RetrievalSettings(by="lexical", top=2))
    assert (first.paragraph.index, second.paragraph.index) == (2, 3)


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("2. Remote Work Policy Employees may work from home.", "Remote Work Policy"),
        ("4.2 Loss of Keys Anyone who loses a key says so.", "Loss of Keys"),
        ("Employees may work from home.", ""),
        ("12 months after the start the card ends.", ""),
    ],
)
def test_headings(text: str, heading: str) -> None:
    assert heading_of(text) == heading


def test_a_reranker_looks_again_and_is_named(index: CorpusIndex) -> None:
    settings = RetrievalSettings(by="lexical", rerank="sentences", top=2)
    found = make_retriever(index, settings)("When does the canteen close?")
    assert found.ran == {"retrieval": "lexical", "embedder": minilm().name, "rerank": "sentences"}
    assert found.evidence[0].by == "sentences"
    assert found.evidence[0].paragraph.index == 0


def test_a_missing_reranker_is_an_error_unless_another_is_named(index: CorpusIndex, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cache_dir"):
        make_retriever(index, RetrievalSettings(rerank="cross-encoder"))
    with pytest.raises(ModelSetupError, match=str(tmp_path)):
        make_retriever(index, RetrievalSettings(rerank="cross-encoder", cache_dir=tmp_path))
    with pytest.raises(ModelSetupError):
        make_retriever(index, RetrievalSettings(rerank="cross-encoder", cache_dir=tmp_path, substitute="cross-encoder"))
    allowed = RetrievalSettings(rerank="cross-encoder", cache_dir=tmp_path, substitute="none")
    found = make_retriever(index, allowed)("Where do guests sign?")
    assert (found.requested["rerank"], found.ran["rerank"]) == ("cross-encoder", "none")


def test_nothing_is_found_for_nothing_and_something_for_anything_else(index: CorpusIndex) -> None:
    assert retrieve("  ", index) == []
    assert len(retrieve("???", index)) == 5
    assert len(retrieve("why " * 3000, index)) == 5


def test_recall_and_rank_count_what_is_gold(index: CorpusIndex) -> None:
    paragraphs = index.corpus.paragraphs
    query = GoldenQuery("q", "?", "answerable", gold=(paragraphs[1].id, paragraphs[4].id))
    assert ranked(query, [paragraphs[0], paragraphs[1]])[1:] == (0.5, 0.5, False)
    assert ranked(query, [])[1:] == (0.0, 0.0, False)
    assert ranked(query, paragraphs, depth=1)[1:] == (0.0, 0.0, False)


def test_a_golden_set_that_names_unknown_paragraphs_is_refused_with_the_list(
    index: CorpusIndex, tmp_path: Path
) -> None:
    file = tmp_path / "golden.csv"
    file.write_text(
        "query_id,question,category,gold_paragraph_ids\nq1,When?,answerable,house::nowhere\nq2,Who?,unanswerable,none\n"
    )
    queries = read_golden(file)
    assert [each.gold for each in queries] == [("house::nowhere",), ()]
    with pytest.raises(QuestionError, match="house::nowhere"):
        require_gold(queries, index.corpus, file)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("query_id,question\nq,why\n", "lacks the column category"),
        ("", "lacks the column query_id"),
        ("query_id,question,category,gold_paragraph_ids\nq,Why?,maybe,\n", "row 2: category 'maybe'"),
        ("query_id,question,category,gold_paragraph_ids\n" + "q,Why?,answerable,\n" * 2, "more than once"),
        ("query_id,question,category,gold_paragraph_ids\n,Why?,answerable,\n", "row 2: query_id"),
    ],
)
def test_a_golden_set_that_is_none_is_refused(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "golden.csv"
    file.write_text(content)
    with pytest.raises(QuestionError, match=said):
        read_golden(file)


@pytest.mark.parametrize(
    ("labels", "recall", "reciprocal", "count"),
    [("golden_set", 0.70, 0.79, 46), ("golden_set_audited", 0.92, 0.93, 51)],
)
def test_published_queries(external_data: Path, labels: str, recall: float, reciprocal: float, count: int) -> None:
    folder = external_data / "policy" / "dev"
    corpus = read_corpus(folder / "corpus")
    queries = read_golden(folder / "golden_set" / f"{labels}.csv")
    require_gold(queries, corpus, folder)
    search = make_retriever(CorpusIndex(corpus, keep=Path("data/cache/vectors")), RetrievalSettings())
    ranks = rank_queries(queries, lambda query: [each.paragraph for each in search(query).evidence])
    figures = summarise_ranks(ranks, Resampling(samples=50))
    assert len(ranks) == count
    assert (figures["recall_at_5"].value or 0) >= recall
    assert (figures["mrr_at_5"].value or 0) >= reciprocal
