"""What a causal graph lets one compute from observations: adjustment sets, front doors, instruments, the ID algorithm.

The estimands are enumerated here; `found_by_pgmpy` and `found_by_y0` ask the two libraries the same, for comparison.
These are imported when asked, as they bring torch and pandas with them.
Sources: Pearl, Causality (2009), chapters 3 and 4; Tian and Pearl, AAAI 2002; Balke and Pearl, JASA 92 (1997).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ovrag_core.errors import CausalError, ImpossibleEvidenceError
from ovrag_core.studies.causal.dags import Dag, Nodes, back_door_trail, open_trail, written

Kind = Literal["ate", "ett", "nde", "nie"]
Method = Literal["none", "back-door", "front-door", "ID", "mediation"]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Effect:
    """An effect asked for: of `cause` on `effect`; `through` are the mediators of a natural direct or indirect one."""

    kind: Kind
    cause: str
    effect: str
    through: tuple[str, ...] = ()


@dataclass(frozen=True)
class Estimand:
    """How the effect follows from observations: adjust for `by`, or pass through it in the case of a front door."""

    method: Method
    by: tuple[str, ...]
    formula: str


@dataclass(frozen=True)
class NotIdentified:
    """Why no observation can tell: the trail that stays open, and an assumption that would suffice.

    `bounds` are those of the average effect where the joint distribution was given.
    """

    reason: str
    path: str
    assumption: str
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True)
class Joint:
    """P(V), one axis per variable in the order of `names`."""

    names: tuple[str, ...]
    table: Values


def subsets(of: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """All of them, the smallest first."""
    items = tuple(of)
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def is_back_door_set(dag: Dag, cause: str, effect: str, given: Iterable[str]) -> bool:
    """Whether adjusting for `given` leaves the causal effect: no descendant of the cause, no open trail into it."""
    given = frozenset(given)
    return not given & dag.descendants([cause]) and back_door_trail(dag, cause, effect, given) is None


def back_door_sets(dag: Dag, cause: str, effect: str) -> Iterator[tuple[str, ...]]:
    """Admissible sets of observed variables, the smallest first."""
    others = [node for node in dag.observed if node not in (cause, effect)]
    return (given for given in subsets(others) if is_back_door_set(dag, cause, effect, given))


def is_front_door_set(dag: Dag, cause: str, effect: str, through: Iterable[str]) -> bool:
    """Pearl's three conditions: all directed paths pass them, and no other open trail leads to or from them."""
    through = frozenset(through)
    if not through or not _intercepts(dag, cause, effect, through):
        return False
    return all(
        back_door_trail(dag, cause, middle) is None
        and back_door_trail(dag.without_edges_out_of(*through), middle, effect, {cause}) is None
        for middle in through
    )


def front_door_sets(dag: Dag, cause: str, effect: str) -> Iterator[tuple[str, ...]]:
    """Sets of observed variables that make a front door, the smallest first."""
    others = [node for node in dag.observed if node not in (cause, effect)]
    return (through for through in subsets(others) if is_front_door_set(dag, cause, effect, through))


def _intercepts(dag: Dag, cause: str, effect: str, through: Nodes) -> bool:
    """Whether every directed path passes one of them."""
    return effect not in dag.without_edges_out_of(*through).descendants([cause])


def instruments(dag: Dag, cause: str, effect: str) -> Iterator[str]:
    """Observed variables that move the cause, and the effect through the cause alone."""
    for node in dag.observed:
        if node not in (cause, effect) and open_trail(dag, node, cause) is not None:
            severed = dag.without_edges_out_of(cause)
            if effect not in dag.ancestors([node]) and open_trail(severed, node, effect) is None:
                yield node


def identify(dag: Dag, asked: Effect, joint: Joint | None = None) -> Estimand | NotIdentified:
    """The simplest estimand of the effect, or why there is none; `joint` gives bounds to what is not identified.

    Average effects, and effects on the treated of a binary cause, are complete (back door, front door, else the ID
    algorithm); natural effects are identified by Pearl's sufficient conditions (2001). Raises CausalError for a
    variable that is not in the graph, is unobserved, or is named twice.
    """
    _check(dag, asked)
    if asked.effect not in dag.descendants([asked.cause]):
        return Estimand("none", (), "0")
    if asked.kind in ("ate", "ett"):
        return _total(dag, asked, joint)
    return _natural(dag, asked, joint)


