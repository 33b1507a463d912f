"""How well answers with spans and presence are found: CUAD's measures, the thesis's rule, risk against coverage.

AUPR and precision at a recall pool the spans of all questions, as CUAD's evaluation does (Hendrycks et al. 2021): each
gold span counts once, by the best score of an answer that matches it; an answer that matches none is wrong. Figures of
single questions are ratios of sums over contracts, with intervals that resample contracts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy
from numpy.typing import NDArray
from scipy.stats import rankdata

from ovrag_core.evaluation.statistics import Estimate, Resampling, ratio
from ovrag_studies.contract_review.answering.candidates import PARTIES
from ovrag_studies.contract_review.answering.scorers import HALF, jaccard, word_set
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers
from ovrag_studies.contract_review.texts.datasets import Contract

Rule = Literal["cuad", "thesis 0.3", "thesis 0.5"]
Curve = NDArray[numpy.float64]
Given = Mapping[tuple[str, str], CategoryAnswers]

RULES: tuple[Rule, ...] = ("cuad", "thesis 0.3", "thesis 0.5")
RECALL = 0.8
LEVELS = numpy.arange(11) / 10  # of recall, at which precision is drawn, as TREC does
PLAN = Resampling()
_THESIS_MARKS = re.compile(r"[.,;:]")


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """One question as it was answered: gold texts, answers (text, score) best first, and the presence score."""

    contract: str
    category: str
    gold: tuple[str, ...]
    answers: tuple[tuple[str, float], ...]
    present: float


@dataclass(frozen=True, slots=True)
class Spans:
    """Figures over pooled spans: gold spans, area under precision and recall, precision at 80% recall."""

    gold: int
    aupr: float
    precision_at_80: float
    most_recall: float


@dataclass(frozen=True, slots=True)
class Counts:
    """Precision, recall and F1 of one answer a question, with intervals by contract."""

    rule: Rule
    questions: int
    precision: Estimate
    recall: Estimate
    f1: Estimate


def join(contracts: Sequence[Contract], given: Given) -> list[AnsweredQuestion]:
    """Questions with what was answered; `given` is by contract and category. A question without an entry is
    unanswered, and its presence 0."""
    rows = []
    for contract in contracts:
        text = contract.document.text
        for question in contract.questions:
            answered = given.get((contract.document.id, question.category))
            found = answered.answers if answered else ()
            ordered = sorted(found, key=lambda answer: -answer.score)
            rows.append(
                AnsweredQuestion(
                    contract.document.id,
                    question.category,
                    tuple(text[start:end] for start, end in question.gold),
                    tuple((answer.text, answer.score) for answer in ordered),
                    answered.present if answered else 0.0,
                )
            )
    return rows


def cuad_match(gold: str, answer: str, category: str) -> bool:
    """CUAD's rule: half of the words in common; of parties, a span that holds the name answers too."""
    return jaccard(word_set(gold), word_set(answer)) >= HALF or (category == PARTIES and gold in answer)


def thesis_match(gold: str, answer: str, threshold: float) -> bool:
    """The thesis's rule: Jaccard above the threshold, of lower-cased words without `. , ; :`.

    Words part at blanks alone, as its code has it: a line end glues two into one.
    """
    first, second = (frozenset(_THESIS_MARKS.sub("", text).lower().split(" ")) - {""} for text in (gold, answer))
    return jaccard(first, second) > threshold


def pooled_spans(asked: Sequence[AnsweredQuestion]) -> Spans:
    """AUPR and precision at 80% recall over all spans of all questions."""
    return _spans(span_pairs(asked), sum(len(each.gold) for each in asked))


