"""Ontology files → one `Ontology`: its terms with all their names, its rules, and the axioms for the reasoner.

Reads Turtle from one folder. Files are untrusted: `owl:imports` is never followed, and neither a file nor an address
is opened for anything a file says.
"""

import difflib
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Literal

from rdflib import OWL, RDF, RDFS, XSD, BNode, Graph, URIRef
from rdflib.namespace import SKOS
from rdflib.plugins.parsers.notation3 import BadSyntax
from rdflib.term import Node

from ovrag_core.base import OntologyError, Settings, project_file
from ovrag_core.ontology.annotations import Unknown, unknown_names, unknown_terms
from ovrag_core.ontology.rules import RULE, SH, Rule, apply_settings, read_rules, texts

TermKind = Literal["class", "object", "data"]
ONTOLOGIES = Path("ontologies")
VOCABULARY = "vocabulary.ttl"  # what turns an axiom into a rule: of no domain

_KINDS: dict[URIRef, TermKind] = {OWL.Class: "class", OWL.ObjectProperty: "object", OWL.DatatypeProperty: "data"}
_LOGIC = (str(RDF), str(RDFS), str(OWL))
_NOT_LOGIC = {RDFS.label, RDFS.comment, RDFS.seeAlso, RDFS.isDefinedBy, OWL.imports, OWL.versionIRI, OWL.versionInfo}
_LONGEST_NAME = 80
_QUALIFIED = re.compile(r"<?(?:[A-Za-z][\w.+-]*:)(?:[^\s<>]*[#/:])?([\w-]+)>?$")
_BUILT_IN = re.compile(r"<?(?:(?:xsd?|rdfs?|owl):|https?://www\.w3\.org/)")


@dataclass(frozen=True, slots=True)
class OntologyTerm:
    """A class or property. `name` is what triples use; `alternatives` are other names that mean the same.

    `parents` are names of its direct superclasses (or superproperties). Properties: `inverse` is the IRI of the
    property it is the inverse of; data properties: `values` says how a value is read, `currency` is the IRI of the
    property for its currency.
    """

    iri: str
    name: str
    kind: TermKind
    label: str
    alternatives: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    inverse: str | None = None
    values: str = "text"
    currency: str | None = None


