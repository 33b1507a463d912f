"""What can be scored without reading, and which cards are independent."""

from pathlib import Path

import pytest
from epistemic_rivers import Words

from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.graph import open_graph
from ovrag_studies.abstention.cards.card import GOLD, LABELS, Card, CardClaim, read_cards
from ovrag_studies.abstention.cards.card_making import make_cards
from ovrag_studies.abstention.cards.shortcuts import EVIDENCE, Shortcut, best, published_rule, shortcuts
from ovrag_studies.abstention.knowledge.domain import load_domain
from ovrag_studies.abstention.knowledge.known import clusters
from ovrag_studies.abstention.settings import Cards

PLAN = Resampling(samples=100)


def card(number: int, place: int, question: str, *facts: str) -> Card:
    claim = CardClaim(f"http://x.org/S{number}", "p", "http://x.org/Big_Water")
    return Card(str(number), "", LABELS[place], GOLD[place], question, claim, facts=facts)


def by_name(found: list[Shortcut]) -> dict[str, Shortcut]:
    return {each.name: each for each in found}


def test_a_word_that_gives_the_answer_away_is_found() -> None:
    words = ("surely", "hardly", "perhaps")
    cards = [card(number, number % 3, f"Does S{number} {words[number % 3]} flow?") for number in range(60)]
    found = by_name(shortcuts(cards, PLAN))
    assert set(found) == {"words of the question", "length of the question"}, "there are no facts to count"
    assert found["words of the question"].accuracy.value == 1
    assert found["words of the question"].majority == pytest.approx(1 / 3)
    assert found["length of the question"].gain < 0.1


def test_counting_facts_is_found_and_the_published_rule_too() -> None:
    facts = (["A mouth Big Water"], ["A mouth B", "C mouth D"], ["A mouth B"])
    cards = [card(number, number % 3, "Does it flow?", *facts[number % 3]) for number in range(60)]
    assert [published_rule(each) for each in cards[:3]] == ["YES", "NO", "UNKNOWN"]
    found = by_name(shortcuts(cards, PLAN))
    assert found["published rule on facts"].accuracy.value == 1
    assert found["facts that name the object"].accuracy.value == 1
    assert 0.6 < found["number of facts"].accuracy.value < 0.7, "one fact may be either"


def test_whether_anything_is_said_of_the_subject_is_evidence_and_no_shortcut() -> None:
    facts = (["S mouth Big Water"], ["S mouth B"], ["T mouth B"])
    cards = [card(number, number % 3, "Does it flow?", *facts[number % 3]) for number in range(60)]
    found = shortcuts(cards, PLAN, names=lambda iri: "S" if "/S" in iri else "Big Water")
    assert by_name(found)[EVIDENCE].accuracy.value == 1
    assert [each.name for each in found if each.evidence] == [EVIDENCE]
    assert best(found).name != EVIDENCE


def test_words_learned_in_a_cluster_are_not_asked_in_it() -> None:
    """A name that only one cluster knows tells nothing of another one."""
    cards = [card(number, number // 20, f"Does River{number // 20} flow?") for number in range(60)]
    together = {each.claim.subjects[0]: str(number // 20) for number, each in enumerate(cards)}
    assert by_name(shortcuts(cards, PLAN))["words of the question"].accuracy.value == 1
    assert by_name(shortcuts(cards, PLAN, together))["words of the question"].accuracy.value == 0


def test_no_card_no_shortcut() -> None:
    with pytest.raises(ValueError, match="need a card"):
        shortcuts([], PLAN)


def test_the_published_cards_are_solved_by_counting(external_data: Path) -> None:
    cards = read_cards(external_data / "rivers" / "cards_recorded.jsonl", keep_malformed=True)
    rule = [published_rule(each) == each.gold for each in cards]
    assert round(sum(rule) / len(rule), 3) == 0.994


def test_our_cards_cannot_be_answered_by_counting_or_by_words(project: Path) -> None:
    """The best shortcut is within a tenth of the most frequent answer, as it is not on the published cards."""
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
