"""Synthetic records for the tests of evaluation and thesis output."""

from __future__ import annotations

import random
from collections.abc import Iterable

from ovrag_core.types import (
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


def record(
    arm="ovrag", document="Contract_001", question="Q1", outcome="accepted", label="CLEAN", **more
) -> QueryRecord:
    """A record with one attempt (or `attempts=n`) whose answer was taken from `sources`, chunks from `retrieved`."""
    sources = more.pop("sources", (document,))
    chunks = more.pop("retrieved", sources)
    text = more.pop("text", f"The loan of {document} is described for {question}.")
    count = more.pop("attempts", 0 if outcome == "error" else 1)
    clash_type = more.pop("clash_type", "secured_unsecured" if label == "CLASH" else None)
    evidence = tuple(Evidence(document_id=d, start=0, end=len(text), quote=text) for d in sources)
    made = tuple(_attempt(number, Answer(text=text, evidence=evidence), outcome) for number in range(1, count + 1))
    return QueryRecord(
        arm=arm,
        document_id=document,
        question_id=question,
        question=f"What does {question} ask?",
        label=label,
        clash_type=clash_type,
        reference_answer=more.pop("reference", f"It is the loan of {document} that {question} asks for."),
        retrieved=tuple(
            Retrieved(chunk_id=f"{d}:{i}", document_id=d, start=i * 10, end=i * 10 + 10, score=0.5)
            for i, d in enumerate(chunks)
        ),
        context_triples=(Triple(subject="Loan", predicate="rdf:type", object="SecuredLoan"),),
        attempts=made,
        outcome=outcome,
        error="the server did not answer" if outcome == "error" else None,
        model=more.pop("model", "offline"),
        **more,
    )


def _attempt(number: int, answer: Answer, outcome: str) -> Attempt:
    triple = Triple(
        subject="Loan",
        predicate="rdf:type",
        object="UnsecuredLoan",
        origin="answer",
        evidence=answer.evidence[0] if answer.evidence else None,
    )
    other = Triple(subject="Loan", predicate="rdf:type", object="SecuredLoan")
    violation = Violation(
        rule="secured_unsecured", clash_type="secured_unsecured", severity="clash", kind="owl", cause="mixture",
        triples=(triple, other), axioms=("SecuredLoan DisjointWith: UnsecuredLoan",), message="A loan cannot be both secured and unsecured.",
    )  # fmt: skip
    bad = outcome in ("hard_rejected", "source_finding")
    verdict = (
        Verdict(status="unchecked", reason="time limit")
        if outcome == "unchecked"
        else Verdict(status="inconsistent", violations=(violation,))
        if bad
        else Verdict(status="consistent")
    )
    return Attempt(number=number, answer=answer, triples=(triple,), verdict=verdict)


def run(
    contracts: int = 20, arms: Iterable[str] = ("plain", "ovrag", "ovrag_evidence"), seed: int = 1
) -> list[QueryRecord]:
    """A run whose second half of contracts clashes; pooled arms retrieve from wrong contracts, all arms err a little."""
    draw = random.Random(seed)
    ids = [f"Contract_{n:03d}" for n in range(1, contracts + 1)]
    types = ("secured_unsecured", "openend_closedend", "borrower_type", "lender_type")
    records = []
    for arm in arms:
        for place, document in enumerate(ids):
            clash = place >= contracts // 2
            for question in QUESTIONS:
                pooled = not (arm.endswith("scoped") or arm == "ovrag_evidence")
                source = draw.choice(ids) if pooled and draw.random() < 0.7 else document
                hit = draw.random() < (
                    {"ovrag": 0.5, "ovrag_evidence": 0.95}.get(arm, 0) if clash else 0.03 * (arm != "plain")
                )
                outcome = ("source_finding" if arm == "ovrag_evidence" else "hard_rejected") if hit else "accepted"
                records.append(
                    record(
                        arm,
                        document,
                        question,
                        outcome,
                        "CLASH" if clash else "CLEAN",
                        clash_type=types[place % 4] if clash else None,
                        sources=(source,),
                        retrieved=(source, document, source) if pooled else (document,) * 3,
                        attempts=4 if outcome == "hard_rejected" else 1,
                    )  # fmt: skip
                )
    return records


def latencies(records: Iterable[QueryRecord], seed: int = 2) -> list[LatencyRecord]:
    """Seconds for each record, lognormal by part."""
    draw = random.Random(seed)
    rows = []
    for item in sorted(records, key=lambda r: (r.arm, r.document_id, r.question_id)):
        parts = {
            part: draw.lognormvariate(mean, 0.6)
            for part, mean in (("retrieval", -5), ("answering", -6), ("extraction", -4), ("validation", -4.5))
        }
        rows.append(
            LatencyRecord(
                arm=item.arm,
                document_id=item.document_id,
                question_id=item.question_id,
                total=sum(parts.values()) * 1.01,
                attempts=max(1, len(item.attempts)),
                **parts,
            )
        )
    return rows
