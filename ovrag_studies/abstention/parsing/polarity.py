"""Polarity of a sentence: it asks if something is so, or if it is not."""

from __future__ import annotations

from ovrag_studies.abstention.parsing.english import BE, DO, NOT, RELATIVE, UNTRUE
from ovrag_studies.abstention.parsing.frames import Frame


def is_negated(frame: Frame) -> bool:
    """Return True where it asks if the claim is not so.

    `Doesn't X flow into Y?` does not: it asks for the claim itself.
    """
    words, count = frame.words, 0
    tag = min(tag_of(frame), _next_sentence(frame))
    for index, word in enumerate(words[:tag]):
        offered = {"or", "/"} & set(words[max(index - 1, 0) : index + 3])  # "true or false", "am I wrong, or does it"
        count += (word in UNTRUE and not offered) or (word in NOT and not _asks(frame, index))
    turned = set(words[tag:]) & DO and not set(words[tag:]) & NOT  # "X doesn't flow into Y, does it?"
    return count % 2 == 1 and not turned


def tag_of(frame: Frame) -> int:
    """Find the place where a tag begins (`, isn't it?`); the end where there is none."""
    last_index = frame.slots[-1] if frame.slots else 0
    commas = [i for i, word in enumerate(frame.words) if word in ",-–—" and i > last_index]
    short = [i for i in commas if len([word for word in frame.words[i:] if word[:1].isalnum()]) <= 4]
    return short[0] if short else len(frame.words)


def _asks(frame: Frame, at: int) -> bool:
    """Detect a `not` that belongs to the form of a question: the verb opens it, and no clause is between."""
    if frame.words[at] == "never" or (at and frame.words[at - 1] == "or"):
        return frame.words[at] != "never"
    opening = frame.words[:at]
    return bool(opening) and opening[0] in BE | DO | {"has", "have", "had"} and not set(opening) & (RELATIVE - {"what"})


def _next_sentence(frame: Frame) -> int:
    """Find the start of a sentence behind the one with the names.

    A sentence on whether that is so does not count. Without a start, return the end.
    """
    for index in range(frame.slots[-1] if frame.slots else 0, len(frame.words)):
        if frame.words[index] in ".;?" and not UNTRUE & set(frame.words[index:]):
            return index
    return len(frame.words)
