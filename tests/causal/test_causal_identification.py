"""What a causal graph identifies: own enumeration against acting on models, and against two libraries."""

from itertools import combinations

import numpy as np
import pytest
from pgmpy.base import DAG
from pgmpy.identification import Adjustment, Frontdoor
from y0.algorithm.identify import identify_outcomes
from y0.dsl import Variable
from y0.graph import NxMixedGraph

from ovrag_core.base.errors import CausalError, CycleError, ImpossibleEvidenceError
from ovrag_studies.causal.models.dags import Dag, Nodes, make_dag, open_trail, written
from ovrag_studies.causal.models.identification import (
    Estimand,
    Joint,
    NotIdentified,
    back_door_sets,
    front_door_sets,
    identified,
    identify,
    interventional,
    project,
)
from ovrag_studies.causal.models.structural_models import Scm, from_strata

FRONT_DOOR = make_dag([("u", "x"), ("u", "y"), ("x", "m"), ("m", "y")], ["u"])
INSTRUMENT = make_dag([("u", "x"), ("u", "y"), ("z", "x"), ("x", "y")], ["u"])
BOW = make_dag([("u", "x"), ("u", "y"), ("x", "y")], ["u"])
HIDDEN_MEDIATION = make_dag([("x", "m"), ("x", "y"), ("u", "m"), ("u", "y"), ("m", "y")], ["u"])
NAPKIN = make_dag([("w", "r"), ("r", "x"), ("x", "y"), ("u", "w"), ("u", "x"), ("v", "w"), ("v", "y")], ["u", "v"])
M_BIAS = make_dag([("a", "x"), ("a", "z"), ("b", "z"), ("b", "y"), ("x", "y")], ["a", "b"])


def random_scm(dag: Dag, seed: int) -> Scm:
    """Binary, with probabilities away from 0 and 1."""
    random = np.random.default_rng(seed)
    causes = {node: dag.parents(node) for node in dag.nodes}
    strata = {
        node: {tuple(map(int, cell)): float(random.uniform(0.1, 0.9)) for cell in np.ndindex(*[2] * len(causes[node]))}
        for node in dag.nodes
    }
    return from_strata(strata, causes)


def observed(scm: Scm, dag: Dag) -> Joint:
    return Joint(dag.observed, scm.distribution(dag.observed))


def random_graphs(count: int, seed: int) -> list[Dag]:
    """Four or five observed variables in a fixed order, and up to three unobserved causes of two of them each."""
    random, graphs = np.random.default_rng(seed), []
    for _ in range(count):
        nodes = "abcde"[: random.integers(4, 6)]
        edges = [pair for pair in combinations(nodes, 2) if random.random() < 0.5] + [(nodes[0], nodes[-1])]
        pairs = list(combinations(nodes, 2))
        hidden = [pairs[n] for n in random.choice(len(pairs), random.integers(0, 4), replace=False)]
        edges += [(f"u{n}", node) for n, pair in enumerate(hidden) for node in pair]
        graphs.append(make_dag(edges, [f"u{n}" for n in range(len(hidden))], nodes))
    return graphs


def found_by_pgmpy(dag: Dag, cause: str, effect: str) -> dict[str, frozenset[Nodes]]:
    """The `back-door` and `front-door` sets that pgmpy finds."""
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
    graph = project(dag)
    mixed = NxMixedGraph.from_str_edges(
        nodes=list(graph.order), directed=list(graph.edges), undirected=[tuple(sorted(pair)) for pair in graph.pairs]
    )
    found = identify_outcomes(mixed, treatments=Variable(cause), outcomes=Variable(effect))
    return None if found is None else str(found)


def test_the_simplest_estimand_is_named() -> None:
    assert identify(make_dag([("x", "y")]), "ate", "x", "y") == Estimand("back-door")
    confounded = make_dag([("z", "x"), ("z", "y"), ("x", "y")])
    assert identify(confounded, "ate", "x", "y").by == ("z",)
    assert identify(FRONT_DOOR, "ate", "x", "y").method == "front-door"
    assert identify(NAPKIN, "ate", "x", "y").method == "ID"
    assert identify(confounded, "ate", "y", "x") == Estimand("none")


def test_a_collider_is_not_adjusted_for() -> None:
    assert next(back_door_sets(M_BIAS, "x", "y")) == ()
    assert ("z",) not in list(back_door_sets(M_BIAS, "x", "y"))


def test_what_is_not_identified_says_which_path_and_which_assumption() -> None:
    bow = identify(BOW, "ate", "x", "y")
    assert isinstance(bow, NotIdentified)
    assert bow.path == "x ← u → y"
    assert "u does not act on both x and y" in bow.assumption
    instrument = identify(INSTRUMENT, "ate", "x", "y")
    assert isinstance(instrument, NotIdentified)
    assert "z is an instrument" in instrument.assumption
    mediation = identify(HIDDEN_MEDIATION, "nie", "x", "y", ("m",))
    assert isinstance(mediation, NotIdentified)
    assert mediation.path == "m ← u → y"
    assert identify(HIDDEN_MEDIATION, "ate", "x", "y").method == "back-door"


