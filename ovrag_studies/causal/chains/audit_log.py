"""Lines of JSON: verdicts, the rounds of the loop, answers; and the audit log that is only ever added to.

round    {"run", "item", "arm", "wording", "round", "draft", "verdicts", "score", "gaps", "constraints", "previous"}
answer   {"run", "item", "arm", "wording", "decision", "reason", "rounds", "drafts", "chosen", "previous"}
verdict  {"outcome", "quote", "span", "reason", "rule", "claim", "query", "triples"}

`previous` is the digest of the line before, so that a line which was taken out or changed shows.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from ovrag_core.base.errors import RunError
from ovrag_studies.causal.chains.feedback_loop import LoopAnswer, Round
from ovrag_studies.causal.graphs.verifier import Verdict

Record = dict[str, object]
_START = "0" * 64


def verdict_record(verdict: Verdict) -> Record:
    """A verdict with its query and triples."""
    meant = verdict.claim
    claim = meant and {
        "subject": meant.subject.value,
        "predicate": meant.predicate.value,
        "object": meant.object.value,
        "denied": meant.denied,
        "score": round(meant.score, 6),
    }
    return {
        "outcome": verdict.outcome,
        "quote": verdict.quote,
        "span": list(verdict.span),
        "reason": verdict.reason,
        "rule": verdict.rule,
        "claim": claim,
        "query": verdict.query,
        "triples": [[str(each.subject), str(each.predicate), str(each.object)] for each in verdict.triples],
    }


def round_record(round_: Round) -> Record:
    """A round of the loop: its draft and all that was found in it."""
    return {
        "round": round_.number,
        "draft": round_.draft,
        "verdicts": [verdict_record(each) for each in round_.verdicts],
        "score": round_.score,
        "gaps": list(round_.gaps),
        "constraints": list(round_.constraints),
    }


def answer_record(answer: LoopAnswer) -> Record:
    """What the loop ended with."""
    record: Record = {
        "decision": answer.decision,
        "reason": answer.reason,
        "rounds": len(answer.rounds),
        "drafts": answer.drafts,
        "chosen": answer.final.number if answer.final else None,
    }
    return record if answer.instability is None else record | {"instability": round(answer.instability, 6)}


class AuditLog:
    """A file of lines that are only added, each at once and whole, whatever becomes of the run.

    Raises RunError where the file cannot be written, or what it holds was changed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._previous = _START
        for _, self._previous in _lines(path) if path.exists() else ():
            pass

    def add(self, record: Record) -> None:
        """Add a record."""
        line = json.dumps(record | {"previous": self._previous}, ensure_ascii=False, sort_keys=False)
        content = (line + "\n").encode("utf-8", "replace")
        try:
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                if os.write(file, content) != len(content):
                    raise RunError(f"{self.path} is full; make room and run again")
            finally:
                os.close(file)
        except OSError as error:
            raise RunError(
                f"{self.path} cannot be written ({error.strerror}); name a file in a folder that exists"
            ) from None
        self._previous = hashlib.sha256(content).hexdigest()


def read_log(path: Path) -> list[Record]:
    """The records of an audit log. Raises RunError, with the line, where one is broken, changed or missing."""
    return [record for record, _ in _lines(path)]


def _lines(path: Path) -> Iterator[tuple[Record, str]]:
    """Each record with the digest of its line."""
    before = _START
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunError(f"{path} cannot be read ({error.strerror}); name an audit log") from None
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        try:
            record = json.loads(line)
        except ValueError:
            raise RunError(f"{path}, line {number} is broken; keep the log and begin another file") from None
        if not isinstance(record, dict) or record.get("previous") != before:
            raise RunError(f"{path}, line {number} does not follow the line before; lines were taken out or changed")
        before = hashlib.sha256(line).hexdigest()
        yield record, before
