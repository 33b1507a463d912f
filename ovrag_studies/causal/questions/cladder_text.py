"""The language of CLadder's questions: what it says of the causal graph, the numbers that it prints, and what it asks.

Source of the language: Jin et al., NeurIPS 2023 (github.com/causalNLP/cladder). Nothing but the text is read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from ovrag_core.base import ProbabilityError, UnreadError
from ovrag_core.text import sentences
from ovrag_studies.causal.models.dags import Dag, Edge, make_dag
from ovrag_studies.causal.models.identification import Kind as EffectKind

Kind = Literal[EffectKind, "marginal", "correlation", "adjustment", "collider", "explaining away", "deterministic"]
Status = Literal["determined", "open by rounding", "missing strata", "strata read alike", "not identified", "unread"]
StatementKind = Literal["overall", "joint", "conditional", "correlation"]

EFFECT = re.compile(r"(?P<cause>.+?) ha(?:s|ve) a direct effect on (?P<effects>.+)", re.I)
UNOBSERVED = re.compile(r"(?P<name>.+) (?:is|are) unobserved", re.I)
PROBABILITY = re.compile(
    r"(?:For (?P<given>.+?), the|The(?P<overall> overall)?) probability of (?P<of>.+) is "
    r"(?P<number>-?\d+(?:\.\d+)?)\s*%",
    re.I,
)
CORRELATION = re.compile(r"For (?P<given>.+?), the correlation between (?P<of>.+) is (?P<number>-?\d*\.?\d+)", re.I)
METHOD = re.compile(
    r"Method (?P<number>[12]): We look (?:.*\bcase by case according to (?P<by>.+)|directly at how .+ in general)", re.I
)
QUESTIONS: Mapping[Kind, str] = {
    "ate": r"Will (?P<x>.+) (?P<way>increase|decrease) the chance of (?P<y>.+)",
    "ett": r"For (?P<x>.+), would it be (?P<way>more|less) likely to see (?P<y>.+) if (?P<other>.+)",
    "nie": r"Do(?:es)? (?P<x>.+) (?P<way>positive|negative)ly affect (?P<y>.+) through (?P<other>.+)",
    "nde": r"If we disregard the mediation effect through (?P<other>.+), would (?P<x>.+) "
    r"(?P<way>positive|negative)ly affect (?P<y>.+)",
    "marginal": r"(?:Is|Are) (?P<y>.+) (?P<way>more|less) likely than (?P<other>.+) overall",
    "correlation": r"Is the chance of (?P<y>.+) (?P<way>larger|smaller) when observing (?P<x>.+)",
    "adjustment": r"To understand how (?P<x>.+) affects (?P<y>.+), is it more correct to use the Method (?P<way>1|2) "
    r"than Method (?P<other>1|2)",
    "collider": r"If we look at (?P<other>.+), does it mean that (?P<x>.+) (?P<way>affects|does not affect) (?P<y>.+)",
    "explaining away": r"If we look at (?P<other>.+), does the chance of (?P<y>.+) (?P<way>increase|decrease) when "
    r"(?P<x>.+)",
    "deterministic": r"(?P<way>Would|Will) (?P<y>.+) if (?P<x>.+) instead of (?P<other>.+)",
}
UPWARDS = frozenset({"increase", "more", "positive", "larger", "affects", "1"})


class PrintedNumber(NamedTuple):
    """A printed number: of what, given what, as a share; `unit` is half of the last digit that is printed."""

    kind: StatementKind
    of: str
    given: str
    value: float
    unit: float
    text: str


class NumberQuery(NamedTuple):
    """Parts of a question, in its own words.

    `x` the cause, `y` the effect, `other` the mediators, the collider's state, the supposition or the opposite, by
    kind; `upwards` whether the question asks for more or for less. For adjustment `by` names what each method goes by.
    """

    kind: Kind
    upwards: bool
    y: str
    x: str = ""
    other: str = ""
    by: tuple[str | None, ...] = ()


class NumberProblem(NamedTuple):
    """A question as read: the graph by the names of the background, numbers, what is asked, and the text of rules."""

    graph: Dag
    statements: tuple[PrintedNumber, ...]
    query: NumberQuery
    given_info: str


@dataclass(frozen=True)
class NumberSolution:
    """An answer, None where there is none, and how it came about.

    `value` is what the printed numbers give (an effect, or a probability to compare with one half); `low` and `high`
    what any numbers that print so could give. `status` says whether that settles the sign. `assumption` is what the
    answer rests on beyond the graph; `reason` is why it is not determined, `variables` who is who.
    """

    answer: Literal["yes", "no"] | None
    status: Status
    value: float | None = None
    low: float | None = None
    high: float | None = None
    estimand: str = ""
    reason: str = ""
    assumption: str = ""
    numbers: tuple[PrintedNumber, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def determined(yes: bool, estimand: str, variables: Mapping[str, str], notes: tuple[str, ...] = ()) -> NumberSolution:
    """An answer that nothing leaves open."""
    return NumberSolution("yes" if yes else "no", "determined", estimand=estimand, variables=variables, notes=notes)


def parse(background: str, given_info: str, question: str) -> NumberProblem:
    """A question as read from its text alone.

    Raises UnreadError for a sentence outside the language, ProbabilityError for a number outside 0 to 100%, CycleError
    and CausalError for a graph that is none.
    """
    query = parse_query(question)
    statements: tuple[PrintedNumber, ...] = ()
    if query.kind == "adjustment":
        query = query._replace(by=parse_methods(given_info))
    elif query.kind != "deterministic":
        statements = tuple(parse_statement(sentence) for sentence in sentences_of(given_info))
    return NumberProblem(parse_graph(background), statements, query, given_info)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, their full stops left out."""
    return [text[start:end].rstrip(".").strip() for start, end in sentences(text, loose=True)]


