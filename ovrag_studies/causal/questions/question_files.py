"""Causal questions of two languages: rules over names (CounterBench), and a graph with numbers (CLadder). A plain text
may also draw a graph with arrows and ask whether an effect can be had from observations there.

Questions are read from JSON Lines in the fields of the two benchmarks, or split off a plain text. Only the text is
solved; labels and groups are for scoring. Each solution is a record in plain values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from ovrag_core.base import CausalError, QuestionError
from ovrag_core.text import one_line
from ovrag_studies.causal.models.identification import Estimand
from ovrag_studies.causal.questions import cladder, counterbench, effect_questions

Language = Literal["rules", "numbers", "graph"]
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

    `record` holds all of it in plain values; `lines` explain it step by step.
    """

    question: CausalQuestion
    answer: Label | None
    status: str
    reason: str
    record: Record
    lines: tuple[str, ...]


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
    answer: str | None = None
    type: str = ""
    variant: str = ""
    graph: str = ""
    rung: _Text = ""


class _ModelLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)
    model_id: int | str
    background: str


def read_questions(path: Path) -> Iterator[CausalQuestion | str]:
    """The questions of a file of JSON Lines; of a line that is none, the sentence that says so, with its number.

    CounterBench: id, context, query. CLadder: id, given_info, question, and background or, with `model`, the
    background of that model in `<name>_models.jsonl` beside. Raises QuestionError where the file cannot be read.
    """
    models: dict[str, str] | None = None
    for number, text in _lines(path):
        try:
            line = _Line.model_validate_json(text)
        except ValidationError as error:
            yield f"{path}, line {number}: {_said(error)}"
            continue
        if line.answer not in (None, "yes", "no"):
            yield f"{path}, line {number}: answer is {one_line(line.answer or '', 40)}; a label is yes or no"
            continue
        background = line.background
        if background is None and line.question is not None and line.model is not None:
            models = _backgrounds(path) if models is None else models
            background = models.get(str(line.model))
        made = _made(line, background)
        yield made or f"{path}, line {number}: it has neither context and query nor background and question"


def solve(question: CausalQuestion) -> Solved:
    """The answer to a question, whatever happens with a reason: nothing is raised for what cannot be read."""
    length = len(question.context) + len(question.given) + len(question.asked)
    if length > LONGEST:
        return _solved(question, None, "unread", f"it has {length} characters, and {LONGEST} are read", {}, ())
    return _by_rules(question) if question.language == "rules" else _by_numbers(question)


def split(text: str) -> Solved:
    """The solution of a plain text that ends in its question: in the language of which it can be read.

    Where it can be read in none, the status is "unread" with the reasons.
    """
    if effect_questions.draws(text) and len(text) <= LONGEST:
        return _by_graph(text)
    whole = " ".join(text.split())
    parts = [each for each in _SENTENCE.findall(whole) if each.strip()]
    drawn = next((place for place, part in reversed([*enumerate(parts, 1)]) if _DRAWN.search(part)), 0)
    tried: dict[Language, Solved] = {}
    for question in (*_as_numbers(parts, drawn), *([] if drawn else _as_rules(parts))):
        solved = solve(question)
        if solved.status != "unread":
            return solved
        tried.setdefault(question.language, solved)
    empty = CausalQuestion("asked", "rules", "", "", whole)
    if not tried:
        return _solved(empty, None, "unread", "a question needs rules or a graph before it", {}, ())
    told = {language: each.reason for language, each in tried.items()}
    why = told["numbers"] if drawn else "; ".join(f"as {language}: {reason}" for language, reason in told.items())
    return _solved(empty, None, "unread", why, {}, ())


def _as_rules(parts: list[str]) -> Iterator[CausalQuestion]:
    for place in range(len(parts) - 1, max(0, len(parts) - 4), -1):
        yield CausalQuestion("asked", "rules", "".join(parts[:place]).strip(), "", "".join(parts[place:]).strip())


def _as_numbers(parts: list[str], drawn: int) -> Iterator[CausalQuestion]:
    """The ways to part a text, first that behind the last sentence that speaks of the graph, whose faults are told."""
    asked = parts[-1].strip() if parts else ""
    places = [drawn] if 0 < drawn < len(parts) else []
    for place in dict.fromkeys([*places, *range(len(parts) - 1, 0, -1)]):
        background, given = "".join(parts[:place]).strip(), "".join(parts[place:-1]).strip()
        yield CausalQuestion("asked", "numbers", background, given, asked)


