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

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon, pdist, squareform

from ovrag_core.base import CausalError, ImpossibleEvidenceError
from ovrag_studies.causal.models.dags import ordered
from ovrag_studies.causal.models.id_algorithm import Values

States = Mapping[str, int]
Strata = Mapping[tuple[int, ...], float]
Worlds = tuple[Values, dict[str, NDArray[np.int64]]]
"""All settings of the noises: their probabilities, and each variable's value in each."""

MOST_WORLDS = 2_000_000


@dataclass(frozen=True)
class Mechanism:
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

    def worlds(self, fixed_noise: States | None = None, forced: States | None = None) -> Worlds:
        """Every combination of noises, or those with some noises fixed; `forced` sets variables whatever their causes.

        Raises CausalError for too many worlds.
        """
        fixed, forced = fixed_noise or {}, forced or {}
        ranges = [[fixed[v]] if v in fixed else range(len(how.noise)) for v, how in self.mechanisms.items()]
        if (count := prod(map(len, ranges))) > MOST_WORLDS:
            raise CausalError(f"the model has {count} settings of its noises, more than {MOST_WORLDS}; simplify it")
        noises = np.array(np.meshgrid(*ranges, indexing="ij"), dtype=np.int64).reshape(len(ranges), -1)
        weights, values = np.ones(count), dict[str, NDArray[np.int64]]()
        for noise, (variable, how) in zip(noises, self.mechanisms.items(), strict=True):
            if variable not in fixed:
                weights *= np.asarray(how.noise)[noise]
            if variable in forced:
                values[variable] = np.full(count, forced[variable])
            else:
                values[variable] = how.table[(*(values[cause] for cause in how.causes), noise)]
        return weights, values

    def distribution(self, variables: Sequence[str], given: States | None = None) -> Values:
        """P(variables | given), an axis each. Raises ImpossibleEvidenceError."""
        worlds = self.worlds()
        return _counted(variables, worlds, _weights_given(worlds, given or {}))

    def do(self, action: States) -> Scm:
        """The model after acting: what is set has no causes and no noise any more."""
        set_by_action = {variable: Mechanism((), (1.0,), np.array([state])) for variable, state in action.items()}
        return Scm({variable: set_by_action.get(variable, how) for variable, how in self.mechanisms.items()})

    def counterfactual(self, variables: Sequence[str], action: States, evidence: States) -> Values:
        """P(variables had the action been taken | evidence): abduction, action and prediction, over all noises.

        Raises ImpossibleEvidenceError for evidence of probability 0.
        """
        posterior = _weights_given(self.worlds(), evidence)
        return _counted(variables, self.worlds(forced=action), posterior)


def _counted(variables: Sequence[str], worlds: Worlds, weights: Values) -> Values:
    table = np.zeros([2] * len(variables))
    np.add.at(table, tuple(worlds[1][variable] for variable in variables), weights)
    return table


def _weights_given(worlds: Worlds, given: States) -> Values:
    weights, values = worlds
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
    return Scm({variable: _threshold(strata[variable], causes_of[variable]) for variable in ordered(causes_of)})


def _threshold(strata: Strata, causes: tuple[str, ...]) -> Mechanism:
    cells = list(product((0, 1), repeat=len(causes)))
    limits = sorted({0.0, 1.0, *strata.values()})
    table = [[int(limit <= strata[cell]) for limit in limits[1:]] for cell in cells]
    noise = tuple(float(step) for step in np.diff(limits))
    return Mechanism(causes, noise, np.array(table).reshape(*[2] * len(causes), len(noise)))


def instability(scm: Scm, action: States, outcome: str) -> float:
    """Δ = E[d(P(Y | do(X), u), P(Y | do(X), u′))], u and u′ independent settings of the noises of the contexts.

    d is the Jensen–Shannon distance. Contexts are the variables without causes, but those acted on; other noises are
    averaged over. 0 where the outcome does not depend on contexts.
    """
    acted = scm.do(action)
    contexts = [v for v, how in scm.mechanisms.items() if not how.causes and v not in action]
    noises = [acted.mechanisms[variable].noise for variable in contexts]
    shares = np.array([prod(chances) for chances in product(*noises)])
    outcomes: list[Values] = []
    for setting in product(*map(range, map(len, noises))):
        worlds = acted.worlds(dict(zip(contexts, setting, strict=True)))
        outcomes.append(_counted([outcome], worlds, worlds[0]))
    # rounding may leave the root of a little less than nothing
    apart = np.nan_to_num(squareform(pdist(np.array(outcomes), partial(jensenshannon, base=2))))
    return float(shares @ apart @ shares)
