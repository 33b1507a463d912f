"""SHACL shapes (https://www.w3.org/TR/shacl/) over a store: what breaks them, by the constraints that our files state.

A general SHACL engine takes a hundred times as long; the tests compare the two.
"""

import operator
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import permutations
from pathlib import Path
from typing import NoReturn, TypeGuard

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, serialize
from rdflib import Graph, Namespace, URIRef
from rdflib import Literal as Text
from rdflib.collection import Collection
from rdflib.term import Node

from ovrag_core.base import GraphError, OntologyError
from ovrag_core.graph.loading import TYPE, parse_file
from ovrag_core.graph.query import Term
from ovrag_core.graph.triple_store import EmbeddedStore, Store

SH = Namespace("http://www.w3.org/ns/shacl#")
_SUBCLASS = NamedNode("http://www.w3.org/2000/01/rdf-schema#subClassOf")
_TARGETS = (SH.targetClass, SH.targetObjectsOf, SH.targetSubjectsOf)
_COMPARISONS: dict[Node, Callable[[Decimal, Decimal], bool]] = {
    SH.minInclusive: operator.ge,
    SH.maxInclusive: operator.le,
    SH.minExclusive: operator.gt,
    SH.maxExclusive: operator.lt,
}
_DESCRIBING = "sparql severity message name description order path deactivated"
_NO_CONSTRAINTS = {*_TARGETS, *(SH[name] for name in _DESCRIBING.split())}
_SUPPORTED = "sh:class, sh:or, sh:sparql, and of a property counts, bounds and sh:lessThan"

Said = tuple[tuple[NamedNode, Term], ...]  # predicates with their values at a node
Check = Callable[[Store, Term], Iterable[Said]]  # what breaks a constraint at a node; () where something is missing


@dataclass(frozen=True, slots=True)
class ShapeViolation:
    """A node that breaks a constraint of a shape.

    `said` are the values that break it, with their predicates; where something is missing, what makes the node a
    target.
    """

    shape: str
    focus: Term
    constraint: str = "sparql"
    said: Said = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """The targets of a shape (kinds and IRIs), its checks by the names of constraints, and its SPARQL constraints."""

    targets: tuple[tuple[Node, NamedNode], ...]
    checks: tuple[tuple[str, Check], ...]
    queries: tuple[str, ...]


class Shapes:
    """The shapes of a graph by their names: their IRIs, or what the annotation `named_by` says.

    `source` begins each message. Raises OntologyError for a constraint that is not supported, and for a query that
    cannot be read, uses a prefix that is not declared, or reaches out of the graph.
    """

    def __init__(self, graph: Graph, source: str = "", named_by: URIRef | None = None) -> None:
        self.shapes = dict(_ShapeReader(graph, f"{source}: " if source else "", named_by).shapes())

    def violations(self, store: Store, only: Iterable[str] | None = None) -> list[ShapeViolation]:
        """List what breaks the shapes (those named in `only`), each once, in the order of its text."""
        names = self.shapes if only is None else only
        return sorted(
            {violation: None for name in names for violation in _broken(name, self.shapes[name], store)}, key=str
        )


def read_shapes(path: Path) -> Shapes:
    """The shapes of a file. Raises OntologyError, with the file, where they cannot be used or there are none."""
    triples = serialize(parse_file(path, OntologyError), format=RdfFormat.N_TRIPLES)
    shapes = Shapes(Graph().parse(data=triples, format="nt"), str(path))
    if not shapes.shapes:
        raise OntologyError(f"{path} holds no shape with a target; give one, or leave the file out")
    return shapes


def _broken(name: str, shape: Shape, store: Store) -> Iterator[ShapeViolation]:
    for kind, iri in shape.targets:
        for focus, target in _focus_nodes(store, kind, iri).items():
            for constraint, check in shape.checks:
                for pairs in check(store, focus):
                    yield ShapeViolation(name, focus, constraint, pairs or target)
            if any(store.select(query, {"this": focus}) for query in shape.queries):
                yield ShapeViolation(name, focus)


