"""Triples → ABox: individuals, typed assertions, and what could not be said in the ontology's terms, with why."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ovrag_core.base import Triple
from ovrag_core.ontology.entities import resolve
from ovrag_core.ontology.load import Ontology, OntologyTerm, fold
from ovrag_core.ontology.typed_values import XSD, Value, read_value
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
    return _Builder(triples, ontology).abox


def unmapped_reasons(triples: Sequence[Triple], ontology: Ontology) -> dict[int, str]:
    """Position of each triple that is not, or not wholly, said in the ontology's terms → why, in words."""
    abox = assert_triples(triples, ontology)
    return {index: _reason(triples[index], index, abox, ontology) for index in abox.unheard}


def _reason(triple: Triple, index: int, abox: ABox, ontology: Ontology) -> str:
    def unknown(kind: Literal["class", "predicate"], name: str) -> str:
        near = ontology.nearest(name, "class" if kind == "class" else "property")
        return f"unknown {kind} {one_line(name, _SHOWN)}" + (f" (did you mean {near}?)" if near else "")

    if index in abox.unknown_types:
        names = dict.fromkeys(abox.unknown_types[index])
        return "; ".join(f"{unknown('class', name)}, read without it" for name in names)
    why = abox.unmapped[index]
    if why == "unknown predicate":
        return unknown("predicate", triple.predicate)
    if why == "unknown class":
        return unknown("class", triple.object)
    if why == "empty subject or object":
        return why
    return f"{why}: {one_line(triple.subject if why == 'subject of another kind' else triple.object, _SHOWN)}"


class _Builder:
    """The ABox under way, with the numbers of individuals by the keys of their names."""

    def __init__(self, triples: Sequence[Triple], ontology: Ontology) -> None:
        self.triples = triples
        self.ontology = ontology
        self.abox = ABox()
        self.numbers: dict[str, int] = {}
        statements: dict[int, OntologyTerm] = {}
        names: dict[str, None] = {}
        for index, triple in enumerate(triples):
            term = self._term(triple)
            if not isinstance(term, OntologyTerm):
                self.abox.unmapped[index] = term
                continue
            statements[index] = term
            names |= dict.fromkeys((triple.subject, triple.object) if term.kind == "object" else (triple.subject,))
        self.keys = resolve(names, self._persons(statements))
        for index, term in statements.items():
            self._assert(index, term)

    def _term(self, triple: Triple) -> OntologyTerm | Why:
        """The class (of a type statement) or property that the triple uses; why not, where it uses none."""
        if not triple.subject.strip() or not triple.object.strip():
            return "empty subject or object"
        if self.ontology.states_type(triple.predicate):
            return self._stated_class(triple)
        term = self.ontology.property_of(triple.predicate)
        if term is None:
            return "unknown predicate"
        if fold(triple.object) in self.ontology.no_values or triple.object.strip() == "-":
            return "no value"
        if term.kind == "data" and read_value(triple.object, term.values) is None:
            return "value cannot be read"
        return self._misplaced(triple, term) or term

    def _stated_class(self, triple: Triple) -> OntologyTerm | Why:
        class_ = self.ontology.class_of(triple.object)
        if class_ is None:
            return "the class says nothing" if self.ontology.says_nothing(triple.object) else "unknown class"
        return class_ if self._fits(triple.subject, "", {class_.iri}) else "subject of another kind"

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
        kinds = {term.iri for word in (name, type_) if (term := self.ontology.class_of(word)) is not None}
        named = self.ontology.property_names.get(fold(name)) if self.ontology.class_of(name) is None else None
        if named is not None and named.kind == "data":
            return False
        if named is not None:
            kinds |= self.ontology.ends(self.ontology.by_iri.get(named.inverse or "", named))[0 if named.inverse else 1]
        return not any(self.ontology.excludes(kind, class_) for kind in kinds for class_ in position)

    def _persons(self, statements: Mapping[int, OntologyTerm]) -> frozenset[str]:
        """Names that are said to be of a class whose members have no legal suffix."""
        class_of, superclasses = self.ontology.class_of, self.ontology.superclasses
        typed: list[tuple[str, OntologyTerm | None]] = []
        for index, term in statements.items():
            triple = self.triples[index]
            if term.kind == "class":
                typed.append((triple.subject, term))
            else:
                typed += [
                    (triple.subject, class_of(triple.subject_type)),
                    (triple.object, class_of(triple.object_type)),
                ]
        without_suffix = self.ontology.without_suffix
        return frozenset(name for name, class_ in typed if class_ and without_suffix & superclasses[class_.iri])

    def _assert(self, index: int, term: OntologyTerm) -> None:
        """Add what a triple states by its class or property, and by the types beside its names."""
        triple, class_of = self.triples[index], self.ontology.class_of
        types = (triple.subject_type, triple.object_type)
        if unknown := tuple(t for t in types if class_of(t) is None and not self.ontology.says_nothing(t)):
            self.abox.unknown_types[index] = unknown

        def add(fact: Fact, *, derived: bool = False) -> None:
            self.abox.facts.setdefault(fact, []).append(Source(index, derived))

        subject = self._number(triple.subject)
        if (class_ := class_of(triple.subject_type)) is not None:
            add(Fact("class", class_.iri, subject, None), derived=True)
        if term.kind == "class":
            add(Fact("class", term.iri, subject, None))
        elif term.kind == "data":
            value = read_value(triple.object, term.values)
            assert value is not None  # _term has read it
            add(Fact("data", term.iri, subject, Value(value.lexical, value.datatype)))
            if value.currency and term.currency:
                add(Fact("data", term.currency, subject, Value(value.currency, f"{XSD}string")), derived=True)
        else:
            object_ = self._number(triple.object)
            if (class_ := class_of(triple.object_type)) is not None:
                add(Fact("class", class_.iri, object_, None), derived=True)
            if inverse := self.ontology.by_iri.get(term.inverse or ""):
                add(Fact("object", inverse.iri, object_, subject))
            else:
                add(Fact("object", term.iri, subject, object_))

    def _number(self, name: str) -> int:
        number = self.numbers.setdefault(self.keys[name], len(self.abox.names))
        if number == len(self.abox.names):
            self.abox.names.append(name.strip())
        return number
