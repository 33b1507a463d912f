"""Verdicts: the rule table, minimal explanations with their quotes, causes, and checks that cannot run."""

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies
from hypothesis import settings as hypothesis_settings

from ovrag_core.base.errors import OntologyError
from ovrag_core.base.types import Evidence, Origin, Triple, Verdict, Violation
from ovrag_core.loop.validation import KEEP, Validator, assign_causes, feedback
from ovrag_core.ontology.assertions import unmapped_reasons
from ovrag_core.ontology.load import Ontology, load_ontology

PREFIXES = """
@prefix loan: <urn:ovrag:loan#> . @prefix ovr: <urn:ovrag:rule#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix ln: <https://spec.edmcouncil.org/fibo/ontology/LOAN/LoansGeneral/Loans/> .
@prefix grn: <https://spec.edmcouncil.org/fibo/ontology/LOAN/LoansSpecific/GreenLoans/> .
"""


def said(
    subject: str,
    predicate: str,
    object_: str,
    *,
    object_type: str = "",
    origin: Origin = "context",
    document: str | None = None,
    quote: str | None = None,
) -> Triple:
    words = quote or f"{subject} {predicate} {object_}"
    evidence = Evidence(document_id=document, start=0, end=len(words), quote=words) if document else None
    return Triple(
        subject=subject, predicate=predicate, object=object_, object_type=object_type, origin=origin, evidence=evidence
    )


def is_a(*classes: str, subject: str = "Loan") -> list[Triple]:
    return [said(subject, "rdf:type", class_) for class_ in classes]


def clashes(verdict: Verdict) -> set[str | None]:
    return {violation.clash_type for violation in verdict.violations if violation.severity == "clash"}


def rules(verdict: Verdict) -> set[str]:
    return {violation.rule for violation in verdict.violations}


@pytest.fixture(scope="module")
def ontology(project: Path) -> Ontology:
    return load_ontology(project / "ontologies")


@pytest.fixture(scope="module")
def validator(ontology: Ontology) -> Iterator[Validator]:
    validator = Validator(ontology)
    yield validator
    validator.close()


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "ontologies"
    folder.mkdir()
    for path in (project / "ontologies").iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    return folder


KINDS = (
    "ConsumerLoan",
    "CommercialLoan",
    "Mortgage",
    "StudentLoan",
    "SubsidizedStudentLoan",
    "CardAccount",
    "GreenLoan",
    "Loan",
)
PARTIES = ("NaturalPerson", "SoleTrader", "LegalEntity", "Corporation", "FinancialInstitution", "GovernmentBody")
PERSONS = ("NaturalPerson", "SoleTrader")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("party", PARTIES)
def test_the_rule_table_for_borrowers(validator: Validator, kind: str, party: str) -> None:
    verdict = validator.check(
        [*is_a(kind), said("Loan", "hasBorrower", "Somebody", object_type=party)], closed_world=False
    )
    person = party in PERSONS
    forbidden = (kind in ("ConsumerLoan", "StudentLoan", "SubsidizedStudentLoan") and not person) or (
        kind == "CommercialLoan" and person
    )
    assert clashes(verdict) == ({"borrower_type"} if forbidden else set())
    assert verdict.status == ("inconsistent" if forbidden else "consistent")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("party", PARTIES)
def test_the_rule_table_for_lenders(validator: Validator, kind: str, party: str) -> None:
    verdict = validator.check(
        [*is_a(kind), said("Loan", "hasLender", "Somebody", object_type=party)], closed_world=False
    )
    forbidden = kind in ("CommercialLoan", "Mortgage", "CardAccount") and party in PERSONS
    assert clashes(verdict) == ({"lender_type"} if forbidden else set())


