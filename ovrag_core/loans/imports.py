"""Runs recorded elsewhere, read into our records: the published system's per-query table and its recorded queries.

The table is CSV, the recorded queries are JSON Lines with answers, attempts and triples. What a row does not say stays
empty, what has no place in our records is named in the report, and nothing is written unless every row could be read.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ovrag_core.base import (
    Answer,
    Attempt,
    Document,
    Label,
    LatencyRecord,
    Outcome,
    QueryRecord,
    Recorded,
    RunError,
    Settings,
    Triple,
    Verdict,
    read_text,
)
from ovrag_core.documents import find
from ovrag_core.loans.contracts.contract_truth import ContractTruth, load_truth
from ovrag_core.loans.reading.details import find_details
from ovrag_core.loans.workbench import make_validator
from ovrag_core.loop import ARMS, Shelf, rejudged
from ovrag_core.retrieval import load_all
from ovrag_core.runs import RUN_NAME, RUNS, Key, RunFiles, manifest_text, read_manifest, run_files, write_run

UNKNOWN_MODEL = "not recorded"
NO_VERDICT = "the run recorded no verdict"
NO_TRIPLES = "the run recorded no triples, so nothing was checked"
KEYS = ("contract_id", "condition", "question_id")
_MISSING = {"", "nan", "none", "null", "na", "n/a"}
_MOST_IN_FIELD = 100_000_000

Maybe = BeforeValidator(lambda value: None if isinstance(value, str) and value.strip().lower() in _MISSING else value)
Upper = BeforeValidator(lambda value: value.strip().upper() if isinstance(value, str) else value)
Name = Annotated[str, Field(min_length=1)]
Word = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Flag = Annotated[bool | None, Maybe]
Text = Annotated[str | None, Maybe]
Prose = str | None  # an answer may well be the word "none"
Count = Annotated[Annotated[int, Field(ge=0)] | None, Maybe]
Number = Annotated[Annotated[float, Field(allow_inf_nan=False)] | None, Maybe]
Seconds = Annotated[Annotated[float, Field(ge=0, allow_inf_nan=False)] | None, Maybe]


class RecordedPart(BaseModel):
    """A piece of a row; fields of ours that it does not have stay empty."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class RecordedStatement(RecordedPart):
    """A triple in the published field names; what it does not say is empty."""

    subject: Word = Field("", alias="sub")
    predicate: Word = Field("", alias="pred")
    object: Word = Field("", alias="obj")
    subject_type: Word = Field("", alias="sub_type")
    object_type: Word = Field("", alias="obj_type")


class Try(RecordedPart):
    """One attempt of the published loop, numbered from 0."""

    answer: Prose = None
    triples: tuple[RecordedStatement, ...] | None = None
    is_valid: Flag = None
    explanation: Prose = None

    def attempt(self, number: int, *, judges: bool) -> Attempt:
        """The attempt in our form; a pass that rests on nothing checked is no pass."""
        triples = tuple(Triple(**dict(statement)) for statement in self.triples or ())
        verdict = Verdict(status="consistent") if triples else Verdict(status="unchecked", reason=NO_TRIPLES)
        if self.is_valid is None:
            verdict = Verdict(status="unchecked", reason=NO_VERDICT)
        elif not self.is_valid:
            verdict = Verdict(status="inconsistent", reason=self.explanation)
        answer = Answer(text=self.answer or "")
        return Attempt(number=number, answer=answer, triples=triples, verdict=verdict if judges else None)


