"""Clusters of cards that are not independent: those about things that a predicate with a chain joins."""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import Literal, NamedNode

from ovrag_core.graph import Store
from ovrag_studies.abstention.knowledge.domain import Domain, Predicate
from ovrag_studies.abstention.knowledge.known import Known


def clusters(store: Store, domain: Domain) -> dict[str, str]:
    """The name of the cluster of each subject, by IRI; give the whole graph, with hidden facts.

    Where a predicate has a chain, its facts join things; not through things of a class in which chains end, nor through
    what is not of the class that a functional constraint counts, as those have many chains in common that share nothing
    else. Any other subject is a cluster of its own. Raises Unchecked where the store gives no answer.
    """
    import networkx  # noqa: PLC0415 - takes a tenth of a second to load

    joined = networkx.Graph()
    sinks: set[str] = set()
    alone: dict[str, str] = {}
    for predicate in domain.predicates.values():
        for subject, value in _pairs(store, predicate):
            alone[subject.value] = subject.value
            if predicate.chain:
                joined.add_edge(subject.value, value.value)
        sinks |= _sinks(store, domain, predicate) if predicate.chain else set()
    joined.remove_nodes_from(sinks)
    return alone | {node: min(component) for component in networkx.connected_components(joined) for node in component}


def _sinks(store: Store, domain: Domain, predicate: Predicate) -> set[str]:
    known = Known(store, domain, predicate)
    ends = predicate.chain.ends_in if predicate.chain else ()
    counted = [c.of for c in predicate.constraints.values() if c.kind == "functional" and c.of]
    sinks: set[str] = set()
    for value in {value for _, value in _pairs(store, predicate)}:
        thing = known.thing(value)
        is_end = any(known.is_a(thing, end) for end in ends)
        if is_end or (counted and not any(known.is_a(thing, class_) for class_ in counted)):
            sinks.add(value.value)
    return sinks


def _pairs(store: Store, predicate: Predicate) -> Iterator[tuple[NamedNode, NamedNode | Literal]]:
    for fact in store.triples(None, NamedNode(predicate.iri)):
        if isinstance(fact.subject, NamedNode) and isinstance(fact.object, NamedNode | Literal):
            yield fact.subject, fact.object