@dataclass(frozen=True)
class Ontology:
    """Everything that is known of a domain: terms, rules, axioms and shapes."""

    graph: Graph
    terms: tuple[OntologyTerm, ...]
    rules: tuple[Rule, ...]
    digest: str
    any_types: frozenset[str] = field(default_factory=frozenset)
    no_values: frozenset[str] = field(default_factory=frozenset)
    without_suffix: frozenset[str] = field(default_factory=frozenset)
    type_names: frozenset[str] = frozenset({"rdftype"})

    @cached_property
    def classes(self) -> tuple[OntologyTerm, ...]:
        """The named classes, by name."""
        return tuple(term for term in self.terms if term.kind == "class")

    @cached_property
    def properties(self) -> tuple[OntologyTerm, ...]:
        """Object and data properties, by name."""
        return tuple(term for term in self.terms if term.kind != "class")

    @cached_property
    def by_iri(self) -> dict[str, OntologyTerm]:
        """Terms by IRI."""
        return {term.iri: term for term in self.terms}

    @cached_property
    def rule(self) -> dict[str, Rule]:
        """Rules by id."""
        return {rule.id: rule for rule in self.rules}

    @cached_property
    def class_names(self) -> dict[str, OntologyTerm]:
        """Classes by each of their names, folded by `fold`."""
        return _by_name(self.classes)

    @cached_property
    def property_names(self) -> dict[str, OntologyTerm]:
        """Properties by each of their names, folded by `fold`."""
        return _by_name(self.properties)

    @cached_property
    def superclasses(self) -> dict[str, frozenset[str]]:
        """IRIs of all named superclasses of each class, itself included, as `rdfs:subClassOf` states them."""
        above = {c.iri: self.graph.transitive_objects(URIRef(c.iri), RDFS.subClassOf) for c in self.classes}
        return {iri: frozenset(map(str, nodes)) for iri, nodes in above.items()}

    def class_of(self, name: str) -> OntologyTerm | None:
        """The class that a name means: one of its names, its IRI, or either with a prefix (`fibo:SecuredLoan`)."""
        return self._term_of(name, self.class_names)

    def property_of(self, name: str) -> OntologyTerm | None:
        """The property that a name means, written in any of the same ways."""
        return self._term_of(name, self.property_names)

    def _term_of(self, name: str, known: dict[str, OntologyTerm]) -> OntologyTerm | None:
        if (term := known.get(fold(name))) is not None or ":" not in name:
            return term
        term = self.by_iri.get(name.strip("<> ")) or known.get(fold(_local(name)))
        return term if term is not None and known.get(fold(term.name)) is term else None

    def states_type(self, predicate: str) -> bool:
        """Return True where a predicate says that something is of a class."""
        return fold(predicate) in self.type_names or (":" in predicate and fold(_local(predicate)) == "type")

    def says_nothing(self, type_: str) -> bool:
        """Return True for a type without constraint: none, a datatype, a term of RDF or OWL, a word for anything."""
        name = type_.strip()
        return not name or fold(_local(name)) in self.any_types or _BUILT_IN.match(name) is not None

    def nearest(self, name: str, kind: Literal["class", "property"]) -> str | None:
        """Name of the class or property that is written most like `name`; None where none is near."""
        known = self.class_names if kind == "class" else self.property_names
        # A long name is no slip of the pen, and comparing it would take its time.
        folded = fold(_local(name))[:_LONGEST_NAME]
        near = difflib.get_close_matches(folded, known, n=1, cutoff=0.75) if folded else []
        return known[near[0]].name if near else None

    def ends(self, term: OntologyTerm) -> tuple[frozenset[str], frozenset[str]]:
        """IRIs of the named classes that a property is declared to lead from and to."""
        domain, range_ = (map(str, self.graph.objects(URIRef(term.iri), side)) for side in (RDFS.domain, RDFS.range))
        return frozenset(self.by_iri.keys() & domain), frozenset(self.by_iri.keys() & range_)

    def excludes(self, one: str, other: str) -> bool:
        """Return True where things of two classes (IRIs) are of different kinds.

        They are where all their topmost classes are declared disjoint. A contradiction within one kind, such as a
        secured and an unsecured loan, does not count: that is for the rules.
        """
        tops = self._topmost
        return all(frozenset((mine, theirs)) in self._disjoint for mine in tops[one] for theirs in tops[other])

    def are_disjoint(self, one: str, other: str) -> bool:
        """Return True where two classes (IRIs), or classes above them, are declared disjoint."""
        above = self.superclasses
        pairs = (frozenset((mine, theirs)) for mine in above.get(one, ()) for theirs in above.get(other, ()))
        return any(pair in self._disjoint for pair in pairs)

    @cached_property
    def _topmost(self) -> dict[str, frozenset[str]]:
        """IRIs of the classes above each class that have none above them."""
        above = self.superclasses
        return {
            iri: frozenset(top for top in supers if top in above and above[top] & above.keys() == {top})
            for iri, supers in above.items()
        }

    @cached_property
    def _disjoint(self) -> frozenset[frozenset[str]]:
        """Pairs of classes that are declared disjoint, by IRI."""
        pairs = {frozenset((str(a), str(b))) for a, b in self.graph.subject_objects(OWL.disjointWith)}
        for head in self.graph.objects(None, OWL.members):
            members = [str(m) for m in self.graph.items(head)]
            pairs |= {frozenset(pair) for pair in combinations(members, 2)}
        return frozenset(pairs)

    @cached_property
    def axioms(self) -> str:
        """The logical part as N-Triples: no annotation but `urn:ovrag:rule#rule` on axioms, no shape, no import."""
        return "".join(sorted(_logic(self.graph)))


