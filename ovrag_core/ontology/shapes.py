"""SHACL Core over an ABox, for the constructs that the rules use; anything else in a shapes file is an error at load.

https://www.w3.org/TR/shacl/. A general SHACL engine takes tens of milliseconds a call, a whole check
may take two. The tests compare this evaluator with pyshacl.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from rdflib import RDF, BNode, Graph, Literal, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

from ovrag_core.errors import OntologyError
from ovrag_core.ontology.assertions import Fact
from ovrag_core.ontology.load import Ontology
from ovrag_core.ontology.rules import RULE, SH
from ovrag_core.ontology.values import Value

# None: conforms. Otherwise the facts that do not (empty where something is missing).
Check = Callable[["Data", int], "tuple[Fact, ...] | None"]
Values = Callable[["Data", int], "Sequence[tuple[int | Value, Fact]]"]

_SAID_ELSEWHERE = {SH.severity, SH.message, SH.name, SH.description, SH.order, SH.path, SH.deactivated, RDF.type}
_TARGETS = {SH.targetClass, SH.targetSubjectsOf, SH.targetObjectsOf}


@dataclass(frozen=True, slots=True)
class Failure:
    """A rule that an individual breaks. `facts` make it subject to the rule, or are the values that break it."""

    rule: str
    focus: int
    facts: tuple[Fact, ...]


class Data:
    """An ABox with what shapes ask for: classes with superclasses, and values by property, both ways."""

    def __init__(self, facts: Sequence[Fact], superclasses: dict[str, frozenset[str]]) -> None:
        self.types: dict[int, dict[str, Fact]] = {}
        self.members: dict[str, dict[int, Fact]] = {}
        self.values: dict[tuple[str, int], list[tuple[int | Value, Fact]]] = {}
        self.inverse: dict[tuple[str, int], list[tuple[int | Value, Fact]]] = {}
        self.subjects: dict[str, dict[int, Fact]] = {}
        for fact in facts:
            if fact.kind == "class":
                for iri in superclasses.get(fact.term, (fact.term,)):
                    self.types.setdefault(fact.subject, {}).setdefault(iri, fact)
                    self.members.setdefault(iri, {}).setdefault(fact.subject, fact)
            elif fact.object is not None:
                self.values.setdefault((fact.term, fact.subject), []).append((fact.object, fact))
                self.subjects.setdefault(fact.term, {}).setdefault(fact.subject, fact)
                if isinstance(fact.object, int):
                    self.inverse.setdefault((fact.term, fact.object), []).append((fact.subject, fact))


@dataclass(frozen=True, slots=True)
class _Constraint:
    rule: str
    targets: tuple[tuple[URIRef, str], ...]
    check: Check


class Shapes:
    """The enabled shapes of an ontology. Raises OntologyError for a construct that is not supported."""

    def __init__(self, ontology: Ontology) -> None:
        self._superclasses = ontology.superclasses
        reader = _Reader(ontology.graph)
        self._constraints = tuple(
            constraint
            for constraint in reader.constraints()
            if constraint.rule not in ontology.rule or ontology.rule[constraint.rule].enabled
        )

    def evaluate(self, facts: Sequence[Fact]) -> list[Failure]:
        """What breaks the shapes, by individual and rule."""
        data = Data(facts, self._superclasses)
        failures: list[Failure] = []
        for constraint in self._constraints:
            for focus, reason in _focus_nodes(data, constraint.targets).items():
                offending = constraint.check(data, focus)
                if offending is not None:
                    failures.append(Failure(constraint.rule, focus, offending or (reason,)))
        return sorted(failures, key=lambda failure: (failure.focus, failure.rule))


def _focus_nodes(data: Data, targets: tuple[tuple[URIRef, str], ...]) -> dict[int, Fact]:
    nodes: dict[int, Fact] = {}
    for kind, iri in targets:
        if kind == SH.targetClass:
            found = data.members.get(iri, {})
        elif kind == SH.targetSubjectsOf:
            found = data.subjects.get(iri, {})
        else:
            found = {number: values[0][1] for (term, number), values in data.inverse.items() if term == iri}
        for number, fact in found.items():
            nodes.setdefault(number, fact)
    return nodes


class _Reader:
    """Shapes in a graph → checks."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._inside: list[Node] = []

    def _list(self, head: Node) -> list[Node]:
        try:
            return list(Collection(self.graph, head))
        except ValueError:
            raise OntologyError("a list in a shape runs in a circle; mend its rdf:rest") from None

    def constraints(self) -> list[_Constraint]:
        shapes = sorted({node for target in _TARGETS for node in self.graph.subjects(target)}, key=str)
        found: list[_Constraint] = []
        for shape in shapes:
            if self.graph.value(shape, SH.deactivated) == Literal(True):
                continue
            targets = tuple(
                (kind, str(target))
                for kind in sorted(_TARGETS)
                for target in sorted(self.graph.objects(shape, kind), key=str)
            )
            found += [_Constraint(rule, targets, check) for rule, check in self._rules_of(shape)]
        return sorted(found, key=lambda constraint: constraint.rule)

    def _rules_of(self, shape: Node) -> list[tuple[str, Check]]:
        """A node shape with a rule is one check; its property shapes with rules of their own are checks beside it."""
        own = [node for node in self.graph.objects(shape, SH.property) if (node, RULE.rule, None) in self.graph]
        rest = self._parts(shape, skip=set(own))
        found = [(str(self.graph.value(node, RULE.rule)), self.check(node)) for node in own]
        if rest:
            rule = self.graph.value(shape, RULE.rule)
            if rule is None:
                raise OntologyError(f"the shape {shape} has a constraint without ovr:rule; name the rule it states")
            found.append((str(rule), _all(rest)))
        return found

    def check(self, shape: Node) -> Check:
        """A shape as one check. Raises OntologyError for one that is part of itself."""
        if shape in self._inside:
            raise OntologyError(
                f"the shape {self._called(shape)} is part of itself; recursive shapes are not supported"
            )
        self._inside.append(shape)
        try:
            return _all(self._parts(shape, skip=set()))
        finally:
            self._inside.pop()

    def _parts(self, shape: Node, skip: set[Node]) -> list[Check]:
        path = self.graph.value(shape, SH.path)
        values = self._path(path) if path is not None else None
        parts: list[Check] = []
        for predicate, value in sorted(self.graph.predicate_objects(shape), key=str):
            if (
                predicate in _SAID_ELSEWHERE
                or predicate in _TARGETS
                or value in skip
                or str(predicate).startswith(str(RULE))
            ):
                continue
            if not str(predicate).startswith(str(SH)):
                continue  # documentation
            parts.append(self._part(shape, predicate, value, values))
        return parts

    def _part(self, shape: Node, predicate: Node, value: Node, values: Values | None) -> Check:
        about_node = self._about_node(predicate, value)
        if about_node is not None:
            return _each(values, about_node) if values else about_node
        if values is None:
            raise self._unsupported(shape, predicate)
        if predicate in (SH.minCount, SH.maxCount):
            count = self._number(shape, predicate, value)
            return _at_least(values, count) if predicate == SH.minCount else _at_most(values, count)
        if predicate == SH.lessThan:
            return _less_than(values, self._path(value))
        if predicate in _COMPARISONS:
            return _compared(values, _COMPARISONS[predicate], self._number(shape, predicate, value))
        if predicate == SH.datatype:
            return _literals(values, lambda literal: literal.datatype == str(value))
        if predicate == SH["in"]:
            allowed = frozenset(str(node) for node in self._list(value))
            return _literals(values, lambda literal: literal.lexical in allowed)
        raise self._unsupported(shape, predicate)

    def _about_node(self, predicate: Node, value: Node) -> Check | None:
        """Constraints that are asked of an individual, be it the focus or the value of a property."""
        if predicate in (SH.property, SH.node):
            return self.check(value)
        if predicate == SH["not"]:
            return _negated(self.check(value))
        if predicate in (SH["or"], SH["and"]):
            parts = [self.check(node) for node in self._list(value)]
            return _any(parts) if predicate == SH["or"] else _all(parts)
        return _has_class(str(value)) if predicate == SH["class"] else None

    def _path(self, path: Node) -> Values:
        if isinstance(path, URIRef):
            iri = str(path)
            return lambda data, focus: data.values.get((iri, focus), ())
        inverse = self.graph.value(path, SH.inversePath) if isinstance(path, BNode) else None
        if isinstance(inverse, URIRef):
            inverse_iri = str(inverse)
            return lambda data, focus: data.inverse.get((inverse_iri, focus), ())
        raise OntologyError(
            "a shape's sh:path must be a property or sh:inversePath of one; other paths are not supported"
        )

    def _number(self, shape: Node, predicate: Node, value: Node) -> Decimal:
        try:
            return Decimal(str(value))
        except InvalidOperation:
            raise OntologyError(
                f"{_local(predicate)} of the shape {self._called(shape)} is {value}, not a number"
            ) from None

    def _unsupported(self, shape: Node, predicate: Node) -> OntologyError:
        return OntologyError(
            f"sh:{_local(predicate)} in the shape {self._called(shape)} is not supported; "
            "ovrag_core/ontology/shapes.py says what is"
        )

    def _called(self, shape: Node) -> str:
        return str(self.graph.value(shape, RULE.rule) or shape)


