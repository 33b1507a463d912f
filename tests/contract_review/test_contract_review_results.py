"""Experiments, tables and figures of the study: what they count, and that the notebook writes what the stage lists."""

import random
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy

from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.retrieval.embedding import Vectors
from ovrag_studies.contract_review import results, review_experiments
from ovrag_studies.contract_review.measures.answer_metrics import AnsweredQuestion, span_estimates
from ovrag_studies.contract_review.retrieval.retrievers import Remembered
from ovrag_studies.contract_review.review_experiments import published, redrawn_f1


class Counting:
    """Stands in for the embedder and remembers how often each text was embedded."""

    name = "counting"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return numpy.array([[zlib.crc32(text.encode()) % 7, 1.0] for text in texts], dtype=numpy.float32)


def asked(contract: str, gold: tuple[str, ...], answer: str | None, score: float = 0.9) -> AnsweredQuestion:
    return AnsweredQuestion(contract, "Insurance", gold, ((answer, score),) if answer else (), score if answer else 0.0)


def test_published_figures_are_those_of_the_study() -> None:
    read = published()
    assert read["e1"]["rag"]["Claude 3 Haiku"] == 0.9585
    assert read["e2"]["recursive 2,048"] == {"relevancy": 0.247, "f1": 0.501}
    assert read["e3"]["graph v2"] == {"relevancy": 0.274, "f1": 0.521}
    assert set(read["e2"]) <= set(review_experiments.E2), "each published arm is one of ours"
    assert set(read["e3"]) == {review_experiments.PLAIN, "graph v1", "graph v2"}


def test_a_text_is_embedded_once_and_given_in_the_order_asked() -> None:
    counting = Counting()
    embedder = Remembered(counting)
    first = embedder.embed(["a", "b", "a"])
    second = embedder.embed(["b", "c"])
    assert counting.texts == ["a", "b", "c"]
    assert (first[0] == first[2]).all() and (first[1] == second[0]).all()


def test_the_setting_of_two_contracts_is_drawn_anew_and_repeatably() -> None:
    rows = [
        asked(f"c{number}", ("keeps insurance",), "keeps insurance" if number < 2 else "something else")
        for number in range(4)
    ]
    drawn = redrawn_f1(rows, 50, 7)
    assert drawn == redrawn_f1(rows, 50, 7) and len(drawn) == 50
    assert set(drawn) == {0.0, 0.5, 1.0}, "none, one or both of the two contracts are answered rightly"


def test_intervals_of_pooled_spans_are_around_their_values() -> None:
    chance = random.Random(3)
    said = ["the supplier keeps insurance", "no"]
    rows = [asked(f"c{number % 8}", (said[0],), chance.choice(said), chance.random()) for number in range(64)]
    aupr, at_80 = span_estimates(rows, Resampling(200))
    assert at_80.value is not None
    assert aupr.low < aupr.value < aupr.high and aupr.clusters == 8


def test_a_picture_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    questions = [asked("c", ("one",), "one", 0.9), asked("c", (), "two", 0.1)]
    book = results.open_book(Settings(), 1, 0)
    first, second = (results.presence_figure(replace(book, figures=tmp_path / name), {"a": questions}) for name in "12")
    assert first.read_bytes() == second.read_bytes()
    assert first.with_suffix(".pdf").read_bytes() == second.with_suffix(".pdf").read_bytes()


def test_every_figure_says_what_it_rests_on(project: Path) -> None:
    made = sorted((project / "figures/contract_review/samples").glob("*.tex"))
    assert made
    for file in [*made, *(project / "tables/contract_review/samples").glob("*.tex")]:
        text = file.read_text(encoding="utf-8")
        assert ("Model: " in text and "n = " in text) or file.name == "numbers.tex", file.name


def test_macros_of_the_study_are_its_own(project: Path) -> None:
    numbers = project / "tables/contract_review/samples/numbers.tex"
    names = re.findall(r"\\newcommand\{\\(\w+)\}", numbers.read_text(encoding="utf-8"))
    others = re.findall(
        r"\\newcommand\{\\(\w+)\}", (project / "tables/consistency/numbers.tex").read_text(encoding="utf-8")
    )
    assert names and len(names) == len(set(names)) and not set(names) & set(others)
    assert all(name.startswith("ContractReview") for name in names)
