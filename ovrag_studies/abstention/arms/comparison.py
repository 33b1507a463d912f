"""All systems over a set of cards; and how often the right passage is found."""

import contextvars
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pandas

from ovrag_core.base import CardError
from ovrag_core.llm import Chat, without_surrogates
from ovrag_studies.abstention.arms import adapters
from ovrag_studies.abstention.arms.adapters import Adapter
from ovrag_studies.abstention.arms.fact_sentences import about, rank
from ovrag_studies.abstention.arms.readers import READERS, Lesson, Reader
from ovrag_studies.abstention.arms.world import CardWorld
from ovrag_studies.abstention.cards.card import GOLD, Card
from ovrag_studies.abstention.records import CardReply, CardRun, Record
from ovrag_studies.abstention.settings import Arm

DECIMALS = 4
CHAT: frozenset[Arm] = frozenset({"chat", "chat_licence"})


def offline_arms(world: CardWorld) -> dict[Arm, Adapter]:
    """The systems that neither learn nor ask a model, by name of the arm."""
    return {
        "oracle": adapters.string_oracle(world.names, world.shelf.passages, world.domain),
        "claim": adapters.claim_given(world.store, world.domain),
        "licence": adapters.graph_rag(world.store, world.domain, world.names),
    }


def chat_arms(world: CardWorld, chat: Chat, *, seed: int | None = 42) -> dict[Arm, Adapter]:
    """The systems that ask a chat model; a question is asked once for both."""
    alone = adapters.chat_alone(chat, seed=seed)
    return {"chat": alone, "chat_licence": adapters.chat_licensed(alone, world.store, world.domain, world.names)}


def crossfit_arms(world: CardWorld, cards: Sequence[Card], folds: int = 5) -> dict[Arm, Adapter]:
    """The readers as they learn from these cards, each card read by what the other folds of clusters taught.

    Raises CardError where the other folds lack cards of one answer.
    """
    # Clusters are dealt out in an order that nothing but their names decides.
    clusters = {world.cluster(card) for card in cards}
    ordered = sorted(clusters, key=lambda cluster: hashlib.sha256(cluster.encode("utf-8", "surrogatepass")).digest())
    fold_of_cluster = {cluster: i % folds for i, cluster in enumerate(ordered)}
    fold_of = {card.id: fold_of_cluster[world.cluster(card)] for card in cards}
    world.shelf.prepare(card.question for card in cards)
    near, search = world.shelf.nearest, world.shelf.search
    lessons = {card.id: Lesson(card.question, near(card.question), search(card.question), card.gold) for card in cards}
    readers: dict[tuple[Arm, int], Reader] = {}
    for fold in sorted(set(fold_of.values())):
        others = [lesson for card, lesson in lessons.items() if fold_of[card] != fold]
        if missing := [gold for gold in GOLD if all(lesson.gold != gold for lesson in others)]:
            raise CardError(
                f"readers cannot learn from {len(others)} cards without any of gold {missing[0]}; give some, or take "
                f"{' and '.join(READERS)} out of studies.epistemic.arms"
            )
        readers |= {(arm, fold): learn(others) for arm, learn in READERS.items()}

    def crossed(arm: Arm) -> Adapter:
        return adapters.rag(arm, world.shelf, lambda card: readers[arm, fold_of[card.id]])

    return {arm: crossed(arm) for arm in READERS}


def run(world: CardWorld, cards: Sequence[Card], arms: Iterable[Adapter], *, at_once: int = 1) -> CardRun:
    """Every card answered in every arm; `at_once` cards at the same time, which only pays where a model is waited for.

    Raises ModelSetupError where no call of a model can succeed, DomainError or CardError for a claim that cannot be.
    """
    world.shelf.prepare(card.question for card in cards)
    replies = [(arm, *pair) for arm in arms for pair in zip(cards, _answers(arm, cards, at_once), strict=True)]
    records = tuple(
        Record(
            id=card.id,
            arm=arm.name,
            subtype=card.subtype,
            cluster=world.cluster(card),
            gold=card.gold,
            answer=reply.answer,
            confidence=round(reply.confidence, DECIMALS),
            evidence=reply.evidence,
            detail=without_surrogates(reply.detail),
        )
        for arm, card, reply in replies
    )
    return CardRun(records, tuple(reply.seconds for *_, reply in replies))


def _answers(arm: Adapter, cards: Sequence[Card], at_once: int) -> Iterator[CardReply]:
    # Each card in a copy of the context, where the tally of what a model costs is kept.
    contexts = [contextvars.copy_context() for _ in cards]
    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(lambda context, card: context.run(arm.answer, card), contexts, cards)


def ranks(world: CardWorld, cards: Sequence[Card]) -> pandas.DataFrame:
    """Rank, from 1, of the right passage of each card by each retrieval, with the card's `cluster`; none: not found.

    Of cards that a fact settles: gold is YES or NO, and there is such a passage.
    """
    subjects = {p.fact[0] for p in world.shelf.passages}
    settled = [(card, topics) for card in cards if card.label != "U" and (topics := about(card, subjects))]
    world.shelf.prepare(card.question for card, _ in settled)
    ways = {"words and vectors": world.shelf.search, "vectors alone": world.shelf.nearest}
    return pandas.DataFrame(
        [
            {"cluster": world.cluster(card)} | {way: rank(topics, find(card.question)) for way, find in ways.items()}
            for card, topics in settled
        ],
        columns=["cluster", *ways],
    )
