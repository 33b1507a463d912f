"""Find which of the printed numbers answer a question of CLadder, and how; who plays which part.

What is read is the shape of the tables: P(y | x) alone, y by two variables and the weight of one of them, y by two
variables and one of these by the other, two outcomes of one variable (an instrument). Which variable of the graph a
phrase is for is then settled by `cladder`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ovrag_core.base import StrataError, UnreadError
from ovrag_studies.causal.models.identification import Values
from ovrag_studies.causal.questions.cladder_tables import Table, Tables, cuts, place_of, same_factor, state_of
from ovrag_studies.causal.questions.cladder_text import NumberQuery
from ovrag_studies.causal.questions.phrases import likeness

Shape = Literal["direct", "weighted", "chained", "instrument", "crossed", "association", "marginal"]
Parts = dict[str, tuple[str, ...]]


class PrintedEstimate(NamedTuple):
    """The value asked for, of printed numbers by their places; it is compared with `against`.

    `parts` are the phrases of each role: x, y, z (adjusted for), m (between). `alternative` is the estimand where the
    chained table turns out to be for a variable that is adjusted for. `missing` names a weight that is not printed, for
    which the last of the numbers stands in.
    """

    shape: Shape
    uses: tuple[int, ...]
    compute: Callable[[Values], Values]
    formula: str
    parts: Parts
    against: float = 0.0
    alternative: PrintedEstimate | None = None
    missing: str = ""


def effect(query: NumberQuery, tables: Tables) -> PrintedEstimate:
    """The average effect of x on y, on all or on the treated, for whom it is what they would be like without less
    what they are like.
    """
    outcome = tables.of(query.y)
    middles = [table for table in tables.conditional if table is not outcome]
    if len(middles) > 1:
        raise StrataError("three outcomes are given by strata; print those of the effect and of one variable beside it")
    treated = query.kind == "ett"
    if len(outcome.factors) == 1 and middles and not treated:
        return _instrument(outcome, middles[0], query)
    if len(outcome.factors) == 1:
        cells = _facing(outcome, query.x).cells
        estimate = _difference("direct", cells, "P(y | x) − P(y | not x)", _parts(query, outcome))
    elif middles and len(middles[0].factors) == 1:
        estimate = _chained(outcome, middles[0], tables, query)
    else:
        estimate = _weighted(outcome, tables, query)
    return _reversed(estimate) if treated else estimate


def natural(query: NumberQuery, tables: Tables) -> PrintedEstimate:
    """The natural direct or indirect effect by the mediation formula."""
    outcome, middle = _mediated(query, tables)
    outcome = outcome.led_by(_shared(outcome, middle))
    x, m = outcome.factors
    middle = middle.led_by(next(i for i, factor in enumerate(middle.factors) if same_factor(factor, x)))
    weight = tables.overall_of(middle.factors[1]) if len(middle.factors) > 1 else None
    if weight is None and len(middle.factors) > 1:
        beside = middle.factors[1][1]
        raise StrataError(f"how often “{beside}” holds is not printed; “{middle.outcome}” is given by it")
    direct = query.kind == "nde"

    def compute(p: Values) -> Values:
        y, moved = p[outcome.cells], p[middle.cells]
        if weight is not None:
            moved = _mixed(moved.swapaxes(0, 1), p[weight])
        return _mixed(y[1] - y[0], moved[0]) if direct else np.asarray((y[0, 1] - y[0, 0]) * (moved[1] - moved[0]))

    formula = "Σ_m P(y | not x, m) [P(m | x) − P(m | not x)]"
    if direct:
        formula = "Σ_m P(m | not x) [P(y | x, m) − P(y | not x, m)]"
    parts = _parts(query, outcome, m=(query.other, middle.outcome, *m))
    return PrintedEstimate("crossed", _uses(outcome, middle, weight), compute, formula, parts)


def association(query: NumberQuery, tables: Tables) -> PrintedEstimate:
    """P(y | x) − P(y | not x) from two joint probabilities and that of x."""
    x = tables.overall(query.x)
    joint = [i for i, statement in enumerate(tables.statements) if statement.kind == "joint"]
    if x is None or len(joint) != 2:
        raise StrataError("an association needs the probability of the condition and two joint ones; print all three")
    splits = [cuts(tables.statements[i].of) for i in joint]
    if not all(splits):
        text = tables.statements[joint[splits.index([])]].of
        raise UnreadError(f"“{text}” is no joint state; join the two with “and”")
    x_states = [max(ways, key=lambda cut: likeness(cut[1], query.y))[0] for ways in splits]
    if x_states[0] == x_states[1]:
        raise StrataError(f"“{x_states[0]}” is printed twice with “{query.y}”; the two strata read alike")
    state = state_of(query.x, (x_states[0], x_states[1]))
    with_x, without_x = joint[state], joint[1 - state]

    def compute(p: Values) -> Values:
        share = np.clip(p[x], 1e-12, 1 - 1e-12)
        return np.asarray(np.clip(p[with_x] / share, 0, 1) - np.clip(p[without_x] / (1 - share), 0, 1))

    phrases: Parts = {"x": (query.x, tables.statements[x].of), "y": (query.y,)}
    formula = "P(y, x) / P(x) − P(y, not x) / P(not x)"
    return PrintedEstimate("association", (x, with_x, without_x), compute, formula, phrases)


def marginal(query: NumberQuery, tables: Tables) -> PrintedEstimate:
    """P(y) by the law of total probability."""
    whole = tables.overall(query.y)
    phrases: Parts = {"y": (query.y, query.other)}
    if whole is not None:
        return PrintedEstimate("marginal", (whole,), lambda p: p[whole], "P(y)", phrases, against=0.5)
    outcome, weight = tables.of(query.y), tables.overall()
    if len(outcome.factors) != 1 or weight is None:
        raise StrataError(f"P({query.y}) needs it by one variable's states, and how often one of these is; print both")
    phrases["x"] = (tables.statements[weight].of, *outcome.factors[0])
    formula = "P(y | x) P(x) + P(y | not x) P(not x)"

    def compute(p: Values) -> Values:
        return _mixed(p[outcome.cells], p[weight])

    return PrintedEstimate("marginal", (weight, *outcome.cells), compute, formula, phrases, against=0.5)


def explaining_away(query: NumberQuery, tables: Tables) -> PrintedEstimate:
    """P(y | x, v) − P(y | not x, v), of the sign of P(y | x, v) − P(y | v)."""
    outcome = tables.of(query.y)
    if len(outcome.factors) != 2:
        raise StrataError(f"“{query.y}” is needed by two variables, one of them that looked at; print its four strata")
    outcome = _facing(outcome.led_by(place_of(query.x, query.other, outcome.factors)), query.x)
    x, v = outcome.factors
    phrases: Parts = {"x": (query.x, *x), "y": (query.y,), "m": (query.other, *v)}
    cells = outcome.cells[:, state_of(query.other, v)]
    return _difference("association", cells, "P(y | x, v) − P(y | not x, v)", phrases)


# Shapes


def _difference(shape: Shape, cells: NDArray[np.int64], formula: str, parts: Parts) -> PrintedEstimate:
    low, high = cells.tolist()
    return PrintedEstimate(shape, (low, high), lambda p: p[high] - p[low], formula, parts)


def _instrument(outcome: Table, moved: Table, query: NumberQuery) -> PrintedEstimate:
    if len(moved.factors) != 1 or not same_factor(outcome.factors[0], moved.factors[0]):
        raise StrataError(f"“{outcome.outcome}” and “{moved.outcome}” have different strata; print both for the same")

    def compute(p: Values) -> Values:
        y, x = p[outcome.cells], p[moved.cells]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((y[1] - y[0]) / (x[1] - x[0]))

    formula = "[P(y | z) − P(y | not z)] / [P(x | z) − P(x | not z)]"
    phrases: Parts = {"x": (query.x, moved.outcome), "y": (query.y, outcome.outcome), "z": outcome.factors[0]}
    return PrintedEstimate("instrument", (*outcome.cells, *moved.cells), compute, formula, phrases)


def _weighted(outcome: Table, tables: Tables, query: NumberQuery) -> PrintedEstimate:
    """y by x and z, and P(z)."""
    weight = tables.overall()
    if weight is None:
        raise StrataError(f"“{outcome.outcome}” is given by two variables, and none is given overall; print one")
    phrase = tables.statements[weight].of
    outcome = outcome.led_by(place_of(query.x, phrase, outcome.factors))
    outcome = _facing(outcome, query.x)
    x, z = outcome.factors

    def compute(p: Values) -> Values:
        y = p[outcome.cells]
        return _mixed(y[1] - y[0], p[weight])

    treated = query.kind == "ett"
    formula = f"Σ_z [P(y | x, z) − P(y | not x, z)] {'P(z | x)' if treated else 'P(z)'}"
    missing = f"P({z[1]} | {x[1]})" if treated else ""
    parts = _parts(query, outcome, z=(phrase, *z))
    return PrintedEstimate("weighted", _uses(outcome, None, weight), compute, formula, parts, missing=missing)


def _chained(outcome: Table, middle: Table, tables: Tables, query: NumberQuery) -> PrintedEstimate:
    """y by x and m, m by x, and for an effect on all P(x): a front door, or an adjustment for m."""
    outcome = outcome.led_by(_shared(outcome, middle))
    x, m = outcome.factors
    treated = query.kind == "ett"
    weight = None if treated else tables.overall_of(x)
    if weight is None and not treated:
        raise StrataError(f"how often “{x[1]}” holds is not printed; a front door needs it")
    state = state_of(query.x, x)

    def over_x(p: Values, by_x: Values) -> Values:
        return np.asarray(by_x[state]) if weight is None else _mixed(by_x, p[weight])

    def compute(p: Values) -> Values:
        y, moved = p[outcome.cells], p[middle.cells]
        return np.asarray((moved[state] - moved[1 - state]) * over_x(p, y[:, 1] - y[:, 0]))

    def adjusted(p: Values) -> Values:
        y = p[outcome.cells]
        return _mixed(y[state] - y[1 - state], over_x(p, p[middle.cells]))

    moved = "[P(m | x) − P(m | not x)]"
    formula = f"Σ_m P(y | x, m) {moved}" if treated else f"Σ_m {moved} Σ_x P(y | x, m) P(x)"
    parts = _parts(query, outcome, m=(middle.outcome, *m))
    estimate = PrintedEstimate("chained", _uses(outcome, middle, weight), compute, formula, parts)
    formula = f"Σ_m [P(y | x, m) − P(y | not x, m)] {'P(m | x)' if treated else 'P(m)'}"
    return estimate._replace(alternative=estimate._replace(compute=adjusted, formula=formula))


def _parts(query: NumberQuery, outcome: Table, **more: tuple[str, ...]) -> Parts:
    return {"x": (query.x, *outcome.factors[0]), "y": (query.y, outcome.outcome), **more}


def _uses(outcome: Table, middle: Table | None, weight: int | None) -> tuple[int, ...]:
    tables = [table for table in (outcome, middle) if table is not None]
    return (*(place for table in tables for place in table.uses), *(() if weight is None else (weight,)))


def _reversed(estimate: PrintedEstimate) -> PrintedEstimate:
    """The treated without the treatment, less with it."""
    return estimate._replace(
        compute=lambda p: -estimate.compute(p),
        formula=f"−({estimate.formula})",
        alternative=estimate.alternative and _reversed(estimate.alternative),
    )


def _mixed(by_state: Values, share: Values) -> Values:
    """The mean over the two states of the first axis, by the share of the present one."""
    return np.asarray(by_state[1] * share + by_state[0] * (1 - share))


# Which table is which


def _facing(outcome: Table, x: str) -> Table:
    """The table with the state of its first factor that a phrase names for the present one."""
    return outcome if state_of(x, outcome.factors[0]) else outcome.turned(0)


def _shared(outcome: Table, middle: Table) -> int:
    """The place of the factor that both tables have."""
    for index, factor in enumerate(outcome.factors):
        if any(same_factor(factor, candidate) for candidate in middle.factors):
            return index
    raise StrataError(f"“{outcome.outcome}” and “{middle.outcome}” have no stratum in common; print both for the same")


def _mediated(query: NumberQuery, tables: Tables) -> tuple[Table, Table]:
    """The table of y, by cause and mediator, and that of the mediator."""
    if len(tables.conditional) != 2:
        raise StrataError(f"an effect through “{query.other}” needs both outcomes by strata; print them")

    def fits(outcome: Table, middle: Table) -> float:
        if len(outcome.factors) != 2 or not any(same_factor(a, b) for a in outcome.factors for b in middle.factors):
            return -1.0
        inside = max(likeness(middle.outcome, state) for factor in outcome.factors for state in factor)
        return inside + likeness(outcome.outcome, query.y) + likeness(middle.outcome, query.other)

    left, right = tables.conditional
    ordered = max(((left, right), (right, left)), key=lambda pair: fits(*pair))
    if fits(*ordered) < 0:
        raise StrataError(f"“{query.y}” is not given by the states of cause and mediator; print its four strata")
    return ordered
