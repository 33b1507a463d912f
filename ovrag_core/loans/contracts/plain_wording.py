"""The plain wording: one structure of six sections, our own words, drawn from the terms alone."""

from __future__ import annotations

from random import Random

from ovrag_core.loans.contracts.draft import Draft, sentence
from ovrag_core.loans.contracts.lists import only
from ovrag_core.loans.contracts.terms import LoanTerms, Side
from ovrag_core.loans.contracts.written_figures import day, values_of

# By pledge and by where a denial of it stands: lines of Section 2, and a provision of Section 5.
_ON_SECURITY: dict[tuple[bool, str], tuple[dict[str, str], str]] = {
    (True, "nowhere"): ({"Security": "secured", "Collateral": "collateral"}, ""),
    (True, "table"): ({"Security": "denial", "Collateral": "collateral"}, ""),
    (True, "provision"): ({"Security": "secured", "Collateral": "collateral"}, "denial"),
    (False, "nowhere"): ({"Security": "unsecured"}, ""),
    (False, "table"): ({"Security": "secured_claim", "Collateral": "no_collateral_row"}, ""),
    (False, "provision"): ({"Security": "secured_claim"}, "no_collateral"),
}


def write_plain(terms: LoanTerms, random: Random) -> Draft:
    """The contract in the plain wording.

    `random` decides only whether one side of a clash about security stands in Section 2 or in Section 5.
    """
    pledge = _named(terms.pledge) if terms.pledge else None
    values = values_of(terms) | {"purpose": _named(terms.purpose), "pledge": pledge or ""}
    draft = Draft(pledge, font="sans", size=10)
    place = "table" if random.random() < 0.5 else "provision"
    is_denied = terms.clash_type == "secured_unsecured"
    security, denial = _ON_SECURITY[bool(pledge), place if is_denied else "nowhere"]

    def worded(clause: str) -> tuple[str, str]:
        phrasing = only("plain", clause, terms.tags)
        return phrasing.text.format_map(values), phrasing.says

    def section(heading: str, *clauses: str) -> None:
        draft.add("heading", heading)
        for text, says in map(worded, filter(None, clauses)):
            draft.add("text", draft.saying(says, text))

    draft.add("title", "CREDIT AGREEMENT" if terms.open_end else "LOAN AGREEMENT")
    draft.add("subtitle", f"No. {terms.reference}, made on {values['signed']}")
    section("Section 1: Parties")
    draft.row("Lender", _introduced(terms.lender), says="lender")
    draft.row("Borrower", _introduced(terms.borrower), says="borrower")
    if terms.guarantor:
        draft.row("Guarantor", _introduced(terms.guarantor))
    section("Section 2: Terms of the Loan")
    lines = {
        "Credit limit" if terms.open_end else "Principal amount": "amount",
        "Interest rate": "rate",
        **({"Term": "term", "Maturity date": "maturity"} if terms.months else {"Term": "term_none"}),
        "Purpose": f"purpose_{terms.extra_use}" if terms.extra_use else "purpose",
    }
    for label, clause in (lines | security).items():
        text, says = worded(clause)
        draft.row(label, sentence(text), says=says)
    opening, closing = (says if says in terms.on_form else "" for says in ("open_end", "closed_end"))
    guarantee = "guarantee" if terms.guarantor else ""
    section("Section 3: Repayment", opening, terms.repayment, closing, "early_and_late", guarantee)
    section("Section 4: Special Provisions", f"special_{terms.kind}")
    section("Section 5: General Terms", "law", denial, "general")
    section("Section 6: Signatures")
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