def _local(predicate: Node) -> str:
    return str(predicate).rsplit("#", 1)[-1]


def _all(checks: Sequence[Check]) -> Check:
    def check(data: Data, focus: int) -> tuple[Fact, ...] | None:
        for part in checks:
            offending = part(data, focus)
            if offending is not None:
                return offending
        return None

    return check


def _any(checks: Sequence[Check]) -> Check:
    return lambda data, focus: None if any(check(data, focus) is None for check in checks) else ()


def _negated(check: Check) -> Check:
    return lambda data, focus: () if check(data, focus) is None else None


def _each(values: Values, check: Check) -> Check:
    def for_each(data: Data, focus: int) -> tuple[Fact, ...] | None:
        for value, fact in values(data, focus):
            if not isinstance(value, int) or check(data, value) is not None:
                return (fact,)
        return None

    return for_each


def _has_class(iri: str) -> Check:
    return lambda data, focus: None if iri in data.types.get(focus, ()) else ()


def _at_least(values: Values, count: Decimal) -> Check:
    return lambda data, focus: None if len({value for value, _ in values(data, focus)}) >= count else ()


def _at_most(values: Values, count: Decimal) -> Check:
    def check(data: Data, focus: int) -> tuple[Fact, ...] | None:
        distinct = dict(reversed(values(data, focus)))
        if len(distinct) <= count:
            return None
        return tuple(reversed(list(distinct.values())))[: int(count) + 1]

    return check


