"""Chains of an earlier study as they were recorded, and the graph that they state."""

import json
import re
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path

from pyoxigraph import Literal as Text
from pyoxigraph import NamedNode, Triple

from ovrag_core.base import CorpusError
from ovrag_core.graph import LABEL, TYPE
from ovrag_studies.causal.chains.chain_generation import CausalChain, ChainStep, Paraphrase, ParaphraseKind
from ovrag_studies.causal.graphs.causal_terms import FACTOR, LOWERS, RAISES, SIGNS
from ovrag_studies.causal.language.directions import state_of

RECORDED = "urn:ovrag:causal:recorded#"
_RECORDED_KINDS: dict[str, ParaphraseKind] = {
    "paraphrase": "relation",
    "synonym": "synonym",
    "reordering": "order",
    "double_negation": "double negation",
}


def read_recorded(path: Path) -> list[CausalChain]:
    """The chains of an earlier study as they were recorded, over things named by their own phrases.

    Their contradictions stand in no prompt, and are left out. Raises CorpusError where the file is none.
    """
    try:
        records = json.loads(path.read_text(encoding="utf-8"))["chains"]
        return [_recorded(record) for record in records]
    except FileNotFoundError:
        raise CorpusError(f"{path} does not exist; name the file of recorded chains") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
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


def _recorded(record: Mapping[str, object]) -> CausalChain:
    premise, final, prompt = (str(record[key]) for key in ("initial_premise", "final_conclusion", "prompt"))
    steps = tuple(_recorded_step(step) for step in _records(record["steps"]))
    predicate = RAISES if prod(SIGNS[step.predicate] for step in steps) > 0 else LOWERS
    return CausalChain(
        id=str(record["chain_id"]),
        domain=str(record["domain"]),
        depth=len(steps),
        premises=steps,
        conclusion=ChainStep(steps[0].subject, predicate, steps[-1].object, f"{premise} leads to {final}"),
        prompt=prompt,
        paraphrases=tuple(
            Paraphrase(_RECORDED_KINDS[str(perturbation["type"])], str(perturbation["perturbed"]))
            for perturbation in _records(record["perturbations"])
        ),
        contradictions=(),
    )


def _records(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, list) or not all(isinstance(record, dict) for record in value):
        raise ValueError("a list of records is expected")
    return value


def _recorded_step(step: Mapping[str, object]) -> ChainStep:
    cause, effect = (_recorded_thing(str(step[key])) for key in ("antecedent", "consequent"))
    return ChainStep(cause[0], RAISES if cause[1] == effect[1] else LOWERS, effect[0], str(step["natural_language"]))


def _recorded_thing(phrase: str) -> tuple[NamedNode, bool]:
    """The thing that a phrase is about, and whether it goes down; what stays the same is a thing of its own."""
    state = state_of(phrase)
    name = phrase.casefold() if state.direction == "steady" else state.core
    return NamedNode(RECORDED + re.sub(r"[^\w-]+", "_", name)), (state.direction == "down") != state.negative
