"""A graph opened with its domain: what it lacks of it, and which of its facts contradict each other."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from ovrag_core.base import GraphError, Unchecked
from ovrag_core.graph import EmbeddedStore, Store, open_graph
from ovrag_core.text import one_line
from ovrag_studies.abstention.knowledge.domain import Domain, Predicate
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
    """The graph at `source` (see `open_graph`), its report with the facts that break a constraint of the domain.

    Raises GraphError for a graph that has none of the domain's predicates, naming the nearest that it has.
    """
    store = open_graph(str(source) if isinstance(source, Path) else source, domain.table, hidden)
    if not any(store.ask(_USED, {"p": NamedNode(each.iri)}) for each in domain.predicates.values()):
        require(store, domain, next(iter(domain.predicates)))
    if isinstance(store, EmbeddedStore):
        store.report = replace(store.report, violations=tuple(violations(store, domain)))
    return store


def require(store: Store, domain: Domain, name: str) -> Predicate:
    """The predicate of that name, chain or IRI. Raises GraphError, naming the nearest, where the graph has none of it.

    Raises DomainError where the domain has not.
    """
    predicate = domain.predicate(name)
    if store.ask(_USED, {"p": NamedNode(predicate.iri)}):
        return predicate
    lacking = f"the graph has no {predicate.iri}, which is {predicate.name} in {domain.name}"
    try:
        iris = sorted(row["p"].value for row in store.select(_PREDICATES) if isinstance(row["p"], NamedNode))
    except Unchecked:
        raise GraphError(f"{lacking}; which predicates it has, it does not say") from None
    if not iris:
        raise GraphError(f"{lacking}; it is empty")
    by_name = {local_name(iri): iri for iri in iris}
    near = difflib.get_close_matches(local_name(predicate.iri), list(by_name), n=_NEAR, cutoff=0.4) or sorted(by_name)
    raise GraphError(f"{lacking}; near it: {', '.join(one_line(by_name[each], 100) for each in near[:_NEAR])}")


def violations(store: Store, domain: Domain) -> list[str]:
    """What in the graph contradicts itself, a sentence for each subject and predicate."""
    found: list[str] = []
    for predicate in domain.predicates.values():
        known = Known(store, domain, predicate)
        suspects = {subject for query in _suspicious(predicate, domain) for subject in _subjects(store, query)}
        suspects |= set(known.returning()) if any(known.constraints("acyclic")) else set()
        sentences = (clash(subject, known) for subject in sorted(suspects, key=str))
        found += [sentence for sentence in sentences if sentence]
    return found


def _suspicious(predicate: Predicate, domain: Domain) -> Iterator[str]:
    """Queries for the subjects that may break a constraint, so that not all of them need to be looked at."""
    of = NamedNode(predicate.iri)
    apart = ((one, other) for one, other in combinations(domain.classes, 2) if domain.are_disjoint(one, other))
    if torn := " ".join(f"({domain.class_iri(one)} {domain.class_iri(other)})" for one, other in apart):
        for node in ("?s", "?a"):
            yield f"SELECT DISTINCT ?s WHERE {{ VALUES (?c ?d) {{ {torn} }} {node} a ?c , ?d . ?s {of} ?a }}"
    for each in predicate.constraints.values():
        if each.kind == "functional":
            yield f"SELECT ?s WHERE {{ ?s {of} ?a }} GROUP BY ?s HAVING (COUNT(DISTINCT ?a) > 1)"
        elif each.kind == "asymmetric":
            yield f"SELECT DISTINCT ?s WHERE {{ ?s {of} ?a . ?a {of} ?s }}"
        elif each.kind == "disjoint":
            other = NamedNode(domain.predicates[str(each.other)].iri)
            yield f"SELECT DISTINCT ?s WHERE {{ ?s {of} ?a ; {other} ?a }}"
        elif each.kind in ("subject", "object"):
            node = "?s" if each.kind == "subject" else "?a"
            against = [name for name in domain.classes if domain.are_disjoint(name, str(each.of))]
            classes = " ".join(str(domain.class_iri(name)) for name in against)
            yield f"SELECT DISTINCT ?s WHERE {{ VALUES ?class {{ {classes} }} ?s {of} ?a . {node} a ?class }}"


def _subjects(store: Store, query: str) -> list[NamedNode]:
    return [node for row in store.select(query) if isinstance(node := row["s"], NamedNode)]
