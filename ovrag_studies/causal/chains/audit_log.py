"""The audit log, lines of JSON: verdicts, the rounds of the loop, answers.

round    {"run", "item", "arm", "wording", "round", "draft", "verdicts", "score", "gaps", "constraints"}
answer   {"run", "item", "arm", "wording", "decision", "reason", "rounds", "drafts", "chosen"}
verdict  {"outcome", "quote", "span", "reason", "rule", "claim", "query", "triples"}
"""

import json
from collections.abc import Iterable, Iterator, Mapping

from ovrag_studies.causal.chains.feedback_loop import LoopAnswer, Round
from ovrag_studies.causal.graphs.verifier import CausalVerdict

Record = dict[str, object]


def verdict_record(verdict: CausalVerdict) -> Record:
    """A verdict with its query and triples."""
    meant = verdict.claim
    names = ("subject", "predicate", "object", "denied")
    claim = meant and {**dict(zip(names, meant.key, strict=True)), "score": round(meant.score, 6)}
    return {
        "outcome": verdict.outcome,
        "quote": verdict.quote,
        "span": list(verdict.span),
        "reason": verdict.reason,
        "rule": verdict.rule,
        "claim": claim,
        "query": verdict.query,
        "triples": [[str(t.subject), str(t.predicate), str(t.object)] for t in verdict.triples],
    }


def round_record(round_: Round) -> Record:
    """A round of the loop: its draft and all that was found in it."""
    return {
        "round": round_.number,
        "draft": round_.draft,
        "verdicts": [verdict_record(verdict) for verdict in round_.verdicts],
        "score": round_.score,
        "gaps": list(round_.gaps),
        "constraints": list(round_.constraints),
    }


def answer_record(answer: LoopAnswer) -> Record:
    """Record of what the loop ended with."""
    record: Record = {
        "decision": answer.decision,
        "reason": answer.reason,
        "rounds": len(answer.rounds),
        "drafts": answer.drafts,
        "chosen": answer.final.number if answer.final else None,
    }
    return record if answer.instability is None else record | {"instability": round(answer.instability, 6)}


def lines_of(answers: Iterable[tuple[Mapping[str, object], LoopAnswer]]) -> Iterator[str]:
    """Return the lines of an audit log: every round of every answer, then the answers, each behind its head."""
    headed_answers = list(answers)
    records = [{**head, **round_record(round_)} for head, answer in headed_answers for round_ in answer.rounds]
    records += [{**head, **answer_record(answer)} for head, answer in headed_answers]
    return (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
