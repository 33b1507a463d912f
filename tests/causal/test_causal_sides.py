"""Which of two opposite states a phrase speaks of, in other grammatical forms; `states.tsv` says how far it goes."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from ovrag_studies.causal.questions import sides
from ovrag_studies.causal.questions.opposite_phrases import compare, contrast
from ovrag_studies.causal.questions.sides import StateSide, side, side_of_name

TABLE = (Path(__file__).parents[1] / "data") / "causal" / "states.tsv"
HALVES = ("first", "second", "afterwards")


def states(half):
    with TABLE.open(encoding="utf-8", newline="") as rows:
        return [row for row in csv.DictReader(rows, delimiter="\t") if row["half"] == half]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("turned", [False, True])
def test_most_phrases_find_their_state_in_either_order(half, turned):
    outcomes = Counter()
    for row in states(half):
        for form in ("noun_1", "noun_0", "sentence_1", "sentence_0"):
            ends = row["who_0"].lower(), row["who_1"].lower()
            found = side(row[form].lower(), *(ends[::-1] if turned else ends))
            outcomes["silent" if found is None else (found.place != turned) == (form[-1] == "1")] += 1
    assert outcomes[True] >= 0.97 * (outcomes[True] + outcomes[False])
    assert outcomes["silent"] <= 0.08 * outcomes.total()


@pytest.mark.parametrize("half", HALVES)
def test_most_nouns_and_sentences_are_told_to_be_the_same_or_opposite(half):
    outcomes = Counter()
    for row in states(half):
        for noun in ("noun_1", "noun_0"):
            for sentence in ("sentence_1", "sentence_0"):
                sign = compare(row[noun], row[sentence]).sign
                assert sign == compare(row[sentence], row[noun]).sign
                outcomes["silent" if sign is None else (sign > 0) == (noun[-1] == sentence[-1])] += 1
    assert outcomes[True] >= 0.97 * (outcomes[True] + outcomes[False])
    assert outcomes["silent"] <= 0.2 * outcomes.total()


@pytest.mark.parametrize(
    ("phrase", "first", "second", "place"),
    [
        ("theatregoers", "people who avoid theatres", "people who go to theatres", 1),
        ("abstains from meat", "do not eat meat", "eat meat", 0),
        ("the crew does not strike", "crews that work", "crews on strike", 0),
        ("debt-free farms", "farms with debts", "farms without debts", 1),
        ("the skier falls ill", "healthy skiers", "sick skiers", 1),
        ("it rains heavily", "little rain", "heavy rain", 1),
    ],
)
def test_derived_words_and_turns_are_told_by_words(phrase, first, second, place):
    assert side(phrase, first, second) == StateSide(place, "words")
    assert side(phrase, second, first) == StateSide(1 - place, "words")


def test_likeness_decides_where_words_are_silent_and_only_if_clear(monkeypatch):
    monkeypatch.setattr(sides, "liking", lambda *_: 0.4)
    assert side("zumi", "plok one", "vrax two") == StateSide(1, "likeness")
    monkeypatch.setattr(sides, "liking", lambda *_: -0.25)
    assert side("zumi", "plok three", "vrax four") is None


def test_what_is_said_by_likeness_is_nearer_in_meaning():
    assert sides.liking("violin", "a piece for strings", "a box of nails") < -0.1
    assert sides.liking("", "a", "b") == 0


def test_the_name_of_a_variable_is_no_state_by_likeness_or_scale():
    assert side_of_name("wealth", "poor families", "rich families") is None
    assert side_of_name("smoking", "nonsmokers", "smokers") == StateSide(1, "words")


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        ("the farm has clay soil", "chalky soil", -1),
        ("takes the bus", "the clerk takes the tram", -1),
        ("the town is struck by measles", "measles epidemic", 1),
        ("the owl doesn't hoot", "the owl flying", -1),
        ("the visitor puts on a hat", "carrying a hat", None),
        ("the crimson boat", "thunder", None),
    ],
)
def test_two_states_of_one_thing_are_contrasted_by_what_they_share(one, other, sign):
    assert contrast(one, other) == sign
    assert contrast(other, one) == sign
