"""The arms: drafts checked and decided on, by one verifier, one executive and one set of prompts for all of them.

vanilla, cot, rag, rag_cot   one draft: as asked, step by step, with the facts that fit best, with both
best_of_t                    as many drafts as the loop may have, none told anything; the best by the same verdicts
caf                          the loop: what the verdicts object to joins the next prompt

A draft is judged by its own verdicts, never by those of the draft before. One with a contradiction or with anything
unchecked is not accepted, whatever its score. `random_verdicts` asks nobody and has a module of its own. Drafts of the
declared simulator are one for vanilla and cot.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, get_args

from ovrag_core.base import ModelError, Unchecked
from ovrag_core.text import one_line
from ovrag_studies.causal.chains.drafting import Drafter, Prompt
from ovrag_studies.causal.graphs.verifier import CausalVerdict, Outcome
from ovrag_studies.causal.settings import Arm, LoopOptions

Decision = Literal["accepted", "accepted with caveats", "rejected", "unchecked", "failed"]
Check = Callable[[str], Sequence[CausalVerdict]]
Gaps = Callable[[Sequence[CausalVerdict]], Sequence[str]]
Facts = Callable[[str], tuple[str, ...]]

DRAFTING: tuple[Arm, ...] = tuple(arm for arm in get_args(Arm) if arm != "random_verdicts")
EMPTY = "the draft states nothing that could be checked"
CAVEAT = 0.8  # of θ, from which a last draft is accepted with caveats
_ROUNDING = 1e-9  # 16 of 25 statements reach 0.8 of 0.8, whatever the floats say
_STATE_SOMETHING = 'Nothing in it could be checked: state each step as a sentence such as "A raises B."'


class Round(NamedTuple):
    """One draft with its own verdicts, score (None: it states nothing), gaps, and what is said against it."""

    number: int
    draft: str
    verdicts: tuple[CausalVerdict, ...]
    score: float | None
    gaps: tuple[str, ...]
    constraints: tuple[str, ...]

    def count(self, outcome: Outcome) -> int:
        """Count the statements that have this outcome."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts)


class LoopAnswer(NamedTuple):
    """Answer of an arm: the decision on a round and the reason.

    `chosen` is the place of the round that is answered with. `instability` is the Jensen-Shannon distance of the effect
    between contexts where a causal model was at hand.
    """

    decision: Decision
    reason: str
    rounds: tuple[Round, ...] = ()
    chosen: int = -1
    instability: float | None = None

    @property
    def final(self) -> Round | None:
        """The round that is answered with; None where no draft came."""
        return self.rounds[self.chosen] if self.rounds else None


class DraftJudge(NamedTuple):
    """Judge of drafts: its check, its parameters, and its gaps and stability, if any.

    Without `feedback` a drafter is told nothing of what is said against its draft, and drafts afresh.
    """

    check: Check
    options: LoopOptions
    gaps: Gaps | None = None
    stability: Callable[[], float] | None = None
    feedback: bool = True

    def round(self, number: int, draft: str) -> Round:
        """A draft, judged."""
        verdicts = tuple(self.check(draft))
        gaps = tuple(self.gaps(verdicts)) if self.gaps and verdicts else ()
        return Round(number, draft, verdicts, score(verdicts, self.options), gaps, _constraints(verdicts, gaps))

    def is_good(self, round_: Round) -> bool:
        """Return True where a draft is accepted at once."""
        return self._decision(round_)[0] == "accepted"

    def adjudicate(self, rounds: Sequence[Round], chosen: int = -1) -> LoopAnswer:
        """The final decision on a round, by its own verdicts."""
        decision, reason = self._decision(rounds[chosen])
        instability = None
        if decision in ("accepted", "accepted with caveats") and self.stability:
            instability = self.stability()
            if instability > self.options.epsilon + _ROUNDING:
                decision = "rejected"
                reason = f"the effect differs by {instability:.3f} between contexts, more than {self.options.epsilon:g}"
        return LoopAnswer(decision, reason, tuple(rounds), chosen, instability)

    def _decision(self, round_: Round) -> tuple[Decision, str]:
        """The decision where no further draft follows, and the reason."""
        if round_.score is None:
            return "rejected", EMPTY
        n, theta = len(round_.verdicts), self.options.theta
        if unchecked := [verdict.reason for verdict in round_.verdicts if verdict.outcome == "UNCHECKED"]:
            why = one_line(unchecked[0], 160)
            return "unchecked", f"{len(unchecked)} of {n} statements could not be checked: {why}"
        if contradicted := round_.count("CONTRADICTION"):
            return "rejected", f"the knowledge base contradicts {contradicted} of {n} statements"
        summary = f"score {round_.score:.3f} on {n} statements"
        if round_.score >= theta - _ROUNDING and not round_.gaps:
            return "accepted", summary
        if round_.score >= CAVEAT * theta - _ROUNDING:
            missing = f", missing {one_line(round_.gaps[0], 80)}" if round_.gaps else ""
            missing += f" and {len(round_.gaps) - 1} more" if len(round_.gaps) > 1 else ""
            return "accepted with caveats", summary + missing
        return "rejected", f"{summary}, below {CAVEAT * theta:.2f}"