class RecordedRow(RecordedPart):
    """One query as the published system recorded it."""

    contract_id: Name
    condition: Name
    question_id: Name
    question_text: Text = None
    question: Text = None
    ground_truth: Annotated[Label | None, Maybe, Upper] = None
    expect_clash: Flag = None
    clash_type: Text = None
    validation_passed: Flag = None
    validation_is_valid: Flag = None
    validation_explanation: Prose = None
    total_attempts: Count = None
    accepted_at_attempt: Count = None
    hard_reject: Flag = None
    error: Text = None
    answer: Prose = None
    triples: tuple[RecordedStatement, ...] | None = None
    correction_attempts: tuple[Try, ...] | None = None
    rouge_l: Number = None
    bertscore_precision: Number = None
    bertscore_recall: Number = None
    bertscore_f1: Number = None
    latency_rag: Seconds = None
    latency_extraction: Seconds = None
    latency_validation: Seconds = None
    latency_total: Seconds = None

    @property
    def label(self) -> Label | None:
        """The recorded label; None where there is none."""
        if self.ground_truth is not None or self.expect_clash is None:
            return self.ground_truth
        return "CLASH" if self.expect_clash else "CLEAN"

    @property
    def passed(self) -> bool | None:
        """The recorded verdict on the query; None where there is none."""
        verdict = self.validation_is_valid if self.validation_passed is None else self.validation_passed
        return False if verdict is None and self.hard_reject else verdict


@dataclass(frozen=True, slots=True)
class Import:
    """Result of an import of `rows`: a record for each in their order, then those that were judged again.

    `left_behind` are the fields that have no place in our records.
    """

    files: RunFiles
    source: str
    rows: int
    records: tuple[QueryRecord, ...]
    seconds: tuple[LatencyRecord, ...]
    left_behind: tuple[str, ...]

    def text(self) -> str:
        """The account of the rows, for people."""
        lines = [f"{self.rows} rows of {self.source} in {self.files.records}"]
        for arm in dict.fromkeys(record.arm for record in self.records):
            outcomes = Counter(record.outcome for record in self.records if record.arm == arm)
            lines.append(
                f"{arm}: {outcomes.total()} ({', '.join(f'{n} {name}' for name, n in outcomes.most_common())})"
            )
        if self.left_behind:
            lines.append(f"without a place in a record: {', '.join(self.left_behind)}")
        return "\n".join(lines)


def import_run(
    source: Path,
    name: str,
    *,
    folder: Path = RUNS,
    truth: Path | None = None,
    contracts: Path | None = None,
    model: str = UNKNOWN_MODEL,
    rejudge: bool = False,
    settings: Settings | None = None,
) -> Import:
    """Read a run recorded elsewhere into `folder` under `name`.

    `truth` adds reference answers, and labels where the rows have none. `contracts`, the folder of the documents that
    were asked about, lets answers about the wrong one be found. `rejudge` adds an arm in which our validator, as
    `settings` have it, judges what was recorded.
    Raises RunError, naming row and field, for anything that cannot be read, and for a run of that name that came from
    something else.
    """
    if not RUN_NAME.fullmatch(name):
        raise RunError(f"{name} cannot name a run; use letters, digits, dots, hyphens and underscores")
    content = read_text(source, RunError, "name the file of a recorded run")
    if not content.strip():
        raise RunError(f"{source} is empty; a run has one row a query")
    files = run_files(name, folder)
    origin = {"sha256": hashlib.sha256(content.encode()).hexdigest(), "model": model}
    truths = load_truth(truth) if truth else {}
    documents = {document.id: document for document in load_all(find(contracts))} if contracts else {}
    inputs = {
        "truth": _digest({key: value.model_dump(mode="json") for key, value in truths.items()}),
        "documents": _digest({key: document.text for key, document in documents.items()}),
        "rejudged": ["triples"] if rejudge else [],
    }
    manifest = manifest_text({"imported": {"file": source.name, **origin, **inputs}})
    _refuse_another(files, manifest)
    rows, left_behind = _read_rows(content, source)
    records = _placed(_records(rows, model, truths), documents, contracts)
    if rejudge:
        with closing(make_validator(settings or Settings())) as validator:
            records += tuple(rejudged(records, validator))
    seconds = tuple(_latency(row) for row in rows if row.latency_total is not None)
    write_run(files, records, seconds, manifest)
    return Import(files, source.name, len(rows), records, seconds, left_behind)


