"""What says that something is not so, and how far it reaches."""

import re

import pytest

from ovrag_core.text.negation import NEGATION, is_negated, is_negation


@pytest.mark.parametrize("word", ["not", "never", "nobody", "without", "don't", "isn’t"])
def test_words_that_turn_round(word: str) -> None:
    assert is_negation(word)
    assert re.search(NEGATION, f"They {word} pay", re.IGNORECASE)


@pytest.mark.parametrize("word", ["note", "know", "another", "want"])
def test_words_that_only_hold_one(word: str) -> None:
    assert not is_negation(word)
    assert not re.search(NEGATION, word)


def test_a_negation_reaches_to_the_next_comma_and_forty_characters() -> None:
    assert is_negated("Nor does this part ever ")
    assert not is_negated("Where it is not so, this part ")
    assert not is_negated("It does not matter which of the many other parts of the handbook ")