@lru_cache(maxsize=4096)
def name(phrase: str) -> str:
    """A variable's name: lower case, without the article before it."""
    return re.sub(r"^(?:the|a|an) ", "", re.sub(r"\s+", " ", phrase.strip().lower()))


@lru_cache(maxsize=4096)
def parse_graph(background: str) -> Dag:
    """The causal graph that the background states, after the colon that ends its preamble."""
    edges: list[Edge] = []
    latent: list[str] = []
    stated = sentences_of(background.split(":", 1)[-1])
    causes = {name(match["cause"]) for sentence in stated if (match := EFFECT.fullmatch(sentence))}
    for sentence in stated:
        if match := EFFECT.fullmatch(sentence):
            phrases = re.split(r",\s*(?:and\s+)?|\s+and\s+", match["effects"])
            # A, B and C are three names, unless the whole is the name of a cause
            effects = [match["effects"]] if name(match["effects"]) in causes else filter(str.strip, phrases)
            edges += [(name(match["cause"]), name(effect)) for effect in effects]
        elif match := UNOBSERVED.fullmatch(sentence):
            latent.append(name(match["name"]))
        else:
            raise UnreadError(f"“{sentence}.” names no direct effect; say “A has a direct effect on B”")
    if not edges:
        raise UnreadError("the background states no direct effect; say “A has a direct effect on B.”")
    return make_dag(edges, latent)


def parse_statement(sentence: str) -> PrintedNumber:
    """One printed number. Raises UnreadError and ProbabilityError."""
    if match := PROBABILITY.fullmatch(sentence):
        kind: StatementKind = "conditional" if match["given"] else "overall" if match["overall"] else "joint"
        least, scale, fault = 0.0, 100.0, "probability outside 0 to 100%"
    elif match := CORRELATION.fullmatch(sentence):
        kind, least, scale, fault = "correlation", -1.0, 1.0, "correlation outside −1 to 1"
    else:
        raise UnreadError(f"“{sentence}.” prints no probability; say “For …, the probability of … is 50%.”")
    number = match["number"]
    value, unit = float(number) / scale, 0.5 * 10.0 ** -len(number.partition(".")[2]) / scale
    if not least <= value <= 1.0:
        raise ProbabilityError(f"“{sentence}.” prints a {fault}; correct it")
    return PrintedNumber(kind, match["of"], match["given"] or "", value, unit, sentence)


def parse_methods(given_info: str) -> tuple[str | None, ...]:
    """Read what the two methods go case by case by: a name, None for a direct look. Raises UnreadError."""
    methods: dict[str, str | None] = {}
    for sentence in sentences_of(given_info):
        if (match := METHOD.fullmatch(sentence)) is None:
            raise UnreadError(f"“{sentence}.” describes no method; say “Method 1: We look …”")
        methods[match["number"]] = name(match["by"]) if match["by"] else None
    if set(methods) != {"1", "2"}:
        raise UnreadError("a choice between methods needs a Method 1 and a Method 2; describe both")
    return methods["1"], methods["2"]


def parse_query(question: str) -> NumberQuery:
    """Read what is asked. Raises UnreadError."""
    text = question.strip().rstrip("?").strip()
    for kind, pattern in QUESTIONS.items():
        if match := re.fullmatch(pattern, text, re.I):
            upwards = match["way"].lower() in UPWARDS
            groups = match.groupdict("")
            return NumberQuery(kind, upwards, groups["y"], groups.get("x", ""), groups.get("other", ""))
    raise UnreadError(f"“{question.strip()}” asks nothing that the reader knows")
