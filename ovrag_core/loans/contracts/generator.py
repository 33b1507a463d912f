"""Contracts on disk: how many of each sort, sampled, worded, set as PDFs, with their ground truth beside them."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Literal

from ovrag_core.base import CorpusError, bar
from ovrag_core.loans.contracts.contract_truth import ContractTruth, save_truth
from ovrag_core.loans.contracts.draft import Draft, write_pdf
from ovrag_core.loans.contracts.lists import lists, only
from ovrag_core.loans.contracts.plain_wording import write_plain
from ovrag_core.loans.contracts.terms import PLANTED, LoanTerms
from ovrag_core.loans.contracts.varied_wording import write_varied
from ovrag_core.loans.contracts.written_figures import values_of
from ovrag_core.loans.loan_facts import Money, Party

Wording = Literal["plain", "varied"]
_WRITERS = {"plain": write_plain, "varied": write_varied}


def generate(folder: Path, truth_path: Path, *, count: int, seed: int, wording: Wording) -> dict[str, ContractTruth]:
    """Write `Contract_001.pdf` … into `folder` and the truth to `truth_path`: the same bytes for the same arguments.

    PDFs of that name pattern from an earlier run are removed. Returns the truth by document id. Raises CorpusError for
    a count below 1 or a folder that cannot be written.
    """
    terms_of_all = sample(count, seed)
    width = max(3, len(str(count)))
    truths: dict[str, ContractTruth] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for stale in sorted(folder.glob("Contract_*.pdf")):
            stale.unlink()
        with bar(count, "contracts", "pdf") as progress:
            for terms in terms_of_all:
                draft = compose(terms, seed=seed, wording=wording)
                document_id = f"Contract_{terms.number:0{width}d}"
                write_pdf(draft, folder / f"{document_id}.pdf", title=terms.reference)
                truths[document_id] = truth_of(terms, draft)
                progress.update()
        save_truth(truth_path, truths)
    except OSError as error:
        raise CorpusError(
            f"{error.filename or folder} cannot be written: {error.strerror}; choose another folder"
        ) from None
    return truths


def quotas(count: int) -> dict[str, int]:
    """Split `count` contracts into clean ones and those that carry each clash, by largest remainder."""
    shares: dict[str, int] = lists()["shares"]
    quota = {name: count * share // 100 for name, share in shares.items()}
    left = count - sum(quota.values())
    for name in sorted(shares, key=lambda name: -(count * shares[name] % 100))[:left]:
        quota[name] += 1
    return quota


def plan(count: int) -> list[tuple[str, str | None]]:
    """Kind and planted clash of each contract in order: clean ones over the seven kinds in turn, then each clash type.

    Raises CorpusError where `count` is not positive.
    """
    if count < 1:
        raise CorpusError(f"corpus.contracts must be at least 1, not {count}")
    quota = quotas(count)
    slots: list[tuple[str, str | None]] = [(kind, None) for kind in islice(cycle(lists()["kinds"]), quota["CLEAN"])]
    for clash_type in quota:
        variants = [variant for variant, planted in PLANTED.items() if planted.clash_type == clash_type]
        slots += [(PLANTED[variant].kind, variant) for variant in islice(cycle(variants), quota[clash_type])]
    return slots


def sample(count: int, seed: int) -> list[LoanTerms]:
    """Terms of `count` contracts; the same for the same arguments on every machine.

    Names do not repeat between contracts as long as the lists last.
    """
    used: set[str] = set()
    return [
        LoanTerms(number, kind, variant, Random(f"terms/{seed}/{number}"), used)
        for number, (kind, variant) in enumerate(plan(count), start=1)
    ]


def compose(terms: LoanTerms, *, seed: int, wording: Wording) -> Draft:
    """The contract's text; what is left to chance depends on the seed and the contract's number only."""
    return _WRITERS[wording](terms, Random(f"wording/{wording}/{seed}/{terms.number}"))


def truth_of(terms: LoanTerms, draft: Draft) -> ContractTruth:
    """The ground truth of a contract as drafted: what the planted clash concerns is `contradictory`.

    Classes of the loan are the most specific first; a consumer or commercial class only where a purpose says so.
    """
    more = {"personal": "ConsumerLoan", "business": "CommercialLoan"}.get(terms.extra_use or "")
    above = "StudentLoan" if terms.kind == "SubsidizedStudentLoan" else None
    security = "secured" if terms.pledge else "unsecured"
    form = "open-end" if terms.open_end else "closed-end"
    clash, answers = _answers(terms, draft.collateral)
    return ContractTruth(
        loan_types=tuple(dict.fromkeys(kind for kind in (above, terms.kind, more) if kind)),
        security="contradictory" if terms.clash_type == "secured_unsecured" else security,
        credit_form="contradictory" if terms.clash_type == "openend_closedend" else form,
        borrower=Party(name=terms.borrower.name, kind=terms.borrower.kind),
        lender=Party(name=terms.lender.name, kind=terms.lender.kind),
        principal=Money(amount=float(terms.principal), currency=terms.place["currency"]),
        interest_rate=None if terms.rate is None else f"{terms.rate.normalize():f}%",
        maturity=terms.maturity.isoformat() if terms.maturity else None,
        collateral=draft.collateral,
        label="CLASH" if terms.variant else "CLEAN",
        clash_type=terms.clash_type,
        clash_variant=terms.variant,
        clash_description=clash,
        evidence=tuple(draft.passages[says] for says in PLANTED[terms.variant].passages) if terms.variant else (),
        reference_answers=answers,
    )


def _answers(terms: LoanTerms, collateral: str | None) -> tuple[str | None, dict[str, str]]:
    """The planted contradiction in a sentence, None for a clean contract, and complete answers by question.

    These are Q1 (kind), Q2 (parties), Q3 (security), Q4 (credit form, repayment) and Q5 (summary). Where a contract
    contradicts itself on what is asked, the answer says so. `collateral` is as the contract words it.
    """
    tags = terms.tags | {"pledge" if terms.pledge else "no_pledge"}
    values = values_of(terms) | {
        "pledge": collateral or "",
        "kind": _kind_of_loan(terms),
        "borrower": terms.borrower.name,
        "borrower_kind": lists()["sides"][terms.borrower.kind],
        "lender": terms.lender.name,
        "lender_kind": lists()["sides"][terms.lender.kind],
    }

    def say(clause: str) -> str:
        return only("answers", clause, tags).text.format_map(values)

    clash = say(f"clash_{terms.variant}") if terms.variant else None
    on_form = clash if terms.clash_type == "openend_closedend" else None
    on_parties = clash if terms.clash_type in ("borrower_type", "lender_type") else None
    on_security = clash if terms.clash_type == "secured_unsecured" else None
    on_kind = clash if terms.variant == "consumer_collateral_unsecured" else on_form
    answers = {
        "Q1": (say("kind"), on_kind, on_parties),
        "Q2": (say("parties"), on_parties),
        "Q3": (say("security"), on_security),
        "Q4": (say("form"), on_form, say(terms.repayment), say("end") if terms.maturity else None),
        "Q5": (say("summary"), say("parties"), say("security"), clash),
    }
    return clash, {question: " ".join(filter(None, sentences)) for question, sentences in answers.items()}


def _kind_of_loan(terms: LoanTerms) -> str:
    """The kind as a noun phrase with its article, a stated use included."""
    kind: str = lists()["kinds"][terms.kind]["name"]
    if terms.kind in ("ConsumerLoan", "CommercialLoan"):
        return f"{kind}, as a revolving line of credit" if terms.open_end else kind
    use = f"{kind} for {terms.extra_use} purposes" if terms.extra_use else kind
    return f"{use}, as a revolving line" if terms.open_end and terms.kind != "CardAccount" else use
