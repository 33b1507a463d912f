"""The plain wording: one structure of six sections, our own words, drawn from the terms alone."""

from __future__ import annotations

from decimal import Decimal
from random import Random

from ovrag_core.contracts.draft import Draft, Look, Saying, sentence
from ovrag_core.contracts.figures import day, money, months, percent
from ovrag_core.contracts.terms import Side, Terms


def write_plain(terms: Terms, random: Random) -> Draft:
    """The contract in the plain wording; `random` only decides between which two ordinary passages a clash stands."""
    draft = Draft(look=Look(font="sans", size=10))
    denied_in_table = random.random() < 0.5
    draft.collateral = terms.pledge.text.replace("the borrower", "the Borrower") if terms.pledge else None
    draft.add("title", "CREDIT AGREEMENT" if terms.open_end else "LOAN AGREEMENT")
    draft.add("subtitle", f"No. {terms.reference}, made on {day(terms.signed)}")
    _parties(draft, terms)
    _loan_terms(draft, terms, denied_in_table=denied_in_table)
    _repayment(draft, terms)
    _special(draft, terms)
    _general(draft, terms, denied_in_table=denied_in_table)
    _signatures(draft, terms)
    return draft


def _parties(draft: Draft, terms: Terms) -> None:
    draft.add("heading", "Section 1: Parties")
    draft.row("Lender", Saying("lender", _introduced(terms.lender)))
    draft.row("Borrower", Saying("borrower", _introduced(terms.borrower)))
    if terms.guarantor:
        draft.row("Guarantor", _introduced(terms.guarantor))


def _introduced(side: Side) -> str:
    if side.is_person:
        return f"{side.name}, born on {day(side.born)}, residing at {side.address}." if side.born else f"{side.name}."
    style = f", {side.style}" if side.style else ""
    return f"{side.name}{style}, with its office at {side.address}."


def _loan_terms(draft: Draft, terms: Terms, *, denied_in_table: bool) -> None:
    draft.add("heading", "Section 2: Terms of the Loan")
    draft.row(
        "Credit limit" if terms.open_end else "Principal amount", f"{money(terms.principal, terms.place.currency)}."
    )
    draft.row("Interest rate", _rate(terms))
    if terms.months and terms.maturity:
        draft.row("Term", f"{months(terms.months)} from the date of this agreement.")
        draft.row("Maturity date", f"{day(terms.maturity)}.")
    else:
        draft.row("Term", "Until either party ends the agreement by 30 days' notice.")
    draft.row("Purpose", _purpose(terms))
    _security(draft, terms, denied_in_table=denied_in_table)


def _rate(terms: Terms) -> str:
    if terms.rate.percent is not None:
        return f"{percent(terms.rate.percent)} per year, fixed."
    return f"Variable, {terms.rate.benchmark} plus {terms.rate.margin:f} percentage points per year."


def _purpose(terms: Terms) -> str | Saying:
    purpose = terms.purpose.replace("the borrower", "the Borrower")
    if terms.extra_use == "personal":
        return Saying("consumer", f"Personal, family or household purposes, namely {purpose}.")
    if terms.extra_use == "business":
        return Saying("commercial", f"Business purposes, namely {purpose}.")
    return sentence(f"{purpose}.")


def _security(draft: Draft, terms: Terms, *, denied_in_table: bool) -> None:
    pledge = draft.collateral
    if terms.variant == "secured_without_collateral":
        draft.row(
            "Security",
            Saying("secured", "Secured; the Lender holds security for everything owed under this agreement."),
        )
        if denied_in_table:
            draft.row("Collateral", Saying("no_collateral", "None."))
        return
    if pledge is None:
        draft.row("Security", Saying("unsecured", "Unsecured; the Borrower gives no collateral."))
        return
    if terms.clash_type == "secured_unsecured" and denied_in_table:
        draft.row("Security", Saying("unsecured", _denial(terms)))
    else:
        draft.row("Security", "Secured by the collateral named in the next line.")
    right = (
        "First-ranking mortgage over"
        if terms.pledge and terms.pledge.asset == "real_property"
        else "Security interest in"
    )
    draft.row("Collateral", Saying("secured", f"{right} {pledge}."))


def _denial(terms: Terms) -> str:
    if terms.kind == "ConsumerLoan":
        return "This is an unsecured personal loan for which the Borrower puts up no property."
    return "The loan is unsecured and the Lender takes no security for it."