def _literals(values: Values, holds: Callable[[Value], bool]) -> Check:
    def check(data: Data, focus: int) -> tuple[Fact, ...] | None:
        for value, fact in values(data, focus):
            if not isinstance(value, Value) or not holds(value):
                return (fact,)
        return None

    return check


def _less_than(values: Values, others: Values) -> Check:
    def check(data: Data, focus: int) -> tuple[Fact, ...] | None:
        for value, fact in values(data, focus):
            for other, other_fact in others(data, focus):
                if not (isinstance(value, Value) and isinstance(other, Value) and _before(value, other)):
                    return (fact, other_fact)
        return None

    return check


def _before(one: Value, other: Value) -> bool:
    """Numbers by size; dates, written alike, by their letters; other pairs cannot be compared."""
    if one.datatype != other.datatype:
        return False
    if one.datatype.endswith("#decimal"):
        return Decimal(one.lexical) < Decimal(other.lexical)
    return one.datatype.endswith("#dateTime") and one.lexical < other.lexical


_COMPARISONS: dict[Node, Callable[[Decimal, Decimal], bool]] = {
    SH.minInclusive: lambda value, bound: value >= bound,
    SH.maxInclusive: lambda value, bound: value <= bound,
    SH.minExclusive: lambda value, bound: value > bound,
    SH.maxExclusive: lambda value, bound: value < bound,
}


def _compared(values: Values, holds: Callable[[Decimal, Decimal], bool], bound: Decimal) -> Check:
    def within(literal: Value) -> bool:
        try:
            return holds(Decimal(literal.lexical), bound)
        except InvalidOperation:
            return False

    return _literals(values, within)
