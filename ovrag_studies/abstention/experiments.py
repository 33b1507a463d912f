"""All systems over a set of cards; and how often the right passage is found.

Nothing here knows what a domain is about: a graph, the domain's file and cards make an experiment.
"""

from __future__ import annotations

import contextvars
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ovrag_core.base.errors import CardError
from ovrag_core.base.project import project_file
from ovrag_core.base.records import read_lines
from ovrag_core.graph import EmbeddedStore, Store
from ovrag_core.llm import Chat
from ovrag_core.llm.chat import without_surrogates
from ovrag_core.retrieval.embedding import Embedder
from ovrag_core.retrieval.vectors import VECTORS, kept_vectors
from ovrag_studies.abstention.adapters import (
    Adapter,
    ClaimGiven,
    Constant,
    GraphRag,
    Rag,
    Reply,
    StringOracle,
    facts_by_subject,
)
from ovrag_studies.abstention.card_making import Deck, Plan, make_cards, read_questions, visible
from ovrag_studies.abstention.cards import Card, read_cards
from ovrag_studies.abstention.chat_adapters import ChatAlone, ChatLicensed
from ovrag_studies.abstention.clusters import clusters
from ovrag_studies.abstention.domain import Domain, load_domain
from ovrag_studies.abstention.graphs import open_with_domain
from ovrag_studies.abstention.names import Names, names_of
from ovrag_studies.abstention.passages import TOP, Shelf, about, rank, verbalise
from ovrag_studies.abstention.readers import ByNames, BySimilarity, ByWeights, Learned, Lesson, Reader, learn, shipped
from ovrag_studies.abstention.records import Record, Run
from ovrag_studies.abstention.replies import Answer
from ovrag_studies.abstention.settings import Arm, Cards, Source

DECIMALS = 4
READERS: Mapping[Arm, Callable[[Learned], Reader]] = {
    "similarity": BySimilarity,
    "names": ByNames,
    "weights": ByWeights,
}
CONSTANTS: Mapping[Arm, Answer] = {
    "always_yes": Answer.YES,
    "always_no": Answer.NO,
    "always_unknown": Answer.UNKNOWN,
}
CHAT: frozenset[Arm] = frozenset({"chat", "chat_licence"})


@dataclass(frozen=True, slots=True)
class World:
    """A graph as systems see it: as triples, as names, and as passages. `clusters` are those of all its things."""

    store: Store
    domain: Domain
    names: Names
    shelf: Shelf
    clusters: Mapping[str, str]

    def cluster(self, card: Card) -> str:
        """The cluster that a card belongs to: that of its subject, or the subject itself."""
        subject = card.claim.subjects[0]
        return self.clusters.get(subject, subject)


def open_world(
    source: Source, embedder: Embedder, folder: Path = VECTORS, hidden: Collection[str] = frozenset()
) -> World:
    """The graph and domain of a source, without the facts of subjects that the source or `hidden` names.

    Raises GraphError, DomainError, Unchecked, and CardError for a file of hidden subjects that is none.
    """
    domain = load_domain(project_file(source.domain))
    unseen = frozenset(hidden) | (read_hidden(project_file(source.hidden)) if source.hidden else frozenset())
    whole = open_source(source, domain)
    store = _without(whole, domain, unseen)
    shelf = Shelf(verbalise(store, domain), embedder, folder)
    # What is hidden from systems still joins what it joins.
    return World(store, domain, names_of(store, domain), shelf, clusters(whole, domain))


def _without(whole: Store, domain: Domain, hidden: frozenset[str]) -> Store:
    if not hidden:
        return whole
    if not isinstance(whole, EmbeddedStore):
        raise CardError("facts of an endpoint cannot be hidden; give a graph in a file, or cards that need none hidden")
    return visible(whole, domain, hidden)


def open_source(source: Source, domain: Domain) -> Store:
    """The whole graph of a source. Raises GraphError, also for one that has nothing of the domain."""
    return open_with_domain(source.graph if "://" in source.graph else project_file(Path(source.graph)), domain)


def deal(source: Source, plan: Plan, embedder: Embedder, folder: Path = VECTORS) -> tuple[World, tuple[Card, ...]]:
    """The cards of a source, read or made by the plan, and the graph that they are asked of.

    Raises CardError for cards that cannot be used, and what `open_world` raises.
    """
    if source.cards is not None:
        return open_world(source, embedder, folder), read_cards(project_file(source.cards))
    deck = make_deck(source, plan, embedder, folder)
    return open_world(source, embedder, folder, deck.hidden), deck.cards


def make_deck(
    source: Source, plan: Plan, embedder: Embedder, folder: Path = VECTORS, predicates: Sequence[str] = ()
) -> Deck:
    """Cards made from the whole graph of a source. Raises CardError where none can be made, GraphError, DomainError."""
    domain = load_domain(project_file(source.domain))
    further = read_questions(project_file(source.wordings)) if source.wordings else None
    embed = partial(kept_vectors, embedder, folder=folder)
    return make_cards(open_source(source, domain), domain, plan, predicates=predicates, embed=embed, further=further)


def plan_of(options: Cards) -> Plan:
    """How cards are made by the settings."""
    return Plan(options.each, options.seed, options.hidden, options.chains, options.context)