@pytest.mark.parametrize(
    ("one", "other"),
    list(itertools.combinations(("SecuredLoan", "UnsecuredLoan", "OpenEndCredit", "ClosedEndCredit", *KINDS), 2)),
)
def test_which_classes_exclude_each_other(validator: Validator, one: str, other: str) -> None:
    verdict = validator.check(is_a(one, other), closed_world=False)
    security = {one, other} in ({"SecuredLoan", "UnsecuredLoan"}, {"UnsecuredLoan", "Mortgage"})
    closed = {"ClosedEndCredit", "StudentLoan", "SubsidizedStudentLoan"}
    open_ = {"OpenEndCredit", "CardAccount"}
    form = (one in closed and other in open_) or (one in open_ and other in closed)
    expected = ({"secured_unsecured"} if security else set()) | ({"openend_closedend"} if form else set())
    assert clashes(verdict) == expected
    assert ("purpose_exclusive" in rules(verdict)) == ({one, other} == {"ConsumerLoan", "CommercialLoan"})


def test_unsecured_with_collateral_is_a_clash_and_says_which(validator: Validator) -> None:
    verdict = validator.check([*is_a("UnsecuredLoan"), said("Loan", "hasCollateral", "the mill")], closed_world=False)
    (violation,) = verdict.violations
    assert violation.clash_type == "secured_unsecured"
    assert violation.message == "The loan is called unsecured, but collateral is given for it: the mill."
    assert violation.axioms == ("UnsecuredLoan SubClassOf hasCollateral only Nothing",)


def test_consumer_and_commercial_is_a_warning_until_there_is_a_borrower(validator: Validator) -> None:
    kinds = is_a("ConsumerLoan", "CommercialLoan")
    assert validator.check(kinds, closed_world=False).status == "consistent"
    verdict = validator.check([*kinds, said("Loan", "hasBorrower", "Acme")], closed_world=False)
    assert clashes(verdict) == {"borrower_type"}


def test_a_party_of_two_kinds_is_a_warning_of_its_own(validator: Validator) -> None:
    verdict = validator.check(is_a("NaturalPerson", "Corporation", subject="Bob"))
    assert verdict.status == "consistent"
    assert rules(verdict) == {"party_kind"}


def test_secured_without_collateral_needs_the_whole_document(validator: Validator) -> None:
    triples = is_a("CommercialLoan", "SecuredLoan")
    assert validator.check(triples, closed_world=False).status == "consistent"
    verdict = validator.check(triples)
    assert verdict.status == "inconsistent"
    (violation,) = [item for item in verdict.violations if item.severity == "clash"]
    assert (violation.rule, violation.kind) == ("secured_names_collateral", "closed_world")
    assert violation.triples == (triples[1],)
    assert validator.check([*triples, said("Loan", "hasCollateral", "plant")]).status == "consistent"


def test_a_mortgage_without_its_property_is_a_warning_only(validator: Validator) -> None:
    verdict = validator.check(is_a("Mortgage", "SecuredLoan"))
    assert verdict.status == "consistent"
    assert "mortgage_names_property" in rules(verdict)


def test_two_values_are_warnings_and_equal_values_are_none(validator: Validator) -> None:
    base = [*is_a("Loan"), said("Loan", "hasPrincipalAmount", "USD 10,000.00")]
    same = validator.check([*base, said("Loan", "hasLoanAmount", "$10,000")])
    assert "one_principal" not in rules(same)
    assert "one_currency" not in rules(same)
    other = validator.check([*base, said("Loan", "hasPrincipalAmount", "EUR 10,001")])
    assert {"one_principal", "one_currency"} <= rules(other)
    assert other.status == "consistent"


def test_facilities_are_kept_apart(validator: Validator) -> None:
    verdict = validator.check(
        [*is_a("SecuredLoan", subject="TermLoan"), *is_a("UnsecuredLoan", subject="Revolver")], closed_world=False
    )
    assert verdict.violations == ()


