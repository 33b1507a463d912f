"""Numbers and percentages of all countries, in figures and in words."""

from decimal import Decimal

import pytest

from ovrag_core.text.number_reading import parse_number, percentages, words_to_number


@pytest.mark.parametrize(
    ("figures", "value"),
    [
        ("1,340,000.00", "1340000.00"),
        ("18.500,00", "18500.00"),
        ("1'250'000", "1250000"),
        ("12,50,000", "1250000"),
        ("2 750 000", "2750000"),
        ("6,29", "6.29"),
        ("1.750", "1750"),
        ("2.75", "2.75"),
    ],
)
def test_numbers_of_all_countries(figures: str, value: str) -> None:
    assert parse_number(figures) == Decimal(value)


def test_numbers_in_words() -> None:
    assert words_to_number("two hundred seventy-five thousand") == 275_000
    assert words_to_number("One Million Three Hundred and Forty Thousand") == 1_340_000
    assert words_to_number("two crore fifty lakh") == 25_000_000
    assert words_to_number("some money") is None
    assert words_to_number("two dozen") == 24


@pytest.mark.parametrize(
    ("written", "percent"),
    [
        ("21 (twenty-one) per cent", "21"),
        ("six (6) percent", "6"),
        ("775 basis points", "7.75"),
        ("three quarters of one per cent", "0.75"),
        ("5 and one-half percent", "5.5"),
        ("eleven and a quarter per cent", "11.25"),
        ("1/2 of one percent", "0.5"),
        ("½%", "0.5"),
    ],
)
def test_percentages_with_words_fractions_and_points(written: str, percent: str) -> None:
    assert [value for value, _, _ in percentages(written)] == [Decimal(percent)]
