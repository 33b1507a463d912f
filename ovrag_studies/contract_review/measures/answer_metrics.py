"""Measures of answers with spans and presence: CUAD's measures, the thesis's rule, risk against coverage.

AUPR and precision at a recall pool the spans of all questions, as CUAD's evaluation does (Hendrycks et al. 2021). Each
gold span counts once, by the best score of an answer that matches it; an answer that matches none is wrong. Figures of
single questions are ratios of sums over contracts, with intervals that resample contracts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from ovrag_core.evaluation import Estimate, Resampling, ratio, risk
from ovrag_studies.contract_review.answering.candidates import PARTIES
from ovrag_studies.contract_review.answering.scorers import HALF, jaccard, word_set
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers
from ovrag_studies.contract_review.measures.resampled import resample
from ovrag_studies.contract_review.texts.datasets import Contract

Rule = Literal["cuad", "thesis 0.3", "thesis 0.5"]
Curve = NDArray[numpy.float64]

RULES: tuple[Rule, ...] = ("cuad", "thesis 0.3", "thesis 0.5")
RECALL = 0.8
PLAN = Resampling()
_THESIS_MARKS = re.compile(r"[.,;:]")


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """One question as it was answered: gold texts, answers (text, score) best first, and the presence score.

    `dropped` counts quotes that are not in the contract; `failed`: a model gave no usable reply.
    """

    contract: str
    category: str
    gold: tuple[str, ...]
    answers: tuple[tuple[str, float], ...]
    present: float
    dropped: int = 0
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Spans:
    """Figures over pooled spans: area under precision and recall, precision at 80% recall, the greatest recall."""

    aupr: float
    precision_at_80: float
    most_recall: float


def join(contracts: Sequence[Contract], given: Mapping[tuple[str, str], CategoryAnswers]) -> list[AnsweredQuestion]:
    """Return questions with what was answered; `given` is by contract and category.

    A question without an entry is unanswered, and its presence 0.
    """
    rows = []
    for contract in contracts:
        text, title = contract.document.text, contract.document.id
        for question in contract.questions:
            answered = given.get((title, question.category), CategoryAnswers(question.category, 0.0, ()))
            ordered = sorted(answered.answers, key=lambda answer: -answer.score)
            answers = tuple((answer.text, answer.score) for answer in ordered)
            gold = tuple(text[start:end] for start, end in question.gold)
            faults = answered.dropped, answered.error is not None
            rows.append(AnsweredQuestion(title, question.category, gold, answers, answered.present, *faults))
    return rows


def cuad_match(gold: str, answer: str, category: str) -> bool:
    """Return CUAD's rule: half of the words in common; of parties, a span that holds the name answers too."""
    return jaccard(word_set(gold), word_set(answer)) >= HALF or (category == PARTIES and gold in answer)


def thesis_match(gold: str, answer: str, threshold: float) -> bool:
    """Return the thesis's rule: Jaccard above the threshold, of lower-cased words without `. , ; :`.

    Words part at blanks alone, as its code has it: a line end glues two into one.
    """
    gold_words, answer_words = (
        frozenset(_THESIS_MARKS.sub("", text).lower().split(" ")) - {""} for text in (gold, answer)
    )
    return jaccard(gold_words, answer_words) > threshold


def pooled_spans(asked: Sequence[AnsweredQuestion]) -> Spans:
    """Return AUPR and precision at 80% recall over all spans of all questions."""
    return _spans(_span_pairs(asked), _gold_spans(asked))


def span_estimates(asked: Sequence[AnsweredQuestion], plan: Resampling = PLAN) -> tuple[Estimate, Estimate]:
    """Return AUPR and precision at 80% recall with percentile intervals over contracts; spans are matched once."""

    def measure(parts: Sequence[tuple[Curve, int]]) -> tuple[float, float]:
        pairs = numpy.concatenate([pairs for pairs, _ in parts]) if parts else numpy.zeros((0, 2))
        spans = _spans(pairs, sum(gold for _, gold in parts))
        return spans.aupr, spans.precision_at_80

    by_contract = [(_span_pairs(group), _gold_spans(group)) for group in _by_contract(asked)]
    aupr, at_80 = resample(by_contract, measure, plan)
    return aupr, at_80


def _gold_spans(asked: Sequence[AnsweredQuestion]) -> int:
    return sum(len(q.gold) for q in asked)


def _by_contract(asked: Sequence[AnsweredQuestion]) -> list[list[AnsweredQuestion]]:
    groups: defaultdict[str, list[AnsweredQuestion]] = defaultdict(list)
    for question in asked:
        groups[question.contract].append(question)
    return list(groups.values())


