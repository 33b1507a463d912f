from datetime import date
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovrag_core.loans.contracts.lists import choose, fits, only, phrasings
from ovrag_core.loans.contracts.terms import company_name, lender_name, person_name
from ovrag_core.loans.contracts.written_figures import day, money, number_words, ordinal, percent


@pytest.mark.parametrize(
    ("style", "amount", "currency", "text"),
    [
        ("code", "254000", "USD", "USD 254,000.00"),
        ("code_after", "1250.5", "EUR", "1,250.50 EUR"),
        ("symbol", "1250.5", "GBP", "£1,250.50"),
        ("symbol_bare", "254000", "AUD", "A$254,000"),
        ("symbol_bare", "254000.25", "AUD", "A$254,000.25"),
        ("words", "21042", "CHF", "twenty-one thousand forty-two Swiss Francs (CHF 21,042.00)"),
        ("note", "1000001.5", "USD", "One Million One and 50/100 Dollars ($1,000,001.50)"),
        ("local", "1234567.5", "EUR", "1.234.567,50 EUR"),
        ("local", "1234567.5", "INR", "Rs. 12,34,567.50"),
        ("local", "1234567.5", "CHF", "CHF 1,234,567.50".replace(",", "’")),
    ],
)
def test_money(style, amount, currency, text):
    assert money(Decimal(amount), currency, style) == text


@given(st.integers(1, 999_999_999))
def test_no_two_numbers_share_their_words(number):
    words = number_words(number)
    assert words != number_words(number + 1)
    assert words == words.lower().strip()
    assert "zero" not in words


@pytest.mark.parametrize(
    ("style", "rate", "text"),
    [
        ("sign", "5.750", "5.75%"),
        ("sign", "10", "10%"),
        ("per_cent", "6.125", "6.125 per cent"),
        ("fraction", "5.75", "5¾%"),
        ("fraction", "5.7", "5.7%"),
        ("words", "5.25", "five and one-quarter percent (5.25%)"),
        ("words", "10.05", "ten point zero five percent (10.05%)"),
        ("comma", "5.75", "5,75 %"),
    ],
)
def test_percent(style, rate, text):
    assert percent(Decimal(rate), style) == text


def test_days_and_ordinals():
    when = date(2031, 6, 3)
    assert [day(when, style) for style in ("us", "uk", "iso", "dotted", "ordinal", "abbreviated")] == [
        "June 3, 2031",
        "3 June 2031",
        "2031-06-03",
        "03.06.2031",
        "the 3rd day of June, 2031",
        "03-Jun-2031",
    ]
    assert [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 72, 112)] == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "72nd", "112th"]
    )


def test_names_come_from_the_lists_and_the_seed():
    assert person_name(Random(3), ("greek",), bare=True) == person_name(Random(3), ("greek",), bare=True)
    assert company_name(Random(3), "GmbH", ("german",)).endswith(" GmbH")
    assert lender_name(Random(3), "Sparkasse {stem}", continental=True).startswith("Sparkasse ")


def test_conditions_of_phrasings():
    tags = frozenset({"card"})
    assert only("plain", "open_end", tags).text.startswith("The Borrower may use the card")
    with pytest.raises(ValueError):
        only("plain", "open_end", frozenset())
    with pytest.raises(KeyError):
        choose(Random(1), "plain", "nothing of the kind", tags)
    fitting = [
        phrasing for phrasing in phrasings("plain")["open_end"] if fits(phrasing.conditions, frozenset({"open"}))
    ]
    assert len(fitting) == 1