def test_a_mediator_changed_by_the_cause_is_no_confounder_to_adjust_for() -> None:
    recanting = make_dag([("x", "l"), ("l", "m"), ("l", "y"), ("m", "y"), ("x", "y")])
    found = identify(recanting, "nde", "x", "y", ("m",))
    assert isinstance(found, NotIdentified)
    assert found.path == "m ← l → y"
    assert "l is itself an effect of x" in found.reason  # it is observed, which does not help
    assert found.assumption == "that x does not act on l, or l not on both m and y"


def test_the_assumption_that_is_named_suffices() -> None:
    beside = make_dag([("x", "m"), ("m", "y"), ("u", "x"), ("u", "m")], latent=["u"])
    assert identify(beside, "ate", "x", "y").assumption == "that u does not act on both x and m, or is observed"
    two = make_dag([("x", "y"), ("u", "x"), ("u", "y"), ("v", "x"), ("v", "y")], latent=["u", "v"])
    assert "u, v are all observed" in identify(two, "ate", "x", "y").assumption


def test_an_effect_all_of_which_is_mediated_is_the_total_one() -> None:
    chain = make_dag([("x", "m"), ("m", "y")])
    assert identify(chain, "nie", "x", "y", ("m",)) == identify(chain, "ate", "x", "y")
    assert identify(chain, "nde", "x", "y", ("m",)) == Estimand("none")


def test_estimands_of_the_id_algorithm_give_what_acting_gives() -> None:
    """Truth: surgery on a random model that has the unobserved variables too."""
    checked = 0
    for seed, dag in enumerate([FRONT_DOOR, NAPKIN, M_BIAS, HIDDEN_MEDIATION, *random_graphs(60, seed=1)]):
        cause, effect = ("x", "y") if "x" in dag.nodes else (dag.observed[0], dag.observed[-1])
        found = identified(dag, [cause], [effect])
        if found is None:
            continue
        scm = random_scm(dag, seed)
        truth = [scm.do({cause: state}).distribution([effect]) for state in (0, 1)]
        assert interventional(found, observed(scm, dag), cause, effect) == pytest.approx(np.array(truth), abs=1e-9)
        checked += 1
    assert checked > 30


def test_adjustment_and_front_door_agree_with_the_id_algorithm() -> None:
    for dag in random_graphs(60, seed=2):
        cause, effect = dag.observed[0], dag.observed[-1]
        simple = next(back_door_sets(dag, cause, effect), None) or next(front_door_sets(dag, cause, effect), None)
        if simple is not None:
            assert identified(dag, [cause], [effect]) is not None


def test_pgmpy_finds_the_same_back_and_front_doors() -> None:
    """It looks for back doors among ancestors alone, and judges mediators one by one."""
    for dag in [FRONT_DOOR, INSTRUMENT, BOW, M_BIAS, *random_graphs(15, seed=3)]:
        cause, effect = ("x", "y") if "x" in dag.nodes else (dag.observed[0], dag.observed[-1])
        theirs, looked_at = found_by_pgmpy(dag, cause, effect), dag.ancestors([cause, effect])
        ours = frozenset(map(frozenset, back_door_sets(dag, cause, effect)))
        assert theirs["back-door"] == {given for given in ours if given <= looked_at}
        doors = frozenset(map(frozenset, front_door_sets(dag, cause, effect)))
        assert {door for door in theirs["front-door"] if len(door) == 1} == {door for door in doors if len(door) == 1}


def test_y0_identifies_the_same_effects() -> None:
    for dag in [FRONT_DOOR, INSTRUMENT, BOW, NAPKIN, *random_graphs(40, seed=4)]:
        cause, effect = ("x", "y") if "x" in dag.nodes else (dag.observed[0], dag.observed[-1])
        assert (found_by_y0(dag, cause, effect) is None) == (identified(dag, [cause], [effect]) is None)


def test_an_estimand_needs_every_stratum_to_occur() -> None:
    table = np.zeros((2, 2, 2))
    table[0, 0, 0] = table[1, 1, 1] = 0.5
    dag = make_dag([("z", "x"), ("z", "y"), ("x", "y")])
    found = identified(dag, ["x"], ["y"])
    assert found is not None
    with pytest.raises(ImpossibleEvidenceError, match="is 0 for some values"):
        interventional(found, Joint(("z", "x", "y"), table), "x", "y")


def test_trails_open_and_close_as_d_separation_says() -> None:
    collider = make_dag([("x", "c"), ("y", "c"), ("c", "d")])
    assert open_trail(collider, "x", "y") is None
    assert written(collider, open_trail(collider, "x", "y", {"d"}) or ()).startswith("x → c")
    chain = make_dag([("x", "m"), ("m", "y")])
    assert open_trail(chain, "x", "y", {"m"}) is None
    assert written(chain, open_trail(chain, "x", "y") or ()) == "x → m → y"


def test_bad_graphs_and_names_are_refused() -> None:
    with pytest.raises(CycleError, match=r"cycle (a → b → a|b → a → b)"):
        make_dag([("a", "b"), ("b", "a")])
    with pytest.raises(CausalError, match="“u” is called unobserved"):
        make_dag([("a", "b")], ["u"])
    for cause, effect in [("x", "q"), ("x", "x"), ("u", "y")]:
        with pytest.raises(CausalError, match="not all different and observed; choose of x, y"):
            identify(BOW, "ate", cause, effect)
