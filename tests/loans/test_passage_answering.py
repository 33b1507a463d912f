"""Passages that answer: the reader is sure of what says it, and of nothing that only lies near."""

import pytest

from ovrag_core.base import Chunk, Document, Evidence
from ovrag_core.loans import passage_answering
from ovrag_core.loans.passage_answering import (
    RIVAL,
    SURE,
    ReadPassage,
    read_passages,
    readings_of,
    sure_of,
    with_quotes,
)

LETTER = Document(
    "letter.txt",
    """FACILITY LETTER

We lend Harbour Bakery Ltd the sum of GBP 40,000, which is repaid in 48 monthly instalments.

5. Early repayment
You may repay the whole or a part at any time. We ask for one month's interest on what you repay early.

6. If you pay late
For each letter that we must send you about a missed instalment we charge GBP 12.

7. Law
The courts of Scotland decide on any dispute.
""",
)


def whole(document: Document) -> list[Chunk]:
    return [Chunk(document.id, document.id, 0, len(document.text), document.text)]


def answering(question: str) -> str:
    return " ".join(passage.quote for passage in sure_of(read_passages(question, LETTER)))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which courts are competent?", "courts of Scotland"),
        ("Does early repayment cost anything?", "one month's interest"),
    ],
)
def test_what_answers_is_quoted(question: str, said: str) -> None:
    assert said in answering(question)


@pytest.mark.parametrize(
    "question", ["How long may the bank take to register the charge?", "Who is the finance director of the bakery?"]
)
def test_of_what_is_not_said_the_reader_is_not_sure(question: str) -> None:
    assert answering(question) == ""


def test_a_passage_is_read_below_its_heading_and_behind_the_one_before_it() -> None:
    read = {passage.evidence.quote: passage for passage in readings_of(whole(LETTER))}
    fee = read["We ask for one month's interest on what you repay early."]
    assert fee.alone == f"FACILITY LETTER: {fee.evidence.quote}"
    assert fee.behind.startswith("You may repay the whole or a part at any time.")


def evidence(start: int) -> Evidence:
    return Evidence(document_id="a", start=start, end=start + 5, quote="words")


def judged(*odds: tuple[float, float]) -> list[ReadPassage]:
    return [ReadPassage(evidence(10 * row), alone, both) for row, (alone, both) in enumerate(odds)]


def test_answers_stand_in_the_order_of_the_text_and_far_weaker_ones_are_left_out() -> None:
    assert [e.start for e in sure_of(judged((5, SURE + 1), (-3, -3), (6, SURE + 2)))] == [0, 20]
    assert [e.start for e in sure_of(judged((5, SURE), (-3, -3), (8, SURE + RIVAL + 1)))] == [20]
    assert sure_of(judged((2, SURE - 0.1))) == []
    assert sure_of([]) == []


def test_what_is_sure_only_behind_an_answer_is_no_answer() -> None:
    assert [e.start for e in sure_of(judged((6, 6), (0, 3)))] == [0]
    assert [e.start for e in sure_of(judged((6, 6), (4, 5)))] == [0, 10]


def test_a_long_document_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_answering, "SHORT", 100)
    assert read_passages("Which courts are competent?", LETTER) == []


def test_a_long_list_is_cut_to_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_answering, "READ", 1)
    (passage,) = read_passages("Which courts are competent?", LETTER)
    assert "Scotland" in passage.evidence.quote


def test_an_answer_ends_in_the_agreements_own_words() -> None:
    answer = with_quotes("The loan is unsecured.", [evidence(0)], [evidence(50)])
    assert answer.text == "The loan is unsecured.\nThe agreement says:\nwords"
    assert [e.start for e in answer.evidence] == [0, 50]
