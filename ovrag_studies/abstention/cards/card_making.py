"""Cards made from a graph and a domain: as many of E, C and U, in several wordings.

What decides a card is the licence on the visible graph: the facts of some subjects are hidden, and are what U
cards ask about. Labels are alike in all that does not decide them.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice, product

import numpy
from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.base import CardError
from ovrag_core.graph import LABEL, TYPE, EmbeddedStore, Store
from ovrag_core.retrieval import Vectors
from ovrag_studies.abstention.cards.card import GOLD_OF, LABELS, Card, CardClaim, Label
from ovrag_studies.abstention.cards.card_kinds import NEAREST, Kind, Nearest, Proposal, View, kinds_of
from ovrag_studies.abstention.knowledge.domain import Domain, Predicate, fill
from ovrag_studies.abstention.knowledge.known import pairs_of
from ovrag_studies.abstention.knowledge.likeness import bare
from ovrag_studies.abstention.licensing.licence import Licence, license_any
from ovrag_studies.abstention.parsing.claim_reader import GraphClaim
from ovrag_studies.abstention.settings import Cards

_TRIES = 40  # proposals looked at for one card
_SPARE = 3  # claims found for one card, of which the best are taken
_RARE = 10  # of so many cards of a label, one may be of a rare kind
_INVERSE = 3  # every third question is asked the other way round
_LABELLED: Mapping[Label, str] = {"E": "entailed", "C": "contradicted", "U": "neither"}

Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Deck:
    """Cards, and the IRIs of the subjects whose facts must be hidden from the graph before they are asked.

    `lacking` says on which predicates there are no cards, as the graph has no claim for one of the labels.
    """

    cards: tuple[Card, ...]
    hidden: tuple[str, ...]
    lacking: tuple[str, ...] = ()


_Draft = tuple[Kind, Proposal, Licence]
_Drafts = Mapping[tuple[Label, bool], list[list[_Draft]]]  # by label, and if they are on chains; then by kind


def make_cards(store: Store, domain: Domain, plan: Cards, embed: Embed) -> Deck:
    """Cards on all predicates that the graph has facts of; `embed` gives names their vectors, for near misses.

    Raises CardError for a graph without such facts, and for a predicate with nothing declared that could contradict it.
    """
    # What the domain knows of the graph, in this process, so that facts can be hidden.
    iris = [*(predicate.node for predicate in domain.predicates.values()), TYPE, LABEL]
    graph = EmbeddedStore(Triple(subject, iri, value) for iri in iris for subject, value in pairs_of(store, iri))
    chosen = _chosen(graph, domain)
    chance = random.Random(plan.seed)
    subjects = sorted({subject.value for p in chosen for subject, _ in pairs_of(graph, p.node)})
    hidden = frozenset(chance.sample(subjects, round(plan.hidden * len(subjects))))
    visible_graph = visible(graph, domain, hidden)
    cards: list[Card] = []
    lacking: list[str] = []
    for predicate in chosen:
        view = View(graph, visible_graph, domain, predicate, _nearest(graph, predicate, embed))
        prefix = f"{predicate.name}_" if len(chosen) > 1 else ""
        drafts: _Drafts = {key: [] for key in product(LABELS, (False, True))}
        for kind in kinds_of(predicate):
            drafts[kind.label, kind.chain].append(_drafts(kind, view, plan))
        if missing := next((label for label in LABELS if not any(drafts[label, False])), None):
            lacking.append(f"{predicate.name}: the graph has no claim that is {_LABELLED[missing]}")
            continue
        new_cards = _cards(drafts, view, plan)
        cards += (replace(card, id=f"{prefix}{card.subtype}_{number:04d}") for number, card in enumerate(new_cards))
    if not cards:
        raise CardError(f"no cards can be made of {'; '.join(lacking)}; give a larger graph")
    return Deck(tuple(cards), tuple(sorted(hidden)), tuple(lacking))


def visible(store: EmbeddedStore, domain: Domain, hidden: frozenset[str]) -> EmbeddedStore:
    """The graph without what its predicates say of the hidden subjects; their names and classes stay."""
    subjects = [NamedNode(iri) for iri in hidden]
    iris = [predicate.node for predicate in domain.predicates.values()]
    return store.without(fact for subject in subjects for iri in iris for fact in store.triples(subject, iri))


def _chosen(graph: EmbeddedStore, domain: Domain) -> list[Predicate]:
    chosen = [p for p in domain.predicates.values() if pairs_of(graph, p.node)]
    if not chosen:
        raise CardError(f"the graph has no fact under a predicate of {domain.name}; is it another domain's graph?")
    for predicate in chosen:
        if not predicate.questions:
            raise CardError(f"{predicate.name} has no question in the domain {domain.name}; give it one")
        if not predicate.constraints and not predicate.complete:
            raise CardError(
                f"{predicate.name} has no declared constraint, so nothing contradicts a claim and no C card can be "
                "made; declare one in the domain"
            )
    return chosen


def _nearest(graph: EmbeddedStore, predicate: Predicate, embed: Embed) -> Nearest:
    """Names of things of the predicate's facts by nearness to one of them."""
    nodes = {node for pair in pairs_of(graph, predicate.node) for node in pair}
    labels = {label for subject, label in pairs_of(graph, LABEL) if subject in nodes} | nodes
    names = sorted({label.value for label in labels if isinstance(label, Literal)})
    vectors = embed(names)
    places = {name: i for i, name in enumerate(names)}

    def nearest(name: str) -> list[str]:
        if name not in places:
            return []
        likeness = numpy.round(vectors @ vectors[places[name]], 5)
        order = numpy.argsort(-likeness, kind="stable")[: NEAREST + 1]
        return [names[i] for i in order if names[i] != name]

    return nearest


