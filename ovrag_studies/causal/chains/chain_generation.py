"""Chains of causes generated from a causal graph, with contradictions written into some of their prompts.

A chain is a walk along signed edges of one domain. Its prompt gives the steps and asks for the end; its paraphrases say
the same in other relation words, in other names of the things, and with the effect first in another order of lines.
Some prompts hold a sentence that the graph contradicts, others one that denies something and is true all the same.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import prod
from pathlib import Path
from random import Random
from typing import Literal

import yaml
from pyoxigraph import Literal as Text
from pyoxigraph import NamedNode

from ovrag_core.base import CorpusError, GraphError
from ovrag_core.graph import LABEL, Store
from ovrag_studies.causal.graphs.causal_terms import ALT_LABEL, DOMAIN, LOWERS, NO_EFFECT_ON, RAISES, SIGNS
from ovrag_studies.causal.graphs.stores import pairs_of
from ovrag_studies.causal.language.propositions import Span

ContradictionKind = Literal["negation", "reversed", "polarity", "disjoint", "target"]
ParaphraseKind = Literal["relation", "synonym", "order", "double negation"]
Walk = tuple[NamedNode, ...]

KINDS: tuple[ContradictionKind, ...] = ("negation", "reversed", "polarity", "disjoint", "target")
PARAPHRASES: tuple[ParaphraseKind, ...] = ("relation", "synonym", "order")
DEPTHS = (3, 4, 5, 6)
WORDINGS = Path(__file__).with_name("chain_wordings.yaml")


@dataclass(frozen=True, slots=True)
class ChainStep:
    """A signed edge, and the sentence of the prompt that says it."""

    subject: NamedNode
    predicate: NamedNode  # RAISES or LOWERS
    object: NamedNode
    text: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A sentence of a prompt or paraphrase, at `span`, that the graph contradicts.

    `kind`: negation (a stated edge denied), reversed (an edge turned round), polarity (the other sign), disjoint ("has
    no effect on" where there is one), target (an effect where the graph states that there is none).
    """

    kind: ContradictionKind
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """The same prompt in other words; contradictions of the prompt are in it too."""

    kind: ParaphraseKind
    text: str
    contradictions: tuple[Contradiction, ...] = ()


@dataclass(frozen=True, slots=True)
class CausalChain:
    """A prompt, what it is made of, and what follows.

    `premises` are the steps in order, `conclusion` the edge from the first thing to the last with the product of the
    signs (not in the graph as a rule). `asides` are sentences of the prompt that deny something and are true.
    """

    id: str
    domain: str
    depth: int
    premises: tuple[ChainStep, ...]
    conclusion: ChainStep
    prompt: str
    paraphrases: tuple[Paraphrase, ...]
    contradictions: tuple[Contradiction, ...]
    asides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Statement:
    """Statement in a sentence of a prompt: an effect of `sign`, none at all (0), or an effect denied."""

    subject: NamedNode
    sign: int
    object: NamedNode
    denied: bool = False
    kind: ContradictionKind | None = None


@dataclass(frozen=True, slots=True)
class _Graph:
    """A causal graph as tables: signs of edges by their ends, domains, what has no effect on what, and names."""

    signs: Mapping[NamedNode, Mapping[NamedNode, int]]
    domains: Mapping[str, Sequence[NamedNode]]
    without_effect: Mapping[NamedNode, Sequence[NamedNode]]
    labels: Mapping[NamedNode, str]
    synonyms: Mapping[NamedNode, Sequence[str]]