def _refuse_another(files: RunFiles, manifest: str) -> None:
    is_there = files.records.exists() or files.partial_manifest.exists()
    if is_there and not (files.manifest.exists() and manifest_text(read_manifest(files.manifest)) == manifest):
        raise RunError(f"{files.records} exists and is not of this import; choose another --name or delete it")


def _read_rows(text: str, source: Path) -> tuple[list[RecordedRow], tuple[str, ...]]:
    """The rows of a file, each checked, and the names of fields that have no place in them."""
    raw = list(_json_rows(text, source) if text.lstrip()[0] in "{[" else _csv_rows(text, source))
    present = dict.fromkeys(key for _, values in raw for key in values)
    if not present:
        raise RunError(f"{source} has no rows; a run has one row a query")
    has_verdicts = "validation_passed" in present or "validation_is_valid" in present
    missing = [name for name in KEYS if name not in present] + ([] if has_verdicts else ["validation_passed"])
    if missing:
        raise RunError(
            f"{source} has no {' and no '.join(missing)}; a run recorded elsewhere needs {', '.join(KEYS)} and "
            "validation_passed in each row"
        )
    rows: dict[Key, RecordedRow] = {}
    for where, values in raw:
        row = _row(values, where)
        arm, contract, question = key = (row.condition, row.contract_id, row.question_id)
        if key in rows:
            raise RunError(
                f"{where} repeats condition {arm}, contract {contract}, question {question}; keep one row of it"
            )
        rows[key] = row
    return list(rows.values()), tuple(key for key in present if key not in RecordedRow.model_fields)


