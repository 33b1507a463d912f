"""Deterministic causal models: rules in words as Boolean equations, solved for what was observed and what is done.

"Ziklo and Blaf together cause Trune" is the structural equation Trune := Ziklo ∧ Blaf (Pearl 2009, chapter 7): without
its cause an effect does not occur. A counterfactual takes abduction (settings of the roots under which the factual
world shows what was observed), action (the equations of what is done are cut) and prediction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from itertools import islice, product
from typing import Literal as OneOf

from ovrag_core.base import CausalError
from ovrag_studies.causal.models.dags import reach

MOST_FREE_ROOTS = 14  # 2 ** 14 settings are looked at within a second; beyond that the question is left open
MOST_CASES = 2000

Status = OneOf["determined", "assumed", "cyclic", "open", "ambiguous", "unread"]
World = dict[str, bool]


@dataclass(frozen=True, slots=True)
class Literal:
    """A variable that holds, or does not."""

    variable: str
    holds: bool = True

    def __str__(self) -> str:
        return self.variable if self.holds else f"not {self.variable}"


@dataclass(frozen=True, slots=True)
class Junction:
    """All (`every`) or any of the parts."""

    every: bool
    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        inner = (f"({operand})" if isinstance(operand, Junction) else str(operand) for operand in self.parts)
        return (" and " if self.every else " or ").join(inner)


Formula = Literal | Junction


@dataclass(frozen=True, slots=True)
class CausalRule:
    """`condition` brings about `effect`; `quote` is text[span[0]:span[1]] of the text it was read from."""

    condition: Formula
    effect: Literal
    quote: str = ""
    span: tuple[int, int] = (0, 0)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the condition, then that of the effect."""
        return (*mentioned(self.condition), self.effect.variable)


@dataclass(frozen=True, slots=True)
class CounterfactualOutcome:
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

    def parents(self, name: str) -> tuple[str, ...]:
        """The variables that the equation of this one hangs on, none of a root."""
        return mentioned(self.equations[name]) if name in self.equations else ()

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


def evaluate(formula: Formula, known: Mapping[str, bool]) -> bool | None:
    """Kleene's value: None as long as it hangs on a variable that is not known."""
    if isinstance(formula, Literal):
        value = known.get(formula.variable)
        return None if value is None else value == formula.holds
    values = [evaluate(operand, known) for operand in formula.parts]
    deciding = not formula.every
    if deciding in values:
        return deciding
    return None if None in values else not deciding


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


def cycle_of(model: BooleanModel, within: Sequence[str] | None = None) -> tuple[str, ...]:
    """A cycle of the model, first variable repeated at the end; empty where there is none."""
    allowed = model.variables if within is None else within
    parents = {name: model.parents(name) for name in allowed if name in model.equations}
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        return tuple(error.args[1])
    return ()


def ancestors(model: BooleanModel, names: Iterable[str]) -> tuple[str, ...]:
    """The names and all that their equations hang on, in the order of the model."""
    reached = reach(names, model.parents)
    return tuple(name for name in model.variables if name in reached)


def settle(model: BooleanModel, known: Mapping[str, bool]) -> World | None:
    """All that follows from what is known by the equations; None where they contradict it."""
    world = dict(known)
    changed = True
    while changed:
        changed = False
        for name, equation in model.equations.items():
            value = evaluate(equation, world)
            if value is not None and name not in world:
                world[name], changed = value, True
            elif value is not None and world[name] != value:
                return None
    return world


