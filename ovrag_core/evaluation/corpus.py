"""What a run was asked of: contracts by kind, by label and by type of contradiction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from ovrag_core.evaluation.confusion import CLEAN
from ovrag_core.types import QueryRecord

UNLABELLED = "without a label"
UNKNOWN = "not recorded"


def contract_frame(records: Sequence[QueryRecord], kinds: Mapping[str, Sequence[str]] | None = None) -> pd.DataFrame:
    """One row a contract: document_id, label, clash_type (`clean` where none is expected), kind, queries.

    `kinds` are the classes of loan by contract; what it does not hold is not recorded.
    """
    rows: dict[str, dict[str, object]] = {}
    for record in sorted(records, key=lambda record: record.document_id):
        row = rows.setdefault(record.document_id, {"document_id": record.document_id, "queries": 0})
        clean = CLEAN if record.label == "CLEAN" else UNLABELLED
        row["label"], row["clash_type"] = record.label or "", record.clash_type or clean
        row["kind"] = " and ".join((kinds or {}).get(record.document_id, ())) or UNKNOWN
        row["queries"] = int(str(row["queries"])) + 1
    names = ["document_id", "label", "clash_type", "kind", "queries"]
    return pd.DataFrame(list(rows.values()), columns=names)


def distribution(contracts: pd.DataFrame) -> pd.DataFrame:
    """Contracts by kind of loan (rows) and by what is wrong with them (columns), with sums: kind, …, contracts."""
    counts = pd.crosstab(contracts["kind"], contracts["clash_type"])
    order = sorted(counts.columns, key=lambda name: (name == UNLABELLED, name != CLEAN, -counts[name].sum(), name))
    table = counts[order].assign(contracts=counts.sum(axis=1))
    table = table.sort_values("contracts", ascending=False, kind="stable")
    if len(table):
        table.loc["all"] = table.sum()
    return table.rename_axis(columns=None).rename_axis(index="kind").reset_index()