def _check(dag: Dag, asked: Effect) -> None:
    names = (asked.cause, asked.effect, *asked.through)
    for name in names:
        if name not in dag.nodes:
            raise CausalError(f"“{name}” is not in the causal graph; it has {', '.join(dag.nodes)}")
    if len(set(names)) < len(names):
        raise CausalError(
            f"an effect of “{asked.cause}” on “{asked.effect}” names one variable twice; name distinct ones"
        )
    if asked.kind in ("nde", "nie") and not asked.through:
        raise CausalError("a direct or indirect effect needs its mediators; name them")
    if hidden := [name for name in names if name in dag.latent]:
        raise CausalError(f"“{hidden[0]}” is unobserved, so no effect of or on it can be computed; ask for another")


def _total(dag: Dag, asked: Effect, joint: Joint | None) -> Estimand | NotIdentified:
    cause, effect, treated = asked.cause, asked.effect, asked.kind == "ett"
    for given in back_door_sets(dag, cause, effect):
        return Estimand("back-door", given, _adjustment(cause, effect, given, treated))
    for through in front_door_sets(dag, cause, effect):
        return Estimand("front-door", through, _front_door(cause, effect, through, treated))
    found = identified(dag, [cause], [effect])
    if not isinstance(found, Hedge):
        return Estimand("ID", (), f"P({effect} | do({cause})) = {formula(found)}")
    return _unidentified(dag, asked, joint)


def _unidentified(dag: Dag, asked: Effect, joint: Joint | None) -> NotIdentified:
    cause, effect = asked.cause, asked.effect
    observed = [node for node in dag.observed if node not in dag.descendants([cause]) and node != effect]
    trail = back_door_trail(dag, cause, effect, observed) or back_door_trail(dag, cause, effect) or (cause, effect)
    path = written(dag, trail)
    instrument = next(instruments(dag, cause, effect), None)
    hidden = ", ".join(sorted(set(trail) & dag.latent)) or "what is unobserved"
    assumption = f"that {hidden} does not act on both {cause} and {effect}, or an observed variable between"
    if instrument is not None:
        assumption = (
            f"linearity, or one effect for all: {instrument} is an instrument, and the effect is then the ratio of "
            f"what it changes in {effect} to what it changes in {cause}"
        )
    bounds = None if joint is None else effect_bounds(joint, cause, effect, instrument)
    return NotIdentified(f"no observed variable blocks {path}", path, assumption, bounds)


def _natural(dag: Dag, asked: Effect, joint: Joint | None) -> Estimand | NotIdentified:
    cause, effect, through = asked.cause, asked.effect, frozenset(asked.through)
    if _intercepts(dag, cause, effect, through):
        if asked.kind == "nde":
            return Estimand("none", (), "0")
        return _total(dag, asked, joint)
    after = dag.descendants([cause])
    for given in subsets(node for node in dag.observed if node not in after and node != effect):
        if _blocks_mediation(dag, cause, effect, through, frozenset(given)):
            return Estimand("mediation", given, _mediation(asked, given))
    trail = next(
        (
            found
            for middle in sorted(through)
            if (found := back_door_trail(dag.without_edges_out_of(*through), middle, effect, {cause})) is not None
        ),
        back_door_trail(dag, cause, effect) or (cause, effect),
    )
    path = written(dag, trail)
    between = ", ".join(node for node in trail[1:-1]) or "another variable"
    return NotIdentified(
        f"no observed variable blocks {path}, which confounds mediator and effect",
        path,
        f"that {between} does not act on both {trail[0]} and {effect} beside {cause}, or is observed",
    )


def _blocks_mediation(dag: Dag, cause: str, effect: str, through: Nodes, given: Nodes) -> bool:
    if not is_back_door_set(dag, cause, effect, given):
        return False
    severed = dag.without_edges_out_of(*through)
    return all(
        back_door_trail(dag, cause, middle, given) is None
        and back_door_trail(severed, middle, effect, given | {cause}) is None
        for middle in through
    )


def _adjustment(cause: str, effect: str, given: tuple[str, ...], treated: bool) -> str:
    if not given:
        return f"P({effect} | {cause}) − P({effect} | not {cause})"
    by = ", ".join(given)
    weight = f"P({by} | {cause})" if treated else f"P({by})"
    return f"Σ_{{{by}}} [P({effect} | {cause}, {by}) − P({effect} | not {cause}, {by})] {weight}"


def _front_door(cause: str, effect: str, through: tuple[str, ...], treated: bool) -> str:
    by = ", ".join(through)
    moved = f"[P({by} | {cause}) − P({by} | not {cause})]"
    if treated:
        return f"Σ_{{{by}}} {moved} P({effect} | {cause}, {by})"
    return f"Σ_{{{by}}} {moved} Σ_{{{cause}}} P({effect} | {cause}, {by}) P({cause})"


