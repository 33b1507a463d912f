"""Parties by what the judge makes of the mentions of their names."""

from __future__ import annotations

from ovrag_core.base.types import Document
from ovrag_core.loans.reading.parties import Parties, find_parties
from ovrag_core.loans.reading.roles import LEAST, candidates, definitions, role_of, sighted

NOTE = """\
LOAN MEMORANDUM, Tromsø, 4 May 2025

For the winter feed Ingebrigt Solbakken has had 90,000 kroner out of the chest of Nordlys Fiskerforening.
It goes back into that chest by three yearly sums of 30,000 kroner with four per cent a year upon what is left, and
Solbakken answers for it with all that he has. The pastor, Aslak Mienna, wrote this down.
"""


def test_a_term_of_its_own_is_found_with_who_may_bear_it() -> None:
    text = 'Hartwell Trust (the "Trust") and Ida Roth (the "Borrower"): the Trust lends, the Borrower repays the Trust.'
    names = candidates(text)
    trust, borrower = definitions(text, [(name.start, name.end) for name in names])
    assert [names[row].text for row in trust.rows] == ["Hartwell Trust"]
    assert [text[start:end] for start, end in trust.places] == ["Trust", "Trust"]
    assert (borrower.term, names[borrower.rows[-1]].text, borrower.places) == ("Borrower", "Ida Roth", ())


def test_a_legal_form_alone_and_a_sum_in_words_are_no_names() -> None:
    text = "Nordby Seafood. Inc., of Bergen, will pay U.S. Two-Hundred Thousand Dollars ($200,000) to Kirsten Dahl."
    assert [name.text for name in candidates(text)] == ["Nordby Seafood", "Bergen", "Kirsten Dahl"]


def test_a_name_that_ends_in_a_role_names_nobody_and_a_trade_name_is_no_partys() -> None:
    text = (
        "Otter Valves, Inc., Pike Valves, Inc. and Roach Valves Co., individually and doing business as Orm Pumps and "
        "Orm Seals, agree with Larch National Bank, the Swingline Lender and each U.S. Borrower as follows."
    )
    assert [name.text for name in candidates(text)] == [
        "Otter Valves, Inc.", "Pike Valves, Inc.", "Roach Valves Co.", "Larch National Bank"
    ]  # fmt: skip


def test_a_term_of_several_words_names_the_role_of_its_last_less_surely() -> None:
    assert role_of("Lenders") == role_of("Lender") == ("lender", True)
    assert role_of("Euro Borrower") == ("borrower", False)
    assert role_of("Revolving Fund") == (None, False)


def test_parties_behind_many_names_are_found_where_a_term_is_defined_for_them() -> None:
    contents = "".join(f"Schedule {number} - Pledged Shares of Bodkin Mills No. {number}\n" for number in range(90))
    text = (
        f'{contents}\nCREDIT AGREEMENT among KESTREL VALVES, INC., a Delaware corporation (the "U.S. Borrower"), and '
        f'LARCH NATIONAL BANK, N.A. (the "Bank").\n\nThe Bank lends the U.S. Borrower $9,000,000.\n\n{contents}'
    )
    parties = find_parties(Document("long", text))
    assert parties.borrowers[0].name == "KESTREL VALVES, INC."
    assert parties.lenders[0].name == "LARCH NATIONAL BANK, N.A."


def test_a_label_gives_the_name_in_full() -> None:
    text = "[Larch Bank Logo]\n\nLENDER:        Larch Bank\nBORROWER:      Kestrel, Inc.\n\nLarch Bank lends $900.\n"
    assert find_parties(Document("label", text)).lenders[0].name == "Larch Bank"


def test_a_label_on_a_line_above_tells_the_role() -> None:
    text = (
        "IN WITNESS WHEREOF the parties have signed this loan agreement.\n\nLENDERS:\n\nLARCH BANK, N.A.,\nas Agent\n\n"
        "GUARANTORS:\n\nORFE HOLDINGS, LLC\n\nBORROWER:\n\nKESTREL VALVES, INC.\n"
    )
    parties = find_parties(Document("signed", text))
    assert (parties.borrowers[0].name, parties.lenders[0].name) == ("KESTREL VALVES, INC.", "LARCH BANK, N.A.")
    assert parties.guarantors[0].name == "ORFE HOLDINGS, LLC"


def test_parties_that_no_term_names_are_told_by_what_is_said_of_them() -> None:
    parties = find_parties(Document("note", NOTE))
    assert parties.borrowers[0].name == "Ingebrigt Solbakken"
    assert "Aslak Mienna" not in {mention.name for mention in (*parties.borrowers, *parties.lenders)}


def test_a_text_without_names_has_no_parties() -> None:
    assert sighted("", LEAST) == []
    assert find_parties(Document("empty", "")) == Parties()
