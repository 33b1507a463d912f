"""What is measured of answers to causal questions, by clusters of texts (rules) or of models (numbers).

A question without an answer is not right. Nothing is dropped: labels that the rules contradict, and questions that the
numbers or the graph leave open, stay in the figure "labels as given" and are shown by themselves. What the data set's
own fields say of a question is looked at here alone, after it was solved from its text.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ovrag_core.base.errors import QuestionError
from ovrag_core.evaluation.statistics import Estimate, Resampling, ratio
from ovrag_core.text.lines import one_line
from ovrag_studies.causal.questions import cladder_reference as reference
from ovrag_studies.causal.questions.question_files import CausalQuestion, Label, Language, Solved, read_questions, solve

Watch = Callable[[], float]
Field = Literal["type", "variant", "rung", "graph"]
FIELDS: Mapping[Language, tuple[Field, ...]] = {"rules": ("type",), "numbers": ("type", "graph", "rung", "variant")}
_WORD = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Traits:
    """What a data set says of a question beside its text and label; None or empty where it says nothing."""

    graph: str = ""
    rung: int | None = None
    truth: float | None = None
    open: bool | None = None
    unidentified: bool | None = None


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question as solved, in seconds of the processor."""

    question: CausalQuestion
    solved: Solved
    traits: Traits
    seconds: float

    @property
    def right(self) -> bool:
        """Whether the answer is the label."""
        return self.solved.answer is not None and self.solved.answer == self.question.label

    @property
    def contested(self) -> bool:
        """Whether the rules contradict the label."""
        return bool(self.solved.record.get("contested"))

    def field(self, name: Field) -> str:
        """The value of a field by which questions are grouped; empty where there is none."""
        match name:
            case "type":
                return self.question.kind
            case "variant":
                return self.question.variant
            case "graph":
                return self.traits.graph
        return "" if self.traits.rung is None else str(self.traits.rung)


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


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded run of a model on questions over rules: its answers as recorded, and what its replies say.

    `worded` are replies with yes or no as a word of its own; of these the first word counts. `told` had the answer
    worked out in the prompt.
    """

    name: str
    questions: int
    answered: int
    right: int
    worded: int
    worded_right: int
    told: int
    distinct: int


class _Fields(BaseModel):
    """The fields of a line that are for scoring alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    id: str | int
    type: str = ""
    graph: str = ""
    rung: int | None = None
    given_info: str = ""
    groundtruth: object = None
    contested: bool | None = None


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    expected: Label
    answer: str
    text: str
    told_answer: bool = False


# Asking


def ask(path: Path, watch: Watch = time.thread_time, contested: Path | None = None) -> QuestionFile:
    """Solve a file of questions of one language from their texts, then read what else it says of them.

    `contested` is the list of contested labels; by default that beside the file, or the file's own fields. Raises
    QuestionError where a file cannot be read, has no question, or has questions of both languages.
    """
    read = list(read_questions(path))
    questions = [each for each in read if isinstance(each, CausalQuestion)]
    languages = {each.language for each in questions}
    if len(languages) != 1:
        told = "questions of both languages" if languages else "no question"
        raise QuestionError(f"{path} has {told}; give a file of one language")
    traits = _traits(path)
    solved = [_timed(each, traits.get(each.id, Traits()), watch) for each in questions]
    return QuestionFile(
        languages.pop(),
        tuple(each for each in solved if each.question.label is not None),
        tuple(each for each in solved if each.question.label is None),
        read_known(contested) if contested else _known(path),
        tuple(each for each in read if isinstance(each, str)),
    )


def _timed(question: CausalQuestion, traits: Traits, watch: Watch) -> JudgedQuestion:
    start = watch()
    solved = solve(question)
    return JudgedQuestion(question, solved, traits, watch() - start)