def _focus_nodes(store: Store, kind: Node, iri: NamedNode) -> dict[Term, Said]:
    """The nodes that a target names, each with what makes it one."""
    if kind == SH.targetClass:
        return dict.fromkeys(_members(store, iri), ((TYPE, iri),))
    triples = store.triples(predicate=iri)
    if kind == SH.targetObjectsOf:
        return {triple.object: () for triple in triples}
    return {triple.subject: ((iri, triple.object),) for triple in triples}


def _members(store: Store, of: NamedNode) -> set[Term]:
    """The nodes of a class and of those below it."""
    classes: list[Term] = [of]
    for class_ in classes:  # which grows
        below = [triple.subject for triple in store.triples(None, _SUBCLASS, class_)]
        classes += [node for node in below if node not in classes]
    return {triple.subject for class_ in classes for triple in store.triples(None, TYPE, class_)}


def _values(store: Store, node: Term, path: NamedNode) -> list[Term]:
    return [triple.object for triple in store.triples(node, path)] if isinstance(node, NamedNode | BlankNode) else []


class _ShapeReader:
    """Shapes of a graph as checks; `where` begins each message."""

    def __init__(self, graph: Graph, where: str, named_by: URIRef | None) -> None:
        self.graph, self.where, self.named_by = graph, where, named_by
        self._inside: list[Node] = []

    def shapes(self) -> Iterator[tuple[str, Shape]]:
        """Each node shape by its name, and each of its property shapes that has one of its own."""
        for shape in sorted({node for target in _TARGETS for node in self.graph.subjects(target)}, key=str):
            if self.graph.value(shape, SH.deactivated) != Text(True):
                yield from self._shapes_of(shape)

    def _shapes_of(self, shape: Node) -> Iterator[tuple[str, Shape]]:
        """A node shape and its property shapes that have a name."""
        targets = tuple(
            (kind, self._iri(iri)) for kind in _TARGETS for iri in sorted(self.graph.objects(shape, kind), key=str)
        )
        named = [node for node in self.graph.objects(shape, SH.property) if self._name(node)]
        checks = self._checks(shape, named)
        queries = tuple(sorted(self._select(shape, query) for query in self.graph.objects(shape, SH.sparql)))
        if checks or queries or not self.named_by:
            if self.named_by and not self._name(shape):
                self._refuse(f"the shape {shape} has a constraint without ovr:rule; name the rule it states")
            yield self._name(shape) or str(shape), Shape(targets, checks, queries)
        for node in named:
            yield self._name(node), Shape(targets, self._checks(node), ())

    def _name(self, shape: Node) -> str:
        return str(self.graph.value(shape, self.named_by) or "") if self.named_by else ""

    def _checks(self, shape: Node, skipped: Container[Node] = ()) -> tuple[tuple[str, Check], ...]:
        """The constraints of a shape by name. Raises OntologyError for a shape that is part of itself."""
        called = self._name(shape) or str(shape)
        if shape in self._inside:
            self._refuse(f"the shape {called} is part of itself; recursive shapes are not supported")
        self._inside.append(shape)
        checks = [
            (_local(predicate), self._check(shape, called, predicate, value))
            for predicate, value in sorted(self.graph.predicate_objects(shape), key=str)
            if str(predicate).startswith(str(SH)) and predicate not in _NO_CONSTRAINTS and value not in skipped
        ]
        self._inside.pop()
        return tuple(checks)

    def _check(self, shape: Node, called: str, predicate: Node, asked: Node) -> Check:
        """A constraint of a node, or of the values of a property where the shape has a path."""
        path = self.graph.value(shape, SH.path)
        name = None if path is None else self._path(path)
        if name is not None and predicate == SH.lessThan:
            return _less_than(name, self._path(asked))
        if name is not None and predicate in (SH.minCount, SH.maxCount, *_COMPARISONS):
            try:
                number = Decimal(str(asked))
            except InvalidOperation:
                self._refuse(f"{_local(predicate)} of the shape {called} is {asked}, not a number")
            if predicate == SH.minCount:
                return lambda store, node: [()] if len(_values(store, node, name)) < number else []
            if predicate == SH.maxCount:
                return _at_most(name, int(number))
            return _each(name, _bounded(_COMPARISONS[predicate], number))
        if predicate == SH.property:
            check = _all(self._checks(asked))
        elif predicate == SH["or"]:
            check = _any([_all(self._checks(node)) for node in self._list(asked)])
        elif predicate == SH["class"]:
            check = _has_class(self._iri(asked))
        else:
            self._refuse(f"sh:{_local(predicate)} in the shape {called} is not supported; use {_SUPPORTED}")
        return check if name is None else _each(name, check)

    def _refuse(self, sentence: str) -> NoReturn:
        raise OntologyError(f"{self.where}{sentence}") from None

    def _list(self, head: Node) -> list[Node]:
        try:
            return list(Collection(self.graph, head))
        except ValueError:
            self._refuse("a list in a shape runs in a circle; mend its rdf:rest")

    def _path(self, path: Node) -> NamedNode:
        if not isinstance(path, URIRef):
            self._refuse("a shape's sh:path must be a property; other paths are not supported")
        return self._iri(path)

    def _select(self, shape: Node, constraint: Node) -> str:
        text = self.graph.value(constraint, SH.select)
        if text is None:
            self._refuse(f"a sh:sparql of the shape {shape} has no sh:select; add it")
        query = "".join(self._prefixes(constraint)) + str(text).strip()
        try:
            EmbeddedStore().select(query)
        except GraphError as error:
            self._refuse(f"the shape {shape}: {error}")
        return query

    def _prefixes(self, constraint: Node) -> Iterator[str]:
        for ontology in self.graph.objects(constraint, SH.prefixes):
            for declared in self.graph.objects(ontology, SH.declare):
                name = self.graph.value(declared, SH.prefix)
                yield f"PREFIX {name}: {self._iri(self.graph.value(declared, SH.namespace))}\n"

    def _iri(self, node: Node | None) -> NamedNode:
        try:
            return NamedNode(str(node))
        except ValueError:
            self._refuse(f"{str(node)!r} in a shape is no IRI; mend it")