def _json_rows(text: str, source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row as it stands, with the words that name its place in the file."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{source} line {number}"
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            raise RunError(f"{where} is not one whole JSON object; a run recorded as JSON has one a line") from None
        if not isinstance(values, dict):
            raise RunError(f"{where} is not a JSON object; a run recorded as JSON has one a line")
        # without halves of surrogate pairs, which JSON can hold and no text written again can
        yield where, json.loads(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace"))


def _csv_rows(text: str, source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    csv.field_size_limit(_MOST_IN_FIELD)
    reader = csv.DictReader(text.splitlines(keepends=True), strict=True)
    try:
        for values in reader:
            where = f"{source} line {reader.line_num}"
            if None in values or None in values.values():
                raise RunError(f"{where} has more or fewer fields than the header; mend that row")
            yield where, values
    except csv.Error as error:
        raise RunError(f"{source} line {reader.reader.line_num} is not CSV ({error}); mend that row") from None


def _row(values: Mapping[str, object], where: str) -> RecordedRow:
    try:
        row = RecordedRow.model_validate(values)
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(str(key) for key in problem["loc"])
        shown = "" if problem["type"] == "missing" else f", not {str(problem['input'])[:60]!r}"
        message = f"{problem['msg'][0].lower()}{problem['msg'][1:]}{shown}"
        raise RunError(f"{where}: {field}: {message}; mend that row") from None
    if row.hard_reject and row.validation_passed:
        raise RunError(f"{where} says both that validation passed and that the answer was rejected; mend that row")
    if row.ground_truth in ("CLEAN", "CLASH") and row.expect_clash not in (None, row.ground_truth == "CLASH"):
        raise RunError(f"{where}: ground_truth {row.ground_truth} and expect_clash {row.expect_clash} do not agree")
    return row


def _records(rows: Sequence[RecordedRow], model: str, truths: Mapping[str, ContractTruth]) -> tuple[QueryRecord, ...]:
    """A record for each row; the arms that judge are ours that validate and those with a verdict in any row."""
    judging = {row.condition for row in rows if row.passed is not None}
    judging |= {name for name, arm in ARMS.items() if arm.validates}
    return tuple(_record(row, model, truths.get(row.contract_id), judges=row.condition in judging) for row in rows)


def _record(row: RecordedRow, model: str, truth: ContractTruth | None, *, judges: bool) -> QueryRecord:
    attempts = _attempts(row, judges=judges)
    count = row.total_attempts or (None if row.accepted_at_attempt is None else row.accepted_at_attempt + 1)
    outcome, reason = _outcome(row, attempts, count or len(attempts), judges=judges)
    known = truth.of_record(row.question_id) if truth else {}
    return QueryRecord(
        arm=row.condition,
        document_id=row.contract_id,
        question_id=row.question_id,
        question=row.question_text or row.question or "",
        label=row.label or (truth.label if truth else None),
        clash_type=row.clash_type or (known.get("clash_type") if row.label in (None, "CLASH") else None),
        reference_answer=known.get("reference_answer"),
        attempts=attempts,
        outcome=outcome,
        error=reason,
        model=model,
        recorded=Recorded(
            attempts=None if count == len(attempts) else count,
            **{name: getattr(row, name) for name in Recorded.SCORES},
        ),
    )


def _attempts(row: RecordedRow, *, judges: bool) -> tuple[Attempt, ...]:
    """The recorded attempts; where only the final answer was recorded, that one."""
    if row.correction_attempts:
        return tuple(each.attempt(number, judges=judges) for number, each in enumerate(row.correction_attempts, 1))
    if row.answer is None:
        return ()
    explanation = row.validation_explanation
    final = Try(answer=row.answer, triples=row.triples, is_valid=row.passed, explanation=explanation)
    return (final.attempt(row.total_attempts or 1, judges=judges),)


def _outcome(row: RecordedRow, attempts: Sequence[Attempt], count: int, *, judges: bool) -> tuple[Outcome, str | None]:
    """Outcome of the query; a pass that rests on nothing checked is no pass."""
    if row.error is not None:
        return "error", row.error
    if not judges:
        return "accepted", None
    if row.passed is None:
        return "unchecked", NO_VERDICT
    if not row.passed:
        return "hard_rejected", None
    if attempts and not attempts[-1].triples:
        return "unchecked", NO_TRIPLES
    return ("corrected" if count > 1 else "accepted"), None


def _latency(row: RecordedRow) -> LatencyRecord:
    return LatencyRecord(
        arm=row.condition,
        document_id=row.contract_id,
        question_id=row.question_id,
        attempts=row.total_attempts or len(row.correction_attempts or ()) or 1,
        **{part: getattr(row, f"latency_{part}") for part in ("rag", "extraction", "validation", "total")},
    )


def _placed(
    records: Sequence[QueryRecord], documents: Mapping[str, Document], folder: Path | None
) -> tuple[QueryRecord, ...]:
    """The records with what their answers are about, told from the text alone. Raises RunError where no id fits."""
    if not documents:
        return tuple(records)
    contracts = dict.fromkeys(record.document_id for record in records)
    ids = {contract: found for contract in contracts if (found := _document_id(contract, documents))}
    if not ids:
        raise RunError(f"{folder} holds no document named like the contract {records[0].document_id}")
    names = {document: contract for contract, document in ids.items()}
    shelf = Shelf(documents, find_details)

    def placed(record: QueryRecord) -> QueryRecord:
        if record.document_id not in ids or record.answer is None:
            return record
        judged = shelf.judge(record.answer.text, ids[record.document_id])
        about = {"about": judged.about, "about_documents": tuple(names.get(d, d) for d in judged.documents)}
        recorded = (record.recorded or Recorded()).model_copy(update=about)
        return record.model_copy(update={"recorded": recorded})

    return tuple(map(placed, records))


def _document_id(contract: str, documents: Collection[str]) -> str | None:
    """The document of that id, else the only one whose id ends with it: `Contract_002` for 002."""
    if contract in documents:
        return contract
    ends = [name for name in documents if re.search(rf"(?:^|[^0-9A-Za-z]){re.escape(contract)}$", name)]
    return ends[0] if len(ends) == 1 else None


def _digest(values: Mapping[str, object]) -> str | None:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest() if values else None
