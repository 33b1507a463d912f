"""Structural causal models: graph surgery, abduction–action–prediction by enumeration, stability."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pgmpy.inference import CausalInference

from ovrag_core.base.errors import CausalError, CycleError, ImpossibleEvidenceError, ProbabilityError, StrataError
from ovrag_studies.causal.libraries import as_pgmpy
from ovrag_studies.causal.models import Scm, from_functions, from_strata, instability, jensen_shannon

CHANCES = st.floats(min_value=0.0, max_value=1.0)


@pytest.fixture
def kidney_stones() -> Scm:
    """Simpson's paradox in Charig et al. (BMJ 292, 1986): size of stone, treatment, success."""
    return from_strata(
        {
            "small": {(): 357 / 700},
            "open": {(1,): 87 / 357, (0,): 263 / 343},
            "success": {(1, 1): 81 / 87, (0, 1): 192 / 263, (1, 0): 234 / 270, (0, 0): 55 / 80},
        },
        {"open": ["small"], "success": ["small", "open"]},
    )


def test_seeing_and_doing_differ_by_the_confounder(kidney_stones: Scm) -> None:
    seen = [kidney_stones.distribution(["success"], {"open": state})[1] for state in (0, 1)]
    done = [kidney_stones.do({"open": state}).distribution(["success"])[1] for state in (0, 1)]
    assert seen == pytest.approx([289 / 350, 273 / 350])
    assert done == pytest.approx([0.7789, 0.8325], abs=1e-3)


def test_an_action_cuts_only_what_leads_to_it(kidney_stones: Scm) -> None:
    acted = kidney_stones.do({"open": 1})
    assert acted.graph.parents("open") == ()
    assert acted.graph.parents("success") == kidney_stones.graph.parents("success")
    assert acted.distribution(["small"]) == pytest.approx(kidney_stones.distribution(["small"]))


def test_a_counterfactual_keeps_what_the_evidence_says_of_the_noise() -> None:
    """The firing squad: had the first rifleman not fired, the prisoner who died would be dead all the same."""
    follow, either = [[0], [1]], [[[0], [1]], [[1], [1]]]
    squad = from_functions(
        {
            "order": ((), (0.3, 0.7), [0, 1]),
            "first": (["order"], (1.0,), follow),
            "second": (["order"], (1.0,), follow),
            "dead": (["first", "second"], (1.0,), either),
        }
    )
    assert squad.counterfactual(["dead"], {"first": 0}, {"dead": 1}) == pytest.approx([0, 1])
    assert squad.do({"first": 0}).distribution(["dead"]) == pytest.approx([0.3, 0.7])


def test_variables_may_have_more_than_two_states() -> None:
    model = from_functions(
        {"dose": ((), (0.2, 0.3, 0.5), [0, 1, 2]), "well": (["dose"], (0.5, 0.5), [[0, 0], [0, 1], [1, 1]])},
        {"dose": 3},
    )
    assert model.distribution(["dose"], {"well": 1}) == pytest.approx([0, 0.15 / 0.65, 0.5 / 0.65])


@given(st.lists(CHANCES, min_size=7, max_size=7))
def test_the_joint_is_the_product_of_the_strata(chances: list[float]) -> None:
    a, b0, b1, *rest = chances
    c = dict(zip(product((0, 1), repeat=2), rest, strict=True))
    model = from_strata({"a": {(): a}, "b": {(0,): b0, (1,): b1}, "c": c}, {"b": ["a"], "c": ["a", "b"]})
    for x, y, z in product((0, 1), repeat=3):
        b, chance = (b1 if x else b0), c[x, y]
        expected = (a if x else 1 - a) * (b if y else 1 - b) * (chance if z else 1 - chance)
        assert model.joint().table[x, y, z] == pytest.approx(expected, abs=1e-12)


@given(st.lists(CHANCES, min_size=4, max_size=4), st.integers(0, 1))
def test_a_counterfactual_averages_to_the_action(chances: list[float], state: int) -> None:
    """Consistency: Σ_e P(y had x been so | e) P(e) = P(y | do(x))."""
    u, x0, x1, y = chances
    strata = {"u": {(): u}, "x": {(0,): x0, (1,): x1}, "y": {(0, 0): y, (0, 1): u, (1, 0): x0, (1, 1): x1}}
    model = from_strata(strata, {"x": ["u"], "y": ["x", "u"]})
    seen = model.distribution(["x", "y"])
    total = sum(
        seen[x, out] * model.counterfactual(["y"], {"x": state}, {"x": x, "y": out})
        for x, out in product((0, 1), repeat=2)
        if seen[x, out] > 0
    )
    assert total == pytest.approx(model.do({"x": state}).distribution(["y"]), abs=1e-9)


@given(st.lists(CHANCES, min_size=7, max_size=7))
def test_natural_effects_are_those_of_the_mediation_formula(chances: list[float]) -> None:
    x, m0, m1, *rest = chances
    y = dict(zip(product((0, 1), repeat=2), rest, strict=True))
    model = from_strata({"x": {(): x}, "m": {(0,): m0, (1,): m1}, "y": y}, {"m": ["x"], "y": ["x", "m"]})
    direct, indirect = model.natural_effects("x", "y", ["m"])
    assert direct == pytest.approx((y[1, 1] - y[0, 1]) * m0 + (y[1, 0] - y[0, 0]) * (1 - m0), abs=1e-9)
    assert indirect == pytest.approx((y[0, 1] - y[0, 0]) * (m1 - m0), abs=1e-9)


