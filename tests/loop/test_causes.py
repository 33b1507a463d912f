"""Causes and corrections through the whole loop, with the clause reader and the loan ontology."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import standins

from ovrag_core.base.project import ROOT
from ovrag_core.base.settings import Question
from ovrag_core.base.types import QueryRecord, Violation
from ovrag_core.loans.reading import reader
from ovrag_core.loop.arms import ARMS
from ovrag_core.loop.pipeline import Bench, ask
from ovrag_core.loop.validation import KEEP, Validator
from ovrag_core.ontology.load import load_ontology

QUESTION = Question(id="Q5", text="Summarise the loan.")
TERM = """LOAN AGREEMENT

Lender: Harbour Savings Bank, 12 Quay Street, Boston.
Borrower: Larkspur Mills, Inc., a Delaware corporation.
Principal amount: USD 900,000.00.
Purpose: working capital for the Borrower's business.
The loan is paid out in one sum for a fixed term of 60 months and may not be drawn again once repaid.
Security: Unsecured; the Borrower gives no collateral.
"""
CARD = """CARD AGREEMENT

Issuer and lender: Ostrava Credit Union.
Borrower: Wanda Kowalska, a natural person.
Credit limit: USD 5,000.00 on a credit card account, for personal, family or household purposes.
The credit is revolving: sums repaid may be drawn again.
Security: secured by the Borrower's savings account no. 4411.
"""
TORN = TERM + "Security for the loan: a first mortgage over the Borrower's mill at 48 Cooper Lane secures this loan.\n"


@pytest.fixture(scope="module")
def validator() -> Iterator[Validator]:
    made = Validator(load_ontology(ROOT / "ontologies"))
    yield made
    made.close()


def loop(validator: Validator, arm: str, texts: dict[str, str], *answers: str) -> QueryRecord:
    """What comes of these answers, in turn, to a question about the last document."""
    parts: Bench = standins.bench(texts, standins.Scripted(*answers))
    parts.extractor, parts.validator = reader, validator
    record, _ = ask(QUESTION, max(texts), ARMS[arm], parts)
    return record


def clashes(record: QueryRecord, attempt: int = 0) -> list[Violation]:
    verdict = record.attempts[attempt].verdict
    assert verdict is not None
    return [violation for violation in verdict.violations if violation.severity == "clash"]


@pytest.mark.parametrize(
    ("wrong", "right", "words"),
    [
        ("The loan is secured by a pledge of shares.", "The loan is unsecured.", "that the loan is a secured loan"),
        ("It is a revolving line of credit.", "It is a fixed-term loan.", "open end credit"),
        ("It is a consumer loan.", "It is a commercial loan.", "that the loan is a consumer loan"),
        (
            "The borrower is Larkspur Mills, Inc. The lender is Harriet Lindqvist, a private individual.",
            "The lender is Harbour Savings Bank.",
            "Harriet Lindqvist is a natural person",
        ),
    ],
)
def test_a_wrong_answer_is_told_what_is_wrong_and_corrected(
    validator: Validator, wrong: str, right: str, words: str
) -> None:
    record = loop(validator, "ovrag_evidence", {"A": TERM}, wrong, right)
    assert (record.outcome, len(record.attempts)) == ("corrected", 2)
    assert {violation.cause for violation in clashes(record)} == {"answer"}
    said = record.attempts[1].feedback or ""
    assert words in said
    assert said.endswith(KEEP)


@pytest.mark.parametrize(
    "answer",
    [
        "The borrower is Larkspur Mills, Inc. and the lender is Harbour Savings Bank.",
        "The loan is unsecured.",
        "The loan is unsecured, yet a first mortgage over the mill at 48 Cooper Lane secures it.",
    ],
)
def test_a_source_that_contradicts_itself_is_a_finding_whatever_the_answer_repeats(
    validator: Validator, answer: str
) -> None:
    record = loop(validator, "ovrag_evidence", {"A": TORN}, answer)
    assert (record.outcome, record.cause, len(record.attempts)) == ("source_finding", "source", 1)
    quoted = {triple.evidence.quote for violation in clashes(record) for triple in violation.triples if triple.evidence}
    assert any("gives no collateral" in quote for quote in quoted)
    assert any("48 Cooper Lane" in quote for quote in quoted)
    assert all(quote in TORN for quote in quoted)


def test_a_verbatim_quote_is_no_statement_of_the_answers(validator: Validator) -> None:
    text = TERM + "Earlier debts: the note of 2019 between other parties is secured by a mortgage over land.\n"
    quote = "the note of 2019 between other parties is secured by a mortgage over land."
    assert loop(validator, "ovrag_evidence", {"A": text}, quote).outcome == "accepted"
    assert (
        loop(validator, "ovrag_evidence", {"A": TERM}, "The loan is secured by a mortgage over land.").cause == "answer"
    )


def test_only_the_answers_own_error_is_corrected_beside_a_source_that_contradicts_itself(validator: Validator) -> None:
    record = loop(
        validator, "ovrag_evidence", {"A": TORN}, "It is a revolving line of credit.", "It is a fixed-term loan."
    )
    assert {violation.cause for violation in clashes(record)} == {"answer", "source"}
    assert "open end credit" in (record.attempts[1].feedback or "")
    assert "unsecured" not in (record.attempts[1].feedback or "")
    assert (record.outcome, record.cause, len(record.attempts)) == ("source_finding", "source", 2)


@pytest.mark.parametrize("answer", ["It is a loan.", "The loan is unsecured.", "The borrower is Wanda Kowalska."])
def test_documents_that_were_mixed_are_named(validator: Validator, answer: str) -> None:
    record = loop(validator, "ovrag", {"A": CARD, "B": TERM}, answer)
    assert record.cause == "mixture"
    mixed = [violation for violation in clashes(record) if violation.cause == "mixture"]
    assert mixed
    assert all("different documents: " in violation.message for violation in mixed)
    assert all({"A", "B"} == _documents(violation) for violation in mixed)


def _documents(violation: Violation) -> set[str]:
    return {triple.evidence.document_id for triple in violation.triples if triple.evidence}


def test_another_contracts_fact_without_that_contract_is_the_answers_error(validator: Validator) -> None:
    record = loop(
        validator, "ovrag_evidence", {"A": TERM}, "The loan is secured by savings account no. 4411.", "It is unsecured."
    )
    assert {violation.cause for violation in clashes(record)} == {"answer"}
    assert record.outcome == "corrected"