def _fields(path: Path) -> list[_Fields]:
    """The lines that are questions; what is wrong with the others was said when they were read."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(_Fields.model_validate_json(line))
        except ValidationError:
            continue
    return found


def _traits(path: Path) -> dict[str, Traits]:
    return {str(each.id): _trait(each) for each in _fields(path)}


def _trait(line: _Fields) -> Traits:
    truth = line.groundtruth if isinstance(line.groundtruth, float) else None
    if not line.given_info or line.graph not in reference.GRAPHS:
        return Traits(line.graph, line.rung, truth)
    told = (line.type, line.graph)
    try:
        left_open = reference.is_open(*told, line.given_info)
    except IndexError:  # other numbers are printed than the reference knows
        return Traits(line.graph, line.rung, truth)
    unidentified = reference.is_unidentified(*told)
    return Traits(line.graph, line.rung, truth, left_open and not unidentified, unidentified)


def _known(path: Path) -> ContestedLabels | None:
    """The list beside the file, else the fields of the file; None where neither says what is contested."""
    beside = path.with_name(f"{path.stem}_contested.jsonl")
    if beside.is_file():
        return read_known(beside)
    return read_known(path) if any(each.contested is not None for each in _fields(path)) else None


def read_known(path: Path) -> ContestedLabels | None:
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
    return ContestedLabels(frozenset(contested), frozenset(cyclic))


# Figures


def share(
    name: str, judged: Iterable[JudgedQuestion], hit: Callable[[JudgedQuestion], bool], plan: Resampling
) -> QuestionShare:
    """How many of the questions are so, with an interval over their clusters."""
    hits, of = Counter[str](), Counter[str]()
    for each in judged:
        hits[each.question.group] += hit(each)
        of[each.question.group] += 1
    estimate = ratio([hits[group] for group in of], [of[group] for group in of], plan)
    return QuestionShare(name, hits.total(), of.total(), estimate)


def is_right(judged: JudgedQuestion) -> bool:
    """Whether the answer is the label."""
    return judged.right


def figures(asked: QuestionFile, plan: Resampling) -> list[QuestionShare]:
    """The headline shares of a file of questions."""
    judged = asked.judged
    answered = [each for each in judged if each.solved.answer is not None]
    found = [
        share("labels as given", judged, is_right, plan),
        share("answered", judged, lambda each: each.solved.answer is not None, plan),
        share("right of the answered", answered, is_right, plan),
    ]
    return found + (_of_rules(asked, plan) if asked.language == "rules" else _of_numbers(asked, plan))


def _of_rules(asked: QuestionFile, plan: Resampling) -> list[QuestionShare]:
    judged, known = asked.judged, asked.known
    if known is None:
        return [share("labels that the rules contradict", judged, lambda each: each.contested, plan)]
    agreed = [each for each in judged if each.question.id not in known.contested]
    cyclic = [each for each in agreed if each.question.id in known.cyclic]
    listed = [each for each in judged if each.question.id in known.contested]
    flagged = [each for each in judged if each.contested]
    return [
        share("label and rules agree", agreed, is_right, plan),
        share("– of these, the rules form a cycle", cyclic, is_right, plan),
        share("contested labels found", listed, lambda each: each.contested, plan),
        share("contested of those found", flagged, lambda each: each.question.id in known.contested, plan),
    ]


def _of_numbers(asked: QuestionFile, plan: Resampling) -> list[QuestionShare]:
    rules = [each for each in asked.judged if each.question.kind == reference.DETERMINISTIC]
    others = [each for each in asked.judged if each.question.kind != reference.DETERMINISTIC]
    fixed = [each for each in others if each.solved.status == "determined"]
    told = [each for each in rules if each.solved.answer is not None]
    return [
        share("without deterministic counterfactuals", others, is_right, plan),
        share("– identified, and the numbers fix the sign", fixed, is_right, plan),
        share("deterministic counterfactuals", rules, is_right, plan),
        share("– of these, the answered", told, is_right, plan),
    ]


def groups(asked: QuestionFile, plan: Resampling) -> dict[Field, list[QuestionShare]]:
    """Shares right by the values of each field that the file has."""
    found: dict[Field, list[QuestionShare]] = {}
    for field in FIELDS[asked.language]:
        values = sorted({each.field(field) for each in asked.judged} - {""})
        found[field] = [
            share(value, [each for each in asked.judged if each.field(field) == value], is_right, plan)
            for value in values
        ]
    return {field: shares for field, shares in found.items() if shares}


def statuses(asked: QuestionFile) -> dict[str, list[JudgedQuestion]]:
    """All questions, with a label or without, by status, the most frequent first."""
    found: dict[str, list[JudgedQuestion]] = {}
    for each in (*asked.judged, *asked.unlabelled):
        found.setdefault(each.solved.status, []).append(each)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))


@dataclass(frozen=True, slots=True)
class Flag:
    """How good a status is as a flag: of those flagged that are so, and of those that are so that are flagged."""

    status: str
    precision: QuestionShare
    recall: QuestionShare


def flags(asked: QuestionFile, plan: Resampling) -> dict[str, Flag]:
    """By status, where the data set's own fields say which questions are so."""
    judged = asked.judged
    truths: dict[str, Callable[[JudgedQuestion], bool]] = {}
    if any(each.traits.unidentified is not None for each in judged):
        truths["not identified"] = lambda each: bool(each.traits.unidentified)
        truths["open by rounding"] = lambda each: bool(each.traits.open)
    return {status: _flag(judged, status, so, plan) for status, so in truths.items()}


def _flag(
    judged: Sequence[JudgedQuestion], status: str, so: Callable[[JudgedQuestion], bool], plan: Resampling
) -> Flag:
    flagged = [each for each in judged if each.solved.status == status]
    precision = share(f"{status}: precision", flagged, so, plan)
    recall = share(
        f"{status}: recall", [each for each in judged if so(each)], lambda each: each.solved.status == status, plan
    )
    return Flag(status, precision, recall)


def unexplained(asked: QuestionFile) -> list[tuple[JudgedQuestion, str]]:
    """Answers that are called determined and are not the label, with what explains them."""
    wrong = [each for each in asked.judged if each.solved.status == "determined" and not each.right]
    return [(each, _why(each)) for each in wrong]


def _why(judged: JudgedQuestion) -> str:
    if judged.contested:
        return "the rules contradict the label"
    between = judged.solved.record.get("between")
    low, high = between if isinstance(between, list) else (None, None)
    return reference.explained(judged.question.kind, judged.traits.truth, low, high)


# Recorded runs


def read_replay(name: str, path: Path) -> Replay:
    """A recorded run, one JSON object a line: expected, answer and text, perhaps told_answer. Raises QuestionError."""
    replies = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise QuestionError(f"{path} cannot be read; give a recorded run as JSON Lines in UTF-8") from None
    for number, line in enumerate(lines, 1):
        try:
            replies.append(_Reply.model_validate_json(line))
        except ValidationError as error:
            said = one_line(error.errors(include_url=False, include_input=False)[0]["msg"])
            raise QuestionError(f"{path}, line {number}: {said}; it needs expected, answer and text") from None
    words = [(each, word[1].lower()) for each in replies if (word := _WORD.search(each.text))]
    return Replay(
        name,
        questions=len(replies),
        answered=sum(each.answer in ("yes", "no") for each in replies),
        right=sum(each.answer == each.expected for each in replies),
        worded=len(words),
        worded_right=sum(word == each.expected for each, word in words),
        told=sum(each.told_answer for each in replies),
        distinct=len({each.text for each in replies}),
    )