def precision_recall(asked: Sequence[AnsweredQuestion]) -> Curve:
    """Precision over pooled spans at eleven levels of recall (n × 2), the best at that recall or more.

    Two decimals: of thousands of spans some are so nearly alike that another processor ranks them the other way round.
    """
    recall, precision = _curve(span_pairs(asked), sum(len(each.gold) for each in asked)).T
    levels = LEVELS[: numpy.searchsorted(LEVELS, recall.max(), "right")] if recall.size else LEVELS[:0]
    return numpy.stack([levels, precision[numpy.searchsorted(recall, levels)].round(2)], axis=1)


def span_estimates(asked: Sequence[AnsweredQuestion], plan: Resampling = PLAN) -> tuple[Estimate, Estimate]:
    """AUPR and precision at 80% recall with percentile intervals over contracts; spans are matched once."""
    by_contract: defaultdict[str, list[AnsweredQuestion]] = defaultdict(list)
    for each in asked:
        by_contract[each.contract].append(each)
    pairs = [span_pairs(group) for group in by_contract.values()]
    totals = numpy.array([sum(len(each.gold) for each in group) for group in by_contract.values()])
    whole = _spans(numpy.concatenate(pairs) if pairs else numpy.zeros((0, 2)), int(totals.sum()))
    if len(pairs) < 2:
        return Estimate(whole.aupr, clusters=len(pairs)), Estimate(whole.precision_at_80, clusters=len(pairs))
    generator = numpy.random.default_rng(plan.seed)
    drawn = []
    for _ in range(plan.samples):
        picked = generator.integers(0, len(pairs), len(pairs))
        again = _spans(numpy.concatenate([pairs[place] for place in picked]), int(totals[picked].sum()))
        drawn.append((again.aupr, again.precision_at_80))
    tail = (1 - plan.confidence) / 2
    low, high = numpy.quantile(drawn, [tail, 1 - tail], axis=0)
    return (
        Estimate(whole.aupr, float(low[0]), float(high[0]), len(pairs), "percentile"),
        Estimate(whole.precision_at_80, float(low[1]), float(high[1]), len(pairs), "percentile"),
    )


def span_pairs(asked: Sequence[AnsweredQuestion]) -> Curve:
    """Scores of gold spans that were found (with 1) and of answers that match none (with 0), in no order (n × 2)."""
    pairs: list[tuple[float, int]] = []
    for each in asked:
        best: list[float | None] = [None] * len(each.gold)
        for text, score in each.answers:
            hit = [place for place, gold in enumerate(each.gold) if cuad_match(gold, text, each.category)]
            for place in hit:
                best[place] = max(best[place] or 0.0, score)
            if not hit:
                pairs.append((score, 0))
        pairs += [(score, 1) for score in best if score is not None]
    return numpy.array(pairs, dtype=float).reshape(-1, 2)


def _curve(pairs: Curve, total: int) -> Curve:
    if not total or not len(pairs):
        return numpy.zeros((0, 2))
    truth = numpy.cumsum(pairs[numpy.lexsort((pairs[:, 1], -pairs[:, 0])), 1])
    precision = numpy.maximum.accumulate((truth / numpy.arange(1, len(pairs) + 1))[::-1])[::-1]
    return numpy.stack([truth / total, precision], axis=1)


def _spans(pairs: Curve, total: int) -> Spans:
    recall, precision = _curve(pairs, total).T
    if not recall.size:
        return Spans(total, 0.0, 0.0, 0.0)
    steps = numpy.diff(recall, prepend=0.0)
    area = float((steps * (precision + numpy.concatenate([[1.0], precision[:-1]])) / 2).sum())
    reached = numpy.flatnonzero(recall >= RECALL)
    at = float(precision[reached[0]]) if reached.size else 0.0
    return Spans(total, area, at, float(recall[-1]))


def presence_auroc(asked: Sequence[AnsweredQuestion]) -> float | None:
    """Area under the ROC curve of presence; ties count half. None where all questions are of one kind."""
    truth = numpy.array([bool(each.gold) for each in asked])
    if not truth.any() or truth.all():
        return None
    ranks = rankdata([each.present for each in asked])
    positive, negative = int(truth.sum()), int((~truth).sum())
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * negative))


