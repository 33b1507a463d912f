from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.graph import LABEL, EmbeddedStore
from ovrag_studies.abstention.knowledge.domain import load_domain
from ovrag_studies.abstention.parsing.english import words_of
from ovrag_studies.abstention.parsing.name_index import Names, Thing, names_of


def node(name: str) -> NamedNode:
    return NamedNode("http://example.org/" + name.replace(" ", "_"))


LABELS = [
    "Salt Creek (Utah)",
    "Salt Creek, Ohio",
    "Clear Creek (Kansas)",
    "Salmon River Idaho",
    "Forks of the Elk",
    "the Narrows",
    "Elk River",
    "North Branch Elk River",
]


@pytest.fixture
def names() -> Names:
    return Names([(node(label), label) for label in LABELS], heads=frozenset({"creek", "river"}))


def things_of(names: Names, name: str) -> tuple[Thing, ...]:
    words = words_of(name)
    whole = [found for found in names.mentions(name, words) if (found.start, found.end) == (0, len(words))]
    return whole[0].things if whole else ()


def called(names: Names, name: str) -> list[str]:
    return sorted(names.label(thing) for thing in things_of(names, name))


def test_a_whole_name_is_one_thing_and_its_beginning_may_be_several(names: Names) -> None:
    assert called(names, "Salt Creek (Utah)") == ["Salt Creek (Utah)"]
    assert called(names, "Salt Creek Utah") == ["Salt Creek (Utah)"]
    assert called(names, "salt creek") == ["Salt Creek (Utah)", "Salt Creek, Ohio"]
    assert called(names, "Clear Creek") == ["Clear Creek (Kansas)"]
    assert called(names, "Narrows") == ["the Narrows"]
    assert things_of(names, "Elk") == ()


def test_every_name_in_a_text_is_found_those_inside_others_too(names: Names) -> None:
    text = "Is the North Branch Elk River (here) above Salt Creek (Utah)?"
    words = words_of(text)
    found = {text[words[m.start].start : words[m.end - 1].end] for m in names.mentions(text, words)}
    assert found == {"North Branch Elk River", "Elk River", "Salt Creek", "Salt Creek (Utah)"}


def test_one_name_in_two_writings_is_told_apart_by_the_writing() -> None:
    names = Names([(node("a"), "Big Thompson"), (node("b"), "big Thompson")])
    assert things_of(names, "big Thompson") == (node("b"),)
    assert len(things_of(names, "BIG THOMPSON")) == 2


def test_the_nearest_names_are_named_for_one_that_is_not_there(names: Names) -> None:
    assert names.nearest("Clare Creek")[0] == "Clear Creek (Kansas)" or "Clear" in names.nearest("Clear Creak")[0]
    assert names.nearest("North Elk River")[0] == "North Branch Elk River"
    assert names.nearest("Zzyzx") == ()


def test_names_come_from_the_labels_and_the_texts_of_a_graph() -> None:
    domain = load_domain(Path(__file__).resolve().parents[2] / "ontologies/domains/loans.yaml")
    principal = NamedNode(domain.predicates["hasPrincipal"].iri)
    store = EmbeddedStore(
        [
            Triple(node("c1"), LABEL, Literal("contract 1")),
            Triple(node("c1"), principal, Literal("USD 1,500.00")),
            Triple(node("c1"), node("note"), Literal("not a name")),
        ]
    )
    names = names_of(store, domain)
    assert things_of(names, "contract 1") == (node("c1"),)
    assert things_of(names, "USD 1,500") == (Literal("USD 1,500.00"),)
    assert things_of(names, "not a name") == ()
