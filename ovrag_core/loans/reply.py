"""A reply to one question: what was checked in words, the facts that were asked for, and what a person is shown of it.

An outcome says what validation found, not that the answer is right: nothing here calls an answer accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from ovrag_core.base import Document, LatencyRecord, Outcome, QueryRecord, Question, Verdict, Violation
from ovrag_core.loans.fact_answering import FactAnswerer, requested_facts, sentence
from ovrag_core.loans.grounds import grounds_of, passage
from ovrag_core.loans.loan_facts import LoanReading
from ovrag_core.loans.reading.amendments import in_new_words
from ovrag_core.loans.reading.subjects import LOAN
from ovrag_core.loans.reviewing import FIELDS, FactRow, fact_list, findings, grounds_lines, place, quote_lines, unread
from ovrag_core.loop import ARMS, NO_ANSWER, NOTHING_READ, Arm, Bench, ExtractiveAnswerer, Extractor, ask, with_identity
from ovrag_core.text import one_line

OUTCOMES: dict[Outcome, str] = {
    "accepted": "no contradiction found",
    "corrected": "no contradiction found after correction",
    "hard_rejected": "refused",
    "source_finding": "the agreement contradicts itself",
    "unchecked": "not checked",
    "error": "no answer",
}
NEAREST = "Nearest in the text, which need not answer the question:"
SHORT = 300  # characters of a quote that is shown in a reply


def ask_once(question: Question, document_id: str, arm: Arm, bench: Bench) -> tuple[QueryRecord, LatencyRecord]:
    """One question as a person asks it, outside of a run.

    As in a review, a document that is no loan agreement in English is unchecked, whatever the arm, and so is one of
    another domain in which nothing was read. Without a model, the answer is made of the facts that are read, where
    the question asks for any. Raises what `pipeline.ask` raises.
    """
    asked = bench
    if bench.thing == LOAN and isinstance(bench.answerer, ExtractiveAnswerer):
        answerer = FactAnswerer(bench.answerer, bench.documents, partial(_reviewed, bench))
        asked = replace(bench, answerer=answerer, model=bench.model.replace(bench.answerer.name, answerer.name))
    record, latency = ask(question, document_id, arm, asked)
    if record.outcome == "error":
        return record, latency
    record = record if arm.validates else with_identity(record, bench)
    if bench.thing == LOAN:
        problem = unread(_reviewed(bench, bench.documents[document_id]))
    else:
        problem = None if bench.read(document_id).value.triples else NOTHING_READ
    return (_unchecked(record, problem) if problem else record), latency


def _unchecked(record: QueryRecord, reason: str) -> QueryRecord:
    """The record with a verdict that nothing could be checked; notes on another document's details stay."""
    notes = tuple(violation for violation in _violations(record) if violation.kind == "identity")
    verdict = Verdict(status="unchecked", reason=reason, violations=notes)
    attempts = (*record.attempts[:-1], record.attempts[-1].model_copy(update={"verdict": verdict}))
    return record.model_copy(update={"attempts": attempts, "outcome": "unchecked", "cause": None})


def _violations(record: QueryRecord) -> tuple[Violation, ...]:
    verdict = record.attempts[-1].verdict
    return verdict.violations if verdict else ()


def is_validated(record: QueryRecord) -> bool:
    """Return True where validation had its say, or was to have it and failed."""
    verdict = record.attempts[-1].verdict if record.attempts else None
    if verdict is None:
        return record.outcome == "error"
    return verdict.status != "unchecked" or record.outcome == "unchecked"


def outcome_words(record: QueryRecord) -> str:
    """Say what was checked of a reply and what came of it, in a few words: `consistent with the agreement`."""
    if not is_validated(record):
        return "not validated"
    if record.outcome not in ("accepted", "corrected"):
        return OUTCOMES[record.outcome]
    if is_silent(record) or is_nearest(record):
        return "no answer was found"
    whole = {name for name, arm in ARMS.items() if arm.context == "document"}
    with_what = "the agreement" if record.arm in whole else "the retrieved passages"
    return f"consistent with {with_what}" + (" after correction" if record.outcome == "corrected" else "")


def is_silent(record: QueryRecord) -> bool:
    """Return True where the reply is that the passages hold no answer, or none was made."""
    return record.answer is None or record.answer.text.strip() == NO_ANSWER


def is_nearest(record: QueryRecord) -> bool:
    """Recognise a reply of nothing but quoted passages: those nearest to the question, be they an answer or not."""
    answer = record.answer
    return answer is not None and bool(answer.evidence) and answer.text == "\n".join(p.quote for p in answer.evidence)


def asked_facts(
    question: str, reading: LoanReading, document: Document, told: str = ""
) -> list[tuple[str, list[FactRow]]]:
    """The facts that a question asks for and the document states, with their grounds, by the name of the facility;
    those that `told` says in a sentence are left out."""
    names = requested_facts(question)
    by_facility = []
    for facility in reading.facilities:
        rows = fact_list(facility, grounds_of(facility, reading, [document]))
        asked = [row for row in rows if row.grounds and FIELDS[row.name] in names]
        if untold := [row for row in asked if sentence(facility, FIELDS[row.name]) not in told]:
            by_facility.append((facility.name, untold))
    return by_facility


def known_facts(record: QueryRecord, bench: Bench) -> list[tuple[str, list[FactRow]]]:
    """The facts that the question of a record asks for and its answer does not say in their words, as a review of the
    asked document would report them."""
    document = bench.documents[record.document_id]
    answer = record.answer.text if record.answer else ""
    return asked_facts(record.question, _reviewed(bench, document), document, answer)


def _reviewed(bench: Bench, document: Document) -> LoanReading:
    """The reading of a document that a review reports."""
    reader = cast("Extractor[LoanReading]", bench.reader or bench.extractor)  # as the workbench here makes them
    return in_new_words(document, reader.read)


def answer_text(record: QueryRecord, facts: Sequence[tuple[str, Sequence[FactRow]]] = ()) -> str:
    """A reply for a person: answer or nearest passages, what was checked, `facts` beside it, contradictions.

    Why there is no answer or no check is not in it: that is an error, which is told on stderr.
    """
    answer = record.answer
    if answer is None:
        return f"[{outcome_words(record)}]"
    passages = [passage(evidence) for evidence in answer.evidence]
    places = dict.fromkeys(place(p, True) for p in passages)
    quoted = [p for p in passages if p.quote not in answer.text and len(p.quote) <= SHORT]
    lines = [NEAREST] if is_nearest(record) else []
    lines += [answer.text, *quote_lines(quoted, False, 2), ""]
    lines.append(f"[{outcome_words(record)}; from {'; '.join(places) or 'no passage'}]")
    for name, rows in facts:
        lines += ["", f"As a review reads it ({one_line(name)}):"]
        for row in rows:
            lines += [f"  {row.name}: {one_line(row.value)}", *grounds_lines(row, False, 4)]
    return "\n".join([*lines, *_finding_lines(record)])


def _finding_lines(record: QueryRecord) -> Iterator[str]:
    """What validation found: notes on another document's details, then contradictions with their quotes."""
    violations = _violations(record)
    yield from (f"- {v.message}" for v in violations if v.kind == "identity")  # whose message quotes
    for finding in findings(v for v in violations if v.kind != "identity"):
        yield f"- {finding.message}"
        yield from quote_lines(finding.evidence, any(p.document != record.document_id for p in finding.evidence), 4)
