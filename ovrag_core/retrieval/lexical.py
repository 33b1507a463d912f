"""Texts ranked by their words, and rankings of the same texts made one."""

import logging
from collections.abc import Mapping, Sequence

import bm25s
import numpy
from numpy.typing import NDArray

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it tells of every index it builds

Scores = NDArray[numpy.float64]
K1, B = 1.5, 0.75
RRF = 60  # Cormack, Clarke and Buettcher (2009)


class WordRanker:
    """BM25 (Robertson and Zaragoza 2009) over texts given as stems, by `bm25s`; queries may weigh their stems."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._count = len(texts)
        self._ids: Mapping[str, int] = {}
        if any(texts):
            index = bm25s.BM25(k1=K1, b=B, method="lucene")
            index.index([list(text) for text in texts], show_progress=False)
            self._ids = index.vocab_dict
            self._data, self._rows, self._begins = (index.scores[key] for key in ("data", "indices", "indptr"))

    def scores(self, terms: Sequence[tuple[str, float]]) -> Scores:
        """One number per text; -inf for a text that holds none of the terms."""
        total = numpy.full(self._count, -numpy.inf)
        for stem, weight in terms:
            number = self._ids.get(stem)
            if number is None:
                continue
            span = slice(self._begins[number], self._begins[number + 1])
            rows = self._rows[span]
            total[rows] = numpy.maximum(total[rows], 0.0) + weight * self._data[span].astype(numpy.float64)
        return total


def join(scores: Sequence[Scores]) -> Scores:
    """Scores of several scorers over the same texts, or of several queries, joined by their ranks; ties by place.

    What a scorer gives -inf has no rank with it, and what none ranks stays at -inf.
    """
    total = numpy.zeros(len(scores[0]))
    for vector in scores:
        ranks = numpy.empty(len(vector))
        ranks[numpy.argsort(-vector, kind="stable")] = numpy.arange(1, len(vector) + 1)
        total += numpy.where(numpy.isfinite(vector), 1.0 / (RRF + ranks), 0.0)
    return numpy.where(total > 0, total, -numpy.inf)
