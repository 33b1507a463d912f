"""A whole document read and checked: facts and contradictions with quotes, as `ovrag review` reports them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from ovrag_core.base import Document, Frozen, Label, ModelError, ModelSetupError, Severity, Verdict, Violation
from ovrag_core.loans.grounds import FACTS, Grounds, Passage, grounds_of, is_stated, passage, passages_of
from ovrag_core.loans.loan_facts import Facility, Facts, LoanReading, Money, Party, Standing
from ovrag_core.loans.reading.amendments import in_new_words
from ovrag_core.loop import Checker, Extractor, assign_causes
from ovrag_core.text import one_line

MARK = '<meta name="generator" content="ovrag review">'  # by which our own pages are known
_HEAD = 4096
_JSON_REPORT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*\[?\s*\{\s*\"document\"\s*:[^{}]{0,3000}?\"label\"\s*:\s*\"(?:CLEAN|CLASH|UNCHECKED)\""
)


class Finding(Frozen):
    """A violation with the passages that show it; where the same passages break several rules of a kind, the first."""

    clash_type: str | None
    severity: Severity
    rule: str
    cause: str | None
    message: str
    axioms: tuple[str, ...]
    evidence: tuple[Passage, ...]


class ModelFact(Frozen):
    """A fact of the main facility as a model reads it: see `SecondReading`."""

    fact: str
    value: str
    standing: Standing
    by: str
    evidence: Passage

    def words(self) -> str:
        """Tell a person who read the fact."""
        where = f" (page {self.evidence.page})" if self.evidence.page is not None else ""
        otherwise = f": {one_line(self.value)}{where}"
        return {
            "same": f"read by the clause reader and by {self.by}",
            "taken": f"read by {self.by} alone",
            "instead": f"read by {self.by}; the clause reader reads otherwise{otherwise}",
            "other": f"{self.by} reads otherwise{otherwise}",
            "unsure": f"{self.by} reads otherwise, unsurely{otherwise}",
        }[self.standing]


class FactRow(NamedTuple):
    """A fact as a person is shown it; `value` is `not stated` and `grounds` None where the document does not say it.

    `second` is a model's reading of it, where one was asked and found any.
    """

    name: str
    value: str
    grounds: Grounds | None
    second: ModelFact | None = None


class Review(Frozen):
    """One object of `ovrag review --format jsonl`. UNCHECKED carries a reason and is never a pass.

    `facts_evidence` has the grounds of each of the `facts` that is stated, `facilities_evidence` those of each of the
    `facilities`, in their order. `model_facts` are what a model reads of the first of them, where one was asked.
    """

    document: str | tuple[str, ...]
    label: Label
    reason: str | None = None
    clash_types: tuple[str, ...] = ()
    facts: Facts = Facts()
    facts_evidence: dict[str, Grounds] = Field(default_factory=dict)
    facilities: tuple[Facility, ...] = ()
    facilities_evidence: tuple[dict[str, Grounds], ...] = ()
    model_facts: tuple[ModelFact, ...] = ()
    violations: tuple[Finding, ...] = ()
    model: str
    seconds: float
    notes: tuple[str, ...] = ()

    def to_json(self) -> str:
        """One line of JSON, as `ovrag review --format jsonl` prints it."""
        return self.model_dump_json()

    def about_documents(self) -> list[str]:
        """Lines of the report on the documents of a deal."""
        return []

    def about_changes(self) -> list[str]:
        """Lines of the report on what amendments changed."""
        return []


def review(document: Document, extractor: Extractor[LoanReading], validator: Checker, model: str) -> Review:
    """Read `document` whole and check what it says; of an amendment, the words that hold, not those they replace."""
    started = time.perf_counter()
    try:
        reading = in_new_words(document, extractor.read)
        problem = unread(reading)
    except ModelSetupError:  # the next document fares no better
        raise
    except ModelError as failure:
        problem = str(failure)
    if problem is not None:
        return unchecked(document.id, problem, model, time.perf_counter() - started)
    verdict = assign_causes(validator.check(reading.triples, document=document.id), document.id)
    return review_of(document.id, [document], reading, verdict, model, time.perf_counter() - started)


def unread(reading: LoanReading) -> str | None:
    """Reason why a reading says nothing of a loan; None where it does. Finding nothing is never a pass."""
    if reading.status != "loan":
        return reading.reason or reading.status
    return None if reading.triples else "nothing is stated of a loan: no party, amount, rate, date, security or purpose"


def review_each(
    loaded: Iterable[tuple[Path, Document | str]], extractor: Extractor[LoanReading], validator: Checker, model: str
) -> Iterator[tuple[Review, list[Document]]]:
    """The review of each document, with the document; of a path that could not be read, given why, with none."""
    for path, document in loaded:
        if isinstance(document, str):
            yield unchecked(str(path), document, model), []
        else:
            yield review(document, extractor, validator, model), [document]


def is_report(path: Path) -> bool:
    """Recognise a file as a report that `ovrag review` wrote, as a page or as JSON."""
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
    document: str | tuple[str, ...],
    documents: Sequence[Document],
    reading: LoanReading,
    verdict: Verdict,
    model: str,
    seconds: float,
) -> Review:
    """Join what was read and what validation says of it in one review; `document` names the `documents` read."""
    clashes = [violation for violation in verdict.violations if violation.severity == "clash"]
    labels: dict[str, Label] = {"consistent": "CLEAN", "inconsistent": "CLASH", "unchecked": "UNCHECKED"}
    main = reading.facilities[0] if reading.facilities else Facts()
    grounds = tuple(grounds_of(facility, reading, documents) for facility in reading.facilities)
    return Review(
        document=document,
        label=labels[verdict.status],
        reason=verdict.reason,
        clash_types=tuple(sorted({clash.clash_type for clash in clashes if clash.clash_type})),
        facts=Facts(**{name: getattr(main, name) for name in Facts.model_fields}),
        facts_evidence={fact: basis for fact, basis in grounds[0].items() if fact in FACTS} if grounds else {},
        facilities=reading.facilities,
        facilities_evidence=grounds,
        model_facts=tuple(ModelFact(**{**dict(fact), "evidence": passage(fact.evidence)}) for fact in reading.second),
        violations=findings(verdict.violations),
        model=model,
        seconds=round(seconds, 3),
        notes=(reading.reason,) if reading.reason else (),
    )


def findings(violations: Iterable[Violation]) -> tuple[Finding, ...]:
    """A finding for each contradiction, its passages in the order of their documents."""
    shared = set(Finding.model_fields)
    return tuple(
        Finding(**violation.model_dump(include=shared), evidence=_in_order(violation))
        for violation in contradictions(violations)
    )


def contradictions(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """Return a violation for each contradiction: rules of one kind that the very same passages break are joined."""
    joined: dict[tuple[object, ...], Violation] = {}
    for new in violations:
        passages = _in_order(new)
        joinable = passages and new.clash_type
        key = (new.clash_type, new.severity, passages) if joinable else (new.rule, new.message)
        if (old := joined.setdefault(key, new)) is not new:
            update = {
                "message": f"{old.message} {new.message}",
                "triples": tuple(dict.fromkeys((*old.triples, *new.triples))),
                "axioms": tuple(dict.fromkeys((*old.axioms, *new.axioms))),
            }
            joined[key] = old.model_copy(update=update)
    return tuple(joined.values())


def _in_order(violation: Violation) -> tuple[Passage, ...]:
    return tuple(sorted(passages_of(violation.triples), key=lambda p: (p.document or "", p.start, p.end)))


def report(result: Review) -> str:
    """The review as text for a person: facts and contradictions, each with its quotes and their places.

    Why something was not checked is not in it: that is an error, which is told on stderr.
    """
    deal = not isinstance(result.document, str)
    lines = [f"{one_line(title(result))}: {headline(result)}"]
    lines += result.about_documents()
    lines += [f"  remark: {one_line(note)}" for note in result.notes]
    for name, rows in facts_shown(result):
        lines += ["", f"  {one_line(name)}"]
        for row in rows:
            lines += [f"    {row.name:<14}{one_line(row.value)}", *grounds_lines(row, deal, 18)]
    lines += result.about_changes()
    for finding in result.violations:
        kind = "CONTRADICTION" if finding.severity == "clash" else "note"
        lines += ["", f"  {kind} ({finding.clash_type or finding.rule}): {one_line(finding.message)}"]
        lines += quote_lines(finding.evidence, deal, 4)
    return "\n".join(lines)


def quote_lines(passages: Iterable[Passage], named: bool, indent: int) -> list[str]:
    """Passages with their places, a line each; `named` with their documents."""
    return [f'{" " * indent}{place(p, named)}: "{one_line(p.quote)}"' for p in passages]


def grounds_lines(row: FactRow, named: bool, indent: int) -> list[str]:
    """List what a fact rests on: a line for each passage, what it was reckoned from where none says it, who read it."""
    lines = quote_lines(row.grounds.evidence, named, indent) if row.grounds else []
    if row.grounds and row.grounds.reckoned:
        lines.append(f"{' ' * indent}reckoned from: {row.grounds.reckoned}")
    if row.second:
        lines.append(f"{' ' * indent}{row.second.words()}")
    return lines


def title(result: Review) -> str:
    """The document, or the documents of a deal."""
    if isinstance(result.document, str):
        return result.document
    return f"Deal of {len(result.document)} document{'' if len(result.document) == 1 else 's'}"


def headline(result: Review) -> str:
    """The outcome in a few words; where hardly a fact is read, that finding nothing means little."""
    clashes = sum(finding.severity == "clash" for finding in result.violations)
    ways = "" if clashes == 1 else f" in {clashes} ways"
    words = {"UNCHECKED": "not checked", "CLEAN": "no contradiction found", "CLASH": f"contradicts itself{ways}"}
    read = max(
        (sum(is_stated(facility, field) for field in FIELDS.values()) for facility in result.facilities), default=0
    )
    few = f", but only {read} of {len(FIELDS)} facts were read" if result.label == "CLEAN" and read < FEW else ""
    return words[result.label] + few


def place(passage: Passage, named: bool) -> str:
    """Place of a passage; if `named`, with its document."""
    where = f"page {passage.page}" if passage.page is not None else f"character {passage.start}"
    return f"{one_line(passage.document or '')}, {where}" if named else where


def facts_shown(result: Review) -> list[tuple[str, list[FactRow]]]:
    """The facts of each facility with their grounds, under its name; of the first with a model's reading."""
    facilities = enumerate(zip(result.facilities, result.facilities_evidence, strict=False))
    return [
        (facility.name, fact_list(facility, grounds, () if number else result.model_facts))
        for number, (facility, grounds) in facilities
    ]


def fact_list(facts: Facts, grounds: Mapping[str, Grounds], second: Sequence[ModelFact] = ()) -> list[FactRow]:
    """Each fact as a row, with its grounds and what a model reads; `not stated` where the document does not say it."""
    read = {fact.fact: fact for fact in second}
    return [FactRow(name, _value(facts, field), grounds.get(field), read.get(field)) for name, field in FIELDS.items()]


FEW = 4  # facts of a facility, below which a review says that it read little
FIELDS = {
    "kind": "loan_types",
    "borrower": "borrower",
    "lender": "lender",
    "principal": "principal",
    "interest rate": "interest_rate",
    "maturity": "maturity",
    "security": "security",
    "collateral": "collateral",
    "credit": "credit_form",
}


def _value(facts: Facts, field: str) -> str:
    if not is_stated(facts, field):
        return "not stated"
    value = getattr(facts, field)
    if isinstance(value, Party):
        return f"{value.name} ({value.kind.replace('_', ' ') if value.kind else 'kind not stated'})"
    if isinstance(value, Money):
        return value.words()
    return ", ".join(value) if isinstance(value, tuple) else str(value)
