"""Measure how far the effect at the end of a chain depends on what else is at work: a causal model around each chain.

The model has the things of the chain and their other direct causes in the graph, which are the context. A thing is up
(1) or down (0); a context is up as often as down, and P(up | causes) is 1/2 + strength/2 · the mean of the pushes of
the causes (1 or -1, by state and sign). The strength is an assumption; signs and causes are the graph's.
"""

from collections.abc import Callable
from functools import cache
from itertools import product

from pyoxigraph import NamedNode

from ovrag_core.graph import Store
from ovrag_studies.causal.chains.causal_chains import CausalChain
from ovrag_studies.causal.graphs.causal_terms import SIGNS
from ovrag_studies.causal.models.structural_models import Scm, from_strata, instability

Instability = Callable[[CausalChain], float]
STRENGTH = 0.8  # an assumption


def instability_in(store: Store, strength: float = STRENGTH) -> Instability:
    """Δ of a chain: by how much P(end | do(beginning)) differs between two contexts, on average (0 to 1).

    Each chain is computed once. Raises CyclicGraphError for a chain that comes back to a thing.
    """

    @cache
    def of(chain: CausalChain) -> float:
        start, end = chain.premises[0].subject.value, chain.premises[-1].object.value
        return instability(model_of(chain, store, strength), {start: 1}, end)

    return of


def model_of(chain: CausalChain, store: Store, strength: float) -> Scm:
    """The model of a chain and its context; variables are named by their IRIs."""
    start = chain.premises[0].subject
    nodes = dict.fromkeys(step.object for step in chain.premises)
    causes = {node: _causes(store, node) for node in nodes}
    for step in chain.premises:  # what the store does not know, the chain says
        causes[step.object].setdefault(step.subject, SIGNS[step.predicate])
    around = {cause for signs in causes.values() for cause in signs} - nodes.keys() | {start}
    strata = {node.value: _shares(tuple(causes[node].values()), strength) for node in nodes}
    strata |= {node.value: _shares((), strength) for node in sorted(around, key=str)}
    return from_strata(strata, {node.value: [cause.value for cause in causes[node]] for node in nodes})


def _causes(store: Store, thing: NamedNode) -> dict[NamedNode, int]:
    signed_causes = [
        (triple.subject, sign)
        for predicate, sign in SIGNS.items()
        for triple in store.triples(None, predicate, thing)
        if isinstance(triple.subject, NamedNode)
    ]
    return dict(sorted(signed_causes, key=str))


@cache
def _shares(signs: tuple[int, ...], strength: float) -> dict[tuple[int, ...], float]:
    """P(1 | states of the causes) by their signs."""
    shares = {}
    for states in product((0, 1), repeat=len(signs)):
        pushes = sum(sign * (2 * state - 1) for sign, state in zip(signs, states, strict=True))
        shares[states] = round(0.5 + strength / 2 * pushes / max(1, len(signs)), 12)
    return shares
