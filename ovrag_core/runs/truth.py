"""Ground truth of the documents that a run asks about: label, planted clash and reference answers."""

import json
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ovrag_core.base import CorpusError, Frozen, read_text


class DocumentTruth(Frozen):
    """Ground truth of one document. Only `label` must be given; `reference_answers` is keyed by question id.

    `evidence` holds the two passages that contradict each other, as they stand in the text but for white space.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    label: Literal["CLEAN", "CLASH"]
    clash_type: str | None = None
    clash_variant: str | None = None
    clash_description: str | None = None
    evidence: tuple[str, ...] = ()
    reference_answers: dict[str, str] = Field(default_factory=dict)

    def of_record(self, question_id: str) -> dict[str, str | None]:
        """What a record of a question about the document says of it."""
        reference = (self.reference_answers or {}).get(question_id)
        return {"label": self.label, "clash_type": self.clash_type, "reference_answer": reference}


T = TypeVar("T", bound=DocumentTruth)


def read_truths(path: Path, model: type[T]) -> dict[str, T]:
    """Read ground truth by document id, from a JSON object whose values are of `model`.

    Raises CorpusError, naming the file and the first bad field, for a missing file, broken JSON or a wrong value.
    """
    text = read_text(path, CorpusError, "generate the contracts first, or name another file")
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise CorpusError(f"{path} is not valid JSON at line {error.lineno}; mend that line and try again") from None
    if not isinstance(values, dict):
        raise CorpusError(f"{path} must be an object that maps each document's id to its record")
    try:
        return TypeAdapter(dict[str, model]).validate_python(values)  # type: ignore[valid-type]
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        reason = f"{problem['msg'][0].lower()}{problem['msg'][1:]}"
        raise CorpusError(f"{path}: {where}: {reason}; correct that field") from None
