"""Mentions to the things of a graph, with direction and negation split off before anything is compared.

"price rises" and "price falls" are the same thing in opposite directions: what is compared are the words that are left,
"price". Ambiguity is reported, and what is not near enough is unknown, with the nearest that were not taken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache

import numpy
from pyoxigraph import Literal, NamedNode

from ovrag_core.graph import LABEL, Store
from ovrag_core.retrieval import Embedder, Vectors
from ovrag_core.text import stems
from ovrag_studies.causal.graphs import causal_terms as words
from ovrag_studies.causal.graphs.stores import pairs_of
from ovrag_studies.causal.language.cues import may_relate
from ovrag_studies.causal.language.directions import Direction, MentionParts, moved, sign, split, stages
from ovrag_studies.causal.language.propositions import Polarity, Proposition
from ovrag_studies.causal.language.wording import entries

THRESHOLD = 0.85  # γ: cosine from which a mention is taken for a label
MARGIN = 0.03  # two things nearer to each other than this cannot be told apart
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
_SHORTEST = 3  # letters that must be left of a word when a beginning that turns it round is taken off
_OPPOSITES = frozenset(frozenset(entry.split("/")) for entry in entries("opposites"))
_TURNING = sorted(entries("turning"), key=len, reverse=True)
_MEASURES = {word: line[0] for line in (entry.split("/") for entry in entries("measures")) for word in line}


@dataclass(frozen=True, slots=True)
class LinkCandidate:
    """A thing of the lexicon, the label that was compared, and how near it came (0 to 1)."""

    entity: NamedNode
    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Linked:
    """The thing meant, where it moves ("none": no word says), whether its absence is meant, and how sure.

    `score` is 1 by name, less by likeness.
    """

    entity: NamedNode
    direction: Direction
    polarity: Polarity
    score: float


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A mention that fits several things."""

    mention: str
    candidates: tuple[LinkCandidate, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A mention that fits nothing; `nearest` are the best three that come near at all, none of them taken."""

    mention: str
    nearest: tuple[LinkCandidate, ...]


@dataclass(frozen=True, slots=True)
class CausalClaim:
    """A proposition over things of a graph, signs multiplied out: "a fall in X lowers Y" is X raises Y.

    `predicate` is RAISES, LOWERS, AFFECTS or NO_EFFECT_ON of `vocabulary`; `denied`: the text says that it is not so.
    `score` is the lower of the two links'.
    """

    subject: NamedNode
    predicate: NamedNode
    object: NamedNode
    denied: bool
    score: float

    @property
    def key(self) -> ClaimKey:
        """The claim as plain values, in whatever words it was made."""
        return self.subject.value, self.predicate.value, self.object.value, self.denied


@dataclass(frozen=True, slots=True)
class ThingName:
    """A name of a thing; one for its rise or fall has that direction."""

    entity: NamedNode
    text: str
    direction: Direction = "none"


class NameLexicon:
    """The names of things, made once. With an `embedder`, names that nothing equals are compared by likeness too."""

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
    def of_graph(cls, store: Store, embedder: Embedder | None = None) -> NameLexicon:
        """The labels, synonyms and names of rise and fall in a graph."""
        kinds: tuple[tuple[NamedNode, Direction], ...] = (
            (LABEL, "none"),
            (words.ALT_LABEL, "none"),
            (words.RISE_LABEL, "up"),
            (words.FALL_LABEL, "down"),
        )
        factors = {row["s"] for row in store.select("SELECT ?s WHERE { ?s a ?factor }", {"factor": words.FACTOR})}
        names = [
            ThingName(thing, text.value, direction)
            for predicate, direction in kinds
            for thing, text in pairs_of(store, predicate, Literal)
            if thing in factors
        ]
        return cls(sorted(names, key=lambda name: (name.entity.value, name.text)), embedder)

    @cached_property
    def compounds(self) -> frozenset[str]:
        """The names that hold "and", a comma, or what might be a verb, which a parser must not take apart."""
        texts = {name.text.casefold() for name in self.names}
        return frozenset(
            text for text in texts if " " in text and (re.search(r",|\b(?:and|or)\b", text) or may_relate(text))
        )

    def named(self, text: str) -> list[ThingName]:
        """The names that are the text, or have its words in another order ("price of oil", "oil price")."""
        return self._by_text.get(text) or self._by_stems.get(_bag(text), [])

    def _nearest(self, text: str) -> list[LinkCandidate]:
        """All things, the likest first: by cosine of their names, or by shared letters where there is no embedder."""
        best: dict[NamedNode, LinkCandidate] = {}
        for name, likeness in zip(self.names, self._scores(text), strict=True):
            score = round(float(likeness), 6)
            if name.entity not in best or score > best[name.entity].score:
                best[name.entity] = LinkCandidate(name.entity, name.text, score)
        return sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.entity.value))

    def _scores(self, text: str) -> Iterable[float]:
        if self.embedder is None:
            return [SequenceMatcher(None, text, name.text.casefold()).ratio() for name in self.names]
        if self._vectors is None:
            self._vectors = self.embedder.embed([name.text for name in self.names])
        cosines: Vectors = self._vectors @ self.embedder.embed([text])[0]
        return numpy.clip(cosines, 0.0, 1.0)


def link(mention: str, lexicon: NameLexicon, threshold: float = THRESHOLD) -> Linked | Ambiguous | Unknown:
    """The thing that a mention names: by name at the first stage that has one, else by likeness of what is left."""
    as_said = [(stage, stage.core) for stage in stages(mention)]
    counted = [(stage, f"number of {core}") for stage, core in as_said if stage.direction != "none"]  # "fewer bees"
    for stage, text in (*as_said, *counted):
        if names := lexicon.named(text):
            if len({name.entity for name in names}) > 1:
                return Ambiguous(mention, tuple(LinkCandidate(name.entity, name.text, 1.0) for name in names))
            return _linked(stage, names[0], 1.0)
    return _by_likeness(mention, split(mention), lexicon, threshold)


def claim(
    proposition: Proposition, lexicon: NameLexicon, threshold: float = THRESHOLD
) -> CausalClaim | Ambiguous | Unknown | None:
    """The proposition over things of the graph, or the first mention that names none.

    None where something that stays the same is said to be a cause, which claims nothing that a graph could hold.
    """
    subject = link(proposition.subject, lexicon, threshold)
    if not isinstance(subject, Linked):
        return subject
    object_ = link(proposition.object, lexicon, threshold)
    return _combined(proposition, subject, object_) if isinstance(object_, Linked) else object_


def _combined(proposition: Proposition, subject: Linked, object_: Linked) -> CausalClaim | None:
    denied = proposition.polarity == "negative"
    score = min(subject.score, object_.score)
    if subject.direction == "steady" or (subject.polarity == "negative" and subject.direction != "none"):
        return None
    if object_.polarity == "negative" and object_.direction != "none":
        denied = not denied  # "when X rises, Y does not fall"
    if object_.direction == "steady" or proposition.relation == "affects":
        none = denied != (object_.direction == "steady")
        return CausalClaim(subject.entity, words.NO_EFFECT_ON if none else words.AFFECTS, object_.entity, False, score)
    total = sign(subject.direction) * sign(object_.direction) * (1 if proposition.relation == "raises" else -1)
    total *= -1 if subject.polarity == "negative" else 1
    total *= -1 if object_.polarity == "negative" and object_.direction == "none" else 1
    return CausalClaim(subject.entity, words.RAISES if total > 0 else words.LOWERS, object_.entity, denied, score)


def opposed(first: str, second: str) -> bool:
    """Return True where the difference between two phrases turns the one round into the other.

    Examples are import and export, employed and unemployed, type 1 and type 2.
    """
    left, right = _words(first), _words(second)
    ours, theirs = left - right, right - left
    numbers = [{word for word in side if any(letter.isdigit() for letter in word)} for side in (ours, theirs)]
    return bool(numbers[0] and numbers[1]) or any(_turned(a, b) for a in ours for b in theirs)


def _may_direct(mention: str, label: str) -> bool:
    """Tell whether a word that only the mention has could say where the thing goes: a comparative or a participle."""
    endings = ("er", "ed", "ing", "est", "up", "down", "off")
    return any(word.endswith(endings) for word in _words(mention) - _words(label))


def _turned(one: str, other: str) -> bool:
    if frozenset((_singular(one), _singular(other))) in _OPPOSITES:
        return True
    shorter, longer = sorted((one, other), key=len)
    if longer.endswith(shorter) and len(shorter) >= _SHORTEST:
        return longer[: -len(shorter)].rstrip("-") in _TURNING
    left, right = (_beginning(word) for word in (one, other))
    return left is not None and right is not None and left[1] == right[1] and left[0] != right[0]


def _beginning(word: str) -> tuple[str, str] | None:
    """A beginning that turns words round, and what is left: "hypo" and "tension"."""
    for prefix in _TURNING:
        if len(prefix) > 1 and word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST:
            return prefix, word[len(prefix) :].lstrip("-")
    return None


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > _SHORTEST else word


def _words(text: str) -> set[str]:
    return {_singular(word) for word in re.findall(r"[a-z0-9][a-z0-9-]*", text.casefold())}


def _bag(text: str) -> tuple[str, ...]:
    """The stems of a name but for the words that only join ("price of oil", "oil price"); a denial is none of them."""
    tokens = re.findall(r"[^\W_]+", text.casefold().replace("'s ", " "))
    return tuple(sorted(_stem(_MEASURES.get(token, token)) for token in tokens if token not in _JOINING))


def _stem(token: str) -> str:
    """The stem of a word in American spelling: "fertiliser" and "fertilizer", "vapour" and "vapor" are the same."""
    for british, american in _SPELLINGS:
        token = british.sub(american, token)
    return "".join(stems(token)) or token


def _by_likeness(
    mention: str, parts: MentionParts, lexicon: NameLexicon, threshold: float
) -> Linked | Ambiguous | Unknown:
    ranked = lexicon.nearest(parts.core) if parts.core else []
    unknown = Unknown(mention, tuple(candidate for candidate in ranked[:NEAREST] if candidate.score >= _NEAR))
    # a link may rest on likeness of meaning; shared letters only help a reader
    if not ranked or lexicon.embedder is None or ranked[0].score < threshold:
        return unknown
    best = ranked[0]
    if opposed(parts.core, best.label) or _may_direct(parts.core, best.label):
        return unknown
    rivals = [candidate for candidate in ranked if candidate.score >= best.score - MARGIN]
    if len(rivals) > 1:
        return Ambiguous(mention, tuple(rivals))
    name = next(name for name in lexicon.names if name.text == best.label and name.entity == best.entity)
    return _linked(parts, name, best.score)


def _linked(parts: MentionParts, name: ThingName, score: float) -> Linked:
    polarity: Polarity = "negative" if parts.negative else "positive"
    return Linked(name.entity, moved(parts.direction, name.direction), polarity, score)
