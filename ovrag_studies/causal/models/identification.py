"""Tell whether a causal graph lets one compute an effect from observations.

The ways are adjustment, front door, mediation and the ID algorithm. What is not identified comes with the trail that
stays open and an assumption that would suffice.
Source: Pearl, Causality (2009), chapters 3 and 4; natural effects: Pearl, UAI 2001.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, combinations
from typing import Literal, NamedTuple

from ovrag_core.base import CausalError
from ovrag_studies.causal.models.dags import Dag, Nodes, back_door_trail, open_trail, written
from ovrag_studies.causal.models.id_algorithm import identified

Kind = Literal["ate", "ett", "nde", "nie"]
Method = Literal["none", "back-door", "front-door", "ID", "mediation"]


class Estimand(NamedTuple):
    """Way to the effect from observations: adjust for `by`, or pass through it in the case of a front door."""

    method: Method
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
    observed = [node for node in dag.observed if node not in dag.descendants([cause]) and node != effect]
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
    for covariates in _subsets(node for node in dag.observed if node not in after and node != effect):
        unconfounded = _is_unconfounded(dag, cause, effect, through, frozenset(covariates))
        if unconfounded and is_back_door_set(dag, cause, effect, covariates):
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
