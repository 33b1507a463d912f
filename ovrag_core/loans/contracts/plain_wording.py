"""The plain wording: one structure of six sections, our own words, drawn from the terms alone."""

from __future__ import annotations

from random import Random

from ovrag_core.loans.contracts.draft import Draft, sentence
from ovrag_core.loans.contracts.phrasings import only
from ovrag_core.loans.contracts.terms import LoanTerms, Side
from ovrag_core.loans.contracts.written_figures import day, values_of


def write_plain(terms: LoanTerms, random: Random) -> Draft:
    """The contract in the plain wording.

    `random` decides only whether one side of a clash about security stands in Section 2 or in Section 5.
    """
    pledge = _named(terms.pledge) if terms.pledge else None
    values = values_of(terms) | {"purpose": _named(terms.purpose), "pledge": pledge or ""}
    draft = Draft(pledge, font="sans", size=10)
    denied = ["denial" if pledge else "no_collateral"] if terms.clash_type == "secured_unsecured" else []
    in_table = random.random() < 0.5

    def row(label: str, clause: str) -> None:
        phrasing = only("plain", clause, terms.tags)
        draft.row(label, phrasing.text.format_map(values), says=phrasing.says)

    def paragraphs(heading: str, *clauses: str) -> None:
        draft.add("heading", heading)
        for clause in clauses:
            phrasing = only("plain", clause, terms.tags)
            draft.add("text", draft.saying(phrasing.says, phrasing.text.format_map(values)))

    draft.add("title", "CREDIT AGREEMENT" if terms.open_end else "LOAN AGREEMENT")
    draft.add("subtitle", f"No. {terms.reference}, made on {values['signed']}")
    draft.add("heading", "Section 1: Parties")
    draft.row("Lender", _introduced(terms.lender), says="lender")
    draft.row("Borrower", _introduced(terms.borrower), says="borrower")
    if terms.guarantor:
        draft.row("Guarantor", _introduced(terms.guarantor))
    draft.add("heading", "Section 2: Terms of the Loan")
    draft.row("Credit limit" if terms.open_end else "Principal amount", f"{values['amount']}.")
    row("Interest rate", "rate_variable" if terms.rate is None else "rate_fixed")
    row("Term", "term" if terms.months else "term_none")
    if terms.maturity:
        draft.row("Maturity date", f"{values['maturity']}.")
    if terms.extra_use:
        row("Purpose", f"purpose_{terms.extra_use}")
    else:
        draft.row("Purpose", sentence(f"{values['purpose']}."))
    if pledge:
        row("Security", "denial" if denied and in_table else "secured")
        row("Collateral", "collateral")
    else:
        row("Security", "secured_claim" if denied else "unsecured")
        if denied and in_table:
            row("Collateral", "no_collateral_row")
    opening = ["open_end"] if "open_end" in terms.on_form else []
    closing = ["closed_end"] if "closed_end" in terms.on_form else []
    guarantee = ["guarantee"] if terms.guarantor else []
    paragraphs("Section 3: Repayment", *opening, terms.repayment, *closing, "early_and_late", *guarantee)
    paragraphs("Section 4: Special Provisions", f"special_{terms.kind}")
    paragraphs("Section 5: General Terms", "law", *([] if in_table else denied), "general")
    draft.add("heading", "Section 6: Signatures")
    draft.sign(terms.lender, "Lender")
    draft.sign(terms.borrower, "Borrower")
    return draft


def _named(text: str) -> str:
    return text.replace("the borrower", "the Borrower").replace("the lender", "the Lender")


def _introduced(side: Side) -> str:
    clause = "introduced_person" if side.is_person else "introduced_organisation"
    return only("plain", clause, frozenset()).text.format(
        name=side.name,
        address=side.address,
        born=day(side.born) if side.born else "",
        style=f", {side.style}" if side.style else "",
    )
