"""Readers of passages: what the retrieved text says of a question, and how sure that is. They know no graph.

Three, from least to most: by the likeness of question and best passage; by the names that question and passages share;
and a logistic regression over both. What they learned from cards with gold answers is in `weights/readers.json`: two
thresholds; for each pattern of names the answers it had; weights. A confidence is a share of right answers there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, Protocol, get_args

import numpy
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from ovrag_core.base import CardError
from ovrag_studies.abstention.arms.fact_sentences import Found, Words, mentions, words
from ovrag_studies.abstention.arms.model_replies import CardAnswer
from ovrag_studies.abstention.cards.card import GOLD, Gold
from ovrag_studies.abstention.knowledge.likeness import bare

Floats = NDArray[numpy.float64]
Pattern = Literal["said", "said in two steps", "namesakes", "a name nobody tells of", "else said", "nothing"]

BINS = 4  # of likeness, in each of which the share of right answers is counted
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
STRENGTH = 0.3  # C of the logistic regression
DECIMALS = 4
FEATURES = (
    "said in this order",
    "said in the other order",
    "said in two steps",
    "other titles that are named",
    "first name is a title",
    "last name is a title",
    "last name is no title",
    "namesakes",
    "unknown names",
    "likeness of the best",
    "lead of the best",
    "words of the question in the best",
    "first name and no unknown ones",
    "last name and no unknown ones",
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Opinion:
    """Answer of a reader, its confidence (0 to 1), and the places of the passages that it rests on."""

    answer: CardAnswer
    confidence: float
    places: tuple[int, ...] = ()


class Reader(Protocol):
    """Reads passages, best first."""

    @property
    def name(self) -> str:
        """Name of the reader in records and tables."""

    def read(self, question: str, found: Sequence[Found]) -> Opinion:
        """Judge what the passages say of the question."""


class Signals:
    """Evidence that names give on a question and passages.

    Passages are given by their places, in the order of `found`. `said` hold both names of the question. Of `steps` the
    second goes on where the first ends. `about` are titled by a name of the question and say something else; `others`
    counts their titles. `namesakes` share a title that the question gives without brackets. `named` counts names.
    `unknown` counts words that begin like a name and stand in no passage. Orders are those of the passages: the first
    name is the one that stands where they have their titles.
    """

    def __init__(self, question: str, found: Sequence[Found]) -> None:
        self._titles = [words(hit.passage.title) for hit in found]
        self._objects = [words(hit.passage.object_name) for hit in found]
        shorts = [words(bare(hit.passage.title)) for hit in found]
        names = {*self._titles, *shorts, *self._objects} - {()}
        positions = mentions(words(question), names, max(map(len, names), default=0))
        pairs = zip(self._titles, shorts, strict=True)
        self._starts = {i: positions.get(title, positions.get(short)) for i, (title, short) in enumerate(pairs)}
        self._ends = {i: positions.get(name) for i, name in enumerate(self._objects)}
        titled = {i: start for i, start in self._starts.items() if start is not None}
        self.said = tuple(i for i, start in titled.items() if self._ends[i] not in (None, start))
        self.about = tuple(i for i in titled if i not in self.said)
        self.others = len(self._titles_of(self.about) - self._titles_of(self.said))
        self.steps = self._two_steps(titled)
        title_leads = not found or _leads(found[0])
        self.said_in_order = self._in_order(titled) == title_leads if self.said else False
        order = sorted(positions.values(), reverse=not title_leads)
        self.named = len(order)
        self.first_titled = bool({*order[:1]} & {*titled.values()})
        self.last_titled = bool({*order[-1:]} & {*titled.values()})
        self.namesakes = _namesakes(positions, self._titles, shorts)
        self.unknown = _unknown(question, found)

    def _in_order(self, titled: Mapping[int, int]) -> bool:
        """Return True where the question has the title of the first passage that says it before its object."""
        return titled[self.said[0]] < (self._ends[self.said[0]] or 0)

    def _two_steps(self, titled: Iterable[int]) -> tuple[int, int] | None:
        goes_on = (
            (step, next_step)
            for step in titled
            for next_step, end in self._ends.items()
            if step != next_step and end is not None and self._objects[step] == self._titles[next_step]
        )
        return next(goes_on, None)

    def _titles_of(self, places: Iterable[int]) -> set[Words]:
        return {self._titles[i] for i in places}

    @property
    def pattern(self) -> Pattern:
        """The first of six patterns that fits."""
        if len(self.namesakes) > 1:
            return "namesakes"
        if self.said:
            return "said"
        if self.steps:
            return "said in two steps"
        if self.unknown:
            return "a name nobody tells of"
        return "else said" if self.about else "nothing"

    @property
    def places(self) -> tuple[int, ...]:
        """The passages that the pattern rests on."""
        resting: dict[Pattern, tuple[int, ...]] = {
            "namesakes": self.namesakes,
            "said": self.said[:1],
            "said in two steps": self.steps or (),
            "else said": self.about,
        }
        return resting.get(self.pattern, ())


def _leads(found: Found) -> bool:
    """Return True where the sentence begins with its title, False where it begins with the object."""
    text = found.passage.text
    return text.find(found.passage.title) <= text.rfind(found.passage.object_name)


def _namesakes(at: Iterable[Words], titles: Sequence[Words], shorts: Sequence[Words]) -> tuple[int, ...]:
    """Passages of several titles that the question's short name fits, unless it is one's whole title."""
    for name in at:
        if name in titles:
            continue
        fitting = [i for i, short in enumerate(shorts) if short == name]
        if len({titles[i] for i in fitting}) > 1:
            return tuple(fitting)
    return ()


def _unknown(question: str, found: Sequence[Found]) -> int:
    """Words of the question with a capital or a figure, but for its first word, that no passage holds."""
    passage_words = {word for hit in found for word in words(hit.passage.text)}
    return sum(
        not passage_words.issuperset(words(word)) for word in _WORD.findall(question)[1:] if not word[0].islower()
    )


def features(question: str, found: Sequence[Found]) -> Floats:
    """The numbers that the learned reader weighs, in the order of FEATURES."""
    signals = Signals(question, found)
    question_words = set(words(question))
    best = _likeness(found)
    lead = best - found[1].cosine if len(found) > 1 else 0.0
    best_words = set(words(found[0].passage.text)) if found else set()
    shared = len(question_words & best_words) / max(1, len(question_words))
    alone = bool(signals.about) and not signals.said
    return numpy.array(
        [
            bool(signals.said) and signals.said_in_order,
            bool(signals.said) and not signals.said_in_order,
            signals.steps is not None and not signals.said,
            min(2, signals.others),
            alone and signals.first_titled,
            alone and signals.last_titled and signals.named > 1,
            alone and not signals.last_titled,
            len(signals.namesakes) > 1,
            min(3, signals.unknown),
            best,
            lead,
            shared,
            alone and signals.first_titled and not signals.unknown,
            alone and signals.last_titled and not signals.unknown,
        ],
        dtype=numpy.float64,
    )


# -- what was learned -------------------------------------------------------------------------------------------------


class _LearnedPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Thresholds(_LearnedPart):
    """Likeness from which on the answer is YES or NO; for each bin of likeness, the share of right answers."""

    yes: float
    no: float
    edges: tuple[float, ...]
    right: tuple[float, ...]


class Weights(_LearnedPart):
    """A logistic regression: for each feature its mean and spread, and for each answer its weights and bias."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    bias: tuple[float, ...]


