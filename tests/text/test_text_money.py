"""Money as the countries of the world write it, each amount with its currency."""

from decimal import Decimal

import pytest

from ovrag_core.text.money import currency_of, moneys


@pytest.mark.parametrize(
    ("written", "amount", "currency"),
    [
        ("£E 640,000", "640000", "EGP"),
        ("8 200 000 (eight million two hundred thousand) roubles", "8200000", "RUB"),
        ("SINGAPORE DOLLARS NINETY THOUSAND", "90000", "SGD"),
        ("one thousand five hundred million rupiah", "1500000000", "IDR"),
        ("450万円", "4500000", "JPY"),
        ("two and a half million rand", "2500000", "ZAR"),
        ("a quarter of a million Canadian dollars", "250000", "CAD"),
        ("Rs. 3.5 Crore", "35000000", "INR"),
        ("Tshs 6,000,000/=", "6000000", "TZS"),
        ("Fr.    7'500.00", "7500", "CHF"),
        ("forty thousand EUR", "40000", "EUR"),
        ("$20K", "20000", "USD"),
        ("Q.75,000.00 (quetzales)", "75000", "GTQ"),
        ("WS$45,000.00", "45000", "WST"),
        ("NLe 120,000", "120000", "SLE"),
        ("BDS$30,000.00", "30000", "BBD"),
        ("six hundred thousand Gambian dalasi", "600000", "GMD"),
        ("90,000 new leones", "90000", "SLE"),
        ("forty thousand Samoan tala", "40000", "WST"),
    ],
)
def test_money_as_countries_write_it(written: str, amount: str, currency: str) -> None:
    assert (Decimal(amount), currency) in [(m.amount, m.currency) for m in moneys(written)]


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("a credit of $300,000.00 M.N. (three hundred thousand pesos 00/100), Guadalajara", "MXN"),
        ("lends $9.000.000 (nine million Chilean pesos)", "CLP"),
        ("Halifax, Nova Scotia. Loan amount: $5,000", "CAD"),
        ("Lahore. Amount: Rs. 2 million (PKR two million)", "PKR"),
        ("Manila. The Lender lends P1.2 million (pesos).", "PHP"),
        ("Gaborone. A loan of P400 000.00 (four hundred thousand Pula)", "BWP"),
        ("Ngaire Tamihana of Whangārei lends Hemi Parata of Kerikeri $9,000", "NZD"),
        ("Nimal Jayawardena of Galle lends Kumari Wickramasinghe Rs. 1,200,000", "LKR"),
        ("Mutale Chilufya of Kitwe borrows K12,000", "ZMW"),
        ("Montevideo, Uruguay. El préstamo: 90,000 pesos", "UYU"),
        ("Ann Miller, a Canadian citizen, lends Ben Shaw $500", "CAD"),
        ("A loan of $30,000 under the laws of Antigua and Barbuda", "XCD"),
        ("Ann Miller of Toronto, Canada, lends Ben Shaw $500. QUESTIONS? CALL US.", "CAD"),
        ("Ann Miller lends Ben Shaw $500", "USD"),
    ],
)
def test_a_sign_of_several_countries_takes_that_of_the_document(text: str, currency: str) -> None:
    assert {m.currency for m in moneys(text)} == {currency}


def test_an_item_number_is_no_sum_of_money() -> None:
    assert list(moneys("Schedule P1 400 and Annex K 2")) == []


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("US$", "USD"),
        ("€ 5", "EUR"),
        ("pounds", "GBP"),
        ("Canadian dollars", "CAD"),
        ("CHF 5", "CHF"),
        ("PART 5", None),
    ],
)
def test_a_currency_by_code_sign_or_name(text: str, currency: str | None) -> None:
    assert currency_of(text) == currency
