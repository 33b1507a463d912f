# ruff: noqa: E501 -- passages of contracts stand on one line
"""Who lends and who borrows, in the ways contracts name them."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovrag_core.extraction.parties import Parties, find_parties
from ovrag_core.types import Document


def read(text: str) -> Parties:
    parties = find_parties(Document(id="d", text=text))
    for mention in (*parties.borrowers, *parties.lenders, *parties.guarantors):
        assert 0 <= mention.start < mention.end <= len(text)
        assert 0 <= mention.kind_start < mention.kind_end <= len(text)
        assert mention.end - mention.start <= 400
    return parties


def first(parties: Parties) -> tuple[str | None, str | None]:
    return (
        parties.borrowers[0].name if parties.borrowers else None,
        parties.lenders[0].name if parties.lenders else None,
    )


@pytest.mark.parametrize(
    ("text", "borrower", "lender"),
    [
        ("LENDER:\nHarbour Bank\nBORROWER:\nIda Roth\nTerm:\n12 months\n", "Ida Roth", "Harbour Bank"),
        (
            "Lender: Harbour Bank, Hull\nMember-Borrower: Ida Roth            Loan date: 3 May 2024\n",
            "Ida Roth",
            "Harbour Bank",
        ),
        (
            "| Obligor | Pellworm Works Ltd |\n| Funder | Tidewrack Finance plc |\n",
            "Pellworm Works Ltd",
            "Tidewrack Finance plc",
        ),
        (
            "Item 1: Name of lender: HARBOUR BANK PLC, Hull\nItem 2: Name of borrower: IDA ROTH, of Hull\n",
            "IDA ROTH",
            "HARBOUR BANK PLC",
        ),
        (
            "We:  Harbour Credit Union, Hull\nYou:  Ida Roth, 3 Quay Road\n\nYou pay us interest.",
            "Ida Roth",
            "Harbour Credit Union",
        ),
        (
            'This Agreement is between Harbour Bank, N.A., a national banking association with its office in Dover, Ohio (the "Bank"), '
            'and Pellworm Works LLC, an Ohio limited liability company (the "Company"). The Bank shall lend the Company $5,000.',
            "Pellworm Works LLC",
            "Harbour Bank, N.A.",
        ),
        (
            "PELLWORM WORKS, INC.,\na Maine corporation,\nas Borrower,\n\nand\n\nHARBOUR BANK,\nas Administrative Agent",
            "PELLWORM WORKS, INC.",
            "HARBOUR BANK",
        ),
        (
            "FOR VALUE RECEIVED, the undersigned, Ida Roth of 3 Quay Road, promises to pay to the order of Karl Lind the sum of $900.",
            "Ida Roth",
            "Karl Lind",
        ),
        (
            "I, Ida Roth, of 3 Quay Road, owe my uncle Karl Lind the sum of $900 and promise to pay it back.",
            "Ida Roth",
            "Karl Lind",
        ),
        (
            "HARBOUR BANK PLC\n1 Quay Road\n\nThe Directors\nPellworm Works Limited (SC112233)\n\n6 June 2024\n\nDear Sirs\n\nWe are willing to lend you £5,000.\n\n"
            "Yours faithfully\n\n______\nIan Ross\nDirector\n\nOn behalf of Pellworm Works Limited we accept.",
            "Pellworm Works Limited",
            "HARBOUR BANK PLC",
        ),
        (
            '"We" are Tidewrack Receivables Finance Limited of Hull. "You" are Pellworm Works Limited.',
            "Pellworm Works Limited",
            "Tidewrack Receivables Finance Limited",
        ),
        (
            "The Lender is Harbour Savings and Loan. I will pay. Welcome, Ida Roth.",
            "Ida Roth",
            "Harbour Savings and Loan",
        ),
        ("Harbour Bank\nIda Roth\n(Lender)\n(Borrower)\nDate: ____\nDate: ____\n", "Ida Roth", "Harbour Bank"),
        (
            "Lender: Harbour Bank\n\nThe borrower promises to pay.\n\nPart G. Execution\n\nBorrower:  PELLWORM DENTAL, INC., an Ohio corporation (EIN 1), sole obligor\n\n"
            "By: ________\nName: Greta Holm\nTitle: Treasurer\n",
            "PELLWORM DENTAL, INC.",
            "Harbour Bank",
        ),
    ],
)
def test_each_way_of_naming(text: str, borrower: str, lender: str) -> None:
    assert first(read(text)) == (borrower, lender)


def test_officers_witnesses_and_former_lenders_are_no_parties() -> None:
    text = (
        'Karl Lind (the "Lender") lends to Pellworm Works Ltd (the "Borrower") £5,000 to repay its former lender Oldport Bank plc.\n\n'
        "Signed for the Borrower: ____________\nBy: Greta Holm, Director\nWitness: Ian Ross\n"
    )
    parties = read(text)
    assert first(parties) == ("Pellworm Works Ltd", "Karl Lind")
    names = {m.name for m in (*parties.borrowers, *parties.lenders)}
    assert not names & {"Greta Holm", "Ian Ross"}


def test_guarantors_are_told_apart() -> None:
    parties = read(
        "Borrower: Pellworm Works Ltd\nLender: Harbour Bank\nGuarantor: Pellworm Group plc\n\nPellworm Group plc will guarantee the debt."
    )
    assert [m.name for m in parties.guarantors] == ["Pellworm Group plc"]
    assert [m.name for m in parties.borrowers] == ["Pellworm Works Ltd"]
    assert read("Borrower: Ida Roth\nGuarantors: None\n").guarantors == ()


def test_people_named_in_one_breath_are_one_party() -> None:
    parties = read("Borrower: Ida Roth and Karl Roth, husband and wife\nLender: Harbour Bank\n")
    assert parties.borrowers[0].name == "Ida Roth and Karl Roth"
    assert parties.borrowers[0].kind == "natural_person"


def test_kinds_come_with_the_words_that_show_them() -> None:
    text = (
        'Olive Thorne, a Delaware corporation (the "Maker"), promises to pay Zeno Brandt (the "Payee") $9,000.\n\n'
        "The Payee is a natural person lending his own money; he is not a bank."
    )
    parties = read(text)
    maker, payee = parties.borrowers[0], parties.lenders[0]
    assert (maker.kind, payee.kind) == ("legal_entity", "natural_person")
    assert "corporation" in text[maker.kind_start : maker.kind_end]
    assert "natural person" in text[payee.kind_start : payee.kind_end]


def test_a_description_ends_where_the_promise_begins() -> None:
    text = "I, Ida Roth, 3 Quay Road, acknowledge that I owe $900 to Redfern Bancorp, a bank holding company, and promise to pay it."
    assert read(text).borrowers[0].kind == "natural_person"


def test_the_term_bank_makes_its_bearer_an_institution() -> None:
    text = 'between Viola Prender & Co., 3 Quay Road (the "Bank"), and Ida Roth (the "Borrower")'
    assert read(text).lenders[0].kind == "financial_institution"


def test_a_doubtful_term_is_judged_by_use() -> None:
    lending = 'Ida Roth (the "Recipient") and Karl Lind (the "Patron"). The Patron shall lend the Recipient $5. The Recipient shall repay the Patron.'
    parties = read(lending)
    assert first(parties) == ("Ida Roth", "Karl Lind")
    assert parties.defined_terms["Patron"] == "lender"
    assert parties.defined_terms["Recipient"] == "borrower"


def test_a_bank_can_be_called_you() -> None:
    text = (
        'Borrower: Ida Roth\n\n"I" means the borrower. "You" and "the Bank" mean Harbour Savings Bank. I will pay you.'
    )
    assert read(text).lenders[0].name == "Harbour Savings Bank"


def test_the_mixed_case_spelling_is_preferred() -> None:
    text = "PELLWORM WORKS LIMITED (the “Borrower”) and Karl Lind (the “Lender”).\n\nBorrower: Pellworm Works Limited\n"
    assert read(text).borrowers[0].name == "Pellworm Works Limited"


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet='AbBorwe Lnd:("the).,\n_', max_size=300))
def test_offsets_stay_inside_any_text(text: str) -> None:
    read(text)


def test_time_is_linear_in_hostile_text() -> None:
    for piece in ('(the "Borrower") ', "Lender Lender Lender ", "A of A and ", "Borrower: ", "______\n"):
        text = piece * (400_000 // len(piece))
        start = time.perf_counter()
        read(text)
        assert time.perf_counter() - start < 20


def test_real_contracts_of_one_template(external_data: Path) -> None:
    documents = pytest.importorskip("ovrag_core.documents")
    folder = external_data / "loan_thesis" / "contracts"
    if not folder.is_dir():
        pytest.skip("no loan_thesis/contracts in the external data")
    for path in sorted(folder.glob("*.pdf"))[:8]:
        document = documents.load(path)
        borrower, lender = first(find_parties(document))
        assert borrower and lender and borrower != lender
        assert borrower in document.text and lender in document.text
