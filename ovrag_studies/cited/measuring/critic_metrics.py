"""How well a critic does on labelled snippets: by label, by exact match, by span, and on prose that only rules.

As published: precision, recall and F1 of each label over snippets, their unweighted mean, and the share of snippets
whose labels are all right. Beside it the share of neutral snippets that are flagged at all, and F1 over the characters
of the spans where snippets have them. A label that neither is given nor found anywhere has no F1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ovrag_core.base.errors import ResultError
from ovrag_core.evaluation.statistics import Estimate, Resampling, wilson
from ovrag_core.text.lines import one_line
from ovrag_studies.cited.critic.critic_rules import LABELS, CriticFinding, Label


class LabelledSpan(BaseModel):
    """A passage that earns a label."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    label: Label
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]


class Snippet(BaseModel):
    """A piece of policy prose with its labels; none for a neutral one. `spans` where they are known."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    snippet_id: str
    text: Annotated[str, Field(min_length=1)]
    labels: list[Label]
    spans: list[LabelledSpan] | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts and rates of one label."""

    right: int
    found: int
    given: int

    @property
    def precision(self) -> float | None:
        """Right of those found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Right of those given."""
        return self.right / self.given if self.given else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean, as 2 right / (found + given)."""
        return 2 * self.right / (self.found + self.given) if self.found + self.given else None


@dataclass(frozen=True, slots=True)
class CriticReport:
    """What a critic is worth on a set of snippets."""

    snippets: int
    labels: dict[Label, Scores]
    spans: dict[Label, Scores]  # in characters, over snippets with spans
    macro_f1: float | None
    span_f1: float | None
    exact: Estimate
    neutral_flagged: Estimate


def read_snippets(folder: Path) -> list[Snippet]:
    """The snippets below a folder (`*/critic_snippets.jsonl`), by name of folder.

    Raises ResultError, with file and line, where there is none or one does not have its form.
    """
    snippets: list[Snippet] = []
    for path in sorted(folder.glob("*/critic_snippets.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                snippet = Snippet.model_validate(json.loads(line))
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                where = ".".join(str(part) for part in first["loc"])
                raise ResultError(f"{path}, line {number}: {where}: {one_line(first['msg'])}") from None
            except ValueError:
                raise ResultError(f"{path}, line {number}: no JSON object; write one snippet a line") from None
            if any(span.end > len(snippet.text) or span.start >= span.end for span in snippet.spans or ()):
                raise ResultError(f"{path}, line {number}: a span lies outside the text")
            snippets.append(snippet)
    if not snippets:
        raise ResultError(f"{folder} holds no snippets; name a folder with critic_snippets.jsonl in its folders")
    return snippets


def assess(
    snippets: Sequence[Snippet], critic: Callable[[str], Sequence[CriticFinding]], plan: Resampling | None = None
) -> CriticReport:
    """The report of a critic on snippets; intervals are Wilson's, each snippet one trial."""
    confidence = (plan or Resampling()).confidence
    found = [critic(snippet.text) for snippet in snippets]
    said = [frozenset(finding.label for finding in findings) for findings in found]
    labels = {label: _of_label(label, snippets, said) for label in LABELS}
    spans = {label: _of_spans(label, snippets, found) for label in LABELS}
    neutral = [bool(each) for snippet, each in zip(snippets, said, strict=True) if not snippet.labels]
    exact = sum(set(snippet.labels) == each for snippet, each in zip(snippets, said, strict=True))
    return CriticReport(
        snippets=len(snippets),
        labels=labels,
        spans=spans,
        macro_f1=_mean(labels),
        span_f1=_mean(spans),
        exact=wilson(exact, len(snippets), confidence) if snippets else Estimate(None),
        neutral_flagged=wilson(sum(neutral), len(neutral), confidence) if neutral else Estimate(None),
    )


def _of_label(label: Label, snippets: Sequence[Snippet], said: Sequence[frozenset[Label]]) -> Scores:
    return Scores(
        sum(label in snippet.labels and label in each for snippet, each in zip(snippets, said, strict=True)),
        sum(label in each for each in said),
        sum(label in snippet.labels for snippet in snippets),
    )


def _of_spans(label: Label, snippets: Sequence[Snippet], found: Sequence[Sequence[CriticFinding]]) -> Scores:
    right = marked = given = 0
    for snippet, findings in zip(snippets, found, strict=True):
        if snippet.spans is None:
            continue
        one = _characters((each.start, each.end) for each in findings if each.label == label)
        other = _characters((each.start, each.end) for each in snippet.spans if each.label == label)
        right, marked, given = right + len(one & other), marked + len(one), given + len(other)
    return Scores(right, marked, given)


def _characters(spans: Iterable[tuple[int, int]]) -> set[int]:
    return {at for start, end in spans for at in range(start, end)}


def _mean(scores: dict[Label, Scores]) -> float | None:
    defined = [each.f1 for each in scores.values() if each.f1 is not None]
    return fmean(defined) if defined else None
