"""Measures of answers with spans and presence: CUAD's measures, the thesis's rule, risk against coverage.

AUPR and precision at a recall pool the spans of all questions (Hendrycks et al. 2021): each gold span counts once, by
the best score of an answer that matches it; an answer that matches none is wrong. Intervals resample contracts.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from ovrag_core.evaluation import Estimate, Resampling, ratio, risk, sums
from ovrag_studies.contract_review.answering.scorers import HALF, cuad_match, jaccard, word_set
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers
from ovrag_studies.contract_review.texts.datasets import Contract

T = TypeVar("T")
Measure: TypeAlias = Callable[[Sequence[T]], Iterable[float | None]]  # None as NaN: not defined
Rule = Literal["cuad", "thesis 0.3", "thesis 0.5"]
Outcome = Literal["right", "wrong", "silent", "unusable"]  # of a question of the checklist, or of a hypothesis
Curve = NDArray[numpy.float64]

RULES: tuple[Rule, ...] = get_args(Rule)
RECALL = 0.8
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


def join(contracts: Sequence[Contract], given: Mapping[tuple[str, str], CategoryAnswers]) -> list[AnsweredQuestion]:
    """Return questions with what was answered, `given` by contract and category; else nothing, with presence 0."""
    rows = []
    for document, question in ((c.document, question) for c in contracts for question in c.questions):
        key = document.id, question.category
        answered = given.get(key, CategoryAnswers(question.category, 0.0, ()))
        answers = tuple((answer.text, answer.score) for answer in answered.answers)
        gold = tuple(document.text[start:end] for start, end in question.gold)
        faults = answered.dropped, answered.error is not None
        rows.append(AnsweredQuestion(*key, gold, answers, answered.present, *faults))
    return rows


def thesis_match(gold: str, answer: str, threshold: float) -> bool:
    """Return the thesis's rule: Jaccard of lower-cased words without `. , ; :`, parted at blanks alone as it has it."""
    gold_words, answer_words = (
        frozenset(_THESIS_MARKS.sub("", text).lower().split(" ")) - {""} for text in (gold, answer)
    )
    return jaccard(gold_words, answer_words) > threshold


def span_estimates(asked: Sequence[AnsweredQuestion], plan: Resampling) -> tuple[Estimate, Estimate]:
    """Return AUPR and precision at 80% recall with percentile intervals over contracts; spans are matched once."""
    aupr, at_80 = resample([_span_pairs(group) for group in _by_contract(asked)], _spans, plan)
    return aupr, at_80


def _by_contract(asked: Sequence[AnsweredQuestion]) -> list[list[AnsweredQuestion]]:
    groups: defaultdict[str, list[AnsweredQuestion]] = defaultdict(list)
    for question in asked:
        groups[question.contract].append(question)
    return list(groups.values())


def _span_pairs(asked: Sequence[AnsweredQuestion]) -> tuple[Curve, int]:
    """Scores of gold spans that were found (with 1) and of answers that match none (with 0), n × 2; all gold spans."""
    pairs: list[tuple[float, int]] = []
    for question in asked:
        scores = [score for _, score in question.answers]
        hits = [[cuad_match(gold, text, question.category) for gold in question.gold] for text, _ in question.answers]
        pairs += [(score, 0) for score, found in zip(scores, hits, strict=True) if not any(found)]
        pairs += [(max(compress(scores, found)), 1) for found in zip(*hits, strict=True) if any(found)]
    return numpy.array(pairs, dtype=float).reshape(-1, 2), sum(len(q.gold) for q in asked)


def _spans(parts: Sequence[tuple[Curve, int]]) -> tuple[float, float]:
    """Area under precision and recall over pooled spans, and precision at 80% recall."""
    pairs = numpy.concatenate([numpy.zeros((0, 2)), *(pairs for pairs, _ in parts)])
    total = sum(gold for _, gold in parts)
    if not total or not len(pairs):
        return 0.0, 0.0
    truth = numpy.cumsum(pairs[numpy.lexsort((pairs[:, 1], -pairs[:, 0])), 1])
    precision = numpy.maximum.accumulate((truth / numpy.arange(1, len(pairs) + 1))[::-1])[::-1]
    recall = truth / total
    steps = numpy.diff(recall, prepend=0.0)
    area = float((steps * (precision + numpy.concatenate([[1.0], precision[:-1]])) / 2).sum())
    reached = numpy.flatnonzero(recall >= RECALL)
    return area, float(precision[reached[0]]) if reached.size else 0.0


def presence_auroc(asked: Sequence[AnsweredQuestion]) -> float | None:
    """Return the area under the ROC curve of presence; None where all questions are of one kind."""
    truth = [bool(q.gold) for q in asked]
    return float(roc_auc_score(truth, [q.present for q in asked])) if len(set(truth)) == 2 else None


