"""Words of texts: folded, listed, and matched by patterns."""

import re

import pytest

from ovrag_core.text.tokens import STOP_WORDS, any_of, fold, plain_words, stem, stems, word_list


@pytest.mark.parametrize(("text", "folded"), [("Loan", "loan"), ("Müller & Café", "muller & cafe"), ("GROẞ", "gross")])
def test_fold_takes_away_case_and_accents(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_plain_words_keep_abbreviations_and_possessors_whole() -> None:
    assert plain_words("First Bank, N.A. — Björk’s\u00a0loan (no. 7)") == "first bank na bjorks loan no 7"


def test_any_of_prefers_the_longest_phrase_and_takes_any_blanks() -> None:
    found = re.findall(any_of(["in", "in turn", "a.m."]), "in  turn, at 9 a.m. in May")
    assert found == ["in  turn", "a.m.", "in"]


def test_lists_of_words_are_known_by_name() -> None:
    assert {"the", "of"} <= word_list("title") and "no" not in word_list("title")  # "No security" is a title
    with pytest.raises(KeyError):
        word_list("verbs")


def test_stems_leave_out_function_words_and_what_stands_unseen() -> None:
    assert stems("The Bor\u00adrower shall be repaying its loans") == ["borrow", "repay", "loan"]
    assert stems("name the loan", STOP_WORDS | {"name"}) == ["loan"]
    assert stem("repayments") == stem("repaying") == "repay"
