"""Amounts, rates, dates and months as drafters write them, and the values of the tokens of phrasings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from babel.numbers import format_decimal

from ovrag_core.loans.contracts.lists import DayStyle, MoneyStyle, RateStyle
from ovrag_core.loans.contracts.terms import LoanTerms
from ovrag_core.text import MONTHS, ONES, TENS

_SCALES = ((1_000_000_000, "billion"), (1_000_000, "million"), (1_000, "thousand"), (100, "hundred"))
_SYMBOLS = {
    "USD": "$", "GBP": "£", "EUR": "€", "CAD": "C$", "AUD": "A$", "SGD": "S$", "CHF": "CHF ", "INR": "Rs. ", "ZAR": "R",
}  # fmt: skip
_UNITS = {
    "USD": "Dollars", "GBP": "Pounds Sterling", "EUR": "Euro", "CAD": "Canadian Dollars", "AUD": "Australian Dollars",
    "SGD": "Singapore Dollars", "CHF": "Swiss Francs", "INR": "Indian Rupees", "ZAR": "South African Rand",
}  # fmt: skip
_LOCAL = {  # pattern and the locale whose marks it is filled with
    "EUR": ("#,##0.00 'EUR'", "de"), "CHF": ("'CHF' #,##0.00", "de_CH"), "INR": ("'Rs.' #,##,##0.00", "en_IN"),
}  # fmt: skip
_FRACTIONS = {"0.25": "¼", "0.5": "½", "0.75": "¾"}
_FRACTION_WORDS = {"0.25": "one-quarter", "0.5": "one-half", "0.75": "three-quarters"}


def number_words(number: int) -> str:
    """A whole number below a thousand billion in English words, `1203` as "one thousand two hundred three"."""
    for scale, name in _SCALES:
        if number >= scale:
            head = f"{number_words(number // scale)} {name}"
            return f"{head} {number_words(number % scale)}" if number % scale else head
    if number >= 20:
        head = TENS[number // 10 - 2]
        return f"{head}-{ONES[number % 10]}" if number % 10 else head
    return ONES[number]


def money(amount: Decimal, currency: str, style: MoneyStyle = "code") -> str:
    """An amount, to the hundredth part of the unit, as `style` writes it.

    `words` is "two thousand Euro (EUR 2,000.00)", `note` "Two Thousand and 00/100 Dollars ($2,000.00)"; `local` groups
    and points as the currency's country does. Fractions are written out only where there are any (`symbol_bare`).
    """
    figure = f"{amount:,.2f}"
    simple = {
        "code": f"{currency} {figure}",
        "code_after": f"{figure} {currency}",
        "symbol": f"{_SYMBOLS[currency]}{figure}",
        "symbol_bare": f"{_SYMBOLS[currency]}{figure.removesuffix('.00')}",
        "local": f"{_SYMBOLS[currency]}{figure.removesuffix('.00')}",
    }
    if style == "local" and currency in _LOCAL:
        pattern, locale = _LOCAL[currency]
        return format_decimal(amount, pattern, locale)
    if style in simple:
        return simple[style]
    whole = int(amount)
    cents = round((amount - whole) * 100)
    words = number_words(whole)
    if style == "note":
        return f"{_title(words)} and {cents:02d}/100 {_UNITS[currency]} ({_SYMBOLS[currency]}{figure})"
    fraction = f" and {cents:02d}/100" if cents else ""
    return f"{words}{fraction} {_UNITS[currency]} ({currency} {figure})"


def _title(words: str) -> str:
    return " ".join("-".join(half.capitalize() for half in word.split("-")) for word in words.split())


def day(when: date, style: DayStyle = "uk") -> str:
    """A date as `style` writes it; `uk` is "30 June 2031", never two numbers that can be mistaken for each other."""
    month = MONTHS[when.month - 1]
    return {
        "us": f"{month} {when.day}, {when.year}",
        "uk": f"{when.day} {month} {when.year}",
        "iso": when.isoformat(),
        "dotted": f"{when:%d.%m.%Y}",
        "ordinal": f"the {ordinal(when.day)} day of {month}, {when.year}",
        "abbreviated": f"{when.day:02d}-{month[:3]}-{when.year}",
    }[style]


def ordinal(number: int) -> str:
    """`1` as "1st", `12` as "12th"."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def percent(rate: Decimal, style: RateStyle = "sign") -> str:
    """A yearly rate as `style` writes it: "5.75%", "5.75 per cent", "5¾%", "five point seven percent (5.7%)"."""
    figure = f"{rate.normalize():f}"
    whole, fraction = int(rate), f"{(rate % 1).normalize():f}"
    simple = {
        "comma": f"{figure.replace('.', ',')} %",
        "sign_spaced": f"{figure} %",
        "per_cent": f"{figure} per cent",
        "percent": f"{figure} percent",
    }
    if style == "fraction" and fraction in _FRACTIONS:
        return f"{whole}{_FRACTIONS[fraction]}%"
    if style == "words":
        decimals = figure.partition(".")[2]
        words = number_words(whole)
        if fraction in _FRACTION_WORDS:
            words += f" and {_FRACTION_WORDS[fraction]}"
        elif decimals:
            words += f" point {' '.join(ONES[int(digit)] for digit in decimals)}"
        return f"{words} percent ({figure}%)"
    return simple.get(style, f"{figure}%")


@dataclass(frozen=True, slots=True)
class Styles:
    """Styles in which a contract writes amounts, days and rates."""

    money: MoneyStyle = "code"
    day: DayStyle = "uk"
    rate: RateStyle = "sign"

    @property
    def small_money(self) -> MoneyStyle:
        """The style of amounts of minor weight, which are never written in words."""
        return "symbol" if self.money in ("note", "words") else self.money


def values_of(terms: LoanTerms, styles: Styles = Styles()) -> dict[str, str]:
    """Figures, dates and the like by token; empty text where the contract has no such thing."""
    currency = terms.place.currency

    def small(amount: Decimal) -> str:
        return money(amount, currency, styles.small_money)

    count = terms.months or 0
    quarters = max(1, count // 3)
    return {
        "amount": money(terms.principal, currency, styles.money),
        "rate": percent(terms.rate.percent, styles.rate) if terms.rate.percent is not None else "",
        "benchmark": terms.place.benchmark,
        "margin": f"{terms.rate.margin:f}",
        "months": f"{count} months",
        "mwords": f"{number_words(count)} ({count}) months",
        "count": str(count),
        "nth": ordinal(count),
        "total": small(terms.payment * count),
        "charge": small(max(Decimal(0), terms.payment * count - terms.principal)),
        "signed": day(terms.signed, styles.day),
        "first": day(terms.first_payment, styles.day),
        "maturity": day(terms.maturity, styles.day) if terms.maturity else "",
        "payment": small(terms.payment),
        "quarters": str(quarters),
        "part": small((terms.principal / quarters).quantize(Decimal("0.01"))),
        "floor": small(Decimal(max(5, round(terms.principal / 500) * 5))),
        "fee": small(Decimal(min(200, max(15, round(terms.principal / 5000) * 5)))),
        "law": terms.place.law,
        "court": terms.place.court,
        "reference": terms.reference,
        "guarantor": terms.guarantor.name if terms.guarantor else "",
        "guarantor_address": terms.guarantor.address if terms.guarantor else "",
    }
