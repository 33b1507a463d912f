"""The causal vocabulary, which `data/samples/causal/graph.ttl` declares and uses, and the stores of the settings.

`raises` and `lowers` are signed effects, disjoint, and parts of `affects`, which has no circle; `has no effect on` is
disjoint with all of them. Everything else is unknown: a triple that is missing says nothing.
"""

from collections.abc import Mapping
from typing import TypeVar

from pyoxigraph import Literal, NamedNode

from ovrag_core.base import project_file
from ovrag_core.graph import Store, load_graph, open_graph
from ovrag_studies.causal.settings import Causal

NAMESPACE = "urn:ovrag:causal#"
FACTOR = NamedNode(NAMESPACE + "Factor")

RAISES = NamedNode(NAMESPACE + "raises")
LOWERS = NamedNode(NAMESPACE + "lowers")
AFFECTS = NamedNode(NAMESPACE + "affects")
NO_EFFECT_ON = NamedNode(NAMESPACE + "noEffectOn")
STATED = (RAISES, LOWERS, AFFECTS, NO_EFFECT_ON)  # what a graph may state of an effect
SIGNS: Mapping[NamedNode, int] = {RAISES: 1, LOWERS: -1}

ALT_LABEL = NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")
RISE_LABEL = NamedNode(NAMESPACE + "riseLabel")  # a name for more of it: "warming" of a temperature
FALL_LABEL = NamedNode(NAMESPACE + "fallLabel")

Kind = TypeVar("Kind", NamedNode, Literal)


def open_store(options: Causal, graph: str | None = None) -> Store:
    """The store to check statements in; `graph` is another file, or the address of an endpoint."""
    if graph is None and options.store.at == "embedded":
        return load_graph(project_file(options.data.graph))
    return open_graph(graph or options.store.at, attempts=options.store.attempts)


def pairs_of(store: Store, predicate: NamedNode, kind: type[Kind]) -> list[tuple[NamedNode, Kind]]:
    """Return subject and object of each triple of a predicate between a thing and a `kind`, in no order."""
    return [
        (triple.subject, triple.object)
        for triple in store.triples(None, predicate)
        if isinstance(triple.subject, NamedNode) and isinstance(triple.object, kind)
    ]
