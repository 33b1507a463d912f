"""Random statements about loans, and reasoners asked about them: what tests of the reasoner share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from rdflib import OWL, Graph

from ovrag_core.base.errors import OntologyError, ReasonerError
from ovrag_core.base.types import Triple
from ovrag_core.ontology import java
from ovrag_core.ontology.assertions import assert_triples
from ovrag_core.ontology.load import Ontology
from ovrag_core.ontology.reasoner import Reasoner, plain_fact

LOAN_CLASSES = (
    *("Loan", "SecuredLoan", "UnsecuredLoan", "OpenEndCredit", "ClosedEndCredit", "ConsumerLoan", "CommercialLoan"),
    *("Mortgage", "StudentLoan", "SubsidizedStudentLoan", "GreenLoan", "CardAccount", "RevolvingLineOfCredit"),
    *("SecuredConsumerLoan", "ClosedEndMortgageLoan"),
)
PARTY_CLASSES = (
    *("NaturalPerson", "LegalEntity", "Corporation", "FinancialInstitution", "GovernmentBody", "SoleTrader", "Bank"),
)


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


def minimality(ontology: Ontology, wanted: int, seed: int) -> tuple[int, int]:
    """How many explanations of so many random contradictions Pellet too finds minimal, and how many there are."""
    reasoner = Reasoner(ontology)
    reasoner.start()
    java.start_jvm(1024, pellet=True)
    logic = java.Logic(ontology.axioms, {term.iri: term.name for term in ontology.terms})
    chance = random.Random(seed)
    minimal, found, contradictions = 0, 0, 0
    while contradictions < wanted:
        facts = list(assert_triples(random_triples(chance), ontology).facts)
        outcome = reasoner.check(facts)
        contradictions += not outcome.consistent
        for item in outcome.explanations[:3]:
            said = [plain_fact(facts[number]) for number in item.facts]
            for axioms in item.axioms:
                found += 1
                minimal += _is_minimal_by_pellet(logic, said, axioms)
    reasoner.close()
    return minimal, found


def _is_minimal_by_pellet(logic: object, facts: list[tuple[object, ...]], axioms: Sequence[int]) -> bool:

    def contradicts(some_facts: Sequence[object], some_axioms: Sequence[int]) -> bool:
        return not java.consistent_afresh(logic, some_axioms, some_facts, 20, pellet=True)

    return (
        contradicts(facts, axioms)
        and not any(contradicts([other for other in facts if other != fact], axioms) for fact in facts)
        and not any(contradicts(facts, [other for other in axioms if other != axiom]) for axiom in axioms)
    )


def disagreements(ontology: Ontology, count: int, seed: int) -> tuple[int, int, list[list[Triple]]]:
    """Random ABoxes through HermiT's tableau, HermiT as it comes (each tenth) and Pellet; those that differ last."""
    java.start_jvm(1024, pellet=True)
    logic = java.Logic(ontology.axioms)
    every = range(len(logic.axioms))
    fast = java.HermiT(logic, every, 20)
    chance = random.Random(seed)
    differing, inconsistent = [], 0
    for number in range(count):
        triples = random_triples(chance)
        facts = [plain_fact(fact) for fact in assert_triples(triples, ontology).facts]
        answers = {fast.consistent(facts), java.consistent_afresh(logic, every, facts, 20, pellet=True)}
        if number % 10 == 0:
            answers.add(java.consistent_afresh(logic, every, facts, 20))
        inconsistent += False in answers
        if len(answers) > 1:
            differing.append(triples)
    return count, inconsistent, differing


def w3c_axioms(path: Path) -> str:
    """A test premise as N-Triples without imports."""
    graph = Graph().parse(path, format="xml", publicID="http://example.org/base")
    graph.remove((None, OWL.imports, None))
    return str(graph.serialize(format="nt"))


def decide(axioms: str, reasoner: str, seconds: float) -> str:
    """consistent, inconsistent or unchecked."""
    ontology = Ontology(Graph(), (), (), "")
    vars(ontology)["axioms"] = axioms  # as they are, not those of a graph of ours
    engine = Reasoner(ontology, reasoner="pellet" if reasoner == "pellet" else "hermit", seconds=seconds)
    try:
        engine.start()
    except OntologyError as error:
        return "inconsistent" if "contradicts itself" in str(error) else "unchecked"
    except ReasonerError:
        return "unchecked"
    finally:
        engine.close()
    return "consistent"
