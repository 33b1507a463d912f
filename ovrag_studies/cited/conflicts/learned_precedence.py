"""Find which of two rules of a document prevails by a sentence of it, by weights learned from whole documents.

A body of rules says in many ways that a schedule, a notice or a chapter prevails over another part, or does not: "go by
the card", "these notes have no power to alter Part One". One logistic regression tells sentences that rank texts, over
their vector and their hashed words; another tells from where such a sentence stands and what it names which of two
rules it lets prevail. `tools/train_policy_precedence.py` makes both from `training/cited/houses` and
`training/cited/precedence_cases.jsonl`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from math import log, sqrt
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from ovrag_core.base import SettingsError, read_tensors
from ovrag_core.retrieval import DIMENSIONS, Embedder, Vectors, log_odds
from ovrag_core.text import stems
from ovrag_studies.cited.conflicts.conflict_model import terms_of
from ovrag_studies.cited.conflicts.precedence import find_precedence
from ovrag_studies.cited.conflicts.rules import Rule, RuleSource, read_rules
from ovrag_studies.cited.corpus.policies import PolicyCorpus

Numbers = NDArray[numpy.float64]

WEIGHTS = Path(__file__).parents[1] / "weights" / "precedence.safetensors"
SIZE = 2**12  # of the table of hashed words
OF_WORDS, OF_VECTOR = 2.0, 1.5  # what both count beside one another
LEAST = 0.4  # chance from which a rule prevails
LOOKED_AT, UNLIKELY = 8, 0.015  # of a document's sentences, those that likeliest rank texts; none below this chance
OPENING = 9  # words of a paragraph by which a sentence may name it
BEFORE, FADING = 3, 0.75  # paragraphs before it whose opening may name it too, and how much less each further one does
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
_POINTING = {"this", "these", "here", "hereof", "herein", "herewith", "present", "above", "below", "following"}
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
        return numpy.asarray(1 / (1 + numpy.exp(-numpy.array(scores))))

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
    terms = terms_of(text)
    for term in terms:
        features[DIMENSIONS + crc32(term.encode()) % SIZE] += OF_WORDS / sqrt(len(terms))
    return features


class RankedDocument:
    """The paragraphs of a document in order, from 1, and its sentences, each with the number of its paragraph."""

    def __init__(self, paragraphs: Sequence[str], sentences: Sequence[tuple[int, str]], embedder: Embedder) -> None:
        self.sentences = sentences
        texts = ("", *paragraphs)
        self._opened = [
            frozenset(stem for stem in stems(" ".join(text.split()[:OPENING])) if not stem.isdigit()) for text in texts
        ]
        counts = Counter(word for words in self._opened for word in words)
        self._rarity = {word: log(len(texts) / count) for word, count in counts.items()}
        self._labels = [_label_of(text) for text in texts]
        self._title = frozenset(stems("".join(paragraphs[:1])))
        self._embedder = embedder

    @cached_property
    def vectors(self) -> Vectors:
        """One row a sentence."""
        return self._embedder.embed([text for _, text in self.sentences])

    def may_rank(self, ranking: int, sides: tuple[int, int]) -> bool:
        """Return True where a sentence may say which of two others prevails.

        It is neither of them, and does not name the parts of both by number, which is read by its form (`precedence`).
        """
        labels = _labels_in(self.sentences[ranking][1])
        return ranking not in sides and not all(self._labels[self.sentences[side][0]] in labels for side in sides)

    def numbers(self, ranking: int, winner: int, loser: int, ranks: float, here: float) -> Numbers:
        """Return the numbers that tell whether the sentence `ranking` lets one sentence prevail over another.

        Sentences are given by their place. `ranks` is how likely `ranking` ranks texts at all, `here` its text.
        """
        (paragraph, text), sides = self.sentences[ranking], (self.sentences[winner][0], self.sentences[loser][0])
        words, labels = frozenset(stems(text)), _labels_in(text)
        won, lost = (self._side(paragraph, side, words, labels) for side in sides)
        near = [_is_near(paragraph, side) for side in sides]
        cosines = [2 * float(self.vectors[ranking] @ self.vectors[sentence]) for sentence in (winner, loser)]
        by_name = [(1 - here) * n for n in (*won[5:8], *lost[5:8])]
        by_place = [here * n for n in (won[0], near[0], lost[0], near[1], lost[7], lost[6], won[7])]
        won_named, lost_named = won[7] > 0, lost[7] > 0
        together = (
            won_named and not lost_named,
            near[0] and (lost_named or lost[6] > 0.6),
            lost[0] and (won_named or won[6] > 0.6),
        )
        numbers = [log_odds(ranks), *won, *lost, *cosines, sides[0] > sides[1], paragraph / len(self._labels)]
        return numpy.array([*numbers, *by_place, *by_name, *together], dtype=numpy.float64)

    def _side(self, place: int, paragraph: int, words: frozenset[str], labels: frozenset[str]) -> list[float]:
        """Measure how a rule's paragraph lies to a sentence, and how surely that names it by its opening and label."""
        behind = paragraph - place
        lies = (behind == 0, 0 < behind <= BEFORE, behind > BEFORE, -BEFORE <= behind < 0, behind < -BEFORE)
        leading = _leading(paragraph)
        named = [sum(self._rarity[word] for word in self._opened[p] & words) * weight / 4 for p, weight in leading]
        labelled = [_matched(labels, self._labels[p]) * weight for p, weight in leading]
        return [*map(float, lies), named[0], max(named), labelled[0], max(labelled)]

    def terms(self, ranking: int, winner: int, loser: int) -> dict[int, float]:
        """Return rows of the table with their values: what stands around words that name either rule's place, and the
        words of the sentence `ranking`, by where it stands itself.
        """
        (paragraph, text), sides = self.sentences[ranking], (self.sentences[winner][0], self.sentences[loser][0])
        near = [_is_near(paragraph, side) for side in sides]
        lies = "else" if near[0] == near[1] else "won" if near[0] else "lost"
        words = frozenset(_WORD.findall(text.lower()))
        named = self._named(text, paragraph, sides)
        term_values = {term: value * OF_ROLES / sqrt(max(FEWEST, len(named))) for term, value in named.items()}
        term_values |= {f"{lies} | {word}": OF_PLACES / sqrt(len(words)) for word in words}
        hashed: defaultdict[int, float] = defaultdict(float)
        for term, value in term_values.items():
            hashed[crc32(term.encode()) % ROLES] += value
        return hashed

    def _named(self, text: str, place: int, sides: tuple[int, int]) -> dict[str, float]:
        """Each word that names the place of one side alone, with those around it, and which side is named first."""
        tokens = _TOKEN.findall(text)
        lower = [token.lower() for token in tokens]
        term_values: defaultdict[str, float] = defaultdict(float)
        first_positions: dict[str, float] = {}
        for row, token in enumerate(tokens):
            tag, value = self._tag(token, "".join(lower[:row][-1:]), place, sides)
            if not tag:
                continue
            position = row / len(tokens)
            first_positions.setdefault(tag[:3], position)
            terms = [f"{tag} before {word}" for word in lower[max(0, row - AROUND) : row]]
            terms += [f"{tag} after {word}" for word in lower[row + 1 : row + 1 + AROUND]]
            for term in (*terms, tag, f"{tag} {'late' if position > 0.5 else 'early'}"):
                term_values[term] = max(term_values[term], value)
        if len(first_positions) > 1:
            term_values["first won"] = 1.0 if first_positions["won"] < first_positions["los"] else -1.0
        return term_values | {
            f"in {name}": 1.0 for name, side in zip(("won", "lost"), sides, strict=True) if side == place
        }

    def _tag(self, token: str, before: str, place: int, sides: tuple[int, int]) -> tuple[str, float]:
        """Find which side a word names, how, and how surely; empty where it names neither, or both."""
        word = token.lower()
        if _LABEL.fullmatch(token) and token != "I" and _is_label(token, f"{before} "):
            label = frozenset({_plain_label(token)})
            tag, _ = _surer(*(_matched(label, self._labels[side]) for side in sides))
            return tag, float(bool(tag))
        if word in _POINTING:
            tag, value = _surer(*(1.0 if side == place else 0.7 * _is_near(place, side) for side in sides))
            return tag and f"{tag} here", value
        stem = next(iter(stems(word)), "")
        won, lost = (self._opened_by(stem, side) for side in sides)
        if abs(won - lost) > 0.2 and self._rarity.get(stem, 0.0) > RARE:
            return _surer(won, lost)
        if stem in _BODY or stem in self._title:
            return "won body" if sides[0] < sides[1] else "lost body", 0.7
        return "", 0.0

    def _opened_by(self, stem: str, paragraph: int) -> float:
        """Weight of the nearest opening with a word, of a paragraph or of one before it; 0 where none has it."""
        return next((weight for p, weight in _leading(paragraph) if stem in self._opened[p]), 0.0)


