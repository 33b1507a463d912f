"""The store that the settings ask for: the causal graph in this process, or a SPARQL endpoint."""

from typing import TypeVar

from pyoxigraph import Literal, NamedNode

from ovrag_core.base import project_file
from ovrag_core.graph import EmbeddedStore, Store, load_graph, open_graph
from ovrag_studies.causal.settings import Causal

Kind = TypeVar("Kind", NamedNode, Literal)


def open_store(options: Causal, graph: str | None = None) -> Store:
    """The store to check statements in; `graph` is another file, or the address of an endpoint."""
    if graph is None and options.store.at == "embedded":
        return open_graph_file(options)
    return open_graph(graph or options.store.at, attempts=options.store.attempts)


def open_graph_file(options: Causal) -> EmbeddedStore:
    """The causal graph of the settings, whatever store is asked."""
    return load_graph(project_file(options.data.graph))


def pairs_of(store: Store, predicate: NamedNode, kind: type[Kind]) -> list[tuple[NamedNode, Kind]]:
    """Return subject and object of each triple of a predicate between a thing and a `kind`, in no order."""
    return [
        (triple.subject, triple.object)
        for triple in store.triples(None, predicate)
        if isinstance(triple.subject, NamedNode) and isinstance(triple.object, kind)
    ]
