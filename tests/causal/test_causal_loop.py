"""The loop: what is accepted, what is asked for again and why, and when it gives up."""

from __future__ import annotations

import pytest
from causal_chain import PROMPT, RIGHT, SAID, STORE

from ovrag_core.base.errors import ModelError, Unchecked
from ovrag_core.graph.triple_store import EmbeddedStore
from ovrag_studies.causal.chains.chain_runs import gaps_of
from ovrag_studies.causal.chains.drafting import Prompt
from ovrag_studies.causal.chains.feedback_loop import EMPTY, DraftJudge, LoopAnswer, score
from ovrag_studies.causal.chains.feedback_loop import answer as answer_by
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.graphs.verifier import CausalVerdict, Outcome, Verifier
from ovrag_studies.causal.settings import LoopOptions

WRONG, UNKNOWN = "River flow raises rain.", "Tide raises birdsong."


class Told:
    """A drafter that writes these texts in turn, the last one for ever, and keeps what it was asked."""

    def __init__(self, *texts: str | ModelError) -> None:
        self._texts = texts
        self.prompts: list[Prompt] = []

    def __call__(self, prompt: Prompt, take: int) -> str:
        text = self._texts[min(take, len(self._texts) - 1)]
        self.prompts.append(prompt)
        if isinstance(text, ModelError):
            raise text
        return text


def run(drafter: Told, judge: DraftJudge) -> LoopAnswer:
    return answer_by("caf", PROMPT, drafter, judge, lambda _: ())


def answer(drafter: Told, verifier: Verifier | None = None, **options: float) -> LoopAnswer:
    return run(drafter, DraftJudge((verifier or Verifier(STORE)).check, LoopOptions(**options)))


def verdicts(*outcomes: Outcome) -> list[CausalVerdict]:
    return [CausalVerdict(outcome, "") for outcome in outcomes]


def test_the_score_is_that_of_the_published_formula() -> None:
    mixed = verdicts("VERIFIED", "VERIFIED", "PARTIAL", "FAILED", "CONTRADICTION")
    assert score(mixed, LoopOptions(alpha=0.5, beta=0.5)) == pytest.approx((2 + 0.5 - 0.5) / 5)
    assert score(mixed, LoopOptions(alpha=0.2, beta=1.0)) == pytest.approx((2 + 0.2 - 1.0) / 5)
    assert score(verdicts("CONTRADICTION"), LoopOptions()) == 0
    assert score([], LoopOptions()) is None


def test_a_good_draft_is_accepted_at_once() -> None:
    drafter = Told(RIGHT)
    given = answer(drafter)
    assert (given.decision, len(given.rounds)) == ("accepted", 1)


def test_what_was_wrong_joins_the_next_prompt_with_the_draft() -> None:
    drafter = Told(f"{SAID[0]}\n{WRONG}\n{UNKNOWN}", RIGHT)
    given = answer(drafter)
    assert (given.decision, len(given.rounds)) == ("accepted", 2)
    first, second = drafter.prompts
    assert first == Prompt(PROMPT)
    assert second.question == PROMPT and second.previous == f"{SAID[0]}\n{WRONG}\n{UNKNOWN}"
    assert len(second.constraints) == 2
    assert "contradicts" in second.constraints[0] and "River flow raises rain" in second.constraints[0]
    assert "rain raises river flow" in second.constraints[0]
    assert "no support" in second.constraints[1] and "Tide raises birdsong" in second.constraints[1]


def test_a_draft_is_judged_by_its_own_verdicts() -> None:
    spoiled = answer(Told(RIGHT.replace("raises", "lowers"), RIGHT, WRONG), rounds=2)
    assert spoiled.decision == "accepted"
    ends_badly = answer(Told(f"{SAID[0]}\n{UNKNOWN}", f"{RIGHT}\n{WRONG}"), rounds=2)
    assert ends_badly.decision == "rejected"
    assert ends_badly.final is not None
    assert [each.outcome for each in ends_badly.final.verdicts] == ["VERIFIED"] * 5 + ["CONTRADICTION"]


