"""Ground truth: label, planted clash, facts, the passages that contradict, and reference answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, JsonValue, ValidationError

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


class Truths(Mapping[str, ContractTruth]):
    """Ground truth as `load_truth` gives it, kept as text: a record is made when it is asked for."""

    def __init__(self, path: Path) -> None:
        values = _values(path)
        self._lines = {id_: _record(values.pop(id_), id_, path).model_dump_json() for id_ in list(values)}

    def __getitem__(self, document_id: str) -> ContractTruth:
        return ContractTruth.model_validate_json(self._lines[document_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def load_truth(path: Path) -> dict[str, ContractTruth]:
    """Ground truth by document id, from a JSON object.

    Raises CorpusError, naming the file and the first bad field, for a missing file, broken JSON or a wrong value.
    """
    return {document_id: _record(value, document_id, path) for document_id, value in _values(path).items()}


def _values(path: Path) -> dict[str, JsonValue]:
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
    return values


def _record(value: JsonValue, document_id: str, path: Path) -> ContractTruth:
    try:
        return ContractTruth.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join([document_id, *(str(part) for part in first["loc"])])
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
