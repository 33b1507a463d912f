"""Measures of answers to causal questions, by clusters of texts (rules) or of models (numbers).

A question without an answer is not right. Nothing is dropped: labels that the rules contradict, and questions that the
numbers or the graph leave open, stay in the figure "labels as given" and are shown by themselves.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Literal

from ovrag_core.base import QuestionError
from ovrag_core.evaluation import Estimate, Resampling, ratio, sums
from ovrag_studies.causal.questions.question_files import CausalQuestion, Language, Solved, read_questions, solve

Field = Literal["type", "variant", "rung", "graph"]
FIELDS: Mapping[Language, tuple[Field, ...]] = {"rules": ("type",), "numbers": ("type", "graph", "rung", "variant")}
DETERMINISTIC = "det-counterfactual"


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question as solved, in seconds of the processor."""

    question: CausalQuestion
    solved: Solved
    seconds: float

    @property
    def right(self) -> bool:
        """Agreement of the answer with the label."""
        return self.solved.answer is not None and self.solved.answer == self.question.label

    @property
    def contested(self) -> bool:
        """Contradiction of the label by the rules."""
        return bool(self.solved.record.get("contested"))

    def field(self, name: Field) -> str:
        """The value of a field by which questions are grouped; empty where there is none."""
        return str(getattr(self.question, "kind" if name == "type" else name))


@dataclass(frozen=True, slots=True)
class ContestedLabels:
    """Ids of questions whose rules contradict the label, and of those whose rules form a cycle."""

    contested: frozenset[str]
    cyclic: frozenset[str]


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """The questions of a file: those with a label, and those that have nothing to be compared with.

    `known` lists contested labels and cycles where somebody has; `faults` say which lines are no questions.
    """

    language: Language
    judged: tuple[JudgedQuestion, ...]
    unlabelled: tuple[JudgedQuestion, ...]
    known: ContestedLabels | None
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionShare:
    """`hits` of `of`, with the interval over clusters."""

    name: str
    hits: int
    of: int
    estimate: Estimate


def ask(path: Path, watch: Callable[[], float] = time.thread_time) -> QuestionFile:
    """Solve a file of questions of one language from their texts, then read what else it says of them.

    Contested labels are those of the list beside the file, or of the file's own fields. Raises QuestionError where a
    file cannot be read, has no question, or has questions of both languages.
    """
    read = list(read_questions(path))
    questions = [q for q in read if isinstance(q, CausalQuestion)]
    languages = {q.language for q in questions}
    if len(languages) != 1:
        contents = "questions of both languages" if languages else "no question"
        raise QuestionError(f"{path} has {contents}; give a file of one language")
    solved: list[JudgedQuestion] = []
    for question in questions:
        start = watch()
        solved.append(JudgedQuestion(question, solve(question), watch() - start))
    beside = path.with_name(f"{path.stem}_contested.jsonl")
    return QuestionFile(
        languages.pop(),
        tuple(judged for judged in solved if judged.question.label is not None),
        tuple(judged for judged in solved if judged.question.label is None),
        read_known(beside if beside.is_file() else path),
        tuple(fault for fault in read if isinstance(fault, str)),
    )


def read_known(path: Path) -> ContestedLabels | None:
    """The contested and cyclic questions of a list (id, note), or of questions that say so themselves, as the samples.

    None where the questions say nothing of it. Raises QuestionError.
    """
    contested, cyclic = set(), set()
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.startswith("{")]
        if not any("note" in line or "contested" in line for line in lines):
            return None
        for line in lines:
            if "cycl" in str(line.get("note", line.get("status", ""))):
                cyclic.add(str(line["id"]))
            elif line.get("contested", "note" in line):
                contested.add(str(line["id"]))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, AttributeError):
        raise QuestionError(f"{path} is no list of contested questions; give JSON Lines with id and note") from None
    return ContestedLabels(frozenset(contested), frozenset(cyclic))


def share(
    name: str,
    judged: Iterable[JudgedQuestion],
    plan: Resampling,
    hit: Callable[[JudgedQuestion], bool] = attrgetter("right"),
) -> QuestionShare:
    """Count the questions for which `hit` holds, with an interval over their clusters."""
    questions = list(judged)
    clusters = [j.question.group for j in questions]
    hits = [float(hit(j)) for j in questions]
    estimate = ratio(sums(hits, clusters), sums([1.0] * len(hits), clusters), plan)
    return QuestionShare(name, int(sum(hits)), len(hits), estimate)


def figures(asked: QuestionFile, plan: Resampling) -> list[QuestionShare]:
    """The headline shares of a file of questions."""
    judged = asked.judged
    answered = [j for j in judged if j.solved.answer is not None]
    shares = [
        share("labels as given", judged, plan),
        share("answered", judged, plan, lambda each: each.solved.answer is not None),
        share("right of the answered", answered, plan),
    ]
    return shares + (_of_rules(asked, plan) if asked.language == "rules" else _of_numbers(asked, plan))


def _of_rules(asked: QuestionFile, plan: Resampling) -> list[QuestionShare]:
    judged, labels = asked.judged, asked.known
    if labels is None:
        return [share("labels that the rules contradict", judged, plan, lambda each: each.contested)]
    agreed = [j for j in judged if j.question.id not in labels.contested]
    cyclic = [j for j in agreed if j.question.id in labels.cyclic]
    listed = [j for j in judged if j.question.id in labels.contested]
    flagged = [j for j in judged if j.contested]
    return [
        share("label and rules agree", agreed, plan),
        share("– of these, the rules form a cycle", cyclic, plan),
        share("contested labels found", listed, plan, lambda each: each.contested),
        share("contested of those found", flagged, plan, lambda each: each.question.id in labels.contested),
    ]


def _of_numbers(asked: QuestionFile, plan: Resampling) -> list[QuestionShare]:
    rules = [j for j in asked.judged if j.question.kind == DETERMINISTIC]
    probabilistic = [j for j in asked.judged if j.question.kind != DETERMINISTIC]
    fixed = [j for j in probabilistic if j.solved.status == "determined"]
    answered = [j for j in rules if j.solved.answer is not None]
    return [
        share("without deterministic counterfactuals", probabilistic, plan),
        share("– identified, and the numbers fix the sign", fixed, plan),
        share("deterministic counterfactuals", rules, plan),
        share("– of these, the answered", answered, plan),
    ]


def groups(asked: QuestionFile, plan: Resampling) -> dict[Field, list[QuestionShare]]:
    """Shares right by the values of each field that the file has."""
    shares: dict[Field, list[QuestionShare]] = {}
    for field in FIELDS[asked.language]:
        by_value: dict[str, list[JudgedQuestion]] = {}
        for judged in asked.judged:
            by_value.setdefault(judged.field(field), []).append(judged)
        if named := [share(value, of_value, plan) for value, of_value in sorted(by_value.items()) if value]:
            shares[field] = named
    return shares


def statuses(asked: QuestionFile) -> dict[str, list[JudgedQuestion]]:
    """All questions, with a label or without, by status, the most frequent first."""
    by_status: dict[str, list[JudgedQuestion]] = {}
    for judged in (*asked.judged, *asked.unlabelled):
        by_status.setdefault(judged.solved.status, []).append(judged)
    return dict(sorted(by_status.items(), key=lambda item: (-len(item[1]), item[0])))
