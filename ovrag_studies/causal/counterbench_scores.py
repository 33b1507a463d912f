"""What is measured of answers to questions over rules; every interval is over texts, of which each has several namings.

A question without an answer, because it was not read or the rules leave it open, is not right. Labels that the rules
contradict stay in the figure "labels as given"; they are shown by themselves and never dropped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ovrag_core.base.errors import QuestionError
from ovrag_core.evaluation.statistics import Estimate, Resampling, ratio
from ovrag_studies.causal.counterbench import Contest, Solution, contest
from ovrag_studies.causal.questions import Question

PUBLISHED = {"CAF": 0.421, "RAG": 0.383}
"""Shares right of 1,000 questions, TinyLlama, as the earlier study recorded them; its replies were cut at 8 tokens."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A question with a label, its solution, and the contest of the label, if the rules contradict it."""

    question: Question
    solution: Solution
    contested: Contest | None

    @property
    def right(self) -> bool:
        """Whether the answer is the label."""
        return self.solution.answer is not None and self.solution.answer == self.question.label


@dataclass(frozen=True, slots=True)
class Known:
    """Ids of questions whose rules contradict the label, and of those whose rules form a cycle."""

    contested: frozenset[str]
    cyclic: frozenset[str]


@dataclass(frozen=True, slots=True)
class Figure:
    """A share with what it counts: `right` of `of`."""

    name: str
    right: int
    of: int
    estimate: Estimate


def score(questions: Iterable[Question], solve: Callable[[str, str], Solution]) -> list[Scored]:
    """Solve by context and query alone, then compare with the label; questions without a label are left out."""
    scored = []
    for question in questions:
        if question.label is not None:
            solution = solve(question.context, question.asked)
            scored.append(Scored(question, solution, contest(solution, question.label)))
    return scored


def read_known(path: Path) -> Known | None:
    """The contested and cyclic questions of a list (id, note), or of questions that say so themselves, as the samples.

    None where the questions say nothing of it. Raises QuestionError.
    """
    contested, cyclic = set(), set()
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        if not any("note" in line or "contested" in line for line in lines):
            return None
        for line in lines:
            if "cycl" in str(line.get("note", line.get("status", ""))):
                cyclic.add(str(line["id"]))
            elif line.get("contested", "note" in line):
                contested.add(str(line["id"]))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, AttributeError):
        raise QuestionError(f"{path} is no list of contested questions; give JSON Lines with id and note") from None
    return Known(frozenset(contested), frozenset(cyclic))


def figures(scored: Sequence[Scored], plan: Resampling, known: Known | None = None) -> list[Figure]:
    """All shares; those of contested and cyclic questions only where they are known."""
    found = [
        share("labels as given", [(each, each.right) for each in scored], plan),
        share("answered", [(each, each.solution.answer is not None) for each in scored], plan),
        share("right, of those answered", [(s, s.right) for s in scored if s.solution.answer is not None], plan),
    ]
    if known is not None:
        agreed = [each for each in scored if each.question.id not in known.contested]
        cyclic = [each for each in scored if each.question.id in known.cyclic]
        real = [each for each in scored if each.question.id in known.contested]
        flagged = [each for each in scored if each.contested]
        found += [
            share("label and printed rules agree, cyclic included", [(each, each.right) for each in agreed], plan),
            share("of these: rules form a cycle", [(each, each.right) for each in cyclic], plan),
            share("contested labels found (recall)", [(each, each.contested is not None) for each in real], plan),
            share("found labels contested (precision)", [(s, s.question.id in known.contested) for s in flagged], plan),
        ]
    for kind in dict.fromkeys(each.question.kind for each in scored):
        found.append(share(f"type {kind}", [(s, s.right) for s in scored if s.question.kind == kind], plan))
    return found


def share(name: str, counted: Sequence[tuple[Scored, bool]], plan: Resampling) -> Figure:
    """A share with its interval over texts."""
    right, of = Counter[str](), Counter[str]()
    for each, hit in counted:
        right[each.question.group] += hit
        of[each.question.group] += 1
    estimate = ratio([right[group] for group in of], [of[group] for group in of], plan)
    return Figure(name, sum(right.values()), sum(of.values()), estimate)


def statuses(scored: Sequence[Scored]) -> Counter[str]:
    """How many solutions have each status; `unread` are those that the grammar does not cover."""
    return Counter(each.solution.status for each in scored)
