"""Which of two opposite states a third phrase speaks of: "concert attendance", of "people who avoid concerts" and
"concertgoers".

Words decide first: one phrase that ends as another, the ends of scales, what is negated, shared words. Where they are
silent, the likeness of meaning does (cosines of the bundled embedder), if it likes one state clearly more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ovrag_studies.causal.questions.opposite_phrases import compare
from ovrag_studies.causal.questions.phrases import agreeing_end, agreeing_negation, agreeing_words, words

MARGIN = 0.3
"""By which one state must be liker than the other; less is wrong too often."""
WHOLE_WORD = 0.8  # of a word, that a name must share with one state alone: "nerves" is no name for "nervous" alone
NEAR = 0.2
"""Cosine from which two phrases may speak of one thing: above 9 of 10 of different ones, below 49 of 50 of one."""


@dataclass(frozen=True, slots=True)
class StateSide:
    """The place of the state, 0 or 1, and what told it."""

    place: int
    by: Literal["words", "likeness"]


@lru_cache(maxsize=16384)
def side(phrase: str, first: str, second: str) -> StateSide | None:
    """The state that a phrase agrees with; None where nothing tells."""
    for told in (agreeing_end, agreeing_scale, agreeing_negation, agreeing_words):
        if (place := told(phrase, first, second)) is not None:
            return StateSide(place, "words")
    gain = liking(phrase, first, second)
    return None if abs(gain) < MARGIN else StateSide(int(gain > 0), "likeness")


@lru_cache(maxsize=4096)
def side_of_name(name: str, first: str, second: str) -> StateSide | None:
    """The state that the name of a variable has words of: "smoking"; most names speak of both states alike."""
    for told in (agreeing_end, agreeing_negation, partial(agreeing_words, least=WHOLE_WORD)):
        if (place := told(name, first, second)) is not None:
            return StateSide(place, "words")
    return None


def agreeing_scale(phrase: str, first: str, second: str) -> int | None:
    """The state on whose end of a scale the phrase lies."""
    signs = [compare(phrase, state).sign or 0 for state in (first, second)]
    return None if signs[0] == signs[1] else int(signs[1] > signs[0])


def liking(phrase: str, first: str, second: str) -> float:
    """How much nearer in meaning a phrase is to the second state than to the first, from −2 to 2."""
    return nearness(phrase, second) - nearness(phrase, first)


@lru_cache(maxsize=65536)
def nearness(one: str, other: str) -> float:
    """The cosine of two phrases, from −1 to 1; 0 for one without words."""
    if not words(one) or not words(other):
        return 0.0
    return float(_meaning(one) @ _meaning(other))


@lru_cache(maxsize=4096)
def _meaning(phrase: str) -> NDArray[np.float32]:
    from ovrag_core.retrieval import minilm  # noqa: PLC0415 - loads a model, which words rarely need

    vector: NDArray[np.float32] = minilm().embed([phrase])[0]
    return vector
