"""Amounts, rates, dates and months as drafters write them, and the values of the tokens of phrasings."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import NamedTuple

from babel.numbers import format_decimal

from ovrag_core.loans.contracts.lists import lists
from ovrag_core.loans.contracts.terms import LoanTerms
from ovrag_core.text import MONTHS, ONES, TENS, add_months

_SCALES = ((1_000_000_000, "billion"), (1_000_000, "million"), (1_000, "thousand"), (100, "hundred"))
_FRACTIONS = {"25": ("¼", "and one-quarter"), "5": ("½", "and one-half"), "75": ("¾", "and three-quarters")}


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


def money(amount: Decimal, currency: str, style: str = "code") -> str:
    """An amount, to the hundredth part of the unit, as `style` writes it.

    `words` is "two thousand Euro (EUR 2,000.00)", `note` "Two Thousand and 00/100 Dollars ($2,000.00)"; `local` groups
    and points as the currency's country does. Fractions are written out only where there are any (`symbol_bare`).
    """
    written = lists()["currencies"][currency]
    if style == "local" and "local" in written:
        return format_decimal(amount, *written["local"])
    figure, symbol, unit = f"{amount:,.2f}", written["symbol"], written["unit"]
    bare = f"{symbol}{figure.removesuffix('.00')}"
    words, cents = number_words(int(amount)), round(amount % 1 * 100)
    hundredths = f"and {cents:02d}/100 {unit}"
    return {
        "code": f"{currency} {figure}",
        "code_after": f"{figure} {currency}",
        "symbol": f"{symbol}{figure}",
        "symbol_bare": bare,
        "local": bare,
        "words": f"{words} {hundredths if cents else unit} ({currency} {figure})",
        "note": f"{words.title()} {hundredths} ({symbol}{figure})",
    }[style]


def day(when: date, style: str = "uk") -> str:
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
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"


def percent(rate: Decimal, style: str = "sign") -> str:
    """A yearly rate as `style` writes it: "5.75%", "5.75 per cent", "5¾%", "five point seven percent (5.7%)"."""
    figure = f"{rate.normalize():f}"
    whole, _, decimals = figure.partition(".")
    sign, words = _FRACTIONS.get(decimals, ("", f"point {' '.join(ONES[int(digit)] for digit in decimals)}"))
    return {
        "sign": f"{figure}%",
        "sign_spaced": f"{figure} %",
        "comma": f"{figure.replace('.', ',')} %",
        "per_cent": f"{figure} per cent",
        "percent": f"{figure} percent",
        "fraction": f"{whole}{sign}%" if sign else f"{figure}%",
        "words": f"{number_words(int(whole))}{f' {words}' if decimals else ''} percent ({figure}%)",
    }[style]


class Styles(NamedTuple):
    """Styles in which a contract writes amounts, days and rates."""

    money: str = "code"
    day: str = "uk"
    rate: str = "sign"

    @property
    def small_money(self) -> str:
        """The style of amounts of minor weight, which are never written in words."""
        return "symbol" if self.money in ("note", "words") else self.money


PLAIN = Styles()


def values_of(terms: LoanTerms, styles: Styles = PLAIN) -> dict[str, str]:
    """Figures, dates and the like by token; empty text where the contract has no such thing."""
    currency, guarantor = terms.place["currency"], terms.guarantor
    count = terms.months or 0
    quarters = max(1, count // 3)
    whole = terms.payment * count
    amounts = {
        "total": whole,
        "charge": max(Decimal(0), whole - terms.principal),
        "payment": terms.payment,
        "part": (terms.principal / quarters).quantize(Decimal("0.01")),
        "floor": Decimal(max(5, round(terms.principal / 500) * 5)),
        "fee": Decimal(min(200, max(15, round(terms.principal / 5000) * 5))),
    }
    return {token: money(amount, currency, styles.small_money) for token, amount in amounts.items()} | {
        "amount": money(terms.principal, currency, styles.money),
        "rate": "" if terms.rate is None else percent(terms.rate, styles.rate),
        "benchmark": terms.place["benchmark"],
        "margin": f"{terms.margin:f}",
        "months": f"{count} months",
        "mwords": f"{number_words(count)} ({count}) months",
        "count": str(count),
        "nth": ordinal(count),
        "quarters": str(quarters),
        "signed": day(terms.signed, styles.day),
        "first": day(add_months(terms.signed, 1), styles.day),
        "maturity": day(terms.maturity, styles.day) if terms.maturity else "",
        "law": terms.place["law"],
        "court": terms.place["court"],
        "reference": terms.reference,
        "guarantor": guarantor.name if guarantor else "",
        "guarantor_address": guarantor.address if guarantor else "",
    }