def _mediation(asked: Effect, given: tuple[str, ...]) -> str:
    cause, effect, by, beside = asked.cause, asked.effect, ", ".join(asked.through), "".join(f", {v}" for v in given)
    over = f"Σ_{{{by}{beside}}} "
    weight = f" P({', '.join(given)})" if given else ""
    if asked.kind == "nde":
        moved = f"[P({effect} | {cause}, {by}{beside}) − P({effect} | not {cause}, {by}{beside})]"
        return f"{over}{moved} P({by} | not {cause}{beside}){weight}"
    moved = f"[P({by} | {cause}{beside}) − P({by} | not {cause}{beside})]"
    return f"{over}P({effect} | not {cause}, {by}{beside}) {moved}{weight}"


# ID algorithm


@dataclass(frozen=True)
class P:
    """P(left | given), observed."""

    left: tuple[str, ...]
    given: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sum:
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


@dataclass(frozen=True)
class Hedge:
    """Two sets of variables, bound by unobserved causes, that leave P(y | do(x)) open (Shpitser and Pearl, 2006)."""

    inner: Nodes
    outer: Nodes


Expression = P | Sum | Product | Ratio


@dataclass(frozen=True)
class Projected:
    """A graph over the observed variables: directed edges, and pairs with an unobserved cause in common."""

    order: tuple[str, ...]
    edges: frozenset[tuple[str, str]]
    pairs: frozenset[frozenset[str]]

    def ancestors(self, of: Nodes, within: Nodes) -> Nodes:
        """Those with a directed path to one of them that stays within some variables."""
        found, new = of, of
        while new:
            new = frozenset(a for a, b in self.edges if b in new and a in within) - found
            found |= new
        return found

    def districts(self, within: Nodes) -> list[Nodes]:
        """The sets that unobserved common causes bind (c-components), in topological order of their first members."""
        left, found = [node for node in self.order if node in within], []
        while left:
            district, new = frozenset[str](), frozenset([left[0]])
            while new:
                district |= new
                new = frozenset(n for n in left if any(n in pair and pair & district for pair in self.pairs)) - district
            found.append(district)
            left = [node for node in left if node not in district]
        return found


def project(dag: Dag) -> Projected:
    """The latent projection (Verma and Pearl, 1990)."""
    seen = {node: _seen_through(dag, node) for node in dag.nodes}
    edges = frozenset((node, effect) for node in dag.observed for effect in seen[node])
    pairs = frozenset(frozenset(pair) for hidden in dag.latent for pair in combinations(seen[hidden], 2))
    return Projected(dag.observed, edges, pairs)


def _seen_through(dag: Dag, node: str) -> tuple[str, ...]:
    """Observed variables that it has a directed path to through unobserved ones."""
    found, waiting = set[str](), list(dag.children(node))
    while waiting:
        child = waiting.pop()
        if child in dag.latent:
            waiting += dag.children(child)
        else:
            found.add(child)
    return tuple(sorted(found))


def identified(dag: Dag, causes: Iterable[str], effects: Iterable[str]) -> Expression | Hedge:
    """P(effects | do(causes)) from P(observed), by Tian and Pearl's c-factors; complete for the graph given."""
    graph, causes, effects = project(dag), frozenset(causes), frozenset(effects)
    every = frozenset(graph.order)
    needed = graph.ancestors(effects, every - causes)
    whole = graph.districts(every)
    factors: list[Expression] = []
    for district in graph.districts(needed):
        outer = next(found for found in whole if district <= found)
        factor = _c_factor(graph, district, outer, _observed_factor(graph, outer))
        if isinstance(factor, Hedge):
            return factor
        factors.append(factor)
    return _summed(graph, needed - effects, _multiplied(factors))


def _observed_factor(graph: Projected, district: Nodes) -> Expression:
    """Q[district] from P(observed): the product of each member given all before it."""
    return _multiplied([P((node,), graph.order[: graph.order.index(node)]) for node in graph.order if node in district])


def _c_factor(graph: Projected, inner: Nodes, outer: Nodes, factor: Expression) -> Expression | Hedge:
    """Q[inner] from Q[outer], both c-components."""
    above = graph.ancestors(inner, outer)
    if above == inner:
        return _summed(graph, outer - inner, factor)
    if above == outer:
        return Hedge(inner, outer)
    kept = _summed(graph, outer - above, factor)
    district = next(found for found in graph.districts(above) if inner <= found)
    order = [node for node in graph.order if node in above]
    terms = [
        Ratio(_summed(graph, frozenset(order[place + 1 :]), kept), _summed(graph, frozenset(order[place:]), kept))
        if place
        else _summed(graph, frozenset(order[1:]), kept)
        for place, node in enumerate(order)
        if node in district
    ]
    return _c_factor(graph, inner, district, _multiplied(terms))


