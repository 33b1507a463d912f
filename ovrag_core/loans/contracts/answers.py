"""Reference answers to the five questions, and the planted contradiction in a sentence."""

from __future__ import annotations

from functools import partial

from ovrag_core.loans.contracts.lists import lists
from ovrag_core.loans.contracts.phrasings import only
from ovrag_core.loans.contracts.terms import LoanTerms, tags_of
from ovrag_core.loans.contracts.written_figures import values_of
from ovrag_core.loans.loan_facts import PartyKind

_SIDES: dict[PartyKind, str] = {
    "natural_person": "a person",
    "legal_entity": "an organisation (a company)",
    "financial_institution": "an organisation (a lending institution)",
    "government": "an organisation (a public authority)",
}


def describe_clash(terms: LoanTerms, collateral: str | None) -> str | None:
    """The planted contradiction in a sentence; None for a clean contract. `collateral` is as the contract words it."""
    return _answer(terms, collateral, f"clash_{terms.variant}") if terms.variant else None


def reference_answers(terms: LoanTerms, collateral: str | None) -> dict[str, str]:
    """Complete answers for Q1 (kind), Q2 (parties), Q3 (security), Q4 (credit form, repayment) and Q5 (summary).

    Where a contract contradicts itself on what is asked, the answer says so.
    """
    clash = describe_clash(terms, collateral) or ""

    def on(*clash_types: str) -> str:
        return clash if terms.clash_type in clash_types else ""

    say = partial(_answer, terms, collateral)
    on_form = on("openend_closedend")
    on_kind = clash if terms.variant == "consumer_collateral_unsecured" else on_form
    on_parties = on("borrower_type", "lender_type")
    answers = {
        "Q1": (say("kind"), on_kind, on_parties),
        "Q2": (say("parties"), on_parties),
        "Q3": (say("security"), on("secured_unsecured")),
        "Q4": (say("form"), on_form, say(terms.repayment), say("end") if terms.maturity else ""),
        "Q5": (say("summary"), say("parties"), say("security"), clash),
    }
    return {question: " ".join(s for s in sentences if s) for question, sentences in answers.items()}


def kind_of_loan(terms: LoanTerms) -> str:
    """The kind as a noun phrase with its article, a stated use included."""
    kind = lists().kinds[terms.kind].name
    if terms.kind in ("ConsumerLoan", "CommercialLoan"):
        return f"{kind}, as a revolving line of credit" if terms.open_end else kind
    use = f"{kind} for {terms.extra_use} purposes" if terms.extra_use else kind
    return f"{use}, as a revolving line" if terms.open_end and terms.kind != "CardAccount" else use


def _answer(terms: LoanTerms, collateral: str | None, clause: str) -> str:
    tags = tags_of(terms) | {"pledge" if terms.pledge else "no_pledge"}
    values = values_of(terms) | {
        "pledge": collateral or "",
        "kind": kind_of_loan(terms),
        "borrower": terms.borrower.name,
        "borrower_kind": _SIDES[terms.borrower.kind],
        "lender": terms.lender.name,
        "lender_kind": _SIDES[terms.lender.kind],
    }
    return only("answers", clause, tags).format_map(values)
