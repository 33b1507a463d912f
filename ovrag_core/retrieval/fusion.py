"""Rankings of the same texts made one."""

from collections.abc import Sequence

import numpy

from ovrag_core.retrieval.lexical import Scores

RRF = 60  # Cormack, Clarke and Buettcher (2009)


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
