"""Deterministic causal models: rules in words as Boolean equations, solved for what was observed and what is done.

"Ziklo and Blaf together cause Trune" is the structural equation Trune := Ziklo ∧ Blaf (Pearl 2009, chapter 7): without
its cause an effect does not occur. A counterfactual takes abduction (settings of the roots under which the factual
world shows what was observed), action (the equations of what is done are cut) and prediction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from typing import Literal as OneOf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ovrag_core.base import CausalError
from ovrag_studies.causal.models.dags import cycle_of, reach

MOST_FREE = 14  # variables: 2 ** 14 worlds are looked at within a second; beyond that the question is left open

Status = OneOf["determined", "assumed", "cyclic", "open", "ambiguous", "unread"]
Worlds = dict[str, NDArray[np.bool_]]
"""The value of each variable in each of the same worlds."""
Setting = tuple[bool, ...]


class Literal(NamedTuple):
    """A variable that holds, or does not."""

    variable: str
    holds: bool = True

    def __str__(self) -> str:
        return self.variable if self.holds else f"not {self.variable}"


class Junction(NamedTuple):
    """All (`every`) or any of the parts."""

    every: bool
    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        inner = (f"({operand})" if isinstance(operand, Junction) else str(operand) for operand in self.parts)
        return (" and " if self.every else " or ").join(inner)


Formula = Literal | Junction


class CausalRule(NamedTuple):
    """`condition` brings about `effect`; `quote` is text[span[0]:span[1]] of the text it was read from."""

    condition: Formula
    effect: Literal
    quote: str = ""
    span: tuple[int, int] = (0, 0)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the condition, then that of the effect."""
        return (*mentioned(self.condition), self.effect.variable)


class CounterfactualOutcome(NamedTuple):
    """Outcome for the formula asked about, with its derivation.

    `determined`: the same in every world that is left. `assumed`: it hangs on a root of which nothing is said, and the
    value is that with such roots absent, as `remarks` say. `cyclic`: the rules that matter form the `cycle` also after
    the action; the value is given if the action leaves one solution. `open`, `ambiguous` (rules that can be read in two
    ways) and `unread`: no value, and `remarks` say why.
    """

    value: bool | None
    status: Status
    steps: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    cycle: tuple[str, ...] = ()

    @property
    def answer(self) -> OneOf["yes", "no"] | None:
        """The value in words."""
        return None if self.value is None else "yes" if self.value else "no"


