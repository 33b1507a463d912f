"""Agreement beyond chance: figures computed by hand, and from the papers that define them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from ovrag_core.evaluation.raters import Weights, agreement
from ovrag_core.evaluation.statistics import Resampling

PLAN = Resampling(samples=2000)


def raters(table: list[list[int]]) -> tuple[list[int], list[int]]:
    pairs = [(row, column) for row, line in enumerate(table) for column, count in enumerate(line) for _ in range(count)]
    return [one for one, _ in pairs], [other for _, other in pairs]


def test_kappa_of_a_table_computed_by_hand() -> None:
    # p_o = (20 + 15) / 50 = 0.7; p_e = (25 * 30 + 25 * 20) / 2500 = 0.5; kappa = 0.2 / 0.5; PABAK = 2 * 0.7 - 1
    found = agreement(*raters([[20, 5], [10, 15]]), [0, 1], PLAN)
    assert (found.items, found.observed) == (50, 0.7)
    assert found.kappa.value == pytest.approx(0.4)
    assert found.pabak.value == pytest.approx(0.4)


def test_lopsided_ratings_lower_kappa_and_not_the_adjusted_one() -> None:
    # p_o = 46 / 50; p_e = (48 * 48 + 2 * 2) / 2500 = 0.9232; kappa = (0.92 - 0.9232) / 0.0768 = -1 / 24
    found = agreement(*raters([[46, 2], [2, 0]]), [0, 1], PLAN)
    assert found.kappa.value == pytest.approx(-1 / 24)
    assert found.pabak.value == pytest.approx(0.84)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        # Rows 4, 4, 2 and columns 3, 4, 3 of 10 items; seen apart by one step 2, by two none. By chance: one step in
        # (16 + 12 + 12 + 8) / 100 = 0.48, two in (12 + 6) / 100 = 0.18.
        ("none", 1 - 0.2 / 0.66),
        ("quadratic", 1 - 0.2 * 0.25 / (0.48 * 0.25 + 0.18)),
    ],
)
def test_weighted_kappa_computed_by_hand(weights: Weights, expected: float) -> None:
    one, other = raters([[3, 1, 0], [0, 3, 1], [0, 0, 2]])
    found = agreement(one, other, [0, 1, 2], PLAN, weights=weights)
    assert found.kappa.value == pytest.approx(expected)
    assert found.kappa.value == pytest.approx(
        cohen_kappa_score(one, other, weights=None if weights == "none" else weights)
    )
    assert found.pabak.value == pytest.approx((3 * 0.8 - 1) / 2)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
@settings(max_examples=25, deadline=None)
def test_kappa_does_not_depend_on_who_is_first_and_lies_in_its_range(pairs: list[tuple[int, int]]) -> None:
    one, other = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    straight = agreement(one, other, range(4), Resampling(samples=50), weights="quadratic")
    turned = agreement(other, one, range(4), Resampling(samples=50), weights="quadratic")
    if straight.kappa.value is None:
        assert turned.kappa.value is None
        return
    assert straight.kappa.value == pytest.approx(turned.kappa.value)
    assert -1 - 1e-9 <= straight.kappa.value <= 1 + 1e-9


def test_interval_is_near_the_one_of_the_large_sample_formula() -> None:
    # Cohen (1960): the standard error is about sqrt(p_o (1 - p_o) / n) / (1 - p_e).
    found = agreement(*raters([[80, 20], [40, 60]]), [0, 1], Resampling(samples=2000))
    spread = 1.96 * np.sqrt(0.7 * 0.3 / 200) / 0.5
    assert found.kappa.low == pytest.approx(0.4 - spread, abs=0.02)
    assert found.kappa.high == pytest.approx(0.4 + spread, abs=0.02)


def test_the_same_ratings_have_the_same_interval() -> None:
    one, other = raters([[20, 5], [10, 15]])
    assert agreement(one, other, [0, 1], PLAN) == agreement(one, other, [0, 1], PLAN)


def test_one_category_only_leaves_kappa_undefined() -> None:
    found = agreement(["no"] * 9, ["no"] * 9, ["no", "yes"], PLAN)
    assert (found.observed, found.kappa.value, found.pabak.value) == (1.0, None, 1.0)
    assert found.pabak.low is None


def test_nothing_rated_is_no_agreement() -> None:
    assert agreement([], [], [0, 1], PLAN).kappa.value is None


def test_a_rating_that_is_no_category_is_refused() -> None:
    with pytest.raises(ValueError, match="5 is none of the categories"):
        agreement([0], [5], [0, 1], PLAN)
