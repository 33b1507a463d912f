"""Measure how well what is sought is ranked: the rank of the first hit, and recall."""

from collections.abc import Collection, Hashable, Iterable


def first_rank(hits: Iterable[bool]) -> int | None:
    """Return the rank, from 1, of the first hit of a ranking, best first; None without one."""
    return next((rank for rank, hit in enumerate(hits, 1) if hit), None)


def reciprocal(rank: int | None) -> float:
    """Return 1 / rank of the first hit, 0 without one; its mean over queries is the MRR."""
    return 1 / rank if rank else 0.0


def recall(gold: Collection[Hashable], found: Iterable[Hashable]) -> float:
    """Return the share of `gold` that was found; 0 where there is no gold."""
    wanted = set(gold)
    return len(wanted & set(found)) / len(wanted) if wanted else 0.0