@dataclass(frozen=True, slots=True)
class BooleanModel:
    """Equations by variable; `variables` are all that occur, in order of first mention; `quotes` are words of rules."""

    equations: Mapping[str, Formula]
    variables: tuple[str, ...]
    quotes: Mapping[str, str] = field(default_factory=dict)

    @property
    def roots(self) -> tuple[str, ...]:
        """Variables that no equation explains."""
        return tuple(name for name in self.variables if name not in self.equations)

    def parents(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The variables that the equation of each of these hangs on, none of a root."""
        return {name: mentioned(self.equations[name]) if name in self.equations else () for name in names}

    def doing(self, action: Mapping[str, bool]) -> BooleanModel:
        """The model after the action: what is done has no equation any more."""
        return replace(self, equations={name: how for name, how in self.equations.items() if name not in action})


_WORDS = {True: "occurs", False: "does not occur", None: "may or may not occur"}


def negate(formula: Formula) -> Formula:
    """The formula that holds exactly where this one does not."""
    if isinstance(formula, Literal):
        return Literal(formula.variable, not formula.holds)
    return Junction(not formula.every, tuple(negate(operand) for operand in formula.parts))


def leaves(formula: Formula) -> list[Literal]:
    """The literals of a formula, in order."""
    return [formula] if isinstance(formula, Literal) else [leaf for part in formula.parts for leaf in leaves(part)]


def mentioned(formula: Formula) -> tuple[str, ...]:
    """The variables of a formula in order, each once."""
    return tuple(dict.fromkeys(leaf.variable for leaf in leaves(formula)))


def joined(formulas: Sequence[Formula], *, every: bool) -> Formula:
    """All or any of the formulas; the only one as it is."""
    return formulas[0] if len(formulas) == 1 else Junction(every, tuple(formulas))


def evaluate(formula: Formula, worlds: Worlds) -> NDArray[np.bool_]:
    """The formula's value in each world."""
    if isinstance(formula, Literal):
        return np.equal(worlds[formula.variable], formula.holds)
    values = np.array([evaluate(operand, worlds) for operand in formula.parts])
    return np.asarray(values.all(axis=0) if formula.every else values.any(axis=0))


def models(rules: Sequence[CausalRule]) -> tuple[BooleanModel, ...]:
    """The models that the rules can mean: one, or two where rules both cause and prevent the same variable.

    Several rules for one effect are alternatives. Where some cause it and others prevent it, nothing says which wins;
    both readings are given, in the first prevention wins.
    """
    variables = tuple(dict.fromkeys(name for rule in rules for name in rule.names))
    sides: dict[str, list[Formula]] = {}  # what causes a variable, and that nothing prevents it
    for name in variables:
        for holds in (True, False):
            if conditions := [rule.condition for rule in rules if rule.effect == Literal(name, holds)]:
                caused = joined(conditions, every=False)
                sides.setdefault(name, []).append(caused if holds else negate(caused))
    clash = any(len(both) > 1 for both in sides.values())
    quotes = {rule.effect.variable: rule.quote for rule in rules if rule.quote}
    return tuple(
        BooleanModel({name: joined(both, every=prevention_wins) for name, both in sides.items()}, variables, quotes)
        for prevention_wins in ((True, False) if clash else (True,))
    )


def ancestors(model: BooleanModel, names: Iterable[str]) -> tuple[str, ...]:
    """The names and all that their equations hang on, in the order of the model."""
    reached = reach(names, lambda name: model.parents([name])[name])
    return tuple(name for name in model.variables if name in reached)


def solutions(model: BooleanModel, names: Iterable[str], fixed: Mapping[str, bool]) -> Worlds:
    """Every solution of the equations for these variables, among which is all that they hang on, with some fixed.

    A variable of each cycle is guessed, and kept where its equation bears the guess out. Raises CausalError for too
    many that are guessed or that nothing explains.
    """
    parents = model.parents(names)
    guessed: list[str] = []
    while cycle := cycle_of(parents):
        guessed.append(cycle[0])
        parents[cycle[0]] = ()
    free = [name for name in parents if name not in fixed and (name in guessed or name not in model.equations)]
    if len(free) > MOST_FREE:
        kinds = "roots of which nothing is said" if not guessed else "roots and cycles that may go either way"
        raise CausalError(f"{len(free)} {kinds}: more than {MOST_FREE}")
    count = 2 ** len(free)
    worlds: Worlds = {name: np.full(count, value) for name, value in fixed.items()}
    worlds |= {name: np.arange(count) >> place & 1 == 1 for place, name in enumerate(reversed(free))}
    for name in TopologicalSorter(parents).static_order():
        if name not in worlds:
            worlds[name] = evaluate(model.equations[name], worlds)
    kept = np.ones(count, dtype=bool)
    for name in guessed:
        kept &= evaluate(model.equations[name], worlds) == worlds[name]
    return {name: values[kept] for name, values in worlds.items()}


def counterfactual(
    model: BooleanModel,
    action: Mapping[str, bool],
    asked: Formula,
    *,
    observed: Sequence[Formula] = (),
    supposed: Sequence[Formula] = (),
) -> CounterfactualOutcome:
    """Evaluate `asked` under the action, in the worlds in which `observed`, and if possible `supposed`, were so.

    `supposed` is what the question takes for the fact ("instead of Ziklo"). Where the rules rule out what was observed,
    only what was observed of roots is used, and a remark says so. Raises CausalError for too many cases.
    """
    changed = model.doing(action)
    matter = ancestors(changed, mentioned(asked))
    roots = [name for name in matter if name in set(model.roots) - action.keys()]
    settings, remarks = _abduced(model, roots, observed, supposed)
    if not settings:
        return CounterfactualOutcome(None, "open", remarks=remarks)
    parents = changed.parents(matter)
    cycle, whole = cycle_of(parents), cycle_of(model.parents(model.variables))
    predicted = solutions(changed, matter, action)
    settings_by_world = _settings(predicted, roots)
    counts = Counter(settings_by_world)
    if (numbers := {counts[setting] for setting in settings}) != {1}:
        why = "no solution" if 0 in numbers else "more than one solution"
        remarks = (*remarks, f"the rules leave {why} under the action")
        return CounterfactualOutcome(None, "cyclic", remarks=remarks, cycle=cycle)
    certain: Status = "determined"
    if cycle:
        certain = "cyclic"
        remarks += (f"the rules form a cycle, {' → '.join(cycle)}; the action leaves one solution",)
    elif whole:
        remarks += (f"the rules form a cycle, {' → '.join(whole)}, which does not matter under the action",)
    remaining = _among(predicted, np.array([setting in settings for setting in settings_by_world]))
    free = [name for name in roots if len(set(remaining[name])) > 1]
    outcome, shown = _concluded(asked, remaining, free, certain)
    order = matter if cycle else TopologicalSorter(parents).static_order()
    steps = tuple(_step(changed, name, action, shown[name], observed, free) for name in order)
    return outcome._replace(steps=steps, remarks=(*remarks, *outcome.remarks), cycle=cycle or whole)


def _concluded(
    asked: Formula, worlds: Worlds, free: Sequence[str], certain: Status
) -> tuple[CounterfactualOutcome, Worlds]:
    """The value in the worlds that are left, and those of them that show it.

    Where they differ, it hangs on the roots that are free, and is that in the worlds without these, if there are any.
    """
    values = evaluate(asked, worlds)
    if len(set(values)) == 1:
        return CounterfactualOutcome(bool(values[0]), certain), worlds
    unsaid = f"nothing is said of {', '.join(free)}"
    bare = ~np.logical_or.reduce([worlds[name] for name in free])
    if not bare.any():
        return CounterfactualOutcome(None, "open", remarks=(unsaid,)), worlds
    assumed = CounterfactualOutcome(bool(values[bare][0]), "assumed", remarks=(f"{unsaid}, taken as absent",))
    return assumed, _among(worlds, bare)


def _among(worlds: Worlds, kept: NDArray[np.bool_]) -> Worlds:
    return {name: values[kept] for name, values in worlds.items()}


def _settings(worlds: Worlds, roots: Sequence[str]) -> list[Setting]:
    """The values of the roots in each world."""
    count = len(next(iter(worlds.values()))) if worlds else 1
    return [tuple(bool(worlds[name][world]) for name in roots) for world in range(count)]


def _abduced(
    model: BooleanModel, roots: Sequence[str], observed: Sequence[Formula], supposed: Sequence[Formula]
) -> tuple[set[Setting], tuple[str, ...]]:
    """Settings of the roots that matter, under which the factual world shows what was observed, and a remark."""
    root_evidence = [formula for formula in observed if set(mentioned(formula)) <= set(model.roots)]
    for evidence, remarks in (
        ([*observed, *supposed], ()),
        (observed, ("what was observed cannot be together with what the question takes for the fact",)),
        (root_evidence, ("the rules rule out what was observed; only what was observed of roots is used",)),
    ):
        names = ancestors(model, [*roots, *(name for formula in evidence for name in mentioned(formula))])
        fixed: dict[str, bool] = {}
        for literal in conjoined(evidence):
            if literal.variable in model.roots:
                fixed.setdefault(literal.variable, literal.holds)
        factual = solutions(model, names, fixed)
        for formula in evidence:
            factual = _among(factual, evaluate(formula, factual))
        if settings := set(_settings(factual, roots)):
            return settings, remarks
    return set(), ("what was observed contradicts itself",)


def conjoined(formulas: Sequence[Formula]) -> Iterator[Literal]:
    """The literals that hold where all of the formulas do: single ones, and those of conjunctions."""
    for formula in formulas:
        if isinstance(formula, Literal):
            yield formula
        elif formula.every:
            yield from conjoined(formula.parts)


def _step(
    model: BooleanModel,
    name: str,
    action: Mapping[str, bool],
    values: NDArray[np.bool_],
    observed: Sequence[Formula],
    absent: Sequence[str],
) -> str:
    """A variable in the worlds that are left, and why; one that differs between them has no value."""
    value = bool(values[0]) if len(set(values)) == 1 else None
    if name in action:
        reason = "by the action"
    elif name in model.equations:
        quote = f' ("{model.quotes[name]}")' if name in model.quotes else ""
        reason = f"{name} := {model.equations[name]}{quote}"
    elif value is None:
        reason = "nothing is said of it"
    elif name in absent:
        reason = "nothing is said of it, taken as absent"
    else:
        is_seen = any(literal.variable == name for literal in conjoined(observed))
        reason = "observed" if is_seen else "follows from what was observed"
    return f"{name} {_WORDS[value]}: {reason}"
