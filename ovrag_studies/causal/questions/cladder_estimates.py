"""Which of the printed numbers answer a question of CLadder, and how; who plays which part.

What is read is the shape of the tables: P(y | x) alone, y by two variables and the weight of one of them, y by two
variables and one of these by the other, two outcomes of one variable (an instrument). Which variable of the graph a
phrase is for is then settled by `cladder_roles`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ovrag_core.base import StrataError, UnreadError
from ovrag_studies.causal.questions.cladder_tables import (
    Factor,
    FactorState,
    Table,
    Tables,
    factor_likeness,
    nearest,
    place_of,
    present_state,
    same_factor,
    state_of,
)
from ovrag_studies.causal.questions.cladder_text import NumberQuery
from ovrag_studies.causal.questions.phrases import likeness

Values = NDArray[np.float64]
Shape = Literal["direct", "weighted", "chained", "instrument", "crossed", "association", "marginal"]
Numbers = Mapping[int, Values]
Parts = dict[str, tuple[str, ...]]
Compute = Callable[[Numbers], Values]


@dataclass(frozen=True)
class PrintedEstimate:
    """The value asked for, of printed numbers by their places; it is compared with `against`.

    `parts` are the phrases of each role: x, y, z (adjusted for), m (between), w (beside the mediator). `alternative` is
    the estimand where the chained table turns out to be for a variable that is adjusted for. `weight_free` are the
    places of weights that stand in for one that is not printed, `weight_name`.
    """

    shape: Shape
    uses: tuple[int, ...]
    compute: Compute
    formula: str
    parts: Parts
    against: float = 0.0
    alternative: tuple[Compute, str] | None = None
    weight_free: tuple[int, ...] = ()
    weight_name: str = ""
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Sided:
    """A factor with the place of its present state, and a note where order told which that is."""

    factor: Factor
    one: int
    notes: tuple[str, ...]

    @property
    def zero(self) -> int:
        """The place of the other state."""
        return 1 - self.one


def sided(factor: Factor, phrase: str | None, name: str = "") -> Sided:
    """The factor as seen from a phrase for its present state, or from its own words and the variable's name."""
    state = state_of(phrase, factor) if phrase else present_state(factor, name)
    if not state.told:
        state = present_state(factor, name)
    return Sided(factor, state.place, _noted(state, factor, phrase or name or "the present state"))


def _noted(state: FactorState, factor: Factor, said: str) -> tuple[str, ...]:
    """A note where order or likeness told the state."""
    if state.by == "words":
        return ()
    if state.by == "likeness":
        return (f"“{factor[state.place]}” is taken for “{said}” by likeness of meaning",)
    return (f"“{factor[state.place]}” is taken for the present state by order",)


def total(query: NumberQuery, tables: Tables, x_phrase: str | None) -> PrintedEstimate:
    """The average effect of x on y, or the part of it that goes through all mediators."""
    outcome = _outcome(query, tables)
    if len(outcome.factors) == 1:
        instrument = _other(tables, outcome)
        if instrument is not None:
            return _instrument(outcome, instrument, query)
        return _direct(outcome, sided(outcome.factors[0], x_phrase, query.x), query)
    middle = _other(tables, outcome)
    if middle is not None and len(middle.factors) == 1:
        x_place = _shared(outcome, middle)
        said = x_phrase or _overall_like(tables, outcome.factors[x_place])
        return _chained(outcome, middle, x_place, sided(outcome.factors[x_place], said, query.x), tables, query)
    return _weighted(outcome, tables, query, x_phrase, treated=False)


def on_treated(query: NumberQuery, tables: Tables) -> PrintedEstimate:
    """What the treated would be like without the treatment, less what they are like."""
    outcome = _outcome(query, tables)
    if len(outcome.factors) == 1:
        return _reversed(_direct(outcome, sided(outcome.factors[0], query.x), query))
    middle = _other(tables, outcome)
    if middle is not None and len(middle.factors) == 1:
        x_place = _shared(outcome, middle)
        x = sided(outcome.factors[x_place], query.x)
        return _reversed(_chained_on_treated(outcome, middle, x_place, x, query))
    return _reversed(_weighted(outcome, tables, query, query.x, treated=True))


