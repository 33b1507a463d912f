"""One contract's way of speaking: the values of its tokens, the phrasings that fit it, and its draft."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from random import Random

from ovrag_core.loans.contracts.draft import Draft, LineStyle, sentence
from ovrag_core.loans.contracts.lists import Entry, choose, fitting, lists, phrasings
from ovrag_core.loans.contracts.terms import LoanTerms, Side
from ovrag_core.loans.contracts.written_figures import Styles, day, money, percent, values_of

_LENDERS_BY_TRADE = {"Bank", "Financier", "Funder", "Issuer"}


class Speaker:
    """Speaks for one contract in one register: `say` gives a fitting phrasing with all tokens filled.

    A phrasing is drawn anew each time; figures, dates and party terms are chosen once, so that they agree throughout.
    """

    def __init__(self, terms: LoanTerms, register: Entry, random: Random) -> None:
        self.terms = terms
        self.register = register
        self.random = random
        self.voice: str = register["voice"]
        self.styles = Styles(*(random.choice(register[styles]) for styles in ("money", "days", "rates")))
        company = not terms.borrower.is_person
        self.borrower_term = random.choice([term for term in register["borrower"] if company or term != "Company"])
        self.lender_term = random.choice(_lender_terms(terms, register))
        article = random.choice(register.get("articles", ["the"]))
        has_short_names = random.random() < register.get("short_names", 0)
        self.shout = random.random() < 0.15
        self.named_last = register["form"] == "note" and random.random() < 0.3
        names = _short_names(terms) if has_short_names else None
        terms_used = [f"{article} {term}".strip() for term in (self.borrower_term, self.lender_term)]
        self.parties = ("you", "we") if self.voice == "you" else names or terms_used
        pledge = self._localised(terms.pledge) if terms.pledge else None
        self.values = self._values(pledge or "", article, bool(names))
        self.draft = Draft(
            pledge,
            font=register["font"] if random.random() < 0.7 else random.choice(("serif", "sans")),
            size=random.choice((9, 9.5, 10, 10.5, 11, 12)),
            paper="letter" if terms.place["tradition"] == "american" else "a4",
            footer=random.choice(("none", "page", "page_of", "reference")),
        )

    def say(self, clause: str, voice: str | None = None) -> str:
        """A phrasing of the clause with its tokens filled, starting with a capital; the draft notes what it says."""
        phrasing = choose(self.random, voice or self.voice, clause, self.terms.tags)
        return self.draft.saying(phrasing.says, sentence(phrasing.text.format_map(self.values)))

    def several(self, clause: str, count: int) -> list[str]:
        """Up to `count` different phrasings of a clause; none where this voice lacks it."""
        known = fitting(self.voice, clause, self.terms.tags) if clause in phrasings(self.voice) else []
        drawn = self.random.sample(known, min(count, len(known)))
        return [sentence(phrasing.text.format_map(self.values | self._others())) for phrasing in drawn]

    def add_row(self, clause: str, style: LineStyle, mark: str = "") -> None:
        """Append a line of a cover sheet, behind a mark."""
        phrasing = choose(self.random, "rows", clause, self.terms.tags)
        label, _, value = phrasing.text.partition(" | ")
        self.draft.row(f"{mark}{label}", value.format_map(self.values), style, phrasing.says)

    def _values(self, pledge: str, article: str, short: bool) -> dict[str, str]:
        terms, random, register = self.terms, self.random, self.register
        debt, document = random.choice(register["debt"]), random.choice(register["document"])
        whose = {"you": "your", "first": "my"}.get(self.voice, "the")
        costs = random.choice((Decimal("0.18"), Decimal("0.27"), Decimal("0.41")))
        borrower, lender = self.parties
        spoken = {"B": borrower, "L": lender, "D": f"{whose} {debt}", "K": document}

        def quoted(term: str, name: str, role: str) -> str:
            if short:
                return f"“{name}”, as {role}"
            return f"“{term}”" if self.voice == "you" else f"{article} “{term}”".strip()

        return {
            **values_of(terms, self.styles),
            **spoken,
            **{f"The{name}": sentence(text) for name, text in spoken.items()},
            "B_quoted": quoted(self.borrower_term, borrower, "borrower"),
            "L_quoted": quoted(self.lender_term, lender, "lender"),
            "shall": random.choice(register["shall"]),
            "effective": "" if terms.rate is None else percent(terms.rate + costs),
            "purpose": self._localised(terms.purpose),
            "pledge": pledge,
            **self._others(),
            "city": terms.lender.address.split(",")[-2 if terms.place["tradition"] == "american" else -1].strip(),
            "borrower_intro": self._introduced(terms.borrower),
            "lender_intro": self._introduced(terms.lender),
        }

    def _others(self) -> dict[str, str]:
        """A bank, an amount and an earlier date that have nothing to do with this loan."""
        random, terms = self.random, self.terms
        earlier = terms.signed - timedelta(days=random.randint(200, 1500))
        bank = random.choice(lists()["other_banks"])
        thousands = max(1, round(terms.principal * random.randint(2, 30) / 10_000))
        return {
            "other_bank": bank,
            "other_amount": money(Decimal(thousands * 1000), terms.place["currency"], self.styles.small_money),
            "other_date": day(earlier, self.styles.day),
        }

    def _introduced(self, side: Side) -> str:
        """Name, address and what else identifies a party, without the final full stop."""
        random = self.random
        clauses = {"natural_person": "person", "legal_entity": "company", "government": "government"}
        clause = clauses.get(side.kind, "bank")
        is_trader = "trader" in self.terms.tags and side is self.terms.borrower
        if is_trader and random.random() < 0.6:
            clause = "trader"
        return choose(random, "parties", clause, self.terms.tags).text.format(
            name=capitals(side).name if self.shout else side.name,
            address=side.address,
            style=side.style,
            born=day(side.born, self.styles.day) if side.born else "",
            id=f"{random.choice('CLPX')}{random.randint(1_000_000, 9_999_999)}",
            signatory=side.signatory,
            office=side.office,
            trade=f"{random.choice(lists()['company_stems'])} {random.choice(lists()['trades'])}",
        )

    def _localised(self, text: str) -> str:
        """A noun phrase of the lists, speaking of the parties as this contract does."""
        borrower, lender = self.parties
        your, you, us = {"you": ("your", "you", "us"), "first": ("my", "me", lender)}.get(
            self.voice, (f"{borrower}'s", borrower, lender)
        )
        for old, new in (("the borrower's", your), ("the borrower", you), ("the lender", us)):
            text = text.replace(old, new)
        return text


def _short_names(terms: LoanTerms) -> tuple[str, str] | None:
    """Short names of borrower and lender, two organisations; None where either has none or both have the same."""
    if terms.borrower.is_person or terms.lender.is_person:
        return None
    borrower, lender = (_short_name(side) for side in (terms.borrower, terms.lender))
    return (borrower, lender) if borrower and lender and borrower != lender else None


def _short_name(side: Side) -> str:
    words = [word.strip(",.") for word in side.name.split()]
    common = lists()["common_words"]
    return next((word for word in words if len(word) > 4 and word.isalpha() and word not in common), "")


def _lender_terms(terms: LoanTerms, register: Entry) -> list[str]:
    bank = "bank" in f"{terms.lender.name} {terms.lender.style}".casefold()
    barred = _LENDERS_BY_TRADE if terms.lender.is_person else set() if bank else {"Bank"}
    return [term for term in register["lender"] if term not in barred] or ["Lender"]


def capitals(side: Side) -> Side:
    """The party with its name in capital letters, where that can be undone without loss."""
    upper = side.name.upper()
    return replace(side, name=upper) if upper.casefold() == side.name.casefold() else side
