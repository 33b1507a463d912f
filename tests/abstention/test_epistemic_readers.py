"""Readers judge by the retrieved text alone, learn from cards with gold answers, and say how sure they are."""

from pathlib import Path

import pytest
from epistemic_rivers import Words, graph, rivers

from ovrag_studies.abstention.arms.fact_sentences import FactSentence, FactShelf, Found, verbalise
from ovrag_studies.abstention.arms.readers import READERS, Lesson, Signals, features, learn_similarity, learn_weights
from ovrag_studies.abstention.cards.card import Gold

ASKED: list[tuple[str, Gold]] = [
    ("Does Main flow into Rhine?", "YES"),
    ("Is Rhine the mouth of Neckar?", "YES"),
    ("Does Danube receive Isar?", "YES"),
    ("Does Main eventually reach North Sea?", "YES"),
    ("Does Isar flow into Elbe?", "NO"),
    ("Does Neckar flow into Danube?", "NO"),
    ("Is North Sea the mouth of Isar?", "NO"),
    ("Does Weser flow into North Sea?", "UNKNOWN"),
    ("Is the Ems a tributary of Elbe?", "UNKNOWN"),
    ("Is it so?", "UNKNOWN"),
]


@pytest.fixture
def shelf(tmp_path: Path) -> FactShelf:
    return FactShelf(verbalise(graph(tmp_path), rivers()), Words(), tmp_path / "vectors")


@pytest.fixture
def lessons(shelf: FactShelf) -> list[Lesson]:
    return [Lesson(asked, shelf.nearest(asked), shelf.search(asked), gold) for asked, gold in ASKED]


def signals(shelf: FactShelf, question: str) -> Signals:
    return Signals(question, shelf.search(question))


def test_names_are_signs(shelf: FactShelf) -> None:
    assert signals(shelf, "Does Main flow into Rhine?").said == (0,)
    assert signals(shelf, "Does Main eventually reach North Sea?").steps
    assert signals(shelf, "Does Isar flow into Elbe?").about
    assert signals(shelf, "Does Weser flow into North Sea?").unknown == 1


def test_a_short_name_of_several_things_has_namesakes() -> None:
    titles = ["Aa (Lippe tributary)", "Aa (Ems tributary)"]
    found = [Found(FactSentence(f"{title} flows into X.", title, "X", ("", "", "")), 0.5) for title in titles]
    assert Signals("Does Aa flow into X?", found).namesakes
    assert not Signals("Does Aa (Ems tributary) flow into X?", found).namesakes
    whole = Found(FactSentence("Aa flows into X.", "Aa", "X", ("", "", "")), 0.5)
    assert not Signals("Does Aa flow into X?", [whole, found[1]]).namesakes  # it is the whole name of one


def test_the_order_of_names_is_told_apart(shelf: FactShelf) -> None:
    assert signals(shelf, "Does Main flow into Rhine?").said_in_order
    assert not signals(shelf, "Does Rhine flow into Main?").said_in_order


def test_nothing_found_is_read_too(shelf: FactShelf, lessons: list[Lesson]) -> None:
    assert len(features(ASKED[0][0], shelf.search(ASKED[0][0]))) == len(features("Is it so?", []))
    for learn in READERS.values():
        assert learn(lessons)("Does Main flow into Rhine?", ()).evidence == ()


def test_weights_learn_what_cards_show(lessons: list[Lesson]) -> None:
    read = learn_weights(lessons)
    replies = [read(lesson.question, lesson.found) for lesson in lessons]
    assert sum(reply.answer == lesson.gold for reply, lesson in zip(replies, lessons, strict=True)) >= 8
    assert all(0 < reply.confidence <= 1 for reply in replies)
    assert replies[0].evidence == ("Main flows into Rhine.",)


def test_thresholds_are_those_with_the_most_right_answers(lessons: list[Lesson]) -> None:
    read = learn_similarity(lessons)
    right = sum(read(each.question, each.nearest).answer == each.gold for each in lessons)
    assert right >= 5  # always YES gets 4, always NO or UNKNOWN 3