def test_pgmpy_computes_the_same(kidney_stones: Scm) -> None:
    network = as_pgmpy(kidney_stones)
    assert network.check_model()
    for state in (0, 1):
        theirs = CausalInference(network).query(["success"], do={"open": state}, show_progress=False)
        ours = kidney_stones.do({"open": state}).distribution(["success"])
        assert theirs.get_value(success=1) == pytest.approx(ours[1])


def test_what_never_happens_is_no_evidence() -> None:
    never = from_strata({"a": {(): 0.0}, "b": {(0,): 0.5, (1,): 0.5}}, {"b": ["a"]})
    with pytest.raises(ImpossibleEvidenceError, match="a = 1 has probability 0"):
        never.distribution(["b"], {"a": 1})
    with pytest.raises(ImpossibleEvidenceError, match="a = 1 has probability 0"):
        never.counterfactual(["b"], {"a": 0}, {"a": 1})


@pytest.mark.parametrize(
    ("strata", "causes", "error", "words"),
    [
        ({"a": {(): 1.2}}, {}, ProbabilityError, r"P\(a \| no condition\) is 1.2"),
        ({"a": {(): 0.2}, "b": {(0,): 0.5}}, {"b": ["a"]}, StrataError, "“b” is missing for a = 1"),
        ({"b": {(0,): 0.5, (1,): 0.5}}, {"b": ["a"]}, StrataError, "“a” is a cause, but has no probabilities"),
        ({"a": {(): 0.2, (1,): 0.5}}, {}, StrataError, "no stratum of 0 causes"),
        (
            {"a": {(0,): 0.2, (1,): 0.5}, "b": {(0,): 0.5, (1,): 0.5}},
            {"a": ["b"], "b": ["a"]},
            CycleError,
            "cycle [ab] → [ab] → [ab]",
        ),
    ],
)
def test_each_flaw_of_the_strata_has_its_own_message(strata, causes, error, words) -> None:
    with pytest.raises(error, match=words):
        from_strata(strata, causes)


def test_unknown_names_and_states_are_refused(kidney_stones: Scm) -> None:
    with pytest.raises(CausalError, match="“age” is not in the causal model; it has small, open, success"):
        kidney_stones.do({"age": 1})
    with pytest.raises(CausalError, match="“open” cannot be set to 2"):
        kidney_stones.counterfactual(["success"], {"open": 2}, {})
    with pytest.raises(ProbabilityError, match=r"adds up to 0\.9"):
        from_functions({"a": ((), (0.4, 0.5), [0, 1])})
    with pytest.raises(StrataError, match="shape"):
        from_functions({"a": ((), (0.4, 0.6), [0])})


def test_a_model_with_too_many_worlds_is_refused() -> None:
    many = from_strata({f"v{n}": {(): 0.5} for n in range(30)}, {})
    with pytest.raises(CausalError, match="settings of its noises"):
        many.joint()
    with pytest.raises(CausalError, match="contexts are too many"):
        instability(many, {"v0": 1}, "v1")
    with pytest.raises(StrataError, match="at least one variable"):
        from_strata({}, {})


def test_stability_is_none_where_the_noise_decides_and_full_where_it_does_not() -> None:
    def model(of_u: float) -> Scm:
        strata = {
            "u": {(): 0.5},
            "x": {(): 0.5},
            "y": {(0, 0): 0.5, (1, 0): 0.5, (0, 1): 0.5 - of_u, (1, 1): 0.5 + of_u},
        }
        return from_strata(strata, {"y": ["u", "x"]})

    assert instability(model(0.0), {"x": 1}, "y") == 0
    assert instability(model(0.5), {"x": 1}, "y") == pytest.approx(0.5)
    assert 0 < instability(model(0.2), {"x": 1}, "y") < instability(model(0.4), {"x": 1}, "y")
    assert instability(model(0.5), {"x": 0}, "y") == 0


def test_the_distance_is_that_of_jensen_and_shannon() -> None:
    assert jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(1)
    assert jensen_shannon(np.array([0.5, 0.5]), np.array([1.0, 0.0])) == pytest.approx(0.5579, abs=1e-4)
    with pytest.raises(ProbabilityError, match="does not add up to 1"):
        jensen_shannon(np.array([0.5, 0.6]), np.array([1.0, 0.0]))


@pytest.mark.parametrize(
    ("noise", "values", "error", "words"),
    [
        ((float("nan"), 0.5), [0, 1], ProbabilityError, "adds up to nan"),
        ((), [], ProbabilityError, "adds up to 0"),
        ((-0.5, 1.5), [0, 1], ProbabilityError, "give probabilities"),
        ((0.5, 0.5), [0, 0.5], StrataError, "no whole number"),
        ((0.5, 0.5), ["no", "yes"], StrataError, "no whole number"),
        ((0.5, 0.5), [[0, 1], [1]], StrataError, "lacks a stratum"),
    ],
)
def test_each_flaw_of_a_mechanism_has_its_own_message(noise, values, error, words) -> None:
    with pytest.raises(error, match=words):
        from_functions({"x": ((), noise, values)})


@pytest.mark.parametrize("other", [[float("nan"), 1.0], [1.0], [0.4, 0.4], [-0.5, 1.5]])
def test_what_is_no_distribution_has_no_distance(other: list[float]) -> None:
    with pytest.raises(ProbabilityError):
        jensen_shannon([0.5, 0.5], other)
