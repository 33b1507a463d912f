"""The loop: what is retrieved, when it re-prompts, when it stops, and what it calls the outcome."""

import pytest
from standins import BlackAndWhite, Scripted, WordExtractor, bench

from ovrag_core.base.settings import Question
from ovrag_core.loop.arms import ARMS
from ovrag_core.loop.pipeline import ask

QUESTION = Question(id="Q1", text="What colour?")


@pytest.mark.parametrize(
    ("arm", "documents"),
    [("plain", {"A", "B"}), ("plain_scoped", {"B"}), ("ovrag", {"A", "B"}), ("ovrag_scoped", {"B"})],
)
def test_scoped_arms_see_the_asked_document_only(arm: str, documents: set[str]) -> None:
    record, _ = ask(QUESTION, "B", ARMS[arm], bench({"A": "is_Black", "B": "is_White"}))
    assert {hit.document_id for hit in record.retrieved} == documents


def test_a_growing_pool_holds_no_later_document() -> None:
    parts = bench({"A": "is_Black", "B": "is_White", "C": "is_Round"})
    parts.pool = "growing"
    record, _ = ask(QUESTION, "B", ARMS["plain"], parts)
    assert {hit.document_id for hit in record.retrieved} == {"A", "B"}


def test_plain_arms_do_not_validate() -> None:
    record, latency = ask(QUESTION, "A", ARMS["plain"], bench({"A": "is_Black is_White"}))
    assert record.outcome == "accepted"
    assert record.attempts[0].verdict is None
    assert latency.validation == 0 == latency.extraction


def test_the_published_arm_merges_documents_and_gives_up_after_three_corrections() -> None:
    record, latency = ask(QUESTION, "B", ARMS["ovrag"], bench({"A": "is_Black", "B": "is_White"}))
    assert {triple.subject for triple in record.context_triples} == {"TheLoan"}
    assert record.outcome == "hard_rejected"
    assert record.cause == "mixture"
    assert len(record.attempts) == 4 == latency.attempts
    assert "black and white" in (record.attempts[1].feedback or "")


def test_a_clean_document_is_accepted_at_once() -> None:
    record, _ = ask(QUESTION, "A", ARMS["ovrag_evidence"], bench({"A": "is_Black"}))
    assert (record.outcome, record.cause, len(record.attempts)) == ("accepted", None, 1)


def test_a_source_that_contradicts_itself_is_reported_without_another_try() -> None:
    record, _ = ask(QUESTION, "A", ARMS["ovrag_evidence"], bench({"A": "is_Black is_White"}))
    assert (record.outcome, record.cause, len(record.attempts)) == ("source_finding", "source", 1)


def test_an_answer_that_contradicts_its_source_is_corrected() -> None:
    parts = bench({"A": "is_Black"}, Scripted("it is_White", "it is_Black"))
    record, _ = ask(QUESTION, "A", ARMS["ovrag_evidence"], parts)
    assert (record.outcome, record.cause, len(record.attempts)) == ("corrected", None, 2)
    assert record.attempts[0].verdict is not None
    assert record.attempts[0].verdict.violations[0].cause == "answer"


def test_an_answer_that_stays_wrong_is_hard_rejected() -> None:
    parts = bench({"A": "is_Black"}, Scripted("it is_White", "it is_White still"))
    record, _ = ask(QUESTION, "A", ARMS["ovrag_evidence"], parts)
    assert (record.outcome, record.cause, len(record.attempts)) == ("hard_rejected", "answer", 4)


def test_an_unchecked_verdict_is_never_a_pass() -> None:
    for arm in ("ovrag", "ovrag_scoped", "ovrag_evidence"):
        record, _ = ask(QUESTION, "A", ARMS[arm], bench({"A": "is_Broken"}))
        assert record.outcome == "unchecked"
        assert not record.flagged


def test_what_is_said_of_a_document_that_cannot_be_read_is_unchecked() -> None:
    parts = bench({"A": "is_Black"})
    parts.problem = {"A": "the document is not in English"}.get
    for arm in ("ovrag", "ovrag_scoped", "ovrag_evidence"):
        record, _ = ask(QUESTION, "A", ARMS[arm], parts)
        assert record.outcome == "unchecked"
        assert record.attempts[0].verdict.reason == "the document is not in English"
    assert ask(QUESTION, "A", ARMS["plain"], parts)[0].outcome == "accepted"  # nothing is checked there


def test_the_context_is_extracted_once_per_document() -> None:
    parts = bench({"A": "is_Black"})
    for _ in range(5):
        ask(QUESTION, "A", ARMS["ovrag_evidence"], parts)
    assert isinstance(parts.extractor, WordExtractor)
    assert parts.extractor.calls == 1


def test_an_unchanged_answer_is_not_checked_again() -> None:
    parts = bench({"A": "is_Black"}, Scripted("it is_White"))
    record, _ = ask(QUESTION, "A", ARMS["ovrag_scoped"], parts)
    assert isinstance(parts.validator, BlackAndWhite)
    assert (len(record.attempts), parts.validator.calls) == (4, 1)


def test_passages_that_feedback_names_are_left_out_of_the_next_answer() -> None:
    record, _ = ask(QUESTION, "A", ARMS["ovrag_scoped"], bench({"A": "is_Black is_White is_Round"}))
    assert "is_White" in record.attempts[0].answer.text
    assert record.outcome == "hard_rejected"  # the context still contradicts itself
