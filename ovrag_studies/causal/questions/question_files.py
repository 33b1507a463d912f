"""Causal questions of two languages: rules over names (CounterBench), and a graph with numbers (CLadder).

Questions are read from JSON Lines in the fields of the two benchmarks, or split off a plain text. Only the text is
solved; labels and groups are for scoring. Each solution is a record in plain values.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from ovrag_core.base import QuestionError, fault
from ovrag_core.text import one_line
from ovrag_studies.causal.questions import cladder, counterbench

Language = Literal["rules", "numbers"]
Label = Literal["yes", "no"]
Record = dict[str, object]
LONGEST = 20_000  # characters of a question with all that belongs to it
_SENTENCE = re.compile(r"[^.?!]+(?:[.?!](?!\s|$)[^.?!]*)*[.?!]*\s*")
_DRAWN = re.compile(r"\bdirect effect\b|\bis unobserved\b", re.IGNORECASE)  # a sentence that draws the graph of a story
_Text = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]


@dataclass(frozen=True, slots=True)
class CausalQuestion:
    """A question with what belongs to it. `given` are CLadder's printed numbers, rules or methods.

    `label` is the answer that the data set gives, None where there is none. The fields after it are the data set's
    own, `group` that by which intervals are clustered; neither they nor the label are looked at to answer.
    """

    id: str
    language: Language
    context: str
    given: str
    asked: str
    label: Label | None = None
    kind: str = ""
    group: str = ""
    variant: str = ""
    graph: str = ""
    rung: str = ""


@dataclass(frozen=True, slots=True)
class Solved:
    """A question with its answer, None where there is none; `status` and `reason` say why.

    `more` is what else the record says, in plain values; `lines` explain the answer step by step.
    """

    question: CausalQuestion
    answer: Label | None
    status: str
    reason: str
    more: Record = field(default_factory=dict)
    lines: tuple[str, ...] = ()

    @property
    def record(self) -> Record:
        """All of it in plain values."""
        fields: Record = {"id": self.question.id, "language": self.question.language, "answer": self.answer}
        return fields | {"status": self.status, "reason": self.reason, "label": self.question.label} | self.more


class _Line(BaseModel):
    """The fields of either benchmark; of others, as ground truths, nothing is taken."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)
    id: _Text
    context: str | None = None
    query: str | None = None
    background: str | None = None
    given_info: str | None = None
    question: str | None = None
    model: int | str | None = None
    template: str | None = None
    answer: Label | None = None
    type: str = ""
    variant: str = ""
    graph: str = ""
    rung: _Text = ""


def read_questions(path: Path) -> Iterator[CausalQuestion | str]:
    """The questions of a file of JSON Lines; of a line that is none, the sentence that says so, with its number.

    CounterBench: id, context, query. CLadder: id, given_info, question, and background or, with `model`, the
    background of that model in `<name>_models.jsonl` beside. Raises QuestionError where the file cannot be read.
    """
    backgrounds = cache(partial(_backgrounds, path.with_name(f"{path.stem}_models.jsonl")))
    for number, text in _lines(path):
        try:
            line = _Line.model_validate_json(text)
        except ValidationError as error:
            yield f"{path}, line {number}: {one_line(fault(error))}"
            continue
        own: dict[str, Any] = {"label": line.answer, "kind": line.type, "variant": line.variant}
        background = line.background
        if background is None and line.question is not None and line.model is not None:
            background = backgrounds().get(str(line.model))
        if line.context is not None and line.query is not None:
            group = line.template or line.id
            yield CausalQuestion(line.id, "rules", line.context, "", line.query, group=group, **own)
        elif background is not None and line.question is not None:
            own |= {"group": line.id if line.model is None else str(line.model), "graph": line.graph, "rung": line.rung}
            yield CausalQuestion(line.id, "numbers", background, line.given_info or "", line.question, **own)
        else:
            yield f"{path}, line {number}: it has neither context and query nor background and question"


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise QuestionError(f"{path} cannot be read; give questions as JSON Lines in UTF-8") from None
    return [(number, line) for number, line in enumerate(content.split("\n"), 1) if line.strip()]


