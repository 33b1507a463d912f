# ruff: noqa: E501 -- passages of contracts stand on one line
"""Who lends and who borrows, in the ways contracts name them."""

import json
from pathlib import Path

import pytest
from growth import LINEAR, growth
from hypothesis import given, settings
from hypothesis import strategies as st

from ovrag_core.base.types import Document
from ovrag_core.documents import load
from ovrag_core.loans.reading.parties import Parties, find_parties
from ovrag_core.loans.reading.reader import read_passage

MISREAD = pytest.mark.xfail(reason="the judge misreads it")


def read(text: str) -> Parties:
    parties = find_parties(Document(id="d", text=text))
    for mention in (*parties.borrowers, *parties.lenders, *parties.guarantors):
        assert 0 <= mention.start < mention.end <= len(text)
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
            'This Agreement is between Harbour Bank, N.A., a national bank of Dover, Ohio (the "Bank"), '
            'and Pellworm Works LLC, an Ohio limited liability company (the "Company"). The Bank agrees to lend $5,000 to the Company.',
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


@MISREAD
def test_kinds_come_with_the_words_that_show_them() -> None:
    text = (
        'Olive Thorne, a Delaware corporation (the "Maker"), promises to pay Zeno Brandt (the "Payee") $9,000.\n\n'
        "The Payee is a natural person, whose savings these are, and no bank."
    )
    parties = read(text)
    maker, payee = parties.borrowers[0], parties.lenders[0]
    assert (maker.kind, payee.kind) == ("legal_entity", "natural_person")
    shown = {t.subject: t.evidence.quote for t in read_passage(text, document_id="d") if t.predicate == "rdf:type"}
    assert "corporation" in shown["Olive Thorne"]
    assert "natural person" in shown["Zeno Brandt"]


@pytest.mark.parametrize(
    "text",
    [
        "Borrower: Zyxo Quandre\nDate of birth: 3 May 1980\nLender: Harbour Bank\n",
        "Borrower: Zyxo Quandre\nLender: Harbour Bank\n\nMs Quandre pays on the first of each month.",
        "Borrower: Zyxo Quandre\nLender: Harbour Bank\n\nDear Zyxo,\n\nthank you for your visit.",
        "Borrower: Zyxo Quandre, wife of Tarn Quandre\nLender: Harbour Bank\n",
        "Borrower: Zyxo T. Quandre\nLender: Harbour Bank\n",
        "I, Zyxo Quandre, owe Harbour Bank $500 and promise to pay it.",
        "Employee: Zyxo Quandre\nLender: Harbour Works Ltd\n\nThe Employee shall repay the Lender $500.",
        "Cardholder: Zyxo Quandre\nBank: Harbour Bank\n\nYou pay us interest. The card is for you and your family.",
        "Borrower: Zyxo Quandre, trading as Quandre Ropes\nLender: Harbour Bank\n",
    ],
)
@pytest.mark.xfail(reason="the judge takes an unknown name for a person's where it stands as the borrower's")
def test_a_person_is_known_by_what_only_people_have(text: str) -> None:
    assert read(text).borrowers[0].kind == "natural_person"
    plain = "Borrower: Zyxo Quandre\nLender: Harbour Bank\n\nThe Borrower pays $500. Ms Lind is the witness."
    assert read(plain).borrowers[0].kind is None


@pytest.mark.parametrize(
    "lender",
    [
        pytest.param("Charlotte, North Carolina", marks=MISREAD),
        pytest.param("Santa Rosa", marks=MISREAD),
        pytest.param("London Branch", marks=MISREAD),
        pytest.param("Washington Boulevard", marks=MISREAD),
        pytest.param("Swingline Participant", marks=MISREAD),
    ],
)
def test_a_place_a_branch_or_a_term_is_no_person(lender: str) -> None:
    parties = read(f"LOAN AGREEMENT\n\nLender: {lender}\nBorrower: Pellworm Works LLC\n")
    assert [mention.kind for mention in parties.lenders] == [None]


