"""CLadder's questions by parser and exact inference: text, estimand, its value, and what rounding leaves open.

Nothing but the text is used. Every answer comes with its graph, estimand, numbers, the interval that the printed digits
allow, and a status; where an answer needs an assumption that the graph does not grant, the assumption is named. Each
phrase of a question is matched to a variable of the graph by shared words, and by what the numbers allow.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from ovrag_core.base import CausalError, StrataError, UnreadError
from ovrag_studies.causal.models import identification
from ovrag_studies.causal.models.dags import Dag, open_trail
from ovrag_studies.causal.questions import cladder_estimates as estimates
from ovrag_studies.causal.questions import det_counterfactuals
from ovrag_studies.causal.questions.cladder_estimates import Parts, PrintedEstimate, Shape
from ovrag_studies.causal.questions.cladder_tables import Tables, make_tables
from ovrag_studies.causal.questions.cladder_text import NumberProblem, NumberSolution, Status, determined, name, parse
from ovrag_studies.causal.questions.phrases import likeness

NEGLIGIBLE = 0.005
"""An effect below it is no effect in CLadder: it neither increases nor decreases anything."""
FITTING = 0.5
"""What it is worth, in units of likeness, that an assignment lets the printed numbers answer the question."""
EXACT = 1e-9

_identify = lru_cache(maxsize=4096)(identification.identify)  # many questions share a graph
_ESTIMATES = {
    "marginal": estimates.marginal,
    "correlation": estimates.association,
    "explaining away": estimates.explaining_away,
    "ate": estimates.effect,
    "ett": estimates.effect,
}


class Roles(NamedTuple):
    """The variable of each part, and whether the numbers then suffice."""

    variables: Mapping[str, str]
    fits: bool


def answer(background: str, given_info: str, question: str) -> NumberSolution:
    """The solution of a question; what cannot be read has the status `unread` and the reason."""
    try:
        return solve(parse(background, given_info, question))
    except CausalError as error:
        return NumberSolution(None, "unread", reason=str(error))


def solve(problem: NumberProblem) -> NumberSolution:
    """The solution of a question as read. Raises CausalError and its kinds for numbers that do not make a problem."""
    solvers = {"deterministic": det_counterfactuals.solve, "adjustment": _adjustment, "collider": _collider}
    return solvers.get(problem.query.kind, _numeric)(problem)


def _adjustment(problem: NumberProblem) -> NumberSolution:
    """Choose the one of two methods that leaves the causal effect; the direct look where both do."""
    query, graph = problem.query, problem.graph
    x, y = _named(graph, query.x), _named(graph, query.y)
    adjustment_sets = [(_named(graph, phrase),) if phrase else () for phrase in query.by]
    variables = {"x": x, "y": y}
    if adjusted := adjustment_sets[0] or adjustment_sets[1]:
        variables["z"] = adjusted[0]
    ranks = [
        (identification.is_back_door_set(graph, x, y, covariates), not covariates) for covariates in adjustment_sets
    ]
    if ranks[0] == ranks[1] or not (ranks[0][0] or ranks[1][0]):
        why = "both methods leave" if ranks[0][0] else "neither method leaves"
        reason = f"{why} the causal effect, so neither is more correct"
        return NumberSolution(None, "unread", reason=reason, variables=variables)
    better = ranks.index(max(ranks))
    covariates = ", ".join(adjustment_sets[better]) or "nothing"
    return determined((better == 0) == query.upwards, f"adjust for {covariates}", variables)


def _collider(problem: NumberProblem) -> NumberSolution:
    query, graph = problem.query, problem.graph
    variables = assign(graph, "association", {"x": (query.x,), "y": (query.y,), "m": (query.other,)}, {}).variables
    moves = variables["y"] in graph.descendants([variables["x"]])
    path = "there is a directed path" if moves else "there is no directed path, so the correlation is not causal"
    solution = determined(moves == query.upwards, "P(y | do(x), v) − P(y | do(not x), v)", variables, (path,))
    return replace(solution, numbers=problem.statements)


def _numeric(problem: NumberProblem) -> NumberSolution:
    """The value by the printed numbers, and the status: strata that can be told apart, an identified effect, all its
    numbers, then rounding.
    """
    tables = make_tables(problem.statements)
    estimate, fixed = _estimate(problem, tables)
    roles = assign(problem.graph, estimate.shape, estimate.parts, fixed)
    if estimate.alternative:
        x, y, m = (roles.variables[role] for role in "xym")
        is_front_door = identification.is_front_door_set(problem.graph, x, y, [m])
        estimate = estimate if is_front_door else estimate.alternative
    value, low, high = bounds(estimate, problem)
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
    if doubt := next(_doubts(problem, roles, estimate, solution.notes), None):
        status, reason, assumption = doubt
        return replace(solution, status=status, reason=reason, assumption=assumption)
    if low < estimate.against - EXACT and high > estimate.against + EXACT:
        reason = "; ".join(filter(None, (f"the printed digits allow {low:.3f} to {high:.3f}", independent)))
        return replace(solution, status="open by rounding", reason=reason)
    if not estimate.against and min(abs(low), abs(high)) < NEGLIGIBLE:
        note = f"the digits allow an effect below {NEGLIGIBLE}, which counts as none"
        return replace(solution, notes=(*solution.notes, note))
    return solution


def _doubts(
    problem: NumberProblem, roles: Roles, estimate: PrintedEstimate, notes: tuple[str, ...]
) -> Iterator[tuple[Status, str, str]]:
    """Yield what the value rests on beyond graph and numbers, the gravest first: status, reason, and assumption."""
    for note in notes:
        if "read alike" in note:
            yield "strata read alike", note, "that strata are printed in order"
    if unidentified := _unidentified(problem, roles):
        yield "not identified", *unidentified
    if estimate.missing and _weight_decides(estimate, problem):
        reason = f"{estimate.missing} is needed and not printed; the overall probability stands in for it"
        yield "missing strata", reason, "that the two are alike"


def _estimate(problem: NumberProblem, tables: Tables) -> tuple[PrintedEstimate, dict[str, str]]:
    """The estimate, and the parts that the question calls by the names of the graph."""
    query, graph = problem.query, problem.graph
    if query.kind in _ESTIMATES:
        return _ESTIMATES[query.kind](query, tables), {}
    fixed = {"x": _named(graph, query.x), "y": _named(graph, query.y)}
    through = _mediators(graph, query.other)
    is_total = query.kind == "nie" and identification.intercepts(graph, fixed["x"], fixed["y"], through)
    estimate = (estimates.effect if is_total else estimates.natural)(query, tables)
    return estimate, fixed | ({"m": through[0]} if "m" in estimate.parts else {})


def _independent(problem: NumberProblem, roles: Roles) -> str:
    """Say why the two of an association are independent by the graph, which settles what digits leave open."""
    x, y = roles.variables.get("x", ""), roles.variables["y"]
    if problem.query.kind != "correlation" or open_trail(problem.graph, x, y) is not None:
        return ""
    return f"no trail of the graph joins {x} and {y}, so they are independent"


def _unidentified(problem: NumberProblem, roles: Roles) -> tuple[str, str] | None:
    """Say why the effect is not identified, and name an assumption that would suffice."""
    kind = problem.query.kind
    if kind in ("ate", "ett", "nde", "nie"):
        through = _mediators(problem.graph, problem.query.other) if kind in ("nde", "nie") else ()
        found = _identify(problem.graph, kind, roles.variables["x"], roles.variables["y"], through)
        if isinstance(found, identification.NotIdentified):
            return found.reason, found.assumption
    if roles.fits:
        return None
    reason = "the printed numbers do not identify the effect in this graph; print the strata of what confounds it"
    return reason, "that nothing confounds it"


def bounds(estimate: PrintedEstimate, problem: NumberProblem) -> tuple[float, float, float]:
    """The value, and its least and greatest over all numbers that print so.

    Every estimand here is monotone in each number while the others are held, so the corners of the box have both
    extremes; where the denominator of a ratio may be 0, they are −1 and 1. Raises StrataError where it is 0.
    """
    used, statements = list(dict.fromkeys(estimate.uses)), problem.statements
    printed = np.array([[statement.value] for statement in statements])
    spread = np.repeat(printed, 2 ** len(used), axis=1)
    corners = np.array(list(product((-1.0, 1.0), repeat=len(used)))).T
    spread[used] = np.clip(printed[used] + corners * [[statements[place].unit] for place in used], 0.0, 1.0)
    value, at_corners = float(estimate.compute(printed)[0]), estimate.compute(spread)
    if not np.isfinite(value):
        raise StrataError(f"the instrument moves nothing (“{statements[used[2]].text}.”); no ratio follows")
    if estimate.shape == "instrument":
        moved = spread[used[3]] - spread[used[2]]
        if np.min(moved) <= 0 <= np.max(moved):
            return value, -1.0, 1.0
    return value, max(float(np.min(at_corners)), -1.0), min(float(np.max(at_corners)), 1.0)


def _weight_decides(estimate: PrintedEstimate, problem: NumberProblem) -> bool:
    """Return True where the sign depends on a weight that is not printed."""
    extremes = np.array([[statement.value] * 2 for statement in problem.statements])
    extremes[estimate.uses[-1]] = [0.0, 1.0]
    return bool(np.prod(np.sign(estimate.compute(extremes))) < 0)


# Which variable a phrase is for


def _named(dag: Dag, phrase: str) -> str:
    """The variable of this name. Raises UnreadError."""
    node = name(phrase)
    if node in dag.nodes:
        return node
    raise UnreadError(f"“{phrase}” is not in the causal graph; it has {', '.join(dag.nodes)}")


def _mediators(dag: Dag, phrase: str) -> tuple[str, ...]:
    """`A and B` as two variables, unless the whole is one. Raises UnreadError."""
    if name(phrase) in dag.nodes:
        return (name(phrase),)
    return tuple(_named(dag, variable) for variable in phrase.replace(", ", " and ").split(" and ") if variable.strip())


def assign(dag: Dag, shape: Shape, parts: Parts, fixed: Mapping[str, str]) -> Roles:
    """The best reading of who is who; `fixed` are the parts that the question calls by their names.

    Raises UnreadError for a cause that has no word in common with what is printed.
    """
    role_phrases = {role: phrases for role, phrases in parts.items() if role not in fixed}
    free = [node for node in dag.observed if node not in fixed.values()]
    best, best_score = None, -1.0
    for nodes in permutations(free, len(role_phrases)):
        chosen = dict(zip(role_phrases, nodes, strict=True))
        variables = {**fixed, **chosen}
        fits = _fits(dag, shape, variables)
        words = [max(likeness(phrase, node) for phrase in role_phrases[role]) for role, node in chosen.items()]
        score = sum(words) + FITTING * fits
        if score > best_score + EXACT:
            best, best_score = Roles(variables, fits), score
    if best is None:
        raise UnreadError(f"the graph has {len(free)} variables for {len(role_phrases)} that the text speaks of")
    cause, *printed = role_phrases.get("x", ("",))
    if printed and not any(likeness(cause, phrase) for phrase in (*printed, best.variables["x"])):
        raise UnreadError(f"“{cause}” is nothing that the text speaks of; it has {', '.join(dag.nodes)}")
    return best


def _fits(dag: Dag, shape: Shape, variables: Mapping[str, str]) -> bool:
    """Tell whether the shape of the tables identifies the effect of x on y."""
    x, y = variables.get("x", ""), variables["y"]
    if shape == "instrument":
        return variables["z"] in identification.instruments(dag, x, y)
    if shape not in ("direct", "weighted", "chained"):
        return True
    if shape == "chained" and identification.is_front_door_set(dag, x, y, [variables["m"]]):
        return True
    covariates = [variables[role] for role in ("z", "m") if role in variables]
    return y in dag.descendants([x]) and identification.is_back_door_set(dag, x, y, covariates)
