"""Terms of a contract before a word of it is written: parties, sums, dates, purpose, security, planted clash."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

from ovrag_core.loans.contracts.lists import Asset, Place, kinds
from ovrag_core.loans.loan_facts import Facts, Money, Party, PartyKind

Kind = Literal[
    "ConsumerLoan", "CommercialLoan", "Mortgage", "StudentLoan", "SubsidizedStudentLoan", "GreenLoan", "CardAccount"
]
KINDS: tuple[Kind, ...] = get_args(Kind)

ClashType = Literal["secured_unsecured", "openend_closedend", "borrower_type", "lender_type"]
Variant = Literal[
    "mortgage_unsecured",
    "secured_without_collateral",
    "consumer_collateral_unsecured",
    "card_fixed_term",
    "term_loan_revolving",
    "consumer_both",
    "consumer_to_company",
    "commercial_to_person",
    "commercial_by_person",
    "mortgage_by_person",
]
Says = Literal[
    "secured", "unsecured", "no_collateral", "open_end", "closed_end", "consumer", "commercial", "borrower", "lender"
]


class Planted(NamedTuple):
    """A planted contradiction: its clash type, the kind of contract, and what the two passages say."""

    clash_type: ClashType
    kind: Kind
    passages: tuple[Says, Says]


PLANTED: dict[Variant, Planted] = {
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

Use = Literal["personal", "business", "home", "study", "green"]
Repayment = Literal["instalments", "quarterly", "bullet", "minimum", "clean_down"]


@dataclass(frozen=True, slots=True)
class Side:
    """A party as the contract introduces it.

    `style` is what follows the name ("a Delaware corporation", "a bank"); `signatory` signs for an organisation.
    """

    name: str
    kind: PartyKind
    address: str
    style: str
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
    `uses` tells which purposes the contract states; `purpose` is the noun phrase.
    """

    number: int
    reference: str
    kind: Kind
    variant: Variant | None
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
    def called_secured(self) -> bool:
        """True where some passage gives or claims security."""
        return self.pledge is not None or self.variant == "secured_without_collateral"

    @property
    def called_unsecured(self) -> bool:
        """True where some passage denies security."""
        return self.pledge is None or self.clash_type == "secured_unsecured"


def loan_types(terms: LoanTerms) -> tuple[str, ...]:
    """Classes of the loan, most specific first; a consumer or commercial class only where a purpose says so."""
    types: list[str] = ["StudentLoan", terms.kind] if terms.kind == "SubsidizedStudentLoan" else [terms.kind]
    more = {"personal": "ConsumerLoan", "business": "CommercialLoan"}.get(terms.extra_use or "")
    if more and more not in types:
        types.append(more)
    return tuple(types)


def facts(terms: LoanTerms) -> Facts:
    """The facts that a careful reader finds in the contract, `contradictory` where the clash makes them so."""
    security = "secured" if terms.pledge else "unsecured"
    form = "open-end" if terms.open_end else "closed-end"
    return Facts(
        loan_types=loan_types(terms),
        security="contradictory" if terms.clash_type == "secured_unsecured" else security,
        credit_form="contradictory" if terms.clash_type == "openend_closedend" else form,
        borrower=Party(name=terms.borrower.name, kind=terms.borrower.kind),
        lender=Party(name=terms.lender.name, kind=terms.lender.kind),
        principal=Money(amount=float(terms.principal), currency=terms.place.currency),
        interest_rate=None if terms.rate.percent is None else f"{terms.rate.percent.normalize():f}%",
        maturity=terms.maturity.isoformat() if terms.maturity else None,
        collateral=terms.pledge.text if terms.pledge else None,
    )


_CLASHES: dict[ClashType, str] = {
    "secured_unsecured": "sec_clash",
    "openend_closedend": "form_clash",
    "borrower_type": "party_clash",
    "lender_type": "party_clash",
}


def tags_of(terms: LoanTerms) -> frozenset[str]:
    """The tags of a contract; `secured` where some passage gives or claims security, else `unsecured`."""
    flags = {
        "person": terms.borrower.is_person,
        "company": not terms.borrower.is_person,
        "lender_person": terms.lender.is_person,
        "lender_bank": not terms.lender.is_person,
        "secured": terms.called_secured,
        "unsecured": not terms.called_secured,
        "open": terms.open_end,
        "closed": not terms.open_end,
        "fixed": terms.rate.percent is not None,
        "variable": terms.rate.percent is None,
        "american": terms.place.american,
        "continental": terms.place.continental,
        "tangible": terms.pledge is not None and terms.pledge.asset in ("vehicle", "equipment"),
        "trader": terms.kind == "CommercialLoan" and terms.borrower.is_person,
        "maturity": terms.maturity is not None,
    }
    tags = {name for name, holds in flags.items() if holds}
    tags.update(kinds()[terms.kind].tags, (terms.repayment,))
    if terms.clash_type:
        tags.add(_CLASHES[terms.clash_type])
    if terms.pledge:
        tags.add(terms.pledge.asset)
    return frozenset(tags)
