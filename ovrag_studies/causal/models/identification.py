"""Tell whether a causal graph lets one compute an effect from observations.

The ways are adjustment, front door, mediation and the ID algorithm. What is not identified comes with the trail that
stays open and an assumption that would suffice.
Source: Pearl, Causality (2009), chapters 3 and 4; natural effects: Pearl, UAI 2001. Bounds: Robins (1989) and Manski
(1990) without, Balke and Pearl (JASA 92, 1997) with a binary instrument.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, product
from typing import Literal

import numpy as np
from scipy.optimize import linprog

from ovrag_core.base import CausalError, ImpossibleEvidenceError
from ovrag_studies.causal.models.dags import Dag, Nodes, back_door_trail, open_trail, written
from ovrag_studies.causal.models.id_algorithm import Joint, Values, formula, identified

Kind = Literal["ate", "ett", "nde", "nie"]
Method = Literal["none", "back-door", "front-door", "ID", "mediation"]


@dataclass(frozen=True)
class Effect:
    """An effect asked for: of `cause` on `effect`; `through` are the mediators of a natural direct or indirect one."""

    kind: Kind
    cause: str
    effect: str
    through: tuple[str, ...] = ()


@dataclass(frozen=True)
class Estimand:
    """Way to the effect from observations: adjust for `by`, or pass through it in the case of a front door."""

    method: Method
    by: tuple[str, ...]
    formula: str


@dataclass(frozen=True)
class NotIdentified:
    """Reason why no observation can tell: the trail that stays open, and an assumption that would suffice.

    `bounds` are those of the average effect where the joint distribution was given.
    """

    reason: str
    path: str
    assumption: str
    bounds: tuple[float, float] | None = None


def _sets_beside(dag: Dag, cause: str, effect: str) -> Iterator[tuple[str, ...]]:
    return _subsets(node for node in dag.observed if node not in (cause, effect))


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
    return filter(partial(is_back_door_set, dag, cause, effect), _sets_beside(dag, cause, effect))


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
    return filter(partial(is_front_door_set, dag, cause, effect), _sets_beside(dag, cause, effect))


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
    for covariates in back_door_sets(dag, cause, effect):
        return Estimand("back-door", covariates, _adjustment(cause, effect, covariates, treated))
    for through in front_door_sets(dag, cause, effect):
        return Estimand("front-door", through, _front_door(cause, effect, through, treated))
    expression = identified(dag, [cause], [effect])
    if expression is not None:
        return Estimand("ID", (), f"P({effect} | do({cause})) = {formula(expression)}")
    return _unidentified(dag, asked, joint)


def _unidentified(dag: Dag, asked: Effect, joint: Joint | None) -> NotIdentified:
    cause, effect = asked.cause, asked.effect
    observed = [node for node in dag.observed if node not in dag.descendants([cause]) and node != effect]
    trail = back_door_trail(dag, cause, effect, observed) or back_door_trail(dag, cause, effect) or (cause, effect)
    path = written(dag, trail)
    instrument = next(instruments(dag, cause, effect), None)
    assumption = _without_fork(dag, asked, trail)
    if instrument:
        assumption = (
            f"linearity, or one effect for all: {instrument} is an instrument, and the effect is then the ratio of "
            f"what it changes in {effect} to what it changes in {cause}"
        )
    bounds = None if joint is None else effect_bounds(joint, cause, effect, instrument)
    return NotIdentified(f"no observed variable blocks {path}", path, assumption, bounds)


def _without_fork(dag: Dag, asked: Effect, trail: tuple[str, ...]) -> str:
    """That an unobserved variable of a trail does not act on both its neighbours there, or is observed, if that is all
    that is needed; else that everything is observed that is not.
    """
    for left, middle, right in zip(trail, trail[1:], trail[2:], strict=False):
        revealed = replace(dag, latent=dag.latent - {middle})
        if middle in dag.latent and identified(revealed, [asked.cause], [asked.effect]) is not None:
            return f"that {middle} does not act on both {left} and {right}, or is observed"
    return f"that {', '.join(sorted(dag.latent))} are all observed, or act on one variable each"


def _natural(dag: Dag, asked: Effect, joint: Joint | None) -> Estimand | NotIdentified:
    cause, effect, through = asked.cause, asked.effect, frozenset(asked.through)
    if intercepts(dag, cause, effect, through):
        if asked.kind == "nde":
            return Estimand("none", (), "0")
        return _total(dag, asked, joint)
    after = dag.descendants([cause])
    for covariates in _subsets(node for node in dag.observed if node not in after and node != effect):
        unconfounded = _is_unconfounded(dag, cause, effect, through, frozenset(covariates))
        if unconfounded and is_back_door_set(dag, cause, effect, covariates):
            return Estimand("mediation", covariates, _mediation(asked, covariates))
    return _unidentified_natural(dag, asked)


def _unidentified_natural(dag: Dag, asked: Effect) -> NotIdentified:
    cause, effect, through = asked.cause, asked.effect, frozenset(asked.through)
    after = dag.descendants([cause])
    severed = dag.without_edges_out_of(*through)
    trails = [back_door_trail(severed, middle, effect, {cause}) for middle in sorted(through)]
    trail = next(filter(None, [*trails, back_door_trail(dag, cause, effect)]), (cause, effect))
    path = written(dag, trail)
    if moved := [node for node in trail[1:-1] if node in after and node not in dag.latent]:
        return NotIdentified(
            f"{path} confounds mediator and effect, and {moved[0]} is itself an effect of {cause}",
            path,
            f"that {cause} does not act on {moved[0]}, or {moved[0]} not on both {trail[0]} and {effect}",
        )
    between = ", ".join(trail[1:-1]) or "another variable"
    return NotIdentified(
        f"no observed variable blocks {path}, which confounds mediator and effect",
        path,
        f"that {between} does not act on both {trail[0]} and {effect} beside {cause}, or is observed",
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
    table = np.moveaxis(joint.marginal(names), axes, range(len(axes))).reshape(
        [joint.table.shape[axis] for axis in axes]
    )
    if set(table.shape) != {2}:
        raise CausalError(f"bounds are computed for binary variables alone, and one of {', '.join(names)} is not")
    return table


def _instrument_bounds(table: Values, name: str) -> tuple[float, float]:
    instrument_chances = table.sum(axis=(1, 2))
    if not np.all(instrument_chances > 0):
        raise ImpossibleEvidenceError(f"“{name}” never varies, so it is no instrument")
    observed = (table / instrument_chances[:, None, None]).reshape(-1)[:-1]
    cells = list(product((0, 1), repeat=3))[:-1]  # the last follows from the others
    rows = [[float(takes[z] == x and gives[x] == y) for takes, gives in _TYPES] for z, x, y in cells]
    # the least and greatest mean gain of populations whose types add up to what was observed
    shares, totals = [[1.0] * len(_TYPES), *rows], [1.0, *observed]
    least, most = (linprog(sign * _GAIN, A_eq=shares, b_eq=totals, method="highs") for sign in (1.0, -1.0))
    if not (least.success and most.success):
        raise CausalError(f"the observations refute “{name}” as an instrument: no population would give them")
    return float(least.fun) + 0.0, 0.0 - float(most.fun)


# How someone's cause answers the instrument, and their effect the cause: 16 types of people (Balke and Pearl)
_ANSWERS = ((0, 0), (0, 1), (1, 0), (1, 1))
_TYPES = tuple(product(_ANSWERS, _ANSWERS))
_GAIN = np.array([float(gives[1] - gives[0]) for _, gives in _TYPES])