class Learned(_LearnedPart):
    """All that the readers learned; `cards` is of how many, `source` says of which."""

    source: str
    cards: int
    similarity: Thresholds
    names: dict[Pattern, dict[Gold, float]]
    weights: Weights


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question with passages found by vectors alone and by all means, and its gold answer."""

    question: str
    nearest: tuple[Found, ...]
    found: tuple[Found, ...]
    gold: Gold


@cache
def shipped() -> Learned:
    """Load what the readers learned from the cards on rivers. None of these cards is part of this repository."""
    text = files(__package__).joinpath("weights", "readers.json").read_text(encoding="utf-8")
    return Learned.model_validate_json(text)


def learn(lessons: Sequence[Lesson], source: str) -> Learned:
    """Fit all readers to cards. The same lessons in any order give the same result.

    Raises CardError where one of the three answers is the gold of no card.
    """
    if missing := [gold for gold in GOLD if all(lesson.gold != gold for lesson in lessons)]:
        raise CardError(f"readers cannot learn from {len(lessons)} cards without any of gold {missing[0]}; give some")
    ordered = sorted(lessons, key=lambda lesson: (lesson.question, lesson.gold))
    return Learned(
        source=source,
        cards=len(ordered),
        similarity=_learn_thresholds(ordered),
        names=_learn_names(ordered),
        weights=_learn_weights(ordered),
    )


def _learn_thresholds(lessons: Sequence[Lesson]) -> Thresholds:
    """The two thresholds with the most right answers, of the likenesses that occur rounded to hundredths."""
    likeness = numpy.array([_likeness(lesson.nearest) for lesson in lessons])
    gold = numpy.array([GOLD.index(lesson.gold) for lesson in lessons])
    steps = numpy.unique(numpy.floor(likeness * 100) / 100)
    candidates = [(no, yes) for no in steps for yes in steps if no <= yes]
    no, yes = max(candidates, key=lambda pair: (int((_by_likeness(likeness, *pair) == gold).sum()), pair))
    right = _by_likeness(likeness, no, yes) == gold
    edges = numpy.quantile(likeness, numpy.linspace(0, 1, BINS + 1)[1:-1])
    bins = numpy.digitize(likeness, edges)
    shares = [_share(int(right[bins == b].sum()), int((bins == b).sum())) for b in range(BINS)]
    return Thresholds(yes=_short(yes), no=_short(no), edges=tuple(map(_short, edges)), right=tuple(shares))


def _by_likeness(likeness: Floats, no: float, yes: float) -> NDArray[numpy.intp]:
    """Places in GOLD."""
    return numpy.where(likeness >= yes, 0, numpy.where(likeness >= no, 1, 2))


def _likeness(found: Sequence[Found]) -> float:
    return found[0].cosine if found else 0.0


def _learn_names(lessons: Sequence[Lesson]) -> dict[Pattern, dict[Gold, float]]:
    counts: dict[Pattern, Counter[Gold]] = {pattern: Counter() for pattern in PATTERNS}
    for lesson in lessons:
        counts[Signals(lesson.question, lesson.found).pattern][lesson.gold] += 1
    return {
        pattern: {gold: _share(counted[gold], counted.total(), len(GOLD)) for gold in GOLD}
        for pattern, counted in counts.items()
    }


def _share(hits: int, of: int, kinds: int = 2) -> float:
    """Laplace's rule of succession."""
    return _short((hits + 1) / (of + kinds))