@MISREAD
def test_what_stands_after_an_article_is_a_thing() -> None:
    row = "Lender: Grant Manager\nBorrower: Pellworm Works LLC\n"
    assert "natural_person" not in [m.kind for m in read(f"{row}\nThe Borrower tells the Grant Manager.").lenders]
    row = row.replace("Manager", "Holloway")
    assert read(f"{row}\nThe Borrower tells Grant Holloway.").lenders[0].kind == "natural_person"
    assert read(f"{row}\nThe Borrower tells the Grant Holloway.").lenders[0].kind is None


def test_a_description_ends_where_the_promise_begins() -> None:
    text = "I, Ida Roth, 3 Quay Road, acknowledge that I owe $900 to Redfern Bancorp, a bank holding company, and promise to pay it."
    assert read(text).borrowers[0].kind == "natural_person"


def test_the_term_bank_makes_its_bearer_an_institution() -> None:
    text = 'between Viola Prender & Co., 3 Quay Road (the "Bank"), and Ida Roth (the "Borrower")'
    assert read(text).lenders[0].kind == "financial_institution"


def test_a_doubtful_term_is_judged_by_use() -> None:
    lending = 'Ida Roth (the "Recipient") and Karl Lind (the "Patron"). The Patron shall lend the Recipient $5. The Recipient shall repay the Patron.'
    assert first(read(lending)) == ("Ida Roth", "Karl Lind")


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


