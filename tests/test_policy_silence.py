"""Silence: the test that certifies a threshold, scores that never saw their own answer, and what happens without."""

import pytest

from ovrag_core.errors import SettingsError
from ovrag_core.studies.policy.answers import Answer, Sentence
from ovrag_core.studies.policy.silence import (
    Answerability,
    Silence,
    Traits,
    calibrate,
    cross_fitted,
    fit,
    learn_then_test,
    least_answers,
)


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


def test_one_error_passes_where_the_first_threshold_answers_38() -> None:
    wrong = [False] * 25 + [True] + [False] * 12
    assert not learn_then_test(falling(38), wrong).certified or learn_then_test(falling(38), wrong).errors == 0
    certificate = learn_then_test(falling(38), wrong, start=38)
    assert (certificate.answered, certificate.errors, certificate.certified) == (38, 1, True)
    assert certificate.p <= 0.10


def test_testing_stops_at_the_first_failure_even_if_a_laxer_threshold_would_pass() -> None:
    wrong = [False] * 24 + [True] + [False] * 75
    certificate = learn_then_test(falling(100), wrong)
    assert (certificate.answered, certificate.errors) == (24, 0)


@pytest.mark.parametrize(
    ("scores", "wrong", "alpha", "grid"),
    [([0.5], [], 0.1, (0.9, 0.1)), ([0.5], [True], 0.0, (0.9, 0.1)), ([0.5], [True], 0.1, (0.1, 0.9))],
)
def test_impossible_tests_are_refused(
    scores: list[float], wrong: list[bool], alpha: float, grid: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match=r"belong|between|fall"):
        learn_then_test(scores, wrong, alpha, grid=grid)


def test_a_model_learns_what_tells_right_from_wrong_and_gives_the_same_each_time() -> None:
    rows = [(row / 10, 0.5) for row in range(20)]
    right = [row > 8 for row in range(20)]
    model = fit(rows, right)
    assert model == fit(rows, right)
    assert model.score((2.0, 0.5)) > 0.8
    assert model.score((0.0, 0.5)) < 0.2
    assert model.weights[1] == pytest.approx(0.0)


def test_cross_fitted_scores_do_not_use_the_label_of_their_own_answer() -> None:
    rows = [(row / 10,) for row in range(30)]
    right = [row >= 10 for row in range(30)]
    before = cross_fitted(rows, right, folds=30)
    flipped = [not right[29] if row == 29 else each for row, each in enumerate(right)]
    kept = fit([row for number, row in enumerate(rows) if number != 29], right[:29])
    assert cross_fitted(rows, right, folds=30)[29] == before[29]
    assert kept.score(rows[29]) == pytest.approx(before[29], abs=0.05)
    assert fit(rows, flipped).score(rows[29]) < before[29]


def test_nothing_is_learned_from_answers_that_are_all_right() -> None:
    with pytest.raises(SettingsError, match="both kinds"):
        fit([(0.1,), (0.2,)], [True, True])


def test_an_answer_below_the_threshold_or_without_a_certificate_is_silent() -> None:
    traits = [Traits(0.9 - row / 100, 0.9, 0.0) for row in range(40)]
    learned = calibrate(traits, [row >= 30 for row in range(40)])
    given = Answer("q", (Sentence("Badges are worn.", ()),), (), False, "", 0.5, "extractive")
    assert not learned.apply(given, Traits(0.9, 0.9, 0.0)).silent
    quiet = learned.apply(given, Traits(0.1, 0.1, 0.0))
    assert quiet.silent
    assert not quiet.sentences
    assert "below the certified threshold" in quiet.reason
    unsure = Silence(Answerability((0.0,) * 3, (1.0,) * 3, (1.0,) * 3, 0.0), learn_then_test([0.5], [False]), (0.5,))
    assert unsure.apply(given, Traits(0.9, 0.9, 1.0)).reason == "no threshold is certified"