def load_ontology(folder: Path = ONTOLOGIES, rules: Path | None = None, *, also: Sequence[Path] = ()) -> Ontology:
    """All ontology files of `folder`, with the rule settings of `rules` (default `rules.yaml` in the folder, if there).

    `also` are files from elsewhere that are loaded with them.
    Raises OntologyError naming the file and what to do. That the axioms do not contradict each other is checked by
    `ovrag_core.loop.validation.Validator`, which has the reasoner.
    """
    paths = sorted(folder.glob("*.ttl"))
    if not paths:
        raise OntologyError(f"{folder} holds no ontology (.ttl); run from the project's folder or name it")
    paths += also
    contents, graphs = zip(*map(_read, paths), strict=True)
    graph = Graph(bind_namespaces="none")
    for part in graphs:
        graph += part
    files = dict(zip(paths, graphs, strict=True))
    _refuse(unknown_terms(graph), files)
    rule_set = read_rules(graph)
    settings = rules or folder / "rules.yaml"
    if rules or settings.exists():
        rule_set = apply_settings(rule_set, settings)
    _remove_axioms(graph, {rule.id for rule in rule_set if not rule.enabled})
    digest = hashlib.sha256(b"".join(contents)).digest()
    ontology = Ontology(
        graph=graph,
        terms=_terms(graph),
        rules=rule_set,
        digest=hashlib.sha256(digest + repr(rule_set).encode()).hexdigest(),
        any_types=frozenset(fold(str(word)) for word in graph.objects(None, RULE.anyType)),
        no_values=frozenset(fold(str(word)) for word in graph.objects(None, RULE.noValue)) - {""},
        type_names=frozenset(fold(str(word)) for word in graph.objects(RDF.type, SKOS.altLabel)) | {"rdftype"},
        without_suffix=frozenset(str(node) for node in graph.subjects(RULE.withoutSuffix)),
    )
    _refuse(unknown_names(graph, ontology.by_iri.keys()), files)
    return ontology


def open_ontology(settings: Settings) -> Ontology:
    """The ontology with its rule settings: ours, or another domain's."""
    ours = project_file(ONTOLOGIES)
    if settings.ontology.domain is not None:
        return load_ontology(settings.ontology.domain, also=[ours / VOCABULARY])
    return load_ontology(ours, rules=project_file(settings.validation.rules))


def _refuse(unknown: Iterator[Unknown], files: Mapping[Path, Graph]) -> None:
    """Raise OntologyError for the first of the unknown terms, with the file that holds it."""
    for pattern, clause in unknown:
        path = next((path for path, graph in files.items() if pattern in graph), list(files)[-1])
        raise OntologyError(f"{path}: {clause}")


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    """A name without case, spaces, underscores and punctuation: `hasLoanAmount` and `has loan-amount` are the same."""
    return re.sub(r"[\W_]+", "", name).casefold()


def _local(name: str) -> str:
    """A name without the prefix or namespace in front of it; one with spaces is prose and stays as it is."""
    match = _QUALIFIED.match(name.strip())
    return match[1] if match else name


def _by_name(terms: tuple[OntologyTerm, ...]) -> dict[str, OntologyTerm]:
    """Terms by each of their names; what is one's name is not another's label or alternative."""
    names: dict[str, OntologyTerm] = {}
    named = [(term.name, term) for term in terms]
    called = [(wording, term) for term in terms for wording in (term.label, *term.alternatives)]
    for wording, term in named + called:
        names.setdefault(fold(wording), term)
    return names


def _read(path: Path) -> tuple[bytes, Graph]:
    """The bytes of a file and the graph they hold. Raises OntologyError naming the file."""
    graph = Graph(bind_namespaces="none")
    try:
        content = path.read_bytes()
        graph.parse(data=content, format="turtle", publicID="urn:ovrag:base#")
    except BadSyntax as error:
        why = re.search(r"\(([^()]*)\) at \^", str(error))
        reason = f" ({why[1]})" if why else ""
        raise OntologyError(
            f"{path} is not valid Turtle at line {error.lines + 1}{reason}; mend that line and try again"
        ) from None
    except (OSError, RecursionError, LookupError, ValueError, AssertionError) as error:
        reason = " ".join(str(error).split())[:160]
        raise OntologyError(f"{path} cannot be read as Turtle ({reason}); mend the file") from None
    return content, graph


