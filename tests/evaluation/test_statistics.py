"""Intervals respect clusters, survive degenerate data, and agree with what is known independently."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from ovrag_core.evaluation.risk import first_rank, recall, reciprocal
from ovrag_core.evaluation.statistics import (
    Resampling,
    compare_pairs,
    exact_mcnemar,
    holm,
    paired_difference,
    ratio,
    wilson,
)

PLAN = Resampling(samples=500)


def test_wilson_equals_the_textbook_interval():
    estimate = wilson(8, 10)
    assert estimate.value == 0.8
    assert (estimate.low, estimate.high) == pytest.approx((0.4901, 0.9433), abs=1e-4)


def test_wilson_without_trials_is_not_defined():
    assert wilson(0, 0).value is None


def test_wilson_bounds_stay_on_the_scale_at_the_ends():
    assert wilson(0, 50).low == 0.0
    assert wilson(50, 50).high == 1.0


def test_ratio_is_the_ratio_of_sums_not_the_mean_of_ratios():
    assert ratio([1, 0, 9], [1, 1, 18], PLAN).value == 0.5


def test_interval_with_clusters_is_wider_than_with_queries():
    draw = np.random.default_rng(0)
    clusters = draw.random(60) < 0.5  # all five queries of a document share their fate
    by_document = ratio((clusters * 5.0).tolist(), [5.0] * 60, PLAN)
    by_query = ratio(np.repeat(clusters, 5).astype(float).tolist(), [1.0] * 300, PLAN)
    assert by_document.high - by_document.low > 1.8 * (by_query.high - by_query.low)


def test_bca_covers_the_truth_about_as_often_as_it_says():
    draw = np.random.default_rng(7)
    covered = 0
    for _ in range(100):
        rates = draw.beta(3, 2, size=40)
        hits = draw.binomial(5, rates)
        estimate = ratio(hits.tolist(), [5.0] * 40, Resampling(samples=400))
        covered += estimate.low <= 0.6 <= estimate.high
    assert covered >= 88


def test_unanimous_clusters_get_a_wilson_interval_instead_of_certainty():
    estimate = ratio([5.0] * 40, [5.0] * 40, PLAN)
    assert estimate.value == 1.0
    assert estimate.method == "wilson"
    assert estimate.low == pytest.approx(wilson(40, 40).low)
    assert estimate.high == 1.0


def test_empty_denominators_in_resamples_give_the_percentile_interval():
    estimate = ratio([1, 1, 0, 0, 0], [1, 2, 0, 0, 0], PLAN)
    assert estimate.value == pytest.approx(2 / 3)
    assert estimate.method == "percentile"
    assert 0.5 <= estimate.low <= estimate.high <= 1.0


def test_a_mean_on_which_all_clusters_agree_has_no_interval():
    estimate = ratio([3.0] * 9, [1.0] * 9, PLAN, proportion=False)
    assert (estimate.value, estimate.low, estimate.high, estimate.clusters) == (3.0, None, None, 9)


@pytest.mark.parametrize(("top", "bottom"), [([], []), ([0.0, 0.0], [0.0, 0.0])])
def test_nothing_to_divide_by_is_not_defined(top, bottom):
    estimate = ratio(top, bottom, PLAN)
    assert (estimate.value, estimate.low, estimate.high) == (None, None, None)


def test_one_cluster_has_a_value_and_no_interval():
    estimate = ratio([3.0], [5.0], PLAN)
    assert (estimate.value, estimate.low, estimate.high) == (0.6, None, None)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
@settings(max_examples=40, deadline=None)
def test_intervals_lie_on_the_scale_and_are_reproducible(pairs):
    top = [float(a) for a, _ in pairs]
    bottom = [float(a + b) for a, b in pairs]
    plan = Resampling(samples=99)
    first = ratio(top, bottom, plan)
    assert first == ratio(top, bottom, plan)
    if first.low is not None:
        assert 0 <= first.low <= first.high <= 1


def test_paired_difference_of_equal_arms_is_zero():
    arm = ([1.0, 2.0, 3.0], [5.0, 5.0, 5.0])
    difference = paired_difference(arm, arm, PLAN)
    assert (difference.value, difference.low, difference.high, difference.p) == (0.0, None, None, 1.0)


def test_paired_difference_sees_a_small_but_constant_gain():
    draw = np.random.default_rng(3)
    base = draw.integers(0, 4, 30).astype(float)
    better = base + (draw.random(30) < 0.7)
    n = [5.0] * 30
    difference = paired_difference((better.tolist(), n), (base.tolist(), n), PLAN)
    assert difference.low > 0
    assert difference.p < 0.01


def test_a_difference_on_which_all_clusters_agree_has_no_interval():
    difference = paired_difference(([4.0] * 9, [5.0] * 9), ([1.0] * 9, [5.0] * 9), PLAN)
    assert (difference.value, difference.low, difference.high) == (pytest.approx(0.6), None, None)
    assert difference.p < 0.01


def test_paired_difference_without_anything_to_compare_is_not_defined():
    assert paired_difference(([1.0], [2.0]), ([0.0], [0.0]), PLAN).value is None


def test_mcnemar_counts_discordant_pairs_and_is_exact():
    first = [True] * 6 + [False] + [True] * 3
    second = [False] * 6 + [True] + [True] * 3
    result = exact_mcnemar(first, second)
    assert (result.first_only, result.second_only, result.pairs) == (6, 1, 10)
    assert result.p == pytest.approx(2 * (1 + 7) / 2**7)


def test_mcnemar_without_discordant_pairs_is_one_and_without_pairs_not_defined():
    assert exact_mcnemar([True, False], [True, False]).p == 1.0
    assert exact_mcnemar([], []).p is None


def test_holm_steps_down_and_leaves_out_what_is_not_defined():
    assert holm([0.01, None, 0.04, 0.03]) == [pytest.approx(0.03), None, pytest.approx(0.06), pytest.approx(0.06)]
    assert holm([None]) == [None]


@given(st.lists(st.sampled_from([0.0, 0.004, 0.01, 0.03, 0.05, 0.2, 1.0]) | st.floats(0, 1), min_size=1, max_size=9))
@settings(max_examples=15, deadline=None)  # each call of theirs collects all garbage of the process
def test_holm_is_that_of_statsmodels(p_values: list[float]):
    assert holm(p_values) == multipletests(p_values, method="holm")[1].tolist()


def test_pairs_are_compared_over_items_and_over_clusters() -> None:
    first = [True] * 12
    worse = [number >= 6 for number in range(12)]
    found = compare_pairs(
        {"a": (first, worse), "b": (first, first)}, [number % 4 for number in range(12)], Resampling(60)
    )
    assert (found["a"].items.first_only, found["a"].items.second_only, found["a"].items.pairs) == (6, 0, 12)
    assert found["a"].items.p == pytest.approx(2 * 0.5**6)
    assert (found["a"].holm, found["b"].holm) == (pytest.approx(4 * 0.5**6), 1.0)
    assert (found["a"].difference.value, found["a"].difference.clusters) == (pytest.approx(0.5), 4)
    assert found["a"].difference.low < 0.5 < found["a"].difference.high
    assert compare_pairs({}, [], Resampling(60)) == {}


def test_a_ranking_is_worth_where_its_first_hit_stands() -> None:
    ranks = [first_rank(hits) for hits in ([True], [False, False, True], [False], [])]
    assert ranks == [1, 3, None, None]
    assert [reciprocal(rank) for rank in ranks] == [1, pytest.approx(1 / 3), 0, 0]
    assert (recall(["a", "b"], "bcc"), recall([], "a")) == (0.5, 0)