def natural(query: NumberQuery, tables: Tables, direct: bool) -> PrintedEstimate:
    """The natural direct or indirect effect by the mediation formula."""
    outcome, middle = _mediated(query, tables)
    x_place = _shared(outcome, middle)
    m_place = 1 - x_place
    beside = next((f for f in middle.factors if not same_factor(f, outcome.factors[x_place])), None)
    of_x = _overall_like(tables, outcome.factors[x_place]) if beside is None else None
    x = sided(outcome.factors[x_place], of_x, query.x)
    m = sided(outcome.factors[m_place], middle.outcome)

    def y(p: Numbers, of_x: int, of_m: int) -> Values:
        return p[outcome.cells[(of_x, of_m) if x_place == 0 else (of_m, of_x)]]

    moved, uses, notes, parts = _mediator(middle, x, beside, tables)

    def compute(p: Numbers) -> Values:
        low, high = moved(p, x.zero), moved(p, x.one)
        if direct:
            return (y(p, x.one, m.one) - y(p, x.zero, m.one)) * low + (y(p, x.one, m.zero) - y(p, x.zero, m.zero)) * (
                1 - low
            )
        return (y(p, x.zero, m.one) - y(p, x.zero, m.zero)) * (high - low)

    shown = (
        "Σ_m P(m | not x) [P(y | x, m) − P(y | not x, m)]"
        if direct
        else "Σ_m P(y | not x, m) [P(m | x) − P(m | not x)]"
    )
    parts |= {"x": (query.x, *x.factor), "y": (query.y, outcome.outcome), "m": (query.other, middle.outcome, *m.factor)}
    cells = (*outcome.cells.values(), *middle.cells.values(), *uses)
    return PrintedEstimate("crossed", cells, compute, shown, parts, notes=(*x.notes, *m.notes, *notes))


def association(query: NumberQuery, tables: Tables) -> PrintedEstimate:
    """P(y | x) − P(y | not x) from two joint probabilities and that of x."""
    x_place = tables.overall(query.x) if tables.overall(query.x) is not None else tables.overall()
    joint = [place for place, one in enumerate(tables.statements) if one.kind == "joint"]
    if x_place is None or len(joint) != 2:
        raise StrataError("an association needs the probability of the condition and two joint ones; print all three")
    said = [cuts_at_and(tables.statements[place].of) for place in joint]
    first = [max(cuts, key=lambda cut: likeness(cut[1], query.y))[0] for cuts in said]
    if first[0] == first[1]:
        raise StrataError(f"“{first[0]}” is printed twice with “{query.y}”; the two strata read alike")
    states = (first[0], first[1])
    state = state_of(query.x, states)
    with_x, without_x = joint[state.place], joint[1 - state.place]

    def compute(p: Numbers) -> Values:
        share = np.clip(p[x_place], 1e-12, 1 - 1e-12)
        return np.clip(p[with_x] / share, 0, 1) - np.clip(p[without_x] / (1 - share), 0, 1)

    notes = _noted(state, states, query.x)
    parts: Parts = {"x": (query.x, tables.statements[x_place].of), "y": (query.y,)}
    shown = "P(y, x) / P(x) − P(y, not x) / P(not x)"
    return PrintedEstimate(
        "association",
        (x_place, with_x, without_x),
        compute,
        shown,
        parts,
        notes=notes,
    )


def cuts_at_and(text: str) -> list[tuple[str, str]]:
    """All ways to cut at “and”."""
    words = text.split(" and ")
    cuts = [(" and ".join(words[:n]), " and ".join(words[n:])) for n in range(1, len(words))]
    if not cuts:
        raise UnreadError(f"“{text}” is no joint state; join the two with “and”")
    return cuts


