"""Effects in small models: what their graphs let one compute, and what is true of them.

The models are invented, with names of one letter: x is the cause, y the effect, m between them, z an instrument or a
measured confounder, u and v are hidden. As the models are whole, the truth is known also where no observation shows it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ovrag_studies.causal.models.dags import Dag, make_dag
from ovrag_studies.causal.models.id_algorithm import Joint, identified, interventional
from ovrag_studies.causal.models.identification import Effect, Estimand, NotIdentified, identify
from ovrag_studies.causal.models.structural_models import Scm, from_strata, instability

Stratum = tuple[str, *tuple[float, ...]]
"""The causes of a variable, and P(1) by their states, the first slowest."""
ATE = Effect("ate", "x", "y")


@dataclass(frozen=True)
class ModelExample:
    """A model with a name, and the effect that is asked for."""

    name: str
    scm: Scm
    dag: Dag
    asked: Effect = ATE


@dataclass(frozen=True)
class Examined:
    """Findings of the graph, and the effect: as it looks, as computed from observations, and as it is.

    `naive` is the effect as if nothing confounded it; `estimate` is None where it is not identified.
    """

    example: ModelExample
    found: Estimand | NotIdentified
    naive: float
    estimate: float | None
    truth: float

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and greatest effect that the observations allow, where they are computed."""
        return self.found.bounds if isinstance(self.found, NotIdentified) else None


def example(name: str, hidden: str, asked: Effect = ATE, **table: Stratum) -> ModelExample:
    """A model from its strata by variable; `hidden` are the letters that nobody observed."""
    strata = {
        variable: dict(zip(product((0, 1), repeat=len(causes)), chances, strict=True))
        for variable, (causes, *chances) in table.items()
    }
    edges = [(cause, variable) for variable, (causes, *_) in table.items() for cause in causes]
    scm = from_strata(strata, {variable: list(causes) for variable, (causes, *_) in table.items()})
    return ModelExample(name, scm, make_dag(edges, hidden), asked)


def examples() -> list[ModelExample]:
    """One of each kind: identified by a back door, a front door or the ID algorithm alone, and three that are not."""
    return [
        measured_confounder(),
        example("front door", "u", u=("", 0.4), x=("u", 0.25, 0.8), m=("x", 0.2, 0.75), y=("um", 0.2, 0.5, 0.6, 0.85)),
        example(
            "napkin",
            "uv",
            u=("", 0.5),
            v=("", 0.4),
            w=("uv", 0.2, 0.6, 0.5, 0.85),
            r=("w", 0.3, 0.75),
            x=("ru", 0.15, 0.6, 0.5, 0.9),
            y=("xv", 0.25, 0.7, 0.45, 0.85),
        ),
        example("bow", "u", u=("", 0.45), x=("u", 0.25, 0.8), y=("xu", 0.4, 0.85, 0.3, 0.75)),
        example(
            "instrument",
            "u",
            z=("", 0.5),
            u=("", 0.45),
            x=("zu", 0.08, 0.35, 0.7, 0.95),
            y=("xu", 0.15, 0.5, 0.45, 0.8),
        ),
        example(
            "hidden cause of mediator and effect",
            "u",
            Effect("nde", "x", "y", ("m",)),
            x=("", 0.5),
            u=("", 0.5),
            m=("xu", 0.1, 0.8, 0.65, 0.95),
            y=("xmu", 0.1, 0.8, 0.05, 0.75, 0.17, 0.87, 0.12, 0.82),
        ),
    ]


def measured_confounder() -> ModelExample:
    """The model whose actions and counterfactuals are shown."""
    return example("measured confounder", "", z=("", 0.4), x=("z", 0.25, 0.7), y=("xz", 0.3, 0.8, 0.2, 0.65))


def examine(of: ModelExample) -> Examined:
    """The graph's answer beside the numbers of the model."""
    names = of.dag.observed
    joint = Joint(names, of.scm.distribution(names))
    answer = identify(of.dag, of.asked, joint)
    estimate = None
    if isinstance(answer, Estimand):
        formula = identified(of.dag, ["x"], ["y"])
        if formula is not None:
            done = interventional(formula, joint, "x", "y")
            estimate = float(done[1, 1] - done[0, 1])
    if of.asked.kind == "ate":
        without, treated = (float(of.scm.do({"x": state}).distribution(["y"])[1]) for state in (0, 1))
        truth = treated - without
    else:  # a direct effect, by its hidden strata
        truth = _effect_by(of, tuple(sorted(of.dag.latent)))
    return Examined(of, answer, _effect_by(of, ()), estimate, truth)


def _effect_by(of: ModelExample, confounders: tuple[str, ...]) -> float:
    """The difference that x makes, in the strata of confounders and held at what the mediators are without it."""
    scm, total = of.scm, 0.0
    for stratum in _states(confounders):
        for mediators in _states(of.asked.through):
            weight = _chance(scm, stratum, {}) * _chance(scm, mediators, {**stratum, "x": 0})
            condition = {**stratum, **mediators}
            without, treated = (float(scm.distribution(["y"], {**condition, "x": state})[1]) for state in (0, 1))
            total += weight * (treated - without)
    return total


def _states(variables: Sequence[str]) -> list[dict[str, int]]:
    return [dict(zip(variables, cell, strict=True)) for cell in product((0, 1), repeat=len(variables))]


def _chance(scm: Scm, states: Mapping[str, int], given: Mapping[str, int]) -> float:
    """P(states | given), 1 for no states."""
    return float(scm.distribution(list(states), given)[tuple(states.values())]) if states else 1.0


def quantities(of: ModelExample) -> list[tuple[str, str, float]]:
    """Compute what is seen, done and imagined in a model of x, y and z: the words, the symbols and the value.

    What is imagined rests on the coupling of the model: noises that leave as many cases as possible unchanged.
    """
    scm = of.scm
    observed = scm.distribution(["y"], {"x": 1})[1]
    done = [scm.do({"x": state}).distribution(["y"])[1] for state in (0, 1)]
    spoiled = scm.counterfactual(["y"], {"x": 0}, {"x": 1, "y": 0})[1]
    spared = scm.counterfactual(["y"], {"x": 1}, {"x": 0, "y": 1})[0]
    treated = observed - scm.counterfactual(["y"], {"x": 0}, {"x": 1})[1]
    return [
        ("chance of y", "P(y)", float(scm.distribution(["y"])[1])),
        ("chance of y where x is seen", "P(y | x)", float(observed)),
        ("chance of y where x is done", "P(y | do x)", float(done[1])),
        ("effect of x on y", "P(Y_x) − P(Y_(not x))", float(done[1] - done[0])),
        ("effect on those with x", "E[Y_x − Y_(not x) | x]", float(treated)),
        ("y without x, of those with x and no y", "P(Y_(not x) = 1 | x, not y)", float(spoiled)),
        ("no y with x, of those with y and no x", "P(Y_x = 0 | not x, y)", float(spared)),
        ("instability over contexts", "Δ over z", instability(scm, {"x": 1}, "y")),
    ]
