"""The same asked of pgmpy and y0, to compare with. They are imported when asked, as they bring torch and pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ovrag_studies.causal.models.dags import Dag, Nodes
from ovrag_studies.causal.models.id_algorithm import project
from ovrag_studies.causal.models.structural_models import Scm

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork


def found_by_pgmpy(dag: Dag, cause: str, effect: str) -> dict[str, frozenset[Nodes]]:
    """The `back-door` and `front-door` sets that pgmpy finds."""
    from pgmpy.base import DAG  # noqa: PLC0415 - brings torch with it
    from pgmpy.identification import Adjustment, Frontdoor  # noqa: PLC0415

    graph = DAG(list(dag.edges), latents=set(dag.latent))
    graph.add_nodes_from(dag.nodes)
    graph = graph.with_role("exposures", {cause}).with_role("outcomes", {effect})
    by_role = {"adjustment": Adjustment(variant="all"), "frontdoor": Frontdoor(variant="all")}
    sets: list[frozenset[Nodes]] = []
    for role, method in by_role.items():
        found, identified_so = method.identify(graph)
        sets.append(frozenset(frozenset(one.get_role(role)) for one in found) if identified_so else frozenset())
    return {"back-door": sets[0], "front-door": sets[1]}


def found_by_y0(dag: Dag, cause: str, effect: str) -> str | None:
    """The formula that y0's ID algorithm finds for P(effect | do(cause)), None where it is not identifiable.

    Where the algorithm goes on with another distribution, the formula writes that as P too (on the napkin graph it
    reads P(y | x), which is not the effect): what can be compared is whether there is one.
    """
    from y0.algorithm.identify import identify_outcomes  # noqa: PLC0415 - brings pandas with it
    from y0.dsl import Variable  # noqa: PLC0415
    from y0.graph import NxMixedGraph  # noqa: PLC0415

    graph = project(dag)
    mixed = NxMixedGraph.from_str_edges(
        nodes=list(graph.order), directed=list(graph.edges), undirected=[tuple(sorted(pair)) for pair in graph.pairs]
    )
    found = identify_outcomes(mixed, treatments=Variable(cause), outcomes=Variable(effect))
    return None if found is None else str(found)


def as_pgmpy(scm: Scm) -> DiscreteBayesianNetwork:
    """The model as pgmpy's network, whose `do` and queries it can then be compared with."""
    from pgmpy.factors.discrete import TabularCPD  # noqa: PLC0415 - brings torch with it
    from pgmpy.models import DiscreteBayesianNetwork  # noqa: PLC0415

    network = DiscreteBayesianNetwork([(cause, v) for v, how in scm.mechanisms.items() for cause in how.causes])
    network.add_nodes_from(scm.variables)
    for variable, how in scm.mechanisms.items():
        chances = np.stack([(how.table == state) @ np.asarray(how.noise) for state in range(how.states)])
        sizes = [scm.mechanisms[cause].states for cause in how.causes]
        flat = chances.reshape(how.states, -1)
        network.add_cpds(TabularCPD(variable, how.states, flat, evidence=list(how.causes), evidence_card=sizes))
    return network
