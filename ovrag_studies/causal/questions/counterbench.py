"""CounterBench by parser and exact inference (Chen et al. 2025, arXiv 2502.11008): rules over names, then a "what if".

The context states deterministic rules and perhaps an observation, the query an action and what is asked. Both are read
by a grammar (`rule_sentences`), turned into Boolean equations and solved (`boolean_models`). Names mean nothing; no
template, label or metadata is looked at. What cannot be read is `unread`, with the words, and has no answer; where two
readings lead to different answers the question is `ambiguous` and has none either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal as OneOf

from ovrag_core.base import CausalError, UnreadError
from ovrag_core.text import one_line
from ovrag_studies.causal.models.boolean_models import (
    CausalRule,
    CounterfactualOutcome,
    DerivationStep,
    Formula,
    Junction,
    Literal,
    counterfactual,
    mentioned,
    models,
    negate,
)
from ovrag_studies.causal.questions.rule_sentences import (
    Mention,
    RuleReading,
    Tokens,
    read_condition,
    read_statements,
    tokenise,
    words_of,
)

Answer = OneOf["yes", "no"]
Status = OneOf["determined", "assumed", "cyclic", "open", "ambiguous", "unread"]
Kind = OneOf["basic", "conditional", "joint", "nested"]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What is asked, what is done, and what the question takes for the fact ("instead of Ziklo")."""

    asked: Formula
    action: Mapping[str, bool]
    supposed: tuple[Formula, ...] = ()
    nested: bool = False


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A question over the readings of its rules, the likeliest first."""

    readings: tuple[RuleReading, ...]
    question: WhatIf

    @property
    def kind(self) -> Kind:
        """The type of the question, by its text alone."""
        if self.question.nested:
            return "nested"
        if len(self.question.action) > 1:
            return "joint"
        return "conditional" if self.readings[0].observed else "basic"

    @property
    def rules(self) -> tuple[CausalRule, ...]:
        """The rules of the likeliest reading."""
        return self.readings[0].rules


@dataclass(frozen=True, slots=True)
class RuleSolution:
    """An answer with its derivation; None where there is none, and `remarks` then say why."""

    answer: Answer | None
    status: Status
    steps: tuple[DerivationStep, ...] = ()
    remarks: tuple[str, ...] = ()
    cycle: tuple[str, ...] = ()
    problem: RuleProblem | None = field(default=None, repr=False)


_NOT_BEFORE = r"(?:not|no|never|non|without|(?:the\s+)?(?:absence|lack)\s+of)"
_EVENT = r"(?:occur(?:s|red|ring)?|happen(?:s|ed|ing)?|take(?:s|n)?\s+place|took\s+place|exist(?:s|ed|ing)?)"
_PRESENT = r"(?:present|true|observed|there|active|the\s+case)"
_NO = r"(?:not|never|n't)"
_NAME = re.compile(
    rf"(?:that\s+)?(?P<before>(?:{_NOT_BEFORE}\s+|an?\s+|the\s+)*)(?P<name>\S+)"
    rf"(?P<after>\s+(?:"
    rf"(?P<no>(?:to\s+)?(?:(?:do|does|did|has|had|have|is|was|being|were|would|will)\s*{_NO}|{_NO})"
    rf"(?:\s+to)?(?:\s+(?:have|be|been))?\s+(?:{_EVENT}|{_PRESENT})"
    rf"|(?:is|was|being|were|be)\s+(?:absent|false|inactive)|fail(?:s|ed|ing)?\s+to\s+{_EVENT})"
    rf"|(?:(?:to|still|also|have|has|had|did|does|do|will|would|nonetheless|anyway)\s+)*(?:{_EVENT}"
    rf"|(?:be|is|was|being|were|been)\s+(?:still\s+|also\s+)?{_PRESENT})"
    rf"|from\s+(?:occurring|happening|taking\s+place|being\s+present)"
    rf"))?",
    re.IGNORECASE,
)
_WHOLE_NOT = re.compile(rf"{_NOT_BEFORE}\b", re.IGNORECASE)
_RESERVED = re.compile(
    r"and|or|not|no|nor|if|then|else|would|will|that|which|this|it|we|you|i|of|to|instead|rather|both|either|neither"
    r"|together|jointly|each|causes?|caused|because|unless|without|only|does|do|did|is|are|was|were|be",
    re.IGNORECASE,
)
_IF = r"(?:if|when|whenever|given|assuming|supposing|provided|under)(?:\s+that)?"
_AUXILIARY = r"(?:would|will|does|do|did|could|can|is|should)"
_THEN = r"(?:(?:in\s+(?:this|that|such\s+a)\s+(?:case|world|situation)|then|and|so|now|but|here|hypothetically),?\s+)*"
_INSTEAD = r"(?:\s*,?\s*(?:instead|rather)(?:\s+of|\s+than)\s+(?P<fact>.+?))?"
_ASKS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"^{_THEN}{_AUXILIARY}\s+(?P<asked>.+?)(?:\s*,?\s*{_IF}\s+(?P<done>.+?){_INSTEAD})?\s*$",
        rf"^{_THEN}{_IF}\s+(?P<done>.+?){_INSTEAD},?\s+(?:then\s+)?{_AUXILIARY}\s+(?P<asked>.+?)\s*$",
        rf"^{_THEN}had\s+(?P<done>.+?){_INSTEAD},?\s+(?:then\s+)?{_AUXILIARY}\s+(?P<asked>.+?)\s*$",
    )
)
_ASSUMES = re.compile(
    r"(?:,\s*)?(?:\band\s+)?(?:(?:based\s+on|given|under|with|within|on\s+top\s+of)\s+(?:this|that|these)"
    r"(?:\s+assumptions?)?,?\s*)?\b(?:also\s+|then\s+|now\s+|let\s+us\s+|we\s+|further(?:more)?,?\s+|additionally,?\s+)*"
    r"(?:assum(?:e|ing)|suppos(?:e|ing)|imagin(?:e|ing))\b(?:\s+(?:further|also|furthermore))?(?:\s+that\b)?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.?!;]+")


def parse(context: str, query: str) -> RuleProblem:
    """Rules, observations and question of a text. Raises `UnreadError` with the words that cannot be read."""
    names: dict[str, str] = {}  # as first written
    for token in tokenise(context):
        names.setdefault(token.text.casefold(), token.text)
    readings = read_statements(context, _mention(names, known=False))
    if not any(reading.rules for reading in readings):
        raise UnreadError("the context states no rule")
    known = {name.casefold(): name for reading in readings for rule in reading.rules for name in _names_of(rule)}
    for seen in readings[0].observed:
        for name in mentioned(seen):
            _require(name, known)
    _refuse_contradiction(readings[0].observed)
    return RuleProblem(tuple(readings), _question(query, _mention(known, known=True)))


def _refuse_contradiction(observed: Sequence[Formula]) -> None:
    seen: dict[str, bool] = {}
    for formula in observed:
        for part in formula.parts if isinstance(formula, Junction) and formula.every else (formula,):
            if isinstance(part, Literal) and seen.setdefault(part.variable, part.holds) != part.holds:
                raise UnreadError(f"{part.variable} is observed to occur and not to occur; keep one of the two")


def solve(problem: RuleProblem) -> RuleSolution:
    """The answer that all readings of the problem lead to."""
    question = problem.question
    outcomes: list[CounterfactualOutcome] = []
    for reading in problem.readings:
        quotes = {rule.effect.variable: rule.quote for rule in reading.rules}
        outcomes += [
            counterfactual(
                model,
                question.action,
                question.asked,
                observed=reading.observed,
                supposed=question.supposed,
                quotes=quotes,
            )
            for model in models(reading.rules)
        ]
    first = outcomes[0]
    remarks = first.remarks
    if len({each.value for each in outcomes}) > 1:
        remarks = (*remarks, "the rules can be read in ways that lead to different answers")
        return RuleSolution(None, "ambiguous", remarks=remarks, cycle=first.cycle, problem=problem)
    if len(outcomes) > 1:
        remarks = (*remarks, f"the rules can be read in {len(outcomes)} ways, with the same answer")
    status = next((each.status for each in outcomes if each.status != "determined"), first.status)
    answer: Answer | None = None if first.value is None else "yes" if first.value else "no"
    return RuleSolution(answer, status, first.steps, remarks, first.cycle, problem)


def answer(context: str, query: str) -> RuleSolution:
    """Parse and solve; what cannot be read is a solution with status `unread`, what has too many cases one `open`."""
    try:
        return solve(parse(context, query))
    except UnreadError as error:
        return RuleSolution(None, "unread", remarks=(str(error),))
    except CausalError as error:
        return RuleSolution(None, "open", remarks=(str(error),))


def is_contested(solution: RuleSolution, label: Answer) -> bool:
    """Whether the rules determine the other answer; not where they leave it open."""
    return solution.answer not in (None, label) and solution.status in ("determined", "cyclic")


def _names_of(rule: CausalRule) -> tuple[str, ...]:
    return (*mentioned(rule.condition), rule.effect.variable)


def _mention(names: dict[str, str], *, known: bool) -> Mention:
    """One-word names, compared without case; with `known`, only those that the rules name."""

    def read(tokens: Tokens) -> Literal:
        said = " ".join(token.text for token in tokens)
        match = _NAME.fullmatch(said)
        if match is None or _RESERVED.fullmatch(match["name"]):
            raise UnreadError(f'"{words_of(tokens)}" is not read as one variable, negated or not')
        name, holds = match["name"], match["no"] is None
        holds ^= len(_WHOLE_NOT.findall(match["before"])) % 2 == 1
        if name.casefold().startswith("non-") and len(name) > 4:
            name, holds = name[4:], not holds
        if known:
            name = _require(name, names)
        return Literal(names.setdefault(name.casefold(), name), holds)

    return read


def _require(name: str, known: Mapping[str, str]) -> str:
    if name.casefold() in known:
        return known[name.casefold()]
    near = [known[each] for each in get_close_matches(name.casefold(), list(known), 3)]
    hint = f"; nearest: {', '.join(near)}" if near else ""
    raise UnreadError(f'no rule names "{one_line(name, 40)}"{hint}')


def _question(query: str, mention: Mention) -> WhatIf:
    done: list[Formula] = []
    supposed: list[Formula] = []
    asked: list[Formula] = []
    assumed = 0
    for sentence in _SENTENCE.findall(query):
        text = sentence.strip()
        if not text:
            continue
        if starts := list(_ASSUMES.finditer(text)):
            if text[: starts[0].start()].strip():
                raise UnreadError(f'"{one_line(text, 80)}" is not read as an assumption')
            ends = [*(start.start() for start in starts[1:]), len(text)]
            for start, end in zip(starts, ends, strict=True):
                done.append(_read(text[start.end() : end], mention))
                assumed += 1
            continue
        match = next((found for pattern in _ASKS if (found := pattern.match(text))), None)
        if match is None:
            raise UnreadError(f'"{one_line(text, 80)}" is not read as a question')
        asked.append(_asked(match["asked"], mention))
        done += [_read(match["done"], mention)] if match["done"] else []
        supposed += [_read(match["fact"], mention)] if match["fact"] else []
    if len(asked) != 1:
        raise UnreadError("the query asks nothing" if not asked else "the query asks more than one thing")
    if not done:
        raise UnreadError("the query names no action")
    return WhatIf(asked[0], _action(done), tuple(supposed), nested=assumed > 1 or (assumed == 1 and len(done) > 1))


def _asked(text: str, mention: Mention) -> Formula:
    without = re.match(r"not\s+(?P<rest>\S.*)", text, re.IGNORECASE | re.DOTALL)
    return negate(_read(without["rest"], mention)) if without else _read(text, mention)


def _read(text: str, mention: Mention) -> Formula:
    formulas = read_condition(tokenise(text), mention)
    if len(formulas) > 1:
        raise UnreadError(f'"{one_line(text, 80)}" can be grouped in two ways')
    return formulas[0]


def _action(done: Sequence[Formula]) -> dict[str, bool]:
    action: dict[str, bool] = {}
    for formula in done:
        for part in formula.parts if isinstance(formula, Junction) and formula.every else (formula,):
            if not isinstance(part, Literal):
                raise UnreadError(f'"{part}" is no action: it leaves open what is done')
            if action.setdefault(part.variable, part.holds) != part.holds:
                raise UnreadError(f"{part.variable} is to be made to occur and not to occur")
    return action
