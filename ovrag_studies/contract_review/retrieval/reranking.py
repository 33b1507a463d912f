"""The best of what was retrieved, by a second look at each chunk beside the question."""

from __future__ import annotations

from collections.abc import Sequence

from ovrag_core.retrieval.rerank import Reranker
from ovrag_studies.contract_review.retrieval.retrievers import FoundChunk


def rerank(found: Sequence[FoundChunk], question: str, reranker: Reranker, keep: int = 3) -> list[FoundChunk]:
    """The `keep` best of what was found by the reranker's own scores, best first; ties keep the order they had."""
    if not found:
        return []
    scores = reranker(question, [each.chunk.text for each in found])
    order = sorted(range(len(found)), key=lambda place: -scores[place])
    return [FoundChunk(found[place].chunk, scores[place]) for place in order[:keep]]
