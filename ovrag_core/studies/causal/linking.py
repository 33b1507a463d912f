"""Mentions to the things of a graph, with direction and negation split off before anything is compared.

"price rises" and "price falls" are the same thing in opposite directions: what is compared are the words that are left,
"price". Ambiguity is reported, and what is not near enough is unknown, with the nearest that were not taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyoxigraph import NamedNode

from ovrag_core.graph import Store
from ovrag_core.retrieval.embedding import Embedder
from ovrag_core.studies.causal.propositions import Polarity, Proposition

Direction = Literal["up", "down", "steady", "none"]
THRESHOLD = 0.85  # γ: cosine from which a mention is taken for a label


@dataclass(frozen=True, slots=True)
class Candidate:
    """A thing of the lexicon, the label that was compared, and how near it came (0 to 1)."""

    entity: NamedNode
    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Linked:
    """The thing meant, where it moves ("none": no word says), whether its absence is meant, and how sure (1: by name)."""

    entity: NamedNode
    direction: Direction
    polarity: Polarity
    score: float
    label: str


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A mention that fits several things."""

    mention: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A mention that fits nothing; `nearest` are the best three all the same, none of them taken."""

    mention: str
    nearest: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A proposition over things of a graph, signs multiplied out: "a fall in X lowers Y" is X raises Y.

    `predicate` is RAISES, LOWERS, AFFECTS or NO_EFFECT_ON of `vocabulary`; `denied`: the text says that it is not so.
    `score` is the lower of the two links'.
    """

    subject: NamedNode
    predicate: NamedNode
    object: NamedNode
    denied: bool
    score: float


class Lexicon:
    """The names of things: labels and synonyms by entity, made once."""

    @classmethod
    def of_graph(cls, store: Store, embedder: Embedder | None = None) -> Lexicon:
        """The labels, synonyms and names of rise and fall in a graph; with no embedder, names alone are compared."""
        raise NotImplementedError


def link(mention: str, lexicon: Lexicon, threshold: float = THRESHOLD) -> Linked | Ambiguous | Unknown:
    """The thing that a mention names."""
    raise NotImplementedError


def claim(
    proposition: Proposition, lexicon: Lexicon, threshold: float = THRESHOLD
) -> Claim | Ambiguous | Unknown | None:
    """The proposition over things of the graph, or the first mention that names none.

    None where something that stays the same is said to be a cause, which claims nothing that a graph could hold.
    """
    raise NotImplementedError
