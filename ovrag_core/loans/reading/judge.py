"""What the names, values and sentences of a document are to its loan, by what stands around them.

The judge reads a document in windows: the bundled sentence embedder with low-rank adapters (Hu et al. 2022) on all its
layers, one linear layer on the mean of a span's tokens beside the mean of its window's, and one on each token. It is
trained by `tools/train_judge.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from ovrag_core.base import project_file, read_tensors
from ovrag_core.loans.reading.windows import Windows
from ovrag_core.retrieval import Encoder, Probabilities
from ovrag_core.text import Span, score_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ovrag_core.loans.loan_facts import PartyKind

WEIGHTS = Path("ontologies/lexicon/judge.safetensors")
ROLES = ("other", "borrower", "lender", "guarantor")
KINDS: tuple[PartyKind, ...] = ("natural_person", "legal_entity", "financial_institution", "government")
SORTS = ("other", "principal", "rate", "maturity", "term")
STATEMENTS = (
    "SecuredLoan", "UnsecuredLoan", "OpenEndCredit", "ClosedEndCredit", "ConsumerLoan", "CommercialLoan",
    "StudentLoan", "Mortgage", "GreenLoan", "CardAccount",
    "lends by trade", "lends privately", "is a person", "is a body", "contradicted",
)  # fmt: skip
THING = 0.5  # probability from which a token is of what secures the loan
KNOWN = 16  # texts whose judgement is kept


class Judge(Encoder):
    """Reads texts; weights are read once."""

    def __init__(self, weights: Path) -> None:
        tensors, _ = read_tensors(weights)
        super().__init__(tensors)
        self._tokenizer.no_truncation()
        self._thing = tensors["thing.weight"][0].astype(numpy.float32), float(tensors["thing.bias"].item())
        self._screen = tensors["screen.weight"].astype(numpy.float32), float(tensors["screen.bias"].item())
        self._known: dict[str, Judged] = {}

    def read(self, text: str) -> Judged:
        """The text as the judge sees it."""
        if text not in self._known:
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[text] = Judged(self, text)
        return self._known[text]

    def screen(self, passages: Sequence[str]) -> Probabilities:
        """Estimate how likely each passage states anything at all, by its words alone (n, float32)."""
        weight, bias = self._screen
        scores = numpy.array([score_words(passage, weight) for passage in passages]) + bias
        found: Probabilities = (1 / (1 + numpy.exp(-scores))).astype(numpy.float32)
        return found


class Judged:
    """A text with the states of its windows, each read when a span in it is first asked about."""

    def __init__(self, judge: Judge, text: str) -> None:
        self._judge = judge
        self._windows = Windows(text, judge._tokenizer)
        self._states: dict[int, NDArray[numpy.float32]] = {}

    def names(self, spans: Sequence[Span]) -> Probabilities:
        """How likely each span names each of ROLES, and each of KINDS (n × 2 × 4, float32)."""
        scores = self._scores(spans)[:, : len(ROLES) + len(KINDS)]
        return _softmax(scores.reshape(len(spans), 2, len(ROLES)))

    def values(self, spans: Sequence[Span]) -> Probabilities:
        """How likely each span is each of SORTS (n × 5, float32)."""
        first = len(ROLES) + len(KINDS)
        return _softmax(self._scores(spans)[:, first : first + len(SORTS)])

    def statements(self, spans: Sequence[Span]) -> Probabilities:
        """How likely each span says each of STATEMENTS of this loan (n × 15, float32); one may say two opposites."""
        return _logistic(self._scores(spans)[:, -len(STATEMENTS) :])

    def things(self, span: Span) -> list[Span]:
        """What the judge takes for the thing that secures the loan within a span, in order."""
        at, first, end = self._windows.place(span)
        weight, bias = self._judge._thing
        likely = _logistic(self._read([at])[at][first:end] @ weight + bias)
        tokens = zip(self._windows.offsets(at, first, end), likely >= THING, strict=True)
        runs = [[span for span, _ in run] for is_thing, run in groupby(tokens, key=itemgetter(1)) if is_thing]
        return [(run[0][0], run[-1][1]) for run in runs]

    def _scores(self, spans: Sequence[Span]) -> NDArray[numpy.float32]:
        weight, bias = self._judge._head
        places = [self._windows.place(span) for span in spans]
        states = self._read([at for at, _, _ in places])
        if not places:
            return numpy.zeros((0, len(bias)), dtype=numpy.float32)
        whole = {at: states[at].mean(0) for at in {at for at, _, _ in places}}
        means = [numpy.concatenate([whole[at], states[at][first:end].mean(0)]) for at, first, end in places]
        found: NDArray[numpy.float32] = numpy.stack(means) @ weight + bias
        return found

    def _read(self, wanted: Sequence[int]) -> dict[int, NDArray[numpy.float32]]:
        unread = sorted(set(wanted) - self._states.keys())
        for at, states in zip(unread, self._judge._bert.states([self._windows.ids(at) for at in unread]), strict=True):
            self._states[at] = states
        return self._states


def _softmax(scores: NDArray[numpy.float32]) -> Probabilities:
    odds = numpy.exp(scores - scores.max(-1, keepdims=True))
    # Rounded, so that what is judged beside a span, which changes the last bits, changes nothing.
    found: Probabilities = (odds / odds.sum(-1, keepdims=True)).round(4)
    return found


def _logistic(scores: NDArray[numpy.float32]) -> Probabilities:
    found: Probabilities = (1 / (1 + numpy.exp(-scores))).astype(numpy.float32).round(4)
    return found


@cache
def load_judge() -> Judge:
    """The judge, loaded once in a process."""
    return Judge(project_file(WEIGHTS))
