"""Ranks of the gold paragraphs among the first five: recall, mean reciprocal rank, and hits at one."""

from collections.abc import Iterable, Sequence
from itertools import chain

from ovrag_core.evaluation import Estimate, Resampling, first_rank, ratio, recall, reciprocal
from ovrag_studies.cited.corpus.golden import GoldenQuery
from ovrag_studies.cited.corpus.policies import Paragraph

DEPTH = 5


def score_ranks(found: Iterable[tuple[GoldenQuery, Sequence[Paragraph]]], plan: Resampling) -> dict[str, Estimate]:
    """Return the measures of queries with the paragraphs found for them, best first; intervals resample queries.

    Queries without gold paragraphs are left out. A paragraph that stands in several places is one.
    """
    with_gold = [(query.gold, [p.ids for p in paragraphs[:DEPTH]]) for query, paragraphs in found if query.gold]
    ranks = [first_rank(not ids.isdisjoint(gold) for ids in names) for gold, names in with_gold]
    recalls = [recall(gold, chain.from_iterable(names)) for gold, names in with_gold]
    ones = [1.0] * len(ranks)
    return {
        "recall@5": ratio(recalls, ones, plan),
        "MRR@5": ratio([reciprocal(rank) for rank in ranks], ones, plan),
        "first is gold": ratio([float(rank == 1) for rank in ranks], ones, plan),
    }
