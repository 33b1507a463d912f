"""Structural causal models of binary variables: actions by graph surgery, counterfactuals by enumeration, stability.

A model has, for every variable, its causes, a finite noise of its own, and a table that gives its value from both.
Noises are independent; a common unobserved cause is a variable of the model like any other.
Source: Pearl, Causality (2009), sections 1.4 and 7.1; divergence: Lin, IEEE Trans. Inf. Theory 37 (1991), base 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon, pdist, squareform

from ovrag_core.base import CausalError, ImpossibleEvidenceError
from ovrag_studies.causal.models.dags import ordered
from ovrag_studies.causal.models.identification import Values

States = Mapping[str, int]
Strata = Mapping[tuple[int, ...], float]
WorldValues = dict[str, NDArray[np.int64]]

MOST_WORLDS = 2_000_000


class Mechanism(NamedTuple):
    """Origin of a variable: its causes, the probabilities of its noise, and its value by cause states and noise.

    `table` has an axis per cause, in their order, and the noise as the last.
    """

    causes: tuple[str, ...]
    noise: tuple[float, ...]
    table: NDArray[np.int64]


@dataclass(frozen=True)
class Scm:
    """Mechanisms by variable, causes before effects."""

    mechanisms: Mapping[str, Mechanism]

    def worlds(self, forced: States | None = None) -> tuple[Values, WorldValues]:
        """Probabilities of all settings of the noises, and values in each; `forced` sets variables whatever the causes.

        Raises CausalError for too many worlds.
        """
        forced = forced or {}
        ranges = [range(len(how.noise)) for how in self.mechanisms.values()]
        if (count := prod(map(len, ranges))) > MOST_WORLDS:
            raise CausalError(f"the model has {count} settings of its noises, more than {MOST_WORLDS}; simplify it")
        noises = np.array(np.meshgrid(*ranges, indexing="ij"), dtype=np.int64).reshape(len(ranges), -1)
        weights, values = np.ones(count), dict[str, NDArray[np.int64]]()
        for noise, (variable, how) in zip(noises, self.mechanisms.items(), strict=True):
            weights *= np.asarray(how.noise)[noise]
            if variable in forced:
                values[variable] = np.full(count, forced[variable])
            else:
                values[variable] = how.table[(*(values[cause] for cause in how.causes), noise)]
        return weights, values

    def distribution(self, variables: Sequence[str], given: States | None = None) -> Values:
        """P(variables | given), an axis each. Raises ImpossibleEvidenceError."""
        weights, values = self.worlds()
        return _counted(variables, _weights_given(weights, values, given or {}), values)

    def do(self, action: States) -> Scm:
        """The model after acting: what is set has no causes and no noise any more."""
        set_by_action = {variable: Mechanism((), (1.0,), np.array([state])) for variable, state in action.items()}
        return Scm({variable: set_by_action.get(variable, how) for variable, how in self.mechanisms.items()})

    def counterfactual(self, variables: Sequence[str], action: States, evidence: States) -> Values:
        """P(variables had the action been taken | evidence), over all noises. Raises ImpossibleEvidenceError."""
        posterior = _weights_given(*self.worlds(), evidence)
        return _counted(variables, posterior, self.worlds(action)[1])


def _counted(variables: Sequence[str], weights: Values, values: WorldValues) -> Values:
    table = np.zeros([2] * len(variables))
    np.add.at(table, tuple(values[variable] for variable in variables), weights)
    return table


def _weights_given(weights: Values, values: WorldValues, given: States) -> Values:
    for variable, state in given.items():
        weights = np.where(values[variable] == state, weights, 0.0)
    total = float(weights.sum())
    if total <= 0:
        evidence = ", ".join(f"{variable} = {state}" for variable, state in given.items())
        raise ImpossibleEvidenceError(f"{evidence} has probability 0 in the model, so that nothing follows from it")
    return weights / total


def from_strata(strata: Mapping[str, Strata], causes: Mapping[str, Sequence[str]]) -> Scm:
    """A model of binary variables from P(1 | states of its causes) of each.

    The noise of a variable is uniform, and it is 1 where its probability exceeds the noise: the coupling of potential
    outcomes that leaves as many cases as possible unchanged (monotone). Actions do not depend on that choice,
    counterfactuals do. Raises CycleError.
    """
    causes_of = {variable: tuple(causes.get(variable, ())) for variable in strata}
    mechanisms = {}
    for variable in ordered(causes_of):
        shares, axes = strata[variable], [2] * len(causes_of[variable])
        limits = sorted({0.0, 1.0, *shares.values()})
        table = [[int(limit <= shares[cell]) for limit in limits[1:]] for cell in np.ndindex(*axes)]
        noise = tuple(np.diff(limits).tolist())
        mechanisms[variable] = Mechanism(causes_of[variable], noise, np.array(table).reshape(*axes, len(noise)))
    return Scm(mechanisms)


def instability(scm: Scm, action: States, outcome: str) -> float:
    """Δ = E[d(P(Y | do(X), u), P(Y | do(X), u′))], u and u′ independent settings of the contexts.

    d is the Jensen–Shannon distance. Contexts are the variables without causes, but those acted on; other noises are
    averaged over. 0 where the outcome does not depend on contexts.
    """
    acted = scm.do(action)
    contexts = {v: how for v, how in scm.mechanisms.items() if not how.causes and v not in action}
    settings = [dict(zip(contexts, states, strict=True)) for states in product((1, 0), repeat=len(contexts))]
    shares = np.array(
        [prod(np.asarray(how.noise) @ (how.table == setting[v]) for v, how in contexts.items()) for setting in settings]
    )
    outcomes = np.array([_counted([outcome], *acted.do(setting).worlds()) for setting in settings])
    # rounding may leave the root of a little less than nothing
    apart = np.nan_to_num(squareform(pdist(outcomes, partial(jensenshannon, base=2))))
    return float(shares @ apart @ shares)
