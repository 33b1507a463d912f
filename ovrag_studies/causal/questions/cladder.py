"""CLadder's questions by parser and exact inference: text, estimand, its value, and what rounding leaves open.

Nothing but the text is used. Every answer comes with its graph, estimand, numbers, the interval that the printed digits
allow, and a status; where an answer needs an assumption that the graph does not grant, the assumption is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ovrag_core.base import CausalError, StrataError
from ovrag_studies.causal.models.dags import Dag, open_trail
from ovrag_studies.causal.models.identification import Effect, NotIdentified, is_back_door_set
from ovrag_studies.causal.questions import cladder_estimates as estimates
from ovrag_studies.causal.questions import det_counterfactuals
from ovrag_studies.causal.questions.cladder_estimates import Compute, Parts, PrintedEstimate
from ovrag_studies.causal.questions.cladder_roles import Roles, assign, identification_of, mediators, named
from ovrag_studies.causal.questions.cladder_tables import Values, make_tables
from ovrag_studies.causal.questions.cladder_text import NumberProblem, NumberQuery, PrintedNumber, parse

NEGLIGIBLE = 0.005
"""An effect below it is no effect in CLadder: it neither increases nor decreases anything."""

EXACT = 1e-9

Status = Literal[
    "determined", "open by rounding", "missing strata", "strata read alike", "not identified", "contradictory", "unread"
]


@dataclass(frozen=True)
class NumberSolution:
    """An answer, None where there is none, and how it came about.

    `value` is what the printed numbers give (an effect, or a probability to compare with one half); `low` and `high`
    what any numbers that print so could give. `status` says whether that settles the sign. `assumption` is what the
    answer rests on beyond the graph; `reason` is why it is not determined, `variables` who is who.
    """

    answer: Literal["yes", "no"] | None
    status: Status
    value: float | None = None
    low: float | None = None
    high: float | None = None
    estimand: str = ""
    reason: str = ""
    assumption: str = ""
    numbers: tuple[PrintedNumber, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def answer(background: str, given_info: str, question: str) -> NumberSolution:
    """The solution of a question; what cannot be read has the status `unread` and the reason."""
    try:
        return solve(parse(background, given_info, question))
    except CausalError as error:
        return NumberSolution(None, "unread", reason=str(error))


def solve(problem: NumberProblem) -> NumberSolution:
    """The solution of a question as read. Raises CausalError and its kinds for numbers that do not make a problem."""
    query = problem.query
    match query.kind:
        case "deterministic":
            return _deterministic(problem)
        case "adjustment":
            return _adjustment(problem.graph, query)
        case "collider":
            return _collider(problem)
    return _numeric(problem)


def _deterministic(problem: NumberProblem) -> NumberSolution:
    derived = det_counterfactuals.solve(problem)
    return NumberSolution(
        _said(derived.value),
        "determined",
        float(derived.value),
        estimand=f"what is asked, under do({problem.query.x})",
        variables=derived.variables,
        notes=derived.derivation,
    )


def _adjustment(graph: Dag, query: NumberQuery) -> NumberSolution:
    """Choose the one of two methods that leaves the causal effect; the direct look where both do."""
    x, y = named(graph, query.x), named(graph, query.y)
    adjustment_sets = [(named(graph, name),) if name else () for name in query.by]
    sound = [is_back_door_set(graph, x, y, adjustment) for adjustment in adjustment_sets]
    variables = {
        "x": x,
        "y": y,
        **({"z": adjusted[0]} if (adjusted := adjustment_sets[0] or adjustment_sets[1]) else {}),
    }
    if sound[0] == sound[1] and (not sound[0] or bool(adjustment_sets[0]) == bool(adjustment_sets[1])):
        why = "both methods leave" if sound[0] else "neither method leaves"
        reason = f"{why} the causal effect, so neither is more correct"
        return NumberSolution(None, "unread", reason=reason, variables=variables)
    better = int(bool(adjustment_sets[0])) if sound[0] == sound[1] else int(sound[1])
    covariates = ", ".join(adjustment_sets[better]) or "nothing"
    verdict = _said((better == 0) == query.upwards)
    return NumberSolution(verdict, "determined", estimand=f"adjust for {covariates}", variables=variables)


def _collider(problem: NumberProblem) -> NumberSolution:
    """Decide whether x affects y, whatever their correlation among those looked at."""
    query, graph = problem.query, problem.graph
    role_phrases: Parts = {"x": (query.x,), "y": (query.y,), "m": (query.other,)}
    roles = assign(graph, PrintedEstimate("association", (), lambda p: np.zeros(1), "", role_phrases), {})
    moves = roles.variables["y"] in graph.descendants([roles.variables["x"]])
    path = "there is a directed path" if moves else "there is no directed path, so the correlation is not causal"
    return NumberSolution(
        _said(moves == query.upwards),
        "determined",
        estimand="P(y | do(x), v) − P(y | do(not x), v)",
        numbers=problem.statements,
        variables=roles.variables,
        notes=(path,),
    )


def _numeric(problem: NumberProblem) -> NumberSolution:
    estimate, fixed = _estimate(problem)
    roles = assign(problem.graph, estimate, fixed)
    if roles.adjusted and estimate.alternative is not None:
        compute, formula = estimate.alternative
        estimate = replace(estimate, compute=compute, formula=formula)
    value, low, high = bounds(estimate, problem.statements)
    upwards = value > 0.5 if estimate.against else value > NEGLIGIBLE
    downwards = value < 0.5 if estimate.against else value < -NEGLIGIBLE
    confirmed = upwards if problem.query.upwards else downwards
    independent = _independent(problem, roles)
    solution = NumberSolution(
        _said(bool(confirmed) and not (independent and low <= 0 <= high)),
        "determined",
        value,
        low,
        high,
        estimate.formula,
        numbers=tuple(problem.statements[index] for index in dict.fromkeys(estimate.uses)),
        variables=roles.variables,
        notes=estimate.notes,
    )
    return _judged(problem, estimate, roles, solution, independent)


def _independent(problem: NumberProblem, roles: Roles) -> str:
    """Say why the two of an association are independent by the graph, which settles what digits leave open."""
    x, y = roles.variables.get("x", ""), roles.variables["y"]
    if problem.query.kind != "correlation" or roles.vague or open_trail(problem.graph, x, y) is not None:
        return ""
    return f"no trail of the graph joins {x} and {y}, so they are independent"


def _estimate(problem: NumberProblem) -> tuple[PrintedEstimate, dict[str, str]]:
    """The estimate, and the parts that the question calls by the names of the graph."""
    query, tables = problem.query, make_tables(problem.statements)
    graph, fixed = problem.graph, dict[str, str]()
    match query.kind:
        case "marginal":
            estimate = estimates.marginal(query, tables)
        case "correlation":
            estimate = estimates.association(query, tables)
        case "explaining away":
            estimate = estimates.explaining_away(query, tables)
        case "ate":
            estimate = estimates.effect(query, tables)
        case "ett":
            estimate = estimates.effect(query, tables, treated=True)
        case _:
            x, y = named(graph, query.x), named(graph, query.y)
            through = mediators(graph, query.other)
            fixed = {"x": x, "y": y}
            if query.kind == "nie" and y not in graph.without_edges_out_of(*through).descendants([x]):
                estimate = estimates.effect(query, tables, named=True)
            else:
                estimate = estimates.natural(query, tables, direct=query.kind == "nde")
            if "m" in estimate.parts:
                fixed["m"] = through[0]
    return replace(estimate, notes=tables.notes), fixed


def _judged(
    problem: NumberProblem, estimate: PrintedEstimate, roles: Roles, solution: NumberSolution, independent: str
) -> NumberSolution:
    """The status: strata that can be told apart, an identified effect, all its numbers, then rounding."""
    if alike := [note for note in solution.notes if "read alike" in note]:
        assumption = "that strata are printed in order"
        return replace(solution, status="strata read alike", reason=alike[0], assumption=assumption)
    if unidentified := _unidentified(problem, roles):
        reason, assumption = unidentified
        return replace(solution, status="not identified", reason=reason, assumption=assumption)
    if estimate.weight_free and _weight_decides(estimate, problem.statements):
        reason = f"{estimate.weight_name} is needed and not printed; the overall probability stands in for it"
        return replace(solution, status="missing strata", reason=reason, assumption="that the two are alike")
    return _rounded(solution, estimate.against, independent)


def _rounded(solution: NumberSolution, against: float, independent: str) -> NumberSolution:
    """Mark what the printed digits leave open, where all else is settled."""
    low, high = solution.low or 0.0, solution.high or 0.0
    if low < against - EXACT and high > against + EXACT:
        reason = f"the printed digits allow {low:.3f} to {high:.3f}"
        reason = f"{reason}; {independent}" if independent else reason
        return replace(solution, status="open by rounding", reason=reason)
    if independent and max(low, -high) > EXACT:
        reason = f"{independent}; yet the printed numbers differ by {low:.3f} to {high:.3f}"
        return replace(solution, status="contradictory", reason=reason)
    if not against and min(abs(low), abs(high)) < NEGLIGIBLE:
        note = f"the digits allow an effect below {NEGLIGIBLE}, which counts as none"
        return replace(solution, notes=(*solution.notes, note))
    return solution


def _unidentified(problem: NumberProblem, roles: Roles) -> tuple[str, str] | None:
    """Say why the effect is not identified, and name an assumption that would suffice."""
    kind = problem.query.kind
    if kind in ("ate", "ett", "nde", "nie"):
        through = mediators(problem.graph, problem.query.other) if kind in ("nde", "nie") else ()
        effect = Effect(kind, roles.variables["x"], roles.variables["y"], through)
        identification = identification_of(problem.graph, effect)
        if isinstance(identification, NotIdentified):
            return identification.reason, identification.assumption
    if roles.fits:
        return None
    reason = "the printed numbers do not identify the effect in this graph; print the strata of what confounds it"
    return reason, "that nothing confounds it"


# Rounding


def bounds(estimate: PrintedEstimate, statements: tuple[PrintedNumber, ...]) -> tuple[float, float, float]:
    """The value, and its least and greatest over all numbers that print so.

    Every estimand here is monotone in each number while the others are held, so the corners of the box have both
    extremes; where the denominator of a ratio may be 0, they are −1 and 1. Raises StrataError where it is 0.
    """
    indices = tuple(dict.fromkeys(estimate.uses))
    centre = {index: np.array([statements[index].value]) for index in indices}
    spread = {
        index: np.clip(statements[index].value + corner * statements[index].unit, 0.0, 1.0)
        for index, corner in zip(indices, _corners(len(indices)), strict=True)
    }
    value, at_corners = float(estimate.compute(centre)[0]), estimate.compute(spread)
    if not np.isfinite(value):
        alike = statements[indices[2]].text
        raise StrataError(
            f"the instrument moves nothing (“{alike}.” and the same for the other state); no ratio follows"
        )
    low, high = float(np.min(at_corners)), float(np.max(at_corners))
    if estimate.shape == "instrument" and _may_vanish(indices, spread):
        low, high = -1.0, 1.0
    return value, max(low, -1.0), min(high, 1.0)


def _may_vanish(places: tuple[int, ...], spread: Mapping[int, Values]) -> bool:
    """Return True where the instrument may leave the cause as it is."""
    moved = spread[places[3]] - spread[places[2]]
    return bool(np.min(moved) <= 0 <= np.max(moved))


def _weight_decides(estimate: PrintedEstimate, statements: tuple[PrintedNumber, ...]) -> bool:
    """Return True where the sign depends on a weight that is not printed."""
    return bool(np.prod(np.sign(_over_weight(estimate.compute, estimate, statements))) < 0)


def _over_weight(compute: Compute, estimate: PrintedEstimate, statements: tuple[PrintedNumber, ...]) -> Values:
    return compute(
        {
            index: np.array([0.0, 1.0]) if index in estimate.weight_free else np.full(2, statements[index].value)
            for index in estimate.uses
        }
    )


@lru_cache(maxsize=32)
def _corners(size: int) -> NDArray[np.float64]:
    """All corners of a cube, a row for each number."""
    return np.array(np.meshgrid(*[[-1.0, 1.0]] * size, indexing="ij")).reshape(size, -1)


def _said(yes: bool) -> Literal["yes", "no"]:
    return "yes" if yes else "no"