def best_answer(asked: Sequence[AnsweredQuestion], plan: Resampling = PLAN) -> Estimate:
    """How often the best answer of an answerable question has half its words in common with a gold span."""
    hits = [
        (each.contract, float(_shares_half(each.gold, each.answers[0][0]) if each.answers else False), 1.0)
        for each in asked
        if each.gold
    ]
    return _by_contract(hits, plan)


def counts(asked: Sequence[AnsweredQuestion], rule: Rule, presence: float = 0.0, plan: Resampling = PLAN) -> Counts:
    """One answer a question, the best, given where presence is at least `presence`.

    Right: it matches a gold span. A wrong answer counts against precision, and against recall where there is gold.
    """
    rows = []
    for each in asked:
        text = each.answers[0][0] if each.answers and each.present >= presence else None
        right = text is not None and any(_match(rule, gold, text, each.category) for gold in each.gold)
        rows.append((each.contract, float(right), float(text is not None), float(bool(each.gold))))
    return Counts(
        rule,
        len(rows),
        _by_contract([(contract, right, given) for contract, right, given, _ in rows], plan),
        _by_contract([(contract, right, gold) for contract, right, _, gold in rows], plan),
        _by_contract([(contract, 2 * right, given + gold) for contract, right, given, gold in rows], plan),
    )


def risk_coverage(asked: Sequence[AnsweredQuestion]) -> Curve:
    """Questions by how sure the model is, present or not: share decided, and share of those decided wrongly (n × 2).

    Sureness is the distance of presence from a half; deciding means present from a half on (El-Yaniv and Wiener 2010).
    """
    if not asked:
        return numpy.zeros((0, 2))
    present = numpy.array([each.present for each in asked])
    wrong = (present >= 0.5) != numpy.array([bool(each.gold) for each in asked])
    order = numpy.argsort(-numpy.abs(present - 0.5), kind="stable")
    numbers = numpy.arange(1, len(asked) + 1)
    return numpy.stack([numbers / len(asked), numpy.cumsum(wrong[order]) / numbers], axis=1)


def resampled(
    asked: Sequence[AnsweredQuestion],
    figure: Callable[[Sequence[AnsweredQuestion]], float | None],
    plan: Resampling = PLAN,
) -> Estimate:
    """A figure that is no ratio of sums, with its percentile bootstrap interval over contracts."""
    by_contract: defaultdict[str, list[AnsweredQuestion]] = defaultdict(list)
    for each in asked:
        by_contract[each.contract].append(each)
    groups = list(by_contract.values())
    value = figure(asked)
    if value is None or len(groups) < 2:
        return Estimate(value, clusters=len(groups))
    generator = numpy.random.default_rng(plan.seed)
    drawn = []
    for _ in range(plan.samples):
        picked = generator.integers(0, len(groups), len(groups))
        again = figure([each for group in picked for each in groups[group]])
        if again is not None:
            drawn.append(again)
    tail = (1 - plan.confidence) / 2
    low, high = (float(bound) for bound in numpy.quantile(drawn, [tail, 1 - tail]))
    return Estimate(value, low, high, len(groups), "percentile")


def _match(rule: Rule, gold: str, answer: str, category: str) -> bool:
    if rule == "cuad":
        return cuad_match(gold, answer, category)
    return thesis_match(gold, answer, float(rule.removeprefix("thesis ")))


def _shares_half(gold: Sequence[str], answer: str) -> bool:
    return any(jaccard(word_set(each), word_set(answer)) >= HALF for each in gold)


def _by_contract(rows: Sequence[tuple[str, float, float]], plan: Resampling) -> Estimate:
    top: defaultdict[str, float] = defaultdict(float)
    bottom: defaultdict[str, float] = defaultdict(float)
    for contract, above, below in rows:
        top[contract] += above
        bottom[contract] += below
    return ratio(list(top.values()), list(bottom.values()), plan)
