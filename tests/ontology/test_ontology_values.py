"""Values and names as contracts write them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovrag_core.ontology.entities import entity_key, resolve
from ovrag_core.ontology.typed_values import read_value


@pytest.mark.parametrize(
    ("text", "number", "currency"),
    [
        ("USD 962,000.00", "962000", "USD"),
        ("$1.5 million", "1500000", "USD"),
        ("US$250,000", "250000", "USD"),
        ("1.000.000,00 EUR", "1000000", "EUR"),
        ("€ 12.500,50", "12500.5", "EUR"),
        ("CHF 1'000'000", "1000000", "CHF"),
        ("£2bn", "2000000000", "GBP"),
        ("two hundred fifty thousand dollars", "250000", "USD"),
        ("Two Hundred Thousand and 00/100 Dollars ($200,000.00)", None, None),
        ("1,500", "1500", None),
        ("₹12,34,567", "1234567", "INR"),
    ],
)
def test_amounts(text: str, number: str | None, currency: str | None) -> None:
    value = read_value(text, "amount")
    if number is None:
        return
    assert value is not None
    assert (value.lexical, value.currency) == (number, currency)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5.75%", "5.75"),
        ("5.75 percent per annum", "5.75"),
        ("4¾ per cent", "4.75"),
        ("4 3/4%", "4.75"),
        ("½%", "0.5"),
        ("six and nine-tenths percent", "6.9"),
        ("five and three quarters per cent", "5.75"),
        ("six point five percent", "6.5"),
        ("475 basis points", "4.75"),
        ("4,25 %", "4.25"),
        ("7", "7"),
    ],
)
def test_rates(text: str, number: str) -> None:
    value = read_value(text, "rate")
    assert value is not None
    assert value.lexical == number


@pytest.mark.parametrize("text", ["SOFR", "prime plus 3%", "SOFR + 2.5%", "a margin of 2%", "n/a", "variable", ""])
def test_what_is_not_one_rate_is_not_read(text: str) -> None:
    assert read_value(text, "rate") is None


@pytest.mark.parametrize(
    "text",
    [
        "2031-06-30",
        "June 30, 2031",
        "30 June 2031",
        "30th day of June, 2031",
        "Jun. 30, 2031",
        "06/30/2031",
        "30.06.2031",
        "2031-06-30T00:00:00",
    ],
)
def test_dates(text: str) -> None:
    value = read_value(text, "date")
    assert value is not None
    assert value.lexical == "2031-06-30T00:00:00"


@pytest.mark.parametrize(
    "text", ["06/07/2031", "February 30, 2031", "upon demand", "June 30, 2031 or June 30, 2032", "N/A (Open-ended)"]
)
def test_a_date_is_never_guessed(text: str) -> None:
    assert read_value(text, "date") is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("348 months", "348"),
        ("29 years", "348"),
        ("five (5) years", "60"),
        ("5 years and 6 months", "66"),
        ("thirty years", "360"),
        ("24", "24"),
        ("30-year", "360"),
    ],
)
def test_durations(text: str, number: str) -> None:
    value = read_value(text, "months")
    assert value is not None
    assert value.lexical == number


def test_very_long_and_odd_text_is_told_apart_but_not_carried_along() -> None:
    long, longer = read_value("x" * 100_000, "text"), read_value("x" * 100_001, "text")
    assert long is not None
    assert long != longer
    assert len(long.lexical) < 3_000
    assert read_value("9" * 100_000, "amount") is None
    assert read_value("half a pair \ud800", "text") is not None


@given(st.decimals(min_value=0, max_value=10**12, places=2))
def test_an_amount_is_read_as_it_was_written(amount: Decimal) -> None:
    value = read_value(f"USD {amount:,.2f}", "amount")
    assert value is not None
    assert Decimal(value.lexical) == amount


@given(st.text(max_size=60), st.sampled_from(["amount", "rate", "date", "months", "boolean", "text"]))
def test_no_text_breaks_a_reader(text: str, kind: str) -> None:
    read_value(text, kind)


def test_case_punctuation_and_suffix_forms_are_one_entity() -> None:
    assert entity_key("First National Bank, N.A.") == entity_key("first national bank NA")
    assert entity_key("Acme Incorporated") == entity_key("ACME, Inc.")
    assert entity_key("The Smith & Sons Company") == entity_key("Smith and Sons Co.")
    assert entity_key("Acme Inc.") != entity_key("Acme LLC")
    assert entity_key("😀") == "😀"


def test_a_bare_name_joins_its_only_suffixed_form() -> None:
    keys = resolve(["FNB", "FNB N.A.", "Acme", "Acme Inc.", "Acme LLC"])
    assert keys["FNB"] == keys["FNB N.A."]
    assert len({keys["Acme"], keys["Acme Inc."], keys["Acme LLC"]}) == 3


def test_a_person_is_not_the_company_of_the_same_name() -> None:
    keys = resolve(["John Smith", "John Smith LLC"], frozenset({"John Smith"}))
    assert keys["John Smith"] != keys["John Smith LLC"]