def _local(predicate: Node) -> str:
    return str(predicate).removeprefix(str(SH))


def _all(checks: Sequence[tuple[str, Check]]) -> Check:
    return lambda store, node: (pairs for _, check in checks for pairs in check(store, node))


def _any(checks: Sequence[Check]) -> Check:
    return lambda store, node: [()] if all(_breaks(check, store, node) for check in checks) else []


def _breaks(check: Check, store: Store, node: Term) -> bool:
    return next(iter(check(store, node)), None) is not None


def _has_class(iri: NamedNode) -> Check:
    return lambda store, node: [] if node in _members(store, iri) else [()]


def _each(path: NamedNode, check: Check) -> Check:
    return lambda store, node: (
        ((path, value),) for value in _values(store, node, path) if _breaks(check, store, value)
    )


def _at_most(path: NamedNode, number: int) -> Check:
    """Each choice and order of one value too many: a store knows no order, the caller may."""
    return lambda store, node: (
        tuple((path, value) for value in values) for values in permutations(_values(store, node, path), number + 1)
    )


def _less_than(path: NamedNode, than: NamedNode) -> Check:
    return lambda store, node: (
        ((path, value), (than, bound))
        for value in _values(store, node, path)
        for bound in _values(store, node, than)
        if not _before(value, bound)
    )


def _before(one: Term, other: Term) -> bool:
    """Numbers by size, dates, which are written alike, by their letters; other pairs cannot be compared."""
    if not (isinstance(one, Literal) and isinstance(other, Literal)) or one.datatype != other.datatype:
        return False
    if one.datatype.value.endswith("#decimal"):
        return Decimal(one.value) < Decimal(other.value)
    return one.datatype.value.endswith("#dateTime") and one.value < other.value


def _bounded(holds: Callable[[Decimal, Decimal], bool], bound: Decimal) -> Check:
    return lambda _, value: [] if _is_number(value) and holds(Decimal(value.value), bound) else [()]


def _is_number(term: Term) -> TypeGuard[Literal]:
    return isinstance(term, Literal) and re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", term.value) is not None