def test_explanations_are_minimal(validator: Validator) -> None:
    triples = [
        *is_a("Mortgage", "ConsumerLoan", "UnsecuredLoan", "OpenEndCredit", "ClosedEndCredit"),
        said("Loan", "hasBorrower", "Acme LLC", object_type="Corporation"),
        said("Loan", "hasLender", "Jane Roe", object_type="NaturalPerson"),
        said("Loan", "hasCollateral", "the house"),
        said("Loan", "hasPrincipalAmount", "USD 5"),
    ]
    verdict = validator.check(triples, closed_world=False)
    assert clashes(verdict) == {"secured_unsecured", "openend_closedend", "borrower_type", "lender_type"}
    for violation in verdict.violations:
        assert clashes(validator.check(violation.triples, closed_world=False)) == {violation.clash_type}
        for left_out in violation.triples:
            rest = [triple for triple in violation.triples if triple is not left_out]
            assert validator.check(rest, closed_world=False).status == "consistent"


def test_one_violation_for_each_rule_and_loan_however_often_it_is_said(validator: Validator) -> None:
    triples = [*is_a("UnsecuredLoan"), *is_a("UnsecuredLoan")] + [
        said("Loan", "hasCollateral", f"machine {n}") for n in range(40)
    ]
    verdict = validator.check(triples, closed_world=False)
    assert [violation.rule for violation in verdict.violations] == ["unsecured_has_none"]
    two = [*is_a("UnsecuredLoan", "SecuredLoan", subject="A"), *is_a("UnsecuredLoan", "SecuredLoan", subject="B")]
    assert len(validator.check(two, closed_world=False).violations) == 2


def test_the_most_direct_passages_are_shown(validator: Validator) -> None:
    triples = [
        said("Loan", "rdf:type", "SecuredLoan"),
        said(
            "Loan",
            "rdf:type",
            "SecuredLoan",
            document="C1",
            quote="a long passage in which among much else the loan is said to be secured",
        ),
        said("Loan", "rdf:type", "SecuredLoan", document="C1", quote="The loan is secured."),
        said("Loan", "rdf:type", "UnsecuredLoan", document="C1", quote="The loan is unsecured."),
    ]
    (violation,) = validator.check(triples, closed_world=False).violations
    assert [triple.evidence.quote for triple in violation.triples if triple.evidence] == [
        "The loan is secured.",
        "The loan is unsecured.",
    ]


def cause(validator: Validator, triples: list[Triple]) -> list[str | None]:
    verdict = assign_causes(validator.check(triples, closed_world=False, document="C1"), "C1")
    return [violation.cause for violation in verdict.violations]


def test_causes(validator: Validator) -> None:
    secured = said("Loan", "rdf:type", "SecuredLoan", document="C1")
    unsecured = said("Loan", "rdf:type", "UnsecuredLoan", document="C1")
    answered = said("Loan", "rdf:type", "UnsecuredLoan", origin="answer", document="C1")
    elsewhere = said("Loan", "rdf:type", "UnsecuredLoan", document="C2")
    assert cause(validator, [secured, answered]) == ["answer"]
    assert cause(validator, [secured, unsecured]) == ["source"]
    assert cause(validator, [answered, secured, unsecured]) == ["source"], "what the context says too is the context's"
    assert cause(validator, [secured, elsewhere]) == ["mixture"]
    assert cause(validator, [secured, elsewhere, unsecured]) == ["source"], "one document suffices"
    both_elsewhere = [elsewhere, said("Loan", "rdf:type", "SecuredLoan", document="C2")]
    assert cause(validator, both_elsewhere) == ["mixture"], "another document's contradiction is not this one's"
    assert cause(validator, [*both_elsewhere, secured, unsecured]) == ["source"]


def test_a_mixture_names_its_documents(validator: Validator) -> None:
    triples = [
        said("Loan", "rdf:type", "SecuredLoan", document="C1"),
        said("Loan", "rdf:type", "UnsecuredLoan", document="C2"),
    ]
    verdict = assign_causes(validator.check(triples, closed_world=False, document="C1"), "C1")
    assert verdict.violations[0].message.endswith("These are statements of different documents: C1 and C2.")
    assert verdict.reason == verdict.violations[0].message


def test_the_answer_is_not_blamed_for_what_the_document_contradicts_itself_about(validator: Validator) -> None:
    """Two collaterals, one of them from the answer only: the context's own suffices."""
    triples = [
        said("Loan", "hasCollateral", "the boat", origin="answer", document="C1"),
        said("Loan", "hasCollateral", "the house", document="C1"),
        said("Loan", "rdf:type", "UnsecuredLoan", document="C1"),
    ]
    assert cause(validator, triples) == ["source"]


