"""Loading ontology files: terms, rules, settings, and every kind of broken file."""

import re
import shutil
import socket
from pathlib import Path

import pytest
from rdflib import OWL, RDF, Graph, Literal

from ovrag_core.base.errors import OntologyError
from ovrag_core.loop.closed_world import ClosedWorld
from ovrag_core.ontology.load import Ontology, fold, load_ontology
from ovrag_core.ontology.vocabularies import rules_page, vocabulary, vocabulary_text

CLASHES = {"secured_unsecured", "openend_closedend", "borrower_type", "lender_type"}
HEAD = """
@prefix x: <urn:test#> . @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix ovr: <urn:ovrag:rule#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
"""


@pytest.fixture(scope="module")
def ontology(project: Path) -> Ontology:
    return load_ontology(project / "ontologies")


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    """A folder with our ontologies that a test may edit."""
    folder = tmp_path / "ontologies"
    folder.mkdir()
    for path in (project / "ontologies").iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    return folder


def test_the_vocabulary_of_triples_is_complete(ontology: Ontology) -> None:
    classes = (
        "Loan SecuredLoan UnsecuredLoan OpenEndCredit ClosedEndCredit ConsumerLoan CommercialLoan Mortgage StudentLoan "
        "SubsidizedStudentLoan GreenLoan CardAccount NaturalPerson LegalEntity Corporation FinancialInstitution "
        "GovernmentBody Collateral RealProperty"
    )
    properties = (
        "hasBorrower hasLender hasGuarantor hasCollateral hasPrincipalAmount hasInterestRate hasMaturityDate "
        "hasTerm hasPurpose"
    )
    assert set(classes.split()) <= {term.name for term in ontology.classes}
    assert set(properties.split()) <= {term.name for term in ontology.properties}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("hasLoanAmount", "hasPrincipalAmount"),
        ("securedBy", "hasCollateral"),
        ("isSecuredBy", "hasCollateral"),
        ("is lender of", "isLenderOf"),
        ("has_borrower", "hasBorrower"),
        ("HASBORROWER", "hasBorrower"),
        ("hasBusinessPurposeDescription", "hasPurpose"),
    ],
)
def test_properties_have_their_other_names(ontology: Ontology, written: str, meant: str) -> None:
    assert ontology.property_names[fold(written)].name == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Organization", "LegalEntity"),
        ("MortgageLoan", "Mortgage"),
        ("Person", "NaturalPerson"),
        ("RevolvingCreditFacility", "RevolvingLineOfCredit"),
        ("Company", "Corporation"),
        ("secured loan", "SecuredLoan"),
    ],
)
def test_classes_have_their_other_names(ontology: Ontology, written: str, meant: str) -> None:
    assert ontology.class_names[fold(written)].name == meant


def test_no_two_terms_share_a_name(ontology: Ontology) -> None:
    for terms in (ontology.classes, ontology.properties):
        names = [fold(name) for term in terms for name in {term.name, *term.alternatives}]
        folded = {fold(name) for term in terms for name in {term.name, *term.alternatives}}
        spelled = {(fold(name), term.iri) for term in terms for name in {term.name, *term.alternatives}}
        assert len(spelled) == len(folded), sorted(name for name in folded if names.count(name) > 1)


def test_only_the_four_clash_types_make_a_clash(ontology: Ontology) -> None:
    assert {rule.clash_type for rule in ontology.rules if rule.severity == "clash"} == CLASHES
    assert all(rule.clash_type is None for rule in ontology.rules if rule.severity == "warning")
    assert all(rule.sentence.endswith(".") and rule.source and rule.message for rule in ontology.rules)


def test_what_fibo_names_has_fibos_iri(ontology: Ontology, external_data: Path) -> None:
    ours = {term.iri for term in ontology.terms if "edmcouncil" in term.iri or "omg.org" in term.iri}
    assert len(ours) > 30
    declared: set[str] = set()
    modules = {iri.rsplit("/", 1)[0].split("/ontology/")[-1] for iri in ours if "edmcouncil" in iri}
    files = [external_data / "fibo" / f"{module}.rdf" for module in sorted(modules)]
    files += [
        external_data / "fibo" / "commons" / "CMNS" / f"{name}.rdf" for name in ("Organizations", "GovernmentEntities")
    ]
    for path in files:
        declared |= {str(node) for node in Graph().parse(path, format="xml").subjects(RDF.type, OWL.Class)}
    assert ours - declared == set()


def test_no_sentence_is_copied_from_fibo(ontology: Ontology, external_data: Path) -> None:
    """Terms have the names that FIBO gives them; what is said of them is said in words of our own."""
    files = sorted((external_data / "fibo").rglob("*.rdf"))
    theirs = {run for path in files for run in runs_of_words(Graph().parse(path, format="xml"))}
    assert len(theirs) > 10_000
    assert runs_of_words(ontology.graph) & theirs == set()


def runs_of_words(graph: Graph) -> set[tuple[str, ...]]:
    """Eight words in a row of the texts of a graph: too many to be said alike by chance."""
    texts = (re.findall(r"\w+", str(each).lower()) for each in graph.objects() if isinstance(each, Literal))
    return {tuple(words[at : at + 8]) for words in texts for at in range(len(words) - 7)}