def _backgrounds(path: Path) -> dict[str, str]:
    try:
        models = [json.loads(line) for _, line in _lines(path)]
        return {str(model["model_id"]): str(model["background"]) for model in models}
    except (ValueError, KeyError, TypeError):
        raise QuestionError(f"{path} holds no models; give JSON Lines with model_id and background") from None


def solve(question: CausalQuestion) -> Solved:
    """The answer to a question, whatever happens with a reason: nothing is raised for what cannot be read."""
    length = len(question.context) + len(question.given) + len(question.asked)
    if length > LONGEST:
        return Solved(question, None, "unread", f"it has {length} characters, and {LONGEST} are read")
    return _by_rules(question) if question.language == "rules" else _by_numbers(question)


def split(text: str) -> Solved:
    """The solution of a plain text that ends in its question: with numbers where it states a graph, else by rules."""
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(" ".join(text.split())) if sentence.strip()]
    if drawn := max((i for i, sentence in enumerate(sentences, 1) if _DRAWN.search(sentence)), default=0):
        background, given_info = " ".join(sentences[:drawn]), " ".join(sentences[drawn:-1])
        return solve(CausalQuestion("asked", "numbers", background, given_info, sentences[-1]))
    tried: list[Solved] = []
    for cut in range(len(sentences) - 1, max(0, len(sentences) - 4), -1):
        context, query = " ".join(sentences[:cut]), " ".join(sentences[cut:])
        tried.append(solve(CausalQuestion("asked", "rules", context, "", query)))
        if tried[-1].status != "unread":
            return tried[-1]
    reason = tried[0].reason if tried else "a question needs rules or a graph before it"
    return Solved(CausalQuestion("asked", "rules", "", "", " ".join(sentences)), None, "unread", reason)


def _by_rules(question: CausalQuestion) -> Solved:
    solution = counterbench.answer(question.context, question.asked)
    remarks = solution.remarks
    if solution.cycle and solution.answer is None and not any("cycle" in remark for remark in remarks):
        remarks = (f"the rules form a cycle, {' → '.join(solution.cycle)}", *remarks)
    more: Record = {"steps": list(solution.steps), "cycle": list(solution.cycle)}
    if question.label and counterbench.is_contested(solution, question.label):
        more |= {"contested": True, "derived": solution.answer}
    return Solved(question, solution.answer, solution.status, "; ".join(remarks), more, (*solution.steps, *remarks))


def _by_numbers(question: CausalQuestion) -> Solved:
    """The solution with the steps from the graph's roles to the value."""
    solution = cladder.answer(question.context, question.given, question.asked)
    ends = [round(end, 6) for end in (solution.low, solution.high) if end is not None]
    more: Record = {
        "estimand": solution.estimand,
        "value": None if solution.value is None else round(solution.value, 6),
        "between": ends or None,
        "assumption": solution.assumption,
        "variables": dict(solution.variables),
        "numbers": [number.text for number in solution.numbers],
        "notes": list(solution.notes),
    }
    lines = [f"{role}: {name}" for role, name in solution.variables.items()]
    lines += [f"estimand: {solution.estimand}"] if solution.estimand else []
    lines += [f"printed: {number.text}" for number in solution.numbers]
    if solution.value is not None:
        between = f", and {solution.low:.4f} to {solution.high:.4f} as printed" if solution.low is not None else ""
        lines.append(f"value: {solution.value:.4f}{between}")
    lines += [f"note: {note}" for note in solution.notes]
    open_parts = {"reason": solution.reason, "it would suffice to assume": solution.assumption}
    lines += [f"{head}: {text}" for head, text in open_parts.items() if text]
    return Solved(question, solution.answer, solution.status, solution.reason, more, tuple(lines))
