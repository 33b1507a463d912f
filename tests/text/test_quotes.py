"""Quotes are found where they stand, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovrag_core.text.quotes import locate

TEXT = "1. Security\nThe loan is “secured” by\n   a 2021 Toyota — Corolla (the Borrower’s).\nAnna pays USD 1,000.00."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("The loan", "The loan"),
        ("  secured” by a 2021 ", "secured” by\n   a 2021"),
        ('is "secured" by', "is “secured” by"),
        ("Toyota - Corolla", "Toyota — Corolla"),
        ("the Borrower's", "the Borrower’s"),
        ('"Anna pays USD 1,000.00."', "Anna pays USD 1,000.00."),
        ("Anna pays USD ...", "Anna pays USD"),
        ("USD 1,000.00", "USD 1,000.00"),
    ],
)
def test_a_quote_is_found_though_blanks_and_marks_differ(quote: str, found: str) -> None:
    span = locate(quote, TEXT)
    assert span is not None
    assert TEXT[slice(*span)] == found


@pytest.mark.parametrize(
    "quote",
    ["", "   ", "...", "the loan is unsecured", "Ann", "the loan", "USD 1,000.0", "Anna … USD 1,000.00", "a" * 5000],
)
def test_what_the_text_does_not_say_is_not_found(quote: str) -> None:
    assert locate(quote, TEXT) is None


@given(st.text(min_size=1, max_size=200), st.data())
def test_whole_words_of_any_text_are_found_verbatim(text: str, data: st.DataObject) -> None:
    words = text.split()
    if not words:
        return
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    quote = " ".join(words[first:last])
    span = locate(quote, text)
    if span is not None:
        assert text[slice(*span)].split() and text[span[0]] != " "
    if quote.isalnum():
        assert span is not None
