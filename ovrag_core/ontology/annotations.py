"""Names and values in an ontology that nothing would read: most are slips of the pen."""

import difflib
import re
from collections.abc import Collection, Iterator

from rdflib import OWL, RDF, RDFS, XSD, Graph, URIRef
from rdflib.term import Node

from ovrag_core.ontology.rules import RULE, SH
from ovrag_core.ontology.typed_values import KINDS

_BUILT_IN = tuple(map(str, (RDF, RDFS, OWL, XSD)))
_OF_RULES = (OWL.annotatedSource, OWL.annotatedTarget)
_BETWEEN_TERMS = (  # predicates of classes and properties; with lists, as of disjoint classes
    *(RDFS[name] for name in ("subClassOf", "subPropertyOf", "domain", "range")),
    *(OWL[name] for name in ("disjointWith", "equivalentClass", "complementOf", "inverseOf", "onProperty", "onClass")),
    *(OWL[name] for name in ("allValuesFrom", "someValuesFrom", "equivalentProperty", "propertyDisjointWith")),
    *(RDF.type, RDF.first, RULE.currency),
)
_TO_TERMS = tuple(
    SH[name] for name in ("path", "class", "lessThan", "targetClass", "targetObjectsOf", "targetSubjectsOf")
)
_BOOLEANS = frozenset({"true", "false"})
Unknown = tuple[tuple[Node | None, Node | None, Node | None], str]  # pattern of the statements that hold it; a clause


def unknown_terms(graph: Graph) -> Iterator[Unknown]:
    """Yield annotations that the vocabulary does not declare, then values outside a closed set of them.

    Of each comes the pattern of the statements that hold it, and a clause that names it and those that are known.
    Clash types are a closed set where an `owl:Ontology` lists them.
    """
    declared = {node for node in graph.subjects(RDF.type, OWL.AnnotationProperty) if str(node) in RULE}
    undeclared = {node for node in graph.predicates() if str(node) in RULE} - declared
    for node in sorted(undeclared, key=str) if declared else ():
        clause = f"ovr:{_name(node)} is no annotation; known are {', '.join(sorted(map(_name, declared)))}"
        yield (None, node, None), clause
    ontologies = graph.subjects(RDF.type, OWL.Ontology)
    listed = {str(value) for ontology in ontologies for value in graph.objects(ontology, RULE.clashType)}
    closed = {RULE.clashType: listed, RULE.values: KINDS, RULE.supporting: _BOOLEANS, RULE.withoutSuffix: _BOOLEANS}
    for annotation, known in closed.items():
        for value in sorted(graph.objects(None, annotation, unique=True), key=str):
            if known and str(value) not in known:
                clause = f'ovr:{_name(annotation)} "{value}" is unknown; known are {", ".join(sorted(known))}'
                yield (None, annotation, value), clause


def unknown_names(graph: Graph, terms: Collection[str]) -> Iterator[Unknown]:
    """Yield classes and properties that axioms or shapes use, and that are none of the declared `terms` (IRIs).

    A name of a foreign namespace may be declared elsewhere, but not one of an axiom that states a rule.
    """
    iris = {_local(iri): iri for iri in terms}
    namespaces = {iri.removesuffix(name) for name, iri in iris.items()}
    for name in sorted(_used(graph) - set(graph.subjects(RDF.type)), key=str):
        is_foreign = str(name).removesuffix(_local(name)) not in namespaces
        if str(name).startswith(_BUILT_IN) or (is_foreign and not _is_of_rule(graph, name)):
            continue
        near = difflib.get_close_matches(_local(name), iris, n=1)
        hint = f"; did you mean {iris[near[0]]}?" if near else "; declare it, or mend its name"
        pattern = (None, None, name) if (None, None, name) in graph else (name, None, None)
        yield pattern, f"{name} is used, but declared nowhere{hint}"


def _used(graph: Graph) -> set[Node]:
    """Names that stand where a class or a property does."""
    subjects = {subject for subject, predicate, _ in graph if predicate in _BETWEEN_TERMS}
    objects = {value for _, predicate, value in graph if predicate in (*_BETWEEN_TERMS, *_TO_TERMS, *_OF_RULES)}
    return {node for node in subjects | objects if isinstance(node, URIRef)}


def _is_of_rule(graph: Graph, name: Node) -> bool:
    axioms = (axiom for predicate in _OF_RULES for axiom in graph.subjects(predicate, name))
    return any((axiom, RULE.rule, None) in graph for axiom in axioms)


def _local(iri: Node | str) -> str:
    return re.split(r"[#/:]", str(iri))[-1]


def _name(annotation: Node) -> str:
    return str(annotation).removeprefix(str(RULE))
