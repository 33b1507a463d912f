"""Signs that two sentences rule on one matter: vectors of sentences and words, concepts, phrases and their rivals.

Likeness alone does not tell "Books are returned within 28 days" from the same of films. What two sentences do not share
says more: a subject, a verb or a phrase after the same preposition that has another word in its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log

import numpy
from numpy.typing import NDArray

from ovrag_core.retrieval import Embedder, Vectors
from ovrag_studies.cited.language.amounts import without_amounts
from ovrag_studies.cited.language.readings import RULING, SentenceReading, Words, read
from ovrag_studies.cited.language.thesaurus import concept, concepts, exclude, unite

FEATURES = (
    "cosine", "masked", "cover", "least_cover", "shared", "rivals", "subject", "modifiers", "excluding", "swap",
    "followers", "nearest",
)  # fmt: skip
SOFT = 0.5  # cosine of two words from which one stands for the other in part
SAME = 0.65  # and from which it does so as a subject, or in a phrase
AROUND = 0.6  # what a word counts that stands only around the other sentence
BACKGROUND = 200  # sentences that a corpus is taken to have beside its own, so that two of them say little of rarity
FEW = 30  # sentences: among fewer, being the nearest says nothing
_PAIRED_LEADS = (
    frozenset({"in", "at", "on", "into", "inside", "onto", "near", "under", "behind"}),
    *(frozenset({lead}) for lead in ("for", "of", "from", "with", "to", "by")),
    frozenset({"during", "if", "when", "while", "where", "after", "before", "until", "once"})
    | {"in the event of", "in case of"},
)
_CONTRARY_LEADS = frozenset(
    frozenset(pair)
    for pair in (
        ("during", "after"), ("before", "after"), ("during", "before"), ("inside", "outside"), ("within", "outside"),
        ("in", "outside"), ("at", "outside"),
    )
)  # fmt: skip
_OWNERS = frozenset({concept("employee")})
_TOKEN = re.compile(r"[A-Za-z][\w'’]*|[^\w\s]|\d+")


class Alignment:
    """The vectors of a set of sentences and of their words."""

    def __init__(self, sentences: Mapping[str, str], embedder: Embedder) -> None:
        """`sentences` have what stands around each of them: its heading and the sentences before it."""
        self.rows = {sentence: row for row, sentence in enumerate(sentences)}
        self.context = [frozenset(concepts(text)) - RULING for text in sentences.values()]
        self.readings = [read(sentence) for sentence in self.rows]
        self.cosines = _products(embedder.embed(list(self.rows)))
        self.masked_rows, self.masked_cosines = self._masked(embedder)
        words = _surfaces(self.rows)
        self.words = {word: row for row, word in enumerate(words)}
        self.word_cosines = _products(embedder.embed(list(words.values())))
        self.weights = self._weights()
        self.nearest = _nearest(self.cosines, list(sentences.values()))
        self.modified = [_modified(sentence) for sentence in self.rows]

    def _masked(self, embedder: Embedder) -> tuple[dict[int, int], NDArray[numpy.float32]]:
        """The cosines of the sentences without their amounts, where they have some, and the row of each."""
        texts = {row: " ".join(without_amounts(sentence).split()) for sentence, row in self.rows.items()}
        changed = {
            texts_row: text
            for (sentence, texts_row), text in zip(self.rows.items(), texts.values(), strict=True)
            if text and text != sentence
        }
        return {row: masked_row for masked_row, row in enumerate(changed)}, _products(
            embedder.embed(list(changed.values()))
        )

    def _weights(self) -> dict[str, float]:
        """Weigh what each concept tells: 1 for the rarest of a large corpus, near 0 for those of every sentence."""
        counts = Counter(word for reading in self.readings for word in reading.content)
        size = len(self.readings) + BACKGROUND
        return {word: log(size / (count + 1)) / log(size) for word, count in counts.items()}

    def _near(self, left: int, right: int) -> float:
        """Return the share of two sentences with the other among their nearest; 0.5 where few are to be compared."""
        if len(self.readings) < FEW:
            return 0.5
        return (float(right in self.nearest[left]) + float(left in self.nearest[right])) / 2

    def features(self, first: str, second: str) -> NDArray[numpy.float64]:
        """Return the numbers that tell whether two sentences rule on the same, one for each of FEATURES."""
        left, right = self.rows[first], self.rows[second]
        left_reading, right_reading = self.readings[left], self.readings[right]
        mine, theirs = left_reading.content, right_reading.content
        cosine = float(self.cosines[left, right])
        near, far = self.context[left], self.context[right]
        covers = sorted((self._cover(mine, theirs, far), self._cover(theirs, mine, near)))
        lone = self._lonely(mine, theirs | far), self._lonely(theirs, mine | near)
        return numpy.array(
            [
                cosine,
                self._masked_cosine(left, right, cosine),
                covers[1],
                covers[0],
                min(sum(self.weights[word] for word in mine & theirs), 4) / 4,
                min(self._rivals(left_reading, right_reading, near, far), 2) / 2,
                self._same_head(left_reading, right_reading),
                float(
                    _rival_modifiers(
                        self.modified[left],
                        self.modified[right],
                        left_reading.content - left_reading.subject,
                        right_reading.content - right_reading.subject,
                    )
                ),
                float(exclude(mine, theirs) or _contrary(left_reading, right_reading)),
                float(lone == (1, 1) and len(mine & theirs) > 0),
                float(self._rival_followers(left_reading, right_reading)),
                self._near(left, right),
            ]
        )

    def _masked_cosine(self, left: int, right: int, plain: float) -> float:
        places = self.masked_rows
        if left not in places or right not in places:
            return plain
        return float(self.masked_cosines[places[left], places[right]])

    def likeness(self, word: str, others: Words) -> float:
        """Measure how near a concept is to the nearest of others: 1 for the same, 0 below SOFT."""
        if word in others:
            return 1.0
        row = self.words.get(word)
        rows = [self.words[w] for w in others if w in self.words]
        if row is None or not rows:
            return 0.0
        best = float(self.word_cosines[row, rows].max())
        return best if best >= SOFT else 0.0

    def _cover(self, mine: Words, theirs: Words, around: Words) -> float:
        covered = (self.weights[word] * max(self.likeness(word, theirs), AROUND * (word in around)) for word in mine)
        return sum(covered) / sum(self.weights[word] for word in mine) if mine else 0.0

    def _lonely(self, mine: Words, theirs: Words) -> int:
        return sum(self.likeness(word, theirs) == 0 for word in mine)

    def _apart(self, mine: Words, theirs: Words) -> bool:
        return bool(mine) and all(self.likeness(word, theirs) < SAME for word in mine)

    def _same_head(self, one: SentenceReading, other: SentenceReading) -> float:
        if not one.head or not other.head or one.head in RULING or other.head in RULING:
            return 0.0
        if one.head in other.subject or other.head in one.subject:
            return 1.0
        near = max(self.likeness(one.head, other.content), self.likeness(other.head, one.content))
        return 0.0 if near >= SAME else -1.0

    def _rival_followers(self, one: SentenceReading, other: SentenceReading) -> bool:
        """Check for the same thing "of" or "on" something else: "photographs of events", "a photograph on a card"."""
        mine, theirs = _followed(one), _followed(other)
        return any(
            self._apart(mine[word], other.content) and self._apart(theirs[word], one.content)
            for word in mine.keys() & theirs.keys() - RULING
        )

    def _rivals(self, one: SentenceReading, other: SentenceReading, near: Words, far: Words) -> int:
        """Count the prepositions that lead phrases whose words have no counterpart in the other sentence."""
        count = 0
        for leads in _PAIRED_LEADS:
            mine = [frozenset(phrase.words) - RULING for phrase in one.phrases if phrase.lead in leads]
            theirs = [frozenset(phrase.words) - RULING for phrase in other.phrases if phrase.lead in leads]
            lone = any(self._apart(words, other.content | far) for words in mine)
            count += lone and any(self._apart(words, one.content | near) for words in theirs)
        return count


_FOLLOWING = frozenset({"of", "for", "on", "in", "at", "from", "to", "with", "about"})


def _followed(reading: SentenceReading) -> dict[str, Words]:
    """For the last word of each phrase the words of the phrase after it: "photograph" has those of "on a card"."""
    followers: dict[str, Words] = {}
    for phrase, next_phrase in pairwise(reading.phrases):
        if next_phrase.lead in _FOLLOWING and next_phrase.start - phrase.end < 8:
            followers[phrase.words[-1]] = followers.get(phrase.words[-1], frozenset()) | (
                frozenset(next_phrase.words) - RULING
            )
    return followers


def _contrary(one: SentenceReading, other: SentenceReading) -> bool:
    """Return True where the same words stand after "during" in one sentence and after "after" in the other."""
    return any(
        frozenset({mine.lead, theirs.lead}) in _CONTRARY_LEADS
        and (frozenset(mine.words) & frozenset(theirs.words)) - RULING
        for mine in one.phrases
        for theirs in other.phrases
    )


def _nearest(cosines: NDArray[numpy.float32], contexts: Sequence[str]) -> list[frozenset[int]]:
    """For each sentence the two that are most like it."""
    apart = cosines - 2 * numpy.eye(len(contexts), dtype=numpy.float32)
    order = numpy.argsort(-apart, axis=1, kind="stable")[:, :2]
    return [frozenset(int(row) for row in rows) for rows in order]


def _products(vectors: Vectors) -> NDArray[numpy.float32]:
    product: NDArray[numpy.float32] = vectors @ vectors.T
    return product


def _surfaces(sentences: Mapping[str, int]) -> dict[str, str]:
    """For each concept a word that has it."""
    surfaces: dict[str, str] = {}
    for sentence in sentences:
        for word in re.findall(r"[A-Za-z][\w-]*", unite(sentence)):
            surfaces.setdefault(concept(word), word.lower())
    surfaces.pop("", None)
    return surfaces


def _modified(text: str) -> dict[str, Words]:
    """For each concept those of the word right before it."""
    modifiers: dict[str, set[str]] = {}
    previous = ""
    for token in _TOKEN.findall(unite(text)):
        now = concept(token) if token[0].isalpha() else ""
        now = "" if now in RULING - _OWNERS else now
        if now and previous:
            modifiers.setdefault(now, set()).add(previous)
        previous = now
    return {word: frozenset(before) for word, before in modifiers.items()}


def _rival_modifiers(one: Mapping[str, Words], two: Mapping[str, Words], mine: Words, theirs: Words) -> bool:
    """Return True where the same word has different words before it: "supplier register", "asset register"."""
    return any(not one[word] & (theirs | two[word]) and not two[word] & mine for word in one.keys() & two.keys())
