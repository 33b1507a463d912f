"""Kinds of loan said in passing, and what a loan is for."""

import pytest

from ovrag_core.base.types import Document
from ovrag_core.loans.reading.purposes import KINDS_BY_USE, find_purpose, says_in_passing
from ovrag_core.loans.reading.reader import read
from ovrag_core.loans.reading.sentences import plain_text, units


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


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The money pays for a lathe and two compressors for the joinery.", "CommercialLoan"),
        ("You want it for a new bathroom and a holiday with the children.", "ConsumerLoan"),
        ("It covers tuition and a room in her second year at the university.", "StudentLoan"),
    ],
)
def test_a_purpose_tells_the_kind_of_loan(sentence: str, kind: str) -> None:
    text = f"Harbour Bank plc lends Ida Roth £5,000.\n\n{sentence}\n\nInterest runs at 5% a year.\n"
    plain = plain_text(text)
    purpose = find_purpose(plain.text, units(plain.text))
    assert purpose is not None
    assert purpose.text == sentence
    assert max(KINDS_BY_USE, key=lambda each: purpose.kinds[each][0]) == kind


def test_a_text_without_a_purpose_has_none() -> None:
    plain = plain_text("Interest runs at 5% a year.\n\nThis deed is governed by the law of Malta.\n")
    assert find_purpose(plain.text, units(plain.text)) is None


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
