"""Kinds of loan said in passing, and what a loan is for."""

import pytest

from ovrag_core.base.types import Document
from ovrag_core.loans.reading.purposes import is_study, says_in_passing
from ovrag_core.loans.reading.reader import read


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ('"Security" means a mortgage, charge or pledge.', "mortgage"),
        ("None save the Facilities; a credit card account of the sales team.", "credit card account"),
        ("It keeps a credit card account with another bank for travel.", "credit card account"),
        ("She was asked whether the money is for her business.", "business"),
    ],
)
def test_definitions_exceptions_and_others_products_say_nothing_of_the_loan(statement: str, words: str) -> None:
    assert says_in_passing(statement, statement.index(words))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ('"Loan" means the commercial loan made under this agreement.', "commercial loan"),
        ("This is a commercial loan.", "commercial loan"),
        ("Nothing in this credit card account is secured.", "credit card account"),
    ],
)
def test_statements_of_this_loan_count(statement: str, words: str) -> None:
    assert not says_in_passing(statement, statement.index(words))


def test_school_fees_of_children_are_no_study() -> None:
    assert is_study("tuition and books for her degree")
    assert not is_study("school fees of two children and repairs to the house")


def test_a_persons_card_is_a_consumers_and_a_companys_is_not() -> None:
    text = (
        "CREDIT CARD AGREEMENT\n\nCardholder: {}\nIssuer: Harbour Bank plc\nCredit limit: USD 5,000\n\n"
        "You may use the card again and again up to the limit as you repay. We send a statement every month.\n"
    )
    person, company = (
        read(Document("d", text.format(name))).facilities[0].loan_types for name in ("Ida Roth", "Pellworm Works Ltd")
    )
    assert set(person) == {"CardAccount", "ConsumerLoan"}
    assert "ConsumerLoan" not in company
