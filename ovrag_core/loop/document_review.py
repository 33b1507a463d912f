"""A document of any domain read and checked: what it states, with quotes, and what of that cannot be true together."""

from __future__ import annotations

import time

from ovrag_core.base import (
    Document,
    Evidence,
    Frozen,
    Label,
    ModelError,
    ModelSetupError,
    Reading,
    Severity,
    Triple,
)
from ovrag_core.loop.pipeline import Checker, Extractor
from ovrag_core.text import one_line

NOTHING_READ = "nothing was read in it that the ontology speaks of"
LABELS: dict[str, Label] = {"consistent": "CLEAN", "inconsistent": "CLASH", "unchecked": "UNCHECKED"}


class Stated(Frozen):
    """A statement in the ontology's words, with the passage that it was read from."""

    subject: str
    predicate: str
    object: str
    kind: str
    evidence: Evidence | None


class Contradiction(Frozen):
    """A violation with the passages that show it."""

    rule: str
    clash_type: str | None
    severity: Severity
    message: str
    axioms: tuple[str, ...]
    evidence: tuple[Evidence, ...]


class DocumentReview(Frozen):
    """Findings on one document; UNCHECKED carries a reason and is never a pass."""

    document: str
    label: Label
    reason: str | None = None
    stated: tuple[Stated, ...] = ()
    violations: tuple[Contradiction, ...] = ()
    model: str
    seconds: float

    def to_text(self) -> str:
        """For a person: what is stated, then what contradicts, each with its quotes."""
        headlines = {"CLEAN": "no contradiction found", "CLASH": "contradicts itself", "UNCHECKED": "not checked"}
        lines = [f"{one_line(self.document)}: {headlines[self.label]}"]
        for statement in self.stated:
            relation = "is a" if statement.predicate == "rdf:type" else statement.predicate
            kind = f" ({statement.kind})" if statement.kind else ""
            lines.append(f"  {one_line(statement.subject)} {relation} {one_line(statement.object)}{kind}")
            lines += [f"    {_quoted(statement.evidence)}"] if statement.evidence else []
        for violation in self.violations:
            sign = "CONTRADICTION" if violation.severity == "clash" else "note"
            lines += ["", f"  {sign} ({violation.clash_type or violation.rule}): {one_line(violation.message)}"]
            lines += [f"    {_quoted(evidence)}" for evidence in violation.evidence]
        return "\n".join(lines)


def review_document(document: Document, reader: Extractor[Reading], validator: Checker, model: str) -> DocumentReview:
    """Read a document whole and check what it states. Raises ModelSetupError where no document could be read."""
    started = time.perf_counter()

    def result(label: Label, reason: str | None = None, **more: object) -> DocumentReview:
        seconds = round(time.perf_counter() - started, 3)
        fields = {"document": document.id, "label": label, "reason": reason, "model": model, "seconds": seconds}
        return DocumentReview.model_validate({**fields, **more})

    try:
        triples = reader.read(document).triples
    except ModelSetupError:  # the next document fares no better
        raise
    except ModelError as failure:
        return result("UNCHECKED", str(failure))
    if not triples:
        return result("UNCHECKED", NOTHING_READ)
    verdict = validator.check(triples, document=document.id)
    violations = tuple(
        Contradiction(
            rule=violation.rule,
            clash_type=violation.clash_type,
            severity=violation.severity,
            message=violation.message,
            axioms=violation.axioms,
            evidence=tuple(dict.fromkeys(triple.evidence for triple in violation.triples if triple.evidence)),
        )
        for violation in verdict.violations
    )
    stated = tuple(_stated(triple) for triple in triples)
    return result(LABELS[verdict.status], verdict.reason, stated=stated, violations=violations)


def _stated(triple: Triple) -> Stated:
    kind = triple.object_type if triple.predicate != "rdf:type" else ""
    return Stated(
        subject=triple.subject, predicate=triple.predicate, object=triple.object, kind=kind, evidence=triple.evidence
    )


def _quoted(evidence: Evidence) -> str:
    where = f"page {evidence.page}" if evidence.page is not None else f"character {evidence.start}"
    return f'{where}: "{one_line(evidence.quote)}"'
