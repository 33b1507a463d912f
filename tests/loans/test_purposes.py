"""What a loan is for, and the kind of loan that this makes."""

import pytest

from ovrag_core.base.types import Document
from ovrag_core.loans.reading.reader import read


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
    (facility,) = read(Document("d", text)).facilities
    assert facility.purpose == sentence
    assert facility.loan_types == (kind,)


def test_a_text_without_a_purpose_has_none() -> None:
    text = "Harbour Bank plc lends Ida Roth £5,000.\n\nInterest runs at 5% a year.\n\nMaltese law governs this loan.\n"
    assert read(Document("d", text)).facilities[0].purpose is None


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
