"""Spans that may answer a question, and the numbers that tell whether they do: the same columns for every category."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy

from ovrag_core.text import Span
from ovrag_studies.contract_review.answering.features import KINDS, ContractReading, Numbers
from ovrag_studies.contract_review.answering.scorers import ABSENT, cuad_match, word_set
from ovrag_studies.contract_review.texts.datasets import Contract

MOST_PASSAGES = 14
MOST_SHORTS = 10


@dataclass(frozen=True, slots=True)
class SpanCandidate:
    """A span `[start, end)` that may answer; `passage` is where it lies, `short` its number among the short spans."""

    start: int
    end: int
    passage: int
    short: int | None = None


@dataclass(frozen=True, slots=True)
class Prior:
    """Facts of a category in training: share of contracts that answer it, spans in those, usual length of the spans."""

    present: float
    spans: float
    length: float


@dataclass(frozen=True)
class Scored:
    """A reading with its scores: logits of passages (n × k) and of short spans (m × k), and how like each passage is
    to clauses as one would draft them, by vectors and by words (n × k each)."""

    reading: ContractReading
    passages: Numbers
    shorts: Numbers
    likeness: Numbers
    wording: Numbers

    @cached_property
    def inside(self) -> Mapping[int, Sequence[int]]:
        """Short spans by passage."""
        inside: defaultdict[int, list[int]] = defaultdict(list)
        for number, short in enumerate(self.reading.shorts):
            inside[short.passage].append(number)
        return inside


def find_priors(contracts: Sequence[Contract], categories: Sequence[str]) -> list[Prior]:
    """A prior for each category, drawn towards a common one where contracts are few."""
    golds_of: dict[str, list[Sequence[Span]]] = {category: [] for category in categories}
    for question in (question for contract in contracts for question in contract.questions):
        if question.category in golds_of:
            golds_of[question.category].append(question.gold)
    priors = []
    for golds in golds_of.values():
        answered, lengths = sum(map(bool, golds)), [end - start for gold in golds for start, end in gold]
        present, spans = (answered + 0.6) / (len(golds) + 2), (len(lengths) + 4) / (answered + 2)
        priors.append(Prior(present, spans, float(numpy.median([*lengths, 250]))))
    return priors


def propose(given: Scored, column: int) -> list[SpanCandidate]:
    """The best passages, then the best short spans by their scores in one category; no two of the same words."""
    reading = given.reading
    candidates: list[SpanCandidate] = []
    used_words: set[frozenset[str]] = set()
    for row in _best(given.passages[:, column] + given.likeness[:, column], 2 * MOST_PASSAGES):
        start, end = reading.passages[row]
        words = word_set(reading.text[start:end])
        if words not in used_words and len(candidates) < MOST_PASSAGES:
            used_words.add(words)
            candidates.append(SpanCandidate(start, end, row))
    most = len(candidates) + MOST_SHORTS
    for row in _best(given.shorts[:, column], 8 * MOST_SHORTS):
        short = reading.shorts[row]
        words = word_set(reading.text[short.start : short.end])
        if given.shorts[row, column] > ABSENT and words and words not in used_words and len(candidates) < most:
            used_words.add(words)
            candidates.append(SpanCandidate(short.start, short.end, short.passage, row))
    return candidates


def _best(scores: Numbers, most: int) -> list[int]:
    return [int(row) for row in numpy.argsort(-scores, kind="stable")[:most]]


def describe(given: Scored, found: Sequence[SpanCandidate], column: int, prior: Prior) -> Numbers:
    """Return the features that tell whether each candidate answers (candidates × columns)."""
    scores, likeness, wording = (table[:, column] for table in (given.passages, given.likeness, given.wording))
    exact_scores = given.shorts[:, column]
    top = _top(scores)
    highest = float(exact_scores.max()) if len(exact_scores) else ABSENT
    most_like, most_worded = float(likeness.max(initial=0)), float(wording.max(initial=0))
    whole = [
        *(numpy.log(len(scores)), float((scores > 0).sum()), float((scores > -2).sum())),
        *_of_prior(prior),
        *(most_like, most_worded, highest),
        *top,
    ]
    rows = []
    ranks = {True: 0, False: 0}
    for candidate in found:
        passage = candidate.passage
        score = float(scores[passage])
        best_other = float(numpy.delete(given.passages[passage], column).max(initial=ABSENT))
        inside = [float(exact_scores[row]) for row in given.inside.get(passage, ()) if row != candidate.short]
        passage_start, passage_end = given.reading.passages[passage]
        exact, kind, is_short = ABSENT, 0, candidate.short is not None
        if candidate.short is not None:
            exact = float(exact_scores[candidate.short])
            kind = KINDS.index(given.reading.shorts[candidate.short].kind) + 1
        size = numpy.log(1 + candidate.end - candidate.start)
        rows.append(
            [
                score,
                exact,
                float(is_short),
                float(ranks[is_short]),
                score - top[0],
                float(scores[passage - 1]) if passage else ABSENT,
                float(scores[passage + 1]) if passage + 1 < len(scores) else ABSENT,
                best_other,
                score - best_other,
                exact - highest,
                max(inside, default=ABSENT),
                size,
                size - numpy.log(1 + prior.length),
                (candidate.end - candidate.start) / max(1, passage_end - passage_start),
                passage / len(scores),
                float(kind),
                float(likeness[passage]),
                float(likeness[passage]) - most_like,
                float(wording[passage]),
                float(wording[passage]) - most_worded,
                float(given.reading.text[candidate.end - 1 : candidate.end] in ".;"),
                float(given.reading.text[candidate.start : candidate.start + 1].isupper()),
                *whole,
            ]
        )
        ranks[is_short] += 1
    return numpy.array(rows, dtype=numpy.float32).reshape(len(rows), 22 + 9 + 4)


def _of_prior(prior: Prior) -> tuple[float, float, float]:
    return numpy.log(prior.present / (1 - prior.present)), prior.spans, numpy.log(prior.length)


def _top(scores: Numbers) -> list[float]:
    order = numpy.sort(scores)[::-1]
    return [float(order[rank]) if rank < len(order) else ABSENT for rank in (0, 1, 2, 4)]


def matches(text: str, candidate: SpanCandidate, category: str, gold: Sequence[Span]) -> bool:
    """Return True where a candidate answers as CUAD counts it."""
    answer = text[candidate.start : candidate.end]
    return any(cuad_match(text[start:end], answer, category) for start, end in gold)
