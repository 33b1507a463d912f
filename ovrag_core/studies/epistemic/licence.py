"""What a graph licenses a system to say of a claim: YES, NO, UNKNOWN, or that it was not checked; with the proof.

Three-valued and open: YES is what is recorded or follows by the chain. NO needs a constraint of the domain that graph
and claim break together and the graph alone does not. Everything else is UNKNOWN, and says what is lacking. Where the
graph contradicts itself in what a claim rests on, or gives no answer, the claim is unchecked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.errors import Unchecked
from ovrag_core.graph import LABEL, TYPE, Store
from ovrag_core.studies.epistemic.claims import Claim
from ovrag_core.studies.epistemic.domain import Constraint, Domain, Predicate
from ovrag_core.studies.epistemic.likeness import Thing, called, same_value, why_alike

Value = NamedNode | Literal

COMPLETE = "complete"  # the constraint of a predicate whose facts are all recorded
CHAIN = "complete chain"  # of a chain that is recorded down to where it ends
_FURTHEST = 10_000  # things that a chain may pass


class Verdict(StrEnum):
    """What may be said of a claim. UNCHECKED: nothing, as there was no answer or the graph contradicts itself."""

    YES = "YES"
    NO = "NO"
    UNKNOWN = "UNKNOWN"
    UNCHECKED = "UNCHECKED"


@dataclass(frozen=True, slots=True)
class Licence:
    """A verdict with what it rests on.

    `proof` are triples of the graph: those that say it (YES), or that contradict it together with the claim (NO).
    `constraint` is the name of the broken constraint in the domain, `lacking` a sentence: what UNKNOWN and UNCHECKED
    want.
    """

    verdict: Verdict
    claim: Claim
    proof: tuple[Triple, ...] = ()
    constraint: str | None = None
    lacking: str = ""


def license_claim(claim: Claim, store: Store, domain: Domain) -> Licence:
    """What the graph licenses to say of the claim. Raises DomainError for a predicate that the domain has not."""
    predicate = domain.predicate(claim.predicate)
    known = Known(store, domain, predicate)
    try:
        if predicate.chain and claim.predicate == predicate.chain.name:
            return _of_chain(claim, known)
        return _of_fact(claim, known)
    except Unchecked as error:
        return Licence(Verdict.UNCHECKED, claim, lacking=str(error))


def license_any(claims: Sequence[Claim], store: Store, domain: Domain) -> Licence:
    """The licence of a question that may mean several claims: one that all of them have, else UNKNOWN."""
    licences = [license_claim(claim, store, domain) for claim in claims]
    if len({licence.verdict for licence in licences}) == 1:
        return licences[0]
    unchecked = next((licence for licence in licences if licence.verdict == Verdict.UNCHECKED), None)
    lacking = f"the question fits {len(claims)} claims, which the graph answers differently"
    return unchecked or Licence(Verdict.UNKNOWN, claims[0], lacking=lacking)


class Known:
    """What the graph says of one predicate, each thing asked once."""

    def __init__(self, store: Store, domain: Domain, predicate: Predicate) -> None:
        self.store, self.domain, self.predicate = store, domain, predicate
        self.iri = NamedNode(predicate.iri)
        self._things: dict[Value, Thing] = {}
        self._about: dict[Value, list[Triple]] = {}
        self._values: dict[NamedNode, tuple[Value, ...]] = {}
        self._classes = {domain.class_iri(name).value: name for name in domain.classes}

    def values(self, subject: NamedNode) -> tuple[Value, ...]:
        """What is recorded of a subject under the predicate."""
        if subject not in self._values:
            objects = [each.object for each in self.store.triples(subject, self.iri)]
            found = {each for each in objects if isinstance(each, NamedNode | Literal)}
            self._values[subject] = tuple(sorted(found, key=str))
        return self._values[subject]

    def thing(self, node: Value) -> Thing:
        """A thing with its classes and names."""
        if node not in self._things:
            about = self.about(node)
            found = [self._classes.get(each.object.value) for each in about if isinstance(each.object, NamedNode)]
            names = {each.object.value for each in about if isinstance(each.object, Literal)}
            self._things[node] = Thing(node, tuple(sorted({each for each in found if each})), tuple(sorted(names)))
        return self._things[node]

    def about(self, node: Value) -> list[Triple]:
        """The triples that give a thing its classes and names."""
        if isinstance(node, Literal):
            return []
        if node not in self._about:
            found = [*self.store.triples(node, TYPE), *self.store.triples(node, LABEL)]
            self._about[node] = sorted(found, key=str)
        return self._about[node]

    def fact(self, subject: NamedNode, value: Value) -> Triple:
        """The triple that says it."""
        return Triple(subject, self.iri, value)

    def below(self, start: NamedNode) -> dict[Value, tuple[Triple, ...]]:
        """All that the chain reaches from a thing, nearest first, each with the triples that lead there."""
        reached: dict[Value, tuple[Triple, ...]] = {}
        front: list[tuple[NamedNode, tuple[Triple, ...]]] = [(start, ())]
        while front:
            following: list[tuple[NamedNode, tuple[Triple, ...]]] = []
            for node, path in front:
                for value in self.values(node):
                    if value in reached:
                        continue
                    reached[value] = (*path, self.fact(node, value))
                    if isinstance(value, NamedNode):
                        following.append((value, reached[value]))
            if len(reached) > _FURTHEST:
                raise Unchecked(f"the chain from {called(self.thing(start))} passes more than {_FURTHEST} things")
            front = following
        return reached

    def is_a(self, thing: Thing, class_: str | None) -> bool:
        """Whether a thing is recorded as one of the class; everything is one of no class."""
        return class_ is None or any(class_ in self.domain.ancestors[name] for name in thing.classes)

    def constraints(self, kind: str) -> Iterator[tuple[str, Constraint]]:
        """The constraints of a kind, with their names."""
        return ((name, each) for name, each in self.predicate.constraints.items() if each.kind == kind)

    def excluding(self) -> Iterator[tuple[str, Known]]:
        """What is known of each predicate that no pair has beside this one, with the constraint that says so."""
        for name, each in self.constraints("disjoint"):
            yield name, Known(self.store, self.domain, self.domain.predicate(str(each.other)))

    def why_one(self, one: Value, other: Value) -> str | None:
        """Why two objects may be one; None where they are certainly two."""
        return why_alike(self.thing(one), self.thing(other), self.domain, self.predicate)


def _of_fact(claim: Claim, known: Known) -> Licence:
    values = known.values(claim.subject)
    _refuse_clash([claim.subject], known)
    recorded = next((value for value in values if _same(value, claim.object, known)), None)
    if recorded is not None:
        return Licence(Verdict.YES, claim, (known.fact(claim.subject, recorded),))
    return (
        _against_one_object(claim, values, known)
        or _against_the_way_back(claim, known)
        or _against_class(claim, known)
        or _against_other_predicate(claim, known)
        or _against_complete(claim, values, known)
        or Licence(Verdict.UNKNOWN, claim, lacking=_what_a_fact_lacks(claim, values, known))
    )


def _of_chain(claim: Claim, known: Known) -> Licence:
    reached = known.below(claim.subject)
    if claim.object in reached:
        path = reached[claim.object]
        _refuse_clash([triple.subject for triple in path], known)
        return Licence(Verdict.YES, claim, path)
    back = _against_the_way_back(claim, known)
    if back:
        return back
    lacking = _what_a_chain_lacks(claim, reached, known)
    if lacking:
        return Licence(Verdict.UNKNOWN, claim, lacking=lacking)
    things = [claim.subject, *(node for node in reached if isinstance(node, NamedNode))]
    _refuse_clash(things, known)
    links = [known.fact(node, value) for node in things for value in known.values(node)]
    about = [triple for node in [*things, claim.object] for triple in known.about(node)]
    return Licence(Verdict.NO, claim, tuple(dict.fromkeys([*links, *about])), CHAIN)


def _refuse_clash(subjects: Sequence[object], known: Known) -> None:
    """Raise Unchecked where what is recorded of one of the subjects breaks a constraint already."""
    for subject in subjects:
        if isinstance(subject, NamedNode) and (sentence := clash(subject, known)):
            raise Unchecked(sentence)


def clash(subject: NamedNode, known: Known) -> str | None:
    """Where what is recorded of a subject contradicts itself: a sentence, or None."""
    found = next(_clashes(subject, known), None)
    return found and f"the graph contradicts itself about {called(known.thing(subject))}: {found}"


def _clashes(subject: NamedNode, known: Known) -> Iterator[str]:
    values = known.values(subject)
    for _, each in known.constraints("functional"):
        counted = [value for value in values if known.is_a(known.thing(value), each.of)]
        for one, other in combinations(counted, 2):
            if known.why_one(one, other) is None:
                yield f"it has {_listed([one, other], known)}, but {each.says}"
    for _, each in known.constraints("asymmetric"):
        if any(isinstance(value, NamedNode) and subject in known.values(value) for value in values):
            yield each.says
    for _, each in known.constraints("acyclic"):
        if subject in known.below(subject):
            yield each.says
    for value in values:
        if wrong := _wrong_class(subject, value, known):
            yield known.predicate.constraints[wrong[0]].says
    for name, beside in known.excluding():
        if set(values) & set(beside.values(subject)):
            yield known.predicate.constraints[name].says


def _against_one_object(claim: Claim, values: Sequence[Value], known: Known) -> Licence | None:
    for name, each in known.constraints("functional"):
        asked = known.thing(claim.object)
        if not known.is_a(asked, each.of):
            continue
        for value in values:
            if known.is_a(known.thing(value), each.of) and known.why_one(value, claim.object) is None:
                if _may_be_another(claim, value, values, each, known):
                    continue
                about = [*known.about(value), *known.about(claim.object)]
                return Licence(Verdict.NO, claim, (known.fact(claim.subject, value), *about), name)
    return None


def _may_be_another(claim: Claim, differs: Value, values: Sequence[Value], each: Constraint, known: Known) -> bool:
    """Whether the asked object may be another one that is recorded beside the one that it differs from."""
    others = [value for value in values if value != differs and known.is_a(known.thing(value), each.of)]
    return any(known.why_one(value, claim.object) is not None for value in others)


def _against_the_way_back(claim: Claim, known: Known) -> Licence | None:
    if not isinstance(claim.object, NamedNode):
        return None
    acyclic = next(known.constraints("acyclic"), None)
    direct = next(known.constraints("asymmetric"), None) if claim.predicate == known.predicate.name else None
    if acyclic and claim.object == claim.subject:
        return Licence(Verdict.NO, claim, (), acyclic[0])
    if direct and claim.subject in known.values(claim.object):
        _refuse_clash([claim.object], known)
        return Licence(Verdict.NO, claim, (known.fact(claim.object, claim.subject),), direct[0])
    if acyclic and claim.subject in (back := known.below(claim.object)):
        path = back[claim.subject]
        _refuse_clash([triple.subject for triple in path], known)
        return Licence(Verdict.NO, claim, path, acyclic[0])
    return None


def _against_class(claim: Claim, known: Known) -> Licence | None:
    found = _wrong_class(claim.subject, claim.object, known)
    return found and Licence(Verdict.NO, claim, found[1], found[0])


def _wrong_class(subject: NamedNode, value: Value, known: Known) -> tuple[str, tuple[Triple, ...]] | None:
    """The constraint that one of the two breaks by its class, with the triples that give it the class."""
    for kind, node in (("subject", subject), ("object", value)):
        for name, each in known.constraints(kind):
            if each.of is None or known.is_a(known.thing(node), each.of):
                continue
            for class_ in known.thing(node).classes:
                if known.domain.are_disjoint(class_, each.of):
                    iri = known.domain.class_iri(class_)
                    return name, tuple(triple for triple in known.about(node) if triple.object == iri)
    return None


def _against_other_predicate(claim: Claim, known: Known) -> Licence | None:
    for name, other in known.excluding():
        if claim.object in other.values(claim.subject):
            return Licence(Verdict.NO, claim, (other.fact(claim.subject, claim.object),), name)
    return None


def _against_complete(claim: Claim, values: Sequence[Value], known: Known) -> Licence | None:
    if not known.predicate.complete or not values:
        return None
    if any(known.why_one(value, claim.object) for value in values):
        return None
    about = [triple for value in (*values, claim.object) for triple in known.about(value)]
    return Licence(Verdict.NO, claim, (*(known.fact(claim.subject, value) for value in values), *about), COMPLETE)


def _same(value: Value, asked: Value, known: Known) -> bool:
    if isinstance(value, Literal) and isinstance(asked, Literal):
        return same_value(value, asked, known.predicate)
    return value == asked


def _what_a_fact_lacks(claim: Claim, values: Sequence[Value], known: Known) -> str:
    subject, relation = called(known.thing(claim.subject)), _relation(known.predicate)
    if not values:
        return f"no {relation} of {subject} is recorded"
    recorded = f"the recorded {relation} of {subject}, {_listed(values, known)}"
    functional = next(known.constraints("functional"), None)
    if functional is None:
        return f"{recorded}, need not be the only one"
    of = functional[1].of
    if not any(known.is_a(known.thing(value), of) for value in values):
        return f"{recorded}, is not known to be a {of}"
    if not known.is_a(known.thing(claim.object), of):
        return f"{called(known.thing(claim.object))} is not known to be a {of}"
    reasons = (known.why_one(value, claim.object) for value in values if known.is_a(known.thing(value), of))
    return next((f"{reason}" for reason in reasons if reason), f"{recorded}, does not decide it")


def _what_a_chain_lacks(claim: Claim, reached: dict[Value, tuple[Triple, ...]], known: Known) -> str | None:
    """What keeps a chain that does not pass the asked thing from being a NO; None where nothing does."""
    chain = known.predicate.chain
    functional = next(known.constraints("functional"), None)
    if chain is None or not chain.ends_in or functional is None:
        return "nothing says where the chain ends"
    of = functional[1].of
    relation = _relation(known.predicate)
    for node in (claim.subject, *reached):
        thing = known.thing(node)
        is_end = node != claim.subject and any(known.is_a(thing, end) for end in chain.ends_in)
        next_ones = known.values(node) if isinstance(node, NamedNode) else ()
        if not is_end and not next_ones:
            return f"the chain from {called(known.thing(claim.subject))} stops at {called(thing)}"
        if not is_end and not any(known.is_a(known.thing(value), of) for value in next_ones):
            return f"the recorded {relation} of {called(thing)}, {_listed(next_ones, known)}, is not known to be a {of}"
    reasons = (known.why_one(node, claim.object) for node in (claim.subject, *reached))
    return next((reason for reason in reasons if reason), None)


def _listed(values: Sequence[Value], known: Known) -> str:
    return " and ".join(called(known.thing(value)) for value in values)


def _relation(predicate: Predicate) -> str:
    return predicate.labels[0] if predicate.labels else predicate.name