def test_feedback_names_only_what_the_answer_must_change(validator: Validator) -> None:
    triples = [
        said("Loan", "rdf:type", "SecuredLoan", document="C1", quote="secured by the mill"),
        said("Loan", "rdf:type", "UnsecuredLoan", origin="answer", document="answer", quote="It is unsecured."),
        said("Loan", "rdf:type", "OpenEndCredit", document="C1"),
        said("Loan", "rdf:type", "ClosedEndCredit", document="C1"),
    ]
    text = feedback(assign_causes(validator.check(triples, closed_world=False), "C1"))
    assert "You said that Loan is an unsecured loan, in “It is unsecured”." in text
    assert "The document says: “secured by the mill”." in text
    assert text.endswith(KEEP)
    assert "open-end" not in text


def test_what_cannot_be_said_is_reported_not_dropped(validator: Validator) -> None:
    triples = [
        said("Loan", "hasFavouriteColour", "blue"),
        said("Loan", "rdf:type", "Spaceship"),
        said("Loan", "hasInterestRate", "whatever the moon says"),
        said("Loan", "hasCollateral", "n/a"),
        said("", "hasBorrower", "x"),
        *is_a("Loan"),
    ]
    assert validator.check(triples).unmapped == tuple(triples[:5])


def typed(subject_type: str, object_type: str, predicate: str = "hasBorrower") -> Triple:
    return Triple(subject="L", predicate=predicate, object="Jo", subject_type=subject_type, object_type=object_type)


@pytest.mark.parametrize(
    ("subject_type", "object_type"),
    [("Morgage", "NaturalPerson"), ("Loan", "Corporatoin"), ("fibo:Morgage", ""), ("http://x.org/a#Morgage", "")],
)
def test_a_type_nobody_knows_is_reported_and_the_rest_is_still_said(
    validator: Validator, subject_type: str, object_type: str
) -> None:
    triple = typed(subject_type, object_type)
    verdict = validator.check([*is_a("CommercialLoan", subject="L"), *is_a("Person", subject="Jo"), triple])
    assert verdict.unmapped == (triple,)
    assert "commercial_borrower" in rules(verdict)


@pytest.mark.parametrize(
    "type_",
    [
        *("", "  ", "Entity", "class", "String", "owl:Thing", "xsd:decimal", "xs:date", "Rate", "Literal"),
        *("http://www.w3.org/2001/XMLSchema#date", "<http://www.w3.org/2002/07/owl#Class>", "GeographicRegion"),
    ],
)
def test_words_for_anything_carry_no_constraint_and_are_no_error(validator: Validator, type_: str) -> None:
    assert validator.check([typed(type_, type_)]).unmapped == ()


@pytest.mark.parametrize("form", ["{}", "fibo:{}", "loan:{}", "https://spec.edmcouncil.org/fibo/x/{}", "urn:x#{}"])
def test_a_prefix_or_a_namespace_changes_no_name(validator: Validator, form: str) -> None:
    triple = typed(form.format("CommercialLoan"), form.format("NaturalPerson"), form.format("hasBorrower"))
    verdict = validator.check([triple])
    assert (clashes(verdict), verdict.unmapped) == ({"borrower_type"}, ())


