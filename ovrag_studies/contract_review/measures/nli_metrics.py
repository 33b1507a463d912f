"""Measures of judged hypotheses: choices, and the evidence given for them, with intervals over documents.

The scores are those of ContractNLI (Koreeda and Manning 2021). F1 of a choice is averaged over the hypotheses that have
it. Evidence is scored by average precision over all spans of all questions that have evidence. Beside these stand F1
pooled over hypotheses, and the first three spans of each question. Pooled F1 is far higher; do not confuse the two.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
import numpy.typing as npt

from ovrag_core.evaluation import Estimate, Resampling
from ovrag_studies.contract_review.inference.nli import EvidenceSpan, JudgedHypothesis
from ovrag_studies.contract_review.measures.resampled import resample
from ovrag_studies.contract_review.texts.datasets import Choice, NliAgreement, Span

Numbers = npt.NDArray[numpy.float64]
Measures = dict[str, float]

TOP = 3
MEASURES = (
    "accuracy",
    "f1_C_by_hypothesis",
    "f1_C_pooled",
    "f1_E_by_hypothesis",
    "f1_E_pooled",
    "evidence_map",
    "evidence_ap_per_question",
    "evidence_recall@3",
)
_SCORED: tuple[tuple[str, Choice], ...] = (("C", "Contradiction"), ("E", "Entailment"))


@dataclass(frozen=True, slots=True)
class AskedHypothesis:
    """One question: the true choice, the given one, and (score, is evidence) of each span where there is evidence."""

    hypothesis: str
    true: Choice
    given: Choice | None
    spans: tuple[tuple[float, bool], ...] = ()


def asked_of(agreement: NliAgreement, judged: Sequence[JudgedHypothesis]) -> list[AskedHypothesis]:
    """The questions of one agreement beside their results; a result that is missing is a wrong one."""
    results = {j.hypothesis: j for j in judged}
    rows = []
    for truth in agreement.judgements:
        result = results.get(truth.hypothesis)
        pairs: list[tuple[float, bool]] = []
        if truth.evidence:
            scores = span_scores(agreement.spans, result.evidence if result else ())
            pairs = [(score, index in truth.evidence) for index, score in enumerate(scores)]
        rows.append(AskedHypothesis(truth.hypothesis, truth.choice, result.choice if result else None, tuple(pairs)))
    return rows


def span_scores(spans: Sequence[Span], evidence: Sequence[EvidenceSpan]) -> list[float]:
    """The best score of what covers at least half of each span, 0 where nothing does."""
    exact = {(span.start, span.end): span.score for span in reversed(evidence)}
    if len(exact) == len(evidence) and exact.keys() <= set(spans) and not _overlap(spans):
        return [exact.get(span, 0.0) for span in spans]
    return [
        max(
            (span.score for span in evidence if min(span.end, end) - max(span.start, start) >= 0.5 * (end - start)),
            default=0.0,
        )
        for start, end in spans
    ]


def _overlap(spans: Sequence[Span]) -> bool:
    ordered = sorted(spans)
    return any(later[0] < earlier[1] for earlier, later in itertools.pairwise(ordered))


def measure(rows: Sequence[AskedHypothesis]) -> Measures:
    """Every measure by its name; without questions there is none."""
    if not rows:
        return {}
    names = tuple(dict.fromkeys(row.hypothesis for row in rows))
    return dict(zip(MEASURES, (float(value) for value in _measured([_count(rows, names)])), strict=True))


@dataclass(frozen=True, slots=True)
class _Counts:
    """Counts on which the measures of some questions rest; `hits`, `wrong` and `true` are choices × hypotheses."""

    asked: int
    right: int
    hits: Numbers
    wrong: Numbers
    true: Numbers
    scores: Numbers
    relevant: npt.NDArray[numpy.bool_]
    precisions: tuple[float, ...]
    first: tuple[bool, ...]


def _count(rows: Sequence[AskedHypothesis], hypotheses: Sequence[str]) -> _Counts:
    hits, wrong, true = (numpy.zeros((len(_SCORED), len(hypotheses))) for _ in range(3))
    columns = {name: column for column, name in enumerate(hypotheses)}
    for row in rows:
        for line, (_, choice) in enumerate(_SCORED):
            hits[line, columns[row.hypothesis]] += row.true == row.given == choice
            wrong[line, columns[row.hypothesis]] += (row.true == choice) != (row.given == choice)
            true[line, columns[row.hypothesis]] += row.true == choice
    with_evidence = [row.spans for row in rows if any(is_evidence for _, is_evidence in row.spans)]
    return _Counts(
        asked=len(rows),
        right=sum(row.true == row.given for row in rows),
        hits=hits,
        wrong=wrong,
        true=true,
        scores=numpy.array([score for spans in with_evidence for score, _ in spans], dtype=float),
        relevant=numpy.array([is_evidence for spans in with_evidence for _, is_evidence in spans], dtype=bool),
        precisions=tuple(average_precision(spans) for spans in with_evidence),
        first=tuple(_among_first(spans) for spans in with_evidence),
    )


def _measured(counts: Sequence[_Counts]) -> Numbers:
    """The values of MEASURES."""
    hits, wrong, true = (sum(getattr(c, name) for c in counts) for name in ("hits", "wrong", "true"))
    single = 2 * hits / numpy.maximum(2 * hits + wrong, 1)
    total = 2 * hits.sum(axis=1) / numpy.maximum((2 * hits + wrong).sum(axis=1), 1)
    averaged = (single * (true > 0)).sum(axis=1) / numpy.maximum((true > 0).sum(axis=1), 1)
    precisions = [value for c in counts for value in c.precisions]
    top_hits = [value for c in counts for value in c.first]
    scores, relevant = (numpy.concatenate([getattr(c, name) for c in counts]) for name in ("scores", "relevant"))
    return numpy.array(
        [
            sum(c.right for c in counts) / sum(c.asked for c in counts),
            *(value for pair in zip(averaged, total, strict=True) for value in pair),
            _precision(scores, relevant),
            sum(precisions) / max(1, len(precisions)),
            sum(top_hits) / max(1, len(top_hits)),
        ]
    )


def average_precision(pairs: Sequence[tuple[float, bool]]) -> float:
    """The mean of the precisions at each relevant item, best scores first; of equal scores the irrelevant first."""
    scores = numpy.array([score for score, _ in pairs], dtype=float)
    return _precision(scores, numpy.array([is_relevant for _, is_relevant in pairs], dtype=bool))


def _precision(scores: Numbers, relevant: npt.NDArray[numpy.bool_]) -> float:
    if not relevant.any():
        return 0.0
    ordered = relevant[numpy.lexsort((relevant, -scores))]
    precisions = numpy.cumsum(ordered) / numpy.arange(1, len(ordered) + 1)
    return float(precisions[ordered].mean())


def _among_first(pairs: Sequence[tuple[float, bool]]) -> bool:
    ordered = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))
    return any(is_evidence and score > 0 for score, is_evidence in ordered[:TOP])


def estimates(by_document: Mapping[int, Sequence[AskedHypothesis]], plan: Resampling) -> dict[str, Estimate]:
    """Return each measure with the percentile interval of a bootstrap over documents.

    Averages over hypotheses and pooled rankings are no ratios of sums, so that documents are drawn and all is measured
    anew. A hypothesis that lacks a choice in a resample is left out of the average, as it is in the measure.
    """
    names = tuple(dict.fromkeys(row.hypothesis for rows in by_document.values() for row in rows))
    counts = [_count(by_document[number], names) for number in sorted(by_document)]
    if not counts:
        raise ValueError("there is no document to measure")
    return dict(zip(MEASURES, resample(counts, _measured, plan), strict=True))
