"""Tags that hold of a contract, in the words that conditions of phrasings and registers use."""

from __future__ import annotations

from ovrag_core.loans.contracts.lists import kinds
from ovrag_core.loans.contracts.terms import ClashType, LoanTerms

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