def _span_pairs(asked: Sequence[AnsweredQuestion]) -> Curve:
    """Scores of gold spans that were found (with 1) and of answers that match none (with 0), in no order (n × 2)."""
    pairs: list[tuple[float, int]] = []
    for question in asked:
        best: list[float | None] = [None] * len(question.gold)
        for text, score in question.answers:
            hits = [i for i, gold in enumerate(question.gold) if cuad_match(gold, text, question.category)]
            for index in hits:
                best[index] = max(best[index] or 0.0, score)
            if not hits:
                pairs.append((score, 0))
        pairs += [(score, 1) for score in best if score is not None]
    return numpy.array(pairs, dtype=float).reshape(-1, 2)


def _spans(pairs: Curve, total: int) -> Spans:
    if not total or not len(pairs):
        return Spans(0.0, 0.0, 0.0)
    truth = numpy.cumsum(pairs[numpy.lexsort((pairs[:, 1], -pairs[:, 0])), 1])
    precision = numpy.maximum.accumulate((truth / numpy.arange(1, len(pairs) + 1))[::-1])[::-1]
    recall = truth / total
    steps = numpy.diff(recall, prepend=0.0)
    area = float((steps * (precision + numpy.concatenate([[1.0], precision[:-1]])) / 2).sum())
    reached = numpy.flatnonzero(recall >= RECALL)
    return Spans(area, float(precision[reached[0]]) if reached.size else 0.0, float(recall[-1]))


def presence_auroc(asked: Sequence[AnsweredQuestion]) -> float | None:
    """Return the area under the ROC curve of presence; None where all questions are of one kind."""
    truth = [bool(q.gold) for q in asked]
    return float(roc_auc_score(truth, [q.present for q in asked])) if len(set(truth)) == 2 else None


def presence_estimate(asked: Sequence[AnsweredQuestion], plan: Resampling = PLAN) -> Estimate:
    """Return the area under the ROC curve of presence with its percentile interval over contracts."""

    def measure(groups: Sequence[Sequence[AnsweredQuestion]]) -> tuple[float]:
        value = presence_auroc([q for group in groups for q in group])
        return (numpy.nan if value is None else value,)

    return resample(_by_contract(asked), measure, plan)[0]


def best_answer(asked: Sequence[AnsweredQuestion], plan: Resampling = PLAN) -> Estimate:
    """Return how often the best answer of an answerable question has half its words in common with a gold span."""
    hits = [
        (question.contract, float(bool(question.answers) and _shares_half(question.gold, question.answers[0][0])), 1.0)
        for question in asked
        if question.gold
    ]
    return _ratio(hits, plan)


def _shares_half(gold: Sequence[str], answer: str) -> bool:
    return any(jaccard(word_set(text), word_set(answer)) >= HALF for text in gold)


def f1(asked: Sequence[AnsweredQuestion], rule: Rule, presence: float = 0.0, plan: Resampling = PLAN) -> Estimate:
    """Return F1 of one answer a question, the best, given where presence is at least `presence`.

    Right: it matches a gold span. A wrong answer counts against precision, and against recall where there is gold.
    """
    rows = []
    for question in asked:
        text = best_text(question, presence)
        right = text is not None and any(_match(rule, gold, text, question.category) for gold in question.gold)
        rows.append((question.contract, 2.0 * right, float(text is not None) + bool(question.gold)))
    return _ratio(rows, plan)


def best_text(asked: AnsweredQuestion, presence: float) -> str | None:
    """Return the text of the best answer, None where none is given or presence is below `presence`."""
    return asked.answers[0][0] if asked.answers and asked.present >= presence else None


def _match(rule: Rule, gold: str, answer: str, category: str) -> bool:
    if rule == "cuad":
        return cuad_match(gold, answer, category)
    return thesis_match(gold, answer, float(rule.removeprefix("thesis ")))


def risk_coverage(asked: Sequence[AnsweredQuestion]) -> Curve:
    """Return the share of questions decided, present or not, and of those the share decided wrongly (n × 2).

    The surest come first, by the distance of presence from a half; present is what has a half or more.
    """
    present = numpy.array([q.present for q in asked])
    wrong = (present >= 0.5) != numpy.array([bool(q.gold) for q in asked])
    curve = risk.risk_coverage(wrong.astype(float), numpy.abs(present - 0.5), len(asked))
    return numpy.stack([curve.coverage, curve.risk], axis=1)


def _ratio(rows: Sequence[tuple[str, float, float]], plan: Resampling) -> Estimate:
    """The ratio of two sums, from (contract, above, below)."""
    top: defaultdict[str, float] = defaultdict(float)
    bottom: defaultdict[str, float] = defaultdict(float)
    for contract, above, below in rows:
        top[contract] += above
        bottom[contract] += below
    return ratio(list(top.values()), list(bottom.values()), plan)
