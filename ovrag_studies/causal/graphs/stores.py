"""The store that the settings ask for: the causal graph in this process, or a SPARQL endpoint."""

from pyoxigraph import Literal, NamedNode

from ovrag_core.base import project_file
from ovrag_core.graph import EmbeddedStore, Store, load_graph, open_graph
from ovrag_studies.causal.settings import Causal


def open_store(options: Causal, graph: str | None = None) -> Store:
    """The store to check statements in; `graph` is another file, or the address of an endpoint."""
    endpoint = options.store
    if graph is None and endpoint.at == "embedded":
        return open_graph_file(options)
    return open_graph(graph or endpoint.at, graph=endpoint.graph, seconds=endpoint.seconds, attempts=endpoint.attempts)


def open_graph_file(options: Causal) -> EmbeddedStore:
    """The causal graph of the settings, whatever store is asked."""
    return load_graph(project_file(options.data.graph))


def linked_pairs(store: Store, predicate: NamedNode) -> list[tuple[NamedNode, NamedNode]]:
    """Return subject and object of each triple of a predicate between two things, in a fixed order."""
    pairs = [
        (triple.subject, triple.object)
        for triple in store.triples(None, predicate)
        if isinstance(triple.subject, NamedNode) and isinstance(triple.object, NamedNode)
    ]
    return sorted(pairs, key=str)


def named_things(store: Store, predicate: NamedNode) -> list[tuple[NamedNode, Literal]]:
    """Return subject and object of each triple of a predicate between a thing and a text, in no order."""
    return [
        (triple.subject, triple.object)
        for triple in store.triples(None, predicate)
        if isinstance(triple.subject, NamedNode) and isinstance(triple.object, Literal)
    ]
