"""Ranks of the gold paragraphs among the first five: recall, mean reciprocal rank, and hits at one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ovrag_core.evaluation import Estimate, Resampling, first_rank, ratio, reciprocal
from ovrag_studies.cited.corpus.golden import GoldenQuery
from ovrag_studies.cited.corpus.policies import Paragraph

DEPTH = 5


def score_ranks(found: Iterable[tuple[GoldenQuery, Sequence[Paragraph]]], plan: Resampling) -> dict[str, Estimate]:
    """Return the measures of queries with the paragraphs found for them, best first; intervals resample queries.

    Queries without gold paragraphs are left out. A paragraph that stands in several places is one.
    """
    with_gold = [(set(query.gold), paragraphs[:DEPTH]) for query, paragraphs in found if query.gold]
    hits = [[paragraph.ids & gold for paragraph in paragraphs] for gold, paragraphs in with_gold]
    ranks = [first_rank(map(bool, query_hits)) for query_hits in hits]
    recall = [len(set().union(*query_hits)) / len(gold) for query_hits, (gold, _) in zip(hits, with_gold, strict=True)]
    ones = [1.0] * len(hits)
    return {
        "recall@5": ratio(recall, ones, plan),
        "MRR@5": ratio([reciprocal(rank) for rank in ranks], ones, plan),
        "first is gold": ratio([float(rank == 1) for rank in ranks], ones, plan),
    }
