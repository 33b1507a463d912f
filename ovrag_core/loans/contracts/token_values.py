"""Values of the tokens of phrasings: figures and dates in the styles of one contract."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ovrag_core.loans.contracts.terms import LoanTerms
from ovrag_core.loans.contracts.written_figures import (
    DayStyle,
    MoneyStyle,
    RateStyle,
    day,
    money,
    months,
    ordinal,
    percent,
)


@dataclass(frozen=True, slots=True)
class Styles:
    """Styles in which a contract writes amounts, days and rates."""

    money: MoneyStyle = "code"
    day: DayStyle = "long"
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
        "months": months(count),
        "mwords": months(count, words=True),
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
