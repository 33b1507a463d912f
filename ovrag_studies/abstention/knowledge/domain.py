"""Description of one kind of graph, from a YAML file: classes, predicates, wordings, and what contradicts a claim."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError
from pyoxigraph import NamedNode, Triple

from ovrag_core.base import DomainError, Frozen, fault, read_yaml
from ovrag_core.graph import FactTable, Shapes, read_shapes
from ovrag_core.text import one_line

SUBCLASS = NamedNode("http://www.w3.org/2000/01/rdf-schema#subClassOf")
DISJOINT = NamedNode("http://www.w3.org/2002/07/owl#disjointWith")

Name = Annotated[str, Field(min_length=1, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
Kind = Literal["functional", "asymmetric", "acyclic", "subject", "object", "disjoint"]
Values = Literal["thing", "text", "amount", "rate", "date", "months", "boolean"]


class Class(Frozen):
    """A class of things. `disjoint` names classes that share no thing with it, nor do their subclasses."""

    iri: str | None = None
    parent: Name | None = None
    labels: tuple[str, ...] = ()
    disjoint: tuple[Name, ...] = ()


class Constraint(Frozen):
    """Rule that contradicts a claim which breaks it; `says` is its sentence, `shape` the IRI of its SHACL shape.

    functional: a subject has one object of the class at most (of any class, where none is given). asymmetric: not
    both ways. acyclic: nobody comes back to the start. subject, object: is no thing of a class disjoint with `of`.
    disjoint: not the same pair under the predicate `other`.
    """

    kind: Kind
    of: Name | None = None
    other: Name | None = None
    says: str
    shape: str


class Wording(Frozen):
    """Words that people use for a relation: its names, and templates with {subject} and {object}.

    `vocabulary` holds words for readers of questions: `verbs` whose grammatical subject is the claim's subject (*flow
    into*), of an inverse its object (*receive*), `* into` being any verb with that preposition; `nouns` that belong to
    the claim's subject (*mouth*), of an inverse to its object (*tributary*); `inverse_verbs` and `inverse_nouns` of a
    chain, which has no inverse (*basin*); `cues` that make the chain of the predicate; `fillers` that carry no relation
    (*waters*); `others`, of relations that are not in the domain. A preposition at the end is one that must be there.
    """

    labels: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    vocabulary: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def state(self, subject: str, object_: str, relation: str) -> str:
        """The first statement about two names; the bare `relation` between them where there is none."""
        return fill(self.statements[0], subject, object_) if self.statements else f"{subject} {relation} {object_}"


class Chain(Wording):
    """The predicate, once or several times over, by a name of its own. It is complete where it ends in `ends_in`."""

    name: Name
    ends_in: tuple[Name, ...] = ()


class Predicate(Wording):
    """A relation. `complete`: what is not recorded of a subject is not so. `values` is what its objects are."""

    name: Name
    iri: str
    values: Values = "thing"
    complete: bool = False
    inverse: Wording = Wording()
    chain: Chain | None = None
    constraints: dict[Name, Constraint] = Field(default_factory=dict)

    @property
    def called(self) -> str:
        """Its first name for people, if any; the one in the file."""
        return next(iter(self.labels), self.name)

    @cached_property
    def node(self) -> NamedNode:
        """Its IRI as graphs have it."""
        return NamedNode(self.iri)

    def is_chain(self, name: str) -> bool:
        """Return True where a name of this predicate (its name, IRI or chain's name) is that of its chain."""
        return self.chain is not None and name == self.chain.name


class Nested(Frozen):
    """Things of class `inner` may lie in things of class `outer`, so that both can be the object at once."""

    inner: Name
    outer: Name


class Naming(Frozen):
    """Rule that things of the classes in `different` are different where their names are unlike.

    `joints` are the words between a part and its whole (the bay *of* the lake). `short` writes out abbreviations.
    """

    different: tuple[Name, ...] = ()
    joints: tuple[str, ...] = ()
    short: dict[str, str] = Field(default_factory=dict)


class NamedClass(Frozen):
    """Objects of a kind with a word in their name are of another class than the rest of the kind."""

    kind: str
    word: str
    of: Name = Field(alias="class")


class TableFacts(Frozen):
    """Rules for reading a table of facts: the class of its subjects, and the classes by the names in `object_kind`."""

    subject: Name | None = None
    predicate: Name | None = None
    kinds: dict[str, Name] = Field(default_factory=dict)
    named: tuple[NamedClass, ...] = ()
    literals: frozenset[str] = frozenset({"literal"})


class Domain(Frozen):
    """A domain as its file gives it, the same as no other. `shapes` is the path of its SHACL shapes."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    name: Name
    prefix: str
    shapes: Path
    classes: dict[Name, Class]
    names: Naming = Naming()
    nested: tuple[Nested, ...] = ()
    predicates: Annotated[dict[Name, Predicate], Field(min_length=1)]
    facts: TableFacts = TableFacts()

    @cached_property
    def table(self) -> FactTable:
        """Rules by which the store reads a table of facts."""
        return FactTable(
            {name: predicate.node for name, predicate in self.predicates.items()},
            self.facts.predicate,
            self.class_iri(self.facts.subject) if self.facts.subject else None,
            {kind: self.class_iri(name) for kind, name in self.facts.kinds.items()},
            {(named.kind, named.word.casefold()): self.class_iri(named.of) for named in self.facts.named},
            self.facts.literals,
            frozenset((self.class_iri(a), self.class_iri(b)) for a, b in self.apart),
        )

    @cached_property
    def shape_set(self) -> Shapes:
        """The shapes in the file. Raises DomainError where a constraint names one that is not there."""
        shapes = read_shapes(self.shapes)
        for predicate in self.predicates.values():
            for name, constraint in predicate.constraints.items():
                if constraint.shape not in shapes.shapes:
                    missing = f"{constraint.shape}, which backs {predicate.name}.{name}"
                    raise DomainError(f"{self.shapes} has no shape {missing}")
        return shapes

    @cached_property
    def hierarchy(self) -> tuple[Triple, ...]:
        """The classes below others, and those that share nothing, as triples."""
        pairs = [(name, SUBCLASS, class_.parent) for name, class_ in self.classes.items() if class_.parent]
        pairs += [(name, DISJOINT, excluded) for name, class_ in self.classes.items() for excluded in class_.disjoint]
        return tuple(Triple(self.class_iri(left), relation, self.class_iri(right)) for left, relation, right in pairs)

    @cached_property
    def class_words(self) -> frozenset[str]:
        """The words that say what kind of thing something is, in lower case."""
        labels = (label for class_ in self.classes.values() for label in class_.labels)
        return frozenset(" ".join(labels).lower().split())

    @cached_property
    def chains(self) -> dict[str, Predicate]:
        """The predicates by the names of their chains."""
        return {p.chain.name: p for p in self.predicates.values() if p.chain}

    @cached_property
    def ancestors(self) -> dict[str, frozenset[str]]:
        """Each class with itself and all above it."""
        import networkx  # noqa: PLC0415 - takes a tenth of a second to load

        parents = {name: [class_.parent] if class_.parent else [] for name, class_ in self.classes.items()}
        above = networkx.DiGraph(parents)
        return {name: frozenset({name, *networkx.descendants(above, name)}) for name in self.classes}

    def predicate(self, name: str) -> Predicate:
        """The predicate of that name, IRI, or chain. Raises DomainError where there is none."""
        by_iri = {predicate.iri: predicate for predicate in self.predicates.values()}
        predicate = self.predicates.get(name) or self.chains.get(name) or by_iri.get(name)
        if predicate is None:
            known = ", ".join((*self.predicates, *self.chains))
            raise DomainError(f"{one_line(name, 80)} is no predicate of {self.name}; it has {known}")
        return predicate

    def class_iri(self, name: str) -> NamedNode:
        """The IRI of a class."""
        return NamedNode(self.classes[name].iri or self.prefix + name)

    @cached_property
    def apart(self) -> frozenset[tuple[str, str]]:
        """The pairs of classes that share no thing, by what is declared of them or of classes above them."""
        return self._below((name, excluded) for name, class_ in self.classes.items() for excluded in class_.disjoint)

    @cached_property
    def nesting(self) -> frozenset[tuple[str, str]]:
        """The pairs of classes of which a thing of one may lie in a thing of the other, either way round."""
        return self._below((pair.inner, pair.outer) for pair in self.nested)

    def _below(self, pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """The pairs of classes that are, or lie below, one of these pairs, both ways round."""
        below = {name: [c for c, above in self.ancestors.items() if name in above] for name in self.classes}
        found = {pair for one, other in pairs for pair in product(below[one], below[other])}
        return frozenset(found | {(b, a) for a, b in found})


def fill(template: str, subject: str, object_: str) -> str:
    """A wording with its names, in one pass: a name may itself hold what looks like the place of another."""
    names = {"{subject}": subject, "{object}": object_}
    return re.sub(r"\{subject\}|\{object\}", lambda match: names[match.group()], template)


def load_domain(path: Path) -> Domain:
    """The domain in a YAML file. Raises DomainError, with the file and the key, for one that cannot be used."""
    values = read_yaml(path, DomainError, "name a file of a domain")
    if not isinstance(values, dict):
        raise DomainError(f"{path} must hold keys and values; compare it with a file of ontologies/domains")
    prefix = str(values.get("prefix", ""))
    try:
        values = {**values, "shapes": path.parent / str(values.get("shapes", path.stem + ".shacl.ttl"))}
        values["predicates"] = {
            str(name): {"iri": prefix + str(name), **fields, "name": name}
            for name, fields in (values.get("predicates") or {}).items()
        }
        domain = Domain.model_validate(values)
    except ValidationError as error:
        raise DomainError(f"{path}: {fault(error)}; mend it") from None
    except (TypeError, AttributeError):
        raise DomainError(f"{path}: predicates must hold a name and its parts for each; mend it") from None
    if problem := next(_problems(domain), None):
        raise DomainError(f"{path}: {problem}")
    return domain


def _problems(domain: Domain) -> Iterator[str]:
    """What names something that is not there, or cannot be."""
    for where, name in _classes_named(domain):
        if name is not None and name not in domain.classes:
            yield f"{where}: {name} is no class of the domain; known are {', '.join(domain.classes)}"
    if domain.facts.predicate is not None and domain.facts.predicate not in domain.predicates:
        yield f"facts.predicate: {domain.facts.predicate} is no predicate; known are {', '.join(domain.predicates)}"
    iris = [(f"classes.{name}", class_.iri or domain.prefix + name) for name, class_ in domain.classes.items()]
    iris += [(f"predicates.{p.name}", p.iri) for p in domain.predicates.values()]
    for where, iri in iris:
        try:
            NamedNode(iri)
        except ValueError as error:
            yield f"{where}: {one_line(iri, 80)} is no IRI ({error}); mend it, or the prefix"
    for predicate in domain.predicates.values():
        yield from _predicate_problems(domain, predicate)


def _classes_named(domain: Domain) -> Iterator[tuple[str, str | None]]:
    """The names of classes that a domain uses, each with the key that it stands under."""
    for name, class_ in domain.classes.items():
        yield f"classes.{name}.parent", class_.parent
        yield from ((f"classes.{name}.disjoint", excluded) for excluded in class_.disjoint)
    yield from (("names.different", name) for name in domain.names.different)
    yield from (("nested", name) for pair in domain.nested for name in (pair.inner, pair.outer))
    yield "facts.subject", domain.facts.subject
    yield from (("facts.kinds", name) for name in domain.facts.kinds.values())
    yield from (("facts.named", named.of) for named in domain.facts.named)
    for predicate in domain.predicates.values():
        where = f"predicates.{predicate.name}"
        yield from ((f"{where}.chain", name) for name in (predicate.chain.ends_in if predicate.chain else ()))
        yield from ((f"{where}.constraints.{name}", c.of) for name, c in predicate.constraints.items())


def _predicate_problems(domain: Domain, predicate: Predicate) -> Iterator[str]:
    where = f"predicates.{predicate.name}"
    for wording in filter(None, (predicate, predicate.inverse, predicate.chain)):
        for text in (*wording.statements, *wording.questions):
            if not text.count("{subject}") == text.count("{object}") == 1:
                yield f"{where}: {text!r} must hold {{subject}} and {{object}} once each"
    for name, constraint in predicate.constraints.items():
        if constraint.kind == "functional" and predicate.values == "text":
            yield f"{where}.constraints.{name}: texts may say one thing in two ways; give the predicate other `values`"
        if constraint.kind in ("subject", "object") and constraint.of is None:
            yield f"{where}.constraints.{name}: kind {constraint.kind} needs a class in `of`"
        if constraint.kind == "disjoint" and constraint.other not in domain.predicates:
            yield f"{where}.constraints.{name}: kind disjoint needs a predicate of the domain in `other`"
