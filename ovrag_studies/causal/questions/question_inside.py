"""One question from the inside: the steps from its text to the answer."""

import re
from collections.abc import Iterable

import pandas

from ovrag_studies.causal.questions.cladder_text import parse_graph
from ovrag_studies.causal.questions.question_files import Solved
from ovrag_studies.causal.questions.question_metrics import QuestionFile

_SUM = re.compile(r"Σ_(?:\{([^}]*)\}|(\w+))")


def steps(solved: Solved) -> pandas.DataFrame:
    """Table of how the answer comes about, a line a step: `step` and `text`."""
    question = solved.question
    rows = [("asked", question.asked)]
    if question.language == "numbers" and solved.status != "unread":
        graph = parse_graph(question.context)
        arrows = [f"{cause} → {effect}" for cause in graph.nodes for effect in graph.children(cause)]
        rows.append(("graph", "; ".join(arrows)))
    for line in solved.lines:
        head, colon, text = line.partition(": ")
        if question.language == "rules":
            rows.append(("derivation", line))
        elif question.language == "numbers":
            rows.append((head, text) if colon and len(head) < 40 else ("", line))
    if not solved.lines and solved.reason:
        rows.append(("reason", solved.reason))
    rows.append(("answer", f"{solved.answer or 'none'} ({solved.status})"))
    if question.label is not None:
        rows.append(("label", question.label))
    return pandas.DataFrame(rows, columns=["step", "text"])


def in_words(formula: str) -> str:
    """An estimand without signs for sums."""
    return _SUM.sub(lambda match: f"sum over {match[1] or match[2]} of", formula)


def example(asked: QuestionFile) -> Solved:
    """A question to look at from the inside: determined, as labelled, and the one with the most to say of it."""
    fine = [judged.solved for judged in asked.judged if judged.right and judged.solved.status == "determined"]
    return max(fine or [judged.solved for judged in asked.judged], key=lambda solved: len(solved.lines))


def of_each_status(asked: Iterable[QuestionFile]) -> list[Solved]:
    """The first question of every status but “determined”, by language."""
    by_status: dict[tuple[str, str], Solved] = {}
    for question_file in asked:
        for judged in (*question_file.judged, *question_file.unlabelled):
            if judged.solved.status != "determined":
                by_status.setdefault((question_file.language, judged.solved.status), judged.solved)
    return list(by_status.values())