def _terms(graph: Graph) -> tuple[OntologyTerm, ...]:
    declared = [(node, kind) for type_, kind in _KINDS.items() for node in graph.subjects(RDF.type, type_, unique=True)]
    named = [(node, kind) for node, kind in declared if isinstance(node, URIRef) and not str(node).startswith(_LOGIC)]
    return tuple(sorted((_term(graph, *term) for term in named), key=lambda term: (term.name, term.iri)))


def _term(graph: Graph, node: URIRef, kind: TermKind) -> OntologyTerm:
    name = _name(graph, node)
    labels = texts(graph, node, SKOS.prefLabel) or texts(graph, node, RDFS.label)
    above = RDFS.subClassOf if kind == "class" else RDFS.subPropertyOf
    inverse = graph.value(node, OWL.inverseOf)
    currency = graph.value(node, RULE.currency)
    return OntologyTerm(
        iri=str(node),
        name=name,
        kind=kind,
        label=labels[0] if labels else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower(),
        alternatives=tuple(texts(graph, node, SKOS.altLabel) + texts(graph, node, SKOS.hiddenLabel)),
        parents=tuple(sorted(_name(graph, up) for up in graph.objects(node, above) if isinstance(up, URIRef))),
        inverse=str(inverse) if isinstance(inverse, URIRef) else None,
        values=next(iter(texts(graph, node, RULE.values)), "text"),
        currency=str(currency) if currency else None,
    )


def _name(graph: Graph, node: URIRef) -> str:
    return next(iter(texts(graph, node, SKOS.notation)), re.split(r"[#/:]", str(node).rstrip("#/"))[-1])


def _remove_axioms(graph: Graph, off: set[str]) -> None:
    """Takes the axioms of rules that are switched off out of the graph, for every reader of it alike."""
    for node, id_ in list(graph.subject_objects(RULE.rule)):
        if str(id_) not in off or (node, RDF.type, OWL.Axiom) not in graph:
            continue
        subject, predicate = graph.value(node, OWL.annotatedSource), graph.value(node, OWL.annotatedProperty)
        graph.remove((subject, predicate, graph.value(node, OWL.annotatedTarget)))
        graph.remove((node, None, None))


def _logic(graph: Graph) -> Iterator[str]:
    """The statements that OWL gives a meaning: with its own terms, or with declared classes and properties."""
    shapes = _shape_nodes(graph)
    kinds = (OWL.Class, RDFS.Class, OWL.Restriction, OWL.ObjectProperty, OWL.DatatypeProperty)
    declared = {node for kind in kinds for node in graph.subjects(RDF.type, kind)}
    for subject, predicate, value in graph:
        if predicate == RULE.rule:
            is_logical = (subject, RDF.type, OWL.Axiom) in graph
        elif predicate == RDF.type:
            is_logical = value in declared or (str(value).startswith(_LOGIC) and value != OWL.Ontology)
        elif str(predicate).startswith((*_LOGIC, str(XSD))):  # XSD: facets of datatypes
            is_logical = predicate not in _NOT_LOGIC
        else:
            is_logical = predicate in declared
        if is_logical and subject not in shapes:
            yield f"{subject.n3()} {predicate.n3()} {value.n3()} .\n"


def _shape_nodes(graph: Graph) -> set[Node]:
    """Nodes that belong to shapes: subjects of SHACL statements, and the lists those lead to."""

    def nameless(node: Node, graph: Graph) -> list[Node]:
        return [value for value in graph.objects(node) if isinstance(value, BNode)]

    shapes: set[Node] = {subject for subject, predicate, _ in graph if str(predicate).startswith(str(SH))}
    return shapes.union(*(graph.transitiveClosure(nameless, shape) for shape in shapes))
