"""Tell whether a causal graph lets one compute an effect from observations.

The ways are adjustment, front door, mediation and the ID algorithm. What is not identified comes with the trail that
stays open and an assumption that would suffice.
Source: Pearl, Causality (2009), chapters 3 and 4; natural effects: Pearl, UAI 2001.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Literal

from ovrag_core.base import CausalError
from ovrag_studies.causal.models.dags import Dag, Nodes, back_door_trail, open_trail, written
from ovrag_studies.causal.models.distributions import Joint
from ovrag_studies.causal.models.effect_bounds import effect_bounds
from ovrag_studies.causal.models.id_algorithm import Hedge, formula, identified

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


def subsets(of: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """All of them, the smallest first."""
    items = tuple(of)
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def is_back_door_set(dag: Dag, cause: str, effect: str, given: Iterable[str]) -> bool:
    """Check that adjusting for `given` leaves the causal effect: no descendant of the cause, no open trail into it."""
    given = frozenset(given)
    return not given & dag.descendants([cause]) and back_door_trail(dag, cause, effect, given) is None


def back_door_sets(dag: Dag, cause: str, effect: str) -> Iterator[tuple[str, ...]]:
    """Admissible sets of observed variables, the smallest first."""
    candidates = [node for node in dag.observed if node not in (cause, effect)]
    return (covariates for covariates in subsets(candidates) if is_back_door_set(dag, cause, effect, covariates))


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
    candidates = [node for node in dag.observed if node not in (cause, effect)]
    return (through for through in subsets(candidates) if is_front_door_set(dag, cause, effect, through))


def _intercepts(dag: Dag, cause: str, effect: str, through: Nodes) -> bool:
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
    if not isinstance(expression, Hedge):
        return Estimand("ID", (), f"P({effect} | do({cause})) = {formula(expression)}")
    return _unidentified(dag, asked, joint)


def _unidentified(dag: Dag, asked: Effect, joint: Joint | None) -> NotIdentified:
    cause, effect = asked.cause, asked.effect
    observed = [node for node in dag.observed if node not in dag.descendants([cause]) and node != effect]
    trail = back_door_trail(dag, cause, effect, observed) or back_door_trail(dag, cause, effect) or (cause, effect)
    path = written(dag, trail)
    instrument = next(instruments(dag, cause, effect), None)
    assumption = _without_fork(dag, asked, trail)
    if instrument is not None:
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
        if middle in dag.latent and not isinstance(identified(revealed, [asked.cause], [asked.effect]), Hedge):
            return f"that {middle} does not act on both {left} and {right}, or is observed"
    return f"that {', '.join(sorted(dag.latent))} are all observed, or act on one variable each"


def _natural(dag: Dag, asked: Effect, joint: Joint | None) -> Estimand | NotIdentified:
    cause, effect, through = asked.cause, asked.effect, frozenset(asked.through)
    if _intercepts(dag, cause, effect, through):
        if asked.kind == "nde":
            return Estimand("none", (), "0")
        return _total(dag, asked, joint)
    after = dag.descendants([cause])
    for covariates in subsets(node for node in dag.observed if node not in after and node != effect):
        if _blocks_mediation(dag, cause, effect, through, frozenset(covariates)):
            return Estimand("mediation", covariates, _mediation(asked, covariates))
    return _unidentified_natural(dag, asked)


def _unidentified_natural(dag: Dag, asked: Effect) -> NotIdentified:
    cause, effect, through = asked.cause, asked.effect, frozenset(asked.through)
    after = dag.descendants([cause])
    trail = next(
        (
            mediator_trail
            for middle in sorted(through)
            if (mediator_trail := back_door_trail(dag.without_edges_out_of(*through), middle, effect, {cause}))
            is not None
        ),
        back_door_trail(dag, cause, effect) or (cause, effect),
    )
    path = written(dag, trail)
    if moved := [node for node in trail[1:-1] if node in after and node not in dag.latent]:
        return NotIdentified(
            f"{path} confounds mediator and effect, and {moved[0]} is itself an effect of {cause}",
            path,
            f"that {cause} does not act on {moved[0]}, or {moved[0]} not on both {trail[0]} and {effect}",
        )
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
