"""Check that the shapes of a domain do what its constraints say.

Each is tried on the smallest graph that breaks it. A shape that stays silent there can never fire. One that finds
something in the part of the graph that breaks nothing fires too often. Both are reported in one sentence each.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.graph import SECONDS, TYPE, EmbeddedStore
from ovrag_studies.abstention.knowledge.domain import Constraint, Domain, Predicate
from ovrag_studies.abstention.licensing.rechecking import DIFFERENT

_A, _B, _C = (NamedNode(f"urn:example:{letter}") for letter in "abc")


def shape_problems(domain: Domain) -> list[str]:
    """List the faults of the shapes, a sentence each. Raises OntologyError where they cannot be read at all."""
    problems: list[str] = []
    for predicate in domain.predicates.values():
        for name, constraint in predicate.constraints.items():
            problem = _problem(domain, predicate, constraint)
            if problem:
                problems.append(
                    f"{domain.shapes}: the shape {constraint.shape} behind {predicate.name}.{name} {problem}"
                )
    return problems


def _problem(domain: Domain, predicate: Predicate, constraint: Constraint) -> str | None:
    witness = _witness(domain, predicate, constraint)
    if witness is None:
        return f"can never fire: no class of the domain is disjoint with {constraint.of}"
    facts, breaking = witness
    if not _fires(domain, constraint, [*facts, *breaking]):
        return f"can never fire: it finds nothing where {constraint.kind} is broken"
    if _fires(domain, constraint, facts):
        return f"fires where nothing is broken: it is stricter than {constraint.kind}"
    return None


def _fires(domain: Domain, constraint: Constraint, triples: Sequence[Triple]) -> bool:
    store = EmbeddedStore([*triples, *domain.hierarchy], seconds=SECONDS)
    return bool(domain.shape_set.violations(store, [constraint.shape]))


def _witness(domain: Domain, predicate: Predicate, constraint: Constraint) -> tuple[list[Triple], list[Triple]] | None:
    """Facts that break nothing, and those that break the constraint together with them."""
    iri = NamedNode(predicate.iri)
    if constraint.kind == "functional":
        return _two_objects(domain, predicate, constraint)
    if constraint.kind == "asymmetric":
        return [Triple(_C, iri, _A), Triple(_A, iri, _B)], [Triple(_B, iri, _A)]
    if constraint.kind == "acyclic":
        return [Triple(_A, iri, _B), Triple(_B, iri, _C)], [Triple(_C, iri, _A)]
    if constraint.kind == "disjoint":
        other_iri = NamedNode(domain.predicates[str(constraint.other)].iri)
        return [Triple(_A, other_iri, _B)], [Triple(_A, iri, _B)]
    against = next((name for name in domain.classes if domain.are_disjoint(name, str(constraint.of))), None)
    if against is None:
        return None
    node = _A if constraint.kind == "subject" else _B
    right, wrong = (Triple(node, TYPE, domain.class_iri(name)) for name in (str(constraint.of), against))
    return [Triple(_A, iri, _B), right], [wrong]


def _two_objects(domain: Domain, predicate: Predicate, constraint: Constraint) -> tuple[list[Triple], list[Triple]]:
    iri = NamedNode(predicate.iri)
    if predicate.values != "thing":
        return [Triple(_A, iri, Literal("1"))], [Triple(_A, iri, Literal("2"))]
    classes = [Triple(node, TYPE, domain.class_iri(constraint.of)) for node in (_B, _C) if constraint.of]
    apart = [Triple(_B, DIFFERENT, _C), Triple(_C, DIFFERENT, _B)]
    return [*classes, Triple(_A, iri, _B), Triple(_A, iri, _C)], apart