def test_the_vocabulary_names_every_term_once(ontology: Ontology) -> None:
    text = vocabulary_text(ontology)
    assert "- Mortgage (a Loan, SecuredLoan): mortgage loan" in text
    assert "- hasBorrower: from Loan to Borrower" in text
    assert len(vocabulary(ontology)["classes"]) == len(ontology.classes) == len(re.findall(r"^- [A-Z]", text, re.M))


def test_a_rule_is_switched_off_or_lowered_in_one_file(copy: Path, tmp_path: Path) -> None:
    settings = tmp_path / "mine.yaml"
    settings.write_text("rules:\n  mortgage_lender: off\n  card_lender: warning\n")
    ontology = load_ontology(copy, settings)
    assert not ontology.rule["mortgage_lender"].enabled
    assert ontology.rule["card_lender"].severity == "warning"
    assert ontology.digest != load_ontology(copy).digest


@pytest.mark.parametrize(
    ("yaml", "complaint"),
    [
        ("rules: {mortgage_lendr: off}", "unknown rule mortgage_lendr; did you mean mortgage_lender"),
        ("rules: {mortgage_lender: maybe}", "'maybe'; write off, warning or clash"),
        ("rules: {one_principal: clash}", "no clash type"),
        ("rules: [a, b]", "rules cannot be used"),
        ("rule: {x: off}", "rule cannot be used"),
        ("rules: {", "not valid YAML"),
    ],
)
def test_bad_rule_settings_are_one_sentence(copy: Path, tmp_path: Path, yaml: str, complaint: str) -> None:
    settings = tmp_path / "mine.yaml"
    settings.write_text(yaml)
    with pytest.raises(OntologyError, match=re.escape(complaint)):
        load_ontology(copy, settings)


