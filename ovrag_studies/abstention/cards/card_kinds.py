"""Kinds of cards: where each looks for claims in a graph, and which licence makes a claim found there one of the kind.

A kind only proposes. What it proposes becomes a card where the licence on the visible graph is the one the kind is
built for, so that no kind needs a rule of its own for things whose names are alike or that may lie in one another.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice, product
from typing import TypeVar

from pyoxigraph import NamedNode

from ovrag_core.graph import EmbeddedStore
from ovrag_studies.abstention.cards.card import Label
from ovrag_studies.abstention.knowledge.domain import Domain, Predicate
from ovrag_studies.abstention.knowledge.known import Known, Value, pairs_of
from ovrag_studies.abstention.knowledge.likeness import bare, called
from ovrag_studies.abstention.licensing.licence import COMPLETE

K = TypeVar("K")
V = TypeVar("V")
# A claim that may become a card: its subject, or all subjects that the name asked for fits, and its object.
Proposal = tuple[tuple[NamedNode, ...], Value]
Proposals = Callable[["View", random.Random], Iterator[Proposal]]
Nearest = Callable[[str], Sequence[str]]  # names, those nearest in meaning to a name first

FURTHEST = 3  # steps of a chain that a card asks about
NEAREST = 8  # names that are tried as near misses of one


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of card by its licence: `breaks` is the constraint, None any; of a `rare` one there shall be few.

    That is where the classes of what is named in a question give its answer away.
    """

    name: str
    label: Label
    proposals: Proposals
    breaks: str | None = None
    chain: bool = False
    rare: bool = False


class View:
    """The facts of one predicate, those that stay visible and all of them, with the names of things.

    `subjects` are all that something is visibly said of, `sources` by an object of whom it is said. `named` are the
    things of any fact, hidden ones too, by their name in small letters; `shared` those that are several by their name
    without what qualifies it.
    """

    def __init__(
        self, graph: EmbeddedStore, visible: EmbeddedStore, domain: Domain, predicate: Predicate, nearest: Nearest
    ) -> None:
        self.domain, self.predicate, self.nearest, self.visible = domain, predicate, nearest, visible
        self.all, self.seen = Known(graph, domain, predicate), Known(visible, domain, predicate)
        self.pairs = pairs_of(visible, predicate.node)
        self.subjects = sorted({subject for subject, _ in self.pairs}, key=str)
        self.sources = _grouped((value, subject) for subject, value in self.pairs)
        self.hidden = [pair for pair in pairs_of(graph, predicate.node) if pair[0] not in {*self.subjects}]
        facts = [pair for p in domain.predicates.values() for pair in pairs_of(graph, p.node)]
        nodes = sorted({node for pair in facts for node in pair}, key=str)
        self.named = _grouped((self.name(node).casefold(), node) for node in nodes)
        bearers = _grouped((bare(self.name(node)), node) for node in nodes if isinstance(node, NamedNode))
        self.shared = {name: nodes for name, nodes in bearers.items() if len(nodes) > 1}

    def name(self, node: Value) -> str:
        """Return the name of a thing."""
        return called(self.all.thing(node))

    def is_clear(self, node: Value) -> bool:
        """Return True where nothing else has the name, also where a qualifier is left out."""
        name = self.name(node)
        alone = len(self.named[name.casefold()]) == 1
        return alone and (bare(name) != name or bare(name) not in self.shared)

    def distant(self, start: NamedNode, least: int) -> Iterator[tuple[Value, int]]:
        """Yield what the visible chain reaches from a thing in at least so many steps, with their number."""
        steps: dict[object, int] = {start: 0}
        for value, fact in self.seen.below(start, FURTHEST).items():
            count = steps[fact.subject] + 1
            steps.setdefault(value, count)
            if count >= least:
                yield value, count

    def objects(self, chance: random.Random) -> Iterator[Value]:
        """Objects without end, each as often as it is said of something."""
        while self.pairs:
            yield chance.choice(self.pairs)[1]


def _grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The second ones by the first ones."""
    groups: defaultdict[K, list[V]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def _shuffled(items: Sequence[V], chance: random.Random) -> list[V]:
    return chance.sample(items, len(items))


def asserted(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A fact."""
    for subject, value in _shuffled(view.pairs, chance):
        yield (subject,), value


