"""The declared drift simulator: what it gets wrong, how often, and that nothing but its text reaches a verifier."""

from __future__ import annotations

import random
from collections import Counter

import numpy
import pytest
from causal_chain import FALSE, IRIS, PROMPT, SAID, STORE, chain

from ovrag_studies.causal.chains.drafting import Prompt
from ovrag_studies.causal.chains.drift import Simulator, World, Written
from ovrag_studies.causal.graphs.verifier import Verifier
from ovrag_studies.causal.settings import Drift

WORLD = World.of_graph(STORE)


def only(kind: str, **options: float) -> Drift:
    return Drift(rate=1.0, kinds={kind: 1.0}, **options)


def outcomes(options: Drift, number: int = 0) -> list[str]:
    text = Simulator(chain(number), WORLD, options).draft(Prompt(PROMPT), 0)
    return [each.outcome for each in Verifier(STORE).check(text)]


def many(options: Drift, chains: int = 400) -> list[Written]:
    found: list[Written] = []
    for number in range(chains):
        simulator = Simulator(chain(number), WORLD, options)
        found += simulator.ledger(simulator.draft(Prompt(PROMPT), 0))
    return found


def test_without_drift_all_is_true_in_every_wording() -> None:
    for number in range(40):
        assert outcomes(Drift(rate=0.0), number) == ["VERIFIED"] * 5


@pytest.mark.parametrize("kind", ["reversed", "negated", "opposite"])
def test_errors_that_contradict_are_found_to_contradict(kind: str) -> None:
    for number in range(20):
        assert outcomes(only(kind), number) == ["CONTRADICTION"] * 5


def test_errors_that_are_merely_unknown_have_no_support() -> None:
    for number in range(20):
        assert outcomes(only("wrong_target"), number) == ["FAILED"] * 5
        assert outcomes(only("invented"), number) == ["VERIFIED", "FAILED"] * 5
    assert outcomes(only("dropped")) == []


def test_errors_come_at_the_stated_rate_and_by_the_stated_weights() -> None:
    written = many(Drift(rate=0.3, kinds={"reversed": 3.0, "dropped": 1.0}))
    kinds = Counter(each.kind for each in written)
    wrong = kinds["reversed"] + kinds["dropped"]
    assert wrong / len(written) == pytest.approx(0.3, abs=0.03)
    assert kinds["reversed"] / wrong == pytest.approx(0.75, abs=0.06)
    assert set(kinds) == {"true", "reversed", "dropped"}


def test_a_higher_rate_spoils_what_a_lower_one_does_and_more() -> None:
    few, many_ = (
        {(place, each.kind) for place, each in enumerate(many(Drift(rate=rate), 50)) if each.kind == "reversed"}
        for rate in (0.2, 0.6)
    )
    assert len(few) < len(many_)


def test_the_same_draft_comes_again_whatever_else_draws() -> None:
    one = Simulator(chain(), WORLD, Drift()).draft(Prompt(PROMPT), 0)
    random.seed(1)
    numpy.random.seed(1)
    state = random.getstate()
    simulator = Simulator(chain(), WORLD, Drift())
    other_take = simulator.draft(Prompt(PROMPT), 3)
    assert simulator.draft(Prompt(PROMPT), 0) == one
    assert random.getstate() == state
    drafts = {simulator.draft(Prompt(PROMPT), take) for take in range(10)} | {one, other_take}
    assert len(drafts) > 5
    assert Simulator(chain(), WORLD, Drift(seed=7)).draft(Prompt(PROMPT), 0) != one
    assert Simulator(chain(), WORLD, Drift(), wording=1).draft(Prompt(PROMPT), 0) != one


def test_a_verifier_says_the_same_of_a_text_whoever_wrote_it_and_whatever_was_drawn() -> None:
    simulator = Simulator(chain(), WORLD, Drift(rate=0.8))
    text = simulator.draft(Prompt(PROMPT), 0)
    alone = Verifier(STORE).check(text)
    shared = Verifier(STORE)
    for take in range(20):
        shared.check(simulator.draft(Prompt(PROMPT), take))
        random.random()
    assert shared.check(text) == alone


