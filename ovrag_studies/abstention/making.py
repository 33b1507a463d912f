"""Cards made by the settings, with what is needed to look at them: names, clusters, and what shortcuts score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pyoxigraph import Literal, NamedNode

from ovrag_core.base.errors import CardError
from ovrag_core.base.project import project_file
from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.retrieval.embedding import Embedder
from ovrag_core.retrieval.vectors import VECTORS, kept_vectors
from ovrag_studies.abstention.card_making import Deck, make_cards, read_questions
from ovrag_studies.abstention.cards import LABELS, Card, is_iri
from ovrag_studies.abstention.clusters import clusters
from ovrag_studies.abstention.domain import load_domain
from ovrag_studies.abstention.experiments import open_source, plan_of
from ovrag_studies.abstention.names import names_of
from ovrag_studies.abstention.settings import Epistemic
from ovrag_studies.abstention.shortcuts import best, shortcuts

Names = Callable[[str], str]


def make(
    settings: Settings, embedder: Embedder, predicates: Sequence[str] = (), labels: Sequence[str] = ()
) -> tuple[Deck, Names, Mapping[str, str]]:
    """Cards on the main source, or on some predicates and labels of it; names and clusters of things by their IRIs.

    Raises CardError for an unknown label or where no cards can be made, GraphError and DomainError.
    """
    if unknown := [label for label in labels if label not in LABELS]:
        raise CardError(f"{unknown[0]} is no label of cards; known are {', '.join(LABELS)}")
    options = Epistemic.of(settings)
    source = next(iter(options.sources.values()))
    domain = load_domain(project_file(source.domain))
    store = open_source(source, domain)
    further = read_questions(project_file(source.wordings)) if source.wordings else None
    chosen = tuple(label for label in LABELS if label in labels) or LABELS
    plan = replace(plan_of(options.cards), labels=chosen)
    embed = partial(kept_vectors, embedder, folder=VECTORS)
    deck = make_cards(store, domain, plan, predicates=predicates, embed=embed, further=further)
    names = names_of(store, domain)
    return deck, lambda term: names.label(NamedNode(term) if is_iri(term) else Literal(term)), clusters(store, domain)


def cards_text(cards: Sequence[Card], groups: Mapping[str, str], names: Names, plan: Resampling) -> str:
    """What shortcuts score on cards, for people."""
    found = shortcuts(cards, plan, groups, names)
    lines = [f"the most frequent answer is right for {found[0].majority:.3f}; shortcuts:"]
    lines += [f"  {each.name}: {each.accuracy.value:.3f} ({each.gain:+.3f})" for each in found]
    return "\n".join([*lines, f"  best: {best(found).name}"])