@pytest.mark.parametrize(
    "piece", ['(the "Borrower") ', "Lender Lender Lender ", "A of A and ", "Borrower: ", "______\n", "Dear Ida,\n"]
)
def test_time_is_linear_in_hostile_text(piece: str) -> None:
    read(piece)  # what is read once is not measured
    assert growth(read, lambda size: piece * (size // len(piece)), 8_000) < LINEAR


def test_real_contracts_of_one_template(external_data: Path) -> None:
    folder = external_data / "loan_thesis"
    if not folder.is_dir():
        pytest.skip("no loan_thesis in the external data")
    gold = json.loads((folder / "ground_truth.json").read_text(encoding="utf-8"))
    for path in sorted((folder / "contracts").glob("*.pdf"))[::5]:
        said = gold[path.stem.removeprefix("Contract_")]["reference_answers"]["Q2"]
        borrower, lender = first(find_parties(load(path)))
        assert said.startswith(f"The borrower is {borrower}, a")
        assert f"The lender is {lender}, a" in said


@pytest.mark.parametrize(
    ("text", "borrower", "lender"),
    [
        # capacities side by side: each belongs to the name before it
        (
            "This loan is made between Ida Roth, as lender, and Pellworm Works Ltd, as borrower, on 3 May 2024.",
            "Pellworm Works Ltd",
            "Ida Roth",
        ),
        # initials in the signature, the full name in the text
        pytest.param(
            "The sole borrower is Ida Maria Roth of Hull. The lender is Harbour Bank plc.\n\nSigned by the borrower      I. M. Roth\n",
            "Ida Maria Roth",
            "Harbour Bank plc",
            marks=MISREAD,
        ),
        # terms that only their use explains
        (
            'between\n\nPellworm Holding GmbH, Kiel\n- hereinafter "Parent" -\n\nand\n\nIda Roth Werke GmbH, Husum\n- hereinafter "Subsidiary" -\n\n'
            "The Parent grants the Subsidiary a credit line of up to EUR 50,000.",
            "Ida Roth Werke GmbH",
            "Pellworm Holding GmbH",
        ),
        # questions as labels
        ("Who lends?      Pellworm Laen OÜ.\nWho borrows?    Ida Roth, born 1990.\n", "Ida Roth", "Pellworm Laen OÜ"),
        # a deed of trust: the trustee neither lends nor owes
        pytest.param(
            "DEED OF TRUST\n\nTHIS DEED OF TRUST is made among\n\n   IDA ROTH and KARL ROTH, husband and wife,\n       Grantors;\n\n   ANNA LIND, an individual,\n"
            "       Trustee; and\n\n   HARBOUR BANK, F.S.B., Beneficiary.\n\nIn trust to secure the loan to the Beneficiary.",
            "IDA ROTH and KARL ROTH",
            "HARBOUR BANK, F.S.B.",
            marks=MISREAD,
        ),
        # the obligor named under its own heading outranks the student named in the box
        (
            "Lender     Harbour Education Credit Corporation\nStudent    Ida Roth\n\nThe loan is repaid monthly.\n\nThe borrower under this agreement is:\n"
            "    Pellworm Care Association, a nonprofit corporation\n",
            "Pellworm Care Association",
            "Harbour Education Credit Corporation",
        ),
        # a question says nothing of who lends
        (
            'HARBOUR BANK plc\n\nWho is "you"?\n   Ms Ida Roth, of Hull.\n\nIs the bank\'s manager, Mr Lind, personally lending to me?\n   No.\n\nYou repay us monthly.',
            "Ida Roth",
            "HARBOUR BANK plc",
        ),
        # the dealer of a floor plan borrows where the lender is somebody else
        (
            "Dealer:  Pellworm Boats Ltd., a corporation\nLender:  Harbour Credit Corp.\n",
            "Pellworm Boats Ltd.",
            "Harbour Credit Corp.",
        ),
        # a label over a blank, the name on the next line, a witness below
        (
            '"You" means Harbour Trust Company. I can take money up to the limit and I owe what I take.\n\n Borrower:   ____________________\n             Ida Maria Roth\n\n'
            " Witness:    ____________________\n",
            "Ida Maria Roth",
            "Harbour Trust Company",
        ),
    ],
)
def test_ways_of_naming_by_other_drafters(text: str, borrower: str, lender: str) -> None:
    assert first(read(text)) == (borrower, lender)


@MISREAD
def test_the_person_behind_a_trade_name_borrows() -> None:
    parties = read(
        "The Lender: Harbour Finance Limited\nThe Borrower: QUAY WORKS\n\nThe Borrower repays the Lender monthly.\n\n"
        "Quay Works is a business name only. Whoever deals with it deals with Mr. Karl Lind of Hull, who owes this loan."
    )
    assert first(parties) == ("Karl Lind", "Harbour Finance Limited")
    assert parties.borrowers[0].kind == "natural_person"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Pellworm Education Loan Authority", "government"),
        pytest.param("Kanton Bern, Amt für Ausbildungsbeiträge", "government", marks=MISREAD),
        ('Bank Polny "Zefir" S.A.', "financial_institution"),
        pytest.param("Casa Alta - Turismo e Eventos, Lda.", "legal_entity", marks=MISREAD),
        ("Pointe aux Roches Hotels Ltd", "legal_entity"),
        ("Mwezi Dairy Workers' Savings and Credit Co-operative Society Ltd", "financial_institution"),
    ],
)
def test_names_that_hold_quotes_dashes_or_public_words_are_read_whole(name: str, kind: str) -> None:
    parties = read(f"Lender: {name}\nBorrower: Ida Roth\n")
    assert (parties.lenders[0].name, parties.lenders[0].kind) == (name, kind)


