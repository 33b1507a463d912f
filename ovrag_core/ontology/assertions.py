"""Triples → ABox: individuals, typed assertions, and what could not be said in the ontology's terms, with why."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ovrag_core.base import Triple
from ovrag_core.ontology.entities import resolve
from ovrag_core.ontology.load import Ontology, OntologyTerm, fold
from ovrag_core.ontology.typed_values import Value, read_value
from ovrag_core.text import one_line

Why = Literal[
    "empty subject or object",
    "unknown predicate",
    "unknown class",
    "the class says nothing",
    "no value",
    "value cannot be read",
    "subject of another kind",
    "object of another kind",
]

_SHOWN = 60  # characters of a name in a reason


class Fact(NamedTuple):
    """One assertion. `object` is an individual's number, a literal, or None for a class assertion."""

    kind: Literal["class", "object", "data"]
    term: str
    subject: int
    object: int | Value | None


class Source(NamedTuple):
    """A triple that makes an assertion; `derived` where only the type written beside a name says it."""

    triple: int
    derived: bool


@dataclass(slots=True)
class ABox:
    """Individuals by number, facts with the triples that state them, and what the ontology has no term for.

    `unmapped` are the triples that state nothing, `unknown_types` the classes beside the names of triples that do state
    something (subject's and object's): those say nothing.
    """

    names: list[str] = field(default_factory=list)
    facts: dict[Fact, list[Source]] = field(default_factory=dict)
    unmapped: dict[int, Why] = field(default_factory=dict)
    unknown_types: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def unheard(self) -> list[int]:
        """Positions of the triples that are not, or not wholly, said in the ontology's terms."""
        return sorted(self.unmapped.keys() | self.unknown_types.keys())


def assert_triples(triples: Sequence[Triple], ontology: Ontology) -> ABox:
    """The ABox of `triples`. One individual per resolved name; equal assertions are one fact with several sources."""
    return _Builder(triples, ontology).build()


def unmapped_reasons(triples: Sequence[Triple], ontology: Ontology) -> dict[int, str]:
    """Position of each triple that is not, or not wholly, said in the ontology's terms → why, in words."""
    abox = assert_triples(triples, ontology)
    return {index: _reason(triples[index], index, abox, ontology) for index in abox.unheard}


def _reason(triple: Triple, index: int, abox: ABox, ontology: Ontology) -> str:
    if index in abox.unknown_types:
        return "; ".join(
            _unknown("class", name, ontology.nearest_class(name)) + ", read without it"
            for name in dict.fromkeys(abox.unknown_types[index])
        )
    why = abox.unmapped[index]
    if why == "unknown predicate":
        return _unknown("predicate", triple.predicate, ontology.nearest_property(triple.predicate))
    if why == "unknown class":
        return _unknown("class", triple.object, ontology.nearest_class(triple.object))
    if why == "subject of another kind":
        return f"{why}: {one_line(triple.subject, _SHOWN)}"
    return why if why == "empty subject or object" else f"{why}: {one_line(triple.object, _SHOWN)}"


def _unknown(what: str, name: str, near: str | None) -> str:
    return f"unknown {what} {one_line(name, _SHOWN)}" + (f" (did you mean {near}?)" if near else "")


