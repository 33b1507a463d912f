"""CounterBench by parser and exact inference (Chen et al. 2025, arXiv 2502.11008): rules over names, then a "what if".

Names mean nothing; no template, label or metadata is looked at. What cannot be read is `unread`, with the words; where
two readings lead to different answers the question is `ambiguous`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal as OneOf
from typing import NamedTuple

from ovrag_core.base import CausalError, UnreadError
from ovrag_core.text import one_line
from ovrag_studies.causal.models.boolean_models import (
    CounterfactualOutcome,
    Formula,
    Junction,
    Literal,
    Status,
    conjoined,
    counterfactual,
    mentioned,
    models,
)
from ovrag_studies.causal.questions.rule_sentences import (
    Mention,
    RuleReading,
    Tokens,
    read_formula,
    read_statements,
    tokenise,
    words_of,
)

Answer = OneOf["yes", "no"]


class RuleProblem(NamedTuple):
    """Question, action, and what is taken for the fact ("instead of Ziklo"), over the readings of its rules."""

    readings: tuple[RuleReading, ...]
    asked: Formula
    action: Mapping[str, bool]
    supposed: tuple[Formula, ...]


_TURNS = frozenset(["not", "never", "no", "without", "absence", "lack"])
_FILLING = """
a an the of that to also still it have has had be is was were been being does do did will would
occur occurs occurred occurring happen happens happened happening present absent
"""
_FILLERS = frozenset(_FILLING.split())
_OTHER_WORDS = "and or nor if then which this we you i instead both either neither each because unless by"
_RESERVED = frozenset(_OTHER_WORDS.split())
_NAME = re.compile(r"\w[\w'’-]*")
_SAYS = r"(?:would|will|does|did)"
_INSTEAD = r"(?:,?\s+instead\s+of\s+(?P<fact>.+?))?"
_ASKS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"(?:in\s+that\s+case\s+)?{_SAYS}\s+(?P<asked>.+?)(?:,?\s+if\s+(?P<done>.+?){_INSTEAD})?",
        rf"(?:if|had)\s+(?P<done>.+?){_INSTEAD},\s+{_SAYS}\s+(?P<asked>.+?)",
    )
)
_ASSUMES = re.compile(
    r"(?:,\s*)?(?:\band\s+)?(?:based\s+on\s+(?:this|that)(?:\s+assumption)?,?\s*)?\b(?:further\s+)?"
    r"(?:assum(?:e|ing)|suppos(?:e|ing)|imagine)\b(?:\s+that\b)?",
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
    rule_names = {name.casefold(): name for reading in readings for rule in reading.rules for name in rule.names}
    for observation in readings[0].observed:
        for name in mentioned(observation):
            _require(name, rule_names)
    _literals_of(readings[0].observed, "{} is observed to occur and not to occur; keep one of the two")
    mention = _mention(rule_names, known=True)
    question, done, supposed = _question(query, mention)
    for formula in done:
        if isinstance(formula, Junction) and not (formula.every and all(isinstance(p, Literal) for p in formula.parts)):
            raise UnreadError(f'"{formula}" is no action: it leaves open what is done')
    action = _literals_of(done, "{} is to be made to occur and not to occur")
    return RuleProblem(tuple(readings), question, action, tuple(supposed))


def _literals_of(formulas: Sequence[Formula], clash: str) -> dict[str, bool]:
    """The single literals of formulas and of their conjunctions. Raises `UnreadError` where two of them clash."""
    literals: dict[str, bool] = {}
    for literal in conjoined(formulas):
        if literals.setdefault(literal.variable, literal.holds) != literal.holds:
            raise UnreadError(clash.format(literal.variable))
    return literals


def solve(problem: RuleProblem) -> CounterfactualOutcome:
    """What all readings of the problem lead to."""
    outcomes = [
        counterfactual(model, problem.action, problem.asked, observed=reading.observed, supposed=problem.supposed)
        for reading in problem.readings
        for model in models(reading.rules)
    ]
    likeliest = outcomes[0]
    if len({outcome.value for outcome in outcomes}) > 1:
        remarks = (*likeliest.remarks, "the rules can be read in ways that lead to different answers")
        return CounterfactualOutcome(None, "ambiguous", remarks=remarks, cycle=likeliest.cycle)
    if len(outcomes) == 1:
        return likeliest
    remarks = (*likeliest.remarks, f"the rules can be read in {len(outcomes)} ways, with the same answer")
    status = next((outcome.status for outcome in outcomes if outcome.status != "determined"), likeliest.status)
    return likeliest._replace(status=status, remarks=remarks)


def answer(context: str, query: str) -> CounterfactualOutcome:
    """Parse and solve; what cannot be read has the status `unread`, what has too many cases is `open`."""
    try:
        return solve(parse(context, query))
    except CausalError as error:
        status: Status = "unread" if isinstance(error, UnreadError) else "open"
        return CounterfactualOutcome(None, status, remarks=(str(error),))


def is_contested(solution: CounterfactualOutcome, label: Answer) -> bool:
    """Return True where the rules determine the other answer, not where they leave it open."""
    return solution.answer not in (None, label) and solution.status in ("determined", "cyclic")


def _mention(names: dict[str, str], *, known: bool) -> Mention:
    """One-word names, compared without case; with `known`, only those that the rules name."""

    def read(tokens: Tokens) -> Literal:
        words = [token.lower for token in tokens]
        content_words = [token.text for token in tokens if token.lower not in _TURNS | _FILLERS]
        read_whole = len(content_words) == 1 and words[-1] not in _TURNS and _NAME.fullmatch(content_words[0])
        if not read_whole or content_words[0].casefold() in _RESERVED:
            raise UnreadError(f'"{words_of(tokens)}" is not read as one variable, negated or not')
        name = _require(content_words[0], names) if known else content_words[0]
        holds = sum(word in _TURNS or word == "absent" for word in words) % 2 == 0
        return Literal(names.setdefault(name.casefold(), name), holds)

    return read


def _require(name: str, known: Mapping[str, str]) -> str:
    if name.casefold() in known:
        return known[name.casefold()]
    raise UnreadError(f'no rule names "{one_line(name, 40)}"')


def _question(query: str, mention: Mention) -> tuple[Formula, list[Formula], list[Formula]]:
    """Read what is asked, what is done, and what is taken for the fact."""
    done: list[Formula] = []
    questions: list[Formula] = []
    supposed: list[Formula] = []
    for text in filter(None, map(str.strip, _SENTENCE.findall(query))):
        if _ASSUMES.search(text):
            before, *assumed = _ASSUMES.split(text)
            if before.strip():
                raise UnreadError(f'"{one_line(text, 80)}" is not read as an assumption')
            done += [_read(assumption, mention) for assumption in assumed]
            continue
        match = next((candidate for pattern in _ASKS if (candidate := pattern.fullmatch(text))), None)
        if match is None:
            raise UnreadError(f'"{one_line(text, 80)}" is not read as a question')
        questions.append(_read(match["asked"], mention))
        done += [_read(match["done"], mention)] if match["done"] else []
        supposed += [_read(match["fact"], mention)] if match["fact"] else []
    if len(questions) != 1:
        raise UnreadError("the query asks nothing" if not questions else "the query asks more than one thing")
    if not done:
        raise UnreadError("the query names no action")
    return questions[0], done, supposed


def _read(text: str, mention: Mention) -> Formula:
    return read_formula(tokenise(text), mention)
