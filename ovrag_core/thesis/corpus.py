"""What a run was asked of: the distribution of its contracts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from ovrag_core.contracts.truth import load_truth
from ovrag_core.evaluation import corpus
from ovrag_core.thesis.run import Run, write

TRUTH = Path("data/ground_truth.json")


def kinds_of_loan(run: Run, path: Path = TRUTH) -> dict[str, tuple[str, ...]]:
    """The classes of loan of each contract by the ground truth; none for a run recorded elsewhere or without it."""
    if run.imported or not path.exists():
        return {}
    asked = set(run.frame["document_id"])
    return {name: truth.loan_types for name, truth in load_truth(path).items() if name in asked}


def corpus_table(run: Run, kinds: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Contracts by kind of loan, with their types of contradiction: `corpus`; the CSV has a row a contract."""
    contracts = corpus.contract_frame(run.records, kinds)
    note = run.note(
        interval=False, n=f"{len(contracts)} contracts", more="Kinds and labels are those of the ground truth"
    )
    headers = {"kind": "Kind of loan", "contradictions": "Of these contradictions"}
    caption = "Contracts by kind of loan and type of contradiction."
    table = corpus.distribution(contracts)
    table = table if table["unlabelled"].any() else table.drop(columns="unlabelled")
    return write(run, table, "corpus", caption, note, headers=headers, full=contracts)
