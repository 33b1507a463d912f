"""Causal graphs: acyclic, some variables perhaps unobserved; trails that are open, and how a trail reads."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from graphlib import CycleError as GraphlibCycle
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Self

from ovrag_core.base import CausalError, CycleError

Edge = tuple[str, str]
Nodes = frozenset[str]


@dataclass(frozen=True)
class Dag:
    """Variables in topological order, edges from cause to effect, and the variables that nobody observed.

    Raises CycleError, with the cycle, and CausalError for an unobserved variable that is not in the graph.
    """

    nodes: tuple[str, ...]
    edges: frozenset[Edge]
    latent: Nodes = frozenset()

    @property
    def observed(self) -> tuple[str, ...]:
        """The variables that have numbers, in topological order."""
        return tuple(node for node in self.nodes if node not in self.latent)

    def parents(self, node: str) -> tuple[str, ...]:
        """Its direct causes, in topological order."""
        return tuple(cause for cause in self.nodes if (cause, node) in self.edges)

    def children(self, node: str) -> tuple[str, ...]:
        """Its direct effects, in topological order."""
        return tuple(effect for effect in self.nodes if (node, effect) in self.edges)

    def ancestors(self, of: Iterable[str]) -> Nodes:
        """All that has a directed path to one of them, themselves included."""
        return reach(of, self.parents)

    def descendants(self, of: Iterable[str]) -> Nodes:
        """All that one of them has a directed path to, themselves included."""
        return reach(of, self.children)

    def without_edges_out_of(self, *nodes: str) -> Self:
        """The same graph without the effects of these variables."""
        return replace(self, edges=frozenset(edge for edge in self.edges if edge[0] not in nodes))


def make_dag(edges: Iterable[Edge], latent: Iterable[str] = (), nodes: Iterable[str] = ()) -> Dag:
    """A graph from its edges, and from `nodes` that may have none. Raises CycleError and CausalError (see Dag)."""
    edges, latent = list(edges), frozenset(latent)
    causes: dict[str, list[str]] = {node: [] for node in nodes}
    for cause, effect in edges:
        causes.setdefault(cause, [])
        causes.setdefault(effect, []).append(cause)
    if unknown := sorted(latent - causes.keys()):
        raise CausalError(f"“{unknown[0]}” is called unobserved, but is not in the causal graph; name one of its nodes")
    return Dag(ordered(causes), frozenset(edges), latent)


def ordered(causes: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Causes before effects. Raises CycleError."""
    if cycle := cycle_of(causes):
        raise CycleError(f"the causal graph has the cycle {' → '.join(cycle)}; leave out one of its edges")
    return tuple(TopologicalSorter(causes).static_order())


def cycle_of(parents: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """A cycle of variables by their parents, first variable repeated at the end; empty where there is none."""
    try:
        TopologicalSorter(parents).prepare()
    except GraphlibCycle as error:
        return tuple(error.args[1])
    return ()


def reach(start: Iterable[str], steps: Callable[[str], Iterable[str]]) -> Nodes:
    """All that steps lead to from the start, which is included."""
    reached = set(start)
    waiting = list(reached)
    while waiting:
        new = set(steps(waiting.pop())) - reached
        reached |= new
        waiting += new
    return frozenset(reached)


def open_trail(dag: Dag, start: str, end: str, given: Iterable[str] = ()) -> tuple[str, ...] | None:
    """The shortest trail that is open given the variables in `given`, None where they separate the two (d-separation).

    A chain or fork is open unless its middle is given, a collider is open if it or one of its descendants is.
    """
    given = frozenset(given)
    colliders = dag.ancestors(given)
    # trails, and whether the last step was from cause to effect
    waiting = deque[tuple[tuple[str, ...], bool]]([((start,), False)])
    walked = set[tuple[str, bool]]()
    while waiting:
        trail, down = waiting.popleft()
        node = trail[-1]
        if node == end:
            return trail
        if (node, down) in walked:
            continue
        walked.add((node, down))
        if node not in given:
            waiting.extend(((*trail, child), True) for child in dag.children(node))
        if (node in colliders) if down else (node not in given):
            waiting.extend(((*trail, parent), False) for parent in dag.parents(node))
    return None


def back_door_trail(dag: Dag, cause: str, effect: str, given: Iterable[str] = ()) -> tuple[str, ...] | None:
    """An open trail into `cause`, None where there is none: what `given` leaves of the confounding."""
    return open_trail(dag.without_edges_out_of(cause), cause, effect, given)


def written(dag: Dag, trail: Iterable[str]) -> str:
    """`x ← u → y`."""
    nodes = list(trail)
    steps = (f"→ {right}" if (left, right) in dag.edges else f"← {right}" for left, right in pairwise(nodes))
    return " ".join([nodes[0], *steps])
