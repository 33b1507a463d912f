"""Readers of passages: what the retrieved text says of a question, and how sure that is. They know no graph.

One goes by the likeness of question and best passage, the other by a logistic regression over that and the names that
question and passages share. Both learn from cards with gold answers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy
from numpy.typing import NDArray

from ovrag_studies.abstention.arms.fact_sentences import WORD, Found, Words, mentions, words
from ovrag_studies.abstention.cards.card import GOLD, Gold
from ovrag_studies.abstention.knowledge.likeness import bare
from ovrag_studies.abstention.records import CardAnswer, CardReply
from ovrag_studies.abstention.settings import Arm

BINS = 4  # of likeness, in each of which the share of right answers is counted
STRENGTH = 0.3  # C of the logistic regression

Reader = Callable[[str, Sequence[Found]], CardReply]  # a question and passages, best first


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question with passages found by vectors alone and by all means, and its gold answer."""

    question: str
    nearest: tuple[Found, ...]
    found: tuple[Found, ...]
    gold: Gold


class Signals:
    """Evidence that names give on a question and passages, which are given by their places in `found`.

    `named` are the names in the question, with their places there: `titled` those of passages' titles, also without
    brackets. `said` have both their names in it. Of `steps` the second goes on where the first ends. `about` are titled
    by a name of the question and say something else. `title_leads`: passages begin with their title, not the object.
    """

    def __init__(self, question: str, found: Sequence[Found]) -> None:
        self.question, self.found = question, found
        self.titles = [words(hit.passage.title) for hit in found]
        self.shorts = [words(bare(hit.passage.title)) for hit in found]
        objects = [words(hit.passage.object_name) for hit in found]
        self.named = mentions(words(question), {*self.titles, *self.shorts, *objects})
        pairs = zip(self.titles, self.shorts, strict=True)
        self.titled = self._placed(title if title in self.named else short for title, short in pairs)
        self.ends = self._placed(objects)
        self.said = tuple(i for i, start in self.titled.items() if self.ends.get(i, start) != start)
        self.about = tuple(i for i in self.titled if i not in self.said)
        following = ((i, j) for i, j in product(self.titled, self.ends) if i != j and objects[i] == self.titles[j])
        self.steps = next(following, ())
        passages = [hit.passage for hit in found[:1]]
        self.title_leads = all(p.text.find(p.title) <= p.text.rfind(p.object_name) for p in passages)

    def _placed(self, names: Iterable[Words]) -> dict[int, int]:
        """The passages of which the question has the name, with its place there."""
        return {i: self.named[name] for i, name in enumerate(names) if name in self.named}

    @property
    def said_in_order(self) -> bool:
        """Flag that the question has the names of the first passage that is said in the order of passages."""
        return any((self.titled[i] < self.ends[i]) == self.title_leads for i in self.said[:1])

    @property
    def last_is_title(self) -> bool:
        """Flag that the last name, in the order of passages, is a title."""
        last = max if self.title_leads else min
        return last(self.named.values(), default=None) in self.titled.values()

    @property
    def namesakes(self) -> bool:
        """Flag that titles share a name that the question gives without brackets."""
        bearers = Counter(short for _, short in set(zip(self.titles, self.shorts, strict=True)))
        return any(bearers[name] > 1 for name in self.named if name not in self.titles)

    @property
    def unknown(self) -> int:
        """Number of words but the first that begin like a name (with a capital or a figure) and are in no passage."""
        passage_words = set(words("\n".join(hit.passage.text for hit in self.found)))
        like_names = [word for word in WORD.findall(self.question)[1:] if not word[0].islower()]
        return sum(not passage_words.issuperset(words(word)) for word in like_names)


def features(question: str, found: Sequence[Found]) -> dict[str, float]:
    """The numbers that the regression weighs, by their names."""
    signals = Signals(question, found)
    alone = bool(signals.about) and not signals.said
    other_titles = {signals.titles[i] for i in signals.about} - {signals.titles[i] for i in signals.said}
    return {
        "said in this order": signals.said_in_order,
        "said in the other order": bool(signals.said) and not signals.said_in_order,
        "said in two steps": bool(signals.steps) and not signals.said,
        "other titles that are named": min(2, len(other_titles)),
        "last name is a title": alone and signals.last_is_title and len(signals.named) > 1,
        "last name is no title": alone and not signals.last_is_title,
        "namesakes": signals.namesakes,
        "unknown names": min(3, signals.unknown),
        "likeness of the best": _likeness(found),
    }


def learn_similarity(lessons: Sequence[Lesson]) -> Reader:
    """Reader by vectors: YES where the best passage is very like the question, NO where rather, else UNKNOWN.

    The two thresholds are those with the most right answers; the confidence is the share of right ones among likenesses
    of the same quarter, by Laplace's rule of succession.
    """
    likeness = numpy.array([_likeness(lesson.nearest) for lesson in lessons])
    gold = numpy.array([GOLD.index(lesson.gold) for lesson in lessons])
    steps = numpy.unique(numpy.floor(likeness * 100) / 100)
    candidates = combinations_with_replacement(steps, 2)
    no, yes = max(candidates, key=lambda pair: (int((_by_likeness(likeness, *pair) == gold).sum()), pair))
    right = _by_likeness(likeness, no, yes) == gold
    edges = numpy.quantile(likeness, numpy.linspace(0, 1, BINS + 1)[1:-1])
    bins = numpy.digitize(likeness, edges)
    shares = [(int(right[bins == b].sum()) + 1) / (int((bins == b).sum()) + 2) for b in range(BINS)]

    def read(question: str, found: Sequence[Found]) -> CardReply:
        answer = GOLD[int(_by_likeness(_likeness(found), no, yes))]
        confidence = shares[int(numpy.digitize(_likeness(found), edges))]
        return _reply(answer, confidence, found[:1] if answer != "UNKNOWN" else ())

    return read


def learn_weights(lessons: Sequence[Lesson]) -> Reader:
    """Reader by a logistic regression over `features`: the most probable answer, with its probability."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - takes a second
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    model = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=1000, tol=1e-8))
    rows = [[*features(lesson.question, lesson.found).values()] for lesson in lessons]
    model.fit(rows, [GOLD.index(lesson.gold) for lesson in lessons])

    def read(question: str, found: Sequence[Found]) -> CardReply:
        (chances,) = model.predict_proba([[*features(question, found).values()]])
        best, signals = int(chances.argmax()), Signals(question, found)
        places = signals.said[:1] or signals.steps or signals.about
        return _reply(GOLD[best], float(chances[best]), [found[i] for i in places] or found[:1])

    return read


def _likeness(found: Sequence[Found]) -> float:
    return found[0].cosine if found else 0.0


def _by_likeness(likeness: NDArray[numpy.float64] | float, no: float, yes: float) -> NDArray[numpy.intp]:
    return numpy.where(likeness >= yes, 0, numpy.where(likeness >= no, 1, 2))


def _reply(gold: Gold, confidence: float, resting: Iterable[Found]) -> CardReply:
    return CardReply(CardAnswer(gold), confidence, tuple(hit.passage.text for hit in resting))


READERS: Mapping[Arm, Callable[[Sequence[Lesson]], Reader]] = {"similarity": learn_similarity, "weights": learn_weights}