def marginal(query: NumberQuery, tables: Tables) -> PrintedEstimate:
    """P(y) by the law of total probability."""
    whole = tables.overall(query.y)
    parts: Parts = {"y": (query.y, query.other)}
    if whole is not None:
        return PrintedEstimate("marginal", (whole,), lambda p: p[whole], "P(y)", parts, against=0.5)
    outcome, weight = _outcome(query, tables), tables.overall()
    if len(outcome.factors) != 1 or weight is None:
        raise StrataError(
            f"P({query.y}) needs it by the states of one variable, and how often one of these is; print both"
        )
    x = sided(outcome.factors[0], tables.statements[weight].of)
    low, high = outcome.cells[(x.zero,)], outcome.cells[(x.one,)]
    shown = "P(y | x) P(x) + P(y | not x) P(not x)"
    parts["x"] = (tables.statements[weight].of, *x.factor)
    return PrintedEstimate(
        "marginal",
        (weight, low, high),
        lambda p: p[high] * p[weight] + p[low] * (1 - p[weight]),
        shown,
        parts,
        against=0.5,
        notes=x.notes,
    )


def explaining_away(query: NumberQuery, tables: Tables) -> PrintedEstimate:
    """P(y | x, v) − P(y | not x, v), of the sign of P(y | x, v) − P(y | v)."""
    outcome = _outcome(query, tables)
    if len(outcome.factors) != 2:
        raise StrataError(f"“{query.y}” is needed by two variables, one of them that looked at; print its four strata")
    x_place = place_of(query.x, query.other, outcome.factors)
    x, v = sided(outcome.factors[x_place], query.x), sided(outcome.factors[1 - x_place], query.other)
    cells = [outcome.cells[(of_x, v.one) if x_place == 0 else (v.one, of_x)] for of_x in (x.zero, x.one)]
    parts: Parts = {"x": (query.x, *x.factor), "y": (query.y,), "m": (query.other, *v.factor)}
    shown = "P(y | x, v) − P(y | not x, v)"
    notes = (*x.notes, *v.notes)
    return PrintedEstimate("association", tuple(cells), lambda p: p[cells[1]] - p[cells[0]], shown, parts, notes=notes)


# Shapes


def _direct(outcome: Table, x: Sided, query: NumberQuery) -> PrintedEstimate:
    low, high = outcome.cells[(x.zero,)], outcome.cells[(x.one,)]
    parts: Parts = {"x": (query.x, *x.factor), "y": (query.y, outcome.outcome)}
    return PrintedEstimate(
        "direct", (low, high), lambda p: p[high] - p[low], "P(y | x) − P(y | not x)", parts, notes=x.notes
    )


