"""CLadder's questions by parser and exact inference: text, estimand, its value, and what rounding leaves open.

Nothing but the text is used. Every answer comes with its graph, estimand, numbers, the interval that the printed digits
allow, and a status; where an answer needs an assumption that the graph does not grant, the assumption is named.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ovrag_core.base import CausalError, StrataError
from ovrag_studies.causal.models.dags import Dag, open_trail
from ovrag_studies.causal.models.identification import Effect, NotIdentified, identify, intercepts, is_back_door_set
from ovrag_studies.causal.questions import cladder_estimates as estimates
from ovrag_studies.causal.questions import det_counterfactuals
from ovrag_studies.causal.questions.cladder_estimates import PrintedEstimate
from ovrag_studies.causal.questions.cladder_roles import Roles, assign, mediators, named
from ovrag_studies.causal.questions.cladder_tables import Tables, make_tables
from ovrag_studies.causal.questions.cladder_text import (
    NumberProblem,
    NumberQuery,
    NumberSolution,
    PrintedNumber,
    determined,
    parse,
)

NEGLIGIBLE = 0.005
"""An effect below it is no effect in CLadder: it neither increases nor decreases anything."""

EXACT = 1e-9

_identify = lru_cache(maxsize=4096)(identify)  # many questions share a graph


def answer(background: str, given_info: str, question: str) -> NumberSolution:
    """The solution of a question; what cannot be read has the status `unread` and the reason."""
    try:
        return solve(parse(background, given_info, question))
    except CausalError as error:
        return NumberSolution(None, "unread", reason=str(error))


def solve(problem: NumberProblem) -> NumberSolution:
    """The solution of a question as read. Raises CausalError and its kinds for numbers that do not make a problem."""
    match problem.query.kind:
        case "deterministic":
            return det_counterfactuals.solve(problem)
        case "adjustment":
            return _adjustment(problem.graph, problem.query)
        case "collider":
            return _collider(problem)
    return _numeric(problem)


def _adjustment(graph: Dag, query: NumberQuery) -> NumberSolution:
    """Choose the one of two methods that leaves the causal effect; the direct look where both do."""
    x, y = named(graph, query.x), named(graph, query.y)
    adjustment_sets = [(named(graph, name),) if name else () for name in query.by]
    variables = {"x": x, "y": y}
    if adjusted := adjustment_sets[0] or adjustment_sets[1]:
        variables["z"] = adjusted[0]
    ranks = [(is_back_door_set(graph, x, y, covariates), not covariates) for covariates in adjustment_sets]
    if ranks[0] == ranks[1] or not (ranks[0][0] or ranks[1][0]):
        why = "both methods leave" if ranks[0][0] else "neither method leaves"
        reason = f"{why} the causal effect, so neither is more correct"
        return NumberSolution(None, "unread", reason=reason, variables=variables)
    better = ranks.index(max(ranks))
    covariates = ", ".join(adjustment_sets[better]) or "nothing"
    return determined((better == 0) == query.upwards, f"adjust for {covariates}", variables)


def _collider(problem: NumberProblem) -> NumberSolution:
    query, graph = problem.query, problem.graph
    roles = assign(graph, "association", {"x": (query.x,), "y": (query.y,), "m": (query.other,)}, {})
    moves = roles.variables["y"] in graph.descendants([roles.variables["x"]])
    path = "there is a directed path" if moves else "there is no directed path, so the correlation is not causal"
    estimand = "P(y | do(x), v) − P(y | do(not x), v)"
    solution = determined(moves == query.upwards, estimand, roles.variables, (path,))
    return replace(solution, numbers=problem.statements)


def _numeric(problem: NumberProblem) -> NumberSolution:
    tables = make_tables(problem.statements)
    estimate, fixed = _estimate(problem, tables)
    roles = assign(problem.graph, estimate.shape, estimate.parts, fixed)
    if roles.adjusted and estimate.alternative is not None:
        estimate = estimate.alternative
    value, low, high = bounds(estimate, problem.statements)
    excess = value - estimate.against if problem.query.upwards else estimate.against - value
    confirmed = excess > (0.0 if estimate.against else NEGLIGIBLE)
    independent = _independent(problem, roles)
    yes = confirmed and not (independent and low <= 0 <= high)
    solution = replace(
        determined(yes, estimate.formula, roles.variables, tables.notes),
        value=value,
        low=low,
        high=high,
        numbers=tuple(problem.statements[index] for index in dict.fromkeys(estimate.uses)),
    )
    return _judged(problem, estimate, roles, solution, independent)


def _independent(problem: NumberProblem, roles: Roles) -> str:
    """Say why the two of an association are independent by the graph, which settles what digits leave open."""
    x, y = roles.variables.get("x", ""), roles.variables["y"]
    if problem.query.kind != "correlation" or roles.vague or open_trail(problem.graph, x, y) is not None:
        return ""
    return f"no trail of the graph joins {x} and {y}, so they are independent"


_ESTIMATES = {
    "marginal": estimates.marginal,
    "correlation": estimates.association,
    "explaining away": estimates.explaining_away,
    "ate": estimates.effect,
    "ett": estimates.effect,
}


def _estimate(problem: NumberProblem, tables: Tables) -> tuple[PrintedEstimate, dict[str, str]]:
    """The estimate, and the parts that the question calls by the names of the graph."""
    query, graph = problem.query, problem.graph
    if query.kind in _ESTIMATES:
        return _ESTIMATES[query.kind](query, tables), {}
    fixed = {"x": named(graph, query.x), "y": named(graph, query.y)}
    through = mediators(graph, query.other)
    if query.kind == "nie" and intercepts(graph, fixed["x"], fixed["y"], through):
        estimate = estimates.effect(query, tables)
    else:
        estimate = estimates.natural(query, tables)
    return estimate, fixed | ({"m": through[0]} if "m" in estimate.parts else {})


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
    low, high = solution.low or 0.0, solution.high or 0.0
    if low < estimate.against - EXACT and high > estimate.against + EXACT:
        reason = f"the printed digits allow {low:.3f} to {high:.3f}"
        reason = f"{reason}; {independent}" if independent else reason
        return replace(solution, status="open by rounding", reason=reason)
    if not estimate.against and min(abs(low), abs(high)) < NEGLIGIBLE:
        note = f"the digits allow an effect below {NEGLIGIBLE}, which counts as none"
        return replace(solution, notes=(*solution.notes, note))
    return solution


def _unidentified(problem: NumberProblem, roles: Roles) -> tuple[str, str] | None:
    """Say why the effect is not identified, and name an assumption that would suffice."""
    kind = problem.query.kind
    if kind in ("ate", "ett", "nde", "nie"):
        through = mediators(problem.graph, problem.query.other) if kind in ("nde", "nie") else ()
        effect = Effect(kind, roles.variables["x"], roles.variables["y"], through)
        identification = _identify(problem.graph, effect)
        if isinstance(identification, NotIdentified):
            return identification.reason, identification.assumption
    if roles.fits:
        return None
    reason = "the printed numbers do not identify the effect in this graph; print the strata of what confounds it"
    return reason, "that nothing confounds it"


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
        raise StrataError(f"the instrument moves nothing (“{statements[indices[2]].text}.”); no ratio follows")
    if estimate.shape == "instrument":
        moved = spread[indices[3]] - spread[indices[2]]
        if np.min(moved) <= 0 <= np.max(moved):
            return value, -1.0, 1.0
    return value, max(float(np.min(at_corners)), -1.0), min(float(np.max(at_corners)), 1.0)


def _weight_decides(estimate: PrintedEstimate, statements: tuple[PrintedNumber, ...]) -> bool:
    """Return True where the sign depends on a weight that is not printed."""
    extremes = {
        index: np.array([0.0, 1.0]) if index in estimate.weight_free else np.full(2, statements[index].value)
        for index in estimate.uses
    }
    return bool(np.prod(np.sign(estimate.compute(extremes))) < 0)


@lru_cache(maxsize=32)
def _corners(size: int) -> NDArray[np.float64]:
    """All corners of a cube, a row for each number."""
    return np.array(np.meshgrid(*[[-1.0, 1.0]] * size, indexing="ij")).reshape(size, -1)
