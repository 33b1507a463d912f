"""Find which of two rules of a document prevails by a sentence of it, by weights learned from whole documents.

A body of rules says in many ways that a schedule, a notice or a chapter prevails over another part, or does not: "go by
the card", "these notes have no power to alter Part One". One logistic regression tells sentences that rank texts, over
their vector and their hashed words; another tells from where such a sentence stands and what it names which of two
rules it lets prevail. `tools/train_policy_precedence.py` makes both from `training/cited/houses` and
`training/cited/precedence_cases.jsonl`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from math import log, sqrt
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from ovrag_core.base import SettingsError, read_tensors
from ovrag_core.retrieval import DIMENSIONS, Embedder, Vectors
from ovrag_core.text import stems
from ovrag_studies.cited.conflicts.rules import Rule, RuleSource, read_rules
from ovrag_studies.cited.corpus.policies import PolicyCorpus

Numbers = NDArray[numpy.float64]

WEIGHTS = Path(__file__).parents[1] / "weights" / "precedence.safetensors"
TRAINER = "tools/train_policy_precedence.py"
SIZE = 2**12  # of the table of hashed words
OF_WORDS, OF_VECTOR = 2.0, 1.5  # what both count beside one another
LEAST = 0.4  # chance from which a rule prevails
LOOKED_AT, UNLIKELY = 8, 0.015  # of a document's sentences, those that likeliest rank texts; none below this chance
OPENING = 9  # words of a paragraph by which a sentence may name it
BEFORE, FADING = 3, 0.75  # paragraphs before it whose opening may name it too, and how much less each further one does
INNER = 1e-4
ROLES = 2**11  # of the table of what stands beside the words that name a rule's place
OF_ROLES, OF_PLACES, FEWEST = 6.0, 2.0, 4
AROUND = 3  # words before and after such a word
RARE = 1.2  # logarithm from which a word of a paragraph's opening is its own

_WORD = re.compile(r"[a-z']+|\d+")
_TENS, _ONES = ("", "X", "XX", "XXX"), ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
_ROMAN = {_TENS[number // 10] + _ONES[number % 10]: str(number) for number in range(2, 40)}
_LABEL = re.compile(r"(?:[A-Z]{1,3}[-.]?)?\d+(?:\.\d+)*|\b[IVXL]+\b|\b[A-Z]\b")
_RANGE = re.compile(r"\b(\d{1,3}|[IVXL]+)\s*(?:to|through|–|-)\s*(\d{1,3}|[IVXL]+)\b")
_LETTERED = re.compile(r"\b(?:part|annex|schedule|appendix|section|chapter|table|sheet|to|and|or)\s+$", re.IGNORECASE)


# Words that name the body of a document against what is added to it.
_BODY_TEXT = """rule section chapter paragraph article regulation condition terms handbook manual main body page text
policy part numbered statute bylaws code constitution procedure order guide book document"""
_BODY = frozenset(stems(_BODY_TEXT))
_POINTING_TEXT = """this these here hereof herein herewith present above below following"""
_POINTING = frozenset(_POINTING_TEXT.split())
_TOKEN = re.compile(r"[A-Za-z']+|\d+(?:\.\d+)*|[;,.]")


class PrecedenceModel(NamedTuple):
    """Weights of sentences that rank texts, of those that rank by where they stand, and of what tells who prevails.

    `ranks` and `here` are (DIMENSIONS + SIZE + 1,), the bias last; `numbers` are middles, widths and weights, 3 × n;
    `roles` are of hashed terms (ROLES,).
    """

    ranks: NDArray[numpy.float32]
    here: NDArray[numpy.float32]
    numbers: NDArray[numpy.float32]
    roles: NDArray[numpy.float32]
    bias: float

    def chances(self, weights: NDArray[numpy.float32], texts: Sequence[str], vectors: Vectors) -> Numbers:
        """Estimate how likely each text is of a kind."""
        scores = [float(row @ weights[:-1]) + float(weights[-1]) for row in map(inputs, texts, vectors)]
        chances: Numbers = 1 / (1 + numpy.exp(-numpy.array(scores)))
        return chances

    def prevails(self, numbers: Numbers, terms: Mapping[int, float]) -> float:
        """The chance that a rule prevails over another by a sentence."""
        middles, widths, weights = self.numbers
        score = float((numbers - middles) / widths @ weights) + self.bias
        score += sum(float(self.roles[row]) * value for row, value in terms.items())
        return float(1 / (1 + numpy.exp(-score)))


def inputs(text: str, vector: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    """A sentence as it is weighed: its vector, and its hashed words and pairs of words."""
    features = numpy.zeros(DIMENSIONS + SIZE, dtype=numpy.float32)
    features[:DIMENSIONS] = vector * OF_VECTOR
    words = ["#" if word.isdigit() else word for word in _WORD.findall(text.lower())]
    terms = {*words, *(f"{left} {right}" for left, right in pairwise(words))}
    for term in terms:
        features[DIMENSIONS + crc32(term.encode()) % SIZE] += OF_WORDS / sqrt(len(terms))
    return features


class RankedDocument:
    """The paragraphs of a document in order, from 1, and its sentences, each with the number of its paragraph."""

    def __init__(self, paragraphs: Sequence[str], sentences: Sequence[tuple[int, str]], embedder: Embedder) -> None:
        self.sentences = sentences
        self._opened = [
            frozenset(stem for stem in stems(" ".join(text.split()[:OPENING])) if not stem.isdigit())
            for text in ("", *paragraphs)
        ]
        counts = Counter(word for words in self._opened for word in words)
        self._rarity = {word: log((len(paragraphs) + 1) / count) for word, count in counts.items()}
        self._labels = [_label_of(text) for text in ("", *paragraphs)]
        self._title = frozenset(stems(paragraphs[0])) if paragraphs else frozenset()
        self._embedder = embedder

    @cached_property
    def vectors(self) -> Vectors:
        """One row a sentence."""
        return self._embedder.embed([text for _, text in self.sentences])

    def may_rank(self, ranking: int, sides: tuple[int, int]) -> bool:
        """Return True where a sentence may say which of two others prevails.

        It is neither of them. Nor does it name the parts of both by their numbers, which is read by its form
        (`parts.rank_parts`).
        """
        labels = _labels_in(self.sentences[ranking][1])
        return ranking not in sides and not all(self._labels[self.sentences[side][0]] in labels for side in sides)

    def numbers(self, ranking: int, winner: int, loser: int, ranks: float, here: float) -> Numbers:
        """Return the numbers that tell whether the sentence `ranking` lets one sentence prevail over another.

        All sentences are given by their place. `ranks` is how likely `ranking` ranks texts at all. `here` is how likely
        it ranks the text in which it stands.
        """
        paragraph, text = self.sentences[ranking]
        words, labels = frozenset(stems(text)), _labels_in(text)
        inner = min(max(ranks, INNER), 1 - INNER)
        sides = [self._side(paragraph, self.sentences[sentence][0], words, labels) for sentence in (winner, loser)]
        (winner_paragraph, loser_paragraph), (won, lost) = (
            (self.sentences[sentence][0] for sentence in (winner, loser)),
            sides,
        )
        near = [float(0 <= p - paragraph <= BEFORE) for p in (winner_paragraph, loser_paragraph)]
        cosines = [2 * float(self.vectors[ranking] @ self.vectors[sentence]) for sentence in (winner, loser)]
        by_name = [(1 - here) * n for n in (*won[5:8], *lost[5:8])]
        by_place = [here * n for n in (won[0], near[0], lost[0], near[1], lost[7], lost[6], won[7])]
        named = (bool(won[7]), bool(lost[7]), won[6] > 0.6, lost[6] > 0.6)
        together = (
            named[0] and not named[1],
            bool(near[0]) and (named[1] or named[3]),
            bool(lost[0]) and (named[0] or named[2]),
        )
        end = len(self._labels)
        return numpy.array([
            log(inner / (1 - inner)), *won, *lost, *cosines, float(winner_paragraph > loser_paragraph), paragraph / end,
            *by_place, *by_name, *map(float, together),
        ])  # fmt: skip

    def terms(self, ranking: int, winner: int, loser: int) -> dict[int, float]:
        """Return rows of the table with their values.

        They hold what stands around the words that name the place of either rule. They also hold the words of the
        sentence `ranking`, by where it stands itself.
        """
        paragraph, text = self.sentences[ranking]
        winner_paragraph, loser_paragraph = (self.sentences[sentence][0] for sentence in (winner, loser))
        near = [0 <= p - paragraph <= BEFORE for p in (winner_paragraph, loser_paragraph)]
        lies = "won" if near[0] and not near[1] else "lost" if near[1] and not near[0] else "else"
        words = frozenset(_WORD.findall(text.lower()))
        named = self._named(text, paragraph, (winner_paragraph, loser_paragraph))
        term_values = {f"{term}": value * OF_ROLES / sqrt(max(FEWEST, len(named))) for term, value in named.items()}
        term_values |= {f"{lies} | {word}": OF_PLACES / sqrt(len(words) or 1) for word in words}
        hashed: dict[int, float] = {}
        for term, value in term_values.items():
            row = crc32(term.encode()) % ROLES
            hashed[row] = hashed.get(row, 0.0) + value
        return hashed

    def _named(self, text: str, place: int, sides: tuple[int, int]) -> dict[str, float]:
        """Each word that names the place of one side alone, with those around it, and which side is named first."""
        tokens = _TOKEN.findall(text)
        lower = [t.lower() for t in tokens]
        opened = [self._openings(paragraph) for paragraph in sides]
        term_values: dict[str, float] = {}
        first_positions: dict[str, float] = {}
        for row, token in enumerate(tokens):
            tag, value = self._tag(lower[row], token, lower[:row][-1:], opened, place, sides)
            if not tag:
                continue
            position = row / len(tokens)
            first_positions.setdefault(tag[:3], position)
            around = [("before", lower[max(0, row - AROUND) : row]), ("after", lower[row + 1 : row + 1 + AROUND])]
            terms = [f"{tag} {where} {word}" for where, listed in around for word in listed]
            for term in (*terms, tag, f"{tag} {'late' if position > 0.5 else 'early'}"):
                term_values[term] = max(term_values.get(term, 0.0), value)
        if len(first_positions) > 1:
            term_values["first won"] = 1.0 if first_positions["won"] < first_positions["los"] else -1.0
        return term_values | {
            f"in {name}": 1.0 for name, paragraph in zip(("won", "lost"), sides, strict=True) if paragraph == place
        }

    def _tag(
        self,
        word: str,
        token: str,
        before: Sequence[str],
        opened: Sequence[Mapping[str, float]],
        place: int,
        sides: tuple[int, int],
    ) -> tuple[str, float]:
        """Find which side a word names, how, and how surely; empty where it names neither, or both."""
        if _LABEL.fullmatch(token) and token != "I" and (token != "A" or _LETTERED.search(f"{''.join(before)} ")):
            labels = frozenset({_ROMAN.get(token, token.replace("-", ""))})
            won, lost = (_matched(labels, self._labels[p]) for p in sides)
            return ("won", 1.0) if won > lost else ("lost", 1.0) if lost > won else ("", 0.0)
        if word in _POINTING:
            won, lost = (1.0 if p == place else 0.7 if 0 < p - place <= BEFORE else 0.0 for p in sides)
            return ("won here", won) if won > lost else ("lost here", lost) if lost > won else ("", 0.0)
        stem = (stems(word) or [""])[0]
        won, lost = (opening.get(stem, 0.0) for opening in opened)
        if abs(won - lost) > 0.2 and self._rarity.get(stem, 0.0) > RARE:
            return ("won", won) if won > lost else ("lost", lost)
        if stem in _BODY or stem in self._title:
            return ("won body", 0.7) if sides[0] < sides[1] else ("lost body", 0.7)
        return "", 0.0

    def _openings(self, paragraph: int) -> dict[str, float]:
        """The words by which a paragraph or one before it opens, and how much each counts."""
        weights: dict[str, float] = {}
        for number in range(paragraph, max(0, paragraph - BEFORE - 1), -1):
            for word in self._opened[number]:
                weights.setdefault(word, FADING ** (paragraph - number))
        return weights

    def _side(self, place: int, paragraph: int, words: frozenset[str], said: frozenset[str]) -> list[float]:
        """Measure how a rule's paragraph lies to a sentence, and how surely that names it by its opening and label."""
        behind = paragraph - place
        before = range(paragraph, max(0, paragraph - BEFORE - 1), -1)
        named = [
            sum(self._rarity[word] for word in self._opened[number] & words) * FADING ** (paragraph - number) / 4
            for number in before
        ]
        labelled = [_matched(said, self._labels[number]) * FADING ** (paragraph - number) for number in before]
        lies = (behind == 0, 0 < behind <= BEFORE, behind > BEFORE, -BEFORE <= behind < 0, behind < -BEFORE)
        return [*map(float, lies), named[0], max(named), labelled[0], max(labelled)]