def _repayment(draft: Draft, terms: Terms) -> None:
    currency = terms.place.currency
    draft.add("heading", "Section 3: Repayment")
    says_closed = terms.months is not None and (not terms.open_end or terms.clash_type == "openend_closedend")
    says_open = terms.open_end or terms.clash_type == "openend_closedend"
    if says_open:
        draft.add("text", Saying("open_end", _revolving(terms)))
    if terms.repayment == "instalments":
        first = f"Repayment is made in {terms.months} monthly instalments of {money(terms.payment, currency)} each, the first due on {day(terms.first_payment)}."
        draft.add(
            "text",
            first if terms.rate.percent is not None else f"{first} The instalment changes when the rate changes.",
        )
    elif terms.repayment == "quarterly" and terms.months:
        part = terms.principal / (terms.months // 3)
        draft.add(
            "text",
            f"Principal is repaid in {terms.months // 3} quarterly instalments of {money(part, currency)} each; interest on the balance is paid with each of them.",
        )
    elif terms.repayment == "bullet" and terms.maturity:
        draft.add(
            "text",
            f"Interest is paid quarterly in arrears and the whole principal is repaid in one sum on {day(terms.maturity)}.",
        )
    elif terms.repayment == "clean_down" and terms.maturity:
        draft.add(
            "text",
            f"Interest on the sums drawn is paid monthly. Whatever is then outstanding is repaid on {day(terms.maturity)}.",
        )
    elif terms.repayment == "minimum":
        draft.add(
            "text",
            f"Each month the Borrower pays at least 3% of the balance, and not less than {money(_floor(terms), currency)}; the rest may be paid at any time.",
        )
    if says_closed:
        draft.add("text", Saying("closed_end", _closed(terms)))
    draft.add(
        "text",
        "The Borrower may pay early at any time without a fee. A sum paid late bears interest at two percentage points above the rate in Section 2.",
    )
    if terms.guarantor:
        draft.add("text", f"{terms.guarantor.name} guarantees the Borrower's payments to the Lender.")


def _floor(terms: Terms) -> Decimal:
    return (terms.principal / 100).quantize(terms.payment)


def _revolving(terms: Terms) -> str:
    if terms.kind == "CardAccount":
        return "The Borrower may use the card up to the credit limit; each payment makes the same amount available for new purchases."
    if terms.open_end:
        return "Up to the credit limit the Borrower may draw, repay and draw again as often as it needs while the agreement lasts."
    return "The credit is revolving: sums that have been repaid may be borrowed again up to the full amount during the term."


def _closed(terms: Terms) -> str:
    if terms.kind == "CardAccount":
        return "The whole amount is advanced once and paid back over the fixed term; no further sum may be drawn on the card after that."
    return "The loan is paid out in one sum for the fixed term, and no amount repaid may be drawn again."


def _special(draft: Draft, terms: Terms) -> None:
    draft.add("heading", "Section 4: Special Provisions")
    for part in _special_parts(terms):
        draft.add("text", part)


def _special_parts(terms: Terms) -> list[str]:
    if terms.kind == "StudentLoan":
        return [
            "While the Borrower is enrolled at least half-time, and for six months after, no payment falls due unless the Borrower chooses to pay; interest accrues meanwhile."
        ]
    if terms.kind == "SubsidizedStudentLoan":
        return [
            "While the Borrower is enrolled at least half-time, and for six months after, no payment falls due, and the interest of that time is borne by public funds under a state subsidy and not by the Borrower."
        ]
    if terms.kind == "GreenLoan":
        return [
            "The Borrower reports once a year, with invoices and meter readings, how the money was used and what the project saved in emissions."
        ]
    if terms.kind == "CardAccount":
        return [
            "The Borrower reports a lost or stolen card at once and is not answerable for purchases that others make after the report."
        ]
    if terms.kind == "Mortgage":
        return [
            "The Borrower keeps the buildings insured against fire and storm for their full value and pays all property taxes when due."
        ]
    if terms.kind == "CommercialLoan":
        return ["The Borrower hands in its annual accounts within six months of the end of each financial year."]
    return ["The Borrower may withdraw from this agreement within fourteen days of signing, without giving reasons."]


def _general(draft: Draft, terms: Terms, *, denied_in_table: bool) -> None:
    draft.add("heading", "Section 5: General Terms")
    draft.add(
        "text",
        f"This agreement is governed by the law of {terms.place.law}. It may be changed only in writing, signed by both sides.",
    )
    if terms.variant == "secured_without_collateral" and not denied_in_table:
        draft.add(
            "text",
            Saying(
                "no_collateral",
                "No asset of the Borrower or of anybody else is pledged, mortgaged or charged to the Lender.",
            ),
        )
    elif terms.clash_type == "secured_unsecured" and not denied_in_table:
        draft.add("text", Saying("unsecured", _denial(terms)))
    draft.add(
        "text",
        "If a provision is invalid, the others stay in force. Notices are sent in writing to the addresses in Section 1.",
    )


def _signatures(draft: Draft, terms: Terms) -> None:
    draft.add("heading", "Section 6: Signatures")
    for role, side in (("Lender", terms.lender), ("Borrower", terms.borrower)):
        draft.add("signature", f"{side.name} ({role})")
        draft.add("text", f"By: {side.signatory}, {side.office}" if side.signatory else "")
