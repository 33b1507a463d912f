"""Readers of passages: what the retrieved text says of a question, and how sure that is. They know no graph.

They go by the likeness of question and best passage, by the names that both share, and by a logistic regression over
both. A confidence is a share of right answers among the cards that they learned from (`weights/readers.json`).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

import numpy
from numpy.typing import NDArray
from scipy.special import softmax

from ovrag_core.base import CardError, Frozen
from ovrag_studies.abstention.arms.fact_sentences import Found, Words, mentions, words
from ovrag_studies.abstention.arms.model_replies import CardAnswer, CardReply
from ovrag_studies.abstention.cards.card import GOLD, Gold
from ovrag_studies.abstention.knowledge.likeness import bare
from ovrag_studies.abstention.settings import Arm

Floats = NDArray[numpy.float64]
Pattern = Literal["said", "said in two steps", "namesakes", "a name nobody tells of", "else said", "nothing"]

BINS = 4  # of likeness, in each of which the share of right answers is counted
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
STRENGTH = 0.3  # C of the logistic regression
DECIMALS = 4
_WORD = re.compile(r"\w+")


class Signals:
    """Evidence that names give on a question and passages, which are given by their places in `found`.

    `said` hold both names of the question. Of `steps` the second goes on where the first ends. `about` are titled by a
    name of the question and say something else; `others` counts their titles. `namesakes` share a title that the
    question gives without brackets. `named` counts names, `unknown` words that begin like a name and stand in no
    passage. The first name is the one that stands where passages have their titles.
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
        text = found[0].passage.text if found else ""  # which begins with its title, or with the object
        title_leads = not found or text.find(found[0].passage.title) <= text.rfind(found[0].passage.object_name)
        # The title of the first passage that says it stands in the question before its object.
        title_first = bool(self.said) and titled[self.said[0]] < (self._ends[self.said[0]] or 0)
        self.said_in_order = bool(self.said) and title_first == title_leads
        order = sorted(positions.values(), reverse=not title_leads)
        self.named = len(order)
        self.first_titled = bool({*order[:1]} & {*titled.values()})
        self.last_titled = bool({*order[-1:]} & {*titled.values()})
        self.namesakes = _namesakes(positions, self._titles, shorts)
        self.unknown = _unknown(question, found)
        self.pattern, self.places = self._resting()

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

    def _resting(self) -> tuple[Pattern, tuple[int, ...]]:
        """The first of six patterns that fits, and the passages that it rests on."""
        if len(self.namesakes) > 1:
            return "namesakes", self.namesakes
        if self.said:
            return "said", self.said[:1]
        if self.steps:
            return "said in two steps", self.steps
        if self.unknown:
            return "a name nobody tells of", ()
        return ("else said", self.about) if self.about else ("nothing", ())


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


def _likeness(found: Sequence[Found]) -> float:
    return found[0].cosine if found else 0.0


def features(question: str, found: Sequence[Found]) -> dict[str, float]:
    """The numbers that the learned reader weighs, by their names."""
    signals = Signals(question, found)
    question_words = set(words(question))
    best_words = set(words(found[0].passage.text)) if found else set()
    alone = bool(signals.about) and not signals.said
    return {
        "said in this order": signals.said_in_order,
        "said in the other order": bool(signals.said) and not signals.said_in_order,
        "said in two steps": signals.steps is not None and not signals.said,
        "other titles that are named": min(2, signals.others),
        "first name is a title": alone and signals.first_titled,
        "last name is a title": alone and signals.last_titled and signals.named > 1,
        "last name is no title": alone and not signals.last_titled,
        "namesakes": len(signals.namesakes) > 1,
        "unknown names": min(3, signals.unknown),
        "likeness of the best": _likeness(found),
        "lead of the best": found[0].cosine - found[1].cosine if len(found) > 1 else 0.0,
        "words of the question in the best": len(question_words & best_words) / max(1, len(question_words)),
        "first name and no unknown ones": alone and signals.first_titled and not signals.unknown,
        "last name and no unknown ones": alone and signals.last_titled and not signals.unknown,
    }


FEATURES = tuple(features("", ()))


# -- what was learned -------------------------------------------------------------------------------------------------


class Thresholds(Frozen):
    """Likeness from which on the answer is YES or NO; for each bin of likeness, the share of right answers."""

    yes: float
    no: float
    edges: tuple[float, ...]
    right: tuple[float, ...]


class Weights(Frozen):
    """A logistic regression: for each feature its mean and spread, and for each answer its weights and bias."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    bias: tuple[float, ...]


class Learned(Frozen):
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


Reader = Callable[[str, Sequence[Found], Learned], CardReply]  # a question and passages, best first


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
    similarity, names, weights = _learn_thresholds(ordered), _learn_names(ordered), _learn_weights(ordered)
    return Learned(source=source, cards=len(ordered), similarity=similarity, names=names, weights=weights)


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


def _by_likeness(likeness: Floats | float, no: float, yes: float) -> NDArray[numpy.intp]:
    return numpy.where(likeness >= yes, 0, numpy.where(likeness >= no, 1, 2))


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

    rows = numpy.array([[*features(lesson.question, lesson.found).values()] for lesson in lessons], dtype=float)
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale = numpy.where(scale > 0, scale, 1.0)
    model = LogisticRegression(C=STRENGTH, max_iter=1000, tol=1e-8)
    model.fit((rows - mean) / scale, [GOLD.index(lesson.gold) for lesson in lessons])
    weights, bias = tuple(map(_row, model.coef_)), _row(model.intercept_)
    return Weights(features=FEATURES, mean=_row(mean), scale=_row(scale), weights=weights, bias=bias)


def _row(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(_short(value) for value in values)


def _short(value: float) -> float:
    return round(float(value), DECIMALS)


# -- readers ----------------------------------------------------------------------------------------------------------


def by_similarity(question: str, found: Sequence[Found], learned: Learned) -> CardReply:
    """YES where the best passage by vectors is very like the question, NO where it is rather like it, else UNKNOWN."""
    fitted, likeness = learned.similarity, _likeness(found)
    answer = _by_likeness(likeness, fitted.no, fitted.yes)
    confidence = fitted.right[int(numpy.digitize(likeness, fitted.edges))]
    return _reply(GOLD[int(answer)], confidence, found[:1] if GOLD[int(answer)] != "UNKNOWN" else ())


def by_names(question: str, found: Sequence[Found], learned: Learned) -> CardReply:
    """The most frequent answer of cards with the same pattern of names."""
    signals = Signals(question, found)
    shares = learned.names[signals.pattern]
    gold = max(GOLD, key=lambda g: shares[g])
    return _reply(gold, shares[gold], [found[i] for i in signals.places])


def by_weights(question: str, found: Sequence[Found], learned: Learned) -> CardReply:
    """The most probable answer by a logistic regression over names, their order, and likeness."""
    fitted = learned.weights
    values = numpy.array([*features(question, found).values()], dtype=float)
    scaled = (values - numpy.array(fitted.mean)) / numpy.array(fitted.scale)
    chances = softmax(numpy.array(fitted.weights) @ scaled + numpy.array(fitted.bias))
    best = int(chances.argmax())
    resting = [found[i] for i in Signals(question, found).places] or found[:1]
    return _reply(GOLD[best], round(float(chances[best]), DECIMALS), resting)


def _reply(gold: Gold, confidence: float, resting: Sequence[Found]) -> CardReply:
    return CardReply(CardAnswer(gold), confidence, tuple(hit.passage.text for hit in resting))


READERS: Mapping[Arm, Reader] = {"similarity": by_similarity, "names": by_names, "weights": by_weights}
