"""Parties by what the judge makes of the mentions of their names."""

from __future__ import annotations

from ovrag_core.base.types import Document
from ovrag_core.loans.reading.parties import Parties, find_parties
from ovrag_core.loans.reading.roles import LEAST, candidates, definitions, sighted

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


def test_parties_that_no_term_names_are_told_by_what_is_said_of_them() -> None:
    parties = find_parties(Document("note", NOTE))
    assert parties.borrowers[0].name == "Ingebrigt Solbakken"
    assert "Aslak Mienna" not in {mention.name for mention in (*parties.borrowers, *parties.lenders)}


def test_a_text_without_names_has_no_parties() -> None:
    assert sighted("", LEAST) == []
    assert find_parties(Document("empty", "")) == Parties()
