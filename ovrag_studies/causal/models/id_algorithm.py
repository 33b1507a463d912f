"""P(y | do(x)) from observations, whatever adjustment or front door there is, or why there is no way.

Tian and Pearl's form of the ID algorithm (AAAI 2002), which is complete (Shpitser and Pearl, AAAI 2006), on the graph
over observed variables that unobserved ones leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ovrag_core.base import ImpossibleEvidenceError
from ovrag_studies.causal.models.dags import Dag, Edge, Nodes, reach

Values = NDArray[np.float64]


class Joint(NamedTuple):
    """P(V) of discrete variables, one axis per variable in the order of `names`."""

    names: tuple[str, ...]
    table: Values

    def marginal(self, names: Iterable[str]) -> Values:
        """P of some variables; the axes of the others have length 1."""
        names = set(names)
        axes = tuple(axis for axis, name in enumerate(self.names) if name not in names)
        return np.asarray(self.table.sum(axes, keepdims=True))


class Expression(NamedTuple):
    """A term over P(observed): as one writes it, and its numbers by the joint distribution of what is observed.

    The numbers have an axis per variable of the joint, of length 1 where they do not depend on it; to compute them
    raises ImpossibleEvidenceError where the term conditions on what has probability 0.
    """

    text: str
    values: Callable[[Joint], Values]
    is_sum: bool = False


class Projected(NamedTuple):
    """A graph over the observed variables: directed edges, and pairs with an unobserved cause in common."""

    order: tuple[str, ...]
    edges: frozenset[Edge]
    pairs: frozenset[frozenset[str]]

    def ancestors(self, of: Nodes, within: Nodes) -> Nodes:
        """Those with a directed path to one of them that stays within some variables."""
        return reach(of, lambda node: [a for a, b in self.edges if b == node and a in within])

    def districts(self, within: Nodes) -> list[Nodes]:
        """The sets that unobserved common causes bind (c-components), in topological order of their first members."""

        def bound(node: str) -> Nodes:
            return within.intersection(n for pair in self.pairs if node in pair for n in pair)

        return list(dict.fromkeys(reach([node], bound) for node in self.order if node in within))


def project(dag: Dag) -> Projected:
    """The latent projection (Verma and Pearl, 1990)."""
    visible = {
        node: reach(dag.children(node), lambda child: dag.children(child) if child in dag.latent else ()) - dag.latent
        for node in dag.nodes
    }
    edges = frozenset((node, effect) for node in dag.observed for effect in visible[node])
    pairs = frozenset(frozenset(pair) for hidden in dag.latent for pair in combinations(visible[hidden], 2))
    return Projected(dag.observed, edges, pairs)


def identified(dag: Dag, causes: Iterable[str], effects: Iterable[str]) -> Expression | None:
    """P(effects | do(causes)) from P(observed), by Tian and Pearl's c-factors; complete for the graph given.

    None where a hedge, two sets of variables that unobserved causes bind, leaves it open (Shpitser and Pearl, 2006).
    """
    graph, causes, effects = project(dag), frozenset(causes), frozenset(effects)
    every = frozenset(graph.order)
    needed = graph.ancestors(effects, every - causes)
    whole = graph.districts(every)
    factors: list[Expression] = []
    for district in graph.districts(needed):
        outer = next(component for component in whole if district <= component)
        observed = [_observed(node, graph.order[:place]) for place, node in enumerate(graph.order) if node in outer]
        factor = _c_factor(graph, district, outer, _multiplied(observed))
        if factor is None:
            return None
        factors.append(factor)
    return _summed(graph, needed - effects, _multiplied(factors))


def _c_factor(graph: Projected, inner: Nodes, outer: Nodes, factor: Expression) -> Expression | None:
    """Q[inner] from Q[outer], both c-components; None where they are a hedge."""
    above = graph.ancestors(inner, outer)
    if above == inner:
        return _summed(graph, outer - inner, factor)
    if above == outer:
        return None
    above_factor = _summed(graph, outer - above, factor)
    district = next(component for component in graph.districts(above) if inner <= component)
    order = [node for node in graph.order if node in above]
    sums = [_summed(graph, frozenset(order[start:]), above_factor) for start in range(1, len(order) + 1)]
    terms = [
        _ratio(sums[position], sums[position - 1]) if position else sums[0]
        for position, node in enumerate(order)
        if node in district
    ]
    return _c_factor(graph, inner, district, _multiplied(terms))


def _observed(node: str, given: tuple[str, ...]) -> Expression:
    """P(node | given)."""
    condition = ", ".join(given)

    def values(joint: Joint) -> Values:
        return _divided(joint.marginal([node, *given]), joint.marginal(given), f"P({condition})")

    return Expression(f"P({node} | {condition})" if given else f"P({node})", values)


def _summed(graph: Projected, over: Nodes, of: Expression) -> Expression:
    names = [node for node in graph.order if node in over]

    def values(joint: Joint) -> Values:
        axes, inner = tuple(map(joint.names.index, names)), of.values(joint)
        full = tuple(joint.table.shape[axis] if axis in axes else size for axis, size in enumerate(inner.shape))
        return np.asarray(np.broadcast_to(inner, full).sum(axes, keepdims=True))

    return Expression(f"Σ_{{{', '.join(names)}}} {of.text}", values, is_sum=True) if names else of


def _multiplied(terms: Sequence[Expression]) -> Expression:
    text = " ".join(f"[{term.text}]" if term.is_sum else term.text for term in terms)
    if len(terms) == 1:
        return terms[0]
    return Expression(text, lambda joint: reduce(np.multiply, [term.values(joint) for term in terms]))


def _ratio(top: Expression, bottom: Expression) -> Expression:
    def values(joint: Joint) -> Values:
        return _divided(top.values(joint), bottom.values(joint), bottom.text)

    return Expression(f"[{top.text}] / [{bottom.text}]", values)


def _divided(top: Values, bottom: Values, name: str) -> Values:
    if not np.all(bottom > 0):
        raise ImpossibleEvidenceError(f"{name} is 0 for some values, and nothing follows from what never happens")
    return top / bottom


def interventional(of: Expression, joint: Joint, cause: str, effect: str) -> Values:
    """P(effect | do(cause)) as rows of the cause by columns of the effect."""
    values = np.moveaxis(of.values(joint), [joint.names.index(cause), joint.names.index(effect)], [-2, -1])
    return np.asarray(values[(0,) * (values.ndim - 2)])
