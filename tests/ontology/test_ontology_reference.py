"""A reference ontology from a folder with catalogs: imports are followed inside it only, and reasoning is as before."""

import shutil
from pathlib import Path

import pytest

from ovrag_core.base.errors import OntologyError
from ovrag_core.base.types import Triple
from ovrag_core.loop.validation import Validator
from ovrag_core.ontology.load import load_ontology
from ovrag_core.ontology.reference import load_with_reference

LOANS = "https://spec.edmcouncil.org/fibo/ontology/LOAN/"
ROOTS = [
    "LoansGeneral/Loans/",
    "LoansSpecific/ConsumerLoans/",
    "LoansSpecific/CommercialLoans/",
    "LoansSpecific/StudentLoans/",
    "LoansSpecific/GreenLoans/",
    "LoansSpecific/CardAccounts/",
    "RealEstateLoans/Mortgages/",
]
EMPTY = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'
MODULE = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<owl:Ontology rdf:about="urn:x">
  <owl:imports rdf:resource="urn:deeper"/><owl:imports rdf:resource="urn:elsewhere"/>
</owl:Ontology>
</rdf:RDF>"""
DEEPER = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<owl:Ontology rdf:about="urn:deeper"><owl:imports rdf:resource="urn:x"/></owl:Ontology>
<owl:Class rdf:about="https://spec.edmcouncil.org/fibo/ontology/LOAN/LoansSpecific/GreenLoans/GreenLoan">
  <rdfs:subClassOf rdf:resource="https://spec.edmcouncil.org/fibo/ontology/LOAN/LoansGeneral/Loans/ClosedEndCredit"/>
</owl:Class>
</rdf:RDF>"""


def is_a(*names: str) -> list[Triple]:
    return [Triple(subject="Loan", predicate="rdf:type", object=name) for name in names]


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    folder = tmp_path / "reference"
    folder.mkdir()
    (folder / "empty.rdf").write_text(EMPTY)
    (folder / "module.rdf").write_text(MODULE)
    (folder / "deeper.rdf").write_text(DEEPER)
    (tmp_path / "outside.rdf").write_text("not even XML")
    entries = [(LOANS + root, "empty.rdf" if number else "module.rdf") for number, root in enumerate(ROOTS)]
    entries += [("urn:deeper", "./deeper.rdf"), ("urn:x", "module.rdf"), ("urn:elsewhere", "../outside.rdf")]
    lines = "".join(f'<uri name="{name}" uri="{file}"/>' for name, file in entries)
    (folder / "catalog-v001.xml").write_text(
        f'<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">{lines}</catalog>'
    )
    return folder


def test_what_the_reference_adds_takes_part(project: Path, reference: Path) -> None:
    """Two levels of imports, in a circle; a catalog entry that leads out of the folder is not opened."""
    ours = load_ontology(project / "ontologies")
    whole = load_with_reference(reference, project / "ontologies")
    assert whole.missing == ("urn:elsewhere",)
    assert whole.terms == ours.terms
    validator = Validator(whole)
    verdict = validator.check(is_a("GreenLoan", "OpenEndCredit"), closed_world=False)
    assert [violation.clash_type for violation in verdict.violations] == ["openend_closedend"]
    assert "GreenLoan SubClassOf ClosedEndCredit" in verdict.violations[0].axioms
    assert validator.check(is_a("GreenLoan", "SecuredLoan"), closed_world=False).status == "consistent"
    validator.close()


def test_a_folder_without_our_modules_is_one_sentence(project: Path, reference: Path) -> None:
    (reference / "catalog-v001.xml").unlink()
    with pytest.raises(OntologyError, match="has no file for https://spec"):
        load_with_reference(reference, project / "ontologies")


def test_a_broken_catalog_is_one_sentence(project: Path, reference: Path) -> None:
    (reference / "catalog-v001.xml").write_text("<catalog>")
    with pytest.raises(OntologyError, match="is not a catalog"):
        load_with_reference(reference, project / "ontologies")


def test_fibo_itself(project: Path, external_data: Path, tmp_path: Path) -> None:
    """The seven loan modules and all they import, with our bridge: our rules hold, FIBO's own axioms take part."""
    shutil.copytree(project / "ontologies", tmp_path / "o", ignore=shutil.ignore_patterns("lexicon"))
    whole = load_with_reference(external_data / "fibo", tmp_path / "o")
    assert len(whole.graph) > 19_000
    validator = Validator(whole, seconds_per_check=60)
    assert (
        validator.check(is_a("ConsumerLoan", "SecuredLoan", "ClosedEndCredit"), closed_world=False).status
        == "consistent"
    )
    verdict = validator.check(is_a("Mortgage", "UnsecuredLoan"), closed_world=False)
    assert {violation.clash_type for violation in verdict.violations} == {"secured_unsecured"}
    validator.close()
