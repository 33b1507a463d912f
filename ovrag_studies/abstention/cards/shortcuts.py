"""Scores of guesses by the words of a question alone, without reading any fact.

Cards measure abstention only where such shortcuts stay near the share of the most frequent answer. Each is fitted to
the cards of all clusters but a fold's, and asked about that fold.
"""

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ovrag_core.evaluation import Estimate, Resampling, ratio, sums
from ovrag_studies.abstention.cards.card import Card

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A shortcut with its accuracy; `gain` is what that has above always giving the most frequent answer."""

    name: str
    accuracy: Estimate
    majority: float

    @property
    def gain(self) -> float:
        """Accuracy less the share of the most frequent answer."""
        return (self.accuracy.value or 0.0) - self.majority


def shortcuts(cards: Sequence[Card], plan: Resampling, clusters: Mapping[str, str] | None = None) -> list[Shortcut]:
    """Every shortcut on the cards; `clusters` by the IRI of a claim's subject. Raises ValueError without a card."""
    if not cards:
        raise ValueError("shortcuts need a card")
    groups = [(clusters or {}).get(card.claim.subjects[0], card.id) for card in cards]
    folds = [zlib.crc32(group.encode()) % FOLDS for group in groups]
    majority = max(Counter(card.gold for card in cards).values()) / len(cards)
    asked = sums([1.0] * len(cards), groups)
    texts = {
        "words of the question": [card.question for card in cards],
        "length of the question": [str(len(card.question.split())) for card in cards],
    }
    scored = []
    for name, read in texts.items():
        right = [float(card.gold == answer) for card, answer in zip(cards, _learned(read, cards, folds), strict=True)]
        scored.append(Shortcut(name, ratio(sums(right, groups), asked, plan), majority))
    return scored


def best(found: Sequence[Shortcut]) -> Shortcut:
    """The shortcut that gains most."""
    return max(found, key=lambda shortcut: shortcut.gain)


def _learned(texts: Sequence[str], cards: Sequence[Card], folds: Sequence[int]) -> list[str]:
    """Answers by a linear classifier of a bag of words and pairs of words, each fold's learned from the others."""
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415 - takes a second
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.model_selection import PredefinedSplit, cross_val_predict  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415

    gold = [str(card.gold) for card in cards]
    outside = [{answer for answer, f in zip(gold, folds, strict=True) if f != fold} for fold in set(folds)]
    if min(map(len, outside)) < 2:
        return [Counter(gold).most_common(1)[0][0]] * len(cards)
    bag = CountVectorizer(binary=True, ngram_range=(1, 2), token_pattern=r"\w+")
    model = make_pipeline(bag, LogisticRegression(max_iter=500))
    return list(map(str, cross_val_predict(model, texts, gold, cv=PredefinedSplit(folds))))
