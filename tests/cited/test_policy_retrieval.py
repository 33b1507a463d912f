"""Paragraphs are found by what was asked for, and by nothing else; golden sets name paragraphs that exist."""

from pathlib import Path
from typing import get_args

import pytest

from ovrag_core.base.errors import CorpusError, QuestionError
from ovrag_core.evaluation.statistics import Resampling
from ovrag_studies.cited.corpus.golden import GoldenQuery, read_golden
from ovrag_studies.cited.corpus.policies import assemble, read_corpus
from ovrag_studies.cited.corpus.retrieval import (
    CorpusIndex,
    Way,
    heading_of,
    retrieve,
    retrieve_by,
    with_headings,
)
from ovrag_studies.cited.corpus.sources import FileParagraph
from ovrag_studies.cited.measuring.golden_scores import score_ranks

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
    found = retrieve_by(way, "Where do I put my bicycle?", index, 2)
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
    plain, read = retrieve_by("lexical", asked, index), retrieve(asked, index)
    assert plain[0].paragraph.index == 0
    assert read[0].paragraph.index == 1
    assert {each.by for each in read} == {"reader"}


def test_a_paragraph_is_found_by_the_heading_that_it_stands_under(index: CorpusIndex) -> None:
    assert list(with_headings(index.corpus))[3] == "Bicycles The key of the yard is kept at the desk."
    first, second = retrieve_by("lexical", "bicycles", index, 2)
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


def test_nothing_is_found_for_nothing_and_something_for_anything_else(index: CorpusIndex) -> None:
    assert retrieve("  ", index) == []
    assert len(retrieve("???", index)) == 5
    assert len(retrieve("why " * 3000, index)) == 5


def test_recall_and_rank_count_what_is_gold(index: CorpusIndex) -> None:
    paragraphs = index.corpus.paragraphs
    query = GoldenQuery("q", "?", "answerable", gold=(paragraphs[1].id, paragraphs[4].id))
    without = GoldenQuery("r", "?", "unanswerable")
    found = score_ranks([(query, paragraphs[:2]), (query, []), (without, paragraphs)], Resampling(50))
    assert {name: each.value for name, each in found.items()} == {"recall@5": 0.25, "MRR@5": 0.25, "first is gold": 0.0}
    assert found["recall@5"].clusters == 2


def test_a_golden_set_that_names_unknown_paragraphs_is_refused_with_the_list(
    index: CorpusIndex, tmp_path: Path
) -> None:
    file = tmp_path / "golden.csv"
    file.write_text(
        "query_id,question,category,gold_paragraph_ids\nq1,When?,answerable,house::nowhere\nq2,Who?,unanswerable,none\n"
    )
    assert [each.gold for each in read_golden(file)] == [("house::nowhere",), ()]
    with pytest.raises(CorpusError, match="house::nowhere"):
        read_golden(file, index.corpus)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("query_id,question\nq,why\n", "lacks the column category"),
        ("", "lacks the column query_id"),
        (
            "query_id,question,category,gold_paragraph_ids,gold_quotes\nq,why,answerable,a::b,c\n",
            "has a column gold_quotes, which is not read; call it gold_quote",
        ),
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
    index = CorpusIndex(corpus, keep=Path("data/cache/vectors"))
    queries = read_golden(folder / "golden_set" / f"{labels}.csv", corpus)
    found = [[each.paragraph for each in retrieve_by("fused", query.question, index)] for query in queries]
    figures = score_ranks(zip(queries, found, strict=True), Resampling(samples=50))
    assert figures["recall@5"].clusters == count
    assert (figures["recall@5"].value or 0) >= recall
    assert (figures["MRR@5"].value or 0) >= reciprocal
