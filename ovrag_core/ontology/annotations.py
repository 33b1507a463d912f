"""Annotations of the vocabulary (`ovr:`) whose name or value nothing would read: most are slips of the pen."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rdflib import OWL, RDF, Graph
from rdflib.term import Node

from ovrag_core.ontology.rules import RULE
from ovrag_core.ontology.typed_values import KINDS

_BOOLEANS = frozenset({"true", "false"})


class UnknownTerm(NamedTuple):
    """Pattern of the statements that hold an unknown term, and a clause that names it and those that are known."""

    pattern: tuple[None, Node, Node | None]
    clause: str


def unknown_terms(graph: Graph) -> Iterator[UnknownTerm]:
    """Yield annotations that the vocabulary does not declare, then values outside a closed set of them.

    Clash types are a closed set where an `owl:Ontology` lists them.
    """
    declared = {node for node in graph.subjects(RDF.type, OWL.AnnotationProperty) if str(node) in RULE}
    undeclared = {node for node in graph.predicates() if str(node) in RULE} - declared
    for node in sorted(undeclared, key=str) if declared else ():
        clause = f"ovr:{_name(node)} is no annotation; known are {_listed(map(_name, declared))}"
        yield UnknownTerm((None, node, None), clause)
    ontologies = graph.subjects(RDF.type, OWL.Ontology)
    listed = {str(value) for ontology in ontologies for value in graph.objects(ontology, RULE.clashType)}
    closed = {RULE.clashType: listed, RULE.values: KINDS, RULE.supporting: _BOOLEANS, RULE.withoutSuffix: _BOOLEANS}
    for annotation, known in closed.items():
        for value in sorted(graph.objects(None, annotation, unique=True), key=str):
            if known and str(value) not in known:
                clause = f'ovr:{_name(annotation)} "{value}" is unknown; known are {_listed(known)}'
                yield UnknownTerm((None, annotation, value), clause)


def _name(annotation: Node) -> str:
    return str(annotation).removeprefix(str(RULE))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
