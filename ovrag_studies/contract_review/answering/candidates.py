"""Spans that may answer a question, and the numbers that tell whether they do: the same columns for every category."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy
from numpy.typing import NDArray

from ovrag_core.text import Span
from ovrag_studies.contract_review.answering.features import KINDS, ContractReading, Numbers
from ovrag_studies.contract_review.answering.scorers import ABSENT, cuad_match, word_set
from ovrag_studies.contract_review.texts.datasets import Contract

Exact = NDArray[numpy.float64]

MOST_PASSAGES = 14
MOST_SHORTS = 10


@dataclass(frozen=True, slots=True)
class SpanCandidate:
    """A span `[start, end)` that may answer; `passage` is where it lies, `short` its number among the short spans."""

    start: int
    end: int
    passage: int
    short: int | None = None


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


def find_priors(contracts: Sequence[Contract], categories: Sequence[str]) -> Exact:
    """Share of contracts that answer a category, spans in those, their usual length (k × 3), drawn to common values."""
    questions = [question for contract in contracts for question in contract.questions]
    priors = []
    for category in categories:
        golds = [question.gold for question in questions if question.category == category]
        answered, lengths = sum(map(bool, golds)), [end - start for gold in golds for start, end in gold]
        share = (answered + 0.6) / (len(golds) + 2)
        priors.append((share, (len(lengths) + 4) / (answered + 2), float(numpy.median([*lengths, 250]))))
    return numpy.array(priors)


def propose(given: Scored, column: int) -> list[SpanCandidate]:
    """The best passages, then the best short spans by their scores in one category; no two of the same words."""
    reading = given.reading
    best_passages = _best(given.passages[:, column] + given.likeness[:, column], 2 * MOST_PASSAGES)
    best_shorts = [row for row in _best(given.shorts[:, column], 8 * MOST_SHORTS) if given.shorts[row, column] > ABSENT]
    passages = [SpanCandidate(*reading.passages[row], row) for row in best_passages]
    shorts = [SpanCandidate(s.start, s.end, s.passage, row) for row in best_shorts for s in [reading.shorts[row]]]
    candidates: dict[frozenset[str], SpanCandidate] = {}
    for proposed, most in ((passages, MOST_PASSAGES), (shorts, MOST_SHORTS)):
        limit = len(candidates) + most
        for candidate in proposed:
            words = word_set(reading.text[candidate.start : candidate.end])
            if len(candidates) < limit and (words or candidate.short is None):
                candidates.setdefault(words, candidate)
    return list(candidates.values())


def _best(scores: Numbers, most: int) -> list[int]:
    return [int(row) for row in numpy.argsort(-scores, kind="stable")[:most]]


def describe(given: Scored, found: Sequence[SpanCandidate], column: int, prior: Exact) -> Numbers:
    """Return the features that tell whether each candidate answers (candidates × columns); `prior` of the category."""
    reading, text = given.reading, given.reading.text
    scores, likeness, wording, shorts = (
        table[:, column].astype(numpy.float64)
        for table in (given.passages, given.likeness, given.wording, given.shorts)
    )
    top = [*numpy.sort(scores)[::-1], *[ABSENT] * 5]
    most_like, most_worded = likeness.max(initial=0), wording.max(initial=0)
    highest = shorts.max() if len(shorts) else ABSENT
    present, spans, usual_length = prior

    starts, ends, passages = (
        numpy.array([(c.start, c.end, c.passage) for c in found], dtype=numpy.intp).reshape(-1, 3).T
    )
    lengths, around = ends - starts, numpy.array(reading.passages)[passages]
    is_short = numpy.array([c.short is not None for c in found], dtype=bool)
    exact = numpy.array([ABSENT if c.short is None else shorts[c.short] for c in found])
    inside = [
        max((shorts[row] for row in given.inside.get(c.passage, ()) if row != c.short), default=ABSENT) for c in found
    ]
    score, beside = scores[passages], numpy.pad(scores, 1, constant_values=ABSENT)
    others = numpy.delete(given.passages, column, axis=1).astype(numpy.float64)
    best_other = others[passages].max(axis=1, initial=ABSENT)
    size = numpy.log(1 + lengths)
    columns = [
        *(score, exact, is_short, numpy.where(is_short, is_short.cumsum(), (~is_short).cumsum()) - 1),
        *(score - top[0], beside[passages], beside[passages + 2], best_other, score - best_other, exact - highest),
        *(inside, size, size - numpy.log(1 + usual_length), lengths / numpy.maximum(1, around[:, 1] - around[:, 0])),
        passages / len(scores),
        [0 if c.short is None else KINDS.index(reading.shorts[c.short].kind) + 1 for c in found],
        *(likeness[passages], likeness[passages] - most_like, wording[passages], wording[passages] - most_worded),
        [text[c.end - 1 : c.end] in ".;" for c in found],
        [text[c.start : c.start + 1].isupper() for c in found],
        *(numpy.log(len(scores)), (scores > 0).sum(), (scores > -2).sum()),
        *(numpy.log(present / (1 - present)), spans, numpy.log(usual_length), most_like, most_worded, highest),
        *(top[rank] for rank in (0, 1, 2, 4)),
    ]
    return numpy.stack(numpy.broadcast_arrays(*columns), axis=-1).astype(numpy.float32)


def matches(text: str, candidate: SpanCandidate, category: str, gold: Sequence[Span]) -> bool:
    """Return True where a candidate answers as CUAD counts it."""
    answer = text[candidate.start : candidate.end]
    return any(cuad_match(text[start:end], answer, category) for start, end in gold)
