"""Words that say that something is not so."""

import re

from ovrag_core.text.tokens import any_of, word_list

NEGATIONS = word_list("negation")
NEGATION = rf"(?:\b{any_of(NEGATIONS)}\b|n['’]t\b)"  # to be matched whatever the case
_JUST_BEFORE = re.compile(rf"{NEGATION}[^,;]{{0,40}}$", re.IGNORECASE)


def is_negation(word: str) -> bool:
    """Return True where a word in lower case, "don't" among them, turns round what it stands with."""
    return word in NEGATIONS or word.endswith(("n't", "n’t"))


def is_negated(before: str) -> bool:
    """Return True where a negation stands at most 40 characters before, in the same part of the sentence."""
    return bool(_JUST_BEFORE.search(before))
