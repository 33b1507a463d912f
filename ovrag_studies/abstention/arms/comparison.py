"""All systems over a set of cards; and how often the right passage is found."""

import contextvars
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ovrag_core.llm import Chat, without_surrogates
from ovrag_studies.abstention.arms import adapters
from ovrag_studies.abstention.arms.adapters import Adapter
from ovrag_studies.abstention.arms.fact_sentences import about, rank
from ovrag_studies.abstention.arms.model_replies import CardAnswer, CardReply
from ovrag_studies.abstention.arms.readers import READERS, Learned, Lesson, learn, shipped
from ovrag_studies.abstention.arms.world import CardWorld
from ovrag_studies.abstention.cards.card import Card
from ovrag_studies.abstention.records import CardRun, Record
from ovrag_studies.abstention.settings import Arm

DECIMALS = 4
CONSTANTS: Mapping[Arm, CardAnswer] = {
    "always_yes": CardAnswer.YES,
    "always_no": CardAnswer.NO,
    "always_unknown": CardAnswer.UNKNOWN,
}
CHAT: frozenset[Arm] = frozenset({"chat", "chat_licence"})


# -- arms -------------------------------------------------------------------------------------------------------------


def offline_arms(world: CardWorld, learned: Learned | None = None) -> dict[Arm, Adapter]:
    """The systems that ask no model, by name of the arm."""
    facts_of = adapters.facts_by_subject(world.shelf.passages)
    arms: dict[Arm, Adapter] = {arm: adapters.constant(answer) for arm, answer in CONSTANTS.items()}
    arms["oracle"] = adapters.string_oracle(world.names.label_of, facts_of)
    fitted = learned or shipped()
    arms |= {arm: adapters.rag(arm, world.shelf, reader, fitted) for arm, reader in READERS.items()}
    arms["claim"] = adapters.claim_given(world.store, world.domain)
    arms["licence"] = adapters.graph_rag(world.store, world.domain, world.names)
    return arms


def chat_arms(world: CardWorld, chat: Chat, *, seed: int | None = 42) -> dict[Arm, Adapter]:
    """The systems that ask a chat model; a question is asked once for both."""
    alone = adapters.chat_alone(chat, seed=seed)
    return {"chat": alone, "chat_licence": adapters.chat_licensed(alone, world.store, world.domain, world.names)}


def crossfit_arms(world: CardWorld, cards: Sequence[Card], folds: int = 5) -> dict[Arm, Adapter]:
    """The readers as they learn from these cards, each card read by what the other folds of clusters taught.

    Raises CardError where the other folds lack cards of one answer.
    """
    fold_of_cluster = _folds({world.cluster(card) for card in cards}, folds)
    fold_of = {card.id: fold_of_cluster[world.cluster(card)] for card in cards}
    taught = list(zip(cards, lessons(world, cards), strict=True))
    learned = {
        fold: learn([lesson for card, lesson in taught if fold_of[card.id] != fold], f"all folds but {fold}")
        for fold in sorted(set(fold_of.values()))
    }

    def crossed(arm: Arm) -> Adapter:
        by_fold = {fold: adapters.rag(arm, world.shelf, READERS[arm], fitted) for fold, fitted in learned.items()}
        return Adapter(f"RAG by {arm}", lambda card: by_fold[fold_of[card.id]].answer(card))

    return {arm: crossed(arm) for arm in READERS}


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
