"""Terms of a contract before a word of it is written: parties, sums, dates, purpose, security, planted clash.

The names of people, companies and lenders are invented, nobody's in particular.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from random import Random
from typing import NamedTuple

from ovrag_core.loans.contracts.lists import lists
from ovrag_core.loans.loan_facts import PartyKind
from ovrag_core.text import add_months

_FIRST_DAY, _LAST_DAY = date(2023, 1, 9), date(2026, 2, 20)  # of signing
_RATE_STEPS = (Decimal("0.05"), Decimal("0.125"), Decimal("0.25"), Decimal("0.01"))
_PERSONAL_ASSETS = ("equipment", "vehicle", "deposit")
_COMPANY_ASSETS = ("equipment", "equipment", "receivables", "undertaking", "securities")


class Planted(NamedTuple):
    """A planted contradiction: its clash type, the kind of contract, and what its two passages say."""

    clash_type: str
    kind: str
    passages: Sequence[str]


PLANTED = {variant: Planted(**entry) for variant, entry in lists()["planted"].items()}


@dataclass(frozen=True, slots=True)
class Side:
    """A party as the contract introduces it.

    `style` is what follows the name ("a Delaware corporation", "a bank"); `signatory` signs for an organisation.
    """

    name: str
    kind: PartyKind
    address: str
    style: str = ""
    signatory: str | None = None
    office: str | None = None
    born: date | None = None

    @property
    def is_person(self) -> bool:
        """True where the party is a human being."""
        return self.kind == "natural_person"


class LoanTerms:
    """One contract. Amounts in the currency's units, `rate` and `margin` in percent per year, dates without time.

    `open_end` and `pledge` are the truth apart from a planted clash: what the clash adds is said by `variant`, one of
    `PLANTED`. `kind` is a key of the list of kinds. A variable `rate` is None and the `margin` is above the place's
    benchmark. `extra_use`, personal or business, is the use that the contract states; `purpose` and `pledge` are
    noun phrases, `asset` what the pledge is one of. `repayment` names the clause on it.
    """

    def __init__(self, number: int, kind: str, variant: str | None, random: Random, used: set[str]) -> None:
        """Draw the terms, always in the same order; `used` are names that other contracts have, to which it adds."""
        self.number, self.kind, self.variant = number, kind, variant
        self._random, self._used, self._of_kind = random, used, lists()["kinds"][kind]
        places = lists()["places"]
        self.place = random.choices(places, weights=[place["weight"] for place in places])[0]
        self.use, self.extra_use = self._draw_uses()
        self.borrower = self._draw_borrower()
        if kind == "Mortgage" and not self.borrower.is_person:
            self.use = self.extra_use = "business"
        if kind == "GreenLoan" and random.random() < 0.25:
            self.extra_use = "personal" if self.borrower.is_person else "business"
        self.open_end = self._draw_form()
        signed = _FIRST_DAY + timedelta(days=random.randrange((_LAST_DAY - _FIRST_DAY).days))
        self.signed = signed.replace(day=min(signed.day, 28))
        self.months = None
        if not self.open_end or kind == "CommercialLoan" or variant in ("card_fixed_term", "consumer_both"):
            self.months = random.choice(self._of_kind["months"])
            if self.open_end and variant is None:
                self.months = random.choice((12, 24, 36, 48, 60))
        self.principal = self._draw_principal()
        self.rate, self.margin = self._draw_rate()
        prefix = random.choice(("LN", "KV", "F", "CR", "A"))
        self.reference = f"{prefix}-{signed.year}-{random.randint(10_000, 99_999)}"
        self.lender = self._draw_lender()
        self.repayment = self._draw_repayment()
        home = "home" if self.borrower.is_person else "premises"
        matter = {"CardAccount": f"card_{self.use}", "Mortgage": home}.get(kind, self.use)
        self.purpose: str = random.choice(lists()["purposes"][matter])
        self.asset, self.pledge = self._draw_pledge()
        self.guarantor = self._draw_guarantor()

    @property
    def maturity(self) -> date | None:
        """The last day of a fixed term."""
        return add_months(self.signed, self.months) if self.months else None

    @property
    def payment(self) -> Decimal:
        """The monthly instalment that pays all back, over four years where no term is fixed."""
        monthly = (Decimal(3) + self.margin if self.rate is None else self.rate) / 1200
        factor = (1 + monthly) ** (self.months or 48)
        return (self.principal * monthly * factor / (factor - 1)).quantize(Decimal("0.01"), ROUND_HALF_UP)

    @property
    def clash_type(self) -> str | None:
        """The rule that the planted contradiction breaks."""
        return PLANTED[self.variant].clash_type if self.variant else None

    @property
    def on_security(self) -> tuple[str, ...]:
        """Statements of the contract on security, both sides of a planted clash."""
        if self.clash_type == "secured_unsecured":
            return ("secured", "unsecured" if self.pledge else "no_collateral")
        return ("secured",) if self.pledge else ("unsecured",)

    @property
    def on_form(self) -> tuple[str, ...]:
        """Statements of the contract on the form of credit, both sides of a planted clash."""
        if self.clash_type == "openend_closedend":
            return ("open_end", "closed_end")
        return ("open_end",) if self.open_end else ("closed_end",)

    @cached_property
    def tags(self) -> frozenset[str]:
        """What conditions of phrasings ask for, the clash type too; `secured` where some passage claims security."""
        tags = {
            "person" if self.borrower.is_person else "company",
            "lender_person" if self.lender.is_person else "lender_bank",
            "secured" if "secured" in self.on_security else "unsecured",
            "open" if self.open_end else "closed",
            "variable" if self.rate is None else "fixed",
            self.repayment,
            self.place["tradition"],
            "tangible" if self.asset in ("vehicle", "equipment") else "",
            "trader" if self.kind == "CommercialLoan" and self.borrower.is_person else "",
            self.asset or "",
            self.clash_type or "",
            *self._of_kind["tags"],
        }
        return frozenset(tags)

    def _draw_uses(self) -> tuple[str, str | None]:
        """The use of the loan, and where it is private or business, that the contract says so."""
        use = self._of_kind["use"]
        if self.kind in ("CardAccount", "Mortgage") and self.variant is None and self._random.random() < 0.25:
            return ("business", "business") if self.kind == "CardAccount" else (use, "personal")
        return use, use if use in ("personal", "business") else None

    def _draw_borrower(self) -> Side:
        chance = self._random.random()
        is_company = (
            self.variant == "consumer_to_company"
            or (self.use == "business" and self.variant != "commercial_to_person")
            or (self.variant is None and chance < self._of_kind.get("companies", 0))
        )
        return self._company() if is_company else self._person()

    def _draw_form(self) -> bool:
        chance = self._random.random()
        if self.kind == "CardAccount":
            return True
        share = {"ConsumerLoan": 0.15, "CommercialLoan": 0.3, "Mortgage": 0.1 if self.extra_use == "personal" else 0.0}
        return self.variant is None and chance < share.get(self.kind, 0.0)

    def _draw_principal(self) -> Decimal:
        low, high, step = self._of_kind["principal"]
        amount = low * (high / low) ** self._random.random()
        return Decimal(round(amount / step) * step * lists()["currencies"][self.place["currency"]].get("scale", 1))

    def _draw_rate(self) -> tuple[Decimal | None, Decimal]:
        """The fixed rate, or none and the margin of a variable one."""
        random = self._random
        step = random.choice(_RATE_STEPS)
        drawn = Decimal(str(random.uniform(*self._of_kind["rates"])))
        is_variable = random.random() < (0.4 if self.open_end else 0.12)
        if is_variable and self.variant is None and self._of_kind["may_vary"]:
            quarters = random.randrange(4, 40) if self.kind == "CardAccount" else random.randrange(2, 14)
            return None, (Decimal(quarters) / 4).normalize()
        return (drawn / step).quantize(Decimal(1), ROUND_HALF_UP) * step, Decimal(0)

    def _draw_repayment(self) -> str:
        chance = self._random.random()
        if self.open_end and self.variant != "card_fixed_term":
            return "minimum" if self.kind in ("CardAccount", "ConsumerLoan", "Mortgage") else "clean_down"
        if self.kind in ("CommercialLoan", "GreenLoan") and self.variant != "term_loan_revolving":
            return "bullet" if chance < 0.2 else "quarterly" if chance < 0.45 else "instalments"
        return "instalments"

    def _draw_pledge(self) -> tuple[str | None, str | None]:
        """The kind of asset and the noun phrase that names it; none of an unsecured loan."""
        is_secured = self._random.random() < self._of_kind["secured"] or self.variant == "consumer_collateral_unsecured"
        if not is_secured or self.variant in ("secured_without_collateral", "card_fixed_term"):
            return None, None
        if self.kind == "Mortgage":
            return "real_property", self._land()
        assets = _PERSONAL_ASSETS if self.borrower.is_person else _COMPANY_ASSETS
        asset = self._random.choice(self._of_kind.get("assets", assets))
        return asset, self._thing(asset)

    def _land(self) -> str:
        random = self._random
        address = self._address()
        stems = "continental_stems" if self.place["tradition"] == "continental" else "street_stems"
        pattern: str = random.choice(self.place["land"])
        return pattern.format(
            address=address, lot=random.randint(2, 48), block=random.choice("ABCDEFG"),
            stem=random.choice(lists()[stems]), book=random.randint(101, 4890), page=random.randint(100, 990),
            title=f"{random.choice(('NK', 'WYK', 'DN', 'INV', 'GY', 'PTH'))}{random.randint(10_000, 399_999)}",
        )  # fmt: skip

    def _thing(self, asset: str) -> str:
        random = self._random
        machine, machine2 = random.sample(lists()["machines"], 2)
        pattern: str = random.choice(lists()["pledges"][asset])
        return pattern.format(
            year=random.randint(2018, 2025), make=random.choice(lists()["makes"]),
            vin="".join(random.choices("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", k=17)),
            account=f"{random.randint(1000, 9999)} {random.randint(100_000, 999_999)}",
            machine=machine, machine2=machine2, serial=f"{random.choice('ABKMT')}{random.randint(1000, 99999)}",
            count=f"{random.randint(2, 90) * 100:,}", stem=random.choice(lists()["company_stems"]),
        )  # fmt: skip

    def _address(self) -> str:
        pattern: str = self.place["address"]
        number, choice = self._random.randint(1, 240), self._random.choice
        return pattern.format(n=number, street=choice(self.place["streets"]), city=choice(self.place["cities"]))

    def _unused(self, draw: Callable[[], tuple[str, str]]) -> tuple[str, str]:
        """Return a name that no contract has had, as far as the lists last, with its style."""
        for _ in range(100):
            name, style = draw()
            if name not in self._used:
                break
        self._used.add(name)
        return name, style

    def _person(self) -> Side:
        name, _ = self._unused(lambda: (person_name(self._random, self.place["cultures"]), ""))
        born = date(self._random.randint(1951, 2003), self._random.randint(1, 12), self._random.randint(1, 28))
        return Side(name, "natural_person", self._address(), born=born)

    def _company(self) -> Side:
        random = self._random
        form, style = random.choice(self.place["company_forms"])
        name, _ = self._unused(lambda: (company_name(random, form, self.place["cultures"]), style))
        style = style.format(
            law=self.place["law"],
            register=random.randint(10_000, 799_999),
            acn=" ".join(str(random.randint(100, 689)) for _ in range(3)),
            lot=random.randint(10, 24),
        )
        style = re.sub(r"\ba (?=[AEIO])", "an ", style)
        office = random.choice(("managing director", "director", "chief financial officer", "authorised signatory"))
        signatory = person_name(random, self.place["cultures"], bare=True)
        return Side(name, "legal_entity", self._address(), style, signatory, office)

    def _draw_lender(self) -> Side:
        random, kind = self._random, self.kind
        if self.variant in ("commercial_by_person", "mortgage_by_person"):
            return self._person()
        is_private = kind in ("StudentLoan", "GreenLoan") and self.variant is None and self.extra_use is None
        if is_private and random.random() < 0.06:
            return self._person()
        signatory = person_name(random, self.place["cultures"], bare=True)
        if random.random() < {"StudentLoan": 0.25, "SubsidizedStudentLoan": 0.7}.get(kind, 0.0):
            name = random.choice(self.place["government"])
            return Side(name, "government", self._address(), "", signatory, "authorised officer")
        continental = self.place["tradition"] == "continental"

        def draw() -> tuple[str, str]:
            pattern, style = random.choice(self.place["lender_forms"])
            return lender_name(random, pattern, continental=continental), style

        name, style = self._unused(draw)
        address = self._address()
        office = random.choice(("vice president", "head of lending", "authorised signatory", "relationship manager"))
        return Side(name, "financial_institution", address, style, signatory, office)

    def _draw_guarantor(self) -> Side | None:
        chance = self._random.random()
        if self.kind != "CommercialLoan" or self.variant in ("commercial_to_person", "commercial_by_person"):
            return None
        return self._person() if chance < 0.15 else self._company() if chance <= 0.3 else None


def person_name(random: Random, cultures: Sequence[str], *, bare: bool = False) -> str:
    """A person's full name, now and then with a middle initial, a title or a suffix unless `bare`."""
    culture = lists()["people"][random.choice(cultures)]
    name = f"{random.choice(culture['first'])} {random.choice(culture['last'])}"
    if random.random() < 0.2:
        name = name.replace(" ", f" {random.choice(lists()['middles'])} ", 1)
    chance = random.random()
    if bare or chance < 0.8:
        return name
    return f"{random.choice(lists()['titles'])} {name}" if chance < 0.95 else name + random.choice(lists()["suffixes"])


def company_name(random: Random, form: str, cultures: Sequence[str]) -> str:
    """A company's name with its legal form; some bear a person's or a family's name."""
    trade = random.choice(lists()["trades"])
    chance = random.random()
    if chance < 0.15:
        stem = f"{random.choice(lists()['people'][random.choice(cultures)]['last'])} {trade}"
    elif chance < 0.25:
        stem = f"{person_name(random, cultures, bare=True)} {trade}"
    elif chance < 0.35:
        stem = random.choice(lists()["company_stems"])
    else:
        stem = f"{random.choice(lists()['company_stems'])} {trade}"
    return f"{stem}, {form}" if form.startswith("Inc") and random.random() < 0.5 else f"{stem} {form}"


def lender_name(random: Random, pattern: str, *, continental: bool) -> str:
    """A lending organisation's name from its pattern."""
    stem = random.choice(lists()["continental_stems" if continental else "lender_stems"])
    return pattern.format(stem=stem, person=random.choice(lists()["lender_people"]))
