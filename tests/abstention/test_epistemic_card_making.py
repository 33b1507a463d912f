"""Cards made from a graph and its domain: sound, as many of each label, the same each time, and nothing given away."""

import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest
from pyoxigraph import NamedNode

from ovrag_core.base.errors import CardError
from ovrag_core.graph import EmbeddedStore, open_graph
from ovrag_core.retrieval.embedding import Vectors
from ovrag_studies.abstention.cards.card import Card, as_record
from ovrag_studies.abstention.cards.card_making import Deck, make_cards, visible
from ovrag_studies.abstention.knowledge.domain import Domain, fill, load_domain
from ovrag_studies.abstention.licensing.licence import license_any
from ovrag_studies.abstention.parsing.claim_reader import GraphClaim
from ovrag_studies.abstention.settings import Cards

PLAN = Cards(each=36)


def letters(texts: Sequence[str]) -> Vectors:
    """Names are near where they share letters; stands for an embedder."""
    counts = [[text.casefold().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    vectors = numpy.array(counts, dtype=numpy.float32).reshape(len(texts), 26) + 0.01
    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def rivers(project: Path) -> Domain:
    return load_domain(project / "ontologies/domains/rivers.yaml")


@pytest.fixture(scope="module")
def graph(project: Path, rivers: Domain) -> EmbeddedStore:
    return open_graph(project / "data/samples/epistemic/hasMouth_facts.tsv", rivers.table)


@pytest.fixture(scope="module")
def deck(graph: EmbeddedStore, rivers: Domain) -> Deck:
    return make_cards(graph, rivers, PLAN, letters)


def digest(cards: Sequence[Card]) -> str:
    return hashlib.sha256(json.dumps([as_record(card) for card in cards]).encode()).hexdigest()


def test_labels_are_equal_in_number_and_in_what_does_not_decide_them(deck: Deck) -> None:
    cards = deck.cards
    assert Counter(card.label for card in cards) == {"E": 36, "C": 36, "U": 36}
    assert len({card.id for card in cards}) == 108
    assert len({card.question for card in cards}) > 100
    for label in "ECU":
        ours = [card for card in cards if card.label == label]
        assert sum(card.claim.pred == "drainsTo" for card in ours) == 9
        turned = [card for card in ours if " take in " in card.question or " fed directly by " in card.question]
        assert len(turned) == 9, "every third question that is not on a chain"


def test_every_kind_is_there(deck: Deck) -> None:
    kinds = {card.subtype for card in deck.cards}
    assert kinds == {
        *("E_direct", "E_inverse", "E_hop", "C_functional", "C_inverse", "C_circle", "C_hop"),
        *("C_near_sibling", "C_near_hop", "C_near_embed"),
        *("U_withheld", "U_nested", "U_class", "U_ambiguous", "U_hop"),
    }


def test_gold_is_what_the_visible_graph_licenses(deck: Deck, graph: EmbeddedStore, rivers: Domain) -> None:
    seen = visible(graph, rivers, frozenset(deck.hidden))
    for card in deck.cards:
        claims = [GraphClaim(NamedNode(iri), card.claim.pred, NamedNode(card.claim.obj)) for iri in card.claim.subjects]
        assert license_any(claims, seen, rivers).verdict == card.gold, card.id


def test_what_is_hidden_stands_not_in_the_graph(deck: Deck, graph: EmbeddedStore, rivers: Domain) -> None:
    assert len(set(deck.hidden)) == round(1261 * PLAN.hidden)
    assert all(card.claim.subjects[0] in deck.hidden for card in deck.cards if card.subtype == "U_withheld")
    seen = visible(graph, rivers, frozenset(deck.hidden))
    mouth = NamedNode(rivers.predicates["hasMouth"].iri)
    assert not any(seen.triples(NamedNode(iri), mouth) for iri in deck.hidden)
    assert len(graph.triples(None, mouth)) == 1264, "the graph that was given is as it was"


def test_a_name_of_several_rivers_is_asked_without_its_qualifier(deck: Deck) -> None:
    cards = [card for card in deck.cards if card.subtype == "U_ambiguous"]
    assert cards
    for card in cards:
        assert len(card.claim.subjects) > 1
        assert not any(iri.rsplit("/", 1)[1].replace("_", " ") in card.question for iri in card.claim.subjects)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(
    deck: Deck, graph: EmbeddedStore, rivers: Domain
) -> None:
    assert digest(make_cards(graph, rivers, PLAN, letters).cards) == digest(deck.cards)
    assert digest(make_cards(graph, rivers, Cards(each=36, seed=7), letters).cards) != digest(deck.cards)


def test_cards_do_not_depend_on_the_hash_seed(project: Path) -> None:
    code = (
        "from pathlib import Path; import hashlib, json, numpy;"
        "from ovrag_core.graph import open_graph;"
        "from ovrag_studies.abstention.knowledge.domain import load_domain;"
        "from ovrag_studies.abstention.cards.card_making import make_cards;"
        "from ovrag_studies.abstention.settings import Cards;"
        "from ovrag_studies.abstention.cards.card import as_record;"
        "d = load_domain(Path('ontologies/domains/rivers.yaml'));"
        "g = open_graph('data/samples/epistemic/hasMouth_facts.tsv', d.table);"
        "deck = make_cards(g, d, Cards(each=12), lambda names: numpy.ones((len(names), 1)));"
        "print(hashlib.sha256(json.dumps([as_record(c) for c in deck.cards]).encode()).hexdigest(), len(deck.cards))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=project,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert found.pop().endswith(" 36\n")


def test_a_second_domain_needs_no_code(project: Path) -> None:
    domain = load_domain(project / "ontologies/domains/loans.yaml")
    loans = open_graph(project / "data/samples/epistemic/loans_facts.tsv", domain.table)
    found = make_cards(loans, domain, Cards(each=12), letters)
    for name in domain.predicates:
        ours = Counter(card.label for card in found.cards if card.claim.pred == name)
        assert len(set(ours.values())) == 1 and len(ours) == 3, (name, ours)
    assert {card.subtype for card in found.cards} >= {"C_functional", "C_disjoint", "U_withheld", "E_direct"}
    assert all(card.id.startswith(f"{card.claim.pred}_") for card in found.cards)


# -- what cannot be made ----------------------------------------------------------------------------------------------


def test_a_graph_of_another_domain(graph: EmbeddedStore, project: Path) -> None:
    loans = load_domain(project / "ontologies/domains/loans.yaml")
    with pytest.raises(CardError, match="no fact under a predicate of loans"):
        make_cards(graph, loans, PLAN, letters)


def test_contradictions_are_refused_where_nothing_declares_them(graph: EmbeddedStore, rivers: Domain) -> None:
    bare = rivers.model_copy(
        update={"predicates": {"hasMouth": rivers.predicates["hasMouth"].model_copy(update={"constraints": {}})}}
    )
    with pytest.raises(CardError, match="hasMouth has no declared constraint"):
        make_cards(graph, bare, PLAN, letters)


def test_a_name_that_looks_like_a_place_of_a_template_is_text() -> None:
    assert fill("Does {subject} end in {object}?", "{object} <b>", "{subject}") == "Does {object} <b> end in {subject}?"


def test_a_graph_that_has_no_claim_of_a_label_is_told(rivers: Domain, tmp_path: Path) -> None:
    (tmp_path / "one.ttl").write_text(f"<http://x.org/a> <{rivers.prefix}hasMouth> <http://x.org/b> .\n")
    with pytest.raises(CardError, match="hasMouth: the graph has no claim that is neither"):
        make_cards(open_graph(tmp_path / "one.ttl"), rivers, PLAN, letters)
