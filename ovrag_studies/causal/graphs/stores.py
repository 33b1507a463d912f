"""The store that the settings ask for: the causal graph in this process, or a SPARQL endpoint."""

from __future__ import annotations

from pyoxigraph import NamedNode

from ovrag_core.base import project_file
from ovrag_core.graph import EmbeddedStore, Store, load_graph, open_graph
from ovrag_studies.causal.settings import Causal


def open_store(options: Causal, graph: str | None = None) -> Store:
    """The store to check statements in; `graph` is another file, or the address of an endpoint."""
    store_options = options.store
    source = graph or (None if store_options.at == "embedded" else store_options.at)
    if source is None:
        return open_graph_file(options)
    return open_graph(source, graph=store_options.graph, seconds=store_options.seconds, attempts=store_options.attempts)


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