def _leading(paragraph: int) -> list[tuple[int, float]]:
    """A paragraph and those before it whose opening may name it, nearest first, and how much each counts."""
    return [(p, FADING ** (paragraph - p)) for p in range(paragraph, max(0, paragraph - BEFORE - 1), -1)]


def _is_near(place: int, paragraph: int) -> bool:
    return 0 <= paragraph - place <= BEFORE


def _surer(won: float, lost: float) -> tuple[str, float]:
    return ("won", won) if won > lost else ("lost", lost) if lost > won else ("", 0.0)


def _is_label(label: str, before: str) -> bool:
    """Return True but for an "A" that is an article."""
    return label != "A" or bool(_LETTERED.search(before))


def _plain_label(label: str) -> str:
    return _ROMAN.get(label, label.replace("-", ""))


def _label_of(paragraph: str) -> str:
    """The number or letter that a paragraph opens with, empty where it has none."""
    head = " ".join(paragraph.split()[:6])
    labels = (m[0] for m in _LABEL.finditer(head) if not m.start() or _is_label(m[0], head[: m.start()]))
    return _plain_label(next(labels, ""))


def _labels_in(sentence: str) -> frozenset[str]:
    """The numbers and letters that a sentence names, those of ranges one by one."""
    labels = {
        _plain_label(m[0]) for m in _LABEL.finditer(sentence) if m[0] != "I" and _is_label(m[0], sentence[: m.start()])
    }
    for match in _RANGE.finditer(sentence):
        start, end = map(_plain_label, match.groups())
        if start.isdigit() and end.isdigit() and 0 < int(end) - int(start) < 60:
            labels.update(map(str, range(int(start), int(end) + 1)))
    return frozenset(labels)


