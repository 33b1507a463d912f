"""Seeded sampling: how many contracts of each sort, and the terms of each."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle, islice
from random import Random

from ovrag_core.base import CorpusError
from ovrag_core.loans.contracts.lists import lists
from ovrag_core.loans.contracts.terms import PLANTED, LoanTerms

# The published corpus's hundred contracts, in their order.
SHARES: Mapping[str, int] = {
    "CLEAN": 60,
    "secured_unsecured": 15,
    "openend_closedend": 15,
    "borrower_type": 5,
    "lender_type": 5,
}


def quotas(count: int) -> dict[str, int]:
    """Split `count` contracts into clean ones and those that carry each clash, by largest remainder."""
    quota = {name: count * share // 100 for name, share in SHARES.items()}
    left = count - sum(quota.values())
    for name in sorted(SHARES, key=lambda name: -(count * SHARES[name] % 100))[:left]:
        quota[name] += 1
    return quota


def plan(count: int) -> list[tuple[str, str | None]]:
    """Kind and planted clash of each contract in order: clean ones over the seven kinds in turn, then each clash type.

    Raises CorpusError where `count` is not positive.
    """
    if count < 1:
        raise CorpusError(f"corpus.contracts must be at least 1, not {count}")
    quota = quotas(count)
    slots: list[tuple[str, str | None]] = [(kind, None) for kind in islice(cycle(lists()["kinds"]), quota["CLEAN"])]
    for clash_type in quota:
        variants = [variant for variant, planted in PLANTED.items() if planted.clash_type == clash_type]
        slots += [(PLANTED[variant].kind, variant) for variant in islice(cycle(variants), quota[clash_type])]
    return slots


def sample(count: int, seed: int) -> list[LoanTerms]:
    """Terms of `count` contracts; the same for the same arguments on every machine.

    Names do not repeat between contracts as long as the lists last.
    """
    used: set[str] = set()
    return [
        LoanTerms(number, kind, variant, Random(f"terms/{seed}/{number}"), used)
        for number, (kind, variant) in enumerate(plan(count), start=1)
    ]
