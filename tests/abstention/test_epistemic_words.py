from __future__ import annotations

import pytest

from ovrag_studies.abstention.parsing.english import key_of, verb_forms, words_of


def texts(text: str) -> list[str]:
    return [word.text for word in words_of(text)]


def test_words_have_their_places_in_the_text() -> None:
    text = "Doesn’t  the Río Negro's mouth\nlie here?"
    for word in words_of(text):
        assert text[word.start : word.end].strip() == text[word.start : word.end] != ""
    assert texts(text) == ["does", "not", "the", "rio", "negro", "'s", "mouth", "lie", "here", "?"]


def test_short_forms_are_written_out_but_a_possessor_stays_one() -> None:
    assert texts("won't it, can't it, isn't it") == [
        "will",
        "not",
        "it",
        ",",
        "can",
        "not",
        "it",
        ",",
        "is",
        "not",
        "it",
    ]
    assert texts("it's the lake's") == ["it", "is", "the", "lake", "'s"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Clark's Fork", "Clarks Fork"),
        ("Salt Creek (Utah)", "Salt Creek Utah"),
        ("Salt Creek, Utah", "salt creek utah"),
        ("Zürich–See", "Zurich See"),
        ("USD 254,000.00", "USD 254000"),
        ("4.20%", "4.2 %"),
        ("Smith & Sons", "Smith and Sons"),
    ],
)
def test_writings_of_one_name_have_one_key(one: str, other: str) -> None:
    assert key_of(words_of(one)) == key_of(words_of(other))


def test_abbreviations_are_written_out_where_the_domain_says_so() -> None:
    assert key_of(words_of("St. Mary R."), {"st": "saint", "r": "river"}) == "saint mary river"


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("empty", {"empties", "emptied", "emptying"}),
        ("run", {"runs", "ran", "running"}),
        ("merge", {"merges", "merged", "merging"}),
        ("discharge", {"discharges", "discharged", "discharging"}),
        ("pass", {"passes", "passed", "passing"}),
        ("feed", {"feeds", "fed", "feeding"}),
        ("enter", {"enters", "entered", "entering"}),
        ("drop", {"drops", "dropped", "dropping"}),
        ("join", {"joins", "joined", "joining"}),
    ],
)
def test_verbs_take_the_forms_of_english(verb: str, forms: set[str]) -> None:
    assert forms < set(verb_forms(verb))
