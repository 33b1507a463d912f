"""Two systems on the same items: who alone is right (exact McNemar), and the difference of their shares of right ones.

McNemar's test takes items as independent; the difference resamples clusters of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from ovrag_core.evaluation.statistics import (
    Difference,
    McNemar,
    Resampling,
    exact_mcnemar,
    holm,
    paired_difference,
    sums,
)

Rights = Sequence[bool]


@dataclass(frozen=True, slots=True)
class Paired:
    """McNemar's test over items, its p-value after Holm's adjustment, and the difference over clusters."""

    items: McNemar
    holm: float | None
    difference: Difference


def compare_pairs(
    pairs: Mapping[str, tuple[Rights, Rights]], clusters: Sequence[Hashable], plan: Resampling
) -> dict[str, Paired]:
    """Return each pair of systems compared, first minus second; Holm's adjustment is for all of them.

    A pair says of each item whether either system is right; `clusters` names the cluster of each item.
    """
    tests = {name: exact_mcnemar(first, second) for name, (first, second) in pairs.items()}
    adjusted = holm([test.p for test in tests.values()])
    of = sums([1.0] * len(clusters), clusters)
    found = {}
    for (name, (first, second)), p in zip(pairs.items(), adjusted, strict=True):
        right, other = (sums([float(each) for each in rights], clusters) for rights in (first, second))
        found[name] = Paired(tests[name], p, paired_difference((right, of), (other, of), plan))
    return found
