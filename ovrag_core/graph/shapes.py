"""SHACL shapes (https://www.w3.org/TR/shacl/) over a graph: all of SHACL by pyshacl, SPARQL constraints by the store.

A SPARQL constraint is a query that gives back what breaks it, so that a store can answer it in microseconds where a
general SHACL engine takes a tenth of a second; the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize
from rdflib import RDF, Graph, URIRef
from rdflib import Literal as RdflibLiteral
from rdflib.term import Node

from ovrag_core.errors import GraphError, OntologyError
from ovrag_core.graph.loading import parse_file
from ovrag_core.graph.query import Term, check, iris, undeclared_prefixes
from ovrag_core.graph.store import EmbeddedStore, Store
from ovrag_core.lines import one_line

SH = "http://www.w3.org/ns/shacl#"
_TARGETS = {
    "targetSubjectsOf": "SELECT DISTINCT ?this WHERE { ?this ?of ?value }",
    "targetObjectsOf": "SELECT DISTINCT ?this WHERE { ?value ?of ?this }",
    "targetClass": "SELECT DISTINCT ?this WHERE { ?this a/<http://www.w3.org/2000/01/rdf-schema#subClassOf>* ?of }",
}
SECONDS = 10.0  # for a query of a shape, which another has written
_W3C = "http://www.w3.org/"


@dataclass(frozen=True, slots=True)
class Violation:
    """What a shape finds at a node: the value that breaks it, where the shape names one."""

    shape: str
    focus: Term
    value: Term | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """A node shape. `targets` are pairs of a target's kind and IRI, `selects` its SPARQL constraints with prefixes.

    `whole` says whether those are all that the shape asks for.
    """

    iri: str
    targets: tuple[tuple[str, NamedNode], ...]
    selects: tuple[str, ...]
    whole: bool


class Shapes:
    """The shapes of a file, by their IRIs.

    Raises OntologyError, with the file, for shapes that do not parse (with the line), use a prefix that is not
    declared, reach out of the graph, or of which there are none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._graph = _rdflib(parse_file(path, OntologyError))
        self._refuse_reaching_out()
        self.shapes = {shape.iri: shape for shape in self._read()}
        if not self.shapes:
            raise OntologyError(f"{path} holds no shape with a target; give one, or leave the file out")

    def violations(self, store: Store, only: Iterable[str] | None = None) -> list[Violation]:
        """What breaks the shapes (those of the IRIs in `only`), by their SPARQL constraints."""
        chosen = self.shapes if only is None else only
        found = {each: None for iri in chosen for each in self._broken(self.shapes[iri], store)}
        return sorted(found, key=str)

    def validate(self, triples: Iterable[Triple]) -> list[Violation]:
        """What breaks the shapes, by pyshacl: slower, and for shapes of every kind."""
        import pyshacl  # noqa: PLC0415 - takes a second to load

        try:
            _, report, _ = pyshacl.validate(_rdflib(triples), shacl_graph=self._graph, inplace=True)
        except (pyshacl.errors.ReportableRuntimeError, pyshacl.errors.ValidationFailure, ValueError) as error:
            raise OntologyError(f"{self.path}: the shapes cannot be applied ({one_line(str(error), 160)})") from None
        if not isinstance(report, Graph):
            raise OntologyError(f"{self.path}: the shapes cannot be applied ({one_line(str(report), 160)})")
        found = {
            self._result(report, node): None for node in report.subjects(RDF.type, URIRef(SH + "ValidationResult"))
        }
        return sorted(found, key=str)

    def unreachable(self, known: frozenset[str]) -> dict[str, str]:
        """Shapes that can never fire on a graph of the IRIs in `known`, each with what it asks for in vain."""
        found: dict[str, str] = {}
        for shape in self.shapes.values():
            asked = {target.value for _, target in shape.targets}
            asked |= {iri for text in shape.selects for iri in iris(text)}
            missing = sorted(iri for iri in asked if iri not in known and not iri.startswith(_W3C))
            if missing:
                found[shape.iri] = missing[0]
        return found

    def _broken(self, shape: Shape, store: Store) -> Iterable[Violation]:
        if not shape.whole:
            raise OntologyError(
                f"{self.path}: the shape {shape.iri} asks for more than a SPARQL constraint; state it as sh:sparql"
            )
        for kind, of in shape.targets:
            for focus in store.select(_TARGETS[kind], {"of": of}):
                for select in shape.selects:
                    for row in store.select(select, {"this": focus["this"]}):
                        yield Violation(shape.iri, focus["this"], row.get("value"))

    def _refuse_reaching_out(self) -> None:
        """Wherever a query stands in the file: a general engine would run it."""
        for form in ("select", "ask", "construct"):
            for text in self._graph.objects(None, URIRef(SH + form)):
                try:
                    check(str(text), form.upper())
                except GraphError as error:
                    raise OntologyError(f"{self.path}: a sh:{form}: {error}") from None

    def _read(self) -> Iterable[Shape]:
        kinds = {URIRef(SH + kind): kind for kind in _TARGETS}
        nodes = {node for target in kinds for node in self._graph.subjects(target)}
        for node in sorted(nodes, key=str):
            if self._graph.value(node, URIRef(SH + "deactivated")) == RdflibLiteral(True):
                continue
            targets = [
                (kind, NamedNode(str(of))) for target, kind in kinds.items() for of in self._graph.objects(node, target)
            ]
            selects = [self._select(node, each) for each in self._graph.objects(node, URIRef(SH + "sparql"))]
            asked = {str(each).removeprefix(SH) for each in self._graph.predicates(node) if str(each).startswith(SH)}
            whole = asked <= {*_TARGETS, "sparql", "message", "severity", "name", "description"}
            yield Shape(str(node), tuple(sorted(targets, key=str)), tuple(sorted(selects)), whole)

    def _select(self, shape: Node, constraint: Node) -> str:
        text = self._graph.value(constraint, URIRef(SH + "select"))
        if text is None:
            raise OntologyError(f"{self.path}: a sh:sparql of the shape {shape} has no sh:select; add it")
        query = "".join(self._prefixes(constraint)) + str(text).strip()
        if undeclared := undeclared_prefixes(query):
            raise OntologyError(
                f"{self.path}: the shape {shape} uses {undeclared[0]}, which its sh:prefixes do not declare"
            )
        try:
            EmbeddedStore(seconds=SECONDS).select(query)
        except GraphError as error:
            raise OntologyError(f"{self.path}: the shape {shape}: {error}") from None
        return query

    def _prefixes(self, constraint: Node) -> Iterable[str]:
        for ontology in self._graph.objects(constraint, URIRef(SH + "prefixes")):
            for declared in self._graph.objects(ontology, URIRef(SH + "declare")):
                name = self._graph.value(declared, URIRef(SH + "prefix"))
                namespace = self._graph.value(declared, URIRef(SH + "namespace"))
                yield f"PREFIX {name}: {_iri(str(namespace), self.path)}\n"

    def _result(self, report: Graph, node: Node) -> Violation:
        focus, value = report.value(node, URIRef(SH + "focusNode")), report.value(node, URIRef(SH + "value"))
        shape = report.value(node, URIRef(SH + "sourceShape"))
        return Violation(str(shape), _term(focus), None if value is None else _term(value))


def _iri(text: str, path: Path) -> str:
    try:
        return str(NamedNode(text))
    except ValueError:
        raise OntologyError(f"{path}: sh:namespace {text!r} is no IRI; mend it") from None


def _rdflib(triples: Iterable[Triple]) -> Graph:
    return Graph().parse(data=serialize(triples, format=RdfFormat.N_TRIPLES), format="nt")


def _term(node: Node | None) -> Term:
    if isinstance(node, URIRef):
        return NamedNode(str(node))
    if isinstance(node, RdflibLiteral):
        datatype = NamedNode(str(node.datatype)) if node.datatype else None
        return Literal(str(node), language=node.language) if node.language else Literal(str(node), datatype=datatype)
    return BlankNode(str(node))
