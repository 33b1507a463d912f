"""All systems over a set of cards; and how often the right passage is found.

Nothing here knows what a domain is about: a graph, the domain's file and cards make an experiment.
"""

from __future__ import annotations

import contextvars
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ovrag_core.llm import Chat, without_surrogates
from ovrag_studies.abstention.arms.adapters import (
    Adapter,
    CardReply,
    ClaimGiven,
    Constant,
    GraphRag,
    Rag,
    StringOracle,
    facts_by_subject,
)
from ovrag_studies.abstention.arms.chat_adapters import ChatAlone, ChatLicensed
from ovrag_studies.abstention.arms.fact_sentences import about, rank
from ovrag_studies.abstention.arms.model_replies import CardAnswer
from ovrag_studies.abstention.arms.readers import (
    ByNames,
    BySimilarity,
    ByWeights,
    Learned,
    Lesson,
    Reader,
    learn,
    shipped,
)
from ovrag_studies.abstention.arms.world import CardWorld
from ovrag_studies.abstention.cards.card import Card
from ovrag_studies.abstention.records import CardRun, Record
from ovrag_studies.abstention.settings import Arm

DECIMALS = 4
READERS: Mapping[Arm, Callable[[Learned], Reader]] = {
    "similarity": BySimilarity,
    "names": ByNames,
    "weights": ByWeights,
}
CONSTANTS: Mapping[Arm, CardAnswer] = {
    "always_yes": CardAnswer.YES,
    "always_no": CardAnswer.NO,
    "always_unknown": CardAnswer.UNKNOWN,
}
CHAT: frozenset[Arm] = frozenset({"chat", "chat_licence"})


# -- arms -------------------------------------------------------------------------------------------------------------


def offline_arms(world: CardWorld, learned: Learned | None = None) -> dict[Arm, Adapter]:
    """The systems that ask no model, by name of the arm."""
    lesson = learned or shipped()
    oracle = StringOracle(world.names.label_of, facts_by_subject(world.shelf.passages))
    arms: dict[Arm, Adapter] = {arm: Constant(answer) for arm, answer in CONSTANTS.items()}
    arms["oracle"] = oracle
    arms |= {arm: Rag(world.shelf, reader(lesson)) for arm, reader in READERS.items()}
    arms["claim"] = ClaimGiven(world.store, world.domain)
    arms["licence"] = GraphRag(world.store, world.domain, world.names)
    return arms


def chat_arms(world: CardWorld, chat: Chat, *, temperature: float = 0.0, seed: int | None = 42) -> dict[Arm, Adapter]:
    """The systems that ask a chat model; a question is asked once for both."""
    alone = ChatAlone(chat, temperature=temperature, seed=seed)
    return {"chat": alone, "chat_licence": ChatLicensed(alone, world.store, world.domain, world.names)}


class Folded:
    """One system that is another for each card, as it learned from the cards of other clusters only."""

    def __init__(self, adapters: Mapping[str, Adapter]) -> None:
        """`adapters` by the ids of cards; all have the same name."""
        self._adapters = adapters
        self.name = next(iter(adapters.values())).name

    def answer(self, card: Card) -> CardReply:
        """See `Adapter.answer`."""
        return self._adapters[card.id].answer(card)


def crossfit_arms(world: CardWorld, cards: Sequence[Card], folds: int = 5) -> dict[Arm, Adapter]:
    """The readers as they learn from these cards, each card read by what the other folds of clusters taught.

    Raises CardError where the other folds lack cards of one answer.
    """
    fold_of = _folds({world.cluster(card) for card in cards}, folds)
    placed = {card.id: fold_of[world.cluster(card)] for card in cards}
    taught = list(zip(cards, lessons(world, cards), strict=True))
    learned = {
        fold: learn([lesson for card, lesson in taught if placed[card.id] != fold], f"all folds but {fold}")
        for fold in sorted(set(placed.values()))
    }
    arms: dict[Arm, Adapter] = {}
    for arm, reader in READERS.items():
        systems = {fold: Rag(world.shelf, reader(fitted)) for fold, fitted in learned.items()}
        arms[arm] = Folded({card.id: systems[placed[card.id]] for card in cards})
    return arms


def lessons(world: CardWorld, cards: Sequence[Card]) -> list[Lesson]:
    """Collect what readers learn from: the cards with the passages that are found for them."""
    world.shelf.prepare(card.question for card in cards)
    near, search = world.shelf.nearest, world.shelf.search
    return [Lesson(card.question, near(card.question), search(card.question), card.gold) for card in cards]


def _folds(clusters: Iterable[str], folds: int) -> dict[str, int]:
    """The fold of each cluster, dealt out in an order that nothing but the names decides."""
    ordered = sorted(clusters, key=lambda cluster: hashlib.sha256(cluster.encode("utf-8", "surrogatepass")).digest())
    return {cluster: i % folds for i, cluster in enumerate(ordered)}


# -- runs -------------------------------------------------------------------------------------------------------------


def run(world: CardWorld, cards: Sequence[Card], arms: Iterable[Adapter], *, at_once: int = 1) -> CardRun:
    """Every card answered in every arm; `at_once` cards at the same time, which only pays where a model is waited for.

    Raises ModelSetupError where no call of a model can succeed, DomainError or CardError for a claim that cannot be.
    """
    world.shelf.prepare(card.question for card in cards)
    records: list[Record] = []
    seconds: list[float] = []
    for arm in arms:
        for card, reply in zip(cards, _answers(arm, cards, at_once), strict=True):
            records.append(_record(card, arm.name, world.cluster(card), reply))
            seconds.append(reply.seconds)
    return CardRun(tuple(records), tuple(seconds))


def _answers(arm: Adapter, cards: Sequence[Card], at_once: int) -> Iterator[CardReply]:
    if at_once == 1:
        yield from map(arm.answer, cards)
        return
    # Each card in a copy of the context, where the tally of what a model costs is kept.
    contexts = [contextvars.copy_context() for _ in cards]
    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(lambda context, card: context.run(arm.answer, card), contexts, cards)


def _record(card: Card, arm: str, cluster: str, reply: CardReply) -> Record:
    return Record(
        id=card.id,
        arm=arm,
        subtype=card.subtype,
        phrasing=card.phrasing,
        cluster=cluster,
        gold=card.gold,
        answer=reply.answer,
        confidence=round(reply.confidence, DECIMALS),
        evidence=reply.evidence,
        detail=without_surrogates(reply.detail),
    )


# -- retrieval --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ranked:
    """Ranks of the right passage of a card, from 1; None where it is not among those found."""

    card: Card
    cluster: str
    fused: int | None
    vectors: int | None


def ranks(world: CardWorld, cards: Sequence[Card]) -> tuple[Ranked, ...]:
    """Ranks of the right passages of all cards that a fact settles: gold is YES or NO, and there is such a passage."""
    subjects = {p.fact[0] for p in world.shelf.passages}
    settled = [(card, topics) for card in cards if card.label != "U" and (topics := about(card, subjects))]
    world.shelf.prepare(card.question for card, _ in settled)
    return tuple(
        Ranked(
            card,
            world.cluster(card),
            rank(topics, world.shelf.search(card.question)),
            rank(topics, world.shelf.nearest(card.question)),
        )
        for card, topics in settled
    )
