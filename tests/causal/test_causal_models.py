"""Structural causal models: graph surgery, abduction–action–prediction by enumeration, stability."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pgmpy.factors.discrete import TabularCPD
from pgmpy.inference import CausalInference
from pgmpy.models import DiscreteBayesianNetwork

from ovrag_core.base.errors import ImpossibleEvidenceError
from ovrag_studies.causal.models.structural_models import Scm, from_strata

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
    assert acted.mechanisms["open"].causes == ()
    assert acted.mechanisms["success"] is kidney_stones.mechanisms["success"]
    assert acted.distribution(["small"]) == pytest.approx(kidney_stones.distribution(["small"]))


def test_a_counterfactual_keeps_what_the_evidence_says_of_the_noise() -> None:
    """The firing squad: had the first rifleman not fired, the prisoner who died would be dead all the same."""
    follow = {(0,): 0.0, (1,): 1.0}
    either = {(0, 0): 0.0, (0, 1): 1.0, (1, 0): 1.0, (1, 1): 1.0}
    strata = {"order": {(): 0.7}, "first": follow, "second": follow, "dead": either}
    squad = from_strata(strata, {"first": ["order"], "second": ["order"], "dead": ["first", "second"]})
    assert squad.counterfactual(["dead"], {"first": 0}, {"dead": 1}) == pytest.approx([0, 1])
    assert squad.do({"first": 0}).distribution(["dead"]) == pytest.approx([0.3, 0.7])


@given(st.lists(CHANCES, min_size=7, max_size=7))
def test_the_joint_is_the_product_of_the_strata(chances: list[float]) -> None:
    a, b0, b1, *rest = chances
    c = dict(zip(product((0, 1), repeat=2), rest, strict=True))
    model = from_strata({"a": {(): a}, "b": {(0,): b0, (1,): b1}, "c": c}, {"b": ["a"], "c": ["a", "b"]})
    for x, y, z in product((0, 1), repeat=3):
        b, chance = (b1 if x else b0), c[x, y]
        expected = (a if x else 1 - a) * (b if y else 1 - b) * (chance if z else 1 - chance)
        assert model.distribution([*model.mechanisms])[x, y, z] == pytest.approx(expected, abs=1e-12)


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


def as_pgmpy(scm: Scm) -> DiscreteBayesianNetwork:
    """The model as pgmpy's network, whose `do` and queries it can then be compared with."""
    network = DiscreteBayesianNetwork([(cause, v) for v, how in scm.mechanisms.items() for cause in how.causes])
    network.add_nodes_from(scm.mechanisms)
    for variable, how in scm.mechanisms.items():
        chances = np.stack([(how.table == state) @ np.asarray(how.noise) for state in (0, 1)])
        flat = chances.reshape(2, -1)
        network.add_cpds(TabularCPD(variable, 2, flat, evidence=list(how.causes), evidence_card=[2] * len(how.causes)))
    return network


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