def _cards(drafts: _Drafts, view: View, plan: Cards) -> Iterator[Card]:
    """As many cards of each label, the direct ones first; every label goes through the wordings in the same order."""
    direct, chained = (min(sum(map(len, drafts[label, chain])) for label in LABELS) for chain in (False, True))
    chained = min(round(plan.each * plan.chains), chained)
    direct = min(plan.each - chained, direct)
    predicate = view.predicate
    ways = {"direct": predicate, "inverse": predicate.inverse, "chain": predicate.chain}
    for label in LABELS:
        wordings = {way: cycle(wording.questions if wording else ()) for way, wording in ways.items()}
        chosen = [*_shares(drafts[label, False], direct), *_shares(drafts[label, True], chained)]
        for number, draft in enumerate(chosen):
            yield _card(draft, view, wordings, number)


def _drafts(kind: Kind, view: View, plan: Cards) -> list[_Draft]:
    """Claims of a kind with the licence that it is built for: first those with known objects and unasked subjects."""
    chance = random.Random(f"{plan.seed} {view.predicate.name} {kind.name}")
    relation = view.predicate.chain.name if kind.chain and view.predicate.chain else view.predicate.name
    ranked: dict[Proposal, tuple[bool, int, _Draft]] = {}
    times_asked = Counter[tuple[NamedNode, ...]]()
    best = 0
    for proposal in islice(kind.proposals(view, chance), plan.each * _TRIES):
        if best == plan.each or len(ranked) == plan.each * _SPARE:
            break
        subjects, value = proposal
        named = (value,) if len(subjects) > 1 else (value, *subjects)  # the name of several is meant to fit them all
        if proposal in ranked or value in subjects or not all(map(view.is_clear, named)):
            continue
        claims = [GraphClaim(subject, relation, value) for subject in subjects]
        licence = license_any(claims, view.visible, view.domain)
        if licence.verdict == GOLD_OF[kind.label] and kind.breaks in (None, licence.constraint):
            rank = (value not in view.sources, times_asked[subjects])
            ranked[proposal] = (*rank, (kind, proposal, licence))
            times_asked[subjects] += 1
            best += rank == (False, 0)
    ordered = sorted(ranked.values(), key=lambda r: r[:2])
    return [draft for _, _, draft in ordered][: plan.each // (_RARE if kind.rare else 1)]


def _shares(drafts: Sequence[Sequence[_Draft]], total: int) -> list[_Draft]:
    """So many drafts, as evenly over the kinds as they have them, kind by kind."""
    places = [(rank, kind) for kind, kind_drafts in enumerate(drafts) for rank in range(len(kind_drafts))]
    return [drafts[kind][rank] for kind, rank in sorted((kind, rank) for rank, kind in sorted(places)[:total])]


def _card(draft: _Draft, view: View, wordings: Mapping[str, Iterator[str]], number: int) -> Card:
    """The card of a draft, which is the `number`-th of its label; `wordings` by `direct`, `inverse` and `chain`."""
    kind, (subjects, value), licence = draft
    turned = number % _INVERSE == _INVERSE - 1 and bool(view.predicate.inverse.questions)
    way = "chain" if kind.chain else "inverse" if turned else "direct"
    subject = view.name(subjects[0])
    asked_name = bare(subject) if len(subjects) > 1 else subject
    claim = CardClaim(tuple(node.value for node in subjects), licence.claim.predicate, value.value)
    subtype = "E_inverse" if kind.name == "E_direct" and way == "inverse" else kind.name
    return Card(
        id=subtype,  # its number follows
        subtype=subtype,
        gold=GOLD_OF[kind.label],
        question=fill(next(wordings[way]), asked_name, view.name(value)),
        claim=claim,
        why=licence.lacking or licence.constraint or "recorded",
    )
