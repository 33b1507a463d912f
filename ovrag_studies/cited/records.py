"""Records of a run as JSON Lines: what an arm was asked, found, answered and ran. Labels are not in them.

Seconds are kept apart, in a sidecar, so that a run's own bytes do not depend on the machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from ovrag_core.base.errors import RunError
from ovrag_core.base.types import Frozen
from ovrag_core.text.lines import one_line
from ovrag_studies.cited.answering.audit import Audited
from ovrag_studies.cited.answering.cited_answers import CitedSentence, Removed
from ovrag_studies.cited.arms import Result
from ovrag_studies.cited.conflicts.deontic import NormSource
from ovrag_studies.cited.conflicts.norm_conflicts import Conflict
from ovrag_studies.cited.corpus.policies import PolicyCorpus
from ovrag_studies.cited.measuring.ratings import Given, Quotation, RatedClaim
from ovrag_studies.cited.settings import Arm

DECIMALS = 6


class EvidenceRecord(Frozen):
    """A paragraph that was found; `by` names what scored it last."""

    paragraph_id: str
    rank: int
    score: float
    by: str


class ConflictRecord(Frozen):
    """Sentences of two rules that cannot both be kept, and the clause that lets one prevail; None where none does."""

    kind: str
    status: Literal["superseded", "unresolved"]
    first: NormSource
    second: NormSource
    prevails: Literal["first", "second"] | None
    clause: NormSource | None


class PolicyRecord(Frozen):
    """A query through an arm. `corpus` stands for all documents as they were, see `corpus_digest`.

    `replies` are the keys of what a chat model said on the way.
    """

    arm: Arm
    query_id: str
    question: str
    sentences: tuple[CitedSentence, ...]
    removed: tuple[Removed, ...]
    silent: bool
    reason: str
    confidence: float
    threshold: float | None
    evidence: tuple[EvidenceRecord, ...]
    conflicts: tuple[ConflictRecord, ...]
    notices: tuple[str, ...]
    requested: dict[str, str]
    ran: dict[str, str]
    replies: tuple[str, ...] = ()
    repairs: int
    unknown: int
    invented: int
    corpus: str

    @property
    def cited(self) -> frozenset[str]:
        """The paragraphs that the answer cites."""
        return frozenset(each.paragraph_id for said in self.sentences for each in said.citations)


class SecondsRecord(Frozen):
    """Seconds of a query through an arm."""

    arm: Arm
    query_id: str
    seconds: float


def record_of(query_id: str, result: Result, digest: str) -> PolicyRecord:
    """The record of a result; `digest` is the corpus's."""
    given = result.answer
    return PolicyRecord(
        arm=result.arm,
        query_id=query_id,
        question=given.query,
        sentences=given.sentences,
        removed=given.removed,
        silent=given.silent,
        reason=given.reason,
        confidence=round(result.confidence, DECIMALS),
        threshold=None if result.threshold is None else round(result.threshold, DECIMALS),
        evidence=tuple(
            EvidenceRecord(paragraph_id=each.paragraph.id, rank=each.rank, score=each.score, by=each.by)
            for each in result.found.evidence
        ),
        conflicts=tuple(_conflict(each) for each in result.conflicts),
        notices=given.notices,
        requested=dict(result.components.requested),
        ran=dict(result.components.ran),
        replies=tuple(dict.fromkeys(each.key for each in result.replies)),
        repairs=given.repairs,
        unknown=given.unknown,
        invented=given.invented,
        corpus=digest,
    )


def _conflict(conflict: Conflict) -> ConflictRecord:
    return ConflictRecord(
        kind=conflict.kind,
        status=conflict.status,
        first=conflict.first.source,
        second=conflict.second.source,
        prevails=conflict.prevails,
        clause=conflict.clause,
    )


def audited(record: PolicyRecord) -> Audited:
    """A record as an audit bundle files it; what was removed is filed with the reason."""
    return Audited(
        record.query_id,
        record.question,
        record.sentences,
        [f"{each.text} ({each.why})" for each in record.removed],
        record.silent,
        record.reason,
        record.requested,
        record.ran,
        record.replies,
    )


def rated(records: Iterable[PolicyRecord]) -> list[Given]:
    """The answers of records that say something, as a pack of blind rating holds them."""
    return [
        Given(each.query_id, each.arm, each.question, tuple(_claim(said) for said in each.sentences))
        for each in records
        if not each.silent
    ]


def _claim(said: CitedSentence) -> RatedClaim:
    quotations = [
        Quotation(doc_id=cited.doc_id, paragraph_id=cited.paragraph_id, quote=cited.quote) for cited in said.citations
    ]
    return RatedClaim(text=said.text, quotations=quotations)


def write_run(path: Path, records: Iterable[tuple[PolicyRecord, float]]) -> int:
    """Write records, and their seconds to `<name>.latency.jsonl`; the number of records.

    Raises RunError where they cannot be written.
    """
    lines, seconds = [], []
    for record, spent in records:
        lines.append(record.model_dump_json() + "\n")
        timed = SecondsRecord(arm=record.arm, query_id=record.query_id, seconds=round(spent, 4))
        seconds.append(timed.model_dump_json() + "\n")
    try:
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
        latency_path(path).write_text("".join(seconds), encoding="utf-8", newline="\n")
    except OSError as error:
        raise RunError(f"{path} cannot be written ({error.strerror}); name a file in a folder that exists") from None
    return len(lines)


def latency_path(path: Path) -> Path:
    """Where the seconds of a run are."""
    return path.with_name(f"{path.stem}.latency.jsonl")


def read_run(path: Path, corpus: PolicyCorpus) -> list[PolicyRecord]:
    """The records of a run over a corpus.

    Raises RunError, with the list, where they name paragraphs that the corpus lacks, and with the line for what is no
    record or stands twice.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise RunError(f"{path} cannot be read; give what `ovrag policy run` wrote") from None
    records = [_read(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not records:
        raise RunError(f"{path} holds no record; run the queries anew")
    again = [key for key, times in Counter((each.arm, each.query_id) for each in records).items() if times > 1]
    if again:
        raise RunError(f"{path} has {again[0][0]} {one_line(again[0][1], 80)} more than once; run the queries anew")
    known = corpus.by_id()
    named = {name for each in records for name in (*each.cited, *(found.paragraph_id for found in each.evidence))}
    if unknown := sorted(named - set(known)):
        raise RunError(
            f"{path} names {len(unknown)} paragraphs that the corpus does not have; run the queries anew, or give the "
            f"corpus of the run: {', '.join(one_line(name, 120) for name in unknown)}"
        )
    return records


def _read(path: Path, number: int, line: str) -> PolicyRecord:
    try:
        return PolicyRecord.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise RunError(f"{path}, line {number}: {where}: {one_line(first['msg'])}") from None