VALUE_WORDS = ("Purpose", "Interest Rate", "principal amount", "maturity-date", "Term", "Payment", "hasCost")
PARTY_WORDS = ("Lender", "borrower", "Guarantor", "Bank", "creditor", "Natural Person")
LOAN_WORDS = ("Loan", "Line of Credit", "mortgage", "Secured Loan", "Facility")
OF_LOANS = ("hasInterestRate", "hasPurpose", "hasPrincipalAmount", "hasMaturityDate", "hasLender", "hasBorrower")
SOUND = [
    *is_a("UnsecuredLoan", "ConsumerLoan"),
    said("Loan", "hasBorrower", "Ann Lee", object_type="NaturalPerson"),
    said("Loan", "hasLender", "First Bank", object_type="Bank"),
    said("Loan", "hasPrincipalAmount", "USD 9,000"),
    said("Loan", "hasMaturityDate", "2031-06-30"),
]
misplaced_subjects = strategies.builds(
    lambda subject, type_, predicate, object_: Triple(
        subject=subject, subject_type=type_, predicate=predicate, object=object_
    ),
    strategies.sampled_from(VALUE_WORDS + PARTY_WORDS),
    strategies.sampled_from(("", "Loan", "SecuredLoan", "Entity")),
    strategies.sampled_from(OF_LOANS),
    strategies.sampled_from(("5%", "USD 20", "2031-01-01", "Ann Lee", "a car")),
)
misplaced_objects = strategies.builds(
    lambda predicate, object_, type_: Triple(
        subject="Loan", subject_type="Loan", predicate=predicate, object=object_, object_type=type_
    ),
    strategies.sampled_from(("hasLender", "hasBorrower", "hasGuarantor")),
    strategies.sampled_from(VALUE_WORDS + LOAN_WORDS[1:]),
    strategies.sampled_from(("", "Bank", "Party")),
)
typed_as_another = strategies.builds(
    lambda subject, type_, predicate: Triple(subject=subject, subject_type=type_, predicate=predicate, object="5%"),
    strategies.sampled_from(("First Bank", "Acme", "Ann Lee")),
    strategies.sampled_from(("Bank", "Corporation", "NaturalPerson", "Lender")),
    strategies.just("hasInterestRate"),
)
misplaced_types = strategies.builds(
    said, strategies.sampled_from(VALUE_WORDS + PARTY_WORDS), strategies.just("rdf:type"), strategies.just("Loan")
)


@given(strategies.lists(misplaced_subjects | misplaced_objects | typed_as_another | misplaced_types, max_size=6))
@hypothesis_settings(max_examples=60, deadline=None)
def test_words_for_values_and_parties_make_no_loan_and_no_party(validator: Validator, misplaced: list[Triple]) -> None:
    verdict = validator.check([*misplaced, *SOUND])
    assert (verdict.status, rules(verdict)) == ("consistent", set())
    readable = [each for each in misplaced if each not in verdict.unmapped]
    assert readable == []
    assert {"of another kind" in why or "cannot be read" in why for why in reasons_of(misplaced, validator)} <= {True}


def reasons_of(triples: list[Triple], validator: Validator) -> list[str]:
    return list(unmapped_reasons(triples, validator.ontology).values())


@pytest.mark.parametrize(
    "triple",
    [
        said("Loan", "hasLender", "Lender"),
        said("Loan", "hasCollateral", "Mortgage"),
        said("Note", "hasInterestRate", "5%"),
        said("Term Loan", "hasInterestRate", "5%"),
        Triple(subject="L", subject_type="UnsecuredLoan", predicate="hasCollateral", object="a car"),
    ],
    ids=lambda triple: f"{triple.subject} {triple.predicate} {triple.object}",
)
def test_what_may_stand_in_a_place_is_asserted(ontology: Ontology, triple: Triple) -> None:
    assert unmapped_reasons([triple], ontology) == {}


def test_the_nearest_known_name_is_suggested(ontology: Ontology) -> None:
    triples = [
        typed("Morgage", "Corporatoin"),
        typed("", "", predicate="hasBorower"),
        said("L", "rdf:type", "Spaceship"),
        said("L", "hasInterestRate", "whatever the moon says"),
        said("L", "rdf:type", "Entity"),
        said("L", "hasColour", "x" * 100_000, object_type="y" * 100_000),
    ]
    reasons = unmapped_reasons(triples, ontology)
    assert list(reasons.values())[:5] == [
        "unknown class Morgage (did you mean Mortgage?), read without it; "
        "unknown class Corporatoin (did you mean Corporation?), read without it",
        "unknown predicate hasBorower (did you mean hasBorrower?)",
        "unknown class Spaceship",
        "value cannot be read: whatever the moon says",
        "the class says nothing: Entity",
    ]
    assert len(reasons[5]) < 200


