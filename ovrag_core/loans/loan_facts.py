"""Facts of a loan as they are read from a document, and as ground truth has them."""

from __future__ import annotations

from typing import Literal

from ovrag_core.base import Evidence, Frozen, Reading

PREDICATES = {  # which statements make a fact
    "borrower": "hasBorrower",
    "lender": "hasLender",
    "principal": "hasPrincipalAmount",
    "interest_rate": "hasInterestRate",
    "maturity": "hasMaturityDate",
    "collateral": "hasCollateral",
    "guarantors": "hasGuarantor",
    "purpose": "hasPurpose",
    "term_months": "hasTerm",
}

Standing = Literal["same", "taken", "instead", "other", "unsure"]
PartyKind = Literal["natural_person", "legal_entity", "financial_institution", "government"]


class Party(Frozen):
    """A party of a loan; `kind` is None where the text does not tell."""

    name: str
    kind: PartyKind | None = None


class Money(Frozen):
    """An amount in a currency (ISO 4217 code)."""

    amount: float
    currency: str

    def words(self) -> str:
        """`EUR 12,500.00`."""
        return f"{self.currency} {self.amount:,.2f}"


class Facts(Frozen):
    """Facts that a document states of one facility. Null where it does not say; a variable rate is null.

    `interest_rate` is written like "5.75%", `maturity` is an ISO date, the principal of open-end credit is its limit.
    """

    loan_types: tuple[str, ...] = ()
    security: Literal["secured", "unsecured", "contradictory", "unstated"] = "unstated"
    credit_form: Literal["open-end", "closed-end", "contradictory", "unstated"] = "unstated"
    borrower: Party | None = None
    lender: Party | None = None
    principal: Money | None = None
    interest_rate: str | None = None
    maturity: str | None = None
    collateral: str | None = None


class Facility(Facts):
    """The facts of one named facility of an agreement; `subject` is the individual its triples speak of."""

    name: str
    subject: str
    guarantors: tuple[Party, ...] = ()
    purpose: str | None = None
    term_months: int | None = None


class SecondReading(Frozen):
    """A fact of the main facility as a model reads it beside the reader, by the name of the fact.

    `standing`: the `same` as the reader; `taken`, since the reader is silent; taken `instead` of the reader's, and then
    `value` and `evidence` are the reader's; `other` than the reader, whose reading holds; or `unsure`, where the reader
    is silent and the model says one thing and another.
    """

    fact: str
    value: str
    standing: Standing
    by: str
    evidence: Evidence


class LoanReading(Reading):
    """Facilities and triples of a whole document. The first facility is the main one.

    `status` other than `loan` comes with a `reason` and no facilities: such a document is UNCHECKED.
    """

    status: Literal["loan", "not_loan", "not_english", "empty"]
    facilities: tuple[Facility, ...] = ()
    second: tuple[SecondReading, ...] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """Individuals of the facilities."""
        return tuple(facility.subject for facility in self.facilities)
