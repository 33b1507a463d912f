"""The whole study by the settings: every source's cards asked of every arm, once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

from ovrag_core.base import DomainError, Settings, SettingsError, Usage, project_file
from ovrag_core.llm import Chat, open_chat, tally
from ovrag_core.retrieval import Embedder
from ovrag_studies.abstention.arms import comparison
from ovrag_studies.abstention.arms.adapters import Adapter
from ovrag_studies.abstention.arms.readers import READERS
from ovrag_studies.abstention.arms.world import CardWorld, deal
from ovrag_studies.abstention.cards.card import LABELS, Card
from ovrag_studies.abstention.measures import CardOutcome
from ovrag_studies.abstention.records import CardRun
from ovrag_studies.abstention.settings import DOMAINS, Arm, Epistemic, GraphSource


@dataclass(frozen=True)
class Answered:
    """The cards of a source that were asked, what every arm said of them, and what a chat model used for it."""

    name: str
    source: GraphSource
    world: CardWorld
    cards: tuple[Card, ...]
    run: CardRun
    usage: Usage = field(default_factory=Usage)

    @cached_property
    def outcomes(self) -> Mapping[str, tuple[CardOutcome, ...]]:
        """Outcomes by arm, in the order of cards."""
        return {arm: tuple(record.outcome() for record in records) for arm, records in self.run.by_arm().items()}

    @property
    def clusters(self) -> int:
        """Number of clusters of cards that intervals resample."""
        return len({self.world.cluster(card) for card in self.cards})


def answer(settings: Settings, embedder: Embedder, most: int | None = None) -> list[Answered]:
    """Every source of the settings, the main one first, or so many; the cards of the sample asked of all arms."""
    options = Epistemic.of(settings)
    answered: list[Answered] = []
    with open_chat(settings.llm) as chat:
        at_once = settings.llm.concurrency if chat is not None else 1
        for name, source in islice(options.sources.items(), most):
            world, dealt = deal(source, options.cards, embedder)
            systems = make_arms(world, dealt, options.arms, chat, settings.llm.seed)
            cards = tuple(options.sampled(dealt))
            with tally() as spent:
                card_run = comparison.run(world, cards, systems.values(), at_once=at_once)
            answered.append(Answered(name, source, world, cards, card_run, spent.usage))
    return answered


def size(answered: Answered) -> str:
    """Describe in a line how much a source has."""
    facts, arms = len(answered.world.shelf.passages), len(answered.outcomes)
    return f"{answered.name}: {len(answered.cards)} cards in {answered.clusters} clusters, {facts} facts, {arms} arms"


def examples(answered: Answered) -> list[str]:
    """The question of the first card of each label."""
    question_of = {card.label: card.question for card in reversed(answered.cards)}
    return [question_of[label] for label in LABELS if label in question_of]


def make_arms(
    world: CardWorld, cards: Sequence[Card], arms: Sequence[Arm], chat: Chat | None = None, seed: int | None = 42
) -> dict[Arm, Adapter]:
    """The systems that are asked, in the order of `arms`; those that ask a chat model only where there is one.

    Raises SettingsError where nothing is left.
    """
    available = comparison.offline_arms(world)
    if set(arms) & set(READERS):
        available |= comparison.crossfit_arms(world, cards)
    if chat is not None:
        available |= comparison.chat_arms(world, chat, seed=seed)
    chosen = {arm: available[arm] for arm in arms if arm in available}
    if not chosen:
        names = ", ".join(sorted(comparison.CHAT))
        raise SettingsError(f"studies.epistemic.arms has only arms that ask a chat model ({names}); set llm.provider")
    return chosen


def find_domain(name: str) -> Path:
    """The file of a domain, by its path or the name of a bundled one. Raises DomainError where there is none."""
    bundled = sorted(path.stem for path in project_file(DOMAINS).glob("*.yaml"))
    if name in bundled:
        return project_file(DOMAINS / f"{name}.yaml")
    path = project_file(Path(name))
    if not path.is_file():
        raise DomainError(f"{name} is no file of a domain; name one, or one of the bundled: {', '.join(bundled)}")
    return path
