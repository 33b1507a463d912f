"""One contract's way of speaking: the values of its tokens, and the phrasings that fit it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from ovrag_core.contracts import names
from ovrag_core.contracts.draft import Says, Saying, sentence
from ovrag_core.contracts.figures import DayStyle, MoneyStyle, RateStyle, day, money, months, percent
from ovrag_core.contracts.phrasings import Voice, choose, choose_several
from ovrag_core.contracts.registers import Register
from ovrag_core.contracts.terms import Kind, Side, Terms

_KIND_TAGS: dict[Kind, tuple[str, ...]] = {
    "ConsumerLoan": ("consumer",),
    "CommercialLoan": ("commercial",),
    "Mortgage": ("mortgage",),
    "StudentLoan": ("student",),
    "SubsidizedStudentLoan": ("student", "subsidized"),
    "GreenLoan": ("green",),
    "CardAccount": ("card",),
}
_CLASH_TAGS = {
    "secured_unsecured": "sec_clash",
    "openend_closedend": "form_clash",
    "borrower_type": "party_clash",
    "lender_type": "party_clash",
}
_TANGIBLE = ("vehicle", "equipment")


def tags_of(terms: Terms) -> frozenset[str]:
    """What holds of a contract, as the conditions of phrasings and registers name it."""
    tags = {*_KIND_TAGS[terms.kind]}
    tags.add("person" if terms.borrower.is_person else "company")
    tags.add("lender_person" if terms.lender.is_person else "lender_bank")
    tags.add("secured" if terms.called_secured else "unsecured")
    tags.add("open" if terms.open_end else "closed")
    tags.add("variable" if terms.rate.percent is None else "fixed")
    if terms.place.american:
        tags.add("american")
    if terms.place.continental:
        tags.add("continental")
    if terms.clash_type:
        tags.add(_CLASH_TAGS[terms.clash_type])
    if terms.pledge:
        tags.add(terms.pledge.asset)
        if terms.pledge.asset in _TANGIBLE:
            tags.add("tangible")
    if terms.kind == "CommercialLoan" and terms.borrower.is_person:
        tags.add("trader")
    return frozenset(tags)


class Speaker:
    """Speaks for one contract in one register: `say` gives a fitting phrasing with all tokens filled.

    A phrasing is drawn anew each time; figures, dates and party terms are chosen once, so that they agree throughout.
    """

    def __init__(self, terms: Terms, register: Register, random: Random) -> None:
        self.terms = terms
        self.register = register
        self.random = random
        self.tags = tags_of(terms)
        self.money: MoneyStyle = random.choice(register.money)
        self.day: DayStyle = random.choice(register.days)
        self.rate: RateStyle = random.choice(register.rates)
        self.borrower_term = random.choice(_borrower_terms(terms, register))
        self.lender_term = random.choice(_lender_terms(terms, register))
        self.pledge = self._localised(terms.pledge.text) if terms.pledge else None
        self.values = self._values()

    def say(self, clause: str, voice: Voice | None = None) -> str:
        """A phrasing of the clause with its tokens filled, starting with a capital."""
        text = choose(self.random, voice or self.register.voice, clause, self.tags)
        return sentence(text.format_map(self.values))

    def saying(self, says: Says, clause: str) -> Saying:
        """A phrasing of the clause as a passage that a contradiction may turn on."""
        return Saying(says, self.say(clause))

    def several(self, clause: str, count: int) -> list[str]:
        """Up to `count` different phrasings of a clause; none where this voice lacks it."""
        texts = choose_several(self.random, self.register.voice, clause, self.tags, count)
        return [sentence(text.format_map(self.values)) for text in texts]

    def row(self, clause: str) -> tuple[str, str]:
        """Label and value of a line on a cover sheet."""
        text = choose(self.random, "rows", clause, self.tags)
        label, _, value = text.partition(" | ")
        return label, value.format_map(self.values)

    def amount(self, amount: Decimal) -> str:
        """An amount in the style chosen for this contract."""
        return money(amount, self.terms.place.currency, self.money)

    def small_amount(self, amount: Decimal) -> str:
        """The same without words, for amounts of minor weight."""
        style: MoneyStyle = "symbol" if self.money in ("note", "words") else self.money
        return money(amount, self.terms.place.currency, style)

    def date(self, when: date) -> str:
        """A date in the style chosen for this contract."""
        return day(when, self.day)

    def _values(self) -> dict[str, str]:
        terms, random = self.terms, self.random
        quarters = (terms.months or 12) // 3
        debt, document = random.choice(self.register.debt), random.choice(self.register.document)
        the_debt = f"your {debt}" if self.register.voice == "you" else f"the {debt}"
        borrower, lender = self._party_term(self.borrower_term), self._party_term(self.lender_term)
        rate = terms.rate.percent or Decimal(0)
        values = {
            "B": borrower, "TheB": sentence(borrower), "B_quoted": _quoted(self.borrower_term),
            "L": lender, "TheL": sentence(lender), "L_quoted": _quoted(self.lender_term),
            "D": the_debt, "TheD": sentence(the_debt), "K": document, "TheK": sentence(document),
            "shall": random.choice(self.register.shall),
            "amount": self.amount(terms.principal), "rate": percent(rate, self.rate),
            "effective": percent(rate + random.choice((Decimal("0.18"), Decimal("0.27"), Decimal("0.41"))), "sign"),
            "benchmark": terms.place.benchmark, "margin": f"{terms.rate.margin:f}",
            "months": months(terms.months or 0), "mwords": months(terms.months or 0, words=True),
            "signed": self.date(terms.signed), "first": self.date(terms.first_payment),
            "maturity": self.date(terms.maturity) if terms.maturity else "",
            "count": str(terms.months or 0), "payment": self.small_amount(terms.payment),
            "quarters": str(quarters), "part": self.small_amount((terms.principal / quarters).quantize(Decimal("0.01"))),
            "floor": self.small_amount(_floor(terms)), "fee": self.small_amount(_floor(terms)),
            "purpose": self._localised(terms.purpose), "pledge": self.pledge or "",
            "law": terms.place.law, "court": terms.place.court, "reference": terms.reference,
            "other_bank": names.other_bank(random), "other_amount": self.small_amount(_other_amount(random, terms)),
            "other_date": self.date(terms.signed - timedelta(days=random.randint(200, 1500))),
            "guarantor": terms.guarantor.name if terms.guarantor else "",
            "guarantor_address": terms.guarantor.address if terms.guarantor else "",
        }  # fmt: skip
        values["borrower_intro"] = self.introduce(terms.borrower)
        values["lender_intro"] = self.introduce(terms.lender)
        return values

    def introduce(self, side: Side) -> str:
        """Name, address and what else identifies a party, without the final full stop."""
        random = self.random
        clause = {"natural_person": "person", "legal_entity": "company", "government": "government"}.get(side.kind, "bank")
        if clause == "person" and "trader" in self.tags and side is self.terms.borrower and random.random() < 0.6:
            clause = "trader"
        text = choose(random, "parties", clause, self.tags)
        return text.format(
            name=side.name,
            address=side.address,
            style=side.style,
            born=self.date(side.born) if side.born else "",
            id=f"{random.choice('CLPX')}{random.randint(1_000_000, 9_999_999)}",
            signatory=side.signatory,
            office=side.office,
            trade=names.trade_name(random),
        )

    def _party_term(self, term: str) -> str:
        return term if self.register.voice == "you" else f"the {term}"

    def _localised(self, text: str) -> str:
        """A noun phrase of the lists, speaking of the parties as this contract does."""
        if self.register.voice == "you":
            pairs = (("the borrower's", "your"), ("the borrower", "you"), ("the lender", "us"))
        else:
            borrower, lender = self._party_term(self.borrower_term), self._party_term(self.lender_term)
            pairs = (("the borrower's", f"{borrower}'s"), ("the borrower", borrower), ("the lender", lender))
        for old, new in pairs:
            text = text.replace(old, new)
        return text


def _quoted(term: str) -> str:
    return f"“{term}”" if term in ("you", "we") else f"the “{term}”"


def _borrower_terms(terms: Terms, register: Register) -> list[str]:
    company = not terms.borrower.is_person
    return [term for term in register.borrower if company or term != "Company"]


def _lender_terms(terms: Terms, register: Register) -> list[str]:
    bank = "bank" in f"{terms.lender.name} {terms.lender.style}".casefold()
    barred = set() if bank else {"Bank"}
    if terms.lender.is_person:
        barred |= {"Bank", "Financier", "Funder", "Issuer"}
    fitting = [term for term in register.lender if term not in barred]
    return fitting or ["Lender"]


def _floor(terms: Terms) -> Decimal:
    return Decimal(max(5, round(terms.principal / 500) * 5))


def _other_amount(random: Random, terms: Terms) -> Decimal:
    return Decimal(max(1, round(terms.principal * random.randint(2, 30) / 10_000)) * 1000)


def capitals(side: Side) -> Side:
    """The party with its name in capital letters, where that can be undone without loss."""
    upper = side.name.upper()
    return replace(side, name=upper) if upper.casefold() == side.name.casefold() else side