def score(verdicts: Sequence[CausalVerdict], options: LoopOptions) -> float | None:
    """(verified + α · partial - β · contradictions) / n, held to [0, 1]; None for no verdicts."""
    if not verdicts:
        return None
    worth = {"VERIFIED": 1.0, "PARTIAL": options.alpha, "CONTRADICTION": -options.beta}
    total = sum(worth.get(verdict.outcome, 0.0) for verdict in verdicts)
    return min(1.0, max(0.0, total / len(verdicts)))


def _constraints(verdicts: Sequence[CausalVerdict], gaps: Sequence[str]) -> tuple[str, ...]:
    """List what is said against a draft, one line a statement, each once."""
    if not verdicts:
        return (_STATE_SOMETHING,)
    lines = []
    for verdict in verdicts:
        quote, reason = one_line(verdict.quote), one_line(verdict.reason)
        if verdict.outcome == "CONTRADICTION":
            lines.append(f'The knowledge base contradicts "{quote}": {reason}.')
        elif verdict.outcome == "FAILED":
            lines.append(f'There is no support for "{quote}": {reason}. State what is known, or leave it out.')
    lines += [f"It is missing {gap}." for gap in gaps]
    return tuple(dict.fromkeys(lines))


def answer(arm: Arm, question: str, drafter: Drafter, judge: DraftJudge, facts: Facts) -> LoopAnswer:
    """Answer a question by an arm, which is one of `DRAFTING`.

    `facts` gives the sentences beside it, for the arms that have any. Where they cannot be had, nothing is drafted, and
    the decision is "unchecked". Where no draft comes, it is "failed", with the model's error. No more drafts are asked
    for once something could not be checked: no other words would help. Of independent drafts the best is answered with,
    the first of several: what is accepted at once, then score, then fewest gaps.
    """
    try:
        beside = facts(question) if arm in ("rag", "rag_cot") else ()
    except Unchecked as error:
        return LoopAnswer("unchecked", f"the facts beside it could not be had: {one_line(str(error), 160)}")
    prompt = asked = Prompt(question, "steps" if arm in ("cot", "rag_cot") else "plain", beside)
    rounds: list[Round] = []
    for take in range(judge.options.rounds if arm in ("caf", "best_of_t") else 1):
        try:
            draft = drafter(asked, take)
        except ModelError as error:
            return LoopAnswer("failed", f"no draft came: {one_line(str(error), 160)}", tuple(rounds))
        rounds.append(judge.round(take + 1, draft))
        if rounds[-1].count("UNCHECKED") or (arm == "caf" and judge.is_good(rounds[-1])):
            break
        if arm == "caf" and judge.feedback:
            asked = prompt._replace(previous=draft, constraints=rounds[-1].constraints)
    if arm == "caf":
        return judge.adjudicate(rounds)

    def rank(index: int) -> tuple[bool, float, int]:
        round_ = rounds[index]
        return judge.is_good(round_), -1.0 if round_.score is None else round_.score, -len(round_.gaps)

    return judge.adjudicate(rounds, max(range(len(rounds)), key=rank))
