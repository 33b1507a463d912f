"""Dates and durations in figures and in words."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovrag_core.text.date_reading import add_months, dates, durations, partial_dates, readings


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("the thirty-first of May of the year two thousand and twenty-nine", "2029-05-31"),
        ("the seventh day of October, two thousand thirty", "2030-10-07"),
        ("2030/04/09", "2030-04-09"),
        ("9. 4. 2030", "2030-04-09"),
        ("30.09.28", "2028-09-30"),
        ("30-SEP-28", "2028-09-30"),
        ("2028. szeptember 30, that is 2028. September 30", "2028-09-30"),
        ("14 June B.E. 2571", "2028-06-14"),
        ("the last day of February 2028", "2028-02-29"),
        ("New Year's Eve 2027", "2027-12-31"),
        ("May first, 2031", "2031-05-01"),
    ],
)
def test_days_in_words_and_in_other_orders(written: str, day: str) -> None:
    assert [found for found, _, _ in dates(written)] == [date.fromisoformat(day)]


def test_section_numbers_and_sums_are_no_days() -> None:
    assert list(dates("see 1.2.10 and 12.50.99, item 3/4, and 45.10")) == []


def test_a_date_without_day_or_year() -> None:
    text = "From 3 May 2026 until 4 June, or in July 2027; you may 5 times ask. Version 3 - March 2024"
    found = {text[date.start : date.end]: date[:3] for date in partial_dates(text)}
    assert found == {
        "3 May 2026": (2026, 5, 3),
        "4 June": (None, 6, 4),
        "July 2027": (2027, 7, None),
        "March 2024": (2024, 3, None),
    }


def test_figures_that_may_mean_two_days() -> None:
    assert readings("03/04/2025", date(2025, 4, 3)) == (date(2025, 4, 3), date(2025, 3, 4))
    assert readings("3 April 2025", date(2025, 4, 3)) == readings("03/03/2025", date(2025, 4, 3))[:1]


def test_durations_in_months() -> None:
    text = "two (2) years, 36 monthly instalments, three months old"
    assert [(count, text[start:end]) for count, start, end in durations(text)] == [
        (24, "two (2) years"),
        (36, "36 monthly"),
    ]


def test_adding_months_keeps_to_the_month() -> None:
    assert add_months(date(2024, 1, 31), 1) == date(2024, 2, 29)
    assert add_months(date(2024, 11, 30), 3) == date(2025, 2, 28)


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 480))
def test_adding_months_counts_calendar_months(day: date, count: int) -> None:
    then = add_months(day, count)
    assert (then.year - day.year) * 12 + then.month - day.month == count
    assert then.day == day.day or (then.day < day.day and then.day >= 28)


def test_the_end_of_a_sum_before_a_word_that_may_be_a_month_is_no_date() -> None:
    assert list(partial_dates("pay £1,674.00\n APR of 3 per cent")) == []
