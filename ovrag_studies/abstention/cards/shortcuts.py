"""Scores that need no reading: by the number of facts beside a card, or by the words in it alone.

Cards measure abstention only where such shortcuts stay near the share of the most frequent answer. Each learned one is
fitted to the cards of all clusters but a fold's, and asked about that fold.
"""

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from ovrag_core.evaluation import Estimate, Resampling, ratio, sums
from ovrag_studies.abstention.cards.card import GOLD, Card, Gold
from ovrag_studies.abstention.knowledge.likeness import local_name

FOLDS = 5
DENIED = "DOES NOT"  # in a fact, as the published cards write that something is not in the database
EVIDENCE = "facts that name subject and object"
_FALLBACK: Gold = "UNKNOWN"
_WORD = re.compile(r"\w+")

Feature = Callable[[Card], Hashable]
Names = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A shortcut with its accuracy; `gain` is what that has above always giving the most frequent answer.

    `evidence`: it looks whether any fact is about the subject. Where none is, UNKNOWN is rightly said, so what it gains
    is not held against the cards.
    """

    name: str
    accuracy: Estimate
    majority: float
    evidence: bool = False

    @property
    def gain(self) -> float:
        """Accuracy less the share of the most frequent answer."""
        return (self.accuracy.value or 0.0) - self.majority


def shortcuts(
    cards: Sequence[Card], plan: Resampling, clusters: Mapping[str, str] | None = None, names: Names = local_name
) -> list[Shortcut]:
    """Every shortcut on a set of cards; `clusters` by the IRI of a claim's subject, `names` by the IRI of a thing.

    Shortcuts by facts are left out where no card has any. Raises ValueError without a card.
    """
    if not cards:
        raise ValueError("shortcuts need a card")
    answers: dict[str, list[Gold]] = {}
    groups = [(clusters or {}).get(card.claim.subjects[0], card.id) for card in cards]
    if any(card.facts for card in cards):
        answers["published rule on facts"] = [published_rule(card, names) for card in cards]
        answers["number of facts"] = _by_feature(cards, groups, lambda card: len(card.facts))
        answers["facts that name the object"] = _by_feature(
            cards, groups, lambda card: (len(card.facts), _naming(card, names), any(DENIED in f for f in card.facts))
        )
        answers[EVIDENCE] = _by_feature(cards, groups, lambda card: _both(card, names))
        answers["words of the facts"] = _by_words(cards, groups, lambda card: "\n".join(card.facts))
        answers["words of both"] = _by_words(cards, groups, lambda card: "\n".join((card.question, *card.facts)))
    answers["words of the question"] = _by_words(cards, groups, lambda card: card.question)
    answers["length of the question"] = _by_feature(cards, groups, lambda card: len(_WORD.findall(card.question)))
    majority = max(Counter(card.gold for card in cards).values()) / len(cards)
    asked = sums([1.0] * len(cards), groups)
    scored = []
    for name, predicted in answers.items():
        right = [float(card.gold == answer) for card, answer in zip(cards, predicted, strict=True)]
        scored.append(Shortcut(name, ratio(sums(right, groups), asked, plan), majority, name == EVIDENCE))
    return scored


def best(found: Sequence[Shortcut]) -> Shortcut:
    """The shortcut that gains most, of those that look at no evidence."""
    return max((s for s in found if not s.evidence), key=lambda s: s.gain)


def published_rule(card: Card, names: Names = local_name) -> Gold:
    """Two facts: NO. One that names the object: YES. Else UNKNOWN. It is right on nearly all published cards."""
    if len(card.facts) == 2:
        return "NO"
    return "YES" if len(card.facts) == 1 and _naming(card, names) else "UNKNOWN"


def _naming(card: Card, names: Names) -> int:
    """Count the facts that end with the name of the asked object."""
    object_words = _words(names(card.claim.obj))
    return sum(bool(object_words) and _words(fact)[-len(object_words) :] == object_words for fact in card.facts)


def _both(card: Card, names: Names) -> tuple[int, int]:
    """Count facts that begin with the subject's name, or with one of several, and facts that end with the object's."""
    subjects = [_words(names(iri)) for iri in card.claim.subjects]
    begun = sum(any(_words(fact)[: len(name)] == name for name in subjects if name) for fact in card.facts)
    return begun, _naming(card, names)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _fold(group: str) -> int:
    return zlib.crc32(group.encode()) % FOLDS


def _by_feature(cards: Sequence[Card], groups: Sequence[str], feature: Feature) -> list[Gold]:
    """The most frequent answer to cards of other folds with the same feature, or to all where there are none."""
    tables: list[defaultdict[Hashable, Counter[Gold]]] = [defaultdict(Counter) for _ in range(FOLDS)]
    for card, group in zip(cards, groups, strict=True):
        for fold, table in enumerate(tables):
            if fold != _fold(group):
                table[feature(card)][card.gold] += 1
                table[None][card.gold] += 1
    asked = [(tables[_fold(group)], feature(card)) for card, group in zip(cards, groups, strict=True)]
    return [_most(table[value if value in table else None]) for table, value in asked]


def _most(counts: Mapping[Gold, int]) -> Gold:
    """The most frequent answer, the first by name where several are."""
    return max(sorted(counts), key=lambda gold: counts[gold], default=_FALLBACK)


def _by_words(cards: Sequence[Card], groups: Sequence[str], text: Callable[[Card], str]) -> list[Gold]:
    """A linear classifier of a bag of words and pairs of words, by folds."""
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415 - takes a second
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.model_selection import PredefinedSplit, cross_val_predict  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415

    folds, gold = [_fold(group) for group in groups], [card.gold for card in cards]
    outside = [{answer for answer, f in zip(gold, folds, strict=True) if f != fold} for fold in set(folds)]
    if min(map(len, outside)) < 2:
        return [_most(Counter(gold))] * len(cards)
    bag = CountVectorizer(binary=True, ngram_range=(1, 2), token_pattern=r"\w+")
    model = make_pipeline(bag, LogisticRegression(max_iter=500))
    predicted = cross_val_predict(model, [text(card) for card in cards], gold, cv=PredefinedSplit(folds))
    return [next(answer for answer in GOLD if answer == label) for label in predicted]