def _label_of(paragraph: str) -> str:
    """The number or letter that a paragraph opens with, empty where it has none."""
    head = " ".join(paragraph.split()[:6])
    for label in _LABEL.finditer(head):
        if label[0] != "A" or not label.start() or _LETTERED.search(head[: label.start()]):
            return _ROMAN.get(label[0], label[0].replace("-", ""))
    return ""


def _labels_in(sentence: str) -> frozenset[str]:
    """The numbers and letters that a sentence names, those of ranges one by one."""
    labels = set()
    for match in _RANGE.finditer(sentence):
        ends = [_ROMAN.get(end, end) for end in match.groups()]
        if all(end.isdigit() for end in ends) and 0 < int(ends[1]) - int(ends[0]) < 60:
            labels |= {str(number) for number in range(int(ends[0]), int(ends[1]) + 1)}
    for match in _LABEL.finditer(sentence):
        if match[0] != "I" and (match[0] != "A" or _LETTERED.search(sentence[: match.start()])):
            labels.add(_ROMAN.get(match[0], match[0].replace("-", "")))
    return frozenset(labels)


def _matched(said: frozenset[str], label: str) -> float:
    """1 where a label is named, less where what holds it is: 5 of 5.7, B of B3."""
    if not label or not said:
        return 0.0
    within = any(label.startswith(named) and not label[len(named) : len(named) + 1].isdigit() for named in said)
    lettered = any(len(named) == 1 and named.isalpha() and label.startswith(named) for named in said)
    return 1.0 if label in said else 0.7 if within or lettered else 0.0


