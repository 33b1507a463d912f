"""Ends of sentences, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovrag_core.text.passages import sentences


def cut(text: str, **options: bool) -> list[str]:
    return [text[start:end] for start, end in sentences(text, **options)]


@pytest.mark.parametrize(
    "text",
    [
        "Paid to Dr. A. Smith at 5 p.m. on Monday.",
        "1. The loan is repaid.",
        "The account no. 4577 is pledged.",
        "It is 3.5 per cent, i.e. little.",
    ],
)
def test_abbreviations_initials_and_numbers_end_no_sentence(text: str) -> None:
    assert cut(text) == [text]


def test_a_sentence_ends_before_a_capital_a_figure_or_a_sum() -> None:
    first, second, third, last = cut('He said "Stop." Then he paid. $5 were left! Why?')
    assert (first, second, third, last) == ('He said "Stop."', "Then he paid.", "$5 were left!", "Why?")
    assert cut("It is from Oak Inc. The borrower is Elm Ltd.") == ["It is from Oak Inc.", "The borrower is Elm Ltd."]


def test_loose_text_ends_at_semicolons_lines_and_before_small_letters() -> None:
    text = "rain raises floods; e.g. in spring. it lowers\nVitamin C. Scurvy"
    assert cut(text, loose=True) == ["rain raises floods;", "e.g. in spring.", "it lowers", "Vitamin C.", "Scurvy"]


def test_few_abbreviations_leave_out_titles_and_small_numbers() -> None:
    assert cut("Borrower: Prof. Lind, account no. 7", few=True) == ["Borrower: Prof.", "Lind, account no.", "7"]
    assert cut("Borrower: Dr. Lind", few=True) == ["Borrower: Dr. Lind"]


@given(st.text(alphabet="aB1.;!?\"') \n", max_size=80), st.booleans())
def test_sentences_stand_in_order_and_leave_out_blanks_alone(text: str, loose: bool) -> None:
    spans = list(sentences(text, loose=loose))
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    assert not any(text[end:start].strip() for end, start in zip(edges[::2], edges[1::2], strict=True))
