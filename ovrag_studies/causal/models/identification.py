"""Tell whether a causal graph lets one compute an effect from observations, and by which formula.

The ways are adjustment, front door, mediation and the ID algorithm. What is not identified comes with the trail that
stays open and an assumption that would suffice.
Source: Pearl, Causality (2009), chapters 3 and 4; natural effects: Pearl, UAI 2001. The ID algorithm is in Tian and
Pearl's form (AAAI 2002), which is complete (Shpitser and Pearl, AAAI 2006), on the graph over observed variables that
unobserved ones leave.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain, combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ovrag_core.base import CausalError, ImpossibleEvidenceError
from ovrag_studies.causal.models.dags import Dag, Edge, Nodes, back_door_trail, open_trail, reach, written

Kind = Literal["ate", "ett", "nde", "nie"]
Values = NDArray[np.float64]


class Estimand(NamedTuple):
    """Way to the effect from observations: adjust for `by`, or pass through it in the case of a front door."""

    method: Literal["none", "back-door", "front-door", "ID", "mediation"]
    by: tuple[str, ...] = ()


class NotIdentified(NamedTuple):
    """Reason why no observation can tell: the trail that stays open, and an assumption that would suffice."""

    reason: str
    path: str
    assumption: str


def _subsets(of: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """All of them, the smallest first."""
    items = tuple(of)
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def is_back_door_set(dag: Dag, cause: str, effect: str, given: Iterable[str]) -> bool:
    """Check that adjusting for `given` leaves the causal effect: no descendant of the cause, no open trail into it."""
    given = frozenset(given)
    return not given & dag.descendants([cause]) and back_door_trail(dag, cause, effect, given) is None


def back_door_sets(dag: Dag, cause: str, effect: str) -> Iterator[tuple[str, ...]]:
    """Admissible sets of observed variables, the smallest first."""
    others = (node for node in dag.observed if node not in (cause, effect))
    return (given for given in _subsets(others) if is_back_door_set(dag, cause, effect, given))


def is_front_door_set(dag: Dag, cause: str, effect: str, through: Iterable[str]) -> bool:
    """Pearl's three conditions: all directed paths pass them, and no other open trail leads to or from them."""
    through = frozenset(through)
    passed = bool(through) and intercepts(dag, cause, effect, through)
    return passed and _is_unconfounded(dag, cause, effect, through, frozenset())


def _is_unconfounded(dag: Dag, cause: str, effect: str, through: Nodes, given: Nodes) -> bool:
    """Check that no other open trail leads from the cause to what it acts through, or from that to the effect."""
    severed = dag.without_edges_out_of(*through)
    return all(
        back_door_trail(dag, cause, middle, given) is None
        and back_door_trail(severed, middle, effect, given | {cause}) is None
        for middle in through
    )


def front_door_sets(dag: Dag, cause: str, effect: str) -> Iterator[tuple[str, ...]]:
    """Sets of observed variables that make a front door, the smallest first."""
    others = (node for node in dag.observed if node not in (cause, effect))
    return (through for through in _subsets(others) if is_front_door_set(dag, cause, effect, through))


def intercepts(dag: Dag, cause: str, effect: str, through: Iterable[str]) -> bool:
    """Check that every directed path passes one of `through`."""
    return effect not in dag.without_edges_out_of(*through).descendants([cause])


def instruments(dag: Dag, cause: str, effect: str) -> Iterator[str]:
    """Observed variables that move the cause, and the effect through the cause alone."""
    for node in dag.observed:
        if node not in (cause, effect) and open_trail(dag, node, cause) is not None:
            severed = dag.without_edges_out_of(cause)
            if effect not in dag.ancestors([node]) and open_trail(severed, node, effect) is None:
                yield node


def identify(dag: Dag, kind: Kind, cause: str, effect: str, through: tuple[str, ...] = ()) -> Estimand | NotIdentified:
    """The simplest estimand of an effect, or why there is none; `through` are the mediators of a natural effect.

    Average effects, and effects on the treated of a binary cause, are complete (back door, front door, else the ID
    algorithm); natural effects are identified by Pearl's sufficient conditions (2001). Raises CausalError for a
    variable that is not in the graph, is unobserved, or is named twice.
    """
    names = (cause, effect, *through)
    if len(set(names)) < len(names) or not set(names) <= set(dag.observed):
        observed = ", ".join(dag.observed)
        raise CausalError(f"{', '.join(names)} are not all different and observed; choose of {observed}")
    if effect not in dag.descendants([cause]):
        return Estimand("none")
    if kind in ("ate", "ett"):
        return _total(dag, cause, effect)
    if intercepts(dag, cause, effect, through):
        return Estimand("none") if kind == "nde" else _total(dag, cause, effect)
    return _mediated(dag, cause, effect, frozenset(through))


def _total(dag: Dag, cause: str, effect: str) -> Estimand | NotIdentified:
    for covariates in back_door_sets(dag, cause, effect):
        return Estimand("back-door", covariates)
    for through in front_door_sets(dag, cause, effect):
        return Estimand("front-door", through)
    if identified(dag, [cause], [effect]) is not None:
        return Estimand("ID")
    observed = [node for node in dag.observed if node not in dag.descendants([cause])]
    trail = back_door_trail(dag, cause, effect, observed) or back_door_trail(dag, cause, effect) or (cause, effect)
    path = written(dag, trail)
    assumption = _without_fork(dag, cause, effect, trail)
    if instrument := next(instruments(dag, cause, effect), None):
        assumption = (
            f"linearity, or one effect for all: {instrument} is an instrument, and the effect is then the ratio of "
            f"what it changes in {effect} to what it changes in {cause}"
        )
    return NotIdentified(f"no observed variable blocks {path}", path, assumption)


def _without_fork(dag: Dag, cause: str, effect: str, trail: tuple[str, ...]) -> str:
    """That an unobserved variable of a trail does not act on both its neighbours there, or is observed, if that is all
    that is needed; else that everything is observed that is not.
    """
    for left, middle, right in zip(trail, trail[1:], trail[2:], strict=False):
        revealed = replace(dag, latent=dag.latent - {middle})
        if middle in dag.latent and identified(revealed, [cause], [effect]) is not None:
            return f"that {middle} does not act on both {left} and {right}, or is observed"
    return f"that {', '.join(sorted(dag.latent))} are all observed, or act on one variable each"


def _mediated(dag: Dag, cause: str, effect: str, through: Nodes) -> Estimand | NotIdentified:
    after = dag.descendants([cause])
    for covariates in _subsets(node for node in dag.observed if node not in after):
        given = frozenset(covariates)
        if _is_unconfounded(dag, cause, effect, through, given) and is_back_door_set(dag, cause, effect, given):
            return Estimand("mediation", covariates)
    severed = dag.without_edges_out_of(*through)
    trails = [back_door_trail(severed, middle, effect, {cause}) for middle in sorted(through)]
    trail = next(filter(None, [*trails, back_door_trail(dag, cause, effect)]), (cause, effect))
    path = written(dag, trail)
    between = ", ".join(trail[1:-1]) or "another variable"
    reason = f"no observed variable blocks {path}, which confounds mediator and effect"
    assumption = f"that {between} does not act on both {trail[0]} and {effect} beside {cause}, or is observed"
    if moved := next((node for node in trail[1:-1] if node in after and node not in dag.latent), ""):
        reason = f"{path} confounds mediator and effect, and {moved} is itself an effect of {cause}"
        assumption = f"that {cause} does not act on {moved}, or {moved} not on both {trail[0]} and {effect}"
    return NotIdentified(reason, path, assumption)


# The ID algorithm


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