def _summed(graph: Projected, over: Nodes, of: Expression) -> Expression:
    return Sum(tuple(node for node in graph.order if node in over), of) if over else of


def _multiplied(terms: Iterable[Expression]) -> Expression:
    terms = tuple(terms)
    return terms[0] if len(terms) == 1 else Product(terms)


def formula(of: Expression) -> str:
    """As one writes it."""
    match of:
        case P(left, given):
            return f"P({', '.join(left)} | {', '.join(given)})" if given else f"P({', '.join(left)})"
        case Sum(over, inner):
            return f"Σ_{{{', '.join(over)}}} {formula(inner)}"
        case Product(terms):
            return " ".join(f"[{formula(term)}]" if isinstance(term, Sum) else formula(term) for term in terms)
        case Ratio(top, bottom):
            return f"[{formula(top)}] / [{formula(bottom)}]"


def evaluate(of: Expression, joint: Joint) -> Values:
    """The numbers of an expression: one axis per variable of the joint, of length 1 where it does not depend on it.

    Raises ImpossibleEvidenceError where it conditions on what has probability 0.
    """
    match of:
        case P(left, given):
            top, bottom = _marginal(joint, {*left, *given}), _marginal(joint, {*given})
            return _divided(top, bottom, f"P({', '.join(given)})")
        case Sum(over, inner):
            return _summed_out(evaluate(inner, joint), joint, over)
        case Product(terms):
            product: Values = np.ones((1,) * len(joint.names))
            for term in terms:
                product = product * evaluate(term, joint)
            return product
        case Ratio(top_part, bottom_part):
            return _divided(evaluate(top_part, joint), evaluate(bottom_part, joint), formula(bottom_part))


def _summed_out(values: Values, joint: Joint, over: tuple[str, ...]) -> Values:
    axes = tuple(joint.names.index(name) for name in over)
    full = tuple(joint.table.shape[axis] if axis in axes else size for axis, size in enumerate(values.shape))
    return np.asarray(np.broadcast_to(values, full).sum(axes, keepdims=True))


def _marginal(joint: Joint, names: set[str]) -> Values:
    axes = tuple(axis for axis, name in enumerate(joint.names) if name not in names)
    return np.asarray(joint.table.sum(axes, keepdims=True))


def _divided(top: Values, bottom: Values, name: str) -> Values:
    if not np.all(bottom > 0):
        raise ImpossibleEvidenceError(f"{name} is 0 for some values, and nothing follows from what never happens")
    return top / bottom


def interventional(of: Expression, joint: Joint, cause: str, effect: str) -> Values:
    """P(effect | do(cause)) as rows of the cause by columns of the effect."""
    values = np.moveaxis(evaluate(of, joint), [joint.names.index(cause), joint.names.index(effect)], [-2, -1])
    return np.asarray(values[(0,) * (values.ndim - 2)])


# Bounds


def effect_bounds(joint: Joint, cause: str, effect: str, instrument: str | None = None) -> tuple[float, float]:
    """The least and greatest average effect of a binary cause on a binary effect that fit the observations.

    Without an instrument the two are 1 apart (Robins 1989, Manski 1990); with a binary one they are those of Balke and
    Pearl (1997). Raises CausalError where the observations refute the instrument.
    """
    if instrument is None:
        table = _binary(joint, (cause, effect))
        return float(table[1, 1] - table[0, 1] - table[1].sum()), float(table[1, 1] + table[0].sum() - table[0, 1])
    return _instrument_bounds(_binary(joint, (instrument, cause, effect)), instrument)


def _binary(joint: Joint, names: tuple[str, ...]) -> Values:
    axes = [joint.names.index(name) for name in names]
    table = np.asarray(_marginal(joint, set(names)))
    table = np.moveaxis(table, axes, range(len(axes))).reshape([joint.table.shape[axis] for axis in axes])
    if set(table.shape) != {2}:
        raise CausalError(f"bounds are computed for binary variables alone, and one of {', '.join(names)} is not")
    return table


