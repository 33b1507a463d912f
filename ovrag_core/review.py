"""A whole document read and checked: facts and contradictions with quotes, as `ovrag review` reports them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import computed_field

from ovrag_core.lines import one_line
from ovrag_core.pipeline import Checker, Extractor
from ovrag_core.types import (
    Document,
    Evidence,
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

MARK = '<meta name="generator" content="ovrag review">'  # by which our own pages are known
_HEAD = 4096
_JSON_REPORT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*\[?\s*\{\s*\"document\"\s*:[^{}]{0,3000}?\"label\"\s*:\s*\"(?:CLEAN|CLASH|UNCHECKED)\""
)


class Passage(Frozen):
    """A verbatim quote; `start` and `end` count characters of the extracted text of `document`."""

    quote: str
    start: int
    end: int
    page: int | None
    document: str | None = None


class Finding(Frozen):
    """A violation with the passages that show it; where the same passages break several rules of a kind, the first."""

    clash_type: str | None
    severity: Severity
    rule: str
    cause: str | None
    message: str
    axioms: tuple[str, ...]
    evidence: tuple[Passage, ...]


class Review(Frozen):
    """One object of `ovrag review --format jsonl`. UNCHECKED carries a reason and is never a pass."""

    document: str | tuple[str, ...]
    label: Label
    reason: str | None = None
    clash_types: tuple[str, ...] = ()
    facts: Facts = Facts()
    facilities: tuple[Facility, ...] = ()
    violations: tuple[Finding, ...] = ()
    model: str
    seconds: float
    notes: tuple[str, ...] = ()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def clashes(self) -> int:
        """How many violations are contradictions rather than warnings."""
        return sum(violation.severity == "clash" for violation in self.violations)

    def to_json(self) -> str:
        """One line of JSON, as `ovrag review --format jsonl` prints it."""
        return self.model_dump_json(exclude={"clashes"})

    def about_documents(self) -> list[str]:
        """Lines of the report on the documents of a deal."""
        return []

    def about_changes(self) -> list[str]:
        """Lines of the report on what amendments changed."""
        return []


def review(document: Document, extractor: Extractor, validator: Checker, model: str) -> Review:
    """Read `document` whole and check what it says."""
    started = time.perf_counter()
    reading = extractor.read(document)
    if (problem := unread(reading)) is not None:
        return unchecked(document.id, problem, model, time.perf_counter() - started)
    verdict = assign_causes(validator.check(reading.triples, document=document.id), document.id)
    return review_of(document.id, reading, verdict, model, time.perf_counter() - started)


def unread(reading: Reading) -> str | None:
    """Why a reading says nothing of a loan; None where it does. Finding nothing is never a pass."""
    if reading.status != "loan":
        return reading.reason or reading.status
    return None if reading.triples else "nothing is stated of a loan: no party, amount, rate, date, security or purpose"


def review_each(
    loaded: Iterable[tuple[Path, Document | str]], extractor: Extractor, validator: Checker, model: str
) -> Iterator[tuple[Review, list[Document]]]:
    """The review of each document, with the document; of a path that could not be read, given why, with none."""
    for path, document in loaded:
        if isinstance(document, str):
            yield unchecked(str(path), document, model), []
        else:
            yield review(document, extractor, validator, model), [document]


def is_report(path: Path) -> bool:
    """Whether a file is a report that `ovrag review` wrote, as a page or as JSON."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return MARK.encode() in head or _JSON_REPORT.match(head) is not None


def unchecked(document: str, reason: str, model: str, seconds: float = 0.0) -> Review:
    """The review of a document that could not be read or judged."""
    return Review(document=document, label="UNCHECKED", reason=reason, model=model, seconds=round(seconds, 3))


def review_of(
    document: str | tuple[str, ...], reading: Reading, verdict: Verdict, model: str, seconds: float
) -> Review:
    """What was read and what validation says of it, as one review; `document` names what was read."""
    clashes = [violation for violation in verdict.violations if violation.severity == "clash"]
    labels: dict[str, Label] = {"consistent": "CLEAN", "inconsistent": "CLASH", "unchecked": "UNCHECKED"}
    main = reading.facilities[0] if reading.facilities else Facts()
    return Review(
        document=document,
        label=labels[verdict.status],
        reason=verdict.reason,
        clash_types=tuple(sorted({clash.clash_type for clash in clashes if clash.clash_type})),
        facts=Facts(**{name: getattr(main, name) for name in Facts.model_fields}),
        facilities=reading.facilities,
        violations=_findings(verdict.violations),
        model=model,
        seconds=round(seconds, 3),
        notes=(reading.reason,) if reading.reason else (),
    )


def _findings(violations: Sequence[Violation]) -> tuple[Finding, ...]:
    """A finding for each contradiction: rules of one kind that the very same passages break are one, told together."""
    found: dict[tuple[object, ...], Finding] = {}
    for violation in violations:
        new = _finding(violation)
        spans = tuple((passage.start, passage.end) for passage in new.evidence)
        key = (new.clash_type, new.severity, spans) if spans and new.clash_type else (new.rule, new.message)
        known = found.get(key)
        if known is None:
            found[key] = new
        else:
            axioms = tuple(dict.fromkeys((*known.axioms, *new.axioms)))
            found[key] = known.model_copy(update={"message": f"{known.message} {new.message}", "axioms": axioms})
    return tuple(found.values())


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
        (triple.evidence.document_id, triple.evidence.start, triple.evidence.end): passage(triple.evidence)
        for triple in triples
        if triple.evidence
    }
    return tuple(found[place] for place in sorted(found))


def passage(evidence: Evidence) -> Passage:
    """Evidence as it is reported."""
    return Passage(
        quote=evidence.quote, start=evidence.start, end=evidence.end, page=evidence.page, document=evidence.document_id
    )


def report(result: Review) -> str:
    """The review as text for a person: facts, contradictions with quotes and pages, what could not be read."""
    deal = not isinstance(result.document, str)
    lines = [f"{one_line(title(result))}: {headline(result)}"]
    if result.reason:
        lines.append(f"  {one_line(result.reason)}")
    lines += result.about_documents()
    lines += [f"  remark: {one_line(note)}" for note in result.notes]
    for facility in result.facilities:
        rows = fact_rows(facility)
        lines += ["", f"  {one_line(facility.name)}", *(f"    {name:<14}{one_line(value)}" for name, value in rows)]
    lines += result.about_changes()
    for finding in result.violations:
        kind = "CONTRADICTION" if finding.severity == "clash" else "note"
        lines += ["", f"  {kind} ({finding.clash_type or finding.rule}): {one_line(finding.message)}"]
        lines += [f'    {place(passage, deal)}: "{one_line(passage.quote)}"' for passage in finding.evidence]
    return "\n".join(lines)


def title(result: Review) -> str:
    """The document, or the documents of a deal."""
    if isinstance(result.document, str):
        return result.document
    return f"Deal of {len(result.document)} document{'' if len(result.document) == 1 else 's'}"


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


def place(passage: Passage, named: bool) -> str:
    """Where a passage stands; `named` with its document."""
    where = f"page {passage.page}" if passage.page is not None else f"character {passage.start}"
    return f"{one_line(passage.document or '')}, {where}" if named else where


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
