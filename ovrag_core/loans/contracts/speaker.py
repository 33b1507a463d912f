"""One contract's way of speaking: the values of its tokens, and the phrasings that fit it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from ovrag_core.loans.contracts.draft import Saying, sentence
from ovrag_core.loans.contracts.lists import Register, lists
from ovrag_core.loans.contracts.phrasings import Voice, choose, fitting, phrasings
from ovrag_core.loans.contracts.terms import LoanTerms, Says, Side, tags_of
from ovrag_core.loans.contracts.written_figures import Styles, day, money, percent, values_of


class Speaker:
    """Speaks for one contract in one register: `say` gives a fitting phrasing with all tokens filled.

    A phrasing is drawn anew each time; figures, dates and party terms are chosen once, so that they agree throughout.
    """

    def __init__(self, terms: LoanTerms, register: Register, random: Random) -> None:
        self.terms = terms
        self.register = register
        self.random = random
        self.tags = tags_of(terms)
        self.styles = Styles(random.choice(register.money), random.choice(register.days), random.choice(register.rates))
        company = not terms.borrower.is_person
        self.borrower_term = random.choice([term for term in register.borrower if company or term != "Company"])
        self.lender_term = random.choice(_lender_terms(terms, register))
        self.article = random.choice(register.articles)
        self.short_names = _short_names(terms) if random.random() < register.short_names else None
        self.shout = random.random() < 0.15
        self.named_last = register.form == "note" and random.random() < 0.3
        self.pledge = self._localised(terms.pledge.text) if terms.pledge else None
        self.values = self._values()

    def say(self, clause: str, voice: Voice | None = None) -> str:
        """A phrasing of the clause with its tokens filled, starting with a capital."""
        text = choose(self.random, voice or self.register.voice, clause, self.tags)
        return sentence(text.format_map(self.values))

    def saying(self, says: Says | None, clause: str, voice: Voice | None = None) -> Saying:
        """A phrasing of the clause as a passage that a contradiction may turn on."""
        return Saying(says, self.say(clause, voice))

    def several(self, clause: str, count: int) -> list[str]:
        """Up to `count` different phrasings of a clause; none where this voice lacks it."""
        voice = self.register.voice
        known = fitting(voice, clause, self.tags) if clause in phrasings(voice) else []
        texts = self.random.sample(known, min(count, len(known)))
        return [sentence(text.format_map(self.values | self._others())) for text in texts]

    def row(self, clause: str) -> tuple[str, str]:
        """Label and value of a line on a cover sheet."""
        text = choose(self.random, "rows", clause, self.tags)
        label, _, value = text.partition(" | ")
        return label, value.format_map(self.values)

    def date(self, when: date) -> str:
        """A date in the style chosen for this contract."""
        return day(when, self.styles.day)

    def small_amount(self, amount: Decimal) -> str:
        """An amount of minor weight in the style chosen for this contract."""
        return money(amount, self.terms.place.currency, self.styles.small_money)

    def _values(self) -> dict[str, str]:
        terms, random = self.terms, self.random
        debt, document = random.choice(self.register.debt), random.choice(self.register.document)
        the_debt = {"you": f"your {debt}", "first": f"my {debt}"}.get(self.register.voice, f"the {debt}")
        borrower, lender = self._parties()
        costs = random.choice((Decimal("0.18"), Decimal("0.27"), Decimal("0.41")))
        spoken = {"B": borrower, "L": lender, "D": the_debt, "K": document}
        values = (
            values_of(terms, self.styles) | spoken | {f"The{name}": sentence(text) for name, text in spoken.items()}
        )
        values |= {
            "B_quoted": self._quoted(self.borrower_term, borrower, "borrower"),
            "L_quoted": self._quoted(self.lender_term, lender, "lender"),
            "shall": random.choice(self.register.shall),
            "effective": percent(terms.rate.percent + costs) if terms.rate.percent is not None else "",
            "purpose": self._localised(terms.purpose),
            "pledge": self.pledge or "",
            **self._others(),
        }
        values["city"] = terms.lender.address.split(",")[-2 if terms.place.american else -1].strip()
        values["borrower_intro"] = self.introduce(terms.borrower)
        values["lender_intro"] = self.introduce(terms.lender)
        return values

    def _others(self) -> dict[str, str]:
        """A bank, an amount and an earlier date that have nothing to do with this loan."""
        random = self.random
        earlier = self.terms.signed - timedelta(days=random.randint(200, 1500))
        bank = random.choice(lists().other_banks)
        thousands = max(1, round(self.terms.principal * random.randint(2, 30) / 10_000))
        return {
            "other_bank": bank,
            "other_amount": self.small_amount(Decimal(thousands * 1000)),
            "other_date": self.date(earlier),
        }

    def introduce(self, side: Side) -> str:
        """Name, address and what else identifies a party, without the final full stop."""
        random, parts = self.random, lists()
        clauses = {"natural_person": "person", "legal_entity": "company", "government": "government"}
        clause = clauses.get(side.kind, "bank")
        if clause == "person" and "trader" in self.tags and side is self.terms.borrower and random.random() < 0.6:
            clause = "trader"
        text = choose(random, "parties", clause, self.tags)
        return text.format(
            name=capitals(side).name if self.shout else side.name,
            address=side.address,
            style=side.style,
            born=self.date(side.born) if side.born else "",
            id=f"{random.choice('CLPX')}{random.randint(1_000_000, 9_999_999)}",
            signatory=side.signatory,
            office=side.office,
            trade=f"{random.choice(parts.company_stems)} {random.choice(parts.trades)}",
        )

    def _parties(self) -> tuple[str, str]:
        """Words for borrower and lender in running text."""
        if self.register.voice == "you":
            return "you", "we"
        if self.short_names:
            return self.short_names
        return f"{self.article} {self.borrower_term}".strip(), f"{self.article} {self.lender_term}".strip()

    def _quoted(self, term: str, spoken: str, role: str) -> str:
        if self.short_names:
            return f"“{spoken}”, as {role}"
        return f"“{term}”" if self.register.voice == "you" else f"{self.article} “{term}”".strip()

    def _localised(self, text: str) -> str:
        """A noun phrase of the lists, speaking of the parties as this contract does."""
        borrower, lender = self._parties()
        your, you = {"you": ("your", "you"), "first": ("my", "me")}.get(
            self.register.voice, (f"{borrower}'s", borrower)
        )
        us = "us" if self.register.voice == "you" else lender
        pairs = (("the borrower's", your), ("the borrower", you), ("the lender", us))
        for old, new in pairs:
            text = text.replace(old, new)
        return text


def _short_name(side: Side) -> str:
    words = [word.strip(",.") for word in side.name.split()]
    return next((word for word in words if len(word) > 4 and word.isalpha() and word not in _COMMON), "")


_COMMON_WORDS = """Bank Banque First Savings National Trust Sparkasse Volksbank Spaarbank Bankhaus Building Caisse
populaire Limited Private Credit Union Student Department Ministry Office"""
_COMMON = frozenset(_COMMON_WORDS.split())


def _short_names(terms: LoanTerms) -> tuple[str, str] | None:
    """Short names of borrower and lender, two organisations; None where either has none or both have the same."""
    borrower, lender = _short_name(terms.borrower), _short_name(terms.lender)
    people = terms.borrower.is_person or terms.lender.is_person
    return None if people or not borrower or not lender or borrower == lender else (borrower, lender)


def _lender_terms(terms: LoanTerms, register: Register) -> list[str]:
    bank = "bank" in f"{terms.lender.name} {terms.lender.style}".casefold()
    barred = set() if bank else {"Bank"}
    if terms.lender.is_person:
        barred |= {"Bank", "Financier", "Funder", "Issuer"}  # words for those who lend by trade
    fitting = [term for term in register.lender if term not in barred]
    return fitting or ["Lender"]


def capitals(side: Side) -> Side:
    """The party with its name in capital letters, where that can be undone without loss."""
    upper = side.name.upper()
    return replace(side, name=upper) if upper.casefold() == side.name.casefold() else side
