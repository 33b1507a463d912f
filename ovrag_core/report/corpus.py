"""What a run was asked of: the distribution of its contracts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from ovrag_core.evaluation import corpus
from ovrag_core.report.run import Run, write


def corpus_table(run: Run, kinds: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Contracts by kind of loan, with their types of contradiction: `corpus`; the CSV has a row a contract."""
    contracts = corpus.contract_frame(run.records, {} if run.imported else kinds)
    note = run.note(
        interval=False, n=f"{len(contracts)} contracts", more="Kinds and labels are those of the ground truth"
    )
    headers = {"kind": "Kind of loan", "contradictions": "Of these contradictions"}
    caption = "Contracts by kind of loan and type of contradiction."
    table = corpus.distribution(contracts)
    table = table if table["unlabelled"].any() else table.drop(columns="unlabelled")
    return write(run, table, "corpus", caption, note, headers=headers, full=contracts)
