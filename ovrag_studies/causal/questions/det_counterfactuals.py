"""CLadder's deterministic counterfactuals: rules given in words, whose phrases are matched to the graph's variables.

A rule fits a variable where its causes are that variable's parents; where several assignments fit, the words decide.
Two phrases of one variable are opposites. All assignments, signs and observations that the words
leave open are solved, and the question is answered only where every one of them gives the same.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product

from ovrag_core.base import UnreadError
from ovrag_studies.causal.models.boolean_models import (
    CausalRule,
    CounterfactualOutcome,
    Formula,
    Junction,
    Literal,
    counterfactual,
    mentioned,
    models,
)
from ovrag_studies.causal.models.dags import Dag
from ovrag_studies.causal.questions.cladder_text import NumberProblem, NumberSolution, determined
from ovrag_studies.causal.questions.phrases import compare, likeness, same_words
from ovrag_studies.causal.questions.rule_sentences import RuleReading, Tokens, read_statements

MOST_VARIABLES = 8  # of a graph; every way to give them the phrases is tried
MOST_ASSIGNMENTS = 50
MARGIN = 0.15  # an assignment that the words like this much less than the best is left out

_SPACE, _COMMA = "\ue000", "\ue001"  # of the private use area: they bind the words of a phrase
_RULE = re.compile(r"\bcauses?\b", re.IGNORECASE)
_EITHER = re.compile(r"\bcauses?\s+(?P<effect>[^.]+?\s+or\s+[^.]+?)(?=\.|,?\s{1,2}and\s+we\s+know\b|$)", re.IGNORECASE)


NamedPhrases = Mapping[str, Literal]
"""Phrases of the rules, and what each says of a node of the graph."""


def solve(problem: NumberProblem) -> NumberSolution:
    """The answer on which all that the words leave open agrees. Raises `UnreadError` where they leave too much open."""
    if not _RULE.search(problem.given_info):
        raise UnreadError("no rule is stated; say what causes what")
    if len(problem.graph.nodes) > MOST_VARIABLES:
        raise UnreadError(f"the graph has more than {MOST_VARIABLES} variables; phrases are matched to so many at most")
    outcomes = _solved(problem)
    if not outcomes:
        raise UnreadError("the rules do not fit the causal graph of the background; print each effect's causes")
    outcome, named = outcomes[0]
    if len({o.value for o, _ in outcomes}) > 1:
        raise UnreadError("the phrases can be matched to the variables in ways that lead to different answers")
    if outcome.value is None or any(o.status == "assumed" for o, _ in outcomes):
        raise UnreadError("; ".join(outcome.remarks) or "the rules leave the answer open")
    variable_phrases = {literal.variable: phrase for phrase, literal in named.items() if literal.holds}
    estimand, derivation = f"what is asked, under do({problem.query.x})", (*outcome.steps, *outcome.remarks)
    return replace(determined(outcome.value, estimand, variable_phrases, derivation), value=float(outcome.value))


def _solved(problem: NumberProblem) -> list[tuple[CounterfactualOutcome, NamedPhrases]]:
    """The outcomes of every reading and assignment; none where the rules do not fit the graph."""
    text = problem.given_info
    wholes = [problem.query.x, problem.query.other, *(match["effect"] for match in _EITHER.finditer(text))]
    for phrase in sorted(wholes, key=len, reverse=True):
        bound = phrase.replace("\\", "").replace(" ", _SPACE).replace(",", _COMMA)
        text = re.sub(rf"(?<![\w-]){re.escape(phrase)}(?![\w-])", bound, text, flags=re.IGNORECASE)
    return [
        (outcome, named)
        for reading in read_statements(text, _phrase)
        for named in _assignments(reading.rules, problem.graph)
        for outcome in _outcomes(problem, reading, named)
    ]


def _phrase(tokens: Tokens) -> Literal:
    phrase = " ".join(token.text for token in tokens).casefold()
    return Literal(re.sub(r"^(?:that )+", "", phrase).replace(_SPACE, " ").replace(_COMMA, ","))


def _assignments(rules: Sequence[CausalRule], graph: Dag) -> list[NamedPhrases]:
    """Match phrases to variables as their states, likeliest first: what fits the graph and nearly as well the words."""
    explained = {effect for _, effect in graph.edges}
    fitting = [nodes for nodes in _ways(rules, graph) if {nodes[rule.effect.variable] for rule in rules} == explained]
    best = max(map(_score, fitting), default=0.0)
    liked = sorted((nodes for nodes in fitting if _score(nodes) >= best - MARGIN), key=_score, reverse=True)
    if len(liked) > MOST_ASSIGNMENTS:
        raise UnreadError(f"the phrases fit the graph in {len(liked)} ways, and the words do not tell them apart")
    return [_signed(nodes, rules) for nodes in liked]


def _ways(rules: Sequence[CausalRule], graph: Dag) -> list[dict[str, str]]:
    """Every way to give phrases nodes so that the causes of an effect are the parents of its node."""
    causes: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for rule in rules:
        causes[rule.effect.variable] |= dict.fromkeys(mentioned(rule.condition))
    ways: list[dict[str, str]] = [{}]
    for effect, phrases in causes.items():
        of_effect = [
            {effect: node, **dict(zip(phrases, order, strict=True))}
            for node in graph.nodes
            if len(graph.parents(node)) == len(phrases) and effect not in phrases
            for order in permutations(graph.parents(node))
        ]
        ways = [way | more for way, more in product(ways, of_effect) if way | more == more | way]
    return ways


def _score(nodes: Mapping[str, str]) -> float:
    first_phrases: dict[str, str] = {}
    score = 0.0
    for phrase, node in nodes.items():
        score += likeness(phrase, node)
        if first_phrases.setdefault(node, phrase) != phrase:
            score += likeness(first_phrases[node], phrase)
    return score


def _signed(nodes: Mapping[str, str], rules: Sequence[CausalRule]) -> NamedPhrases:
    """The phrase of a cause says that its variable holds; another phrase of it says that it does not."""
    phrases = dict.fromkeys([*(phrase for rule in rules for phrase in mentioned(rule.condition)), *nodes])
    first_phrases = {nodes[phrase]: phrase for phrase in reversed(phrases)}
    return {phrase: Literal(nodes[phrase], first_phrases[nodes[phrase]] == phrase) for phrase in phrases}


def _outcomes(problem: NumberProblem, reading: RuleReading, named: NamedPhrases) -> Iterator[CounterfactualOutcome]:
    """The outcome for each way to take what was observed."""
    rules = []
    for rule in reading.rules:
        quote = problem.given_info[slice(*rule.span)]
        rules.append(CausalRule(_in_nodes(rule.condition, named), named[rule.effect.variable], quote, rule.span))
    action = _acted(problem.query.x, problem.query.other, named)
    nodes = problem.graph.nodes
    target = _asked(problem.query.y, named, [node for node in nodes if node != action.variable])
    phrases = dict.fromkeys(phrase for observation in reading.observed for phrase in mentioned(observation))
    for meanings in product(*(_seen(phrase, named, nodes) for phrase in phrases)):
        observed_phrases = dict(zip(phrases, meanings, strict=True))
        for model in models(rules):
            yield counterfactual(
                model,
                {action.variable: action.holds},
                target,
                observed=[_in_nodes(observation, observed_phrases) for observation in reading.observed],
                supposed=(Literal(action.variable, not action.holds),),
            )


def _in_nodes(formula: Formula, named: NamedPhrases) -> Formula:
    if isinstance(formula, Literal):
        literal = named[formula.variable]
        return Literal(literal.variable, literal.holds == formula.holds)
    return Junction(formula.every, tuple(_in_nodes(operand, named) for operand in formula.parts))


def _acted(done: str, instead: str, named: NamedPhrases) -> Literal:
    """The variable of which one of the phrases is a state in the words of the rules, in the state that is done."""
    for phrase, literal in named.items():
        for wording, holds in ((done, True), (instead, False)):
            if same_words(phrase, wording):
                return Literal(literal.variable, literal.holds == holds)
    raise UnreadError(f"“{done}” is no state of any variable that the rules name")


def _asked(said: str, named: NamedPhrases, nodes: Sequence[str]) -> Literal:
    best = _nearest(said, nodes, named, margin=0.0)
    sign = _sign(said, best[0], named) if len(best) == 1 else None
    if sign is None:
        nearest = [phrase for node in best or nodes for phrase, literal in named.items() if literal.variable == node]
        phrases = " or ".join(f"“{phrase}”" for phrase in nearest)
        raise UnreadError(f"it cannot be told whether “{said}” is the same as {phrases} or its opposite")
    return Literal(best[0], sign > 0)


def _seen(said: str, named: NamedPhrases, nodes: Sequence[str]) -> list[Literal]:
    """List the meanings of an observation: each variable that it can be about, in the states that it can name."""
    meanings: list[Literal] = []
    for node in _nearest(said, nodes, named) or nodes:
        sign = _sign(said, node, named)
        meanings += [Literal(node, sign > 0)] if sign else [Literal(node, True), Literal(node, False)]
    return meanings


def _nearest(said: str, nodes: Sequence[str], named: NamedPhrases, margin: float = MARGIN) -> list[str]:
    """The nodes that the phrase is about as close to as to the closest; none where it is close to none."""
    closeness = {node: likeness(said, node) for node in nodes}
    for phrase, literal in named.items():
        if literal.variable in closeness:
            closeness[literal.variable] = max(closeness[literal.variable], likeness(said, phrase))
    top = max(closeness.values(), default=0.0)
    return [node for node in nodes if top and closeness[node] >= top - margin]


def _sign(said: str, node: str, named: NamedPhrases) -> int | None:
    """1 where the phrase says that the node holds, -1 where it says that it does not; the closest phrase that tells."""
    signs: dict[float, set[int]] = {}
    for phrase, literal in named.items():
        comparison = compare(said, phrase)
        if literal.variable == node and comparison.sign is not None:
            signs.setdefault(comparison.closeness, set()).add(comparison.sign if literal.holds else -comparison.sign)
    closest = signs[max(signs)] if signs else set()
    return closest.pop() if len(closest) == 1 else None
