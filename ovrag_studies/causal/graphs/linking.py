"""Mentions to the things of a graph, with direction and negation split off before anything is compared.

"price rises" and "price falls" are the same thing in opposite directions: what is compared are the words that are left,
"price". Ambiguity is reported, and what is no name is unknown, with the nearest names, which are not taken.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import NamedTuple, Self

import numpy
from pyoxigraph import Literal, NamedNode

from ovrag_core.graph import LABEL, Store
from ovrag_core.retrieval import Embedder, Vectors
from ovrag_core.text import stems
from ovrag_studies.causal.graphs import causal_terms as words
from ovrag_studies.causal.language.cues import may_relate
from ovrag_studies.causal.language.directions import Direction, moved, split, stages
from ovrag_studies.causal.language.propositions import Polarity, Proposition
from ovrag_studies.causal.language.wording import entries

NEAREST = 3
ClaimKey = tuple[str, str, str, bool]
_NEAR = 0.5  # likeness from which a name is worth showing beside a mention that fits nothing
_KEPT = 2000  # rankings that are remembered
_JOINING = frozenset(("a", "an", "the", "of", "in", "on", "at", "for"))
_SPELLINGS = (
    (re.compile(r"(?<=\w{2})is(?=ation|e$|ed$|er$|ers$|es$|ing$)"), "iz"),
    (re.compile(r"(?<=\w{2})our(?=s?$|ed$|ing$)"), "or"),
    (re.compile(r"(?<=\w)ae(?=\w)"), "e"),
    (re.compile(r"(?<=\w{2})tre(?=s?$)"), "ter"),
)
_MEASURES = {word: line[0] for line in (entry.split("/") for entry in entries("measures")) for word in line}


class LinkCandidate(NamedTuple):
    """A thing of the lexicon, the label that was compared, and how near it came (0 to 1)."""

    entity: NamedNode
    label: str
    score: float


class Linked(NamedTuple):
    """The thing meant, where it moves ("none": no word says), and whether its absence is meant."""

    entity: NamedNode
    direction: Direction
    polarity: Polarity


class Unlinked(NamedTuple):
    """A mention that fits several things, or none: then `candidates` are the three nearest that come near at all."""

    mention: str
    candidates: tuple[LinkCandidate, ...]
    ambiguous: bool


class CausalClaim(NamedTuple):
    """A proposition over things of a graph, signs multiplied out: "a fall in X lowers Y" is X raises Y.

    `predicate` is RAISES, LOWERS, AFFECTS or NO_EFFECT_ON of `vocabulary`; `denied`: the text says that it is not so.
    """

    subject: NamedNode
    predicate: NamedNode
    object: NamedNode
    denied: bool

    @property
    def key(self) -> ClaimKey:
        """The claim as plain values, in whatever words it was made."""
        return self.subject.value, self.predicate.value, self.object.value, self.denied


class ThingName(NamedTuple):
    """A name of a thing; one for its rise or fall has that direction."""

    entity: NamedNode
    text: str
    direction: Direction = "none"


class NameLexicon:
    """The names of things, made once. An `embedder` ranks the names near a mention; without one, letters do."""

    def __init__(self, names: Iterable[ThingName], embedder: Embedder | None = None) -> None:
        self.names = tuple(dict.fromkeys(names))
        self.embedder = embedder
        self._vectors: Vectors | None = None
        self.nearest = lru_cache(_KEPT)(self._nearest)
        self._by_text: defaultdict[str, list[ThingName]] = defaultdict(list)
        self._by_stems: defaultdict[tuple[str, ...], list[ThingName]] = defaultdict(list)
        for name in self.names:
            self._by_text[stages(name.text)[0].core].append(name)
            parts = split(name.text)
            # "acceleration of a falling body" is no fall of anything in other words
            if parts.direction == "none" and not parts.negative:
                self._by_stems[_bag(name.text)].append(name)

    @classmethod
    def of_graph(cls, store: Store, embedder: Embedder | None = None) -> Self:
        """The labels, synonyms and names of rise and fall in a graph."""
        kinds: dict[NamedNode, Direction] = {LABEL: "none", words.ALT_LABEL: "none"}
        kinds |= {words.RISE_LABEL: "up", words.FALL_LABEL: "down"}
        factors = {row["s"] for row in store.select("SELECT ?s WHERE { ?s a ?factor }", {"factor": words.FACTOR})}
        names = [
            ThingName(thing, text.value, direction)
            for predicate, direction in kinds.items()
            for thing, text in words.pairs_of(store, predicate, Literal)
            if thing in factors
        ]
        return cls(sorted(names, key=lambda name: (name.entity.value, name.text)), embedder)

    @cached_property
    def compounds(self) -> frozenset[str]:
        """The names that hold "and", a comma, or what might be a verb, which a parser must not take apart."""
        texts = (name.text.casefold() for name in self.names if " " in name.text)
        return frozenset(text for text in texts if re.search(r",|\b(?:and|or)\b", text) or may_relate(text))

    def named(self, text: str) -> list[ThingName]:
        """The names that are the text, or have its words in another order ("price of oil", "oil price")."""
        return self._by_text.get(text) or self._by_stems.get(_bag(text), [])

    def _nearest(self, text: str) -> list[LinkCandidate]:
        """All things, the likest first: by cosine of their names, or by shared letters where there is no embedder."""
        if self.embedder is None:
            scores = [SequenceMatcher(None, text, name.text.casefold()).ratio() for name in self.names]
        else:
            if self._vectors is None:
                self._vectors = self.embedder.embed([name.text for name in self.names])
            scores = numpy.clip(self._vectors @ self.embedder.embed([text])[0], 0.0, 1.0).tolist()
        best: dict[NamedNode, LinkCandidate] = {}
        for name, score in zip(self.names, scores, strict=True):
            if name.entity not in best or round(score, 6) > best[name.entity].score:
                best[name.entity] = LinkCandidate(name.entity, name.text, round(score, 6))
        return sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.entity.value))


def link(mention: str, lexicon: NameLexicon) -> Linked | Unlinked:
    """The thing that a mention names, at the first stage that has one."""
    as_said = [(stage, stage.core) for stage in stages(mention)]
    counted = [(stage, f"number of {core}") for stage, core in as_said if stage.direction != "none"]  # "fewer bees"
    for stage, text in (*as_said, *counted):
        if names := lexicon.named(text):
            if len({name.entity for name in names}) > 1:
                return Unlinked(mention, tuple(LinkCandidate(name.entity, name.text, 1.0) for name in names), True)
            direction = moved(stage.direction, names[0].direction)
            return Linked(names[0].entity, direction, "negative" if stage.negative else "positive")
    core = split(mention).core
    ranked = lexicon.nearest(core)[:NEAREST] if core else []
    return Unlinked(mention, tuple(candidate for candidate in ranked if candidate.score >= _NEAR), False)


def claim(proposition: Proposition, lexicon: NameLexicon) -> CausalClaim | Unlinked | None:
    """The proposition over things of the graph, or the first mention that names none.

    None where something that stays the same is said to be a cause, which claims nothing that a graph could hold.
    """
    subject = link(proposition.subject, lexicon)
    if not isinstance(subject, Linked):
        return subject
    object_ = link(proposition.object, lexicon)
    if not isinstance(object_, Linked):
        return object_
    denied = proposition.polarity == "negative"
    if subject.direction == "steady" or (subject.polarity == "negative" and subject.direction != "none"):
        return None
    is_absent = [thing.polarity == "negative" and thing.direction == "none" for thing in (subject, object_)]
    if object_.polarity == "negative" and not is_absent[1]:
        denied = not denied  # "when X rises, Y does not fall"
    if object_.direction == "steady" or proposition.relation == "affects":
        none = denied != (object_.direction == "steady")
        return CausalClaim(subject.entity, words.NO_EFFECT_ON if none else words.AFFECTS, object_.entity, False)
    falls = [subject.direction == "down", object_.direction == "down", proposition.relation == "lowers"]
    turns = sum(falls) + sum(is_absent)
    return CausalClaim(subject.entity, words.LOWERS if turns % 2 else words.RAISES, object_.entity, denied)


def _bag(text: str) -> tuple[str, ...]:
    """The stems of a name but for the words that only join ("price of oil", "oil price"); a denial is none of them."""
    tokens = re.findall(r"[^\W_]+", text.casefold().replace("'s ", " "))
    return tuple(sorted(_stem(_MEASURES.get(token, token)) for token in tokens if token not in _JOINING))


def _stem(token: str) -> str:
    """The stem of a word in American spelling: "fertiliser" and "fertilizer", "vapour" and "vapor" are the same."""
    for british, american in _SPELLINGS:
        token = british.sub(american, token)
    return "".join(stems(token)) or token