def _learn_weights(lessons: Sequence[Lesson]) -> Weights:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - takes a second; who only reads shall not wait

    rows = numpy.stack([features(lesson.question, lesson.found) for lesson in lessons])
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale = numpy.where(scale > 0, scale, 1.0)
    model = LogisticRegression(C=STRENGTH, max_iter=1000, tol=1e-8)
    model.fit((rows - mean) / scale, [GOLD.index(lesson.gold) for lesson in lessons])
    return Weights(
        features=FEATURES,
        mean=_row(mean),
        scale=_row(scale),
        weights=tuple(_row(row) for row in model.coef_),
        bias=_row(model.intercept_),
    )


def _row(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(_short(value) for value in values)


def _short(value: float) -> float:
    return round(float(value), DECIMALS)


# -- readers ----------------------------------------------------------------------------------------------------------


class BySimilarity:
    """YES where the best passage is very like the question, NO where it is rather like it, else UNKNOWN."""

    name = "similarity"

    def __init__(self, learned: Learned | None = None) -> None:
        self._by = (learned or shipped()).similarity

    def read(self, question: str, found: Sequence[Found]) -> Opinion:
        """See `Reader.read`. The passages should be those found by vectors alone."""
        likeness = _likeness(found)
        answer = (
            CardAnswer.YES
            if likeness >= self._by.yes
            else CardAnswer.NO
            if likeness >= self._by.no
            else CardAnswer.UNKNOWN
        )
        confidence = self._by.right[int(numpy.digitize(likeness, self._by.edges))]
        return Opinion(answer, confidence, (0,) if found and answer is not CardAnswer.UNKNOWN else ())


class ByNames:
    """The most frequent answer of cards with the same pattern of names."""

    name = "names"

    def __init__(self, learned: Learned | None = None) -> None:
        self._by = (learned or shipped()).names

    def read(self, question: str, found: Sequence[Found]) -> Opinion:
        """See `Reader.read`."""
        signals = Signals(question, found)
        shares = self._by[signals.pattern]
        gold = max(GOLD, key=lambda g: shares[g])
        return Opinion(CardAnswer(gold), shares[gold], signals.places)


class ByWeights:
    """The most probable answer by a logistic regression over names, their order, and likeness."""

    name = "weights"

    def __init__(self, learned: Learned | None = None) -> None:
        self._by = (learned or shipped()).weights

    def read(self, question: str, found: Sequence[Found]) -> Opinion:
        """See `Reader.read`."""
        scaled = (features(question, found) - numpy.array(self._by.mean)) / numpy.array(self._by.scale)
        scores = numpy.array(self._by.weights) @ scaled + numpy.array(self._by.bias)
        chances = numpy.exp(scores - scores.max())
        chances /= chances.sum()
        best = int(chances.argmax())
        places = Signals(question, found).places or ((0,) if found else ())
        return Opinion(CardAnswer(GOLD[best]), round(float(chances[best]), DECIMALS), places)
