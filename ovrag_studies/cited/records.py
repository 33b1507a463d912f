"""Records of a run as JSON Lines: what an arm was asked, found, answered and ran. Labels are not in them.

Seconds are kept apart, in a sidecar, so that a run's own bytes do not depend on the machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from ovrag_core.base import Frozen, RunError, read_records, sidecar, write_records, writing
from ovrag_core.text import one_line
from ovrag_studies.cited.answering.quotations import CitedSentence, Removed
from ovrag_studies.cited.arms import Result
from ovrag_studies.cited.conflicts.rule_conflicts import Conflict
from ovrag_studies.cited.conflicts.rules import RuleSource
from ovrag_studies.cited.corpus.policies import PolicyCorpus, require_known
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

    status: Literal["superseded", "unresolved"]
    first: RuleSource
    second: RuleSource
    prevails: Literal["first", "second"] | None
    clause: RuleSource | None


class PolicyRecord(Frozen):
    """A query through an arm. `corpus` stands for all documents as they were, see `corpus_digest`.

    `replies` are the keys of what a chat model said on the way, `written` its tokens.
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
    written: int = 0
    repairs: int
    unknown: int
    invented: int
    corpus: str

    @property
    def cited(self) -> frozenset[str]:
        """The paragraphs that the answer cites."""
        return frozenset(citation.paragraph_id for sentence in self.sentences for citation in sentence.citations)


def record_of(query_id: str, result: Result, digest: str) -> PolicyRecord:
    """The record of a result; `digest` is the corpus's."""
    answer = result.answer
    return PolicyRecord(
        arm=result.arm,
        query_id=query_id,
        question=answer.query,
        sentences=answer.sentences,
        removed=answer.removed,
        silent=answer.silent,
        reason=answer.reason,
        confidence=round(result.confidence, DECIMALS),
        threshold=None if result.threshold is None else round(result.threshold, DECIMALS),
        evidence=tuple(
            EvidenceRecord(paragraph_id=ranked.paragraph.id, rank=ranked.rank, score=ranked.score, by=ranked.by)
            for ranked in result.found.evidence
        ),
        conflicts=tuple(_conflict(conflict) for conflict in result.conflicts),
        notices=answer.notices,
        requested=dict(result.components.requested),
        ran=dict(result.components.ran),
        replies=tuple(dict.fromkeys(reply.key for reply in result.replies)),
        written=result.written,
        repairs=answer.repairs,
        unknown=answer.unknown,
        invented=answer.invented,
        corpus=digest,
    )


def _conflict(conflict: Conflict) -> ConflictRecord:
    return ConflictRecord(
        status=conflict.status,
        first=conflict.first.source,
        second=conflict.second.source,
        prevails=conflict.prevails,
        clause=conflict.clause,
    )


def write_run(path: Path, records: Iterable[tuple[PolicyRecord, float]]) -> int:
    """Write records, and their seconds to `<name>.latency.jsonl`; return the number of records.

    Raises RunError where they cannot be written.
    """
    seconds = []
    with writing(path, RunError) as file:
        for record, spent in records:
            file.write(record.model_dump_json() + "\n")
            seconds.append({"arm": record.arm, "query_id": record.query_id, "seconds": round(spent, 4)})
    return write_records(seconds, sidecar(path, "latency"), RunError)


def read_run(path: Path, corpus: PolicyCorpus) -> list[PolicyRecord]:
    """Return the records of a run over a corpus.

    Raises RunError with the line of what is no record, or stands twice, and CorpusError, with the list, where records
    name paragraphs that the corpus lacks.
    """
    records = [record for _, record in read_records(path, PolicyRecord, RunError, "give what `ovrag policy run` wrote")]
    if not records:
        raise RunError(f"{path} holds no record; run the queries anew")
    again = [key for key, times in Counter((record.arm, record.query_id) for record in records).items() if times > 1]
    if again:
        raise RunError(f"{path} has {again[0][0]} {one_line(again[0][1], 80)} more than once; run the queries anew")
    named = {
        name for record in records for name in (*record.cited, *(ranked.paragraph_id for ranked in record.evidence))
    }
    require_known(named, corpus, str(path))
    return records