def _matched(labels: frozenset[str], label: str) -> float:
    """1 where a label is named, less where what holds it is: 5 of 5.7, B of B3."""
    if label in labels:
        return 1.0
    holders = (named for named in labels if label.startswith(named))
    return 0.7 * any((len(named) == 1 and named.isalpha()) or not label[len(named)].isdigit() for named in holders)


class CorpusPrecedence:
    """Clauses of a corpus that rank its texts by their form; and its documents, each read when two rules are ranked."""

    def __init__(self, corpus: PolicyCorpus, embedder: Embedder) -> None:
        self.clauses = find_precedence(corpus)
        self._corpus, self._embedder = corpus, embedder
        self._read = cache(self._read_document)

    def deciding(self, first: Rule, second: Rule) -> tuple[Rule, RuleSource] | None:
        """The rule that prevails by what is learned, and by which sentence; None where none of one document decides."""
        document = first.source.doc_id
        if document != second.source.doc_id or first.source.paragraph_id == second.source.paragraph_id:
            return None
        rules, ranked, ranking = self._read(document)
        sides = rules.index(first), rules.index(second)
        decided = [(0.0, first, first.source)]
        for row, ranks, here in ranking:
            for winner, loser in (sides, sides[::-1]) if ranked.may_rank(row, sides) else ():
                numbers, terms = ranked.numbers(row, winner, loser, ranks, here), ranked.terms(row, winner, loser)
                decided.append((load_precedence().prevails(numbers, terms), rules[winner], rules[row].source))
        chance, prevailing, clause = max(decided, key=lambda candidate: candidate[0])
        return (prevailing, clause) if chance >= LEAST else None

    def _read_document(self, document: str) -> tuple[list[Rule], RankedDocument, list[tuple[int, float, float]]]:
        """A document's rules, also as they are ranked; and the rows of those that likeliest rank texts, each with how
        likely it does, and how likely it ranks that in which it stands.
        """
        rules = [rule for rule in read_rules(self._corpus) if rule.source.doc_id == document]
        places = self._corpus.places_in(document)
        number = {place.id: row for row, (place, _) in enumerate(places, 1)}
        sentences = [(number[rule.source.paragraph_id], " ".join(rule.source.text.split())) for rule in rules]
        ranked = RankedDocument([paragraph.text for _, paragraph in places], sentences, self._embedder)
        model, texts = load_precedence(), [text for _, text in sentences]
        ranks, here = (model.chances(weights, texts, ranked.vectors) for weights in (model.ranks, model.here))
        best = numpy.argsort(-ranks, kind="stable")[:LOOKED_AT]
        return rules, ranked, [(int(row), float(ranks[row]), float(here[row])) for row in best if ranks[row] > UNLIKELY]


@cache
def load_precedence(path: Path = WEIGHTS) -> PrecedenceModel:
    """The model of a file. Raises SettingsError where it cannot be read."""
    try:
        tensors, _ = read_tensors(path)
        ranks, ranks_here, roles = (tensors[name].astype(numpy.float32) for name in ("ranks", "here", "roles"))
        return PrecedenceModel(ranks, ranks_here, tensors["numbers"], roles, float(tensors["bias"][0]))
    except (OSError, SafetensorError, KeyError, IndexError):
        raise SettingsError(f"{path} cannot be read; make it anew with tools/train_policy_precedence.py") from None
