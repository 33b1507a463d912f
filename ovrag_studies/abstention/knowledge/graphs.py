"""A graph opened with its domain: what it lacks of it, and which of its facts contradict each other."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from ovrag_core.base import GraphError, Unchecked
from ovrag_core.graph import EmbeddedStore, Store, open_graph
from ovrag_core.text import one_line
from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.knowledge.known import Known, clash
from ovrag_studies.abstention.knowledge.likeness import local_name

if TYPE_CHECKING:
    from ovrag_core.graph import EndpointStore

_USED = "ASK { ?s ?p ?o }"
_PREDICATES = "SELECT DISTINCT ?p WHERE { ?s ?p ?o }"
_NEAR = 5  # predicates that a message names


def open_with_domain(
    source: str | Path | Sequence[Path], domain: Domain, hidden: frozenset[str] = frozenset()
) -> EmbeddedStore | EndpointStore:
    """The graph at `source` (see `open_graph`).

    Raises GraphError for a graph that has none of the domain's predicates, naming the nearest that it has.
    """
    store = open_graph(str(source) if isinstance(source, Path) else source, domain.table, hidden)
    if any(store.ask(_USED, {"p": NamedNode(predicate.iri)}) for predicate in domain.predicates.values()):
        return store
    expected = next(iter(domain.predicates.values()))
    lacking = f"the graph has no {expected.iri}, which is {expected.name} in {domain.name}"
    try:
        iris = sorted(row["p"].value for row in store.select(_PREDICATES) if isinstance(row["p"], NamedNode))
    except Unchecked:
        raise GraphError(f"{lacking}; which predicates it has, it does not say") from None
    if not iris:
        raise GraphError(f"{lacking}; it is empty")
    by_name = {local_name(iri): iri for iri in iris}
    near = difflib.get_close_matches(local_name(expected.iri), list(by_name), n=_NEAR, cutoff=0.4) or sorted(by_name)
    raise GraphError(f"{lacking}; near it: {', '.join(one_line(by_name[name], 100) for name in near[:_NEAR])}")


def violations(store: Store, domain: Domain) -> list[str]:
    """List the contradictions in the graph, a sentence for each subject and predicate."""
    contradictions: list[str] = []
    for predicate in domain.predicates.values():
        known = Known(store, domain, predicate)
        subjects = {t.subject for t in store.triples(None, known.iri) if isinstance(t.subject, NamedNode)}
        sentences = (clash(subject, known) for subject in sorted(subjects, key=str))
        contradictions += [sentence for sentence in sentences if sentence]
    return contradictions