class _Builder:
    def __init__(self, triples: Sequence[Triple], ontology: Ontology) -> None:
        self.triples = triples
        self.ontology = ontology
        self.abox = ABox()
        self.numbers: dict[str, int] = {}
        self.keys: dict[str, str] = {}

    def build(self) -> ABox:
        statements = [(index, self._statement(index, triple)) for index, triple in enumerate(self.triples)]
        names: dict[str, None] = {}
        for index, statement in statements:
            if statement is None:
                continue
            triple = self.triples[index]
            names[triple.subject] = None
            if statement.kind == "object":
                names[triple.object] = None
        self.keys = resolve(names, self._persons(statements))
        for index, statement in statements:
            if statement is not None:
                self._assert(index, statement)
        return self.abox

    def _statement(self, index: int, triple: Triple) -> OntologyTerm | None:
        """The class (of a type statement) or property that the triple uses; None, with the reason noted, where none."""
        term = self._term(triple)
        if isinstance(term, OntologyTerm):
            return term
        self.abox.unmapped[index] = term
        return None

    def _term(self, triple: Triple) -> OntologyTerm | Why:
        if not triple.subject.strip() or not triple.object.strip():
            return "empty subject or object"
        if self.ontology.states_type(triple.predicate):
            class_ = self._named_class(triple.object)
            is_misplaced = isinstance(class_, OntologyTerm) and not self._fits(triple.subject, "", {class_.iri})
            return "subject of another kind" if is_misplaced else class_
        term = self.ontology.property_of(triple.predicate)
        if term is None:
            return "unknown predicate"
        if fold(triple.object) in self.ontology.no_values or triple.object.strip() == "-":
            return "no value"
        if term.kind == "data" and read_value(triple.object, term.values) is None:
            return "value cannot be read"
        return self._misplaced(triple, term) or term

    def _misplaced(self, triple: Triple, term: OntologyTerm) -> Why | None:
        """Find the end of a property where a thing of the wrong kind stands: a party's word, a value's, another's."""
        domain, range_ = self.ontology.ends(term)
        if term.inverse in self.ontology.by_iri:
            range_, domain = self.ontology.ends(self.ontology.by_iri[term.inverse])
        if not self._fits(triple.subject, triple.subject_type, domain):
            return "subject of another kind"
        if term.kind == "object" and not self._fits(triple.object, triple.object_type, range_):
            return "object of another kind"
        return None

    def _fits(self, name: str, type_: str, position: Collection[str]) -> bool:
        """Return True where a thing of this name and type can stand where one of these classes (IRIs) must.

        The type is what the thing is said to be. A name that is itself a term of the ontology tells a kind: that of the
        class, or of what the property leads to. What a data property leads to is a value, and no thing at all.
        """
        kinds = {term.iri for word in (name, type_) if (term := self._class(word)) is not None}
        named = self.ontology.property_names.get(fold(name)) if self._class(name) is None else None
        if named is not None and named.kind == "data":
            return False
        if named is not None:
            kinds |= self.ontology.ends(self.ontology.by_iri.get(named.inverse or "", named))[0 if named.inverse else 1]
        return not any(self.ontology.excludes(kind, class_) for kind in kinds for class_ in position)

    def _named_class(self, name: str) -> OntologyTerm | Why:
        if (term := self.ontology.class_of(name)) is not None:
            return term
        return "the class says nothing" if self.ontology.says_nothing(name) else "unknown class"

    def _persons(self, statements: list[tuple[int, OntologyTerm | None]]) -> frozenset[str]:
        """Names that are said to be of a class whose members have no legal suffix."""
        persons = set()
        for index, statement in statements:
            triple = self.triples[index]
            if statement is None:
                continue
            if statement.kind == "class":
                persons.add((triple.subject, statement.iri))
            else:
                for name, type_ in ((triple.subject, triple.subject_type), (triple.object, triple.object_type)):
                    if (term := self._class(type_)) is not None:
                        persons.add((name, term.iri))
        return frozenset(
            name for name, iri in persons if self.ontology.without_suffix & self.ontology.superclasses[iri]
        )

    def _class(self, name: str) -> OntologyTerm | None:
        return self.ontology.class_of(name) if name else None

    def _note_unknown_types(self, index: int, triple: Triple) -> None:
        unknown = tuple(
            type_
            for type_ in (triple.subject_type, triple.object_type)
            if self._class(type_) is None and not self.ontology.says_nothing(type_)
        )
        if unknown:
            self.abox.unknown_types[index] = unknown

    def _assert(self, index: int, term: OntologyTerm) -> None:
        triple = self.triples[index]
        self._note_unknown_types(index, triple)
        subject = self._number(triple.subject)
        self._assert_type(index, subject, self._class(triple.subject_type), derived=True)
        if term.kind == "class":
            self._assert_type(index, subject, term, derived=False)
        elif term.kind == "data":
            self._assert_value(index, subject, term)
        else:
            object_ = self._number(triple.object)
            self._assert_type(index, object_, self._class(triple.object_type), derived=True)
            ends = (subject, object_)
            if term.inverse in self.ontology.by_iri:
                term, ends = self.ontology.by_iri[term.inverse], (object_, subject)
            self._add(Fact("object", term.iri, *ends), index, derived=False)

    def _assert_type(self, index: int, individual: int, term: OntologyTerm | None, *, derived: bool) -> None:
        if term is not None:
            self._add(Fact("class", term.iri, individual, None), index, derived=derived)

    def _assert_value(self, index: int, subject: int, term: OntologyTerm) -> None:
        value = read_value(self.triples[index].object, term.values)
        assert value is not None  # _statement has read it
        self._add(Fact("data", term.iri, subject, Value(value.lexical, value.datatype)), index, derived=False)
        if value.currency and term.currency:
            currency = Value(value.currency, "http://www.w3.org/2001/XMLSchema#string")
            self._add(Fact("data", term.currency, subject, currency), index, derived=True)

    def _add(self, fact: Fact, index: int, *, derived: bool) -> None:
        self.abox.facts.setdefault(fact, []).append(Source(index, derived))

    def _number(self, name: str) -> int:
        key = self.keys[name]
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.abox.names)
            self.abox.names.append(name.strip())
        return number
