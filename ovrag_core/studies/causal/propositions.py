"""Text to causal statements: who is said to raise, lower, affect or not affect what, and in which words.

Nothing here knows a graph: mentions are the words of the text, with the words of direction ("a rise in", "falls") and
absence ("no", "without") still in them. What cannot be read is reported, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Relation = Literal["raises", "lowers", "affects"]
Polarity = Literal["positive", "negative"]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Proposition:
    """One statement. `subject` is the cause, whatever the order of words; `relation` is what the verb does to the object.

    `polarity` is negative where the text denies it ("does not raise", "it is not true that", "has no effect on" is
    `affects` denied). `span` are offsets of the clause in the text, and `quote` is the text there.
    """

    subject: str
    relation: Relation
    object: str
    polarity: Polarity
    span: Span
    quote: str


@dataclass(frozen=True, slots=True)
class State:
    """What is said to be so, with no cause: "Given: rainfall rises"."""

    mention: str
    span: Span
    quote: str


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence that asks, and states nothing."""

    span: Span
    quote: str


@dataclass(frozen=True, slots=True)
class Unread:
    """Words that could not be read as one of the others, and why."""

    span: Span
    quote: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a text holds, each in the order of the text."""

    propositions: tuple[Proposition, ...] = ()
    states: tuple[State, ...] = ()
    questions: tuple[Question, ...] = ()
    unread: tuple[Unread, ...] = ()


def parse(text: str) -> list[Proposition | Unread]:
    """The statements of a text and what could not be read of it, in order; states and questions are left out."""
    reading = read(text)
    found: list[Proposition | Unread] = [*reading.propositions, *reading.unread]
    return sorted(found, key=lambda each: each.span)


def read(text: str) -> Reading:
    """All that a text holds."""
    raise NotImplementedError