def _by_rules(question: CausalQuestion) -> Solved:
    found = counterbench.answer(question.context, question.asked)
    remarks = found.remarks
    if found.cycle and found.answer is None and not any("cycle" in each for each in remarks):
        remarks = (f"the rules form a cycle, {' → '.join(found.cycle)}", *remarks)
    reason = "; ".join(remarks)
    more: Record = {"steps": [str(step) for step in found.steps], "cycle": list(found.cycle)}
    if question.label and counterbench.is_contested(found, question.label):
        more |= {"contested": True, "derived": found.answer}
    lines = (*map(str, found.steps), *remarks)
    return _solved(question, found.answer, found.status, reason, more, lines)


def _by_numbers(question: CausalQuestion) -> Solved:
    found = cladder.answer(question.context, question.given, question.asked)
    more: Record = {
        "estimand": found.estimand,
        "value": None if found.value is None else round(found.value, 6),
        "between": None if found.low is None or found.high is None else [round(found.low, 6), round(found.high, 6)],
        "assumption": found.assumption,
        "variables": dict(found.variables),
        "numbers": [each.text for each in found.numbers],
        "notes": list(found.notes),
    }
    return _solved(question, found.answer, found.status, found.reason, more, _number_lines(found))


def _number_lines(found: cladder.NumberSolution) -> tuple[str, ...]:
    """The steps from the graph's roles to the value."""
    lines = [f"{role}: {name}" for role, name in found.variables.items()]
    lines += [f"estimand: {found.estimand}"] if found.estimand else []
    lines += [f"printed: {each.text}" for each in found.numbers]
    if found.value is not None:
        between = f", and {found.low:.4f} to {found.high:.4f} as printed" if found.low is not None else ""
        lines.append(f"value: {found.value:.4f}{between}")
    lines += [f"note: {each}" for each in found.notes]
    lines += [f"reason: {found.reason}"] if found.reason else []
    lines += [f"it would suffice to assume: {found.assumption}"] if found.assumption else []
    return tuple(lines)


def _by_graph(text: str) -> Solved:
    question = CausalQuestion("asked", "graph", "", "", " ".join(text.split()))
    try:
        _, effect, found = effect_questions.answer(text)
    except CausalError as error:
        return _solved(question, None, "unread", str(error), {}, ())
    lines = [f"cause: {effect.cause}", f"effect: {effect.effect}"]
    lines += [f"through: {', '.join(effect.through)}"] if effect.through else []
    if isinstance(found, Estimand):
        by = f", by {', '.join(found.by)}" if found.by else ""
        lines += [f"method: {found.method}{by}", f"estimand: {found.formula}"]
        more: Record = {"method": found.method, "by": list(found.by), "estimand": found.formula}
        return _solved(question, None, "identified", f"{found.formula} ({found.method}{by})", more, tuple(lines))
    lines += [f"reason: {found.reason}", f"it would suffice to assume: {found.assumption}"]
    more = {"path": found.path, "assumption": found.assumption}
    reason = f"{found.reason}; it would suffice to assume {found.assumption}"
    return _solved(question, None, "not identified", reason, more, tuple(lines))


def _solved(
    question: CausalQuestion, answer: Label | None, status: str, reason: str, more: Record, lines: tuple[str, ...]
) -> Solved:
    record: Record = {
        "id": question.id,
        "language": question.language,
        "answer": answer,
        "status": status,
        "reason": reason,
        "label": question.label,
    }
    return Solved(question, answer, status, reason, record | more, lines)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise QuestionError(f"{path} cannot be read; give questions as JSON Lines in UTF-8") from None
    yield from ((number, line) for number, line in enumerate(content.split("\n"), 1) if line.strip())


def _backgrounds(path: Path) -> dict[str, str]:
    models = path.with_name(f"{path.stem}_models.jsonl")
    try:
        read = [_ModelLine.model_validate_json(line) for _, line in _lines(models)]
    except ValidationError as error:
        raise QuestionError(f"{models}: {_said(error)}") from None
    return {str(each.model_id): each.background for each in read}


def _made(line: _Line, background: str | None) -> CausalQuestion | None:
    label: Label | None = "yes" if line.answer == "yes" else "no" if line.answer == "no" else None
    told = (label, line.type)
    if line.context is not None and line.query is not None:
        return CausalQuestion(
            line.id, "rules", line.context, "", line.query, *told, line.template or line.id, line.variant
        )
    if background is None or line.question is None:
        return None
    group = line.id if line.model is None else str(line.model)
    fields = (*told, group, line.variant, line.graph, line.rung)
    return CausalQuestion(line.id, "numbers", background, line.given_info or "", line.question, *fields)


def _said(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {one_line(first['msg'])}" if where else one_line(first["msg"])


def as_json(solved: Solved) -> str:
    """The record on one line."""
    return json.dumps(solved.record, ensure_ascii=False)