def worlds(model: BooleanModel, known: Mapping[str, bool], names: Sequence[str]) -> Iterator[World]:
    """Every solution of the equations that agrees with what is known; all of `names` have a value in it.

    Raises CausalError where a cycle leaves more cases than can be gone through.
    """
    waiting: list[Mapping[str, bool]] = [known]
    for _ in range(MOST_CASES):
        if not waiting:
            return
        world = settle(model, waiting.pop())
        if world is None:
            continue
        unknown = next((name for name in names if name not in world), None)
        if unknown is None:
            yield world
        else:
            waiting += [{**world, unknown: True}, {**world, unknown: False}]
    raise CausalError(f"the cycles of the rules leave more than {MOST_CASES} cases; give fewer rules")


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
    settings, remarks = _abduced(model, action, matter, observed, supposed)
    if not settings:
        return CounterfactualOutcome(None, "open", remarks=remarks)
    cycle, whole = cycle_of(changed, matter), cycle_of(model)
    solutions_by_setting = [list(islice(worlds(changed, {**setting, **action}, matter), 2)) for setting in settings]
    if any(len(solutions) != 1 for solutions in solutions_by_setting):
        why = "more than one solution" if all(solutions_by_setting) else "no solution"
        remarks = (*remarks, f"the rules leave {why} under the action")
        return CounterfactualOutcome(None, "cyclic", remarks=remarks, cycle=cycle)
    if cycle:
        remarks += (f"the rules form a cycle, {' → '.join(cycle)}; the action leaves one solution",)
    elif whole:
        remarks += (f"the rules form a cycle, {' → '.join(whole)}, which does not matter under the action",)
    solved = [world for (world,) in solutions_by_setting]
    free = [name for name in settings[0] if len({setting[name] for setting in settings}) > 1]
    status, remaining = _settled(solved, asked, free)
    if status != "determined":
        remarks += (f"nothing is said of {', '.join(free)}" + (", taken as absent" if status == "assumed" else ""),)
    absent = free if status == "assumed" else ()
    steps = _derivation(changed, action, remaining, matter, observed, absent)
    value = None if status == "open" else bool(evaluate(asked, remaining[0]))
    status = "cyclic" if cycle and status == "determined" else status
    return CounterfactualOutcome(value, status, steps, remarks, cycle or whole)


def _settled(solved: list[World], asked: Formula, free: Sequence[str]) -> tuple[Status, list[World]]:
    """Settle the status and its worlds: all where they agree on what is asked, else one without free roots, if any."""
    if len({evaluate(asked, world) for world in solved}) == 1:
        return "determined", solved
    bare = [world for world in solved if not any(world[name] for name in free)]
    return ("assumed", bare[:1]) if bare else ("open", solved)


def _abduced(
    model: BooleanModel,
    action: Mapping[str, bool],
    matter: Sequence[str],
    observed: Sequence[Formula],
    supposed: Sequence[Formula],
) -> tuple[list[World], tuple[str, ...]]:
    """Settings of the roots that matter, under which the factual world shows what was observed, and a remark."""
    root_evidence = [formula for formula in observed if set(mentioned(formula)) <= set(model.roots)]
    for evidence, remarks in (
        ([*observed, *supposed], ()),
        (observed, ("what was observed cannot be together with what the question takes for the fact",)),
        (root_evidence, ("the rules rule out what was observed; only what was observed of roots is used",)),
    ):
        if settings := _settings(model, action, matter, evidence):
            return settings, remarks
    return [], ("what was observed contradicts itself",)


def _settings(
    model: BooleanModel, action: Mapping[str, bool], matter: Sequence[str], evidence: Sequence[Formula]
) -> list[World]:
    names = ancestors(model, (name for formula in evidence for name in mentioned(formula)))
    fixed: World = {}
    for literal in conjoined(evidence):
        if literal.variable in model.roots:
            fixed.setdefault(literal.variable, literal.holds)
    matters = [name for name in model.roots if name in matter and name not in action]
    free = [name for name in model.roots if name in {*names, *matters} - fixed.keys()]
    if len(free) > MOST_FREE_ROOTS:
        raise CausalError(f"{len(free)} roots of which nothing is said: more than {MOST_FREE_ROOTS}")
    settings: dict[tuple[bool | None, ...], World] = {}
    for values in product((False, True), repeat=len(free)):
        setting = {**fixed, **dict(zip(free, values, strict=True))}
        shown = worlds(model, setting, names)
        if not evidence or any(all(evaluate(formula, world) for formula in evidence) for world in shown):
            settings[tuple(map(setting.get, matters))] = {name: setting[name] for name in matters}
    return list(settings.values())


def conjoined(formulas: Sequence[Formula]) -> Iterator[Literal]:
    """The literals that hold where all of the formulas do: single ones, and those of conjunctions."""
    for formula in formulas:
        if isinstance(formula, Literal):
            yield formula
        elif formula.every:
            yield from conjoined(formula.parts)


def _derivation(
    model: BooleanModel,
    action: Mapping[str, bool],
    solved: Sequence[World],
    matter: Sequence[str],
    observed: Sequence[Formula],
    absent: Sequence[str],
) -> tuple[str, ...]:
    """Causes before effects; a variable that differs between the worlds that are left has no value."""
    seen, steps = {literal.variable for literal in conjoined(observed)}, []
    parents = {name: model.parents(name) for name in matter}
    for name in matter if cycle_of(model, matter) else TopologicalSorter(parents).static_order():
        values = {world[name] for world in solved}
        value = values.pop() if len(values) == 1 else None
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
            reason = "observed" if name in seen else "follows from what was observed"
        steps.append(f"{name} {_WORDS[value]}: {reason}")
    return tuple(steps)
