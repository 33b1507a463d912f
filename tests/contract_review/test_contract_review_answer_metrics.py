"""Measures of answers: by hand, and against CUAD's formulas written out plainly."""

import numpy
import pytest

from ovrag_core.base.types import Document
from ovrag_core.evaluation.statistics import Resampling
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers, SpanAnswer
from ovrag_studies.contract_review.measures.answer_metrics import (
    AnsweredQuestion,
    best_answer,
    cuad_match,
    f1,
    join,
    presence_auroc,
    presence_estimate,
    risk_coverage,
    span_estimates,
    thesis_match,
)
from ovrag_studies.contract_review.texts.datasets import ChecklistQuestion, Contract

PLAN = Resampling(samples=100)
TEXT = "Alpha pays Beta ten dollars. Gamma insures the goods. Delta may leave at will."


def ask(
    gold: list[str], answers: list[tuple[str, float]], present: float = 0.5, contract: str = "a"
) -> AnsweredQuestion:
    return AnsweredQuestion(contract, "Insurance", tuple(gold), tuple(answers), present)


def plain_spans(rows: list[AnsweredQuestion]) -> tuple[float, float]:
    """AUPR and precision at 80% recall, threshold by threshold."""
    scores = sorted({score for row in rows for _, score in row.answers}, reverse=True)
    total = sum(len(row.gold) for row in rows)
    points = []
    for threshold in scores:
        right = wrong = 0
        for row in rows:
            kept = [text for text, score in row.answers if score >= threshold]
            right += sum(any(cuad_match(gold, text, row.category) for text in kept) for gold in row.gold)
            wrong += sum(not any(cuad_match(gold, text, row.category) for gold in row.gold) for text in kept)
        points.append((right / total, right / max(1, right + wrong)))
    best = [(recall, max(p for _, p in points[place:])) for place, (recall, _) in enumerate(points)]
    area, last = 0.0, (0.0, 1.0)
    for recall, precision in best:
        area += (recall - last[0]) * (precision + last[1]) / 2
        last = (recall, precision)
    return area, next((p for r, p in best if r >= 0.8), 0.0)


def pooled_spans(rows: list[AnsweredQuestion]) -> list[float | None]:
    return [figure.value for figure in span_estimates(rows, Resampling(samples=2))]


def test_pooled_figures_are_those_of_the_plain_formula() -> None:
    generator = numpy.random.default_rng(3)
    rows, number = [], 0
    for _ in range(30):
        gold = [f"subject{number + place} verb{number + place}" for place in range(int(generator.integers(0, 3)))]
        answers = []
        for text in [*gold, "another text that fits nothing", "and one more"]:
            number += 1
            if generator.random() < 0.85:
                answers.append((text, round(float(generator.random()) + number * 1e-6, 9)))
        rows.append(ask(gold, answers))
        number += 10
    assert pooled_spans(rows) == pytest.approx(plain_spans(rows))


def test_a_gold_span_counts_once_and_a_wrong_answer_each_time() -> None:
    rows = [ask(["one two"], [("one two", 0.9), ("one two three", 0.8), ("x", 0.95)])]
    assert pooled_spans(rows)[1] == 0.5


def test_nothing_found_and_nothing_to_find() -> None:
    assert pooled_spans([ask(["one"], [])])[0] == 0
    assert pooled_spans([]) == [0.0, 0.0]
    assert presence_auroc([ask([], [])]) is None


def test_presence_counts_ties_half() -> None:
    rows = [ask(["g"], [], 0.9), ask(["g"], [], 0.4), ask([], [], 0.4), ask([], [], 0.1)]
    assert presence_auroc(rows) == pytest.approx((1 + 1 + 0.5 + 1) / 4)


def test_best_answer_takes_the_first_alone() -> None:
    rows = [
        ask(["one two"], [("one two", 0.9)], contract="a"),
        ask(["one two"], [("no", 0.9), ("one two", 0.8)], contract="b"),
        ask([], [("one", 1.0)], contract="b"),
    ]
    assert best_answer(rows, PLAN).value == 0.5


def test_rules_differ_where_they_say_they_do() -> None:
    assert cuad_match("one two", "one three", "Insurance") is False
    assert cuad_match("one/two", "one two", "Insurance") is True
    assert thesis_match("one/two", "one two", 0.3) is False
    assert thesis_match("a b c", "a b d", 0.5) is False
    assert thesis_match("a b c", "a b d", 0.3) is True
    assert thesis_match("a\nb", "a b", 0.3) is False
    assert cuad_match("Delta", "Delta and Beta made this", "Parties") is True


def test_one_answer_a_question_with_abstention() -> None:
    rows = [
        ask(["one"], [("one", 0.9)], 0.9, "a"),
        ask(["two"], [("x", 0.9)], 0.8, "b"),
        ask([], [("x", 0.2)], 0.1, "c"),
    ]
    assert f1(rows, "cuad", 0.0, PLAN).value == pytest.approx(2 / 5)
    assert f1(rows, "cuad", 0.5, PLAN).value == 0.5


def test_risk_falls_where_the_sure_are_right() -> None:
    rows = [ask(["g"], [], 0.99), ask([], [], 0.02), ask(["g"], [], 0.4)]
    assert risk_coverage(rows)[:, 1].tolist() == pytest.approx([0, 0, 1 / 3])


def test_resampling_contracts_gives_an_interval_around_the_figure() -> None:
    rows = [ask(["g"], [], 0.1 + 0.08 * n, str(n % 5)) for n in range(10)] + [
        ask([], [], 0.3, str(n)) for n in range(5)
    ]
    found = presence_estimate(rows, PLAN)
    assert found.low is not None
    assert found.high is not None
    assert found.value is not None
    assert found.low < found.value < found.high
    assert found.clusters == 5


def test_questions_without_an_entry_are_unanswered() -> None:
    contract = Contract(
        Document("c", TEXT),
        (ChecklistQuestion("1", "Insurance", ((29, 53),)), ChecklistQuestion("2", "Audit Rights", ())),
    )
    given = {("c", "Insurance"): CategoryAnswers("Insurance", 0.7, (SpanAnswer(TEXT[29:53], 29, 53, 0.7, ""),))}
    first, second = join([contract], given)
    assert first.gold == (first.answers[0][0],)
    assert (second.answers, second.present) == ((), 0.0)
