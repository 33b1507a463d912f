"""Every citation goes to the sentence that it was meant for."""

import pytest

from ovrag_studies.cited.answering.citations import read_citations

A, B = "[CITATION: garden::p0001::a]", "[CITATION: garden::p0002::b]"


def _short(reply: str, known: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    return [(each.text, "".join(name[-1] for name in each.ids)) for each in read_citations(reply, known)]


@pytest.mark.parametrize(
    "reply",
    [
        f"Dogs must be led. {A} Cats may roam. {B}",
        f"Dogs must be led {A}. Cats may roam {B}.",
        f"Dogs must be led.{A} Cats may roam.{B}",
        f"Dogs must be led {A}. Cats may roam. {B}",
        f"Dogs must be led. {A}. Cats may roam. {B}.",
        f"{A} Dogs must be led. {B} Cats may roam.",
        f"- Dogs must be led. {A}\n- Cats may roam {B}.",
        f"1. Dogs must be led. {A}\n2. Cats may roam. {B}",
        "Dogs must be led. (citation: garden::p0001::a) Cats may roam. [Source: garden::p0002::b]",
        f"Dogs must be led.\n{A}\nCats may roam.\n{B}",
    ],
)
def test_the_place_of_a_citation_does_not_matter(reply: str) -> None:
    assert _short(reply) == [("Dogs must be led.", "a"), ("Cats may roam.", "b")]


@pytest.mark.parametrize(
    "reply",
    [
        f"Dogs must be led. {A} {B} Cats may roam.",
        f"Dogs must be led {A}, {B}. Cats may roam.",
        f"Dogs must be led {A} and {B}. Cats may roam.",
        "Dogs must be led. [CITATION: garden::p0001::a, garden::p0002::b] Cats may roam.",
        f"Dogs must {A} be led {B}. Cats may roam.",
    ],
)
def test_several_citations_of_one_sentence(reply: str) -> None:
    assert _short(reply) == [("Dogs must be led.", "ab"), ("Cats may roam.", "")]


def test_a_citation_on_a_line_of_its_own_is_of_the_line_above() -> None:
    assert _short(f"- Dogs on a lead\n- Cats anywhere {B}\n{A}") == [("Dogs on a lead", ""), ("Cats anywhere", "ba")]


def test_brackets_of_the_text_are_no_citations() -> None:
    assert _short("Fill in the form [G-7]. See (section 2).") == [
        ("Fill in the form [G-7].", ""),
        ("See (section 2).", ""),
    ]


def test_bare_ids_are_citations_where_they_are_known() -> None:
    assert _short("Dogs must be led. [x-a]", ("x-a",)) == [("Dogs must be led.", "a")]


def test_abbreviations_and_decimals_end_no_sentence() -> None:
    reply = f"The fee, e.g. for Dr. Moss, is 2.5 euros. {A}"
    assert _short(reply) == [("The fee, e.g. for Dr. Moss, is 2.5 euros.", "a")]


@pytest.mark.parametrize("reply", ["", "  \n ", A, f"{A} {B}"])
def test_a_citation_without_a_sentence_is_none(reply: str) -> None:
    assert read_citations(reply) == ()


@pytest.mark.parametrize("reply", ["[CITATION: ]", "[" * 5000])
def test_brackets_that_name_nothing_stay_text_and_cite_nothing(reply: str) -> None:
    assert _short(reply) == [(reply, "")]
