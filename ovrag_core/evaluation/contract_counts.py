"""Count the contracts a run was asked of: by kind, by label and by type of contradiction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from ovrag_core.base import QueryRecord
from ovrag_core.evaluation.confusion import CLEAN

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
    """Contracts by kind of loan and in all: kind, clean, clash, unlabelled, contracts, and the types of contradiction.

    The types are in words, with how many contracts have each, most frequent first.
    """
    order = contracts["kind"].value_counts(sort=False).sort_values(ascending=False, kind="stable").index
    groups = [(str(kind), contracts[contracts["kind"] == kind]) for kind in order]
    rows = [_row(kind, group) for kind, group in [*groups, ("all", contracts)] if len(group)]
    return pd.DataFrame(rows, columns=["kind", "clean", "clash", "unlabelled", "contracts", "contradictions"])


def _row(kind: str, contracts: pd.DataFrame) -> tuple[object, ...]:
    clash = contracts[contracts["label"] == "CLASH"]
    clean = int((contracts["label"] == "CLEAN").sum())
    types = clash["clash_type"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
    listing = ", ".join(f"{str(name).replace('_', ' ')} {count}" for name, count in types.items())
    return (kind, clean, len(clash), len(contracts) - clean - len(clash), len(contracts), listing)
