"""Offline answers: a question is matched to the facts it asks for, and answered with them, a passage, or silence."""

import pytest
from standins import bench

from ovrag_core.base import Chunk, Correction, Document, Question
from ovrag_core.loans.fact_answering import FactAnswerer, requested_facts
from ovrag_core.loans.loan_facts import Facility, LoanReading, Money
from ovrag_core.loans.reading import reader
from ovrag_core.loans.reply import answer_text, ask_once, is_silent
from ovrag_core.loop import ARMS, NO_ANSWER, ExtractiveAnswerer
from ovrag_core.retrieval import minilm

NOTE = Document(
    "note.txt",
    """PROMISSORY NOTE

Ida Roth, a teacher of Hull (the "Borrower"), promises to pay Rowan Bank plc (the "Lender") the sum of GBP 9,000.
Interest is 4.5% per annum, fixed. All is due on 30 June 2031.
The loan is unsecured. Karl Lind guarantees the payment of this note.
This note is governed by the law of England.
""",
)
RECIPE = Document("pie.txt", "Peel six apples, knead a dough of flour and butter, and bake it for forty minutes.")


def chunk(document: Document) -> Chunk:
    return Chunk(f"{document.id}@0", document.id, 0, len(document.text), document.text)


@pytest.fixture
def answerer() -> FactAnswerer:
    documents = {each.id: each for each in (NOTE, RECIPE)}
    return FactAnswerer(ExtractiveAnswerer(minilm()), documents, reader.read)


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("Who is lending the money?", {"lender"}),
        ("Name the debtor.", {"borrower"}),
        ("Until when does it have to be paid back?", {"maturity"}),
        ("What rate of interest applies?", {"interest_rate"}),
        ("Is this loan secured, and by what?", {"security", "collateral"}),
        ("Who are the parties?", {"borrower", "lender"}),
        ("What law governs the note?", set()),
        ("What is the late payment fee?", set()),
    ],
)
def test_what_a_question_asks_for(question: str, facts: set[str]) -> None:
    assert requested_facts(question) == facts


def test_a_summary_asks_for_everything() -> None:
    assert len(requested_facts("Please summarise this loan agreement.")) == 12


@pytest.mark.parametrize(
    ("question", "sentence", "quote"),
    [
        ("Who is lending the money?", "The lender is Rowan Bank plc, a financial institution.", "Rowan Bank plc"),
        ("What rate of interest applies?", "The interest rate is 4.5%.", "Interest is 4.5% per annum"),
        ("Is this loan secured?", "The loan is unsecured.", "The loan is unsecured."),
    ],
)
def test_a_fact_is_answered_with_its_quote(answerer: FactAnswerer, question: str, sentence: str, quote: str) -> None:
    answer = answerer.answer(question, [chunk(NOTE)])
    assert answer.text == sentence
    assert any(quote in each.quote for each in answer.evidence)
    assert all(NOTE.text[each.start : each.end] == each.quote for each in answer.evidence)


def test_a_fact_that_the_document_does_not_state_is_no_answer(answerer: FactAnswerer) -> None:
    answer = answerer.answer("What will the money be used for?", [chunk(NOTE)])
    assert (answer.text, answer.evidence) == (NO_ANSWER, ())


def test_what_is_no_fact_is_answered_by_the_nearest_passage(answerer: FactAnswerer) -> None:
    answer = answerer.answer("What law governs the note?", [chunk(NOTE)])
    assert "governed by the law of England" in answer.text


def test_facts_of_another_kind_of_text_or_of_several_are_not_asked_for(answerer: FactAnswerer) -> None:
    alone = ExtractiveAnswerer(minilm())
    for chunks in ([chunk(RECIPE)], [chunk(NOTE), chunk(RECIPE)]):
        assert answerer.answer("Who is lending?", chunks) == alone.answer("Who is lending?", chunks)


def test_a_correction_is_made_of_other_passages(answerer: FactAnswerer) -> None:
    first = answerer.answer("Who is lending the money?", [chunk(NOTE)])
    second = answerer.answer(
        "Who is lending the money?", [chunk(NOTE)], corrections=[Correction(answer=first, feedback="no")]
    )
    assert second.text != first.text


def test_a_contradiction_is_answered_by_both_sides() -> None:
    text = NOTE.text.replace(
        "The loan is unsecured.", "The loan is unsecured. As security for the loan the Borrower pledges her car."
    )
    document = Document("note.txt", text)
    answer = FactAnswerer(ExtractiveAnswerer(minilm()), {"note.txt": document}, reader.read).answer(
        "Is this loan secured?", [chunk(document)]
    )
    assert "contradicts itself" in answer.text
    assert {"The loan is unsecured."} < {each.quote for each in answer.evidence}


def test_of_several_facilities_each_is_answered_for() -> None:
    reading = LoanReading(
        document_id=NOTE.id,
        status="loan",
        facilities=tuple(
            Facility(name=name, subject=name, principal=Money(amount=amount, currency="GBP"))
            for name, amount in (("term loan", 70_000), ("revolver", 20_000))
        ),
    )
    answer = FactAnswerer(ExtractiveAnswerer(minilm()), {NOTE.id: NOTE}, lambda document: reading).answer(
        "How much is lent?", [chunk(NOTE)]
    )
    assert answer.text.splitlines() == [
        "term loan: The principal or limit is GBP 70,000.00.",
        "revolver: The principal or limit is GBP 20,000.00.",
    ]


def test_a_reply_shows_the_fact_and_its_quote_once() -> None:
    desk = bench({NOTE.id: NOTE.text})
    desk.reader = reader
    desk.answerer = ExtractiveAnswerer(minilm())
    record, _ = ask_once(Question(id="Q", text="What rate of interest applies?"), NOTE.id, ARMS["ovrag_evidence"], desk)
    text = answer_text(record)
    assert not is_silent(record)
    assert text.count("4.5%") == 2, text