@pytest.mark.parametrize(
    ("text", "borrower", "lender"),
    [
        # the town of an address is no bank, though it ends as one
        (
            'HARBOUR MOTOR FINANCE LTD, a registered credit provider, of 4 Quay Road, Millbank ("the Financier") and PELLWORM '
            'VANS LTD of Hull ("the Client"). The Client repays the Financier.',
            "PELLWORM VANS LTD",
            "HARBOUR MOTOR FINANCE LTD",
        ),
        (
            "Lender: Harbour Finance Ltd\nBorrower: as named where it signs\n\nSigned and delivered by the Borrower, IDA ROTH, of Hull, a teacher.\n",
            "IDA ROTH",
            "Harbour Finance Ltd",
        ),
        (
            "Card issued to: Ms Ida Roth\nYou pay by the 25th.\n\nIssued by me, KARL LIND, of Hull. All that is on the card is lent by me and owed to me.\n",
            "Ida Roth",
            "KARL LIND",
        ),
        # the head of a paper and the word the text goes on to call it by
        (
            "PELLWORM RELIEF SOCIETY\nHull\n\nMember: Ida Roth\n\nThe Society lends her EUR 900. She owes it to the Society.\n",
            "Ida Roth",
            "PELLWORM RELIEF SOCIETY",
        ),
        # a letter in the lender's own hand, and who agrees to it below
        (
            "Hull, 4 May 2024\n\nMy dear Ida,\n\nI shall lend you EUR 900 of my own money. You owe me nothing else.\n\nYours ever,\n\nKarl Otto Lind\n\n"
            "~~~~~~~~~~~~~~~~\n\nAgreed.\n\nIda Roth\nHull, 5 May 2024\n",
            "Ida Roth",
            "Karl Otto Lind",
        ),
        # a division is no person of its own
        pytest.param(
            "PELLWORM HOME LOANS\na division of Harbour Bank Limited, Hull\n\nClient:  Ms Ida Roth\n\nYou repay us monthly.\n",
            "Ida Roth",
            "Harbour Bank Limited",
            marks=MISREAD,
        ),
        # a question with its answer
        (
            "Employee: Mr Karl Lind\n\nQ1. Who lends me the money?\n    Your employer, Pellworm Yards Co., Ltd. The office only does the paper.\n\nYou repay us from pay.",
            "Karl Lind",
            "Pellworm Yards Co., Ltd",
        ),
        # two parties who sign together are no borrower; what each does tells
        (
            'THE UNDERSIGNED\n\n1. Pellworm Holding N.V., of Hull ("Holding"); and\n\n2. Lind Techniek B.V., of Goole ("the Subsidiary"),\n\n'
            "AGREE\n\nHolding puts at the disposal of the Subsidiary EUR 900. The Subsidiary owes interest.\n",
            "Lind Techniek B.V.",
            "Pellworm Holding N.V.",
        ),
        # a term that an annex resolves
        (
            'Pellworm GmbH, of Hull (the "Company"), and the person named in Annex 1, represented in the execution of this agreement by Kanzlei Vogt '
            '& Partner (the "Giver"). The Giver grants the Company a loan of EUR 900.\n\nAnnex 1: The Giver is Frau Ida Roth, born on 1 May 1950.\n',
            "Pellworm GmbH",
            "Ida Roth",
        ),
    ],
)
def test_parties_by_position_and_role(text: str, borrower: str, lender: str) -> None:
    said = first(read(text))
    assert (said[0], (said[1] or "").rstrip(".")) == (borrower, lender.rstrip("."))


def test_a_trade_name_after_a_persons_leaves_a_person() -> None:
    parties = read("Borrower: Ida Roth, d/b/a Roth & Sons Upholstery Company\nLender: Harbour Bank plc\n")
    assert (parties.borrowers[0].name, parties.borrowers[0].kind) == ("Ida Roth", "natural_person")


def test_a_register_or_supervisor_is_no_lender() -> None:
    parties = read(
        "PELLWORM STUDY FOUNDATION\n\nBetween the Foundation, registered with the Agency for Public Registers, as Lender, and the student below. "
        "The Foundation lends EUR 900.\nBorrower: Ida Roth\n"
    )
    assert first(parties) == ("Ida Roth", "PELLWORM STUDY FOUNDATION")


@pytest.mark.parametrize(
    ("text", "borrower", "lender"),
    [
        pytest.param(
            "Dear Tom,\n\nI owe you £900 and I will repay it by 1 May 2027.\n\nLove,\n\nIda Maria Roth\n\n---------\n",
            "Ida Maria Roth",
            "Tom",
            marks=MISREAD,
        ),
        (
            "This Deed is made between Ida Roth of Hull (hereinafter called the Mortgagor) of the one part and Harbour Provident "
            "Society Limited (hereinafter called the Society) of the other part. The Society lends the Mortgagor £900.\n",
            "Ida Roth",
            "Harbour Provident Society Limited",
        ),
    ],
)
def test_the_hand_that_owes_and_the_term_without_quotation_marks(text: str, borrower: str, lender: str | None) -> None:
    assert first(read(text)) == (borrower, lender)
