"""Our evaluator of shapes against pyshacl, over random ABoxes."""

import random
from pathlib import Path

import pyshacl
from aboxes import random_triples
from rdflib import RDF, RDFS, Graph, URIRef
from rdflib import Literal as Text

from ovrag_core.loop.closed_world import ClosedWorld
from ovrag_core.ontology.assertions import ABox, assert_triples
from ovrag_core.ontology.load import Ontology, load_ontology
from ovrag_core.ontology.rules import RULE, SH
from ovrag_core.ontology.typed_values import Value


def _graph(abox: ABox, ontology: Ontology) -> Graph:
    graph = Graph()
    for one, above in ontology.graph.subject_objects(RDFS.subClassOf):
        if isinstance(above, URIRef):
            graph.add((one, RDFS.subClassOf, above))
    for fact in abox.facts:
        subject = URIRef(f"urn:i{fact.subject}")
        if fact.kind == "class":
            graph.add((subject, RDF.type, URIRef(fact.term)))
        elif isinstance(fact.object, Value):
            graph.add((subject, URIRef(fact.term), Text(fact.object.lexical, datatype=URIRef(fact.object.datatype))))
        else:
            graph.add((subject, URIRef(fact.term), URIRef(f"urn:i{fact.object}")))
    return graph


def _by_pyshacl(abox: ABox, ontology: Ontology) -> set[tuple[int, str]]:
    _, report, _ = pyshacl.validate(_graph(abox, ontology), shacl_graph=ontology.graph, allow_warnings=False)
    found = set()
    for result in report.subjects(RDF.type, SH.ValidationResult):
        focus = str(report.value(result, SH.focusNode)).removeprefix("urn:i")
        rule = ontology.graph.value(report.value(result, SH.sourceShape), RULE.rule)
        found.add((int(focus), str(rule)))
    return found


def test_every_shape_agrees_with_pyshacl(project: Path) -> None:
    ontology = load_ontology(project / "ontologies")
    closed_world = ClosedWorld(ontology)
    chance = random.Random(3)
    seen: set[str] = set()
    for _ in range(60):
        abox = assert_triples(random_triples(chance), ontology)
        ours = {(failure.focus, failure.rule) for failure in closed_world.failures(list(abox.facts))}
        assert ours == _by_pyshacl(abox, ontology)
        seen |= {rule for _, rule in ours}
    assert {rule.id for rule in ontology.rules if rule.form == "shape"} - seen <= {
        "term_positive",
        "balance_not_negative",
    }