def generate(store: Store, seed: int = 42, each: int = 15, share: float = 0.3) -> list[CausalChain]:
    """`each` chains of every domain of the graph, 3 to 6 steps, contradictions in a `share` of the prompts.

    The same graph and seed give the same chains. Raises CorpusError where a domain has not as many different walks.
    """
    graph = _read(store)
    total = int(share * each * len(graph.domains) + 0.5)
    walks: list[tuple[str, Walk]] = []
    marked: dict[int, ContradictionKind] = {}
    for domain_index, (domain, factors) in enumerate(sorted(graph.domains.items())):
        random = Random(f"{seed} {domain}")
        drawn_walks = _drawn(graph, domain, factors, each, random)
        start, stop = (total * turn // len(graph.domains) for turn in (domain_index, domain_index + 1))
        kinds = [KINDS[turn % len(KINDS)] for turn in range(start, stop)]
        marked |= {len(walks) + row: kind for row, kind in _placed(graph, drawn_walks, kinds, random).items()}
        walks += [(domain, walk) for walk in drawn_walks]
    return [
        _chain(graph, domain, walk, marked.get(row), f"{domain}-{row % each + 1:02d}", seed)
        for row, (domain, walk) in enumerate(walks)
    ]


# --- the graph


def _read(store: Store) -> _Graph:
    signs: defaultdict[NamedNode, dict[NamedNode, int]] = defaultdict(dict)
    for predicate, sign in SIGNS.items():
        for subject, object_ in sorted(pairs_of(store, predicate, NamedNode), key=str):
            signs[subject][object_] = sign
    without: defaultdict[NamedNode, list[NamedNode]] = defaultdict(list)
    for subject, object_ in sorted(pairs_of(store, NO_EFFECT_ON, NamedNode), key=str):
        without[subject].append(object_)
    labels, synonyms = _texts(store, LABEL), _texts(store, ALT_LABEL)
    used = [text.casefold() for texts in (*labels.values(), *synonyms.values()) for text in texts]
    twice = {text for text in used if used.count(text) > 1}
    return _Graph(
        signs,
        _domains(store, labels),
        without,
        {node: texts[0] for node, texts in labels.items()},
        {node: [text for text in texts if text.casefold() not in twice] for node, texts in synonyms.items()},
    )


def _domains(store: Store, labels: Mapping[NamedNode, Sequence[str]]) -> dict[str, list[NamedNode]]:
    """The things of each domain, by its label. Raises GraphError for one without a label."""
    domains: defaultdict[str, list[NamedNode]] = defaultdict(list)
    for factor, domain in sorted(pairs_of(store, DOMAIN, NamedNode), key=str):
        if domain not in labels or factor not in labels:
            raise GraphError(f"{factor if factor not in labels else domain} has no rdfs:label; add one")
        domains[labels[domain][0]].append(factor)
    return {domain: sorted(factors, key=str) for domain, factors in domains.items()}


def _texts(store: Store, predicate: NamedNode) -> dict[NamedNode, list[str]]:
    texts_by_node: defaultdict[NamedNode, list[str]] = defaultdict(list)
    for node, text in pairs_of(store, predicate, Text):
        texts_by_node[node].append(text.value)
    return {node: sorted(texts) for node, texts in texts_by_node.items()}


# --- walks


def _drawn(graph: _Graph, domain: str, factors: Sequence[NamedNode], each: int, random: Random) -> list[Walk]:
    """Different walks, the depths in turn; a depth that has no more is left out."""
    walks: dict[int, list[Walk]] = {depth: [] for depth in DEPTHS}
    for factor in factors:
        for walk in _walks(graph, (factor,)):
            walks[len(walk) - 1].append(walk)
    for depth_walks in walks.values():
        random.shuffle(depth_walks)
    drawn: list[Walk] = []
    while len(drawn) < each and any(walks.values()):
        for depth in DEPTHS:
            if walks[depth] and len(drawn) < each:
                drawn.append(walks[depth].pop())
    if len(drawn) < each:
        raise CorpusError(
            f"the domain {domain} has {len(drawn)} walks of 3 to 6 steps, not {each}; ask for fewer chains"
        )
    return drawn


def _walks(graph: _Graph, walk: Walk) -> Iterator[Walk]:
    """All walks from the end of one on whose ends have no ways of different signs between them."""
    if len(walk) - 1 in DEPTHS and len(_signs_between(graph, walk[0], walk[-1])) == 1:
        yield walk
    if len(walk) <= max(DEPTHS):
        for node in sorted(graph.signs.get(walk[-1], {}), key=str):
            if node not in walk:
                yield from _walks(graph, (*walk, node))


def _signs_between(graph: _Graph, first: NamedNode, last: NamedNode) -> set[int]:
    """The products of signs along all ways from one thing to another."""
    reached = {(first, 1): None}
    waiting = list(reached)
    while waiting:
        node, sign = waiting.pop()
        signed = {(effect, sign * edge_sign): None for effect, edge_sign in graph.signs.get(node, {}).items()}
        waiting += signed.keys() - reached.keys()
        reached |= signed
    return {sign for node, sign in reached if node == last}


def _placed(
    graph: _Graph, walks: Sequence[Walk], kinds: Sequence[ContradictionKind], random: Random
) -> dict[int, ContradictionKind]:
    """Assign kinds of contradiction to walks; the kind that few walks have room for comes first."""
    placed: dict[int, ContradictionKind] = {}
    order = random.sample(range(len(walks)), len(walks))
    for kind in sorted(kinds, key=lambda kind: kind != "target"):
        free = [row for row in order if row not in placed]
        room = [row for row in free if kind != "target" or _barren(graph, walks[row])]
        if room:
            placed[room[0]] = kind
        elif free:
            placed[free[0]] = "polarity"  # no walk has a thing that is stated to have no effect on another
    return placed


def _barren(graph: _Graph, walk: Walk) -> list[tuple[NamedNode, NamedNode]]:
    """Things of a walk with others on which they are stated to have no effect."""
    return [(node, target) for node in walk for target in graph.without_effect.get(node, ())]


# --- texts


def _chain(graph: _Graph, domain: str, walk: Walk, kind: ContradictionKind | None, name: str, seed: int) -> CausalChain:
    random = Random(f"{seed} {name} text")
    steps = [_Statement(cause, graph.signs[cause][effect], effect) for cause, effect in pairwise(walk)]
    statements = list(steps)
    contradiction = _contradiction(graph, walk, steps, kind, random) if kind else None
    aside = None if kind or random.random() < 0.5 else _aside(graph, walk, steps, random)
    for added in (contradiction, aside):
        if added:
            statements.insert(random.randrange(1, len(statements) + 1), added)
    style = random.choice(_wordings()["plain"])
    prompt, spans = _text(walk, statements, [style] * len(statements), graph.labels)
    conclusion = _Statement(walk[0], prod(step.sign for step in steps), walk[-1])
    return CausalChain(
        id=name,
        domain=domain,
        depth=len(steps),
        premises=tuple(_step(step, prompt[slice(*spans[statements.index(step)])]) for step in steps),
        conclusion=_step(conclusion, _sentence(conclusion, style, graph.labels)),
        prompt=prompt,
        paraphrases=tuple(_paraphrase(graph, kind, walk, statements, style, random) for kind in PARAPHRASES),
        contradictions=_marked(statements, prompt, spans),
        asides=(prompt[slice(*spans[statements.index(aside)])],) if aside else (),
    )


def _step(statement: _Statement, text: str) -> ChainStep:
    return ChainStep(statement.subject, RAISES if statement.sign > 0 else LOWERS, statement.object, text)


def _contradiction(
    graph: _Graph, walk: Walk, steps: Sequence[_Statement], kind: ContradictionKind, random: Random
) -> _Statement:
    step = random.choice(steps)
    if kind == "target":
        subject, object_ = random.choice(_barren(graph, walk))
        return _Statement(subject, random.choice((1, -1)), object_, kind=kind)
    return {
        "negation": replace(step, denied=True, kind=kind),
        "reversed": replace(step, subject=step.object, object=step.subject, kind=kind),
        "polarity": replace(step, sign=-step.sign, kind=kind),
        "disjoint": replace(step, sign=0, kind=kind),
    }[kind]


def _aside(graph: _Graph, walk: Walk, steps: Sequence[_Statement], random: Random) -> _Statement:
    """A denial that is true: of the other sign, or of an effect that the graph states not to be."""
    barren = _barren(graph, walk)
    if barren and random.random() < 0.5:
        subject, object_ = random.choice(barren)
        return _Statement(subject, 0, object_)
    step = random.choice(steps)
    return replace(step, sign=-step.sign, denied=True)


def _paraphrase(
    graph: _Graph,
    kind: ParaphraseKind,
    walk: Walk,
    statements: Sequence[_Statement],
    style: Mapping[str, str],
    random: Random,
) -> Paraphrase:
    names = dict(graph.labels)
    styles = [style] * len(statements)
    order = list(range(len(statements)))
    if kind == "synonym":
        names |= {node: random.choice(graph.synonyms[node]) for node in graph.labels if graph.synonyms.get(node)}
    else:
        styles = [random.choice(_wordings()[kind]) for _ in statements]
    while kind == "order" and order == sorted(order):
        random.shuffle(order)
    reordered = [statements[i] for i in order]
    text, spans = _text(walk, reordered, styles, names)
    return Paraphrase(kind, text, _marked(reordered, text, spans))


def _text(
    walk: Walk,
    statements: Sequence[_Statement],
    styles: Sequence[Mapping[str, str]],
    names: Mapping[NamedNode, str],
) -> tuple[str, list[Span]]:
    """A prompt, and where each of its statements stands; the first style is that of the frame too."""
    text = _filled(styles[0]["given"], names[walk[0]], names[walk[-1]]) + "\n"
    spans: list[Span] = []
    for statement, style in zip(statements, styles, strict=True):
        sentence = _sentence(statement, style, names)
        spans.append((len(text) + 2, len(text) + 2 + len(sentence)))
        text += f"- {sentence}\n"
    return text + "\n" + _filled(styles[0]["question"], names[walk[0]], names[walk[-1]]), spans


def _sentence(statement: _Statement, style: Mapping[str, str], names: Mapping[NamedNode, str]) -> str:
    effect = {1: "raises", -1: "lowers", 0: "none"}[statement.sign]
    template = style[f"not {effect}" if statement.denied else effect]
    return _filled(template, names[statement.subject], names[statement.object])


def _filled(template: str, first: str, second: str) -> str:
    text = template.format(s=first, o=second)
    return text[:1].upper() + text[1:]


def _marked(statements: Sequence[_Statement], text: str, spans: Sequence[Span]) -> tuple[Contradiction, ...]:
    return tuple(
        Contradiction(statement.kind, text[slice(*span)], span)
        for statement, span in zip(statements, spans, strict=True)
        if statement.kind
    )


@cache
def _wordings() -> dict[str, list[dict[str, str]]]:
    return dict(yaml.safe_load(WORDINGS.read_text(encoding="utf-8")))
