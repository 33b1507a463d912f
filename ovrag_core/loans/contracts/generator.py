"""Contracts on disk: sampled, worded, set as PDFs, with their ground truth beside them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Literal

from ovrag_core.base import CorpusError, bar
from ovrag_core.loans.contracts.answers import describe_clash, reference_answers
from ovrag_core.loans.contracts.contract_truth import ContractTruth, save_truth
from ovrag_core.loans.contracts.draft import Draft
from ovrag_core.loans.contracts.plain_wording import write_plain
from ovrag_core.loans.contracts.render import write_pdf
from ovrag_core.loans.contracts.sample import sample
from ovrag_core.loans.contracts.terms import LoanTerms, facts
from ovrag_core.loans.contracts.varied_wording import write_varied

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


def compose(terms: LoanTerms, *, seed: int, wording: Wording) -> Draft:
    """The contract's text; what is left to chance depends on the seed and the contract's number only."""
    return _WRITERS[wording](terms, Random(f"wording/{wording}/{seed}/{terms.number}"))


def truth_of(terms: LoanTerms, draft: Draft) -> ContractTruth:
    """The ground truth of a contract as drafted."""
    return ContractTruth(
        **{**dict(facts(terms)), "collateral": draft.collateral},
        label="CLASH" if terms.variant else "CLEAN",
        clash_type=terms.clash_type,
        clash_variant=terms.variant,
        clash_description=describe_clash(terms, draft.collateral),
        evidence=draft.evidence(terms.variant),
        reference_answers=reference_answers(terms, draft.collateral),
    )
