"""Ground truth: label, planted clash, facts, the passages that contradict, and reference answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ovrag_core.errors import CorpusError
from ovrag_core.types import Facts


class ContractTruth(Facts):
    """What is true of one document. Only `label` must be given; `reference_answers` is keyed by question id.

    `evidence` holds the two passages that contradict each other, as they stand in the text but for white space.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    label: Literal["CLEAN", "CLASH"]
    clash_type: str | None = None
    clash_variant: str | None = None
    clash_description: str | None = None
    evidence: tuple[str, ...] = ()
    reference_answers: dict[str, str] = Field(default_factory=dict)


_TRUTHS = TypeAdapter(dict[str, ContractTruth])


def load_truth(path: Path) -> dict[str, ContractTruth]:
    """Ground truth by document id, from a JSON object.

    Raises CorpusError, naming the file and the first bad field, for a missing file, broken JSON or a wrong value.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CorpusError(
            f"{path} does not exist; generate the contracts first or name your own ground truth"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path} cannot be read: {error}") from None
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise CorpusError(f"{path} is not valid JSON at line {error.lineno}; mend that line and try again") from None
    if not isinstance(values, dict):
        raise CorpusError(f"{path} must be an object that maps each document's id to its record")
    try:
        return _TRUTHS.validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CorpusError(f"{path}: {where}: {first['msg'][0].lower()}{first['msg'][1:]}; correct that field") from None


def save_truth(path: Path, truths: dict[str, ContractTruth]) -> None:
    """Write ground truth as indented JSON, documents in their given order, label first."""
    order = ("label", "clash_type", "clash_variant", "clash_description")
    records = {}
    for document_id, truth in truths.items():
        record = truth.model_dump(mode="json")
        records[document_id] = {key: record.pop(key) for key in order} | record
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
