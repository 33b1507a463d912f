"""The store that the settings ask for: the causal graph in this process, or a SPARQL endpoint."""

from __future__ import annotations

from pathlib import Path

from ovrag_core.base.project import project_file
from ovrag_core.graph import EmbeddedStore, Store, load_graph
from ovrag_studies.causal.settings import Causal


def open_store(options: Causal, graph: str | None = None) -> Store:
    """The store to check statements in; `graph` is another file, or the address of an endpoint."""
    named = graph or (None if options.store.at == "embedded" else options.store.at)
    if named and "://" in named:
        from ovrag_core.graph.endpoint import EndpointStore  # noqa: PLC0415 - files need no HTTP, which loads slowly

        given = options.store
        return EndpointStore(named, graph=given.graph, seconds=given.seconds, attempts=given.attempts)
    return load_graph(Path(named)) if named else open_graph_file(options)


def open_graph_file(options: Causal) -> EmbeddedStore:
    """The causal graph of the settings, whatever store is asked."""
    return load_graph(project_file(options.data.graph))
