"""The facts of a graph as sentences, and the sentences that a question is about.

Each fact is one passage in the first wording of its predicate. A question is matched by the names in it, the longest
first, so that the river named within another's brackets is not taken for a mention of its own; where names tie, BM25
and sentence vectors decide, joined by their ranks. Who reads the passages sees their text and nothing of the graph.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode

from ovrag_core.graph import Store
from ovrag_core.retrieval import VECTORS, Embedder, Vectors, WordRanker, join, kept_vectors
from ovrag_core.text import stems
from ovrag_studies.abstention.cards.card import Card
from ovrag_studies.abstention.knowledge.domain import Domain, Predicate, fill
from ovrag_studies.abstention.knowledge.likeness import bare, label_order, local_name

TOP = 5
DECIMALS = 6  # of a cosine: beyond, machines disagree
# What a name counts: as the title, as the title without what stands in brackets behind it, as the object.
TITLE, SHORT_TITLE, OBJECT = 2.0, 1.5, 1.0

Words = tuple[str, ...]
Order = tuple[tuple[bool, str], ...]

_WORD = re.compile(r"\w+")
_FACTS = """PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?predicate ?subject ?object ?subject_name ?object_name WHERE {
  ?subject ?predicate ?object .
  OPTIONAL { ?subject rdfs:label ?subject_name } OPTIONAL { ?object rdfs:label ?object_name } }"""


@dataclass(frozen=True, slots=True)
class FactSentence:
    """One fact as a sentence. `title` is the name of what it is about; `fact` are its IRIs, for measuring alone."""

    text: str
    title: str
    object_name: str
    fact: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that was retrieved. `cosine` is that of question and passage, `score` orders the passages."""

    passage: FactSentence
    score: float
    cosine: float


def verbalise(store: Store, domain: Domain) -> tuple[FactSentence, ...]:
    """The facts of the domain's predicates as passages, in the order of their titles.

    A thing without a name is called by the end of its IRI. Raises Unchecked where the store gives no answer.
    """
    by_fact: dict[tuple[str, str, str], tuple[Order, FactSentence]] = {}
    for predicate in domain.predicates.values():
        for row in store.select(_FACTS, {"predicate": NamedNode(predicate.iri)}):
            subject, value = row["subject"], row["object"]
            if not isinstance(subject, NamedNode) or not isinstance(value, NamedNode | Literal):
                continue
            fact = (subject.value, predicate.name, value.value)
            names = (_name(subject, row.get("subject_name")), _name(value, row.get("object_name")))
            title, object_name = (name.value for name in names)
            passage = FactSentence(_sentence(predicate, title, object_name), title, object_name, fact)
            # Of several names the first in order, whatever the order of rows.
            ranked = tuple(label_order(name) for name in names), passage
            by_fact[fact] = min(ranked, by_fact.get(fact, ranked), key=lambda named: named[0])
    passages = (passage for _, passage in by_fact.values())
    return tuple(sorted(passages, key=lambda p: (p.title, p.text, p.fact)))


def _name(term: NamedNode | Literal, name: object) -> Literal:
    if isinstance(name, Literal):
        return name
    return Literal(local_name(term.value)) if isinstance(term, NamedNode) else term


def _sentence(predicate: Predicate, subject: str, value: str) -> str:
    wording = predicate.statements[0] if predicate.statements else f"{{subject}} {predicate.name} {{object}}"
    return fill(wording, subject, value) + "."


def words(text: str) -> Words:
    """The words of a text, folded, so that names are compared without their punctuation."""
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


class FactShelf:
    """Passages ready to be searched; their vectors, and those of questions that are prepared, are kept on disk."""

    def __init__(self, passages: Sequence[FactSentence], embedder: Embedder, folder: Path = VECTORS) -> None:
        self.passages = tuple(passages)
        self._embedder = embedder
        self._folder = folder
        self._vectors = kept_vectors(embedder, [p.text for p in passages], folder)
        self._lexicon = WordRanker([stems(p.text) for p in passages])
        self._names = _names(passages)
        self._longest = max(map(len, self._names), default=0)
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
        scores = self._named(question) + join([cosines, lexical])
        best = numpy.argsort(-scores, kind="stable")[:k]
        return tuple(
            Found(self.passages[row], float(round(scores[row], DECIMALS)), float(cosines[row])) for row in best
        )

    def nearest(self, question: str, k: int = TOP) -> tuple[Found, ...]:
        """The best `k` passages by their vectors alone."""
        cosines = self.cosines(question)
        best = numpy.argsort(-cosines, kind="stable")[:k]
        return tuple(Found(self.passages[row], float(cosines[row]), float(cosines[row])) for row in best)

    def cosines(self, question: str) -> NDArray[numpy.float64]:
        """The cosine of the question with each passage."""
        if question not in self._asked:
            self._asked[question] = self._embedder.embed([question])[0]
        cosines: NDArray[numpy.float64] = (self._vectors @ self._asked[question]).astype(numpy.float64)
        return cosines.round(DECIMALS)

    def _named(self, question: str) -> NDArray[numpy.float64]:
        """Add up, for each passage, what the names in the question count."""
        counts = numpy.zeros(len(self.passages))
        for name in mentions(words(question), self._names, self._longest):
            for row, weight in self._names[name].items():
                counts[row] += weight
        return counts


def mentions(asked: Words, names: Container[Words], longest: int) -> dict[Words, int]:
    """The names in a question that do not lie within longer ones, with the place of their first word.

    `longest` is the number of words of the longest name.
    """
    covered = [False] * len(asked)
    starts: dict[Words, int] = {}
    for length in range(min(longest, len(asked)), 0, -1):
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
        for name, weight in (
            (passage.title, TITLE),
            (bare(passage.title), SHORT_TITLE),
            (passage.object_name, OBJECT),
        ):
            if key := words(name):
                weights[key].setdefault(row, weight)
    return dict(weights)


# -- how well it is found ---------------------------------------------------------------------------------------------


def about(card: Card, known: Container[str]) -> frozenset[str]:
    """Return the things that the right passages of a card are about.

    They are the asked subjects, else the claimed object; nothing if not `known`. A claim of a thing that nothing is
    recorded of is settled, if at all, by what is recorded of its object: for example, that the relation
    holds the other way round. `known` are the things that there are passages on.
    """
    subjects = frozenset(iri for iri in card.claim.subjects if iri in known)
    return subjects or frozenset(iri for iri in (card.claim.obj,) if iri in known)


def rank(things: Container[str], found: Sequence[Found]) -> int | None:
    """The rank, from 1, of the first passage on one of the things; None where there is none among them."""
    return next((position for position, hit in enumerate(found, 1) if hit.passage.fact[0] in things), None)
