"""Chains of causes generated from a causal graph, with contradictions written into some of their prompts.

A chain is a walk along signed edges of one domain. Its prompt gives the steps and asks for the end; its paraphrases say
the same in other relation words, in other names of the things, and in another order.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyoxigraph import NamedNode

from ovrag_core.graph import Store
from ovrag_core.studies.causal.propositions import Span

ContradictionKind = Literal["negation", "reversed", "polarity", "disjoint", "target"]
ParaphraseKind = Literal["relation", "synonym", "order"]
DOMAINS = ("climate", "medicine", "economics", "physics", "biology")


@dataclass(frozen=True, slots=True)
class Step:
    """A signed edge, and the sentence of the prompt that says it."""

    subject: NamedNode
    predicate: NamedNode  # RAISES or LOWERS
    object: NamedNode
    text: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A sentence of the prompt that the graph contradicts.

    `kind`: negation (a stated edge denied), reversed (an edge turned round), polarity (the other sign), disjoint ("has
    no effect on" where there is one), target (an effect where the graph states that there is none).
    `clashes` are the triples of the graph that it clashes with.
    """

    kind: ContradictionKind
    text: str
    span: Span
    clashes: tuple[tuple[NamedNode, NamedNode, NamedNode], ...]


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """The same prompt in other words; contradictions of the prompt are in it too."""

    kind: ParaphraseKind
    text: str


@dataclass(frozen=True, slots=True)
class Chain:
    """A prompt, what it is made of, and what follows.

    `premises` are the steps in order, `conclusion` the edge from the first thing to the last with the product of the
    signs (not in the graph as a rule), `given` the state that starts it ("rainfall rises").
    """

    id: str
    domain: str
    depth: int
    given: str
    premises: tuple[Step, ...]
    conclusion: Step
    prompt: str
    paraphrases: tuple[Paraphrase, ...]
    contradictions: tuple[Contradiction, ...]


def generate(store: Store, seed: int = 42, each: int = 15) -> list[Chain]:
    """`each` chains of every domain of the graph, 3 to 6 steps, contradictions in 30% of the prompts."""
    raise NotImplementedError


def read_recorded(path: Path) -> list[Chain]:
    """The chains of an earlier study as they were recorded."""
    raise NotImplementedError
