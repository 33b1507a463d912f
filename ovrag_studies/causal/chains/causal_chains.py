"""Chains of causes as files hold them: ours, and those of an earlier study as they were recorded.

A chain of ours is a walk along signed edges of one domain of the sample graph. Its prompt gives the steps and asks for
the end; its paraphrases say the same in other relation words, in other names of the things, and with the effect first
in another order of lines. Some prompts hold a sentence that the graph contradicts.
"""

import json
import re
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass
from pyoxigraph import Literal as Text
from pyoxigraph import NamedNode, Triple

from ovrag_core.base import CorpusError
from ovrag_core.graph import LABEL, TYPE, Store
from ovrag_core.text import one_line
from ovrag_studies.causal.graphs.causal_terms import FACTOR, LOWERS, RAISES, SIGNS
from ovrag_studies.causal.language.directions import state_of
from ovrag_studies.causal.language.propositions import Span

ContradictionKind = Literal["negation", "reversed", "polarity", "disjoint", "target"]
ParaphraseKind = Literal["relation", "synonym", "order", "double negation"]
Node = Annotated[NamedNode, BeforeValidator(lambda iri: NamedNode(iri) if isinstance(iri, str) else iri)]

RECORDED = "urn:ovrag:causal:recorded#"
_RECORDED_KINDS: dict[str, ParaphraseKind] = {
    "paraphrase": "relation",
    "synonym": "synonym",
    "reordering": "order",
    "double_negation": "double negation",
}
_CONFIG = ConfigDict(arbitrary_types_allowed=True, extra="forbid")


@dataclass(frozen=True, config=_CONFIG)
class ChainStep:
    """A signed edge, and the sentence of the prompt that says it."""

    subject: Node
    predicate: Node  # RAISES or LOWERS
    object: Node
    text: str


@dataclass(frozen=True, config=_CONFIG)
class Contradiction:
    """A sentence of a prompt or paraphrase, at `span`, that the graph contradicts.

    `kind`: negation (a stated edge denied), reversed (an edge turned round), polarity (the other sign), disjoint ("has
    no effect on" where there is one), target (an effect where the graph states that there is none).
    """

    kind: ContradictionKind
    text: str
    span: Span


@dataclass(frozen=True, config=_CONFIG)
class Paraphrase:
    """The same prompt in other words; contradictions of the prompt are in it too."""

    kind: ParaphraseKind
    text: str
    contradictions: tuple[Contradiction, ...] = ()


@dataclass(frozen=True, config=_CONFIG)
class CausalChain:
    """A prompt, what it is made of, and what follows.

    `premises` are the steps in order, `conclusion` the edge from the first thing to the last with the product of the
    signs (not in the graph as a rule). `asides` are sentences of the prompt that deny something and are true.
    """

    id: str
    domain: str
    premises: tuple[ChainStep, ...]
    conclusion: ChainStep
    prompt: str
    paraphrases: tuple[Paraphrase, ...]
    contradictions: tuple[Contradiction, ...] = ()
    asides: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """Number of steps."""
        return len(self.premises)


def read_chains(path: Path, graph: Store) -> list[CausalChain]:
    """Our chains, one a line. Raises CorpusError where the file is none of chains, or a step is not in the graph."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        chains = [TypeAdapter(CausalChain).validate_json(line) for line in lines]
    except (OSError, ValueError) as error:
        raise CorpusError(f"{path} holds no chains ({one_line(str(error), 160)}); give one in JSON a line") from None
    for chain in chains:
        for step in chain.premises:
            if not graph.triples(step.subject, step.predicate, step.object):
                raise CorpusError(f"{path}: the chain {chain.id} has a step that the graph lacks: {step.text}")
    return chains


def read_recorded(path: Path) -> list[CausalChain]:
    """The recorded chains of an earlier study, without contradictions, which stand in no prompt. Raises CorpusError."""
    try:
        return [_recorded(record) for record in json.loads(path.read_text(encoding="utf-8"))["chains"]]
    except FileNotFoundError:
        raise CorpusError(f"{path} does not exist; name the file of recorded chains") from None
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise CorpusError(f"{path} holds no recorded chains ({type(error).__name__}: {error})") from None


def recorded_graph(chains: Iterable[CausalChain]) -> list[Triple]:
    """Build a graph of its own from what chains state: a type and a name for each thing, and the edges, no loops."""
    triples: dict[Triple, None] = {}
    for chain in chains:
        for step in chain.premises:
            for node in (step.subject, step.object):
                triples[Triple(node, TYPE, FACTOR)] = None
                triples[Triple(node, LABEL, Text(node.value.removeprefix(RECORDED).replace("_", " ")))] = None
            if step.subject != step.object:
                triples[Triple(step.subject, step.predicate, step.object)] = None
    return list(triples)


def _recorded(record: Mapping[str, Any]) -> CausalChain:
    steps = tuple(_recorded_step(step) for step in record["steps"])
    predicate = RAISES if prod(SIGNS[step.predicate] for step in steps) > 0 else LOWERS
    words = f"{record['initial_premise']} leads to {record['final_conclusion']}"
    return CausalChain(
        id=record["chain_id"],
        domain=record["domain"],
        premises=steps,
        conclusion=ChainStep(steps[0].subject, predicate, steps[-1].object, words),
        prompt=record["prompt"],
        paraphrases=tuple(Paraphrase(_RECORDED_KINDS[p["type"]], p["perturbed"]) for p in record["perturbations"]),
    )


def _recorded_step(step: Mapping[str, str]) -> ChainStep:
    cause, effect = (_recorded_thing(step[key]) for key in ("antecedent", "consequent"))
    return ChainStep(cause[0], RAISES if cause[1] == effect[1] else LOWERS, effect[0], step["natural_language"])


def _recorded_thing(phrase: str) -> tuple[NamedNode, bool]:
    """The thing that a phrase is about, and whether it goes down; what stays the same is a thing of its own."""
    state = state_of(phrase)
    name = phrase.casefold() if state.direction == "steady" else state.core
    return NamedNode(RECORDED + re.sub(r"[^\w-]+", "_", name)), (state.direction == "down") != state.negative
