"""Ground truth of the contracts: label, planted clash, facts, the passages that contradict, and reference answers."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ConfigDict

from ovrag_core.loans.loan_facts import Facts
from ovrag_core.runs import DocumentTruth, read_truths


class ContractTruth(DocumentTruth, Facts):
    """Ground truth of one contract with its facts. Only `label` must be given; notes of one's own are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def load_truth(path: Path) -> dict[str, ContractTruth]:
    """Read ground truth by document id, from a JSON object. Raises CorpusError as `read_truths`."""
    return read_truths(path, ContractTruth)


def save_truth(path: Path, truths: dict[str, ContractTruth]) -> None:
    """Write ground truth as indented JSON, documents in their given order, label first."""
    order = ("label", "clash_type", "clash_variant", "clash_description")
    records = {}
    for document_id, truth in truths.items():
        record = truth.model_dump(mode="json")
        records[document_id] = {key: record.pop(key) for key in order} | record
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
