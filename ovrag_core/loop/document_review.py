"""A document of any domain read and checked: what it states, with quotes, and what of that cannot be true together."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

from ovrag_core.base import Document, Evidence, Frozen, Label, ModelError, ModelSetupError, Reading, Severity
from ovrag_core.loop.pipeline import Extractor
from ovrag_core.loop.validation import Validator
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
            lines += _quotes([statement.evidence] if statement.evidence else [])
        for violation in self.violations:
            sign = "CONTRADICTION" if violation.severity == "clash" else "note"
            lines += ["", f"  {sign} ({violation.clash_type or violation.rule}): {one_line(violation.message)}"]
            lines += _quotes(violation.evidence)
        return "\n".join(lines)


def review_document(document: Document, reader: Extractor[Reading], validator: Validator, model: str) -> DocumentReview:
    """Read a document whole and check what it states. Raises ModelSetupError where no document could be read."""
    started = time.perf_counter()

    def result(label: Label, reason: str | None, **more: Any) -> DocumentReview:
        seconds = round(time.perf_counter() - started, 3)
        return DocumentReview(document=document.id, label=label, reason=reason, model=model, seconds=seconds, **more)

    try:
        triples = reader.read(document).triples
    except ModelSetupError:  # the next document fares no better
        raise
    except ModelError as failure:
        return result("UNCHECKED", str(failure))
    verdict = validator.check(triples, document=document.id)
    if len(verdict.unmapped) == len(triples) and not verdict.violations:
        return result("UNCHECKED", NOTHING_READ)
    stated = [
        Stated(
            **triple.model_dump(include={"subject", "predicate", "object"}),
            kind=triple.object_type if triple.predicate != "rdf:type" else "",
            evidence=triple.evidence,
        )
        for triple in triples
    ]
    violations = [
        Contradiction(
            **violation.model_dump(include={"rule", "clash_type", "severity", "message", "axioms"}),
            evidence=tuple(dict.fromkeys(triple.evidence for triple in violation.triples if triple.evidence)),
        )
        for violation in verdict.violations
    ]
    return result(LABELS[verdict.status], verdict.reason, stated=stated, violations=violations)


def _quotes(passages: Iterable[Evidence]) -> Iterator[str]:
    for evidence in passages:
        where = f"page {evidence.page}" if evidence.page is not None else f"character {evidence.start}"
        yield f'    {where}: "{one_line(evidence.quote)}"'
