"""The facts of a graph as sentences, and the sentences that a question is about.

A question is matched by the names in it, the longest first, so that the river named within another's brackets is not
taken for a mention of its own; where names tie, BM25 and sentence vectors decide, joined by their ranks.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import numpy
from numpy.typing import NDArray

from ovrag_core.evaluation import first_rank
from ovrag_core.graph import Store
from ovrag_core.retrieval import VECTORS, Embedder, Vectors, WordRanker, join, kept_vectors
from ovrag_core.text import stems
from ovrag_studies.abstention.cards.card import Card
from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.knowledge.known import pairs_of
from ovrag_studies.abstention.knowledge.likeness import bare
from ovrag_studies.abstention.parsing.name_index import names_of

TOP = 5
DECIMALS = 6  # of a cosine: beyond, machines disagree
# What a name counts: as the title, as the title without what stands in brackets behind it, as the object.
TITLE, SHORT_TITLE, OBJECT = 2.0, 1.5, 1.0

Words = tuple[str, ...]
Vector = NDArray[numpy.float64]

WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class FactSentence:
    """One fact as a sentence. `title` is the name of what it is about; `fact` are its IRIs, for measuring alone."""

    text: str
    title: str
    object_name: str
    fact: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that was retrieved, with the cosine of question and passage."""

    passage: FactSentence
    cosine: float


def verbalise(store: Store, domain: Domain) -> tuple[FactSentence, ...]:
    """The facts of the domain's predicates as passages, in the order of their titles. Raises as the store does."""
    names = names_of(store, domain)
    passages: set[FactSentence] = set()
    for predicate in domain.predicates.values():
        for subject, value in pairs_of(store, predicate.node):
            title, object_name = names.called(subject), names.called(value)
            text = predicate.state(title, object_name, predicate.name) + "."
            passages.add(FactSentence(text, title, object_name, (subject.value, predicate.name, value.value)))
    return tuple(sorted(passages, key=lambda p: (p.title, p.text, p.fact)))


def words(text: str) -> Words:
    """The words of a text, folded, so that names are compared without their punctuation."""
    return tuple(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


class FactShelf:
    """Passages ready to be searched; their vectors, and those of questions that are prepared, are kept on disk."""

    def __init__(self, passages: Sequence[FactSentence], embedder: Embedder, folder: Path = VECTORS) -> None:
        self.passages = tuple(passages)
        self._embedder = embedder
        self._folder = folder
        self._vectors = kept_vectors(embedder, [p.text for p in passages], folder)
        self._lexicon = WordRanker([stems(p.text) for p in passages])
        self._names = _names(passages)
        self._asked: dict[str, Vectors] = {}

    def prepare(self, questions: Iterable[str]) -> None:
        """Embed questions together, which is faster than one by one and gives the same vectors."""
        texts = list(dict.fromkeys(questions))
        self._asked |= dict(zip(texts, kept_vectors(self._embedder, texts, self._folder), strict=True))

    def search(self, question: str, k: int = TOP) -> tuple[Found, ...]:
        """The best `k` passages, best first; ties go to the earlier title."""
        if not self.passages:
            return ()
        cosines = self.cosines(question)
        lexical = self._lexicon.scores([(stem, 1.0) for stem in stems(question)])
        return self._best(self._named(question) + join([cosines, lexical]), cosines, k)

    def nearest(self, question: str, k: int = TOP) -> tuple[Found, ...]:
        """The best `k` passages by their vectors alone."""
        cosines = self.cosines(question)
        return self._best(cosines, cosines, k)

    def _best(self, scores: Vector, cosines: Vector, k: int) -> tuple[Found, ...]:
        best = numpy.argsort(-scores, kind="stable")[:k]
        return tuple(Found(self.passages[row], float(cosines[row])) for row in best)

    def cosines(self, question: str) -> Vector:
        """The cosine of the question with each passage."""
        if question not in self._asked:
            self._asked[question] = self._embedder.embed([question])[0]
        cosines: Vector = (self._vectors @ self._asked[question]).astype(numpy.float64)
        return cosines.round(DECIMALS)

    def _named(self, question: str) -> Vector:
        """Add up, for each passage, what the names in the question count."""
        counts = numpy.zeros(len(self.passages))
        for name in mentions(words(question), self._names):
            for row, weight in self._names[name].items():
                counts[row] += weight
        return counts


def mentions(asked: Words, names: Container[Words]) -> dict[Words, int]:
    """The names in a question that lie in no longer one, with their first words' places."""
    covered = [False] * len(asked)
    starts: dict[Words, int] = {}
    for length in range(len(asked), 0, -1):
        for start in range(len(asked) - length + 1):
            span = slice(start, start + length)
            if asked[span] in names and not any(covered[span]):
                covered[span] = [True] * length
                starts.setdefault(asked[span], start)
    return starts


def _names(passages: Sequence[FactSentence]) -> dict[Words, dict[int, float]]:
    """For each name, the passages that it names something of, and what it counts for them."""
    weights: defaultdict[Words, dict[int, float]] = defaultdict(dict)
    for row, passage in enumerate(passages):
        names = ((passage.title, TITLE), (bare(passage.title), SHORT_TITLE), (passage.object_name, OBJECT))
        for name, weight in names:
            if key := words(name):
                weights[key].setdefault(row, weight)
    return dict(weights)


def about(card: Card, known: Set[str]) -> Set[str]:
    """The things that the right passages of a card are about: those of its subjects with a passage, that is `known`.

    Else the object: a claim of a thing that nothing is recorded of is settled, if at all, by what is recorded of that.
    """
    return (known & {*card.claim.subjects}) or (known & {card.claim.obj})


def rank(things: Container[str], found: Sequence[Found]) -> int | None:
    """The rank, from 1, of the first passage on one of the things; None where there is none among them."""
    return first_rank(hit.passage.fact[0] in things for hit in found)
