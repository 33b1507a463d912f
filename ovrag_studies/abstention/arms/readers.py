"""Readers of passages: what the retrieved text says of a question, and how sure that is. They know no graph.

One goes by the likeness of question and best passage, the other by a logistic regression over that and the names that
question and passages share. Both learn from cards with gold answers.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from ovrag_studies.abstention.arms.fact_sentences import Found, mentions, words
from ovrag_studies.abstention.arms.model_replies import CardAnswer, CardReply
from ovrag_studies.abstention.cards.card import GOLD, Gold
from ovrag_studies.abstention.knowledge.likeness import bare
from ovrag_studies.abstention.settings import Arm

BINS = 4  # of likeness, in each of which the share of right answers is counted
STRENGTH = 0.3  # C of the logistic regression
DECIMALS = 4
_WORD = re.compile(r"\w+")

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

    `said` hold both names of the question. Of `steps` the second goes on where the first ends. `about` are titled by a
    name of the question and say something else; `others` counts their titles. `namesakes`: titles share a name that the
    question gives without brackets. `unknown` counts words but the first that begin like a name (with a capital or a
    figure) and stand in no passage. The first name is the one that stands where passages have their titles.
    """

    def __init__(self, question: str, found: Sequence[Found]) -> None:
        titles = [words(hit.passage.title) for hit in found]
        objects = [words(hit.passage.object_name) for hit in found]
        shorts = [words(bare(hit.passage.title)) for hit in found]
        names = {*titles, *shorts, *objects} - {()}
        positions = mentions(words(question), names, max(map(len, names), default=0))
        starts = [positions.get(title, positions.get(short)) for title, short in zip(titles, shorts, strict=True)]
        ends = [positions.get(name) for name in objects]
        titled = {i: start for i, start in enumerate(starts) if start is not None}
        self.said = tuple(i for i, start in titled.items() if ends[i] not in (None, start))
        self.about = tuple(i for i in titled if i not in self.said)
        self.others = len({titles[i] for i in self.about} - {titles[i] for i in self.said})
        goes_on = (
            (step, after)
            for step in titled
            for after, end in enumerate(ends)
            if step != after and end is not None and objects[step] == titles[after]
        )
        self.steps = next(goes_on, ())
        text = found[0].passage.text if found else ""  # which begins with its title, or with the object
        title_leads = not found or text.find(found[0].passage.title) <= text.rfind(found[0].passage.object_name)
        # The title of the first passage that says it stands in the question before its object.
        title_first = bool(self.said) and titled[self.said[0]] < (ends[self.said[0]] or 0)
        self.said_in_order = bool(self.said) and title_first == title_leads
        order = sorted(positions.values(), reverse=not title_leads)
        self.named = len(order)
        self.last_titled = bool({*order[-1:]} & {*titled.values()})
        bearers = [{title for title, short in zip(titles, shorts, strict=True) if short == name} for name in positions]
        self.namesakes = any(len(of) > 1 for name, of in zip(positions, bearers, strict=True) if name not in titles)
        passage_words = {word for hit in found for word in words(hit.passage.text)}
        like_names = [word for word in _WORD.findall(question)[1:] if not word[0].islower()]
        self.unknown = sum(not passage_words.issuperset(words(word)) for word in like_names)


def features(question: str, found: Sequence[Found]) -> dict[str, float]:
    """The numbers that the regression weighs, by their names."""
    signals = Signals(question, found)
    alone = bool(signals.about) and not signals.said
    return {
        "said in this order": signals.said_in_order,
        "said in the other order": bool(signals.said) and not signals.said_in_order,
        "said in two steps": bool(signals.steps) and not signals.said,
        "other titles that are named": min(2, signals.others),
        "last name is a title": alone and signals.last_titled and signals.named > 1,
        "last name is no title": alone and not signals.last_titled,
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
    candidates = [(no, yes) for no in steps for yes in steps if no <= yes]
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
    return CardReply(CardAnswer(gold), round(confidence, DECIMALS), tuple(hit.passage.text for hit in resting))


READERS: Mapping[Arm, Callable[[Sequence[Lesson]], Reader]] = {"similarity": learn_similarity, "weights": learn_weights}
