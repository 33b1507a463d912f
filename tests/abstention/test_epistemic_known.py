"""A third domain from its file alone, with a graph that holds what graphs hold: and chains however long."""

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.base.errors import Unchecked
from ovrag_core.graph import TYPE, EmbeddedStore
from ovrag_studies.abstention.knowledge.domain import Domain, load_domain
from ovrag_studies.abstention.knowledge.known import Known, open_with_domain, violations
from ovrag_studies.abstention.licensing.asking import ask
from ovrag_studies.abstention.licensing.licence import CHAIN, COMPLETE, LicenceVerdict, license_claim, recheck
from ovrag_studies.abstention.parsing.claim_reader import GraphClaim
from ovrag_studies.abstention.parsing.name_index import names_of

FIRMS = "http://example.org/firms#"
LONG = 10_000


def iri(name: str) -> NamedNode:
    return NamedNode(FIRMS + name)


@pytest.fixture(scope="module")
def firms(project: Path) -> Domain:
    return load_domain(project / "tests/data/epistemic/firms.yaml")


@pytest.fixture(scope="module")
def graph(project: Path, firms: Domain) -> EmbeddedStore:
    store = open_with_domain(str(project / "tests/data/epistemic/firms.ttl"), firms)
    assert isinstance(store, EmbeddedStore)
    return store


@pytest.mark.parametrize(
    ("subject", "predicate", "object_", "verdict", "constraint"),
    [
        ("acme", "controlledBy", "hank", "YES", None),
        ("acme", "ownedBy", "hank", "NO", "one_owner"),
        ("acme", FIRMS + "ownedBy", "hank", "NO", "one_owner"),
        ("acme", "controlledBy", "jane", "NO", CHAIN),
        ("umbra", "controlledBy", "hank", "UNKNOWN", None),  # another owner has no name
        ("initech", "ownedBy", "jane", "UNKNOWN", None),
        ("hank", "ownedBy", "jane", "NO", "of_company"),
        ("initech", "ownedBy", "rome", "NO", "by_agent"),
        ("initech", "rivalOf", "acme", "NO", "one_way"),
        ("initech", FIRMS + "rivalOf", "acme", "NO", "one_way"),
        ("jane", "rivalOf", "jane", "NO", "one_way"),
        ("acme", "rivalOf", "globex", "NO", "not_owner"),
        ("acme", "seat", "rome", "NO", COMPLETE),
        ("globex", "seat", "paris", "UNKNOWN", None),  # a second seat has no name
        ("solo", "ownedBy", "hank", "UNCHECKED", None),
        ("below", "controlledBy", "three", "UNCHECKED", None),
        ("below", "controlledBy", "hank", "UNCHECKED", None),
        ("both", "ownedBy", "hank", "UNCHECKED", None),  # a company and a person at once
        ("acme", "ownedBy", "both", "UNCHECKED", None),
    ],
)
def test_another_domain_runs_from_its_file(
    graph: EmbeddedStore,
    firms: Domain,
    subject: str,
    predicate: str,
    object_: str,
    verdict: str,
    constraint: str | None,
) -> None:
    licence = license_claim(GraphClaim(iri(subject), predicate, iri(object_)), graph, firms)
    assert (licence.verdict, licence.constraint) == (verdict, constraint), licence.lacking


def test_every_licence_of_another_domain_bears_a_second_look(graph: EmbeddedStore, firms: Domain) -> None:
    names = (
        "acme",
        "globex",
        "umbra",
        "solo",
        "one",
        "below",
        "both",
        "daughter",
        "hank",
        "rome",
        "nameless",
        "nobody",
    )
    things = [iri(name) for name in names]
    claims = [GraphClaim(one, "ownedBy", other) for one, other in product(things, things)]
    claims += [
        GraphClaim(one, name, other)
        for name in ("controlledBy", "rivalOf", "seat")
        for one, other in zip(things, things[::-1], strict=True)
    ]
    claims += [
        GraphClaim(one, "founded", Literal(day)) for one in things for day in ("1 May 1990", "1991-01-01", "no day")
    ]
    licences = [license_claim(each, graph, firms) for each in claims]
    assert {licence.verdict for licence in licences} == set(LicenceVerdict)
    assert [licence.claim for licence in licences if recheck(licence, graph, firms) is False] == []