def test_a_false_sentence_of_the_prompt_is_repeated_as_often_as_stated() -> None:
    simulator = Simulator(chain(false=True), WORLD, Drift(rate=0.0, credulity=1.0))
    text = simulator.draft(Prompt(PROMPT), 0)
    assert FALSE in text
    assert [each.kind for each in simulator.ledger(text)].count("repeated") == 1
    doubting = Simulator(chain(false=True), WORLD, Drift(rate=0.0, credulity=0.0))
    assert FALSE not in doubting.draft(Prompt(PROMPT), 0)


def objection(sentence: str, *, contradicts: bool = True) -> str:
    word = "The knowledge base contradicts" if contradicts else "There is no support for"
    return f'{word} "{sentence.rstrip(".")}": so it is.'


@pytest.mark.parametrize("kind", ["reversed", "wrong_target"])
def test_obedience_is_how_often_an_objection_is_heard(kind: str) -> None:
    for obedience in (0.0, 1.0):
        simulator = Simulator(chain(), WORLD, only(kind, obedience=obedience, slips=0.0))
        first = simulator.draft(Prompt(PROMPT), 0)
        wrong = simulator.ledger(first)[1]
        line = objection(wrong.sentence, contradicts=kind == "reversed")
        second = simulator.draft(Prompt(PROMPT, previous=first, constraints=(line,)), 1)
        assert (wrong.sentence in second) == (obedience == 0.0)
        others = [each.sentence for place, each in enumerate(simulator.ledger(first)) if place != 1]
        assert all(sentence in second for sentence in others)
        if obedience and kind == "reversed":
            assert simulator.ledger(second)[1].kind == "true"


def test_what_is_true_and_has_no_support_is_left_out() -> None:
    simulator = Simulator(chain(), WORLD, Drift(rate=0.0, obedience=1.0, slips=0.0))
    first = simulator.draft(Prompt(PROMPT), 0)
    sentence = simulator.ledger(first)[2].sentence
    line = objection(sentence, contradicts=False)
    second = simulator.draft(Prompt(PROMPT, previous=first, constraints=(line,)), 1)
    assert sentence not in second and len(second.splitlines()) == len(first.splitlines()) - 1


def test_a_step_that_is_said_to_be_missing_comes_back() -> None:
    simulator = Simulator(chain(), WORLD, only("dropped", obedience=1.0, slips=0.0))
    assert simulator.draft(Prompt(PROMPT), 0) == ""
    dropping = Drift(rate=0.6, kinds={"dropped": 1.0}, obedience=1.0, slips=0.0)
    back = 0
    for number in range(30):
        simulator = Simulator(chain(number), WORLD, dropping)
        first = simulator.draft(Prompt(PROMPT), 0)
        if not first or simulator.ledger(first)[1].sentence:
            continue
        line = f'It is missing that "{SAID[1].rstrip(".")}".'
        second = simulator.ledger(simulator.draft(Prompt(PROMPT, previous=first, constraints=(line,)), 1))
        assert second[1].kind == "true"
        asked = Simulator(chain(number), WORLD, dropping)
        asked.draft(Prompt(PROMPT), 0)
        line = "It is missing what rain does to demand for housing."
        after = asked.ledger(asked.draft(Prompt(PROMPT, previous=first, constraints=(line,)), 1))
        back += after[-1].kind == "true"
    assert 0 < back < 30  # drawn anew: some are dropped again


def test_a_fact_beside_the_question_is_copied_as_often_as_stated() -> None:
    facts = tuple(SAID)
    told = Simulator(chain(), WORLD, only("reversed", reading=1.0)).draft(Prompt(PROMPT, facts=facts), 0)
    assert [each.outcome for each in Verifier(STORE).check(told)] == ["VERIFIED"] * 4 + ["CONTRADICTION"]
    deaf = Simulator(chain(), WORLD, only("reversed", reading=0.0)).draft(Prompt(PROMPT, facts=facts), 0)
    assert {each.outcome for each in Verifier(STORE).check(deaf)} == {"CONTRADICTION"}


def test_what_it_calls_unrelated_is_unknown_to_the_graph() -> None:
    assert WORLD.unrelated(IRIS["rain"]) == [IRIS["fish stock"], IRIS["tide"]]  # and it states that birdsong is apart
