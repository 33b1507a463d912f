"""`ovrag check`: a file of five-field triples against the ontology, as one report."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from ovrag_core.base import Evidence, Frozen, Severity, Status, Triple, TripleError, Verdict, read_text
from ovrag_core.loop.validation import Validator
from ovrag_core.ontology import unmapped_reasons
from ovrag_core.text import one_line

FIELDS = ("sub", "pred", "obj", "sub_type", "obj_type")
_MAX_BYTES = 100_000_000


class ReportedViolation(Frozen):
    """A violation; `triples` are positions in the file, from 0, and `quotes` what those that have one quote."""

    rule: str
    clash_type: str | None
    severity: Severity
    triples: tuple[int, ...]
    axioms: tuple[str, ...]
    message: str
    quotes: tuple[str, ...] = ()


class CheckReport(Frozen):
    """Findings on a file of triples.

    `unmapped` are positions, from 0, of triples that are not, or not wholly, said in the ontology's terms, and
    `unmapped_reasons` says why of each. `triples` is how many there are.
    """

    status: Status
    reason: str | None
    violations: tuple[ReportedViolation, ...]
    unmapped: tuple[int, ...]
    seconds: float
    unmapped_reasons: dict[str, str] = Field(default_factory=dict)
    triples: int

    def to_text(self) -> str:
        """For a person: contradictions, then warnings, then what could not be mapped; positions count from 0."""
        lines = [_headline(self)]
        for title, severity in (("Contradictions", "clash"), ("Warnings", "warning")):
            chosen = [violation for violation in self.violations if violation.severity == severity]
            if chosen:
                lines += ["", f"{title}:", *(line for violation in chosen for line in _violation_lines(violation))]
        if self.unmapped:
            lines += ["", f"Not mapped ({len(self.unmapped)} of {self.triples} triples):"]
            lines += [f"- triple {position}: {reason}" for position, reason in self.unmapped_reasons.items()]
        return "\n".join(lines)


def _headline(report: CheckReport) -> str:
    if report.status == "unchecked":
        return f"unchecked: {report.reason}"
    clashes = sum(violation.severity == "clash" for violation in report.violations)
    counted = ((clashes, "contradiction"), (len(report.violations) - clashes, "warning"))
    return f"{report.status}: " + ", ".join(
        _count(*counted_noun) for counted_noun in ((report.triples, "triple"), *counted) if counted_noun[0]
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _violation_lines(violation: ReportedViolation) -> list[str]:
    where = f"triple{'' if len(violation.triples) == 1 else 's'} {', '.join(map(str, violation.triples))}"
    quotes = [f"“{one_line(quote)}”" for quote in violation.quotes]
    details = [f"    {detail}" for detail in (*quotes, *violation.axioms)]
    return [f"- {violation.message} [{violation.rule}; {where}]", *details]


def check_file(path: Path, validator: Validator) -> CheckReport:
    """The report on a JSON list or JSON Lines of triples. Raises TripleError naming file, item and field."""
    return check_triples(read_triples(path), validator)


def check_triples(triples: Sequence[Triple], validator: Validator) -> CheckReport:
    """The report on triples; `seconds` is the time of the check alone."""
    started = time.perf_counter()
    verdict = validator.check(triples, literal_names=True)
    seconds = time.perf_counter() - started
    return _report(verdict, triples, unmapped_reasons(triples, validator.ontology), seconds)


def read_triples(path: Path) -> list[Triple]:
    """Triples of a file in the published field names; `quote` becomes evidence. Raises TripleError."""
    items = _read_items(path)
    return [_triple(item, number, path) for number, item in enumerate(items)]


def _report(verdict: Verdict, triples: Sequence[Triple], reasons: dict[int, str], seconds: float) -> CheckReport:
    # Verdicts hold the very objects that were checked, which tells equal triples apart.
    position = {id(triple): index for index, triple in enumerate(triples)}
    return CheckReport(
        status=verdict.status,
        reason=verdict.reason,
        violations=tuple(
            ReportedViolation(
                rule=violation.rule,
                clash_type=violation.clash_type,
                severity=violation.severity,
                triples=tuple(sorted(position[id(triple)] for triple in violation.triples)),
                axioms=violation.axioms,
                message=violation.message,
                quotes=tuple(triple.evidence.quote for triple in violation.triples if triple.evidence),
            )
            for violation in verdict.violations
        ),
        unmapped=tuple(sorted(position[id(triple)] for triple in verdict.unmapped)),
        seconds=seconds,
        unmapped_reasons={str(index): reason for index, reason in reasons.items()},
        triples=len(triples),
    )


def _read_items(path: Path) -> list[Any]:
    if path.is_file() and path.stat().st_size > _MAX_BYTES:
        raise TripleError(f"{path} is larger than {_MAX_BYTES // 1_000_000} MB; split it")
    text = read_text(path, TripleError, "name a file of triples")
    if text.lstrip().startswith("["):
        items = _parse(text, f"{path} is not valid JSON")
    else:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        items = [_parse(line, f"line {number} of {path} is not valid JSON") for number, line in lines]
    if not items:
        raise TripleError(f"{path} holds no triples; write a JSON list, or one JSON object a line")
    assert isinstance(items, list)
    return items


def _parse(text: str, problem: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        detail = f" ({error.msg} at column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise TripleError(f"{problem}{detail}; expected objects with {', '.join(FIELDS)}") from None
    except RecursionError:
        raise TripleError(f"{problem}: it is nested too deeply; expected objects with {', '.join(FIELDS)}") from None


def _triple(item: Any, number: int, path: Path) -> Triple:
    # Counted from 0, as in the report.
    if not isinstance(item, dict):
        raise TripleError(f"triple {number} of {path} is not an object; expected {', '.join(FIELDS)}")
    for name in FIELDS:
        if name not in item:
            raise TripleError(f"triple {number} of {path} has no field {name}; each needs {', '.join(FIELDS)}")
        if not isinstance(item[name], str) and not (item[name] is None and name.endswith("_type")):
            raise TripleError(f"triple {number} of {path}: {name} must be text, not {json.dumps(item[name])[:60]}")
    quote = item.get("quote")
    if quote is not None and not isinstance(quote, str):
        raise TripleError(f"triple {number} of {path}: quote must be text, not {json.dumps(quote)[:60]}")
    # JSON can hold half of a surrogate pair; no text written again can.
    item = {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in item.items()
    }
    return Triple(
        subject=item["sub"],
        predicate=item["pred"],
        object=item["obj"],
        subject_type=item["sub_type"] or "",
        object_type=item["obj_type"] or "",
        evidence=Evidence(document_id=path.stem, start=0, end=len(quote), quote=item["quote"]) if quote else None,
    )