def test_inverse_and_other_names_take_part(validator: Validator) -> None:
    verdict = validator.check(
        [said("Jane Roe", "isLenderOf", "Loan"), *is_a("Person", subject="Jane Roe"), *is_a("MortgageLoan")],
        closed_world=False,
    )
    assert clashes(verdict) == {"lender_type"}


def test_types_beside_names_count(validator: Validator) -> None:
    triple = Triple(
        subject="L", predicate="hasLender", object="J", subject_type="CommercialLoan", object_type="NaturalPerson"
    )
    verdict = validator.check([triple], closed_world=False)
    assert clashes(verdict) == {"lender_type"}
    assert verdict.violations[0].triples == (triple,)


@pytest.mark.parametrize(
    "name",
    ['O"Neil', "two\nlines", "😀", "<urn:x> . <urn:y>", "a" * 100_000, "\ud800", "\u202eevil", "NUL\x00", "%s{}"],
)
def test_odd_names_are_only_names(validator: Validator, name: str) -> None:
    verdict = validator.check(
        [*is_a("Mortgage"), said("Loan", "hasLender", name, object_type="NaturalPerson")], closed_world=False
    )
    assert clashes(verdict) == {"lender_type"}
    assert len(verdict.violations[0].message) < 400


def test_five_thousand_triples_are_a_check_like_any_other(validator: Validator) -> None:
    triples = [said(f"Loan{n % 500}", "hasBorrower", f"Person {n}", object_type="NaturalPerson") for n in range(4_990)]
    assert validator.check(triples, closed_world=False).status == "consistent"
    verdict = validator.check([*triples, *is_a("SecuredLoan", "UnsecuredLoan", subject="Loan7")], closed_world=False)
    assert [violation.rule for violation in verdict.violations] == ["security_exclusive"]


def test_no_triples_are_consistent(validator: Validator) -> None:
    assert validator.check([]) == Verdict(status="consistent")


def test_the_same_triples_give_the_same_bytes(validator: Validator, ontology: Ontology) -> None:
    triples = is_a("Mortgage", "ConsumerLoan", "UnsecuredLoan", "CardAccount", "ClosedEndCredit")
    triples += [said("Loan", "hasBorrower", "A Inc.", object_type="Corporation"), said("Loan", "hasCollateral", "x")]
    other = Validator(ontology)
    assert validator.check(triples).model_dump_json() == other.check(triples).model_dump_json()
    other.close()


def test_a_rule_switched_off_is_not_checked_and_a_lowered_one_warns(copy: Path) -> None:
    (copy / "rules.yaml").write_text(
        "rules:\n  mortgage_lender: off\n  card_lender: warning\n  secured_names_collateral: off\n"
    )
    validator = Validator(load_ontology(copy))
    lender = said("Loan", "hasLender", "Jane Roe", object_type="NaturalPerson")
    assert validator.check([*is_a("Mortgage"), lender], closed_world=False).violations == ()
    lowered = validator.check([*is_a("CardAccount"), lender], closed_world=False)
    assert (lowered.status, rules(lowered), clashes(lowered)) == ("consistent", {"card_lender"}, set())
    assert validator.check(is_a("SecuredLoan")).status == "consistent"
    validator.close()


