"""A score's counts add up and agree with a recount of the records, whatever failed or went unchecked."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_factory import CLASHES, QUESTIONS, record

from ovrag_core.base.settings import Settings
from ovrag_core.base.types import QueryRecord
from ovrag_core.evaluation.score import score_run

OUTCOMES = ("accepted", "corrected", "hard_rejected", "source_finding", "unchecked", "error")
FEW = Settings.model_validate({"evaluation": {"bootstrap_samples": 20}})
LABELS = {"A": ("CLEAN", None), "B": ("CLASH", CLASHES[0]), "C": ("CLASH", CLASHES[1]), "D": (None, None)}


@st.composite
def runs(draw: st.DrawFn) -> list[QueryRecord]:
    """Runs of one or two arms over documents of every label, in which any query may have ended in any way."""
    keys = st.tuples(st.sampled_from(["plain", "ovrag"]), st.sampled_from(list(LABELS)), st.sampled_from(QUESTIONS))
    records = []
    for arm, document, question in sorted(draw(st.sets(keys, min_size=1, max_size=20))):
        outcome = draw(st.sampled_from(OUTCOMES))
        label, clash = LABELS[document]
        attempts = draw(st.integers(0 if outcome == "error" else 1, 4))
        records.append(
            record(arm, document, question, outcome, label, clash_type=clash, attempts=attempts, reference=None)
        )
    return records


def judged(records: list[QueryRecord]) -> list[QueryRecord]:
    return [each for each in records if each.outcome not in ("error", "unchecked")]


@settings(max_examples=60, deadline=None)
@given(runs())
def test_counts_of_a_score_add_up_and_are_those_of_a_recount(records: list[QueryRecord]) -> None:
    arms = score_run(records, [], FEW, run="any", cache=None)["arms"]
    assert isinstance(arms, dict)
    assert set(arms) == {each.arm for each in records}
    for name, arm in arms.items():
        mine = [each for each in records if each.arm == name]
        counts, ended = arm["confusion"], Counter(each.outcome for each in mine)
        assert arm["queries"] == len(judged(mine))
        assert arm["queries"] == sum(counts[cell] for cell in ("tp", "fp", "tn", "fn", "unlabelled"))
        assert (counts["unchecked"], counts["error"]) == (ended["unchecked"], ended["error"])
        assert counts["unlabelled"] == sum(each.label is None for each in judged(mine))
        assert arm["outcomes"] == dict(ended)
        for part, key in (("per_question", "question_id"), ("per_contract", "document_id")):
            for value, scored in arm[part].items():
                assert scored["queries"] == sum(getattr(each, key) == value for each in judged(mine)), value
            assert sum(scored["queries"] for scored in arm[part].values()) == arm["queries"]
        needed = [
            each for each in judged(mine) if len(each.attempts) > 1 or each.outcome in ("corrected", "hard_rejected")
        ]
        assert arm["corrections"]["needed"] == len(needed)
        assert arm["corrections"]["succeeded"] == ended["corrected"] <= len(needed)
        rejected, rate = ended["hard_rejected"], arm["hard_reject_rate"]
        assert rate == (pytest.approx(rejected / arm["queries"], abs=1e-6) if arm["queries"] else None)


def test_an_unchecked_query_that_was_asked_again_needs_no_correction_and_is_not_judged() -> None:
    records = [record(outcome="unchecked", attempts=3), record(question="Q2", outcome="corrected", attempts=2)]
    arm = score_run(records, [], FEW, run="any", cache=None)["arms"]["ovrag"]
    assert (arm["queries"], arm["corrections"]["needed"], arm["confusion"]["unchecked"]) == (1, 1, 1)
