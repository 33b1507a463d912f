"""What of the gold paragraphs is found: recall and mean reciprocal rank among the first five, and hits at one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ovrag_core.evaluation.statistics import Estimate, Resampling, ratio
from ovrag_studies.cited.corpus.golden import GoldenQuery
from ovrag_studies.cited.corpus.policies import Paragraph

DEPTH = 5


class RankedQuery(NamedTuple):
    """A query with gold paragraphs, the share of them in the first five, and one by the rank of the first of them."""

    query_id: str
    recall: float
    reciprocal: float
    first: bool


def rank_queries(queries: Iterable[GoldenQuery], find: Callable[[str], Sequence[Paragraph]]) -> list[RankedQuery]:
    """The queries that have gold paragraphs, as found. A paragraph that stands in several places is one."""
    return [ranked(each, find(each.question)) for each in queries if each.gold]


def ranked(query: GoldenQuery, found: Sequence[Paragraph], depth: int = DEPTH) -> RankedQuery:
    """How well paragraphs, best first, hold the gold ones of a query."""
    hits = [paragraph.ids & set(query.gold) for paragraph in found[:depth]]
    # Several gold ids may be one paragraph that stands in several places.
    got = len(set().union(*hits)) if hits else 0
    first = next((rank for rank, each in enumerate(hits, 1) if each), None)
    return RankedQuery(query.query_id, got / len(query.gold), 1 / first if first else 0.0, first == 1)


def summarise_ranks(ranks: Sequence[RankedQuery], plan: Resampling) -> dict[str, Estimate]:
    """Recall@5, MRR@5 and the share of queries whose first paragraph is gold; intervals resample queries."""
    ones = [1.0] * len(ranks)
    return {
        "recall_at_5": ratio([each.recall for each in ranks], ones, plan),
        "mrr_at_5": ratio([each.reciprocal for each in ranks], ones, plan),
        "first_is_gold": ratio([float(each.first) for each in ranks], ones, plan),
    }
