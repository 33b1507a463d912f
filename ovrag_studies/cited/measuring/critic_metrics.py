"""Measures of a critic on labelled snippets: by label, by exact match, by span, and on prose that only rules.

As published: precision, recall and F1 of each label over snippets, their unweighted mean, and the share of snippets
whose labels are all right. Beside it the share of neutral snippets that are flagged at all, and F1 over the characters
of the spans where snippets have them. A label that neither is given nor found anywhere has no F1.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, Self

import numpy
import numpy.typing as npt
from pydantic import Field, model_validator

from ovrag_core.base import Frozen, ResultError, read_records
from ovrag_core.evaluation import Estimate, Resampling, ratio, wilson
from ovrag_studies.cited.critic.critic_rules import LABELS, CriticFinding, Label

Marks = npt.NDArray[numpy.float64]  # snippets × labels, 1 where a snippet has one
Findings = Sequence[Sequence[CriticFinding]]  # by snippet


class LabelledSpan(Frozen, extra="ignore", strict=True):
    """A passage that earns a label."""

    label: Label
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]


class Snippet(Frozen, extra="ignore", strict=True):
    """A piece of policy prose with its labels; none for a neutral one. `spans` where they are known."""

    snippet_id: str
    text: Annotated[str, Field(min_length=1)]
    labels: list[Label]
    spans: list[LabelledSpan] | None = None

    @model_validator(mode="after")
    def _spans_lie_in_the_text(self) -> Self:
        if any(span.end > len(self.text) or span.start >= span.end for span in self.spans or ()):
            raise ValueError("a span lies outside the text")
        return self


class CriticReport(NamedTuple):
    """Measures of a critic on a set of snippets; those of labels by label, in the order of LABELS."""

    precision: tuple[Estimate, ...]
    recall: tuple[Estimate, ...]
    f1: tuple[Estimate, ...]
    macro_f1: Estimate
    span_f1: float | None
    exact: Estimate
    neutral_flagged: Estimate


def read_snippets(folder: Path) -> list[Snippet]:
    """Return the snippets of `*/critic_snippets.jsonl` in a folder. Raises ResultError, with the line, for none."""
    paths, remedy = sorted(folder.glob("*/critic_snippets.jsonl")), "write one snippet a line"
    snippets = [snippet for path in paths for _, snippet in read_records(path, Snippet, ResultError, remedy)]
    if not snippets:
        raise ResultError(f"{folder} holds no snippets; name a folder with critic_snippets.jsonl in its folders")
    return snippets


def assess_critic(snippets: Sequence[Snippet], findings: Findings, plan: Resampling) -> CriticReport:
    """Return the report on a critic's findings; intervals resample snippets, shares have Wilson's."""
    gold = _marks(snippet.labels for snippet in snippets)
    predicted = _marks([finding.label for finding in snippet_findings] for snippet_findings in findings)
    both, total = gold * predicted, gold + predicted
    exact = (gold == predicted).all(axis=1)
    flagged = predicted[~gold.any(axis=1)].any(axis=1)
    return CriticReport(
        tuple(ratio(top, bottom, plan) for top, bottom in zip(both.T, predicted.T, strict=True)),
        tuple(ratio(top, bottom, plan) for top, bottom in zip(both.T, gold.T, strict=True)),
        tuple(ratio(2 * top, bottom, plan) for top, bottom in zip(both.T, total.T, strict=True)),
        _macro_f1(both, total, plan),
        _span_f1(snippets, findings),
        wilson(int(exact.sum()), exact.size, plan.confidence),
        wilson(int(flagged.sum()), flagged.size, plan.confidence),
    )


def _marks(labels: Iterable[Sequence[Label]]) -> Marks:
    return numpy.array([[label in snippet_labels for label in LABELS] for snippet_labels in labels], dtype=float)


def _macro_f1(both: Marks, total: Marks, plan: Resampling) -> Estimate:
    """Return macro F1 with percentiles of resamples of snippets; a label without a trace in one is left out of it."""
    drawn = numpy.random.default_rng(plan.seed).integers(0, len(both), (plan.samples, len(both)))
    values = [_mean_f1(2 * both[rows].sum(axis=0), total[rows].sum(axis=0)) for rows in drawn]
    tail = (1 - plan.confidence) / 2
    low, high = numpy.nanquantile(values, [tail, 1 - tail]).tolist()
    return Estimate(_mean_f1(2 * both.sum(axis=0), total.sum(axis=0)), low, high, len(both), "percentile")


def _mean_f1(right: Marks, total: Marks) -> float:
    present = total > 0
    return float((right[present] / total[present]).mean()) if present.any() else float("nan")


def _span_f1(snippets: Sequence[Snippet], findings: Findings) -> float | None:
    """Return the mean F1 of labels over the characters of spans; None where no snippet has any."""
    predicted, gold = set[tuple[Label, int, int]](), set[tuple[Label, int, int]]()
    for row, (snippet, snippet_findings) in enumerate(zip(snippets, findings, strict=True)):
        if snippet.spans is not None:
            predicted |= {(s.label, row, offset) for s in snippet_findings for offset in range(s.start, s.end)}
            gold |= {(s.label, row, offset) for s in snippet.spans for offset in range(s.start, s.end)}
    both, of_each = Counter(label for label, *_ in predicted & gold), Counter(x[0] for x in [*predicted, *gold])
    right, total = (numpy.array([float(counts[label]) for label in LABELS]) for counts in (both, of_each))
    return _mean_f1(2 * right, total) if total.any() else None
