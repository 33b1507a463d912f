"""Ontology files → one `Ontology`: its terms with all their names, its rules, and the axioms for the reasoner.

Reads Turtle from one folder. Files are untrusted: `owl:imports` is never followed, and neither a file nor an address
is opened for anything a file says.
"""

import difflib
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Literal

from rdflib import OWL, RDF, RDFS, XSD, BNode, Graph, URIRef
from rdflib.namespace import SKOS
from rdflib.plugins.parsers.notation3 import BadSyntax
from rdflib.term import Node

from ovrag_core.base import OntologyError
from ovrag_core.ontology.annotations import UnknownTerm, unknown_names, unknown_terms
from ovrag_core.ontology.rules import RULE, SH, Rule, apply_settings, read_rules, texts

TermKind = Literal["class", "object", "data"]

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
        return {
            term.iri: frozenset(str(node) for node in self.graph.transitive_objects(URIRef(term.iri), RDFS.subClassOf))
            for term in self.classes
        }

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
        """Return True where a type carries no constraint.

        Such a type is none, a datatype, a term of RDF or OWL, or a word for anything.
        """
        name = type_.strip()
        return not name or fold(_local(name)) in self.any_types or _BUILT_IN.match(name) is not None

    def nearest_class(self, name: str) -> str | None:
        """Name of the class that is written most like `name`; None where none is near."""
        return _nearest(name, self.class_names)

    def nearest_property(self, name: str) -> str | None:
        """Name of the property that is written most like `name`; None where none is near."""
        return _nearest(name, self.property_names)

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


def load_ontology(
    folder: Path = Path("ontologies"), rules: Path | None = None, *, also: Sequence[Path] = ()
) -> Ontology:
    """All ontology files of `folder`, with the rule settings of `rules` (default `rules.yaml` in the folder, if there).

    `also` are files from elsewhere that are loaded with them.
    Raises OntologyError naming the file and what to do. That the axioms do not contradict each other is checked by
    `ovrag_core.loop.validation.Validator`, which has the reasoner.
    """
    files = sorted(folder.glob("*.ttl"))
    if not files:
        raise OntologyError(f"{folder} holds no ontology (.ttl); run from the project's folder or name it")
    files += also
    graph = Graph(bind_namespaces="none")
    digest = hashlib.sha256()
    for path in files:
        digest.update(read_into(graph, path))
    _refuse(unknown_terms(graph), files)
    ontology = assemble(graph, digest.digest(), folder, rules)
    _refuse(unknown_names(ontology), files)
    return ontology


def _refuse(slips: Iterator[UnknownTerm], files: Sequence[Path]) -> None:
    for unknown in slips:
        raise OntologyError(f"{_file_with(unknown.pattern, files)}: {unknown.clause}")


def _file_with(pattern: tuple[Node | None, Node | None, Node | None], files: Sequence[Path]) -> Path:
    """First of the files that states something of a pattern."""
    for path in files[:-1]:
        graph = Graph(bind_namespaces="none")
        read_into(graph, path)
        if pattern in graph:
            return path
    return files[-1]


def assemble(graph: Graph, digest: bytes, folder: Path, rules: Path | None) -> Ontology:
    """The ontology that a graph holds, with rule settings as for `load_ontology`. Raises OntologyError."""
    rule_set = read_rules(graph)
    settings = rules or folder / "rules.yaml"
    if rules or settings.exists():
        rule_set = apply_settings(rule_set, settings)
    _remove_axioms(graph, {rule.id for rule in rule_set if not rule.enabled})
    return Ontology(
        graph=graph,
        terms=_terms(graph),
        rules=rule_set,
        digest=hashlib.sha256(digest + repr(rule_set).encode()).hexdigest(),
        any_types=frozenset(fold(str(word)) for word in graph.objects(None, RULE.anyType)),
        no_values=frozenset(fold(str(word)) for word in graph.objects(None, RULE.noValue)) - {""},
        type_names=frozenset(fold(str(word)) for word in graph.objects(RDF.type, SKOS.altLabel)) | {"rdftype"},
        without_suffix=frozenset(str(node) for node in graph.subjects(RULE.withoutSuffix)),
    )


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    """A name without case, spaces, underscores and punctuation: `hasLoanAmount` and `has loan-amount` are the same."""
    return re.sub(r"[\W_]+", "", name).casefold()


def _local(name: str) -> str:
    """A name without the prefix or namespace in front of it; one with spaces is prose and stays as it is."""
    match = _QUALIFIED.match(name.strip())
    return match[1] if match else name


def _nearest(name: str, known: dict[str, OntologyTerm]) -> str | None:
    # A long name is no slip of the pen, and comparing it would take its time.
    folded = fold(_local(name))[:_LONGEST_NAME]
    near = difflib.get_close_matches(folded, known, n=1, cutoff=0.75) if folded else []
    return known[near[0]].name if near else None


def _by_name(terms: tuple[OntologyTerm, ...]) -> dict[str, OntologyTerm]:
    names: dict[str, OntologyTerm] = {}
    for term in terms:
        names.setdefault(fold(term.name), term)
    for term in terms:
        for wording in (term.label, *term.alternatives):
            names.setdefault(fold(wording), term)
    return names


def read_into(graph: Graph, path: Path) -> bytes:
    """Adds a file to a graph and returns its bytes. Raises OntologyError naming the file."""
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
    return content


def _terms(graph: Graph) -> tuple[OntologyTerm, ...]:
    terms = [
        _term(graph, node, kind)
        for type_, kind in _KINDS.items()
        for node in graph.subjects(RDF.type, type_, unique=True)
        if isinstance(node, URIRef) and not str(node).startswith(_LOGIC)
    ]
    return tuple(sorted(terms, key=lambda term: (term.name, term.iri)))


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
    shapes = _shape_nodes(graph)
    kinds = (OWL.Class, RDFS.Class, OWL.Restriction, OWL.ObjectProperty, OWL.DatatypeProperty)
    declared = {node for kind in kinds for node in graph.subjects(RDF.type, kind)}
    for subject, predicate, value in graph:
        if subject not in shapes and _is_logical(graph, subject, predicate, value, declared):
            yield f"{subject.n3()} {predicate.n3()} {value.n3()} .\n"


def _is_logical(graph: Graph, subject: Node, predicate: Node, value: Node, declared: set[Node]) -> bool:
    """Return True where OWL gives the statement a meaning.

    It does so for its own terms, and for assertions with declared classes and properties.
    """
    if predicate == RULE.rule:
        return (subject, RDF.type, OWL.Axiom) in graph
    if predicate == RDF.type:
        return value in declared or (str(value).startswith(_LOGIC) and value != OWL.Ontology)
    if str(predicate).startswith((*_LOGIC, str(XSD))):  # XSD: facets of datatypes
        return predicate not in _NOT_LOGIC
    return predicate in declared


def _shape_nodes(graph: Graph) -> set[Node]:
    """Nodes that belong to shapes: subjects of SHACL statements, and the lists those lead to."""
    nodes: set[Node] = {subject for subject, predicate, _ in graph if str(predicate).startswith(str(SH))}
    queue = list(nodes)
    while queue:
        for value in graph.objects(queue.pop()):
            if isinstance(value, BNode) and value not in nodes:
                nodes.add(value)
                queue.append(value)
    return nodes
