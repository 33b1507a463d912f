"""What can be scored without reading, and which cards are independent."""

from pathlib import Path

import pytest
from epistemic_rivers import Words

from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.graph import open_graph
from ovrag_studies.abstention.cards.card import GOLD, Card, CardClaim
from ovrag_studies.abstention.cards.card_making import make_cards
from ovrag_studies.abstention.cards.shortcuts import Shortcut, best, shortcuts
from ovrag_studies.abstention.knowledge.domain import load_domain
from ovrag_studies.abstention.knowledge.known import clusters
from ovrag_studies.abstention.settings import Cards

PLAN = Resampling(samples=100)


def card(number: int, place: int, question: str) -> Card:
    claim = CardClaim(f"http://x.org/S{number}", "p", "http://x.org/Big_Water")
    return Card(str(number), "", GOLD[place], question, claim)


def by_name(found: list[Shortcut]) -> dict[str, Shortcut]:
    return {each.name: each for each in found}


def test_a_word_that_gives_the_answer_away_is_found() -> None:
    words = ("surely", "hardly", "perhaps")
    cards = [card(number, number % 3, f"Does S{number} {words[number % 3]} flow?") for number in range(60)]
    found = by_name(shortcuts(cards, PLAN))
    assert found["words of the question"].accuracy.value == 1
    assert found["words of the question"].majority == pytest.approx(1 / 3)
    assert found["length of the question"].gain < 0.1


def test_words_learned_in_a_cluster_are_not_asked_in_it() -> None:
    """A name that only one cluster knows tells nothing of another one."""
    cards = [card(number, number // 20, f"Does River{number // 20} flow?") for number in range(60)]
    together = {each.claim.subjects[0]: str(number // 20) for number, each in enumerate(cards)}
    assert by_name(shortcuts(cards, PLAN))["words of the question"].accuracy.value == 1
    assert by_name(shortcuts(cards, PLAN, together))["words of the question"].accuracy.value == 0


def test_no_card_no_shortcut() -> None:
    with pytest.raises(ValueError, match="need a card"):
        shortcuts([], PLAN)


def test_our_cards_cannot_be_answered_by_words(project: Path) -> None:
    """The best shortcut is within a tenth of the most frequent answer."""
    domain = load_domain(project / "ontologies/domains/rivers.yaml")
    graph = open_graph(project / "data/samples/epistemic/hasMouth_facts.tsv", domain.table)
    cards = make_cards(graph, domain, Cards(each=100), Words().embed).cards
    found = shortcuts(cards, PLAN, clusters(graph, domain))
    assert found[0].majority == pytest.approx(1 / 3)
    assert best(found).gain < 0.1


def test_rivers_of_one_drainage_are_one_cluster_and_the_sea_joins_none(project: Path) -> None:
    domain = load_domain(project / "ontologies/domains/rivers.yaml")
    graph = open_graph(project / "data/samples/epistemic/hasMouth_facts.tsv", domain.table)
    found = {iri.rsplit("/", 1)[1]: cluster for iri, cluster in clusters(graph, domain).items()}
    assert found["Aare"] == found["Neckar"] == found["Rhine"] != found["Seine"]
    assert found["Elbe"] != found["Rhine"], "both end in the North Sea"
    assert found["Okavango_River"] != found["Chu_River"]
    assert "North_Sea" not in found


def test_contracts_are_clusters_of_their_own(project: Path) -> None:
    domain = load_domain(project / "ontologies/domains/loans.yaml")
    graph = open_graph(project / "data/samples/epistemic/loans_facts.tsv", domain.table)
    found = clusters(graph, domain)
    assert len(found) == 60
    assert all(iri == cluster for iri, cluster in found.items())
