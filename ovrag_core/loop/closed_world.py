"""Closed-world rules: what the shapes of an ontology find missing or amiss in the facts of an ABox."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.graph import TYPE, EmbeddedStore, Shapes
from ovrag_core.ontology import RULE, Fact, Ontology, Value

_INDIVIDUAL = "urn:ovrag:individual:"


@dataclass(frozen=True, slots=True)
class Failure:
    """A rule that an individual breaks. `facts` make it subject to the rule, or are the values that break it."""

    rule: str
    focus: int
    facts: tuple[Fact, ...]


class ClosedWorld:
    """The enabled shapes of an ontology. Raises OntologyError for a shape that cannot be used."""

    def __init__(self, ontology: Ontology) -> None:
        self._classes = {
            iri: [NamedNode(above) for above in sorted(superclasses) if ":" in above]
            for iri, superclasses in ontology.superclasses.items()
        }
        self._shapes = Shapes(ontology.graph, named_by=RULE.rule)
        self._rules = [id_ for id_ in self._shapes.shapes if id_ not in ontology.rule or ontology.rule[id_].enabled]

    def failures(self, facts: Sequence[Fact]) -> list[Failure]:
        """Find what breaks the shapes, by individual and rule; of several values that do, take the first facts."""
        stated: dict[Triple, int] = {}
        for number, fact in enumerate(facts):
            for triple in self._triples(fact):
                stated.setdefault(triple, number)
        breaches: list[tuple[str, list[int], int, str]] = []
        for breach in self._shapes.violations(EmbeddedStore(stated), self._rules):
            if isinstance(breach.focus, NamedNode):  # not a value, of which no rule speaks
                numbers = [stated.get(Triple(breach.focus, *pair), 0) for pair in breach.said]
                focus = int(breach.focus.value.removeprefix(_INDIVIDUAL))
                breaches.append((breach.constraint, numbers, focus, breach.shape))
        failures: dict[tuple[int, str], Failure] = {}
        for _, numbers, focus, rule in sorted(breaches, key=itemgetter(0, 1)):
            failures.setdefault((focus, rule), Failure(rule, focus, tuple(facts[number] for number in numbers)))
        return [failures[key] for key in sorted(failures)]

    def _triples(self, fact: Fact) -> Iterator[Triple]:
        """A fact in RDF: of a class and of all above it."""
        subject, term = NamedNode(f"{_INDIVIDUAL}{fact.subject}"), NamedNode(fact.term)
        if fact.object is None:
            yield from (Triple(subject, TYPE, above) for above in self._classes.get(fact.term, [term]))
        elif isinstance(fact.object, Value):
            yield Triple(subject, term, Literal(fact.object.lexical, datatype=NamedNode(fact.object.datatype)))
        else:
            yield Triple(subject, term, NamedNode(f"{_INDIVIDUAL}{fact.object}"))
