"""A whole document read and checked: facts and contradictions with quotes, as `ovrag review` reports them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pydantic import computed_field

from ovrag_core.pipeline import Checker, Extractor
from ovrag_core.types import (
    Document,
    Facility,
    Facts,
    Frozen,
    Label,
    Party,
    QueryRecord,
    Reading,
    Severity,
    Triple,
    Verdict,
    Violation,
)
from ovrag_core.validation import assign_causes


class Passage(Frozen):
    """A verbatim quote; `start` and `end` count characters of the extracted text."""

    quote: str
    start: int
    end: int
    page: int | None


class Finding(Frozen):
    """A violation with the passages that show it."""

    clash_type: str | None
    severity: Severity
    rule: str
    cause: str | None
    message: str
    axioms: tuple[str, ...]
    evidence: tuple[Passage, ...]


class Review(Frozen):
    """One object of `ovrag review --format jsonl`. UNCHECKED carries a reason and is never a pass."""

    document: str
    label: Label
    reason: str | None = None
    clash_types: tuple[str, ...] = ()
    facts: Facts = Facts()
    facilities: tuple[Facility, ...] = ()
    violations: tuple[Finding, ...] = ()
    model: str
    seconds: float

    @computed_field  # type: ignore[prop-decorator]
    @property
    def clashes(self) -> int:
        """How many violations are contradictions rather than warnings."""
        return sum(violation.severity == "clash" for violation in self.violations)


def review(document: Document, extractor: Extractor, validator: Checker, model: str) -> Review:
    """Read `document` whole and check what it says."""
    started = time.perf_counter()
    reading = extractor.read(document)
    if reading.status != "loan":
        return unchecked(document.id, reading.reason or reading.status, model, time.perf_counter() - started)
    verdict = assign_causes(validator.check(reading.triples, document=document.id), document.id)
    return _review(document, reading, verdict, model, time.perf_counter() - started)


def unchecked(document: str, reason: str, model: str, seconds: float = 0.0) -> Review:
    """The review of a document that could not be read or judged."""
    return Review(document=document, label="UNCHECKED", reason=reason, model=model, seconds=round(seconds, 3))


def _review(document: Document, reading: Reading, verdict: Verdict, model: str, seconds: float) -> Review:
    clashes = [violation for violation in verdict.violations if violation.severity == "clash"]
    labels: dict[str, Label] = {"consistent": "CLEAN", "inconsistent": "CLASH", "unchecked": "UNCHECKED"}
    main = reading.facilities[0] if reading.facilities else Facts()
    return Review(
        document=document.id,
        label=labels[verdict.status],
        reason=verdict.reason,
        clash_types=tuple(sorted({clash.clash_type for clash in clashes if clash.clash_type})),
        facts=Facts(**{name: getattr(main, name) for name in Facts.model_fields}),
        facilities=reading.facilities,
        violations=tuple(_finding(violation) for violation in verdict.violations),
        model=model,
        seconds=round(seconds, 3),
    )


def _finding(violation: Violation) -> Finding:
    return Finding(
        clash_type=violation.clash_type,
        severity=violation.severity,
        rule=violation.rule,
        cause=violation.cause,
        message=violation.message,
        axioms=violation.axioms,
        evidence=_passages(violation.triples),
    )


def _passages(triples: Sequence[Triple]) -> tuple[Passage, ...]:
    found = {
        (passage.start, passage.end): Passage(
            quote=passage.quote, start=passage.start, end=passage.end, page=passage.page
        )
        for triple in triples
        if (passage := triple.evidence)
    }
    return tuple(found[span] for span in sorted(found))


def report(result: Review) -> str:
    """The review as text for a person: facts, contradictions with quotes and pages, what could not be read."""
    lines = [f"{result.document}: {headline(result)}"]
    if result.reason:
        lines.append(f"  {result.reason}")
    if result.facilities:
        for facility in result.facilities:
            lines += ["", f"  {facility.name}", *(f"    {name:<14}{value}" for name, value in fact_rows(facility))]
    for finding in result.violations:
        kind = "CONTRADICTION" if finding.severity == "clash" else "note"
        lines += ["", f"  {kind} ({finding.clash_type or finding.rule}): {finding.message}"]
        lines += [f'    {_place(passage)}: "{" ".join(passage.quote.split())}"' for passage in finding.evidence]
    return "\n".join(lines)


def answer_text(record: QueryRecord) -> str:
    """An answer for a person: the text, where it is from, and what validation found."""
    if record.answer is None:
        return record.error or "no answer"
    places = sorted({passage.document_id for passage in record.answer.evidence})
    verdict = record.attempts[-1].verdict
    validated = verdict is not None and (verdict.status != "unchecked" or record.outcome == "unchecked")
    outcome = record.outcome.replace("_", " ") if validated else "not validated"
    lines = [record.answer.text, "", f"[{outcome}; from {', '.join(places) or 'no passage'}]"]
    for violation in verdict.violations if verdict else ():
        lines.append(f"- {violation.message}")
        if violation.kind == "identity":
            continue  # its message quotes
        lines += [f'    "{" ".join(triple.evidence.quote.split())}"' for triple in violation.triples if triple.evidence]
    return "\n".join(lines)


def headline(result: Review) -> str:
    """The outcome in a few words."""
    if result.label == "UNCHECKED":
        return "not checked"
    if result.label == "CLEAN":
        return "no contradiction found"
    return "contradicts itself" if result.clashes == 1 else f"contradicts itself in {result.clashes} ways"


def _place(passage: Passage) -> str:
    return f"page {passage.page}" if passage.page is not None else f"character {passage.start}"


def fact_rows(facts: Facts) -> list[tuple[str, str]]:
    """Name and value of each fact in words; what the document does not say is `not stated`."""
    principal = f"{facts.principal.currency} {facts.principal.amount:,.2f}" if facts.principal else ""
    rows = [
        ("kind", ", ".join(facts.loan_types)),
        ("borrower", _party(facts.borrower)),
        ("lender", _party(facts.lender)),
        ("principal", principal),
        ("interest rate", facts.interest_rate or ""),
        ("maturity", facts.maturity or ""),
        ("security", facts.security),
        ("collateral", facts.collateral or ""),
        ("credit", facts.credit_form),
    ]
    return [(name, value or "not stated") for name, value in rows]


def _party(party: Party | None) -> str:
    if party is None:
        return ""
    return f"{party.name} ({party.kind.replace('_', ' ')})" if party.kind else party.name