def _instrument(outcome: Table, moved: Table, query: NumberQuery) -> PrintedEstimate:
    if len(moved.factors) != 1 or not same_factor(outcome.factors[0], moved.factors[0]):
        raise StrataError(
            f"“{outcome.outcome}” and “{moved.outcome}” are given for different strata; print both for the same"
        )
    y0, y1, x0, x1 = (table.cells[(at,)] for table in (outcome, moved) for at in (0, 1))

    def compute(p: Numbers) -> Values:
        bottom = p[x1] - p[x0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((p[y1] - p[y0]) / bottom)

    shown = "[P(y | z) − P(y | not z)] / [P(x | z) − P(x | not z)]"
    parts: Parts = {"x": (query.x, moved.outcome), "y": (query.y, outcome.outcome), "z": outcome.factors[0]}
    return PrintedEstimate("instrument", (y0, y1, x0, x1), compute, shown, parts)


def _weighted(
    outcome: Table, tables: Tables, query: NumberQuery, x_phrase: str | None, treated: bool
) -> PrintedEstimate:
    """y by x and z, and P(z)."""
    weight = tables.overall()
    if weight is None:
        raise StrataError(
            f"“{outcome.outcome}” is given by the states of two variables, and none is given overall; print one"
        )
    said = tables.statements[weight].of
    cause = x_phrase or query.x
    x_place = place_of(cause, said, outcome.factors)
    x, z = sided(outcome.factors[x_place], x_phrase), sided(outcome.factors[1 - x_place], said)

    def gain(p: Numbers, of_z: int) -> Values:
        high, low = ((x.one, of_z), (x.zero, of_z)) if x_place == 0 else ((of_z, x.one), (of_z, x.zero))
        return p[outcome.cells[high]] - p[outcome.cells[low]]

    def compute(p: Numbers) -> Values:
        return gain(p, z.one) * p[weight] + gain(p, z.zero) * (1 - p[weight])

    parts: Parts = {"x": (cause, *x.factor), "y": (query.y, outcome.outcome), "z": (said, *z.factor)}
    condition = " | x" if treated else ""
    shown = f"Σ_z [P(y | x, z) − P(y | not x, z)] P(z{condition})"
    free, free_name = ((weight,), f"P({z.factor[z.one]} | {x.factor[x.one]})") if treated else ((), "")
    cells = (*outcome.cells.values(), weight)
    notes = (*x.notes, *z.notes)
    return PrintedEstimate(
        "weighted", cells, compute, shown, parts, weight_free=free, weight_name=free_name, notes=notes
    )


def _chained(
    outcome: Table, middle: Table, x_place: int, x: Sided, tables: Tables, query: NumberQuery
) -> PrintedEstimate:
    """y by x and m, m by x, and P(x): a front door, or an adjustment for m."""
    m = sided(outcome.factors[1 - x_place], middle.outcome)
    said = _overall_like(tables, x.factor)
    weight = tables.overall(said) if said else None
    if weight is None:
        raise StrataError(f"how often “{x.factor[x.one]}” holds is not printed; a front door needs it")
    one = state_of(said, x.factor).place if said else 1

    def y(p: Numbers, of_x: int, of_m: int) -> Values:
        return p[outcome.cells[(of_x, of_m) if x_place == 0 else (of_m, of_x)]]

    def compute(p: Numbers) -> Values:
        by_m = [y(p, one, at) * p[weight] + y(p, 1 - one, at) * (1 - p[weight]) for at in (m.zero, m.one)]
        return (p[middle.cells[(x.one,)]] - p[middle.cells[(x.zero,)]]) * (by_m[1] - by_m[0])

    def adjusted(p: Numbers) -> Values:
        often = p[middle.cells[(one,)]] * p[weight] + p[middle.cells[(1 - one,)]] * (1 - p[weight])
        gains = [y(p, x.one, at) - y(p, x.zero, at) for at in (m.zero, m.one)]
        return gains[1] * often + gains[0] * (1 - often)

    shown = "Σ_m [P(m | x) − P(m | not x)] Σ_x P(y | x, m) P(x)"
    parts: Parts = {"x": (query.x, *x.factor), "y": (query.y, outcome.outcome), "m": (middle.outcome, *m.factor)}
    cells = (*outcome.cells.values(), *middle.cells.values(), weight)
    other = (adjusted, "Σ_m [P(y | x, m) − P(y | not x, m)] P(m)")
    return PrintedEstimate("chained", cells, compute, shown, parts, alternative=other, notes=(*x.notes, *m.notes))


def _chained_on_treated(outcome: Table, middle: Table, x_place: int, x: Sided, query: NumberQuery) -> PrintedEstimate:
    m = sided(outcome.factors[1 - x_place], middle.outcome)

    def y(p: Numbers, of_x: int, of_m: int) -> Values:
        return p[outcome.cells[(of_x, of_m) if x_place == 0 else (of_m, of_x)]]

    def compute(p: Numbers) -> Values:
        moved = p[middle.cells[(x.one,)]] - p[middle.cells[(x.zero,)]]
        return moved * (y(p, x.one, m.one) - y(p, x.one, m.zero))

    def adjusted(p: Numbers) -> Values:
        often = p[middle.cells[(x.one,)]]
        gains = [y(p, x.one, at) - y(p, x.zero, at) for at in (m.zero, m.one)]
        return gains[1] * often + gains[0] * (1 - often)

    shown = "Σ_m P(y | x, m) [P(m | x) − P(m | not x)]"
    parts: Parts = {"x": (query.x, *x.factor), "y": (query.y, outcome.outcome), "m": (middle.outcome, *m.factor)}
    cells = (*outcome.cells.values(), *middle.cells.values())
    other = (adjusted, "Σ_m [P(y | x, m) − P(y | not x, m)] P(m | x)")
    return PrintedEstimate("chained", cells, compute, shown, parts, alternative=other, notes=(*x.notes, *m.notes))


def _reversed(estimate: PrintedEstimate) -> PrintedEstimate:
    """The treated without the treatment, less with it."""
    other = estimate.alternative
    turned = None if other is None else (_minus(other[0]), f"−({other[1]})")
    compute, formula = _minus(estimate.compute), f"−({estimate.formula})"
    return replace(estimate, compute=compute, formula=formula, alternative=turned)


def _minus(compute: Compute) -> Compute:
    return lambda p: -compute(p)


# Which table is which


def _outcome(query: NumberQuery, tables: Tables) -> Table:
    """The table of y by its words; where y is called by the name of the variable, else the nearest, or the largest."""
    found = tables.of(query.y)
    if found is not None:
        return found
    if not tables.conditional or query.kind not in ("nde", "nie"):
        printed = ", ".join(table.outcome for table in tables.conditional) or "none"
        raise StrataError(f"no probability of “{query.y}” by strata is printed; those of {printed} are")
    return max(tables.conditional, key=lambda table: (likeness(table.outcome, query.y), len(table.factors)))


def _other(tables: Tables, outcome: Table) -> Table | None:
    others = [table for table in tables.conditional if table is not outcome]
    if len(others) > 1:
        raise StrataError("three outcomes are given by strata; print those of the effect and of one variable beside it")
    return others[0] if others else None


def _shared(outcome: Table, middle: Table) -> int:
    """The place of the factor that both tables have."""
    for place, factor in enumerate(outcome.factors):
        if any(same_factor(factor, other) for other in middle.factors):
            return place
    raise StrataError(f"“{outcome.outcome}” and “{middle.outcome}” have no stratum in common; print both for the same")


def _mediated(query: NumberQuery, tables: Tables) -> tuple[Table, Table]:
    """The table of y, by cause and mediator, and that of the mediator."""
    if len(tables.conditional) != 2:
        raise StrataError(
            f"an effect through “{query.other}” needs the probabilities of both outcomes by strata; print them"
        )

    def fits(outcome: Table, middle: Table) -> float:
        if len(outcome.factors) != 2 or not any(same_factor(a, b) for a in outcome.factors for b in middle.factors):
            return -1.0
        inside = max(factor_likeness(middle.outcome, factor) for factor in outcome.factors)
        return inside + likeness(outcome.outcome, query.y) + likeness(middle.outcome, query.other)

    first, second = tables.conditional
    ordered = max(((first, second), (second, first)), key=lambda pair: fits(*pair))
    if fits(*ordered) < 0:
        raise StrataError(f"“{query.y}” is not given by the states of cause and mediator; print its four strata")
    return ordered


def _mediator(
    middle: Table, x: Sided, beside: Factor | None, tables: Tables
) -> tuple[Callable[[Numbers, int], Values], tuple[int, ...], tuple[str, ...], Parts]:
    """P(m | x) as a function of the state of x, weighed over the variable beside, if any."""
    if beside is None:
        return (lambda p, of_x: p[middle.cells[(of_x,)]]), (), (), {}
    said = _overall_like(tables, beside)
    weight = tables.overall(said) if said else None
    if weight is None or said is None:
        raise StrataError(f"how often “{beside[1]}” holds is not printed; “{middle.outcome}” is given by it")
    w = sided(beside, said)
    x_first = same_factor(middle.factors[0], x.factor)

    def moved(p: Numbers, of_x: int) -> Values:
        one, zero = (((of_x, at) if x_first else (at, of_x)) for at in (w.one, w.zero))
        return p[middle.cells[one]] * p[weight] + p[middle.cells[zero]] * (1 - p[weight])

    return moved, (weight,), w.notes, {"w": (said, *beside)}


def _overall_like(tables: Tables, factor: Factor) -> str | None:
    """The phrase of the overall probability that speaks of the factor; the only one where there is one."""
    return nearest([one.of for one in tables.statements if one.kind == "overall"], factor)
