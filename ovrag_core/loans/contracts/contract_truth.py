"""Ground truth of the contracts: label, planted clash, facts, the passages that contradict, and reference answers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ovrag_core.loans.loan_facts import Facts
from ovrag_core.runs import DocumentTruth, read_truths


class ContractTruth(DocumentTruth, Facts, extra="ignore"):
    """Ground truth of one contract with its facts. Only `label` must be given; notes of one's own are passed over."""


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


def highlighted(text: str, passages: Sequence[str]) -> str:
    """The text as HTML, each passage in `<mark>` wherever it stands, whatever its line breaks."""
    shown = escape(text, quote=False)
    for passage in passages:
        pattern = r"\s+".join(re.escape(escape(word, quote=False)) for word in passage.split())
        shown = re.sub(pattern, lambda found: f"<mark>{found.group()}</mark>", shown)
    return f'<pre style="white-space: pre-wrap; border: 1px solid #999; padding: 1em">{shown}</pre>'
