"""`ovrag check`: a file of five-field triples against the ontology, as one report."""

import time
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, Field, RootModel

from ovrag_core.base import Evidence, Frozen, Severity, Status, Triple, TripleError, parse, read_text
from ovrag_core.loop.validation import Validator
from ovrag_core.ontology import assert_triples, unmapped_reasons
from ovrag_core.text import one_line

_REMEDY = "write a JSON list, or a line each, of objects with sub, pred, obj, sub_type and obj_type"


class _Item(BaseModel):
    """A triple in the published field names; further fields are passed over."""

    sub: str
    pred: str
    obj: str
    sub_type: str | None
    obj_type: str | None
    quote: str | None = None


class _Items(RootModel[list[_Item]]):
    """A list of triples."""


class ReportedViolation(Frozen):
    """A violation; `triples` are positions in the file, from 0, and `quotes` what those that have one quote."""

    rule: str
    clash_type: str | None
    severity: Severity
    triples: tuple[int, ...]
    axioms: tuple[str, ...]
    message: str
    quotes: tuple[str, ...] = ()

    def to_lines(self) -> list[str]:
        """For a person: the message and the places, then quotes and axioms."""
        where = f"triple{'' if len(self.triples) == 1 else 's'} {', '.join(map(str, self.triples))}"
        details = (*(f"“{one_line(quote)}”" for quote in self.quotes), *self.axioms)
        return [f"- {self.message} [{self.rule}; {where}]", *(f"    {detail}" for detail in details)]


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
        """For a person: contradictions, then warnings, then what was not understood; positions count from 0."""
        clashes, warnings = ([v for v in self.violations if v.severity == severity] for severity in get_args(Severity))
        counts = {"triple": self.triples, "contradiction": len(clashes), "warning": len(warnings)}
        counted = [f"{number} {noun}{'' if number == 1 else 's'}" for noun, number in counts.items() if number]
        counted += [f"{len(self.unmapped)} not fully understood"] if self.unmapped else []
        lines = [f"{self.status}: {self.reason if self.status == 'unchecked' else ', '.join(counted)}"]
        for title, chosen in (("Contradictions", clashes), ("Warnings", warnings)):
            if chosen:
                lines += ["", f"{title}:", *(line for violation in chosen for line in violation.to_lines())]
        if self.unmapped:
            lines += ["", f"Not fully understood ({len(self.unmapped)} of {self.triples} triples):"]
            lines += [f"- triple {position}: {reason}" for position, reason in self.unmapped_reasons.items()]
        return "\n".join(lines)


def check_file(path: Path, validator: Validator) -> CheckReport:
    """The report on a JSON list or JSON Lines of triples; `seconds` is the time of the check alone.

    `unchecked` where no triple states anything in the ontology's terms. Raises TripleError naming file, item and field.
    """
    triples = read_triples(path)
    started = time.perf_counter()
    verdict = validator.check(triples, literal_names=True)
    seconds = time.perf_counter() - started
    if verdict.status == "consistent" and not assert_triples(triples, validator.ontology).facts:
        reason = f"0 of {len(triples)} triples were understood"
        verdict = verdict.model_copy(update={"status": "unchecked", "reason": reason})
    # Verdicts hold the very objects that were checked, which tells equal triples apart.
    position = {id(triple): index for index, triple in enumerate(triples)}
    return CheckReport(
        status=verdict.status,
        reason=verdict.reason,
        violations=tuple(
            ReportedViolation(
                **violation.model_dump(include={"rule", "clash_type", "severity", "axioms", "message"}),
                triples=tuple(sorted(position[id(triple)] for triple in violation.triples)),
                quotes=tuple(triple.evidence.quote for triple in violation.triples if triple.evidence),
            )
            for violation in verdict.violations
        ),
        unmapped=tuple(sorted(position[id(triple)] for triple in verdict.unmapped)),
        seconds=seconds,
        unmapped_reasons={str(index): text for index, text in unmapped_reasons(triples, validator.ontology).items()},
        triples=len(triples),
    )


def read_triples(path: Path) -> list[Triple]:
    """Triples of a file in the published field names; `quote` becomes evidence. Raises TripleError."""
    text = read_text(path, TripleError, "name a file of triples").lstrip()
    if text.startswith("["):
        items = parse(text, _Items, str(path), TripleError, _REMEDY).root
    else:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        items = [parse(line, _Item, f"{path}, line {number}", TripleError, _REMEDY) for number, line in lines]
    if not items:
        raise TripleError(f"{path} holds no triples; {_REMEDY}")
    return [_triple(item, path.stem) for item in items]


def _triple(item: _Item, document_id: str) -> Triple:
    quote = item.quote
    return Triple(
        subject=item.sub,
        predicate=item.pred,
        object=item.obj,
        subject_type=item.sub_type or "",
        object_type=item.obj_type or "",
        evidence=Evidence(document_id=document_id, start=0, end=len(quote), quote=quote) if quote else None,
    )
