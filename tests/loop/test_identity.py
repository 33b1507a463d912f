"""Which document an answer is about, told from its text alone."""

from __future__ import annotations

import time

import pytest
import standins

from ovrag_core.base.settings import Question
from ovrag_core.base.types import Document
from ovrag_core.loans.reading.details import find_details
from ovrag_core.loop.arms import ARMS
from ovrag_core.loop.identity import MIXED, OTHER, UNKNOWN, Shelf, violation
from ovrag_core.loop.pipeline import ask

QUESTION = Question(id="Q1", text="Who borrows?")
MILL = """LOAN AGREEMENT

Lender: First Harbour Bank N.A., 12 Quay Street, Boston, MA 02110.
Borrower: Larkspur Mills, Inc., a Delaware corporation.
Principal amount: USD 962,000.00. Interest rate: 4.5% per year.
The loan is repaid in 60 monthly instalments, the last on 30 June 2031.
Security: a first lien on the dye works at 48 Cooper Lane.
Borrower: Larkspur Mills, Inc. By: Anna Teresa
Miller, treasurer
"""
FARM = """CREDIT AGREEMENT

Lender: First Harbour Bank N.A., 12 Quay Street, Boston, MA 02110.
Borrower: Thomas Brennan, residing at 7 Orchard Road, Ithaca, NY 14850.
Credit limit: USD 35,000.00. Interest rate: 4.5% per year.
The Borrower may draw, repay and draw again. The line ends on 15 March 2028.
Unsecured; the Borrower gives no collateral.
"""
SHOP = """LOAN AGREEMENT

Lender: Ostrava Credit Union. Borrower: Wanda Kowalski.
Principal amount: USD 35,000.00, for a delivery van, at 6.25% per year until 1 May 2029.
The instalment plan of the borrower is kept in the office of the lender for as long as the loan runs.
"""


def shelf(**texts: str) -> Shelf:
    return Shelf({name: Document(name, text) for name, text in texts.items()}, find_details)


@pytest.fixture(scope="module")
def three() -> Shelf:
    return shelf(mill=MILL, farm=FARM, shop=SHOP)


@pytest.mark.parametrize(
    "answer",
    [
        "The borrower is Larkspur Mills and the lender First Harbour Bank.",
        "LARKSPUR MILLS, INC. borrows $962,000 at 4.50 per cent.",
        "The principal is $962 thousand; it falls due on June 30, 2031.",
        "It runs for five years at four and a half percent and ends in June 2031.",
        "Ms. Anna Miller signs for the borrower.",
        "A first lien on the dye works at 48 Cooper\nLane secures it.",
        "About $960,000 are lent to Larkspur Mills Inc",
        "The rate is 4.5%.",
    ],
)
def test_other_ways_of_writing_the_same_are_the_asked_document(three: Shelf, answer: str) -> None:
    assert three.judge(answer, "mill").about == "asked"


@pytest.mark.parametrize(
    ("answer", "about", "documents"),
    [
        ("The borrower is Thomas Brennan, a person.", "other", ("farm",)),
        ("Brennan borrows from First Harbour Bank N.A.", "other", ("farm",)),
        ("The lender is First Harbour Bank N.A.; the credit limit is $35,000.", "other", ("farm",)),
        ("Larkspur Mills borrows USD 35,000 until 1 May 2029.", "mixed", ("shop",)),
        ("The loan is for a delivery van.", "other", ("shop",)),
        ("Larkspur Mills owes Ostrava Credit Union.", "mixed", ("shop",)),
    ],
)
def test_only_what_tells_documents_apart_counts(
    three: Shelf, answer: str, about: str, documents: tuple[str, ...]
) -> None:
    judged = three.judge(answer, "mill")
    assert (judged.about, judged.documents) == (about, documents)


def test_a_fragment_of_the_asked_document_is_its_own() -> None:
    text = "Lender: Quarry Hill Bank plc.\nBorrower: Dr.-Ing.\nHelena Sommerfeld, of 4 Mill Lane, Norwich.\n"
    answer = "Lender: Quarry Hill Bank plc.\nBorrower: Dr.-Ing."
    assert shelf(mill=MILL, ing=text).judge(answer, "ing").about == "asked"


def test_two_names_that_run_together_are_no_third(three: Shelf) -> None:
    answer = "First Harbour Bank N.A. lends.\nSigned in Boston MA\nLarkspur Mills, Inc. (Borrower)"
    assert three.judge(answer, "mill").about == "asked"


@pytest.mark.parametrize(
    "answer",
    [
        "The borrower is Ms. Ong.",
        "The borrower is Mrs. Jia Ong.",
        "Borrower: Jia H. Ong",
    ],
)
def test_a_name_that_the_document_was_not_read_to_have_is_found_in_its_words(answer: str) -> None:
    card = "CARD TERMS\n\nYou: Jia Hui Ong, at home in 4 Mill Lane.\nThe limit is USD 900.00.\n"
    assert shelf(card=card, mill=MILL).judge(answer, "card").about == "asked"