def _instrument_bounds(table: Values, name: str) -> tuple[float, float]:
    given = table.sum(axis=(1, 2))
    if not np.all(given > 0):
        raise ImpossibleEvidenceError(f"“{name}” never varies, so it is no instrument")
    observed = (table / given[:, None, None]).reshape(-1)[:-1]
    found = _extremes(_corners_of_cells(), observed)
    if found is None:
        raise CausalError(f"the observations refute “{name}” as an instrument: no population would give them")
    return found


def bounds_from_margins(cause: tuple[float, float], effect: tuple[float, float]) -> tuple[float, float] | None:
    """As `effect_bounds` by an instrument, from P(cause) and P(effect) for either state of it; None if refuted."""
    return _extremes(_corners_of_margins(), np.array([1.0, *cause, *effect]))


# How someone's cause answers the instrument, and their effect the cause: 16 types of people (Balke and Pearl)
_ANSWERS = ((0, 0), (0, 1), (1, 0), (1, 1))
_TYPES = tuple(product(_ANSWERS, _ANSWERS))
_GAIN = np.array([float(gives[1] - gives[0]) for _, gives in _TYPES])
_Corners = tuple[NDArray[np.int64], Values]


@lru_cache(maxsize=1)
def _corners_of_cells() -> _Corners:
    """Of populations with given P(x, y | z), the last cell left out as it follows."""
    cells = list(product((0, 1), repeat=3))[:-1]
    return _corners([[float(takes[z] == x and gives[x] == y) for takes, gives in _TYPES] for z, x, y in cells])


@lru_cache(maxsize=1)
def _corners_of_margins() -> _Corners:
    """Of populations with given P(x | z) and P(y | z)."""
    causes = [[float(takes[z]) for takes, _ in _TYPES] for z in (0, 1)]
    effects = [[float(gives[takes[z]]) for takes, gives in _TYPES] for z in (0, 1)]
    return _corners([[1.0] * len(_TYPES), *causes, *effects])


def _corners(rows: list[list[float]]) -> _Corners:
    """The types that can make up a corner of the polytope, and what takes the observations to their shares."""
    table = np.array(rows)
    chosen = np.array(list(combinations(range(len(_TYPES)), len(rows))))
    bases = np.moveaxis(table[:, chosen], 0, 1)
    regular = np.abs(np.linalg.det(bases)) > 0.5
    return chosen[regular], np.linalg.inv(bases[regular])


def _extremes(corners: _Corners, observed: Values) -> tuple[float, float] | None:
    chosen, inverses = corners
    shares = inverses @ observed
    possible = np.all(shares >= -1e-9, axis=1)
    gains = np.sum(shares[possible] * _GAIN[chosen[possible]], axis=1)
    return (float(gains.min()), float(gains.max())) if possible.any() else None


# The same asked of the libraries


def found_by_pgmpy(dag: Dag, cause: str, effect: str) -> dict[str, frozenset[Nodes]]:
    """The `back-door` and `front-door` sets that pgmpy finds."""
    from pgmpy.base import DAG  # noqa: PLC0415 - brings torch with it
    from pgmpy.identification import Adjustment, Frontdoor  # noqa: PLC0415

    graph = DAG(list(dag.edges), latents=set(dag.latent))
    graph.add_nodes_from(dag.nodes)
    graph = graph.with_role("exposures", {cause}).with_role("outcomes", {effect})
    by_role = {"adjustment": Adjustment(variant="all"), "frontdoor": Frontdoor(variant="all")}
    sets: list[frozenset[Nodes]] = []
    for role, method in by_role.items():
        found, identified_so = method.identify(graph)
        sets.append(frozenset(frozenset(one.get_role(role)) for one in found) if identified_so else frozenset())
    return {"back-door": sets[0], "front-door": sets[1]}


def found_by_y0(dag: Dag, cause: str, effect: str) -> str | None:
    """The formula that y0's ID algorithm finds for P(effect | do(cause)), None where it is not identifiable.

    Where the algorithm goes on with another distribution, the formula writes that as P too (on the napkin graph it
    reads P(y | x), which is not the effect): what can be compared is whether there is one.
    """
    from y0.algorithm.identify import identify_outcomes  # noqa: PLC0415 - brings pandas with it
    from y0.dsl import Variable  # noqa: PLC0415
    from y0.graph import NxMixedGraph  # noqa: PLC0415

    graph = project(dag)
    mixed = NxMixedGraph.from_str_edges(
        nodes=list(graph.order), directed=list(graph.edges), undirected=[tuple(sorted(pair)) for pair in graph.pairs]
    )
    found = identify_outcomes(mixed, treatments=Variable(cause), outcomes=Variable(effect))
    return None if found is None else str(found)
