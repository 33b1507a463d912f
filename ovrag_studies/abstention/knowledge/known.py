"""Facts that a graph records under one predicate of a domain, and their contradictions. Each thing is asked once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.base import Unchecked
from ovrag_core.graph import LABEL, TYPE, Store
from ovrag_studies.abstention.knowledge.domain import Constraint, Domain, Predicate
from ovrag_studies.abstention.knowledge.likeness import Thing, called, label_order, why_alike

Value = NamedNode | Literal

_FURTHEST = 100_000  # things that a chain may pass


class Known:
    """View of what the graph says of one predicate."""

    def __init__(self, store: Store, domain: Domain, predicate: Predicate) -> None:
        self.store, self.domain, self.predicate = store, domain, predicate
        self.iri = NamedNode(predicate.iri)
        self._things: dict[Value, Thing] = {}
        self._about: dict[Value, list[Triple]] = {}
        self._values: dict[NamedNode, tuple[Value, ...]] = {}
        self._nameless: set[NamedNode] = set()
        self._returns: dict[NamedNode, bool] = {}
        self._classes = {domain.class_iri(name).value: name for name in domain.classes}

    def values(self, subject: NamedNode) -> tuple[Value, ...]:
        """Return the objects that are recorded of a subject under the predicate."""
        if subject not in self._values:
            objects = [t.object for t in self.store.triples(subject, self.iri)]
            named = {node for node in objects if isinstance(node, NamedNode | Literal)}
            self._values[subject] = tuple(sorted(named, key=str))
            if len(named) < len(objects):
                self._nameless.add(subject)
        return self._values[subject]

    def is_vague(self, subject: NamedNode) -> bool:
        """Return True where a thing without a name (a blank node), which may be anything, is recorded of a subject."""
        self.values(subject)
        return subject in self._nameless

    def thing(self, node: Value) -> Thing:
        """A thing with its classes and names."""
        if node not in self._things:
            about = self.about(node)
            classes = [self._classes.get(t.object.value) for t in about if isinstance(t.object, NamedNode)]
            labels = sorted((t.object for t in about if isinstance(t.object, Literal)), key=label_order)
            names = tuple(dict.fromkeys(label.value for label in labels))
            self._things[node] = Thing(node, tuple(sorted({name for name in classes if name})), names)
        return self._things[node]

    def about(self, node: Value) -> list[Triple]:
        """The triples that give a thing its classes and names."""
        if isinstance(node, Literal):
            return []
        if node not in self._about:
            triples = [*self.store.triples(node, TYPE), *self.store.triples(node, LABEL)]
            self._about[node] = sorted(triples, key=str)
        return self._about[node]

    def fact(self, subject: NamedNode, value: Value) -> Triple:
        """The triple that says it."""
        return Triple(subject, self.iri, value)

    def below(self, start: NamedNode, steps: int | None = None) -> dict[Value, Triple]:
        """All that the chain reaches from a thing (in so many steps at most), nearest first, each by its last step.

        Raises Unchecked for a chain that does not come to an end.
        """
        reached: dict[Value, Triple] = {}
        front = [start]
        while front and steps != 0:
            following: list[NamedNode] = []
            for node in front:
                new = [value for value in self.values(node) if value not in reached]
                reached |= {value: self.fact(node, value) for value in new}
                following += [value for value in new if isinstance(value, NamedNode)]
            if len(reached) > _FURTHEST:
                raise Unchecked(f"the chain from {called(self.thing(start))} passes more than {_FURTHEST:,} things")
            front = following
            steps = None if steps is None else steps - 1
        return reached

    def returns(self, node: NamedNode) -> bool:
        """Return True where the chain from a thing comes back to it."""
        if node not in self._returns:
            self._settle([node, *self.below(node)])
        return self._returns[node]

    def _settle(self, nodes: Iterable[object]) -> None:
        """Find those of the nodes that are on circles; all that they lead to must be among them."""
        import networkx  # noqa: PLC0415 - takes a tenth of a second to load

        edges = {node: self.values(node) for node in nodes if isinstance(node, NamedNode)}
        components = networkx.strongly_connected_components(networkx.DiGraph(edges))
        circling = {node for component in components if len(component) > 1 for node in component}
        self._returns |= {node: node in circling or node in edges[node] for node in edges}

    def is_a(self, thing: Thing, class_: str | None) -> bool:
        """Return True where a thing is recorded as one of the class, and always where the class is None."""
        return class_ is None or any(class_ in self.domain.ancestors[name] for name in thing.classes)

    def constraints(self, kind: str) -> Iterator[tuple[str, Constraint]]:
        """The constraints of a kind, with their names."""
        return ((name, c) for name, c in self.predicate.constraints.items() if c.kind == kind)

    def excluding(self) -> Iterator[tuple[str, Known]]:
        """Yield what is known of each predicate that no pair has beside this one, with the constraint that says so."""
        for name, constraint in self.constraints("disjoint"):
            yield name, Known(self.store, self.domain, self.domain.predicate(str(constraint.other)))

    def why_one(self, one: Value, other: Value) -> str | None:
        """Give a reason why two objects may be one; None where they are certainly two."""
        return why_alike(self.thing(one), self.thing(other), self.domain, self.predicate)

    def listed(self, values: Sequence[Value]) -> str:
        """Things by their names."""
        return " and ".join(called(self.thing(value)) for value in values)


def path_to(end: Value, start: NamedNode, steps: Mapping[Value, Triple]) -> tuple[Triple, ...]:
    """The steps from the start of a chain to something below it."""
    path = [steps[end]]
    while isinstance(below := path[-1].subject, NamedNode) and below != start:
        path.append(steps[below])
    return tuple(reversed(path))


def clash(subject: NamedNode, known: Known) -> str | None:
    """Say in a sentence where the records of a subject contradict themselves; None where they do not."""
    reason = next(_clashes(subject, known), None)
    return reason and f"the graph contradicts itself about {called(known.thing(subject))}: {reason}"


def _clashes(subject: NamedNode, known: Known) -> Iterator[str]:
    values = known.values(subject)
    yield from filter(None, (torn(node, known) for node in (subject, *values)))
    yield from _several(values, known)
    yield from _circles(subject, values, known)
    broken = filter(None, (wrong_class(subject, value, known) for value in values))
    yield from (known.predicate.constraints[name].says for name, _ in broken)
    for name, beside in known.excluding():
        if set(values) & set(beside.values(subject)):
            yield known.predicate.constraints[name].says


def _several(values: Sequence[Value], known: Known) -> Iterator[str]:
    for _, constraint in known.constraints("functional"):
        counted = [value for value in values if known.is_a(known.thing(value), constraint.of)]
        for pair in combinations(counted, 2):
            if known.why_one(*pair) is None:
                yield f"it has {known.listed(pair)}, but {constraint.says}"


def _circles(subject: NamedNode, values: Sequence[Value], known: Known) -> Iterator[str]:
    for _, constraint in known.constraints("asymmetric"):
        if any(isinstance(value, NamedNode) and subject in known.values(value) for value in values):
            yield constraint.says
    for _, constraint in known.constraints("acyclic"):
        if known.returns(subject):
            yield constraint.says


def torn(node: Value, known: Known) -> str | None:
    """Say in a sentence that a thing is recorded as of two classes that share nothing; None where it is not."""
    thing = known.thing(node)
    pairs = combinations(thing.classes, 2)
    apart = next((pair for pair in pairs if known.domain.are_disjoint(*pair)), None)
    return apart and f"{called(thing)} is recorded as {apart[0]} and as {apart[1]}, which nothing is at once"


def wrong_class(subject: NamedNode, value: Value, known: Known) -> tuple[str, tuple[Triple, ...]] | None:
    """The constraint that one of the two breaks by its class, with the triples that give it the class."""
    for kind, node in (("subject", subject), ("object", value)):
        for name, constraint in known.constraints(kind):
            if constraint.of is None or known.is_a(known.thing(node), constraint.of):
                continue
            for class_ in known.thing(node).classes:
                if known.domain.are_disjoint(class_, constraint.of):
                    iri = known.domain.class_iri(class_)
                    return name, tuple(triple for triple in known.about(node) if triple.object == iri)
    return None
