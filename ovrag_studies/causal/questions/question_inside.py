"""One question from the inside: its graph, and the steps from its text to the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pandas

from ovrag_core.base.errors import CausalError
from ovrag_studies.causal.models.boolean_models import CausalRule, Formula, Literal, mentioned
from ovrag_studies.causal.questions import cladder_text, counterbench
from ovrag_studies.causal.questions.question_files import Solved
from ovrag_studies.causal.questions.question_metrics import QuestionFile

_SUM = re.compile(r"Σ_(?:\{([^}]*)\}|(\w+))")


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a cause to its effect; `prevents` where the effect comes about without the cause, or not with it."""

    cause: str
    effect: str
    prevents: bool = False


@dataclass(frozen=True, slots=True)
class Drawn:
    """A causal graph to be drawn: what is acted on, what is asked about, and what nobody observed."""

    arrows: tuple[Arrow, ...]
    acted: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    @property
    def nodes(self) -> tuple[str, ...]:
        """All variables, in order of first mention."""
        return tuple(dict.fromkeys(name for each in self.arrows for name in (each.cause, each.effect)))


def graph(solved: Solved) -> Drawn | None:
    """The graph of a question as read; None where it was not read."""
    question = solved.question
    try:
        if question.language == "rules":
            return _of_rules(counterbench.parse(question.context, question.asked))
        return _of_numbers(cladder_text.parse(question.context, question.given, question.asked), solved)
    except CausalError:
        return None


def _of_rules(problem: counterbench.RuleProblem) -> Drawn:
    arrows = tuple(arrow for rule in problem.rules for arrow in _arrows(rule))
    asked = problem.question
    return Drawn(arrows, frozenset(asked.action), frozenset(mentioned(asked.asked)))


def _arrows(rule: CausalRule) -> Iterable[Arrow]:
    for literal in _literals(rule.condition):
        yield Arrow(literal.variable, rule.effect.variable, literal.holds != rule.effect.holds)


def _literals(formula: Formula) -> list[Literal]:
    if isinstance(formula, Literal):
        return [formula]
    return [literal for part in formula.parts for literal in _literals(part)]


def _of_numbers(problem: cladder_text.NumberProblem, solved: Solved) -> Drawn:
    variables = solved.record.get("variables")
    roles = variables if isinstance(variables, dict) else {}
    dag = problem.graph
    arrows = tuple(Arrow(cause, effect) for cause in dag.nodes for effect in dag.children(cause))
    acted, asked = (frozenset({roles[role]} if role in roles else ()) for role in ("x", "y"))
    return Drawn(arrows, acted, asked, dag.latent)


def steps(solved: Solved) -> pandas.DataFrame:
    """How the answer comes about, a line a step: `step` and `text`."""
    question = solved.question
    rows = [("asked", question.asked)]
    drawn = graph(solved)
    if question.language == "numbers" and drawn is not None:
        rows.append(("graph", "; ".join(f"{each.cause} → {each.effect}" for each in drawn.arrows)))
    rows += [_cut(line) for line in solved.lines] if question.language == "numbers" else []
    rows += [("derivation", line) for line in solved.lines] if question.language == "rules" else []
    if not solved.lines and solved.reason:
        rows.append(("reason", solved.reason))
    rows.append(("answer", f"{solved.answer or 'none'} ({solved.status})"))
    if question.label is not None:
        rows.append(("label", question.label))
    return pandas.DataFrame(rows, columns=["step", "text"])


def _cut(line: str) -> tuple[str, str]:
    head, colon, rest = line.partition(": ")
    return (head, rest) if colon and len(head) < 40 else ("", line)


def in_words(formula: str) -> str:
    """An estimand without signs for sums."""
    return _SUM.sub(lambda match: f"sum over {match[1] or match[2]} of", formula)


def example(asked: QuestionFile) -> Solved:
    """A question to look at from the inside: determined, as labelled, and the one with the most to say of it."""
    fine = [each.solved for each in asked.judged if each.right and each.solved.status == "determined"]
    return max(fine or [each.solved for each in asked.judged], key=lambda solved: len(solved.lines))


def of_each_status(asked: Iterable[QuestionFile]) -> list[Solved]:
    """The first question of every status but “determined”, by language."""
    first: dict[tuple[str, str], Solved] = {}
    for each in asked:
        for judged in (*each.judged, *each.unlabelled):
            if judged.solved.status != "determined":
                first.setdefault((each.language, judged.solved.status), judged.solved)
    return list(first.values())