def read_hidden(path: Path) -> frozenset[str]:
    """The IRIs in a file, one a line. Raises CardError where it cannot be read or holds something else."""
    found = dict(read_lines(path, CardError, "name a file of IRIs, one a line"))
    for number, line in found.items():
        if "://" not in line or len(line.split()) != 1:
            raise CardError(f"{path}, line {number} is no IRI; give the IRI of one subject a line")
    return frozenset(line.strip() for line in found.values())


# -- arms -------------------------------------------------------------------------------------------------------------


def offline_arms(world: World, learned: Learned | None = None, top: int = TOP) -> dict[Arm, Adapter]:
    """The systems that ask no model, by name of the arm."""
    lesson = learned or shipped()
    oracle = StringOracle(world.names.label_of, facts_by_subject(world.shelf.passages))
    arms: dict[Arm, Adapter] = {arm: Constant(answer) for arm, answer in CONSTANTS.items()}
    arms["oracle"] = oracle
    arms |= {arm: Rag(world.shelf, reader(lesson), top) for arm, reader in READERS.items()}
    arms["claim"] = ClaimGiven(world.store, world.domain)
    arms["licence"] = GraphRag(world.store, world.domain, world.names)
    return arms


def chat_arms(world: World, chat: Chat, *, temperature: float = 0.0, seed: int | None = 42) -> dict[Arm, Adapter]:
    """The systems that ask a chat model; a question is asked once for both."""
    alone = ChatAlone(chat, temperature=temperature, seed=seed)
    return {"chat": alone, "chat_licence": ChatLicensed(alone, world.store, world.domain, world.names)}


class Folded:
    """One system that is another for each card, as it learned from the cards of other clusters only."""

    def __init__(self, adapters: Mapping[str, Adapter]) -> None:
        """`adapters` by the ids of cards; all have the same name."""
        self._adapters = adapters
        self.name = next(iter(adapters.values())).name

    def answer(self, card: Card) -> Reply:
        """See `Adapter.answer`."""
        return self._adapters[card.id].answer(card)


def crossfit_arms(world: World, cards: Sequence[Card], folds: int = 5, top: int = TOP) -> dict[Arm, Adapter]:
    """The readers as they learn from these cards, each card read by what the other folds of clusters taught.

    Raises CardError where the other folds lack cards of one answer.
    """
    fold_of = _folds({world.cluster(card) for card in cards}, folds)
    placed = {card.id: fold_of[world.cluster(card)] for card in cards}
    taught = list(zip(cards, lessons(world, cards, top), strict=True))
    learned = {
        fold: learn([lesson for card, lesson in taught if placed[card.id] != fold], f"all folds but {fold}")
        for fold in sorted(set(placed.values()))
    }
    arms: dict[Arm, Adapter] = {}
    for arm, reader in READERS.items():
        systems = {fold: Rag(world.shelf, reader(each), top) for fold, each in learned.items()}
        arms[arm] = Folded({card.id: systems[placed[card.id]] for card in cards})
    return arms


def lessons(world: World, cards: Sequence[Card], top: int = TOP) -> list[Lesson]:
    """What readers learn from: the cards with the passages that are found for them."""
    world.shelf.prepare(card.question for card in cards)
    near, search = world.shelf.nearest, world.shelf.search
    return [Lesson(each.question, near(each.question, top), search(each.question, top), each.gold) for each in cards]


def _folds(clusters: Iterable[str], folds: int) -> dict[str, int]:
    """The fold of each cluster, dealt out in an order that nothing but the names decides."""
    ordered = sorted(clusters, key=lambda each: hashlib.sha256(each.encode("utf-8", "surrogatepass")).digest())
    return {cluster: place % folds for place, cluster in enumerate(ordered)}


# -- runs -------------------------------------------------------------------------------------------------------------


def run(world: World, cards: Sequence[Card], arms: Iterable[Adapter], *, at_once: int = 1) -> Run:
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
    return Run(tuple(records), tuple(seconds))


def _answers(arm: Adapter, cards: Sequence[Card], at_once: int) -> Iterator[Reply]:
    if at_once == 1:
        yield from map(arm.answer, cards)
        return
    # Each card in a copy of the context, where the tally of what a model costs is kept.
    contexts = [contextvars.copy_context() for _ in cards]
    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(lambda context, card: context.run(arm.answer, card), contexts, cards)


def _record(card: Card, arm: str, cluster: str, reply: Reply) -> Record:
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
    """Where the right passage of a card stands (from 1), None where it is not among those found."""

    card: Card
    cluster: str
    fused: int | None
    vectors: int | None


def ranks(world: World, cards: Sequence[Card], top: int = TOP) -> tuple[Ranked, ...]:
    """Ranks of the right passages of all cards that a fact settles: gold is YES or NO, and there is such a passage."""
    known = {each.fact[0] for each in world.shelf.passages}
    asked = [(card, things) for card in cards if card.label != "U" and (things := about(card, known))]
    world.shelf.prepare(card.question for card, _ in asked)
    return tuple(
        Ranked(
            card,
            world.cluster(card),
            rank(things, world.shelf.search(card.question, top)),
            rank(things, world.shelf.nearest(card.question, top)),
        )
        for card, things in asked
    )
