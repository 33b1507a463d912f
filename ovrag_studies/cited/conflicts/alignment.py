"""Signs that two sentences rule on one matter: vectors of sentences and words, concepts, phrases and their rivals.

Likeness alone does not tell "Books are returned within 28 days" from the same of films. What two sentences do not share
says more: words without a counterpart, and a phrase after the same preposition that has another word in its place.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from math import log

import numpy
from numpy.typing import NDArray

from ovrag_core.retrieval import Embedder, Vectors
from ovrag_studies.cited.language.amounts import without_amounts
from ovrag_studies.cited.language.readings import RULING, SentenceReading, Words, concept, concepts, read, unite

FEATURES = 9  # numbers of two sentences
SOFT = 0.5  # cosine of two words from which one stands for the other in part
SAME = 0.65  # and from which it does so in a phrase
AROUND = 0.6  # what a word counts that stands only around the other sentence
BACKGROUND = 200  # sentences that a corpus is taken to have beside its own, so that two of them say little of rarity
FEW = 30  # sentences: among fewer, being the nearest says nothing
_PAIRED_LEADS = (
    {"in", "at", "on", "into", "inside", "onto", "near", "under", "behind"},
    *({lead} for lead in ("for", "of", "from", "with", "to", "by")),
    {*("during", "if", "when", "while", "where", "after", "before", "until", "once"), "in the event of", "in case of"},
)
_FOLLOWING = {"of", "for", "on", "in", "at", "from", "to", "with", "about"}


class Alignment:
    """The vectors of a set of sentences and of their words."""

    def __init__(self, sentences: Mapping[str, str], embedder: Embedder) -> None:
        """`sentences` have what stands around each of them: its heading and the sentences before it."""
        self.rows = {sentence: row for row, sentence in enumerate(sentences)}
        self.context = [frozenset(concepts(text)) - RULING for text in sentences.values()]
        self.readings = [read(sentence) for sentence in self.rows]
        self.cosines = _products(embedder.embed(list(self.rows)))
        # The two sentences that are most like each.
        apart = self.cosines - 2 * numpy.eye(len(self.cosines), dtype=numpy.float32)
        self._nearest = numpy.argsort(-apart, axis=1, kind="stable")[:, :2].tolist()
        # The sentences without their amounts, where they have some.
        masked = [" ".join(without_amounts(sentence).split()) for sentence in self.rows]
        changed = [row for row, sentence in enumerate(self.rows) if masked[row] not in ("", sentence)]
        self._masked_rows = {row: masked_row for masked_row, row in enumerate(changed)}
        self._masked_cosines = _products(embedder.embed([masked[row] for row in changed]))
        # For each concept a word that has it.
        surfaces: dict[str, str] = {}
        for word in re.findall(r"[A-Za-z][\w-]*", "\n".join(map(unite, self.rows))):
            surfaces.setdefault(concept(word), word.lower())
        surfaces.pop("", None)
        self.words = {word: row for row, word in enumerate(surfaces)}
        self.word_cosines = _products(embedder.embed(list(surfaces.values())))
        # What each concept tells: 1 for the rarest of a large corpus, near 0 for those of every sentence.
        counts = Counter(word for reading in self.readings for word in reading.content)
        size = len(self.readings) + BACKGROUND
        self.weights = {word: log(size / (count + 1)) / log(size) for word, count in counts.items()}

    def features(self, first: str, second: str) -> NDArray[numpy.float64]:
        """Return the numbers that tell whether two sentences rule on the same, FEATURES of them."""
        left, right = self.rows[first], self.rows[second]
        left_reading, right_reading = self.readings[left], self.readings[right]
        mine, theirs = left_reading.content, right_reading.content
        near, far = self.context[left], self.context[right]
        least_cover, cover = sorted((self._cover(mine, theirs, far), self._cover(theirs, mine, near)))
        cosine = masked_cosine = float(self.cosines[left, right])
        if left in self._masked_rows and right in self._masked_rows:
            masked_cosine = float(self._masked_cosines[self._masked_rows[left], self._masked_rows[right]])
        nearest = (right in self._nearest[left]) + (left in self._nearest[right])
        values = (
            cosine,
            masked_cosine,
            cover,
            least_cover,
            min(sum(self.weights[word] for word in mine & theirs), 4) / 4,
            min(self._rivals(left_reading, right_reading, near, far), 2) / 2,
            bool(mine & theirs) and len(self.lost(mine, theirs | far)) == len(self.lost(theirs, mine | near)) == 1,
            self._rival_followers(left_reading, right_reading),
            nearest / 2 if len(self.readings) >= FEW else 0.5,
        )
        return numpy.array(values, dtype=numpy.float64)

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

    def lost(self, mine: Words, theirs: Words) -> Words:
        """The words that have no counterpart."""
        return frozenset(word for word in mine if not self.likeness(word, theirs))

    def _apart(self, mine: Words, theirs: Words) -> bool:
        return bool(mine) and all(self.likeness(word, theirs) < SAME for word in mine)

    def _rival_followers(self, left: SentenceReading, right: SentenceReading) -> bool:
        """Check for the same thing "of" or "on" something else: "photographs of events", "a photograph on a card"."""
        mine, theirs = _followed(left), _followed(right)
        return any(
            self._apart(mine[word], right.content) and self._apart(theirs[word], left.content)
            for word in mine.keys() & theirs.keys() - RULING
        )

    def _rivals(self, left: SentenceReading, right: SentenceReading, near: Words, far: Words) -> int:
        """Count the prepositions that lead phrases whose words have no counterpart in the other sentence."""
        count = 0
        for leads in _PAIRED_LEADS:
            mine, theirs = (
                [frozenset(phrase.words) - RULING for phrase in reading.phrases if phrase.lead in leads]
                for reading in (left, right)
            )
            lone = any(self._apart(words, right.content | far) for words in mine)
            count += lone and any(self._apart(words, left.content | near) for words in theirs)
        return count


def _followed(reading: SentenceReading) -> dict[str, Words]:
    """For the last word of each phrase the words of the phrase after it: "photograph" has those of "on a card"."""
    followers: defaultdict[str, Words] = defaultdict(frozenset)
    for phrase, next_phrase in pairwise(reading.phrases):
        if next_phrase.lead in _FOLLOWING and next_phrase.start - phrase.end < 8:
            followers[phrase.words[-1]] |= frozenset(next_phrase.words) - RULING
    return followers


def _products(vectors: Vectors) -> NDArray[numpy.float32]:
    product: NDArray[numpy.float32] = vectors @ vectors.T
    return product
