"""P(y | do(x)) from observations, whatever adjustment or front door there is, or why there is no way.

Tian and Pearl's form of the ID algorithm (AAAI 2002), which is complete (Shpitser and Pearl, AAAI 2006), on the graph
over observed variables that unobserved ones leave.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from ovrag_core.base import ImpossibleEvidenceError
from ovrag_studies.causal.models.dags import Dag, Edge, Nodes, reach

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Joint:
    """P(V) of discrete variables, one axis per variable in the order of `names`."""

    names: tuple[str, ...]
    table: Values

    def marginal(self, names: Iterable[str]) -> Values:
        """P of some variables; the axes of the others have length 1."""
        names = set(names)
        axes = tuple(axis for axis, name in enumerate(self.names) if name not in names)
        return np.asarray(self.table.sum(axes, keepdims=True))


@dataclass(frozen=True)
class P:
    """P(left | given), observed."""

    left: tuple[str, ...]
    given: tuple[str, ...] = ()


@dataclass(frozen=True)
class SumOver:
    """The sum over the values of some variables."""

    over: tuple[str, ...]
    of: Expression


@dataclass(frozen=True)
class Product:
    """A product of terms."""

    of: tuple[Expression, ...]


@dataclass(frozen=True)
class Ratio:
    """One expression over another."""

    top: Expression
    bottom: Expression


Expression = P | SumOver | Product | Ratio


@dataclass(frozen=True)
class Projected:
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
        observed = [P((node,), graph.order[:place]) for place, node in enumerate(graph.order) if node in outer]
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
        Ratio(sums[position], sums[position - 1]) if position else sums[0]
        for position, node in enumerate(order)
        if node in district
    ]
    return _c_factor(graph, inner, district, _multiplied(terms))


def _summed(graph: Projected, over: Nodes, of: Expression) -> Expression:
    return SumOver(tuple(node for node in graph.order if node in over), of) if over else of


def _multiplied(terms: Iterable[Expression]) -> Expression:
    terms = tuple(terms)
    return terms[0] if len(terms) == 1 else Product(terms)


def formula(of: Expression) -> str:
    """As one writes it."""
    match of:
        case P(left, given):
            return f"P({', '.join(left)} | {', '.join(given)})" if given else f"P({', '.join(left)})"
        case SumOver(over, inner):
            return f"Σ_{{{', '.join(over)}}} {formula(inner)}"
        case Product(terms):
            return " ".join(f"[{formula(term)}]" if isinstance(term, SumOver) else formula(term) for term in terms)
        case Ratio(top, bottom):
            return f"[{formula(top)}] / [{formula(bottom)}]"


def evaluate(of: Expression, joint: Joint) -> Values:
    """The numbers of an expression: one axis per variable of the joint, of length 1 where it does not depend on it.

    Raises ImpossibleEvidenceError where it conditions on what has probability 0.
    """
    match of:
        case P(left, given):
            return _divided(joint.marginal([*left, *given]), joint.marginal(given), f"P({', '.join(given)})")
        case SumOver(over, inner):
            values = evaluate(inner, joint)
            axes = tuple(map(joint.names.index, over))
            full = tuple(joint.table.shape[axis] if axis in axes else size for axis, size in enumerate(values.shape))
            return np.asarray(np.broadcast_to(values, full).sum(axes, keepdims=True))
        case Product(terms):
            return np.asarray(prod((evaluate(term, joint) for term in terms), start=np.ones((1,) * len(joint.names))))
        case Ratio(top_part, bottom_part):
            return _divided(evaluate(top_part, joint), evaluate(bottom_part, joint), formula(bottom_part))


def _divided(top: Values, bottom: Values, name: str) -> Values:
    if not np.all(bottom > 0):
        raise ImpossibleEvidenceError(f"{name} is 0 for some values, and nothing follows from what never happens")
    return top / bottom


def interventional(of: Expression, joint: Joint, cause: str, effect: str) -> Values:
    """P(effect | do(cause)) as rows of the cause by columns of the effect."""
    values = np.moveaxis(evaluate(of, joint), [joint.names.index(cause), joint.names.index(effect)], [-2, -1])
    return np.asarray(values[(0,) * (values.ndim - 2)])
