"""Synthetic records for the tests of evaluation and thesis output."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from ovrag_core.base.types import (
    Answer,
    Attempt,
    Evidence,
    LatencyRecord,
    QueryRecord,
    Retrieved,
    Triple,
    Verdict,
    Violation,
)

QUESTIONS = ("Q1", "Q2", "Q3", "Q4", "Q5")
CLASHES = ("secured_unsecured", "openend_closedend", "borrower_type", "lender_type")
PARTS = {"retrieval": -5, "answering": -6, "extraction": -4, "validation": -4.5}  # means of log seconds
SECURED = Triple(subject="Loan", predicate="rdf:type", object="SecuredLoan")


def record(
    arm: str = "ovrag",
    document: str = "Contract_001",
    question: str = "Q1",
    outcome: str = "accepted",
    label: str | None = "CLEAN",
    **more: Any,
) -> QueryRecord:
    """A record with one attempt (or `attempts=n`) whose answer was taken from `sources`, chunks from `retrieved`."""
    sources = more.pop("sources", (document,))
    chunks = more.pop("retrieved", sources)
    text = more.pop("text", f"The loan of {document} is described for {question}.")
    count = more.pop("attempts", 0 if outcome == "error" else 1)
    evidence = tuple(Evidence(document_id=d, start=0, end=len(text), quote=text) for d in sources)
    answer = Answer(text=text, evidence=evidence)
    return QueryRecord(
        arm=arm,
        document_id=document,
        question_id=question,
        question=f"What does {question} ask?",
        label=label,
        clash_type=more.pop("clash_type", "secured_unsecured" if label == "CLASH" else None),
        reference_answer=more.pop("reference", f"It is the loan of {document} that {question} asks for."),
        retrieved=tuple(
            Retrieved(chunk_id=f"{d}:{i}", document_id=d, start=i * 10, end=i * 10 + 10, score=0.5)
            for i, d in enumerate(chunks)
        ),
        context_triples=(SECURED,),
        attempts=tuple(_attempt(number, answer, outcome) for number in range(1, count + 1)),
        outcome=outcome,
        error="the server did not answer" if outcome == "error" else None,
        model=more.pop("model", "offline"),
        **more,
    )


def run(
    contracts: int = 20, arms: Iterable[str] = ("plain", "ovrag", "ovrag_evidence"), seed: int = 1
) -> list[QueryRecord]:
    """A run whose second half of contracts clashes; pooled arms answer from wrong contracts, all arms err a little."""
    draw = random.Random(seed)
    ids = [f"Contract_{n:03d}" for n in range(1, contracts + 1)]
    places = [(arm, place, question) for arm in arms for place in range(contracts) for question in QUESTIONS]
    return [_drawn(arm, ids, place, question, draw) for arm, place, question in places]


def latencies(records: Iterable[QueryRecord], seed: int = 2) -> list[LatencyRecord]:
    """Seconds for each record, lognormal by part, the same whatever the order of records."""
    draw = random.Random(seed)
    rows = []
    for item in sorted(records, key=lambda r: (r.arm, r.document_id, r.question_id)):
        parts = {part: draw.lognormvariate(mean, 0.6) for part, mean in PARTS.items()}
        key = {"arm": item.arm, "document_id": item.document_id, "question_id": item.question_id}
        total = sum(parts.values()) * 1.01
        rows.append(LatencyRecord(**key, total=total, attempts=max(1, len(item.attempts)), **parts))
    return rows


def _drawn(arm: str, ids: list[str], place: int, question: str, draw: random.Random) -> QueryRecord:
    document, clash = ids[place], place >= len(ids) // 2
    pooled = not (arm.endswith("scoped") or arm == "ovrag_evidence")
    source = draw.choice(ids) if pooled and draw.random() < 0.7 else document
    rate = {"ovrag": 0.5, "ovrag_scoped": 0.8, "ovrag_evidence": 0.95}.get(arm, 0.0)
    flagged = draw.random() < (rate if clash else 0.03 * (rate > 0))
    refused = "source_finding" if arm == "ovrag_evidence" else "hard_rejected"
    return record(
        arm,
        document,
        question,
        refused if flagged else "accepted",
        "CLASH" if clash else "CLEAN",
        clash_type=CLASHES[place % 4] if clash else None,
        sources=(source,),
        retrieved=(source, document, source) if pooled else (document,) * 3,
        attempts=4 if flagged and refused == "hard_rejected" else 1,
    )


def _attempt(number: int, answer: Answer, outcome: str) -> Attempt:
    evidence = answer.evidence[0] if answer.evidence else None
    triple = Triple(subject="Loan", predicate="rdf:type", object="UnsecuredLoan", origin="answer", evidence=evidence)
    violation = Violation(
        rule="secured_unsecured",
        clash_type="secured_unsecured",
        severity="clash",
        kind="owl",
        cause="mixture",
        triples=(triple, SECURED),
        axioms=("SecuredLoan DisjointWith: UnsecuredLoan",),
        message="A loan cannot be both secured and unsecured.",
    )
    verdicts = {
        "hard_rejected": Verdict(status="inconsistent", violations=(violation,)),
        "source_finding": Verdict(status="inconsistent", violations=(violation,)),
        "unchecked": Verdict(status="unchecked", reason="time limit"),
    }
    verdict = verdicts.get(outcome, Verdict(status="consistent"))
    return Attempt(number=number, answer=answer, triples=(triple,), verdict=verdict)
