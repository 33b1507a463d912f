"""Whether feedback lets a model that errs in known ways put its answer right, and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
import standins

from ovrag_core.base.project import ROOT
from ovrag_core.base.settings import Question
from ovrag_core.loans.reading import reader
from ovrag_core.loop.arms import ARMS
from ovrag_core.loop.pipeline import ask
from ovrag_core.loop.validation import Validator
from ovrag_core.ontology.load import load_ontology

TERM = """LOAN AGREEMENT

Lender: Harbour Savings Bank, 12 Quay Street, Boston.
Borrower: Larkspur Mills, Inc., a Delaware corporation.
Principal amount: USD 900,000.00.
Purpose: working capital for the Borrower's business.
The loan is paid out in one sum for a fixed term of 60 months and may not be drawn again once repaid.
Security: Unsecured; the Borrower gives no collateral.
"""
SAYS = {
    "kind": ("It is a commercial loan.", "It is a consumer loan."),
    "lender": (
        "The lender is Harbour Savings Bank, an organisation.",
        "The lender is Harriet Lindqvist, a private individual.",
    ),
    "security": ("The loan is unsecured.", "The loan is secured by a pledge of the borrower's shares."),
    "form": ("It is a fixed-term loan.", "It is a revolving line of credit."),
    "principal": ("The principal amount is USD 900,000.00.", ""),
}


@pytest.fixture(scope="module")
def corrections() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import corrections as module  # noqa: PLC0415

    yield module
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def validator() -> Iterator[Validator]:
    made = Validator(load_ontology(ROOT / "ontologies"))
    yield made
    made.close()


@pytest.mark.parametrize("layout", ["sentences", "bullets", "joined"])
@pytest.mark.parametrize("wrong", [["security"], ["form"], ["kind"], ["lender"], ["security", "lender"]])
def test_feedback_names_what_is_wrong_and_nothing_else(
    corrections: ModuleType, validator: Validator, layout: str, wrong: list[str]
) -> None:
    said = [
        corrections.Statement(topic, right, error, "wrong" if topic in wrong else "right")
        for topic, (right, error) in SAYS.items()
    ]
    model = corrections.ErringModel(said, layout, random=None)
    parts = standins.bench({"A": TERM}, model)
    parts.extractor, parts.validator = reader, validator
    record, _ = ask(Question(id="Q5", text="Summarise the loan."), "A", ARMS["ovrag_evidence"], parts)
    assert corrections.succeeded(record, model), model.heard


def test_the_scripted_model_repeats_its_error_where_feedback_is_vague(corrections: ModuleType) -> None:
    said = [corrections.Statement("security", *SAYS["security"], "wrong"), corrections.Statement("form", *SAYS["form"])]
    model = corrections.ErringModel(said, "joined", random=None)
    before = model.answer("", []).text
    assert model._named("The answer cannot be true together with the documents.") == []
    assert model._named(f"You said something wrong, in “{before}”.") == []
    assert [each.topic for each in model._named(f"You said that the loan is secured, in “{before}”.")] == ["security"]
