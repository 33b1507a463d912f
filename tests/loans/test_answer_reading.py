"""Answers in a chat model's prose, read as statements."""

from __future__ import annotations

import pytest

from ovrag_core.loans.reading.reader import read_passage


@pytest.mark.parametrize(
    "answer",
    [
        "The borrower is Ayesha Gill, a person and the lender is Westerlea Co-operative Bank Ltd, an organisation.",
        "The borrower is Ayesha Gill, a person, and the lender is Westerlea Co-operative Bank Ltd, an organisation.",
        "The borrower is Ayesha Gill, who is an individual. "
        "The lender is Westerlea Co-operative Bank Ltd, an organisation.",
    ],
)
def test_what_is_said_of_the_lender_is_not_said_of_the_borrower(answer: str) -> None:
    kinds = {t.subject: t.object for t in read_passage(answer, document_id="answer") if t.predicate == "rdf:type"}
    assert kinds["Ayesha Gill"] == "NaturalPerson"
    assert kinds["Westerlea Co-operative Bank Ltd"] == "FinancialInstitution"