class LearnedPrecedence:
    """The documents of a corpus, each read when two of its rules are to be ranked."""

    def __init__(self, corpus: PolicyCorpus, embedder: Embedder) -> None:
        self._corpus, self._embedder = corpus, embedder
        self._read: dict[str, _Read] = {}

    def deciding(self, first: Rule, second: Rule) -> tuple[Rule, RuleSource] | None:
        """The rule that prevails and the sentence by which it does; None where none of one document decides."""
        document = first.source.doc_id
        if document != second.source.doc_id or first.source.paragraph_id == second.source.paragraph_id:
            return None
        if document not in self._read:
            self._read[document] = _Read(self._corpus, document, self._embedder)
        best = max(self._read[document].ranked(first, second), key=lambda each: each[0], default=None)
        return (best[1], best[2]) if best and best[0] >= LEAST else None


class _Read:
    """A document with its sentences that likeliest rank texts."""

    def __init__(self, corpus: PolicyCorpus, document: str, embedder: Embedder) -> None:
        self._rules = [rule for rule in read_rules(corpus) if rule.source.doc_id == document]
        self._rows = {rule.source: row for row, rule in enumerate(self._rules)}
        places = sorted(
            (occurrence.start, occurrence.id, paragraph.text)
            for paragraph in corpus.paragraphs
            for occurrence in paragraph.places
            if occurrence.doc_id == document
        )
        number = {id_: row for row, (_, id_, _) in enumerate(places, 1)}
        sentences = [(number[rule.source.paragraph_id], " ".join(rule.source.text.split())) for rule in self._rules]
        self._ranked = RankedDocument([text for _, _, text in places], sentences, embedder)
        self._model = load_precedence()

    @cached_property
    def _ranking(self) -> list[tuple[int, float, float]]:
        """The sentences that may rank texts, with how likely they do and how likely that in which they stand."""
        texts, vectors = [text for _, text in self._ranked.sentences], self._ranked.vectors
        ranks, ranks_here = (
            self._model.chances(weights, texts, vectors) for weights in (self._model.ranks, self._model.here)
        )
        best = numpy.argsort(-ranks, kind="stable")[:LOOKED_AT]
        return [(int(row), float(ranks[row]), float(ranks_here[row])) for row in best if ranks[row] > UNLIKELY]

    def ranked(self, first: Rule, second: Rule) -> Iterator[tuple[float, Rule, RuleSource]]:
        """Yield how likely each of two rules prevails by each sentence that may say so."""
        sides = self._rows[first.source], self._rows[second.source]
        for row, ranks, ranks_here in self._ranking:
            if self._ranked.may_rank(row, sides):
                for winner, loser in (sides, sides[::-1]):
                    numbers = self._ranked.numbers(row, winner, loser, ranks, ranks_here)
                    chance = self._model.prevails(numbers, self._ranked.terms(row, winner, loser))
                    yield chance, self._rules[winner], self._rules[row].source


@cache
def load_precedence(path: Path = WEIGHTS) -> PrecedenceModel:
    """The model of a file. Raises SettingsError where it cannot be read."""
    try:
        tensors, _ = read_tensors(path)
        ranks, ranks_here = (tensors[name].astype(numpy.float32) for name in ("ranks", "here"))
        roles = tensors["roles"].astype(numpy.float32)
        return PrecedenceModel(ranks, ranks_here, tensors["numbers"], roles, float(tensors["bias"][0]))
    except (OSError, SafetensorError, KeyError, IndexError):
        raise SettingsError(f"{path} cannot be read; make it anew with {TRAINER}") from None