@pytest.mark.parametrize("answer", ["", "The loan is unsecured.", "This is a commercial loan.", "§§§", "\n\n 3 \n"])
def test_an_answer_that_gives_nothing_away_is_about_nothing(three: Shelf, answer: str) -> None:
    assert three.judge(answer, "mill").about == "none"


def test_what_it_was_written_from_decides_where_the_answer_gives_nothing_away(three: Shelf) -> None:
    answer = "It is a commercial loan."
    assert three.judge(answer, "mill", context=[FARM[:200]]).about == "other"
    assert three.judge(answer, "mill", context=[MILL[50:250]]).about == "asked"
    assert three.judge(answer, "mill", context=[MILL[50:250], FARM[:200]]).about == "none"


def test_names_in_the_answer_outweigh_the_context(three: Shelf) -> None:
    assert three.judge("Larkspur Mills, Inc. is the borrower.", "mill", context=[FARM]).about == "asked"


def test_a_single_document_shows_what_it_does_not_hold() -> None:
    alone = shelf(mill=MILL)
    answer = "The borrower is Quentin Abernathy and the principal is $410,000."
    judged = alone.judge(answer, "mill")
    found = violation(judged, answer, "mill", alone)
    assert judged.about == "other"
    assert found is not None
    assert (found.rule, found.cause) == (UNKNOWN, "answer")
    assert "Quentin Abernathy" in found.message and "$410,000" in found.message


def test_a_sum_worked_out_by_the_answer_does_not_make_it_another_contract() -> None:
    assert shelf(mill=MILL).judge("Larkspur Mills repays $1,050,000 in all.", "mill").about == "asked"


def test_the_finding_shows_both_places_and_makes_no_document_contradictory(three: Shelf) -> None:
    answer = "The borrower is Thomas Brennan."
    found = violation(three.judge(answer, "mill"), answer, "mill", three)
    assert found is not None
    assert (found.rule, found.kind, found.severity, found.clash_type) == (OTHER, "identity", "warning", None)
    said, held = found.triples
    assert said.evidence is not None and held.evidence is not None
    assert answer[said.evidence.start : said.evidence.end] == said.evidence.quote == "Thomas Brennan"
    assert FARM[held.evidence.start : held.evidence.end] == held.evidence.quote == "Thomas Brennan"
    assert (held.subject, found.cause) == ("farm", "mixture")


def test_a_mixed_answer_is_called_mixed(three: Shelf) -> None:
    answer = "Larkspur Mills borrows from Ostrava Credit Union."
    found = violation(three.judge(answer, "mill"), answer, "mill", three)
    assert found is not None and found.rule == MIXED
    assert violation(three.judge("Larkspur Mills borrows.", "mill"), "Larkspur Mills borrows.", "mill", three) is None


def test_ids_say_nothing(three: Shelf) -> None:
    renamed = shelf(a=MILL, b=FARM, c=SHOP)
    answer = "The borrower is Thomas Brennan."
    assert renamed.judge(answer, "a").about == three.judge(answer, "mill").about


def test_a_long_or_hostile_answer_is_judged_in_good_time(three: Shelf) -> None:

    answer = "Thomas \u202eBrennan " * 5 + "A" * 20_000 + " 12,12,12" * 2_000 + " Aa Bb" * 2_000
    start = time.process_time()
    three.judge(answer, "mill")
    assert time.process_time() - start < 20


def test_the_loop_warns_of_another_document_without_changing_its_outcome() -> None:
    texts = {"A": "is_Black " + FARM, "B": "is_Black " + MILL}
    parts = standins.bench(texts, standins.Scripted("The borrower is Thomas Brennan."))
    without, _ = ask(QUESTION, "B", ARMS["ovrag"], parts)
    parts.shelf = Shelf(parts.documents, find_details)
    record, _ = ask(QUESTION, "B", ARMS["ovrag"], parts)
    assert record.attempts[0].verdict is not None
    (found,) = record.attempts[0].verdict.violations
    assert (found.rule, found.triples[1].subject) == (OTHER, "A")
    assert (record.outcome, record.cause) == (without.outcome, without.cause) == ("accepted", None)


def test_a_growing_pool_does_not_know_later_documents() -> None:
    parts = standins.bench({"A": MILL, "B": FARM}, standins.Scripted("The borrower is Thomas Brennan."))
    parts.shelf, parts.pool = Shelf(parts.documents, find_details), "growing"
    record, _ = ask(QUESTION, "A", ARMS["ovrag"], parts)
    assert record.attempts[0].verdict is not None
    assert record.attempts[0].verdict.violations[0].rule == UNKNOWN
