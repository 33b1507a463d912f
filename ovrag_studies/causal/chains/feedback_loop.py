"""The loop: draft, check, decide, say what was wrong, again; and the executive that decides.

A draft is judged by its own verdicts, never by those of the draft before. A draft with a contradiction or with anything
unchecked is not accepted, whatever its score. After the last round the final adjudication stands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ovrag_core.base import ModelError
from ovrag_core.text import one_line
from ovrag_studies.causal.chains.drafting import Drafter, Prompt
from ovrag_studies.causal.graphs.verifier import CausalVerdict, Outcome
from ovrag_studies.causal.settings import LoopOptions

Decision = Literal["accepted", "accepted with caveats", "rejected", "unchecked", "failed"]
Check = Callable[[str], Sequence[CausalVerdict]]
Gaps = Callable[[Sequence[CausalVerdict]], Sequence[str]]
Stability = Callable[[], float]

EMPTY = "the draft states nothing that could be checked"
CAVEAT = 0.8  # of θ, from which a last draft is accepted with caveats
_ROUNDING = 1e-9  # 16 of 25 statements reach 0.8 of 0.8, whatever the floats say
_STATE_SOMETHING = 'Nothing in it could be checked: state each step as a sentence such as "A raises B."'


@dataclass(frozen=True, slots=True)
class Round:
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


@dataclass(frozen=True, slots=True)
class LoopAnswer:
    """Result of the loop: the decision on a round and the reason.

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


@dataclass(frozen=True, slots=True)
class DraftJudge:
    """Judge of drafts: its check, its parameters, and its gaps and stability, if any.

    Without `feedback` a drafter is told nothing of what is said against its draft, and drafts afresh.
    """

    check: Check
    options: LoopOptions
    gaps: Gaps | None = None
    stability: Stability | None = None
    feedback: bool = True

    def round(self, number: int, draft: str) -> Round:
        """A draft, judged."""
        verdicts = tuple(self.check(draft))
        gaps = tuple(self.gaps(verdicts)) if self.gaps and verdicts else ()
        return Round(number, draft, verdicts, score(verdicts, self.options), gaps, constraints(verdicts, gaps))

    def adjudicate(self, rounds: Sequence[Round], chosen: int = -1) -> LoopAnswer:
        """The final decision on a round, by its own verdicts."""
        decision, reason = adjudicate(rounds[chosen], self.options)
        instability = None
        if decision in ("accepted", "accepted with caveats") and self.stability:
            instability = self.stability()
            if instability > self.options.epsilon + _ROUNDING:
                decision = "rejected"
                reason = f"the effect differs by {instability:.3f} between contexts, more than {self.options.epsilon:g}"
        return LoopAnswer(decision, reason, tuple(rounds), chosen, instability)


def score(verdicts: Sequence[CausalVerdict], options: LoopOptions) -> float | None:
    """(verified + α · partial - β · contradictions) / n, held to [0, 1]; None for no verdicts."""
    if not verdicts:
        return None
    worth = {"VERIFIED": 1.0, "PARTIAL": options.alpha, "CONTRADICTION": -options.beta}
    total = sum(worth.get(verdict.outcome, 0.0) for verdict in verdicts)
    return min(1.0, max(0.0, total / len(verdicts)))


def constraints(verdicts: Sequence[CausalVerdict], gaps: Sequence[str] = ()) -> tuple[str, ...]:
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


def is_good(round_: Round, options: LoopOptions) -> bool:
    """Return True where a draft is accepted at once."""
    return adjudicate(round_, options)[0] == "accepted"


def adjudicate(round_: Round, options: LoopOptions) -> tuple[Decision, str]:
    """The decision where no further draft follows, and the reason."""
    if round_.score is None:
        return "rejected", EMPTY
    unchecked, n = round_.count("UNCHECKED"), len(round_.verdicts)
    if unchecked:
        why = next(verdict.reason for verdict in round_.verdicts if verdict.outcome == "UNCHECKED")
        return "unchecked", f"{unchecked} of {n} statements could not be checked: {one_line(why, 160)}"
    if contradicted := round_.count("CONTRADICTION"):
        return "rejected", f"the knowledge base contradicts {contradicted} of {n} statements"
    summary = f"score {round_.score:.3f} on {n} statements"
    if round_.score >= options.theta - _ROUNDING and not round_.gaps:
        return "accepted", summary
    if round_.score >= CAVEAT * options.theta - _ROUNDING:
        missing = f", missing {one_line(round_.gaps[0], 80)}" if round_.gaps else ""
        missing += f" and {len(round_.gaps) - 1} more" if len(round_.gaps) > 1 else ""
        return "accepted with caveats", summary + missing
    return "rejected", f"{summary}, below {CAVEAT * options.theta:.2f}"


def run(question: Prompt, drafter: Drafter, judge: DraftJudge) -> LoopAnswer:
    """Draft and check until a draft is good, the rounds are used up, or something could not be checked.

    No other words would help a draft with something unchecked. Where no draft comes, the decision is "failed", with the
    model's error.
    """
    rounds: list[Round] = []
    prompt = question
    for take in range(judge.options.rounds):
        try:
            draft = drafter.draft(prompt, take)
        except ModelError as error:
            return failed(error, rounds)
        rounds.append(judge.round(take + 1, draft))
        if rounds[-1].count("UNCHECKED") or is_good(rounds[-1], judge.options):
            break
        if judge.feedback:
            prompt = replace(question, previous=draft, constraints=rounds[-1].constraints)
    return judge.adjudicate(rounds)


def failed(error: ModelError, rounds: Sequence[Round]) -> LoopAnswer:
    """The answer where a model gave no draft, after these rounds."""
    return LoopAnswer("failed", f"no draft came: {one_line(str(error), 160)}", tuple(rounds))
