"""Parts of a text about causes: statements, states, questions, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ovrag_studies.causal.language.cue_patterns import Relation

Polarity = Literal["positive", "negative"]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Proposition:
    """One statement. `subject` is the cause, whatever the order of words; `relation` is what it does to the object.

    `polarity` is negative where the text denies it ("does not raise", "it is not true that"; "has no effect on" is
    `affects` denied). `span` are offsets of the clause in the text, and `quote` is the text there. Mentions are words
    of the text, but for a pronoun, for which what it stands for is given ("this" after "X lowers Y": "a fall in Y").
    """

    subject: str
    relation: Relation
    object: str
    polarity: Polarity
    span: Span
    quote: str


@dataclass(frozen=True, slots=True)
class BareState:
    """What is said to be so, with no cause: "Given: rainfall rises"."""

    mention: str
    span: Span
    quote: str


@dataclass(frozen=True, slots=True)
class AskingSentence:
    """A sentence that asks, and states nothing."""

    span: Span
    quote: str


@dataclass(frozen=True, slots=True)
class Unread:
    """Words that could not be read as one of the others, and why."""

    span: Span
    quote: str
    reason: str


Item = Proposition | BareState | AskingSentence | Unread


@dataclass(frozen=True, slots=True)
class TextReading:
    """All that a text holds, each in the order of the text."""

    propositions: tuple[Proposition, ...] = ()
    states: tuple[BareState, ...] = ()
    questions: tuple[AskingSentence, ...] = ()
    unread: tuple[Unread, ...] = ()
