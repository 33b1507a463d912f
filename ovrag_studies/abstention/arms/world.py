"""A graph as systems see it, and the cards that are asked of it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ovrag_core.base import CardError, project_file, read_lines
from ovrag_core.graph import EmbeddedStore, Store
from ovrag_core.retrieval import VECTORS, Embedder, kept_vectors
from ovrag_studies.abstention.arms.fact_sentences import FactShelf, verbalise
from ovrag_studies.abstention.cards.card import Card, read_cards
from ovrag_studies.abstention.cards.card_making import Deck, make_cards, visible
from ovrag_studies.abstention.knowledge.domain import Domain, load_domain
from ovrag_studies.abstention.knowledge.known import clusters, open_with_domain
from ovrag_studies.abstention.parsing.name_index import Names, names_of
from ovrag_studies.abstention.settings import Cards, GraphSource


@dataclass(frozen=True, slots=True)
class CardWorld:
    """A graph as systems see it: as triples, as names, and as passages. `clusters` are those of all its things."""

    store: Store
    domain: Domain
    names: Names
    shelf: FactShelf
    clusters: Mapping[str, str]

    def cluster(self, card: Card) -> str:
        """The cluster that a card belongs to: that of its subject, or the subject itself."""
        subject = card.claim.subjects[0]
        return self.clusters.get(subject, subject)


def open_source(source: GraphSource) -> tuple[Domain, Store]:
    """The domain of a source, and its whole graph. Raises DomainError, GraphError, Unchecked."""
    domain = load_domain(project_file(source.domain))
    return domain, open_with_domain(source.graph, domain)


def open_world(
    source: GraphSource, embedder: Embedder, folder: Path = VECTORS, hidden: Collection[str] = frozenset()
) -> CardWorld:
    """The graph and domain of a source, without the facts of subjects that the source or `hidden` names.

    Raises GraphError, DomainError, Unchecked, and CardError for a file of hidden subjects that is none.
    """
    domain, whole = open_source(source)
    store, unseen = whole, frozenset(hidden) | (read_hidden(project_file(source.hidden)) if source.hidden else set())
    if unseen:
        if not isinstance(whole, EmbeddedStore):
            raise CardError(
                "facts of an endpoint cannot be hidden; give a graph in a file, or cards that need none hidden"
            )
        store = visible(whole, domain, unseen)
    shelf = FactShelf(verbalise(store, domain), embedder, folder)
    # What is hidden from systems still joins what it joins.
    return CardWorld(store, domain, names_of(store, domain), shelf, clusters(whole, domain))


def deal(source: GraphSource, plan: Cards, embedder: Embedder) -> tuple[CardWorld, tuple[Card, ...]]:
    """The cards of a source, read or made by the plan, and the graph that they are asked of.

    Raises CardError for cards that cannot be used, and what `open_world` raises.
    """
    if source.cards is not None:
        return open_world(source, embedder), read_cards(project_file(source.cards))
    deck = make_deck(source, plan, embedder)
    return open_world(source, embedder, hidden=deck.hidden), deck.cards


def make_deck(source: GraphSource, plan: Cards, embedder: Embedder) -> Deck:
    """Cards made from the whole graph of a source. Raises CardError where none can be made, GraphError, DomainError."""
    domain, store = open_source(source)
    return make_cards(store, domain, plan, partial(kept_vectors, embedder))


def read_hidden(path: Path) -> frozenset[str]:
    """The IRIs in a file, one a line. Raises CardError where it cannot be read or holds something else."""
    lines = dict(read_lines(path, CardError, "name a file of IRIs, one a line"))
    for number, line in lines.items():
        if "://" not in line or len(line.split()) != 1:
            raise CardError(f"{path}, line {number} is no IRI; give the IRI of one subject a line")
    return frozenset(line.strip() for line in lines.values())
