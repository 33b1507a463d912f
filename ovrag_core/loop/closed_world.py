"""Closed-world rules: what the shapes of an ontology find missing or amiss in the facts of an ABox."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.graph import TYPE, EmbeddedStore, Shapes, ShapeViolation, Term
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
        triples = [(number, triple) for number, fact in enumerate(facts) for triple in self._triples(fact)]
        fact_numbers: dict[tuple[Term, NamedNode, Term], int] = {}
        for number, triple in triples:
            fact_numbers.setdefault((triple.subject, triple.predicate, triple.object), number)

        def places(violation: ShapeViolation) -> list[int]:
            return [fact_numbers.get((violation.focus, *pair), 0) for pair in violation.said]

        failures: dict[tuple[int, str], Failure] = {}
        violations = self._shapes.violations(EmbeddedStore(triple for _, triple in triples), self._rules)
        for breach in sorted(violations, key=lambda violation: (violation.constraint, places(violation))):
            if not isinstance(breach.focus, NamedNode):
                continue  # a value, of which no rule speaks
            focus = int(breach.focus.value.removeprefix(_INDIVIDUAL))
            broken = tuple(facts[number] for number in places(breach))
            failures.setdefault((focus, breach.shape), Failure(breach.shape, focus, broken))
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
