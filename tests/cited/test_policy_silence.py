"""Silence: the test that certifies a threshold, and scores that tell what is answered from what is not."""

from math import exp

import numpy
import pytest
from train_policy_silence import bounded, least_certified

from ovrag_studies.cited.answering.quotations import CitedAnswer, CitedSentence
from ovrag_studies.cited.answering.silence import (
    COSINE,
    GRID,
    MEAN,
    SCALE,
    SHIFT,
    AnswerTraits,
    learn_then_test,
    least_answers,
    score_answer,
)
from ovrag_studies.cited.corpus.policies import FileParagraph, assemble
from ovrag_studies.cited.corpus.retrieval import Nearness, RankedParagraph


def falling(count: int) -> list[float]:
    return [1 - row / (count + 1) for row in range(count)]


def test_twenty_two_answers_are_the_fewest_that_can_be_certified() -> None:
    assert least_answers(0.10, 0.10) == 22
    assert learn_then_test(falling(22), [False] * 22).certified
    assert not learn_then_test(falling(21), [False] * 21).certified


def test_nineteen_queries_cannot_certify_and_the_report_says_so() -> None:
    certificate = learn_then_test(falling(19), [False] * 19)
    assert certificate.threshold is None
    assert certificate.text.startswith("not certified")


def test_no_error_is_allowed_before_38_answers() -> None:
    right = [False] * 30
    assert learn_then_test(falling(50), [*right, True, *[False] * 19]).answered == 30
    assert not learn_then_test(falling(50), [False] * 21 + [True] + [False] * 28).certified


def test_testing_stops_at_the_first_failure_even_if_a_laxer_threshold_would_pass() -> None:
    wrong = [False] * 24 + [True] + [False] * 75
    certificate = learn_then_test(falling(100), wrong)
    assert (certificate.answered, certificate.errors) == (24, 0)


def evidence_of(*texts: str) -> list[RankedParagraph]:
    read = [FileParagraph("club", "club.txt", 1, row, text) for row, text in enumerate(texts)]
    return [RankedParagraph(each, 1.0, "", 1) for each in assemble(read, {"club": "0" * 64}).paragraphs]


def said(query: str, *, silent: bool = False) -> CitedAnswer:
    return CitedAnswer(query, (CitedSentence("Badges are worn.", ()),), (), silent, "", 0.5)


@pytest.fixture(scope="module")
def nearness() -> Nearness:
    return Nearness()


def test_a_question_that_the_evidence_answers_scores_higher_than_one_that_it_only_lies_near(
    nearness: Nearness,
) -> None:
    evidence = evidence_of(
        "Boats are taken out between eight and six. The key hangs in the boathouse.",
        "The yearly fee is 120 pounds and is due on 1 March.",
    )
    answered = score_answer(said("When do I have to pay my fee?"), evidence, nearness)
    assert answered > score_answer(said("Is the fee lower for pensioners?"), evidence, nearness)
    assert answered > score_answer(said("Where can I have lunch?"), evidence, nearness)


def test_without_an_answer_or_evidence_the_score_is_0(nearness: Nearness) -> None:
    assert score_answer(said("When?", silent=True), evidence_of("The fee is due on 1 March."), nearness) == 0.0
    assert score_answer(said("When is the fee due?"), [], nearness) == 0.0


def test_a_score_is_that_of_the_surest_paragraph_and_of_all() -> None:
    traits = AnswerTraits((1.0, -2.0), (0.25, 0.75))
    assert traits.score(0, 0) == pytest.approx(1 / (1 + exp(-SCALE * 1.0 - SHIFT)))
    assert traits.score(8, 0) == pytest.approx(1 / (1 + exp(-SCALE * 4.0 - SHIFT))), "its cosine makes the second best"
    assert traits.score(8, 2) == pytest.approx(1 / (1 + exp(-SCALE * 3.0 - SHIFT))), "less by twice the mean, -0.5"


def test_a_score_lies_between_0_and_1_whatever_the_reader_says() -> None:
    surest, least = (AnswerTraits((odds,), (cosine,)).score(COSINE, MEAN) for odds, cosine in ((9.3, 1.0), (-9.3, 0.0)))
    assert 0 < least < GRID[-1] < GRID[0] < surest < 1


def test_the_bound_of_a_threshold_is_exact() -> None:
    scores, wrong = falling(40), [row in (3, 30) for row in range(40)]
    made = bounded(scores, wrong, scores[19], 0.10)
    assert (made.answered, made.errors, made.certified) == (20, 1, True)
    assert made.alpha == pytest.approx(0.181, abs=0.001)  # Clopper and Pearson's bound at 90% for 1 of 20
    assert made.p == pytest.approx(0.10, abs=0.001)
    assert bounded(scores, [True] * 40, scores[19], 0.10).alpha == 1.0


def test_what_documents_certify_holds_as_often_as_it_says() -> None:
    drawn, broken, risk = numpy.random.default_rng(1), 0, 0.2
    for _ in range(200):
        wrong = drawn.binomial(10, drawn.choice([0.0, 2 * risk], 20))  # half of the documents have all the errors
        least = least_certified([20] * 20, [10] * 20, [int(each) for each in wrong], 0.10)
        broken += least is not None and least <= risk
    assert broken <= 0.10 * 200


def test_more_documents_certify_less_risk_and_errors_cost() -> None:
    few, many = (least_certified([20] * size, [10] * size, [0] * size, 0.10) for size in (10, 40))
    worse = least_certified([20] * 40, [10] * 40, [2] * 40, 0.10)
    assert few is not None
    assert many is not None
    assert worse is not None
    assert many < few
    assert many < worse
    assert (least_certified([20], [10], [0], 0.10) or 0) > 0.9  # a single document says next to nothing
