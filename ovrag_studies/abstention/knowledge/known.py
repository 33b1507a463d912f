"""Facts that a graph records under one predicate of a domain, and their contradictions. Each thing is asked once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.base import GraphError, Unchecked, project_file
from ovrag_core.graph import LABEL, TYPE, Store, open_graph
from ovrag_studies.abstention.knowledge.domain import Chain, Constraint, Domain, Predicate
from ovrag_studies.abstention.knowledge.likeness import Thing, called, label_order, local_name, why_alike

Value = NamedNode | Literal
Breach = tuple[tuple[Triple, ...], str]  # triples, and the constraint that they break together with a claim

_FURTHEST = 100_000  # things that a chain may pass


class Known:
    """View of what the graph says of one predicate."""

    def __init__(self, store: Store, domain: Domain, predicate: Predicate) -> None:
        self.store, self.domain, self.predicate = store, domain, predicate
        self.iri = predicate.node
        self.thing, self.about, self._objects = cache(self._thing), cache(self._triples), cache(self._recorded)
        self._returns: dict[Value, bool] = {}
        self._classes = {domain.class_iri(name).value: name for name in domain.classes}

    def _recorded(self, subject: Value) -> tuple[tuple[Value, ...], bool]:
        objects = [] if isinstance(subject, Literal) else [t.object for t in self.store.triples(subject, self.iri)]
        named = {node for node in objects if isinstance(node, NamedNode | Literal)}
        return tuple(sorted(named, key=str)), len(named) < len(objects)

    def values(self, subject: Value) -> tuple[Value, ...]:
        """Return the objects that are recorded of a subject under the predicate; none of a literal."""
        return self._objects(subject)[0]

    def is_vague(self, subject: Value) -> bool:
        """Return True where a thing without a name (a blank node), which may be anything, is recorded of a subject."""
        return self._objects(subject)[1]

    def _thing(self, node: Value) -> Thing:
        about = self.about(node)
        classes = {self._classes.get(t.object.value) for t in about if isinstance(t.object, NamedNode)}
        labels = sorted((t.object for t in about if isinstance(t.object, Literal)), key=label_order)
        names = dict.fromkeys(label.value for label in labels)
        unnamed = node.value if isinstance(node, Literal) else local_name(node.value)
        return Thing(node, tuple(sorted(filter(None, classes))), tuple(names) or (unnamed,))

    def _triples(self, node: Value) -> list[Triple]:
        if isinstance(node, Literal):
            return []
        return sorted([*self.store.triples(node, TYPE), *self.store.triples(node, LABEL)], key=str)

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
            import networkx  # noqa: PLC0415 - takes a tenth of a second to load

            edges = {n: self.values(n) for n in (node, *self.below(node))}
            components = networkx.strongly_connected_components(networkx.DiGraph(edges))
            circling = {n for component in components if len(component) > 1 for n in component}
            self._returns |= {n: n in circling or n in edges[n] for n in edges}
        return self._returns[node]

    def is_a(self, node: Value, class_: str | None) -> bool:
        """Return True where a thing is recorded as one of the class, and always where the class is None."""
        return class_ is None or any(class_ in self.domain.ancestors[name] for name in self.thing(node).classes)

    def of_class(self, nodes: Iterable[Value], class_: str | None) -> list[Value]:
        """Those of the things that are recorded as one of the class; all where the class is None."""
        return [node for node in nodes if self.is_a(node, class_)]

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

    def why_among(self, values: Iterable[Value], other: Value) -> Iterator[str]:
        """Yield the reasons why one of the values may be another object."""
        return filter(None, (self.why_one(value, other) for value in values))

    def listed(self, values: Sequence[Value]) -> str:
        """Things by their names."""
        return " and ".join(called(self.thing(value)) for value in values)


def pairs_of(store: Store, iri: NamedNode) -> list[tuple[NamedNode, Value]]:
    """All facts under a predicate, of things with names: subject and object, in order."""
    pairs = [
        (triple.subject, triple.object)
        for triple in store.triples(None, iri)
        if isinstance(triple.subject, NamedNode) and isinstance(triple.object, NamedNode | Literal)
    ]
    return sorted(pairs, key=lambda pair: (str(pair[0]), str(pair[1])))


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
    for _, constraint in known.constraints("functional"):
        for pair in combinations(known.of_class(values, constraint.of), 2):
            if known.why_one(*pair) is None:
                yield f"it has {known.listed(pair)}, but {constraint.says}"
    for _, constraint in known.constraints("asymmetric"):
        if any(subject in known.values(value) for value in values):
            yield constraint.says
    for _, constraint in known.constraints("acyclic"):
        if known.returns(subject):
            yield constraint.says
    broken = (name for value in values for _, name in wrong_classes(subject, value, known))
    yield from (known.predicate.constraints[name].says for name in broken)
    for name, beside in known.excluding():
        if set(values) & set(beside.values(subject)):
            yield known.predicate.constraints[name].says


def torn(node: Value, known: Known) -> str | None:
    """Say in a sentence that a thing is recorded as of two classes that share nothing; None where it is not."""
    thing = known.thing(node)
    pairs = combinations(thing.classes, 2)
    apart = next((pair for pair in pairs if pair in known.domain.apart), None)
    return apart and f"{called(thing)} is recorded as {apart[0]} and as {apart[1]}, which nothing is at once"


def wrong_classes(subject: NamedNode, value: Value, known: Known) -> Iterator[Breach]:
    """Yield the constraints that one of the two breaks by its class, with the triples that give it the class."""
    for kind, node in (("subject", subject), ("object", value)):
        for name, constraint in known.constraints(kind):
            for class_ in () if known.is_a(node, constraint.of) else known.thing(node).classes:
                if (class_, constraint.of) in known.domain.apart:
                    iri = known.domain.class_iri(class_)
                    yield tuple(triple for triple in known.about(node) if triple.object == iri), name


# -- whole graphs -----------------------------------------------------------------------------------------------------


def open_with_domain(source: str, domain: Domain) -> Store:
    """The graph in a file of the project, or at the address of an endpoint (see `open_graph`).

    Raises GraphError for one that has none of the domain's predicates.
    """
    store = open_graph(source if "://" in source else project_file(Path(source)), domain.table)
    if any(store.ask("ASK { ?s ?p ?o }", {"p": predicate.node}) for predicate in domain.predicates.values()):
        return store
    expected = next(iter(domain.predicates.values()))
    raise GraphError(
        f"{source} has no fact under a predicate of {domain.name}, such as {expected.iri}; give that domain's graph"
    )


def violations(store: Store, domain: Domain) -> list[str]:
    """List the contradictions in the graph, a sentence for each subject and predicate."""
    contradictions: list[str] = []
    for predicate in domain.predicates.values():
        known = Known(store, domain, predicate)
        subjects = {t.subject for t in store.triples(None, known.iri) if isinstance(t.subject, NamedNode)}
        contradictions += filter(None, (clash(subject, known) for subject in sorted(subjects, key=str)))
    return contradictions


def clusters(store: Store, domain: Domain) -> dict[str, str]:
    """The name of the cluster of each subject, by IRI; give the whole graph, with hidden facts.

    Facts of a predicate with a chain join things; not through things in which chains end, nor through what is not of
    the class that a functional constraint counts. Any other subject stands alone. Raises Unchecked as the store does.
    """
    import networkx  # noqa: PLC0415 - takes a tenth of a second to load

    joined = networkx.Graph()
    sinks: set[str] = set()
    alone: dict[str, str] = {}
    for predicate in domain.predicates.values():
        pairs = pairs_of(store, predicate.node)
        alone |= {subject.value: subject.value for subject, _ in pairs}
        if predicate.chain:
            joined.add_edges_from((subject.value, value.value) for subject, value in pairs)
            sinks |= _sinks({value for _, value in pairs}, Known(store, domain, predicate), predicate.chain)
    joined.remove_nodes_from(sinks)
    return alone | {node: min(component) for component in networkx.connected_components(joined) for node in component}


def _sinks(values: set[Value], known: Known, chain: Chain) -> set[str]:
    counted = [constraint.of for _, constraint in known.constraints("functional") if constraint.of]
    of_counted = {value for class_ in counted for value in known.of_class(values, class_)} if counted else values
    ending = {value for end in chain.ends_in for value in known.of_class(values, end)}
    return {value.value for value in ending | (values - of_counted)}