def presence_estimate(asked: Sequence[AnsweredQuestion], plan: Resampling) -> Estimate:
    """Return the area under the ROC curve of presence with its percentile interval over contracts."""
    return resample(_by_contract(asked), lambda groups: [presence_auroc(list(chain(*groups)))], plan)[0]


def best_answer(asked: Sequence[AnsweredQuestion], plan: Resampling) -> Estimate:
    """Return how often the best answer of an answerable question has half its words in common with a gold span."""
    answerable = [question for question in asked if question.gold]
    contracts, hits = [question.contract for question in answerable], []
    for question in answerable:
        words = word_set(question.answers[0][0]) if question.answers else frozenset()
        hits.append(float(any(jaccard(word_set(text), words) >= HALF for text in question.gold)))
    return ratio(sums(hits, contracts), sums([1.0] * len(hits), contracts), plan)


def f1(asked: Sequence[AnsweredQuestion], rule: Rule, presence: float, plan: Resampling) -> Estimate:
    """Return F1 of one answer a question, the best, given where presence is at least `presence`.

    Right: it matches a gold span. A wrong answer counts against precision, and against recall where there is gold.
    """
    return ratio(*f1_sums(asked, rule, presence), plan)


def f1_sums(asked: Sequence[AnsweredQuestion], rule: Rule, presence: float) -> tuple[list[float], list[float]]:
    """Return what F1 divides, by contract: two for each right answer, by one for each answer and each gold question."""
    top, bottom = [], []
    for question in asked:
        text = best_text(question, presence)
        right = text is not None and _is_right(question, text, rule)
        top.append(2.0 * right)
        bottom.append(float(text is not None) + bool(question.gold))
    contracts = [question.contract for question in asked]
    return sums(top, contracts), sums(bottom, contracts)


def measures(asked: Sequence[AnsweredQuestion], plan: Resampling) -> dict[str, Estimate]:
    """Return every measure by its name; F1 counts the best answer of a question whose presence is a half or more."""
    aupr, at_80 = span_estimates(asked, plan)
    measured = {"presence_auroc": presence_estimate(asked, plan), "aupr": aupr, "p_at_80_recall": at_80}
    measured["best_answer_hit"] = best_answer(asked, plan)
    return measured | {f"f1 {rule}": f1(asked, rule, 0.5, plan) for rule in RULES}


def best_text(asked: AnsweredQuestion, presence: float) -> str | None:
    """Return the text of the best answer, None where none is given or presence is below `presence`."""
    return asked.answers[0][0] if asked.answers and asked.present >= presence else None


def _is_right(asked: AnsweredQuestion, text: str, rule: Rule) -> bool:
    if rule == "cuad":
        return any(cuad_match(gold, text, asked.category) for gold in asked.gold)
    return any(thesis_match(gold, text, float(rule.removeprefix("thesis "))) for gold in asked.gold)


def risk_coverage(asked: Sequence[AnsweredQuestion]) -> Curve:
    """Return the share of questions decided, present or not, and of those the share decided wrongly (n × 2).

    The surest come first, by the distance of presence from a half; present is what has a half or more.
    """
    present = numpy.array([q.present for q in asked])
    wrong = (present >= 0.5) != numpy.array([bool(q.gold) for q in asked])
    curve = risk.risk_coverage(wrong.astype(float), numpy.abs(present - 0.5), len(asked))
    return numpy.stack([curve.coverage, curve.risk], axis=1)


def outcome(asked: AnsweredQuestion) -> Outcome:
    """Return how the best answer fares by CUAD's rule, given from a presence of a half; none is right without gold."""
    if asked.failed:
        return "unusable"
    if (text := best_text(asked, 0.5)) is None:
        return "silent" if asked.gold else "right"
    return "right" if _is_right(asked, text, "cuad") else "wrong"


def resample(parts: Sequence[T], measure: Measure[T], plan: Resampling) -> list[Estimate]:
    """Return each figure of `measure` with its percentile bootstrap interval over `parts`; NaN is not defined.

    For figures that are no ratios of sums: parts, one a contract or agreement, are drawn, and all is measured anew.
    """
    figures = numpy.array(tuple(measure(parts)), dtype=float)
    values = [None if numpy.isnan(figure) else float(figure) for figure in figures]
    if len(parts) < 2:
        return [Estimate(value, clusters=len(parts)) for value in values]
    chance = numpy.random.default_rng(plan.seed)
    draws = (chance.integers(0, len(parts), len(parts)) for _ in range(plan.samples))
    drawn = numpy.array([tuple(measure([parts[row] for row in draw])) for draw in draws], dtype=float)
    tail = (1 - plan.confidence) / 2
    bounds = numpy.nanquantile(drawn, [tail, 1 - tail], axis=0).T.tolist()
    return [
        Estimate(None, clusters=len(parts)) if value is None else Estimate(value, low, high, len(parts), "percentile")
        for value, (low, high) in zip(values, bounds, strict=True)
    ]