def test_a_domain_expert_adds_rules_by_editing_one_file(copy: Path) -> None:
    """One Turtle file, no Python: an axiom and a shape, with their sentences."""
    with (copy / "rules.ttl").open("a") as file:
        file.write(
            PREFIXES.replace("@prefix loan", "\n@prefix loan")
            + """
loan:PaydayLoan a owl:Class ; rdfs:subClassOf ln:Loan .
loan:PaydayLoan owl:disjointWith grn:GreenLoan .
[] a owl:Axiom ; owl:annotatedProperty owl:disjointWith ;
    owl:annotatedSource loan:PaydayLoan ; owl:annotatedTarget grn:GreenLoan ;
    ovr:rule "payday_not_green" ; ovr:clashType "openend_closedend" ; ovr:severity "clash" ;
    ovr:sentence "A payday loan is not green." ; ovr:message "{subject} is a payday loan and green." ;
    dct:source "An example." .
loan:PaydayShape a sh:NodeShape ; sh:targetClass loan:PaydayLoan ; sh:property [
    sh:path loan:hasInterestRate ; sh:maxInclusive 36 ; sh:severity sh:Warning ;
    sh:message "{subject} costs {hasInterestRate}." ; ovr:rule "payday_rate" ;
    ovr:sentence "A payday loan costs at most 36 per cent." ; dct:source "An example." ] .
"""
        )
    ontology = load_ontology(copy)
    validator = Validator(ontology)
    verdict = validator.check([*is_a("payday loan", "GreenLoan"), said("Loan", "hasInterestRate", "400%")])
    assert "The loan is a payday loan and green." in [violation.message for violation in verdict.violations]
    assert "The loan costs 400%." in [violation.message for violation in verdict.violations]
    validator.close()


def test_a_message_names_what_else_is_stated_of_its_subject(copy: Path) -> None:
    """A rule of SPARQL gives no statements, and a contradiction only its own."""
    rule = """
<urn:mine> sh:declare [ sh:prefix "loan" ; sh:namespace "urn:ovrag:loan#" ] .
loan:BalanceShape a sh:NodeShape ; sh:targetClass ln:Loan ; sh:severity sh:Warning ;
    sh:sparql [ sh:prefixes <urn:mine> ;
        sh:select "SELECT $this { $this loan:hasBalance ?b ; loan:hasPrincipalAmount ?p FILTER (?b > ?p) }" ] ;
    sh:message "{subject} has a balance of {hasBalance}, but its lender {hasLender} is a {hasLender.types}." ;
    ovr:rule "balance" ; ovr:sentence "A balance is within the principal." ; dct:source "An example." .
"""
    (copy / "more.ttl").write_text(PREFIXES + rule)
    text = (copy / "rules.ttl").read_text()
    more = "{subject} of {hasBorrower} at {hasInterestRate} is called secured and unsecured at once."
    (copy / "rules.ttl").write_text(text.replace("{subject} is called secured and unsecured at once.", more))
    validator = Validator(load_ontology(copy))
    lender = said("Loan", "hasLender", "Holm Bank", object_type="FinancialInstitution")
    triples = [said("Loan", "hasBorrower", "Jane Roe"), lender, *is_a("SecuredLoan", "UnsecuredLoan")]
    triples += [said("Loan", "hasBalance", "USD 9"), said("Loan", "hasPrincipalAmount", "USD 5")]
    messages = {violation.rule: violation.message for violation in validator.check(triples).violations}
    validator.close()
    told = "The loan of Jane Roe at (not stated) is called secured and unsecured at once."
    assert messages["security_exclusive"] == told
    told = "The loan has a balance of USD 9, but its lender Holm Bank is a financial institution."
    assert messages["balance"] == told


@pytest.mark.parametrize(
    ("axiom", "complaint"),
    [
        ("<urn:x> a ln:SecuredLoan, ln:UnsecuredLoan .", "contradicts itself"),
        ("grn:GreenLoan rdfs:subClassOf ln:SecuredLoan, ln:UnsecuredLoan .", "no GreenLoan can exist"),
    ],
)
def test_an_inconsistent_ontology_is_refused_at_load(copy: Path, axiom: str, complaint: str) -> None:
    (copy / "more.ttl").write_text(PREFIXES + axiom)
    with pytest.raises(OntologyError, match=complaint):
        Validator(load_ontology(copy))


def test_violations_hold_the_triples_that_were_checked(validator: Validator) -> None:
    triples = is_a("SecuredLoan", "UnsecuredLoan")
    (violation,) = validator.check(triples, closed_world=False).violations
    assert isinstance(violation, Violation)
    assert all(any(triple is given for given in triples) for triple in violation.triples)