def test_a_contradiction_is_never_accepted_however_high_the_score() -> None:
    given = answer(Told(f"{RIGHT}\n{WRONG}"), theta=0.5, rounds=3)
    assert given.final is not None and given.final.score is not None and given.final.score > 0.5
    assert (given.decision, len(given.rounds)) == ("rejected", 3)


def test_the_final_adjudication_has_caveats_below_theta() -> None:
    given = answer(Told(f"{RIGHT}\n{UNKNOWN}"), theta=0.9, rounds=2)
    assert given.decision == "accepted with caveats"  # 5 / 6 is at least 0.8 · 0.9
    assert answer(Told(f"{SAID[0]}\n{UNKNOWN}"), theta=0.9, rounds=2).decision == "rejected"


def test_what_reaches_a_limit_exactly_is_not_lost_to_rounding() -> None:
    found = verdicts(*["VERIFIED"] * 16, *["FAILED"] * 9)  # 0.64, which is 0.8 of 0.8
    judge = DraftJudge(lambda text: found, LoopOptions(rounds=1))
    assert judge.adjudicate([judge.round(1, "")]).decision == "accepted with caveats"


@pytest.mark.parametrize("empty", ["", "   \n ", "What follows for rain?"])
def test_a_draft_that_states_nothing_has_a_message_of_its_own(empty: str) -> None:
    drafter = Told(empty)
    given = answer(drafter, rounds=2)
    assert (given.decision, given.reason) == ("rejected", EMPTY)
    assert given.final is not None and given.final.score is None
    assert "A raises B." in drafter.prompts[1].constraints[0]


class Down(EmbeddedStore):
    """A graph that answers no question from the given one on."""

    def __init__(self, after: int = 0) -> None:
        super().__init__(STORE.triples())
        self._left = after

    def ask(self, query, terms=None):
        self._left -= 1
        if self._left < 0:
            raise Unchecked("it went away")
        return super().ask(query, terms)


def test_a_draft_with_something_unchecked_is_not_accepted_and_the_loop_stops() -> None:
    for asked in (0, 3, 9):
        drafter = Told(RIGHT)
        given = answer(drafter, Verifier(Down(asked), NameLexicon.of_graph(STORE)), theta=0.1)
        assert given.decision == "unchecked"
        assert "could not be checked: it went away" in given.reason
        assert len(given.rounds) == 1, "no other words would have helped"


def test_no_draft_is_a_failure_with_the_models_reason() -> None:
    given = answer(Told(WRONG, ModelError("the model is asleep")))
    assert (given.decision, len(given.rounds)) == ("failed", 1)
    assert "the model is asleep" in given.reason


def test_what_the_question_gives_may_not_be_left_out() -> None:
    verifier = Verifier(STORE)
    judge = DraftJudge(verifier.check, LoopOptions(), gaps_of(PROMPT, verifier))
    short = RIGHT.replace(f"{SAID[1]}\n", "")
    drafter = Told(short, RIGHT)
    given = run(drafter, judge)
    assert (given.decision, len(given.rounds)) == ("accepted", 2)
    assert drafter.prompts[1].constraints == ('It is missing that "River flow raises flood damage".',)
    unanswered = Told("\n".join(SAID), RIGHT)
    assert run(unanswered, judge).decision == "accepted"
    assert unanswered.prompts[1].constraints == ("It is missing what rain does to demand for housing.",)
    kept = run(Told(short), judge)
    assert kept.decision == "accepted with caveats" and "missing that" in kept.reason


def test_an_unstable_effect_is_rejected_with_the_distance() -> None:
    judge = DraftJudge(Verifier(STORE).check, LoopOptions(epsilon=0.1), stability=lambda: 0.25)
    given = run(Told(RIGHT), judge)
    assert (given.decision, given.instability) == ("rejected", 0.25)
    assert "0.250" in given.reason
    stable = DraftJudge(Verifier(STORE).check, LoopOptions(epsilon=0.3), stability=lambda: 0.25)
    assert run(Told(RIGHT), stable).decision == "accepted"


def test_without_feedback_the_next_draft_is_told_nothing() -> None:
    drafter = Told(WRONG, RIGHT)
    judge = DraftJudge(Verifier(STORE).check, LoopOptions(), feedback=False)
    assert run(drafter, judge).decision == "accepted"
    assert drafter.prompts == [Prompt(PROMPT)] * 2
