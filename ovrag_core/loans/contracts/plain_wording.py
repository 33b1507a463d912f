"""The plain wording: one structure of six sections, our own words, drawn from the terms alone."""

from __future__ import annotations

from random import Random

from ovrag_core.loans.contracts.draft import Draft, PageLook, Saying, sentence
from ovrag_core.loans.contracts.phrasings import only
from ovrag_core.loans.contracts.terms import LoanTerms, Says, Side, tags_of
from ovrag_core.loans.contracts.written_figures import day, values_of


def write_plain(terms: LoanTerms, random: Random) -> Draft:
    """The contract in the plain wording.

    `random` decides only whether one side of a clash about security stands in Section 2 or in Section 5.
    """
    draft = Draft(look=PageLook(font="sans", size=10), collateral=_named(terms.pledge.text) if terms.pledge else None)
    denied_in_table = random.random() < 0.5
    draft.add("title", "CREDIT AGREEMENT" if terms.open_end else "LOAN AGREEMENT")
    draft.add("subtitle", f"No. {terms.reference}, made on {day(terms.signed)}")
    _parties(draft, terms)
    _loan_terms(draft, terms, denied_in_table=denied_in_table)
    _repayment(draft, terms)
    draft.add("heading", "Section 4: Special Provisions")
    draft.add("text", _say(terms, f"special_{terms.kind}"))
    _general(draft, terms, denied_in_table=denied_in_table)
    _signatures(draft, terms)
    return draft


def _named(text: str) -> str:
    return text.replace("the borrower", "the Borrower").replace("the lender", "the Lender")


def _say(terms: LoanTerms, clause: str) -> str:
    more = {"purpose": _named(terms.purpose), "pledge": _named(terms.pledge.text) if terms.pledge else ""}
    return only("plain", clause, tags_of(terms)).format_map(values_of(terms) | more)


def _saying(terms: LoanTerms, says: Says, clause: str) -> Saying:
    return Saying(says, _say(terms, clause))


def _parties(draft: Draft, terms: LoanTerms) -> None:
    draft.add("heading", "Section 1: Parties")
    draft.row("Lender", Saying("lender", _introduced(terms.lender)))
    draft.row("Borrower", Saying("borrower", _introduced(terms.borrower)))
    if terms.guarantor:
        draft.row("Guarantor", _introduced(terms.guarantor))


def _introduced(side: Side) -> str:
    text = only("plain", "introduced_person" if side.is_person else "introduced_organisation", frozenset())
    return text.format(
        name=side.name,
        address=side.address,
        born=day(side.born) if side.born else "",
        style=f", {side.style}" if side.style else "",
    )


def _loan_terms(draft: Draft, terms: LoanTerms, *, denied_in_table: bool) -> None:
    values = values_of(terms)
    draft.add("heading", "Section 2: Terms of the Loan")
    draft.row("Credit limit" if terms.open_end else "Principal amount", f"{values['amount']}.")
    draft.row("Interest rate", _say(terms, "rate_variable" if terms.rate.percent is None else "rate_fixed"))
    draft.row("Term", _say(terms, "term" if terms.months else "term_none"))
    if terms.maturity:
        draft.row("Maturity date", f"{values['maturity']}.")
    if terms.extra_use == "personal":
        draft.row("Purpose", _saying(terms, "consumer", "purpose_personal"))
    elif terms.extra_use == "business":
        draft.row("Purpose", _saying(terms, "commercial", "purpose_business"))
    else:
        draft.row("Purpose", sentence(f"{_named(terms.purpose)}."))
    _security(draft, terms, denied_in_table=denied_in_table)


def _security(draft: Draft, terms: LoanTerms, *, denied_in_table: bool) -> None:
    if terms.variant == "secured_without_collateral":
        draft.row("Security", _saying(terms, "secured", "secured_claim"))
        if denied_in_table:
            draft.row("Collateral", _saying(terms, "no_collateral", "no_collateral_row"))
        return
    if terms.pledge is None:
        draft.row("Security", _saying(terms, "unsecured", "unsecured"))
        return
    if terms.clash_type == "secured_unsecured" and denied_in_table:
        draft.row("Security", _saying(terms, "unsecured", "denial"))
    else:
        draft.row("Security", _say(terms, "secured"))
    draft.row("Collateral", _saying(terms, "secured", "collateral"))


def _repayment(draft: Draft, terms: LoanTerms) -> None:
    form_clash = terms.clash_type == "openend_closedend"
    draft.add("heading", "Section 3: Repayment")
    if terms.open_end or form_clash:
        draft.add("text", _saying(terms, "open_end", "open"))
    draft.add("text", _say(terms, terms.repayment))
    if not terms.open_end or form_clash:
        draft.add("text", _saying(terms, "closed_end", "closed"))
    draft.add("text", _say(terms, "early_and_late"))
    if terms.guarantor:
        draft.add("text", _say(terms, "guarantee"))


def _general(draft: Draft, terms: LoanTerms, *, denied_in_table: bool) -> None:
    draft.add("heading", "Section 5: General Terms")
    draft.add("text", _say(terms, "law"))
    if terms.clash_type == "secured_unsecured" and not denied_in_table:
        says: Says = "unsecured" if terms.pledge else "no_collateral"
        draft.add("text", _saying(terms, says, "denial" if terms.pledge else "no_collateral"))
    draft.add("text", _say(terms, "general"))


def _signatures(draft: Draft, terms: LoanTerms) -> None:
    draft.add("heading", "Section 6: Signatures")
    for role, side in (("Lender", terms.lender), ("Borrower", terms.borrower)):
        draft.add("signature", f"{side.name} ({role})")
        draft.add("text", f"By: {side.signatory}, {side.office}" if side.signatory else "")