def test_a_missing_or_empty_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match="holds no ontology"):
        load_ontology(tmp_path)
    with pytest.raises(OntologyError, match="holds no ontology"):
        load_ontology(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("broken.ttl", "@prefix x: <urn:x#> .\nx:A a x:B .\nx:C ] x:D .\n", "not valid Turtle at line 3"),
        ("strange.ttl", "@prefix x: <urn:x#> .\ny:A a x:B .\n", r'line 2 \(Prefix "y:" not bound\)'),
        ("cut.ttl", "@prefix x: <urn:x#> .\nx:A a x:B .\nx:C x:D", "cannot be read as Turtle"),
        ("deep.ttl", "<urn:a> <urn:b> " + "[ <urn:b> " * 50_000, "cannot be read as Turtle"),
        ("binary.ttl", b"\xff\xfe\x00\x01", "cannot be read as Turtle"),
    ],
)
def test_a_corrupt_file_is_one_sentence(copy: Path, name: str, content: str | bytes, complaint: str) -> None:
    (copy / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(OntologyError, match=complaint) as caught:
        load_ontology(copy)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_imports_are_never_followed(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle, a file and an address: nothing is opened."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    (copy / "one.ttl").write_text(
        HEAD + "<urn:one> a owl:Ontology ; owl:imports <urn:two>, <file:///etc/passwd>, <http://example.org/o> ."
    )
    (copy / "two.ttl").write_text(HEAD + "<urn:two> a owl:Ontology ; owl:imports <urn:one> .")
    ontology = load_ontology(copy)
    assert "imports" not in ontology.axioms


@pytest.mark.parametrize(
    ("shape", "complaint"),
    [
        ("sh:property [ sh:path x:p ; sh:minLength 3 ; ovr:rule 'r' ]", "sh:minLength in the shape r is not supported"),
        ("sh:node x:T ; ovr:rule 'r'", "sh:node in the shape r is not supported"),
        ("sh:sparql [ sh:select 'SELECT' ] ; ovr:rule 'r'", "the query cannot be read"),
        ("sh:property [ sh:path ( x:p x:q ) ; sh:minCount 1 ; ovr:rule 'r' ]", "other paths are not supported"),
        (
            "sh:property [ sh:path x:p ; sh:minCount 'many' ; ovr:rule 'r' ]",
            "minCount of the shape r is many, not a number",
        ),
        ("sh:property [ sh:path x:p ; sh:minCount 1 ]", "without ovr:rule"),
        ("sh:or ( x:S ) ; ovr:rule 'r'", "is part of itself"),
        ("sh:or _:l ; ovr:rule 'r' . _:l rdf:first x:T ; rdf:rest _:l", "runs in a circle"),
    ],
)
def test_an_unsupported_shape_is_an_error_not_a_pass(copy: Path, shape: str, complaint: str) -> None:
    said = "sh:severity sh:Warning ; sh:message 'm' ; ovr:sentence 's.' ; <http://purl.org/dc/terms/source> 'p'"
    shape = shape.replace("ovr:rule 'r'", f"ovr:rule 'r' ; {said}")
    (copy / "mine.ttl").write_text(HEAD + f"x:S a sh:NodeShape ; sh:targetClass x:C ; {shape} .")
    with pytest.raises(OntologyError, match=complaint):
        ClosedWorld(load_ontology(copy))


def test_an_incomplete_rule_is_one_sentence(copy: Path) -> None:
    rule = (
        "[] a owl:Axiom ; owl:annotatedSource x:A ; owl:annotatedProperty owl:disjointWith ; owl:annotatedTarget x:B ;"
    )
    (copy / "mine.ttl").write_text(
        HEAD + rule + 'ovr:rule "mine" ; ovr:severity "clash" ; ovr:clashType "borrower_type" ; ovr:sentence "s." .'
    )
    with pytest.raises(OntologyError, match="the rule mine has no message"):
        load_ontology(copy)
    (copy / "mine.ttl").write_text(HEAD + rule + 'ovr:rule "mine" ; ovr:severity "fatal" ; ovr:sentence "s." .')
    with pytest.raises(OntologyError, match="severity 'fatal'"):
        load_ontology(copy)


@pytest.mark.parametrize(
    ("file", "term", "slip", "clause"),
    [
        (
            "rules.ttl",
            'ovr:clashType "lender_type"',
            'ovr:clashType "lendr_type"',
            'ovr:clashType "lendr_type" is unknown; known are borrower_type, lender_type, openend_closedend, secured',
        ),
        ("shapes.ttl", "ovr:clashType", "ovr:clashTyp", "ovr:clashTyp is no annotation; known are anyType, clashType"),
        ("parties.ttl", "ovr:values", "ovr:value", "ovr:value is no annotation; known are anyType, clashType"),
        (
            "parties.ttl",
            'ovr:values "rate"',
            'ovr:values "rates"',
            'ovr:values "rates" is unknown; known are amount, b',
        ),
        ("rules.ttl", "supporting true", 'supporting "yes"', 'ovr:supporting "yes" is unknown; known are false, true'),
        (
            "rules.ttl",
            "allValuesFrom org:LegalEntity",
            "allValuesFrom org:LegalEntty",
            "https://www.omg.org/spec/Commons/Organizations/LegalEntty is used, but declared nowhere; did you mean "
            "https://www.omg.org/spec/Commons/Organizations/LegalEntity?",
        ),
        (
            "rules.ttl",
            "loan:hasCollateral rdfs:domain ln:SecuredLoan",
            "loan:hasColateral rdfs:domain ln:SecuredLoan",
            "urn:ovrag:loan#hasColateral is used, but declared nowhere; did you mean urn:ovrag:loan#hasCollateral?",
        ),
        (
            "rules.ttl",
            "LOAN/LoansSpecific/CommercialLoans/>",
            "LOAN/LoansSpecific/CommercialLoan/>",
            "https://spec.edmcouncil.org/fibo/ontology/LOAN/LoansSpecific/CommercialLoan/CommercialLoan is used, but",
        ),
        (
            "shapes.ttl",
            "sh:path loan:hasTerm",
            "sh:path loan:hasTrem",
            "urn:ovrag:loan#hasTrem is used, but declared nowhere; did you mean urn:ovrag:loan#hasTerm?",
        ),
    ],
)
def test_a_misspelt_name_is_one_sentence(copy: Path, file: str, term: str, slip: str, clause: str) -> None:
    text = (copy / file).read_text(encoding="utf-8")
    assert term in text
    (copy / file).write_text(text.replace(term, slip), encoding="utf-8")
    with pytest.raises(OntologyError, match=re.escape(f"{copy / file}: {clause}")):
        load_ontology(copy)


def test_a_name_of_another_publisher_need_not_be_declared(copy: Path) -> None:
    (copy / "mine.ttl").write_text(HEAD + "x:A a owl:Class ; rdfs:subClassOf <http://xmlns.com/foaf/0.1/Person> .")
    assert "urn:test#A" in load_ontology(copy).by_iri


def test_a_table_without_rules_is_left_out(copy: Path) -> None:
    text = (copy / "rules.ttl").read_text(encoding="utf-8")
    (copy / "rules.ttl").write_text(text[: text.index("# --- warnings")], encoding="utf-8")
    (copy / "shapes.ttl").unlink()
    (copy / "rules.yaml").unlink()
    page = rules_page(load_ontology(copy))
    assert "## lender_type" in page and "## Warnings" not in page


def test_a_domain_that_lists_no_clash_types_may_name_any(copy: Path) -> None:
    rules = (copy / "rules.ttl").read_text(encoding="utf-8")
    rules = re.sub(r"(a owl:Ontology) ;\s+ovr:clashType [^.]+\.", r"\1 .", rules).replace('"lender_type"', '"lender"')
    (copy / "rules.ttl").write_text(rules, encoding="utf-8")
    assert "lender" in {rule.clash_type for rule in load_ontology(copy).rules}


def test_loading_is_deterministic(project: Path) -> None:
    one, two = load_ontology(project / "ontologies"), load_ontology(project / "ontologies")
    assert one.digest == two.digest
    assert one.terms == two.terms
    assert rules_page(one) == rules_page(two)
