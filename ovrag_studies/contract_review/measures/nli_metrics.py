"""Measures of judged hypotheses: choices, and the evidence given for them, with intervals over documents.

The scores are those of ContractNLI (Koreeda and Manning 2021): F1 of a choice is averaged over the hypotheses that have
it, evidence is scored by average precision over all spans of all questions that have some. F1 pooled over hypotheses
is far higher; do not confuse the two.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy
import numpy.typing as npt

from ovrag_core.evaluation import Estimate, Resampling
from ovrag_studies.contract_review.inference.nli import EvidenceSpan, JudgedHypothesis
from ovrag_studies.contract_review.measures.answer_metrics import Outcome, resample
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
_SCORED: tuple[Choice, ...] = ("Contradiction", "Entailment")


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
    overlap = any(later[0] < earlier[1] for earlier, later in itertools.pairwise(sorted(spans)))
    if len(exact) == len(evidence) and exact.keys() <= set(spans) and not overlap:
        return [exact.get(span, 0.0) for span in spans]
    covering = (
        [span.score for span in evidence if min(span.end, end) - max(span.start, start) >= 0.5 * (end - start)]
        for start, end in spans
    )
    return [max(scores, default=0.0) for scores in covering]


def measure(rows: Sequence[AskedHypothesis]) -> Measures:
    """Every measure by its name; without questions there is none."""
    if not rows:
        return {}
    names = tuple(dict.fromkeys(row.hypothesis for row in rows))
    return dict(zip(MEASURES, (float(value) for value in _measured([_count(rows, names)])), strict=True))


class _Counts(NamedTuple):
    """Counts on which the measures of some questions rest.

    `answered` are the right and all; `cells` hits, wrong and true ones × choices × hypotheses; `spans` n × 2, score and
    if it is evidence; `questions` m × 2, their average precision and if evidence is among the first spans.
    """

    answered: Numbers
    cells: Numbers
    spans: Numbers
    questions: Numbers


def _count(rows: Sequence[AskedHypothesis], hypotheses: Sequence[str]) -> _Counts:
    cells = numpy.zeros((3, len(_SCORED), len(hypotheses)))
    columns = {name: column for column, name in enumerate(hypotheses)}
    for row in rows:
        for line, choice in enumerate(_SCORED):
            hit, wrong = row.true == row.given == choice, (row.true == choice) != (row.given == choice)
            cells[:, line, columns[row.hypothesis]] += (hit, wrong, row.true == choice)
    tables = [numpy.array(row.spans, dtype=float) for row in rows if any(is_evidence for _, is_evidence in row.spans)]
    questions = [(_average_precision(table), _among_first(table)) for table in tables]
    return _Counts(
        answered=numpy.array([sum(row.true == row.given for row in rows), len(rows)]),
        cells=cells,
        spans=numpy.concatenate([numpy.zeros((0, 2)), *tables]),
        questions=numpy.array(questions, dtype=float).reshape(-1, 2),
    )


def _measured(counts: Sequence[_Counts]) -> Numbers:
    """The values of MEASURES."""
    right, answered = numpy.sum([c.answered for c in counts], axis=0)
    hits, wrong, true = numpy.sum([c.cells for c in counts], axis=0)
    single = 2 * hits / numpy.maximum(2 * hits + wrong, 1)
    total = 2 * hits.sum(axis=1) / numpy.maximum((2 * hits + wrong).sum(axis=1), 1)
    averaged = (single * (true > 0)).sum(axis=1) / numpy.maximum((true > 0).sum(axis=1), 1)
    questions = numpy.concatenate([c.questions for c in counts]).T.tolist()
    return numpy.array(
        [
            right / answered,
            *(value for pair in zip(averaged, total, strict=True) for value in pair),
            _average_precision(numpy.concatenate([c.spans for c in counts])),
            *(sum(column) / max(1, len(column)) for column in questions),
        ]
    )


def _average_precision(spans: Numbers) -> float:
    """The mean of the precisions at each relevant span, best scores first; of equal scores the irrelevant first."""
    ordered = _ranked(spans)[:, 1] > 0
    precisions = numpy.cumsum(ordered) / numpy.arange(1, len(ordered) + 1)
    return float(precisions[ordered].mean()) if ordered.any() else 0.0


def _among_first(spans: Numbers) -> bool:
    return bool((_ranked(spans)[:TOP] > 0).all(axis=1).any())


def _ranked(spans: Numbers) -> Numbers:
    return spans[numpy.lexsort((spans[:, 1], -spans[:, 0]))]


def outcome(asked: AskedHypothesis) -> Outcome:
    """Return how the choice fares; NotMentioned of what the agreement settles is silent."""
    if asked.given is None:
        return "unusable"
    if asked.given == asked.true:
        return "right"
    return "silent" if asked.given == "NotMentioned" else "wrong"


def estimates(by_document: Mapping[int, Sequence[AskedHypothesis]], plan: Resampling) -> dict[str, Estimate]:
    """Return each measure with the percentile interval of a bootstrap over documents.

    A hypothesis that lacks a choice in a resample is left out of the average, as it is in the measure.
    """
    names = tuple(dict.fromkeys(row.hypothesis for rows in by_document.values() for row in rows))
    counts = [_count(by_document[number], names) for number in sorted(by_document)]
    if not counts:
        raise ValueError("there is no document to measure")
    return dict(zip(MEASURES, resample(counts, _measured, plan), strict=True))
