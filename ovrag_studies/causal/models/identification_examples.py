"""Average effects in small models: what their graphs let one compute, and what is true of them.

The models are invented, with names of one letter: x is the cause, y the effect, m between them, z an instrument or a
measured confounder, u and v are hidden. As the models are whole, the truth is known also where no observation shows it.
"""

from itertools import product
from typing import NamedTuple

from ovrag_studies.causal.models.dags import Dag, make_dag
from ovrag_studies.causal.models.identification import Joint, NotIdentified, identified, identify, interventional
from ovrag_studies.causal.models.structural_models import Scm, from_strata, instability

Stratum = tuple[str, *tuple[float, ...]]
"""The causes of a variable, and P(1) by their states, the first slowest."""


class ModelExample(NamedTuple):
    """A model with a name."""

    name: str
    scm: Scm
    dag: Dag


def example(name: str, hidden: str, **table: Stratum) -> ModelExample:
    """A model from its strata by variable; `hidden` are the letters that nobody observed."""
    strata = {
        variable: dict(zip(product((0, 1), repeat=len(causes)), chances, strict=True))
        for variable, (causes, *chances) in table.items()
    }
    edges = [(cause, variable) for variable, (causes, *_) in table.items() for cause in causes]
    scm = from_strata(strata, {variable: list(causes) for variable, (causes, *_) in table.items()})
    return ModelExample(name, scm, make_dag(edges, hidden))


def examples() -> list[ModelExample]:
    """One of each kind: identified by a back door, a front door or the ID algorithm alone, and two that are not."""
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
    ]


def measured_confounder() -> ModelExample:
    """The model whose actions and counterfactuals are shown."""
    return example("measured confounder", "", z=("", 0.4), x=("z", 0.25, 0.7), y=("xz", 0.3, 0.8, 0.2, 0.65))


def examine(of: ModelExample) -> dict[str, str | float | None]:
    """The graph's answer beside the numbers of the model: what identifies the effect of x on y or would suffice.

    `computed` is the effect from observations, None where it is not identified, `naive` that as if nothing confounded
    it, `true` that by acting.
    """
    estimand, expression = identify(of.dag, "ate", "x", "y"), identified(of.dag, ["x"], ["y"])
    computed = None
    why = {"identified": "no", "by": "", "would suffice": ""}
    if isinstance(estimand, NotIdentified):
        why |= {"by": f"open: {estimand.path}", "would suffice": estimand.assumption}
    elif expression is not None:
        why |= {"identified": f"by {estimand.method}", "by": f"P(y | do x) = {expression.text}"}
        joint = Joint(of.dag.observed, of.scm.distribution(of.dag.observed))
        done = interventional(expression, joint, "x", "y")
        computed = float(done[1, 1] - done[0, 1])
    seen = [float(of.scm.distribution(["y"], {"x": state})[1]) for state in (0, 1)]
    acted = [float(of.scm.do({"x": state}).distribution(["y"])[1]) for state in (0, 1)]
    effects = {"computed": computed, "naive": seen[1] - seen[0], "true": acted[1] - acted[0]}
    return {"model": of.name, **why, **effects}


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
