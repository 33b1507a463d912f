"""Reference answers to the five questions, and the planted contradiction in a sentence."""

from __future__ import annotations

from ovrag_core.contracts.figures import day, money, months, percent
from ovrag_core.contracts.terms import Side, Terms, Variant

_KINDS = {
    "ConsumerLoan": "a loan for personal, family or household purposes",
    "CommercialLoan": "a business loan",
    "Mortgage": "a mortgage loan on real property",
    "StudentLoan": "an education loan to a student",
    "SubsidizedStudentLoan": "a subsidised education loan, on which the state bears the interest during the studies",
    "GreenLoan": "a loan for an environmentally beneficial project",
    "CardAccount": "a credit card account",
}
_SIDES = {
    "natural_person": "an individual person",
    "legal_entity": "a company, that is an organisation",
    "financial_institution": "a lending institution, that is an organisation",
    "government": "a public authority, that is an organisation",
}
_CLASHES: dict[Variant, str] = {
    "mortgage_unsecured": "The document contradicts itself: it mortgages {pledge} to the lender and yet calls the loan unsecured.",
    "secured_without_collateral": "The document contradicts itself: it calls the loan secured although no asset stands as collateral.",
    "consumer_collateral_unsecured": "The document contradicts itself: {pledge} is given as collateral, yet the loan is called an unsecured personal loan.",
    "card_fixed_term": "The document contradicts itself: the card's credit may be used again as it is repaid, yet the amount is also a single advance for a fixed term.",
    "term_loan_revolving": "The document contradicts itself: it is a term loan with no redrawing, yet it also says that repaid sums may be borrowed again.",
    "consumer_both": "The document contradicts itself: it calls the same credit a fixed-term loan without redrawing and a revolving credit.",
    "consumer_to_company": "The document contradicts itself: a loan for personal, family or household purposes is made to {borrower}, a company.",
    "commercial_to_person": "The document contradicts itself: a business loan is made to {borrower}, an individual.",
    "commercial_by_person": "The document contradicts the rules for such loans: a business loan is made by {lender}, an individual.",
    "mortgage_by_person": "The document contradicts the rules for such loans: a mortgage loan is made by {lender}, an individual.",
}  # fmt: skip


def describe_clash(terms: Terms, collateral: str | None) -> str | None:
    """The planted contradiction in a sentence; None for a clean contract. `collateral` is as the contract words it."""
    if terms.variant is None:
        return None
    return _CLASHES[terms.variant].format(
        pledge=collateral, borrower=terms.borrower.name, lender=terms.lender.name
    )  # fmt: skip


def reference_answers(terms: Terms, collateral: str | None) -> dict[str, str]:
    """Complete answers for Q1 (kind), Q2 (parties), Q3 (security), Q4 (credit form, repayment) and Q5 (summary).

    Where a contract contradicts itself on what is asked, the answer says so.
    """
    clash = describe_clash(terms, collateral) or ""
    on_security = clash if terms.clash_type == "secured_unsecured" else ""
    on_form = clash if terms.clash_type == "openend_closedend" else ""
    on_parties = clash if terms.clash_type in ("borrower_type", "lender_type") else ""
    answers = {
        "Q1": (f"The document describes {kind_of_loan(terms)}.", on_form, on_parties, _if_personal(terms, on_security)),
        "Q2": (_parties(terms), on_parties),
        "Q3": (_security(terms, collateral), on_security),
        "Q4": (_form(terms), on_form, _repayment(terms)),
        "Q5": (_summary(terms), _parties(terms), _security(terms, collateral), clash),
    }
    return {question: " ".join(part for part in parts if part) for question, parts in answers.items()}


def kind_of_loan(terms: Terms) -> str:
    """The kind as a noun phrase with its article, the stated use included."""
    kind = _KINDS[terms.kind]
    if terms.kind == "CardAccount":
        return f"{kind} for {'business expenses' if terms.extra_use == 'business' else 'personal use'}"
    if terms.kind == "Mortgage" and terms.extra_use:
        return f"{kind}, for {terms.extra_use} purposes"
    if terms.open_end:
        return f"{kind}, as a revolving line of credit"
    return kind


def _if_personal(terms: Terms, clash: str) -> str:
    return clash if terms.variant == "consumer_collateral_unsecured" else ""


def _parties(terms: Terms) -> str:
    return (
        f"The borrower is {terms.borrower.name}, {_SIDES[terms.borrower.kind]}, "
        f"and the lender is {_named(terms.lender)}, {_SIDES[terms.lender.kind]}."
    )


def _named(side: Side) -> str:
    return side.name


def _security(terms: Terms, collateral: str | None) -> str:
    if terms.variant == "secured_without_collateral":
        return "The loan is called secured."
    if collateral is None:
        return "The loan is unsecured; no collateral is given."
    return f"The loan is secured by {collateral}."


def _form(terms: Terms) -> str:
    if terms.clash_type == "openend_closedend":
        return ""
    if terms.open_end:
        return "The credit is revolving: up to the limit, sums repaid may be drawn again."
    return f"The loan is for a fixed term of {months(terms.months or 0)}, without redrawing."


def _repayment(terms: Terms) -> str:
    currency = terms.place.currency
    end = f" It ends on {day(terms.maturity)}." if terms.maturity else ""
    if terms.repayment == "instalments":
        return f"It is repaid in {terms.months} monthly instalments of {money(terms.payment, currency)} each, from {day(terms.first_payment)}.{end}"
    if terms.repayment == "quarterly" and terms.months:
        return f"The principal is repaid in {terms.months // 3} equal quarterly instalments, with interest on the balance.{end}"
    if terms.repayment == "bullet":
        return f"Interest is paid quarterly and the principal in one sum at the end.{end}"
    if terms.repayment == "clean_down":
        return f"Interest is paid monthly and what is outstanding is repaid at the end.{end}"
    return f"At least 3% of the balance is paid each month.{end}"


def _summary(terms: Terms) -> str:
    amount = money(terms.principal, terms.place.currency)
    what = "a credit limit" if terms.open_end else "a principal amount"
    rate = (
        f"at a fixed interest rate of {percent(terms.rate.percent)} per year"
        if terms.rate.percent is not None
        else f"at a variable interest rate, {terms.rate.benchmark} plus {terms.rate.margin:f} percentage points"
    )
    return f"The document describes {kind_of_loan(terms)} with {what} of {amount} {rate}."
