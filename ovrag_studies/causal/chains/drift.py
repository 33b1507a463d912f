"""The declared drift simulator: a stand-in for a model that knows a chain and errs, by kind, at a stated rate.

A verifier sees its text alone; what it did wrong on purpose is kept apart (`Simulator.ledger`). Its generators are
seeded by chain, wording, draft and statement, so that arms which ask for the same draft get the same one. Assumed, and
no finding, are the chances of `Drift`, that steps change nothing, and that a statement objected to is written as the
chain has it where it is contradicted or quoted as missing, else drawn anew, or left out where nothing else is to say.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import networkx
from pyoxigraph import Literal as Text
from pyoxigraph import NamedNode

from ovrag_core.graph import LABEL, Store
from ovrag_studies.causal.chains.causal_chains import CausalChain
from ovrag_studies.causal.chains.drafting import Prompt
from ovrag_studies.causal.graphs.causal_terms import AFFECTS, ALT_LABEL, LOWERS, NO_EFFECT_ON, RAISES, pairs_of
from ovrag_studies.causal.settings import ERRORS, Drift, ErrorKind

NAME = "drift simulator"
Kind = ErrorKind | Literal["true", "repeated"]
Edge = tuple[NamedNode, NamedNode, NamedNode]
Said = tuple[NamedNode, NamedNode, NamedNode | None]
"""An edge, or one to an invented thing, which is None."""

# How a sentence says that a raises b, and that a lowers b.
_SAID = (
    ("{a} raises {b}.", "{a} lowers {b}."),
    ("{a} increases {b}.", "{a} reduces {b}."),
    ("A rise in {a} raises {b}.", "A rise in {a} lowers {b}."),
    ("A fall in {a} lowers {b}.", "A fall in {a} raises {b}."),
    ("More {a} leads to more {b}.", "More {a} leads to less {b}."),
    ("When {a} rises, {b} rises.", "When {a} rises, {b} falls."),
    ("{a} causes {b} to rise.", "{a} causes {b} to fall."),
    ("{b} is raised by {a}.", "{b} is lowered by {a}."),
    ("Higher {a} means higher {b}.", "Higher {a} means lower {b}."),
)
_DENIED = (
    ("{a} does not raise {b}.", "{a} does not lower {b}."),
    ("{a} has no effect on {b}.", "{a} has no effect on {b}."),
    ("When {a} rises, {b} does not rise.", "When {a} rises, {b} does not fall."),
)
# Things that no graph of the study holds; a model that invents names something.
_INVENTED = tuple(
    f"{adjective} {noun}"
    for adjective in ("lunar", "residual", "tidal", "latent", "spectral", "ambient")
    for noun in ("quorance", "veltivity", "drasmic load", "ostrum", "plenal drift")
)


class Written(NamedTuple):
    """A sentence of a draft and what it is: the step it is about (None: none), and the kind of error, or "true"."""

    sentence: str
    kind: Kind
    step: int | None


@dataclass(frozen=True, slots=True)
class World:
    """Knowledge of the simulator: all edges, the names of things, and what leads to what."""

    names: Mapping[NamedNode, tuple[str, ...]]
    reach: Mapping[NamedNode, frozenset[NamedNode]]
    apart: frozenset[tuple[NamedNode, NamedNode]]

    @classmethod
    def of_graph(cls, store: Store) -> Self:
        """The world of a whole graph, whatever part of it a verifier is given."""
        effects = networkx.DiGraph(pair for p in (RAISES, LOWERS, AFFECTS) for pair in pairs_of(store, p, NamedNode))
        names: dict[NamedNode, list[str]] = {}
        for predicate in (LABEL, ALT_LABEL):
            for thing, text in sorted(pairs_of(store, predicate, Text), key=lambda named: f"{named[0]} {named[1]}"):
                names.setdefault(thing, []).append(text.value)
        bearers = Counter(name.casefold() for aliases in names.values() for name in set(aliases))
        own = {node: [name for name in aliases if bearers[name.casefold()] == 1] for node, aliases in names.items()}
        return cls(
            {n: tuple(own.get(n) or names.get(n) or [n.value]) for n in sorted(effects, key=str)},
            {node: frozenset(networkx.descendants(effects, node)) for node in effects},
            frozenset(pairs_of(store, NO_EFFECT_ON, NamedNode)),
        )

    def unrelated(self, thing: NamedNode) -> list[NamedNode]:
        """List the things about which the graph says nothing in relation to this one, in a fixed order."""
        before = {other for other in self.names if thing in self.reach[other]}
        apart = {one if two == thing else two for one, two in self.apart if thing in (one, two)}
        related = {thing} | self.reach[thing] | before | apart
        return [other for other in self.names if other not in related]


class Simulator:
    """Drafts for the wordings of one chain. It knows its own drafts again by their text."""

    def __init__(self, chain: CausalChain, world: World, options: Drift, wording: int = 0) -> None:
        self._chain, self._world, self._options = chain, world, options
        self._seed = f"{options.seed}|{chain.id}|{wording}"
        self._edges: tuple[Edge, ...] = tuple(
            (step.subject, step.predicate, step.object) for step in (*chain.premises, chain.conclusion)
        )
        self._drafts: dict[str, tuple[Written, ...]] = {}

    def draft(self, prompt: Prompt, take: int) -> str:
        """The text of a draft; `take` tells independent drafts apart."""
        previous = self._drafts.get(prompt.previous) if prompt.previous else None
        written = self._revised(previous, prompt.constraints, take) if previous else self._fresh(prompt, take)
        text = "\n".join(s.sentence for s in written if s.sentence)
        self._drafts[text] = written
        return text

    def ledger(self, text: str) -> tuple[Written, ...]:
        """Look up what each sentence of a draft of the simulator's own is; what was dropped has no sentence."""
        return self._drafts[text]

    def _fresh(self, prompt: Prompt, take: int) -> tuple[Written, ...]:
        written: list[Written] = []
        for step in range(len(self._edges)):
            draw = self._draw(take, step)
            goes_wrong, copies = draw.random() < self._options.rate, draw.random() < self._options.reading
            is_copied = copies and self._stands_in(prompt.facts, step)
            written += self._spoiled(step, draw) if goes_wrong and not is_copied else [self._true(step, draw)]
        for index, contradiction in enumerate(self._chain.contradictions):
            if self._draw(take, f"prompt {index}").random() < self._options.credulity:
                written.insert(-1, Written(_sentence(contradiction.text), "repeated", None))
        return tuple(written)

    def _revised(self, previous: Sequence[Written], constraints: Sequence[str], take: int) -> tuple[Written, ...]:
        written: list[Written] = []
        for index, sentence in enumerate(previous):
            draw = self._draw(take, f"again {index}")
            objection = next((line for line in constraints if self._objects(line, sentence)), None)
            if objection is None:
                spoil = sentence.kind == "true" and draw.random() < self._options.slips
                written += self._spoiled(sentence.step, draw) if spoil and sentence.step is not None else [sentence]
            elif draw.random() < self._options.obedience:
                written += self._mended(sentence, objection, draw)
            else:
                written.append(sentence)
        return tuple(written)

    def _objects(self, constraint: str, written: Written) -> bool:
        """Return True where a constraint quotes a sentence, or says that a step is missing which was dropped."""
        if written.sentence:
            return written.sentence.rstrip(".") in constraint
        return written.step is not None and "missing" in constraint and self._stands_in([constraint], written.step)

    def _mended(self, written: Written, objection: str, draw: random.Random) -> list[Written]:
        if written.step is None:
            return []
        if written.kind == "true":  # there is nothing else to say of the step
            return [Written("", "dropped", written.step)]
        gives_truth = "contradicts" in objection or "missing that" in objection
        if gives_truth or draw.random() >= self._options.rate:
            return [self._true(written.step, draw)]
        return self._spoiled(written.step, draw)

    def _stands_in(self, facts: Iterable[str], step: int) -> bool:
        """Return True where a line names both ends of a step."""
        subject, _, object_ = self._edges[step]
        return any(self._named(subject, line) and self._named(object_, line) for line in facts)

    def _named(self, thing: NamedNode, line: str) -> bool:
        return any(name.casefold() in line.casefold() for name in self._world.names[thing])

    def _true(self, step: int, draw: random.Random) -> Written:
        return Written(self._say(self._edges[step], draw), "true", step)

    def _spoiled(self, step: int, draw: random.Random) -> list[Written]:
        """An error of a drawn kind. An invented statement stands beside the true one, the others in its place."""
        edge = subject, predicate, object_ = self._edges[step]
        (kind,) = draw.choices(ERRORS, [self._options.kinds.get(error, 0.0) for error in ERRORS])
        if kind == "dropped":
            return [Written("", kind, step)]
        if kind == "negated":
            return [Written(self._say(edge, draw, _DENIED), kind, step)]
        said = {"reversed": (object_, predicate, subject)}
        said["opposite"] = (subject, LOWERS if predicate == RAISES else RAISES, object_)
        if kind == "wrong_target" and (targets := self._world.unrelated(subject)):
            said[kind] = (subject, predicate, draw.choice(targets))
        if kind in said:
            return [Written(self._say(said[kind], draw), kind, step)]
        extra = self._say((subject, predicate, None), draw)
        return [self._true(step, draw), Written(extra, "invented", None)]

    def _say(self, edge: Said, draw: random.Random, ways: Sequence[tuple[str, str]] = _SAID) -> str:
        subject, predicate, object_ = edge
        template = draw.choice(ways)[predicate != RAISES]
        cause, effects = draw.choice(self._world.names[subject]), self._world.names[object_] if object_ else _INVENTED
        return _sentence(template.format(a=cause, b=draw.choice(effects)))

    def _draw(self, take: int, what: int | str) -> random.Random:
        return random.Random(f"{self._seed}|{take}|{what}")


def _sentence(text: str) -> str:
    text = text.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