def chained(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A thing with something that its chain reaches in two steps or more."""
    for subject in _shuffled(view.subjects, chance):
        reached = [value for value, _ in view.distant(subject, 2)]
        if reached:
            yield (subject,), chance.choice(reached)


def another(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A thing with what is said of another one."""
    objects = view.objects(chance)
    for subject in _shuffled(view.subjects, chance):
        for value in islice(objects, 3):
            yield (subject,), value


def turned(proposals: Proposals, view: View, chance: random.Random) -> Iterator[Proposal]:
    """A fact, or what a chain reaches, the wrong way round; that of a chain would close a circle of three or more."""
    for subjects, value in proposals(view, chance):
        if isinstance(value, NamedNode):
            yield (value,), subjects[0]


def sibling(view: View, chance: random.Random) -> Iterator[Proposal]:
    """Another thing of which the same is said: two steps away in the graph."""
    for subject, value in _shuffled(view.pairs, chance):
        siblings = [node for node in view.sources[value] if node != subject]
        if siblings:
            yield (subject,), chance.choice([node for node in siblings if node in view.sources] or siblings)


def one_too_far(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A thing with something that is said of its object: one step too far."""
    for subjects, _ in chained(view, chance):
        following = [value for value, steps in view.distant(subjects[0], 2) if steps == 2]
        if following:
            yield subjects, chance.choice(following)


def alike_in_name(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A thing whose name is among the nearest to that of the recorded one."""
    for subject, value in _shuffled(view.pairs, chance):
        for name in view.nearest(view.name(value)):
            yield from (((subject,), node) for node in view.named[name.casefold()][:1])


def of_other_classes(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A thing with something that is an object of another predicate, or a thing of another class."""
    pairs = [pair for p in view.domain.predicates.values() for pair in pairs_of(view.visible, p.node)]
    nodes = sorted({node for pair in pairs for node in pair if isinstance(node, NamedNode)}, key=str)
    for subject in _shuffled(view.subjects, chance):
        yield (subject,), chance.choice(nodes)


def by_other_classes(view: View, chance: random.Random) -> Iterator[Proposal]:
    """An object with what is said of things."""
    values = sorted({value for _, value in view.pairs if isinstance(value, NamedNode)}, key=str)
    objects = view.objects(chance)
    for value in _shuffled(values, chance):
        yield (value,), next(objects)


def other_predicate(name: str, view: View, chance: random.Random) -> Iterator[Proposal]:
    """A thing with what another predicate says of it."""
    pairs = pairs_of(view.visible, view.domain.predicate(name).node)
    yield from (((subject,), value) for subject, value in _shuffled(pairs, chance))


def far_off(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A thing with what the chain of another one reaches."""
    ends = [value for _, value in chained(view, chance)]
    for subject in _shuffled(view.subjects, chance) if ends else []:
        for _ in range(2):
            yield (subject,), chance.choice(ends)


def hidden(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A thing whose facts are hidden, with what is true of it, near to that, or said of another, by any predicate."""
    apart = [known.predicate for _, known in view.seen.excluding()]
    pairs = [pair for other in apart for pair in pairs_of(view.visible, other.node)]
    objects, elsewhere = view.objects(chance), cycle([value for _, value in _shuffled(pairs, chance)])
    for turn in range(4):
        for number, (subject, value) in enumerate(_shuffled(view.hidden, random.Random(turn))):
            choices = (value, _near(view, value, chance), next(objects, value), next(elsewhere, value))
            yield (subject,), choices[(number + turn) % 4]


def _near(view: View, value: Value, chance: random.Random) -> Value:
    """Something beside an object: what it leads to, or another thing that it is said of."""
    beside = [*view.seen.values(value), *view.sources.get(value, [])]
    return chance.choice(beside) if beside else value


def nested(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A thing with something that what is said of it may lie in, or that may lie in that."""
    objects = view.objects(chance)
    for subject, value in _shuffled(view.pairs, chance):
        ours = view.all.thing(value).classes
        for candidate in islice(objects, 12):
            theirs = view.all.thing(candidate).classes
            if candidate != value and view.domain.nesting & {*product(ours, theirs)}:
                yield (subject,), candidate
                break


def outside_the_class(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A thing of which nothing of the class that a constraint counts is said, with something that is."""
    counted = [c.of for c in view.predicate.constraints.values() if c.kind == "functional" and c.of]
    objects = view.objects(chance)
    for subject in _shuffled(view.subjects, chance):
        recorded = view.seen.values(subject)
        if counted and not any(view.seen.of_class(recorded, class_) for class_ in counted):
            yield from (((subject,), value) for value in islice(objects, 3))


def ambiguous(view: View, chance: random.Random) -> Iterator[Proposal]:
    """A name that several things bear once its qualifier is left out, with what is said of one of them."""
    for name in chance.sample(sorted(view.shared), len(view.shared)):
        bearers = tuple(view.shared[name])
        values = [value for node in bearers for value in view.seen.values(node)]
        whole = any(view.name(node) == name for node in bearers)
        if values and not whole:
            yield bearers, chance.choice(values)


def kinds_of(predicate: Predicate) -> list[Kind]:
    """The kinds of cards that can be asked of a predicate, by what its domain declares of it."""
    kinds = [Kind("E_direct", "E", asserted)]
    for name, constraint in predicate.constraints.items():
        of_kind: dict[str, dict[str, Proposals]] = {
            "functional": {
                "C_functional": another,
                "C_near_sibling": sibling,
                "C_near_hop": one_too_far,
                "C_near_embed": alike_in_name,
            },
            "asymmetric": {"C_inverse": partial(turned, asserted)},
            "acyclic": {"C_circle": partial(turned, chained)},
            "object": {"C_object": of_other_classes},
            "subject": {"C_subject": by_other_classes},
            "disjoint": {"C_disjoint": partial(other_predicate, str(constraint.other))},
        }
        # what turns a fact round often breaks another constraint as well
        breaks = None if constraint.kind in ("asymmetric", "acyclic") else name
        rare = constraint.kind in ("object", "subject")
        kinds += [Kind(kind, "C", found, breaks, rare=rare) for kind, found in of_kind[constraint.kind].items()]
    if predicate.complete:
        kinds.append(Kind("C_complete", "C", another, COMPLETE))
    silent = {"U_withheld": hidden, "U_nested": nested, "U_class": outside_the_class, "U_ambiguous": ambiguous}
    kinds += [Kind(kind, "U", proposals) for kind, proposals in silent.items()]
    if predicate.chain and predicate.chain.questions:
        hops: dict[Label, Proposals] = {"E": chained, "C": far_off, "U": far_off}
        kinds += [Kind(f"{label}_hop", label, proposals, chain=True) for label, proposals in hops.items()]
    return kinds
