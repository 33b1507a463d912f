"""The plain wording: one structure of six sections, our own words, drawn from the terms alone."""

from __future__ import annotations

from random import Random

from ovrag_core.loans.contracts.draft import Draft, Saying, sentence, sign
from ovrag_core.loans.contracts.phrasings import only
from ovrag_core.loans.contracts.terms import LoanTerms, Says, Side, tags_of
from ovrag_core.loans.contracts.written_figures import day, values_of


def write_plain(terms: LoanTerms, random: Random) -> Draft:
    """The contract in the plain wording.

    `random` decides only whether one side of a clash about security stands in Section 2 or in Section 5.
    """
    draft = Draft(_named(terms.pledge.text) if terms.pledge else None, font="sans", size=10)
    denied_in_table = random.random() < 0.5
    draft.add("title", "CREDIT AGREEMENT" if terms.open_end else "LOAN AGREEMENT")
    draft.add("subtitle", f"No. {terms.reference}, made on {day(terms.signed)}")
    draft.add("heading", "Section 1: Parties")
    draft.row("Lender", Saying("lender", _introduced(terms.lender)))
    draft.row("Borrower", Saying("borrower", _introduced(terms.borrower)))
    if terms.guarantor:
        draft.row("Guarantor", _introduced(terms.guarantor))
    _loan_terms(draft, terms, denied_in_table=denied_in_table)
    _repayment(draft, terms)
    draft.add("heading", "Section 4: Special Provisions")
    draft.add("text", _say(terms, f"special_{terms.kind}"))
    _general(draft, terms, denied_in_table=denied_in_table)
    draft.add("heading", "Section 6: Signatures")
    sign(draft, terms.lender, "Lender")
    sign(draft, terms.borrower, "Borrower")
    return draft


def _named(text: str) -> str:
    return text.replace("the borrower", "the Borrower").replace("the lender", "the Lender")


def _say(terms: LoanTerms, clause: str) -> str:
    more = {"purpose": _named(terms.purpose), "pledge": _named(terms.pledge.text) if terms.pledge else ""}
    return only("plain", clause, tags_of(terms)).format_map(values_of(terms) | more)


def _saying(terms: LoanTerms, says: Says, clause: str = "") -> Saying:
    return Saying(says, _say(terms, clause or says))


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
    purpose = _say(terms, f"purpose_{terms.extra_use}") if terms.says_use else sentence(f"{_named(terms.purpose)}.")
    draft.row("Purpose", Saying(terms.says_use, purpose))
    _security(draft, terms, denied_in_table=denied_in_table)


def _security(draft: Draft, terms: LoanTerms, *, denied_in_table: bool) -> None:
    if terms.variant == "secured_without_collateral":
        draft.row("Security", _saying(terms, "secured", "secured_claim"))
        if denied_in_table:
            draft.row("Collateral", _saying(terms, "no_collateral", "no_collateral_row"))
        return
    if terms.pledge is None:
        draft.row("Security", _saying(terms, "unsecured"))
        return
    if terms.clash_type == "secured_unsecured" and denied_in_table:
        draft.row("Security", _saying(terms, "unsecured", "denial"))
    else:
        draft.row("Security", _say(terms, "secured"))
    draft.row("Collateral", _saying(terms, "secured", "collateral"))


def _repayment(draft: Draft, terms: LoanTerms) -> None:
    draft.add("heading", "Section 3: Repayment")
    if "open_end" in terms.on_form:
        draft.add("text", _saying(terms, "open_end"))
    draft.add("text", _say(terms, terms.repayment))
    if "closed_end" in terms.on_form:
        draft.add("text", _saying(terms, "closed_end"))
    draft.add("text", _say(terms, "early_and_late"))
    if terms.guarantor:
        draft.add("text", _say(terms, "guarantee"))


def _general(draft: Draft, terms: LoanTerms, *, denied_in_table: bool) -> None:
    draft.add("heading", "Section 5: General Terms")
    draft.add("text", _say(terms, "law"))
    if terms.clash_type == "secured_unsecured" and not denied_in_table:
        denied = _saying(terms, "unsecured", "denial") if terms.pledge else _saying(terms, "no_collateral")
        draft.add("text", denied)
    draft.add("text", _say(terms, "general"))