def test_what_contradicts_itself_by_its_classes_is_reported(graph: EmbeddedStore, firms: Domain) -> None:
    said = "\n".join(violations(graph, firms))
    for name in ("Circle One", "Circle Two", "Circle Three", "Solo", "Both", "Daughter"):
        assert f"about {name}: " in said
    assert len(violations(graph, firms)) == 6


@pytest.mark.parametrize(
    ("question", "verdict", "claim"),
    [
        ("Is Akme GmbH owned by Globex?", "YES", "Acme is owned by Globex"),
        ("Does Hank Scorpio control Acme?", "YES", "Acme is controlled by Hank Scorpio"),
        ("Does Acme have its seat in Roma?", "NO", "Acme has its seat in Rome"),
        ("Was Acme founded on 1990-05-01?", "YES", "Acme was founded on 1990-05-01"),
        ("Is the motto of Acme Vorwärts?", "YES", "the motto of Acme is Vorwärts"),
    ],
)
def test_a_thing_is_found_by_any_of_its_names_and_told_by_the_english_one(
    graph: EmbeddedStore, firms: Domain, question: str, verdict: str, claim: str
) -> None:
    asked = ask(question, graph, firms, names_of(graph, firms))
    assert (asked.verdict, asked.claim) == (verdict, claim)


def chain(links: list[tuple[int, int]]) -> EmbeddedStore:
    nodes = {node for link in links for node in link}
    typed = [Triple(iri(f"x{node}"), TYPE, iri("Company")) for node in nodes]
    return EmbeddedStore([*typed, *(Triple(iri(f"x{one}"), iri("ownedBy"), iri(f"x{other}")) for one, other in links)])


def test_a_chain_of_ten_thousand_steps_is_licensed_with_its_proof(firms: Domain) -> None:
    store = chain([(at, at + 1) for at in range(LONG)])
    found = license_claim(GraphClaim(iri("x0"), "controlledBy", iri(f"x{LONG}")), store, firms)
    assert found.verdict == LicenceVerdict.YES
    assert len(found.proof) == LONG
    assert recheck(found, store, firms)
    back = license_claim(GraphClaim(iri(f"x{LONG}"), "controlledBy", iri("x0")), store, firms)
    assert (back.verdict, back.constraint) == (LicenceVerdict.NO, "no_circle")
    with pytest.raises(Unchecked, match="facts"):
        recheck(back, store, firms)


def test_a_circle_of_ten_thousand_steps_is_one_contradiction(firms: Domain) -> None:
    store = chain([(at, (at + 1) % LONG) for at in range(LONG)])
    assert (
        license_claim(GraphClaim(iri("x0"), "controlledBy", iri("x5")), store, firms).verdict
        == LicenceVerdict.UNCHECKED
    )
    assert len(violations(store, firms)) == LONG


def test_steps_are_counted_from_the_start(firms: Domain) -> None:
    known = Known(chain([(0, 1), (0, 2), (1, 3), (3, 4)]), firms, firms.predicate("ownedBy"))
    assert list(known.below(iri("x0"), 2)) == [iri("x1"), iri("x2"), iri("x3")]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14))
def test_what_lies_on_a_circle_is_what_comes_back(firms: Domain, links: list[tuple[int, int]]) -> None:
    edges: dict[int, list[int]] = {}
    for one, other in links:
        edges.setdefault(one, []).append(other)

    def comes_back(start: int) -> bool:
        seen: set[int] = set()
        front = list(edges[start])
        while front:
            node = front.pop()
            if node not in seen:
                seen.add(node)
                front += edges.get(node, [])
        return start in seen

    known = Known(chain(links), firms, firms.predicate("ownedBy"))
    assert [known.returns(iri(f"x{node}")) for node in edges] == [comes_back(node) for node in edges]
