"""Replies: what was checked in words, what is shown beside an answer, and what is not checked."""

import pytest
from standins import bench

from ovrag_core.base.settings import ArmName, Question
from ovrag_core.base.types import (
    Answer,
    Attempt,
    Document,
    Evidence,
    Outcome,
    QueryRecord,
    Triple,
    Verdict,
    Violation,
)
from ovrag_core.loans.reading import reader
from ovrag_core.loans.reply import NEAREST, answer_text, ask_once, asked_facts, is_nearest, outcome_words
from ovrag_core.loop.answering import NO_ANSWER
from ovrag_core.loop.arms import ARMS

LOAN = Document(
    "a.txt",
    """LOAN AGREEMENT

between Pinder Tools Ltd (the "Borrower") and Rowan Bank plc (the "Lender").

The Lender lends the Borrower GBP 70,000 in one advance. The loan is unsecured.
The loan bears interest at 4.5% per annum.
""",
)
QUOTE = Evidence.of(LOAN, LOAN.text.index("The loan bears"), len(LOAN.text) - 1)


def record(
    answer: Answer, outcome: Outcome = "accepted", arm: ArmName = "ovrag_evidence", *violations: Violation
) -> QueryRecord:
    status = {"unchecked": "unchecked", "source_finding": "inconsistent"}.get(outcome, "consistent")
    verdict = Verdict.model_validate({"status": status, "violations": violations, "reason": "why not"})
    return QueryRecord(
        arm=arm,
        document_id="a.txt",
        question_id="Q",
        question="Who is the lender?",
        attempts=(Attempt(number=1, answer=answer, verdict=verdict if ARMS[arm].validates else None),),
        outcome=outcome,
        model="m",
    )


@pytest.mark.parametrize(
    ("outcome", "arm", "words"),
    [
        ("accepted", "ovrag_evidence", "consistent with the agreement"),
        ("corrected", "ovrag_evidence", "consistent with the agreement after correction"),
        ("accepted", "ovrag_scoped", "consistent with the retrieved passages"),
        ("source_finding", "ovrag_evidence", "the agreement contradicts itself"),
        ("unchecked", "ovrag_evidence", "not checked"),
        ("accepted", "plain", "not validated"),
    ],
)
def test_an_outcome_says_what_was_checked_and_never_that_an_answer_is_accepted(
    outcome: Outcome, arm: ArmName, words: str
) -> None:
    made = record(Answer(text="The borrower is Pinder Tools Ltd."), outcome, arm)
    assert outcome_words(made) == words
    assert "accepted" not in answer_text(made)


def test_a_quoted_passage_is_the_nearest_and_no_answer() -> None:
    quoted = record(Answer(text=QUOTE.quote, evidence=(QUOTE,)))
    assert is_nearest(quoted)
    assert answer_text(quoted).startswith(f"{NEAREST}\n{QUOTE.quote}")
    written = record(Answer(text="Rowan Bank plc lends.", evidence=(QUOTE,)))
    assert not is_nearest(written)
    assert NEAREST not in answer_text(written)


def test_no_answer_is_consistent_with_nothing() -> None:
    assert outcome_words(record(Answer(text=NO_ANSWER))) == "no answer was found"


def test_the_fact_that_is_asked_for_stands_beside_with_its_quote() -> None:
    ((name, (row,)),) = asked_facts("Who is the lender?", reader.read(LOAN), LOAN)
    assert (row.name, row.value) == ("lender", "Rowan Bank plc (financial institution)")
    text = answer_text(record(Answer(text=QUOTE.quote, evidence=(QUOTE,))), [(name, [row])])
    assert "lender: Rowan Bank plc (financial institution)" in text
    assert 'and Rowan Bank plc (the "Lender")' in text
    ((_, (row,)),) = asked_facts("When is it to be paid back, and is it secured?", reader.read(LOAN), LOAN)
    assert row.name == "security"
    assert asked_facts("What is the weather like?", reader.read(LOAN), LOAN) == []


def test_a_contradiction_that_breaks_three_rules_is_one_bullet() -> None:
    second = Evidence.of(LOAN, LOAN.text.index("The Lender lends"), LOAN.text.index(" The loan is unsecured"))
    triples = tuple(
        Triple(subject="Loan", predicate="rdf:type", object=name, subject_type="Loan", evidence=evidence)
        for name, evidence in (("SecuredLoan", QUOTE), ("UnsecuredLoan", second))
    )
    broken = [
        Violation(
            rule=rule,
            clash_type="secured_unsecured",
            severity="clash",
            kind="owl",
            triples=triples if rule != "two" else triples[::-1],
            message=f"It breaks rule {rule}.",
        )
        for rule in ("one", "two", "three")
    ]
    text = answer_text(record(Answer(text="Yes."), "source_finding", "ovrag_evidence", *broken))
    assert text.count("\n- ") == 1
    assert text.count(QUOTE.quote.strip()) == 1
    assert all(violation.message in text for violation in broken)


@pytest.mark.parametrize("arm", ARMS)
def test_what_is_no_loan_agreement_is_unchecked_in_every_arm(arm: ArmName) -> None:
    desk = bench({"pie.txt": "Peel six apples, knead a dough of flour and butter, and bake it for forty minutes."})
    desk.reader = reader
    made, _ = ask_once(Question(id="Q", text="Who is the lender?"), "pie.txt", ARMS[arm], desk)
    assert (made.outcome, outcome_words(made)) == ("unchecked", "not checked")
    assert made.failure is not None
    assert made.failure.startswith("the document does not look like a loan")
