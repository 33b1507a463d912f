"""Measures of judged hypotheses: choices, and the evidence given for them, with intervals over documents.

The scores are those of ContractNLI (Koreeda and Manning 2021): F1 of a choice is averaged over the hypotheses that have
it, evidence is scored by average precision over all spans of all questions that have some. F1 pooled over hypotheses
is far higher; do not confuse the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ovrag_core.evaluation import Estimate, Resampling
from ovrag_studies.contract_review.inference.nli import EvidenceSpan, JudgedHypothesis
from ovrag_studies.contract_review.inference.nli_learned import CHOICES
from ovrag_studies.contract_review.measures.answer_metrics import Outcome, resample
from ovrag_studies.contract_review.texts.datasets import Choice, NliAgreement, Span

Numbers = NDArray[numpy.float64]

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
        result = results.get(truth.hypothesis) or JudgedHypothesis(truth.hypothesis, None, {}, ())
        scores = span_scores(agreement.spans, result.evidence) if truth.evidence else []
        pairs = tuple((score, index in truth.evidence) for index, score in enumerate(scores))
        rows.append(AskedHypothesis(truth.hypothesis, truth.choice, result.choice, pairs))
    return rows


def span_scores(spans: Sequence[Span], evidence: Sequence[EvidenceSpan]) -> list[float]:
    """The best score of what covers at least half of each span, 0 where nothing does."""
    first, last, scores = numpy.array([(e.start, e.end, e.score) for e in evidence]).reshape(-1, 3).T
    starts, ends = numpy.array(spans).reshape(-1, 2, 1).swapaxes(0, 1)
    covered = numpy.minimum(last, ends) - numpy.maximum(first, starts) >= 0.5 * (ends - starts)
    best: list[float] = numpy.where(covered, scores, 0.0).max(axis=1, initial=0.0).tolist()
    return best


class _Counts(NamedTuple):
    """What the measures of some questions rest on.

    `choices` are n × 3: the number of the hypothesis, and the places in CHOICES of the true choice and of the given
    one, -1 for none. `spans` are m × 2, score and if it is evidence; `questions`, of those with evidence, × 2, average
    precision and if evidence is among the first spans.
    """

    choices: NDArray[numpy.intp]
    spans: Numbers
    questions: Numbers


def _count(rows: Sequence[AskedHypothesis], hypotheses: Sequence[str]) -> _Counts:
    tables = [numpy.array(row.spans, dtype=float) for row in rows if any(is_evidence for _, is_evidence in row.spans)]
    questions = [(_average_precision(table), (_ranked(table)[:TOP] > 0).all(axis=1).any()) for table in tables]
    places: dict[Choice | None, int] = {choice: place for place, choice in enumerate(CHOICES)}
    choices = [(hypotheses.index(row.hypothesis), places[row.true], places.get(row.given, -1)) for row in rows]
    return _Counts(
        numpy.array(choices, dtype=numpy.intp).reshape(-1, 3),
        numpy.concatenate([numpy.zeros((0, 2)), *tables]),
        numpy.array(questions, dtype=float).reshape(-1, 2),
    )


def _measured(counts: Sequence[_Counts], hypotheses: int) -> Numbers:
    """The values of MEASURES."""
    column, true, given = numpy.concatenate([c.choices for c in counts]).T
    measured = [(true == given).mean()]
    for place in (CHOICES.index("Contradiction"), CHOICES.index("Entailment")):
        hits, trues, givens = (
            numpy.bincount(column[rows], minlength=hypotheses)
            for rows in ((true == place) & (given == place), true == place, given == place)
        )
        single = 2 * hits / numpy.maximum(trues + givens, 1)
        measured += [(single * (trues > 0)).sum() / max((trues > 0).sum(), 1)]
        measured += [2 * hits.sum() / max((trues + givens).sum(), 1)]
    measured.append(_average_precision(numpy.concatenate([c.spans for c in counts])))
    questions = numpy.concatenate([c.questions for c in counts])
    return numpy.array([*measured, *(sum(values) / max(1, len(values)) for values in questions.T.tolist())])


def _average_precision(spans: Numbers) -> float:
    """The mean of the precisions at each relevant span, best scores first; of equal scores the irrelevant first."""
    ordered = _ranked(spans)[:, 1] > 0
    precisions = numpy.cumsum(ordered) / numpy.arange(1, len(ordered) + 1)
    return float(precisions[ordered].mean()) if ordered.any() else 0.0


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
    """Return each measure with its percentile interval over documents; averages leave out hypotheses without it."""
    names = tuple(dict.fromkeys(row.hypothesis for rows in by_document.values() for row in rows))
    counts = [_count(by_document[number], names) for number in sorted(by_document)]
    if not counts:
        raise ValueError("there is no document to measure")
    return dict(zip(MEASURES, resample(counts, partial(_measured, hypotheses=len(names)), plan), strict=True))
