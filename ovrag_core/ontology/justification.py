"""Minimal explanations: QuickXplain for one, a hitting-set tree for all of them.

U. Junker, QuickXplain (AAAI 2004); R. Reiter, A theory of diagnosis from first principles (AIJ 32, 1987).
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ovrag_core.base import ReasonerError

Contradicts = Callable[[Sequence[int]], bool]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Numbers of facts that contradict each other, and each minimal set of axioms that makes them do so."""

    facts: tuple[int, ...]
    axioms: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Answer of the reasoner on an ABox. `complete` is False where limits cut the list of explanations short."""

    consistent: bool
    explanations: tuple[Explanation, ...] = ()
    complete: bool = True


def minimal_conflict(items: Sequence[int], contradicts: Contradicts) -> tuple[int, ...] | None:
    """A subset-minimal part of `items` that still contradicts, earlier items preferred; None where all do not.

    `contradicts` must be monotone: what contradicts goes on doing so with more items.
    """
    if not contradicts(items):
        return None
    if contradicts(()):
        return ()
    return tuple(sorted(_quick_xplain((), False, tuple(items), contradicts)))


def _quick_xplain(
    background: tuple[int, ...], grew: bool, items: tuple[int, ...], contradicts: Contradicts
) -> tuple[int, ...]:
    if grew and contradicts(background):
        return ()
    if len(items) == 1:
        return items
    half = len(items) // 2
    front, back = items[:half], items[half:]
    needed = _quick_xplain(background + front, True, back, contradicts)
    return _quick_xplain(background + needed, bool(needed), front, contradicts) + needed


def is_minimal(conflict: Sequence[int], contradicts: Contradicts) -> bool:
    """Return True where `conflict` contradicts as it stands and no longer does without any one of its items."""
    return contradicts(conflict) and not any(contradicts([i for i in conflict if i != item]) for item in conflict)


def all_minimal_conflicts(
    items: Sequence[int],
    contradicts: Contradicts,
    *,
    limit: int,
    known: Sequence[tuple[int, ...]] = (),
    stop: Callable[[], bool] = lambda: False,
) -> tuple[list[tuple[int, ...]], bool]:
    """Minimal conflicts among `items`, breadth first, at most `limit`, and whether these are all of them.

    Each is verified by deletion before it is returned; where one does not stand up to it, ReasonerError is raised.
    `known` are conflicts found earlier, with fewer axioms: those that are still minimal need not be searched again.
    `stop` is asked between conflicts and ends the search early.
    """
    remembered = _Remembered(contradicts)
    conflicts = [conflict for conflict in known if set(conflict) <= set(items) and is_minimal(conflict, contradicts)]
    queue: deque[frozenset[int]] = deque([frozenset()])
    queued = {frozenset[int]()}
    while queue:
        if len(conflicts) >= limit or stop():
            return conflicts, False
        removed = queue.popleft()
        conflict = next(filter(removed.isdisjoint, conflicts), None)
        if conflict is None:
            conflict = minimal_conflict([item for item in items if item not in removed], remembered)
            conflicts += _verified(conflict, contradicts)
        branches = [removed | {item} for item in conflict or ()]
        queue.extend(branch for branch in branches if branch not in queued)
        queued.update(branches)
    return conflicts, True


def _verified(conflict: tuple[int, ...] | None, contradicts: Contradicts) -> list[tuple[int, ...]]:
    """The conflict, if any, after deletion. Raises ReasonerError where it does not stand up to it."""
    if conflict is not None and not is_minimal(conflict, contradicts):
        raise ReasonerError("the reasoner is not monotone: an explanation did not stand up to deletion")
    return [] if conflict is None else [conflict]


class _Remembered:
    """Memory of answers: part of a consistent set is consistent, more than a conflict conflicts."""

    def __init__(self, contradicts: Contradicts) -> None:
        self.contradicts = contradicts
        self.consistent: list[int] = []
        self.conflicting: list[int] = []

    def __call__(self, chosen: Sequence[int]) -> bool:
        bits = sum(1 << item for item in chosen)
        if any(bits & mask == bits for mask in self.consistent):
            return False
        if any(bits & mask == mask for mask in self.conflicting):
            return True
        answer = self.contradicts(chosen)
        (self.conflicting if answer else self.consistent).append(bits)
        return answer
