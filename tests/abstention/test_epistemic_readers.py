"""Readers judge by the retrieved text alone, learn from cards with gold answers, and say how sure they are."""

from dataclasses import replace
from pathlib import Path

import pytest
from epistemic_rivers import Words, graph, rivers

from ovrag_studies.abstention.arms.fact_sentences import FactSentence, FactShelf, Found, verbalise
from ovrag_studies.abstention.arms.model_replies import CardAnswer
from ovrag_studies.abstention.arms.readers import (
    FEATURES,
    PATTERNS,
    Learned,
    Lesson,
    Signals,
    by_names,
    by_similarity,
    by_weights,
    features,
    learn,
    shipped,
)
from ovrag_studies.abstention.cards.card import Gold

ASKED: list[tuple[str, Gold, str]] = [
    ("Does Main flow into Rhine?", "YES", "said"),
    ("Is Rhine the mouth of Neckar?", "YES", "said"),
    ("Does Danube receive Isar?", "YES", "said"),
    ("Does Main eventually reach North Sea?", "YES", "said in two steps"),
    ("Does Isar flow into Elbe?", "NO", "else said"),
    ("Does Neckar flow into Danube?", "NO", "else said"),
    ("Is North Sea the mouth of Isar?", "NO", "else said"),
    ("Does Weser flow into North Sea?", "UNKNOWN", "a name nobody tells of"),
    ("Is the Ems a tributary of Elbe?", "UNKNOWN", "a name nobody tells of"),
    ("Is it so?", "UNKNOWN", "nothing"),
]


@pytest.fixture
def shelf(tmp_path: Path) -> FactShelf:
    return FactShelf(verbalise(graph(tmp_path), rivers()), Words(), tmp_path / "vectors")


@pytest.fixture
def lessons(shelf: FactShelf) -> list[Lesson]:
    return [Lesson(asked, shelf.nearest(asked), shelf.search(asked), gold) for asked, gold, _ in ASKED]


@pytest.mark.parametrize(("question", "gold", "pattern"), ASKED)
def test_names_form_patterns(shelf: FactShelf, question: str, gold: str, pattern: str) -> None:
    assert Signals(question, shelf.search(question)).pattern == pattern


def test_a_short_name_of_several_things_is_a_pattern_of_its_own() -> None:
    titles = ["Aa (Lippe tributary)", "Aa (Ems tributary)"]
    found = [Found(FactSentence(f"{title} flows into X.", title, "X", ("", "", "")), 1.0, 0.5) for title in titles]
    seen = Signals("Does Aa flow into X?", found)
    assert (seen.pattern, seen.places) == ("namesakes", (0, 1))
    assert Signals("Does Aa (Ems tributary) flow into X?", found).pattern == "said"
    whole = replace(found[0], passage=FactSentence("Aa flows into X.", "Aa", "X", ("", "", "")))
    assert Signals("Does Aa flow into X?", [whole, found[1]]).pattern == "said"  # it is the whole name of one


def test_the_order_of_names_is_told_apart(shelf: FactShelf) -> None:
    forward, backward = "Does Main flow into Rhine?", "Does Rhine flow into Main?"
    assert Signals(forward, shelf.search(forward)).said_in_order
    assert not Signals(backward, shelf.search(backward)).said_in_order
    assert Signals(forward, shelf.search(forward)).places == (0,)


def test_every_feature_has_a_name_and_nothing_found_is_read_too(shelf: FactShelf) -> None:
    assert len(features(ASKED[0][0], shelf.search(ASKED[0][0]))) == len(FEATURES) == len(features("Is it so?", []))
    for reader in (by_similarity, by_names, by_weights):
        judged = reader("Does Main flow into Rhine?", (), shipped())
        assert judged.answer is CardAnswer.UNKNOWN
        assert judged.evidence == ()


def test_readers_learn_what_cards_show(shelf: FactShelf, lessons: list[Lesson]) -> None:
    learned = learn(lessons, "a few rivers")
    for each in lessons:
        assert by_names(each.question, each.found, learned).answer == each.gold
        assert 0 < by_weights(each.question, each.found, learned).confidence <= 1
    right = sum(by_weights(each.question, each.found, learned).answer == each.gold for each in lessons)
    assert right >= 8
    asked = "Does Saale (Leine tributary) flow into Leine?"
    assert by_names(asked, shelf.search(asked), learned).answer is CardAnswer.YES


def test_thresholds_are_those_with_the_most_right_answers(lessons: list[Lesson]) -> None:
    learned = learn(lessons, "a few rivers")
    assert learned.similarity.no <= learned.similarity.yes
    right = sum(by_similarity(each.question, each.nearest, learned).answer == each.gold for each in lessons)
    assert right >= 5  # always YES gets 4, always NO or UNKNOWN 3


def test_the_same_lessons_in_any_order_teach_the_same(lessons: list[Lesson]) -> None:
    assert learn(lessons, "x") == learn(lessons[::-1], "x")


def test_a_confidence_is_a_share_of_right_answers(lessons: list[Lesson]) -> None:
    learned = learn(lessons, "x")
    assert learned.names["said"]["YES"] == pytest.approx((3 + 1) / (3 + 3), abs=1e-4)
    assert all(abs(sum(shares.values()) - 1) < 1e-3 for shares in learned.names.values())


def test_what_is_shipped_fits_the_readers() -> None:
    learned = shipped()
    assert learned.weights.features == FEATURES
    assert set(learned.names) == set(PATTERNS)
    assert learned == Learned.model_validate_json(learned.model_dump_json())
