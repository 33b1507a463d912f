"""Cards made by the settings, and what shortcuts score on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ovrag_core.base.errors import CardError
from ovrag_core.base.project import project_file
from ovrag_core.retrieval.embedding import Embedder
from ovrag_studies.abstention.arms.world import make_deck, open_source, plan_of
from ovrag_studies.abstention.cards.card import LABELS, Card
from ovrag_studies.abstention.cards.card_making import Deck
from ovrag_studies.abstention.cards.shortcuts import best, shortcuts
from ovrag_studies.abstention.knowledge.clusters import clusters
from ovrag_studies.abstention.knowledge.domain import load_domain
from ovrag_studies.abstention.parsing.name_index import names_of
from ovrag_studies.abstention.settings import Epistemic


def make(options: Epistemic, embedder: Embedder, predicates: Sequence[str] = (), labels: Sequence[str] = ()) -> Deck:
    """Cards on the main source, or on some predicates and labels of it.

    Raises CardError for an unknown label or where no cards can be made, GraphError and DomainError.
    """
    if unknown := [label for label in labels if label not in LABELS]:
        raise CardError(f"{unknown[0]} is no label of cards; known are {', '.join(LABELS)}")
    chosen = tuple(label for label in LABELS if label in labels) or LABELS
    plan = replace(plan_of(options.cards), labels=chosen)
    return make_deck(next(iter(options.sources.values())), plan, embedder, predicates=predicates)


def shortcuts_text(cards: Sequence[Card], options: Epistemic) -> str:
    """What shortcuts score on cards of the main source, for people."""
    source = next(iter(options.sources.values()))
    domain = load_domain(project_file(source.domain))
    store = open_source(source, domain)
    found = shortcuts(cards, options.experiments.plan, clusters(store, domain), names_of(store, domain).label_of)
    lines = [f"the most frequent answer is right for {found[0].majority:.3f}; shortcuts:"]
    lines += [f"  {each.name}: {each.accuracy.value:.3f} ({each.gain:+.3f})" for each in found]
    return "\n".join([*lines, f"  best: {best(found).name}"])
