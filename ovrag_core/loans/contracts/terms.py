"""Terms of a contract before a word of it is written: parties, sums, dates, purpose, security, planted clash."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, NamedTuple

from ovrag_core.loans.contracts.lists import Asset, Place, Use, lists
from ovrag_core.loans.loan_facts import PartyKind

ClashType = Literal["secured_unsecured", "openend_closedend", "borrower_type", "lender_type"]
Says = Literal[
    "secured", "unsecured", "no_collateral", "open_end", "closed_end", "consumer", "commercial", "borrower", "lender"
]


class Planted(NamedTuple):
    """A planted contradiction: its clash type, the kind of contract, and what the two passages say."""

    clash_type: ClashType
    kind: str
    passages: tuple[Says, Says]


PLANTED = {  # by variant
    "mortgage_unsecured": Planted("secured_unsecured", "Mortgage", ("secured", "unsecured")),
    "secured_without_collateral": Planted("secured_unsecured", "CommercialLoan", ("secured", "no_collateral")),
    "consumer_collateral_unsecured": Planted("secured_unsecured", "ConsumerLoan", ("secured", "unsecured")),
    "card_fixed_term": Planted("openend_closedend", "CardAccount", ("open_end", "closed_end")),
    "term_loan_revolving": Planted("openend_closedend", "CommercialLoan", ("closed_end", "open_end")),
    "consumer_both": Planted("openend_closedend", "ConsumerLoan", ("closed_end", "open_end")),
    "consumer_to_company": Planted("borrower_type", "ConsumerLoan", ("consumer", "borrower")),
    "commercial_to_person": Planted("borrower_type", "CommercialLoan", ("commercial", "borrower")),
    "commercial_by_person": Planted("lender_type", "CommercialLoan", ("commercial", "lender")),
    "mortgage_by_person": Planted("lender_type", "Mortgage", ("secured", "lender")),
}

Repayment = Literal["instalments", "quarterly", "bullet", "minimum", "clean_down"]


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


@dataclass(frozen=True, slots=True)
class LoanRate:
    """Interest per year: `percent` where fixed; otherwise a benchmark and a margin in percentage points."""

    percent: Decimal | None
    benchmark: str = ""
    margin: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Pledge:
    """Security for a loan: the kind of asset, and a noun phrase that names it."""

    asset: Asset
    text: str


@dataclass(frozen=True, slots=True)
class LoanTerms:
    """One contract. Amounts in the currency's units, rates in percent per year, dates without time.

    `open_end` and `secured` are the truth apart from a planted clash: what the clash adds is said by `variant`.
    `kind` is a key of `lists().kinds`, `variant` one of `PLANTED`. `extra_use` is the use that the contract states as
    such; `purpose` is the noun phrase.
    """

    number: int
    reference: str
    kind: str
    variant: str | None
    place: Place
    borrower: Side
    lender: Side
    principal: Decimal
    rate: LoanRate
    signed: date
    first_payment: date
    maturity: date | None
    months: int | None
    payment: Decimal
    repayment: Repayment
    use: Use
    extra_use: Use | None
    purpose: str
    open_end: bool
    pledge: Pledge | None
    guarantor: Side | None = None

    @property
    def clash_type(self) -> ClashType | None:
        """The rule that the planted contradiction breaks."""
        return PLANTED[self.variant].clash_type if self.variant else None

    @property
    def says_use(self) -> Literal["consumer", "commercial"] | None:
        """Kind of loan that the stated purpose makes it."""
        says: dict[Use | None, Literal["consumer", "commercial"]] = {"personal": "consumer", "business": "commercial"}
        return says.get(self.extra_use)

    @property
    def on_security(self) -> tuple[Says, ...]:
        """Statements of the contract on security, both sides of a planted clash."""
        if self.clash_type == "secured_unsecured":
            return ("secured", "unsecured" if self.pledge else "no_collateral")
        return ("secured",) if self.pledge else ("unsecured",)

    @property
    def on_form(self) -> tuple[Says, ...]:
        """Statements of the contract on the form of credit, both sides of a planted clash."""
        if self.clash_type == "openend_closedend":
            return ("open_end", "closed_end")
        return ("open_end",) if self.open_end else ("closed_end",)


def tags_of(terms: LoanTerms) -> frozenset[str]:
    """The tags of a contract; `secured` where some passage gives or claims security, else `unsecured`."""
    flags = {
        "american": terms.place.american,
        "continental": terms.place.continental,
        "tangible": terms.pledge is not None and terms.pledge.asset in ("vehicle", "equipment"),
        "trader": terms.kind == "CommercialLoan" and terms.borrower.is_person,
        "maturity": terms.maturity is not None,
        "sec_clash": terms.clash_type == "secured_unsecured",
        "form_clash": terms.clash_type == "openend_closedend",
        "party_clash": terms.clash_type in ("borrower_type", "lender_type"),
    }
    tags = {
        "person" if terms.borrower.is_person else "company",
        "lender_person" if terms.lender.is_person else "lender_bank",
        "secured" if "secured" in terms.on_security else "unsecured",
        "open" if terms.open_end else "closed",
        "variable" if terms.rate.percent is None else "fixed",
        terms.repayment,
        *lists().kinds[terms.kind].tags,
        *(name for name, holds in flags.items() if holds),
    }
    return frozenset(tags | {terms.pledge.asset} if terms.pledge else tags)
