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
from functools import cache, cached_property

import numpy
from pyoxigraph import Literal, NamedNode

from ovrag_core.graph import LABEL, Store
from ovrag_core.retrieval import Embedder, Vectors
from ovrag_core.text import stems
from ovrag_studies.causal.graphs import causal_terms as words
from ovrag_studies.causal.language.cues import may_relate
from ovrag_studies.causal.language.directions import Direction, MentionParts, moved, sign, split, stages
from ovrag_studies.causal.language.propositions import Polarity, Proposition
from ovrag_studies.causal.language.wording import entries

THRESHOLD = 0.85  # γ: cosine from which a mention is taken for a label
MARGIN = 0.03  # two things nearer to each other than this cannot be told apart
NEAREST = 3
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
    label: str


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
        self._embedder = embedder
        self._by_text: defaultdict[str, list[ThingName]] = defaultdict(list)
        self._by_stems: defaultdict[tuple[str, ...], list[ThingName]] = defaultdict(list)
        for name in self.names:
            self._by_text[stages(name.text)[0].core].append(name)
            if (
                split(name.text).direction == "none" and not split(name.text).negative
            ):  # "acceleration of a falling body" is no fall of anything in other words
                self._by_stems[_bag(name.text)].append(name)
        self._vectors: Vectors | None = None
        self._seen: dict[str, list[LinkCandidate]] = {}

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
            ThingName(triple.subject, triple.object.value, direction)
            for predicate, direction in kinds
            for triple in store.triples(None, predicate)
            if isinstance(triple.subject, NamedNode)
            and isinstance(triple.object, Literal)
            and triple.subject in factors
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

    def nearest(self, text: str) -> list[LinkCandidate]:
        """All things, the likest first: by cosine of their names, or by shared letters where there is no embedder."""
        if text not in self._seen:
            scores = self._scores(text)
            best: dict[NamedNode, LinkCandidate] = {}
            for name, score in zip(self.names, scores, strict=True):
                if name.entity not in best or score > best[name.entity].score:
                    best[name.entity] = LinkCandidate(name.entity, name.text, score)
            if len(self._seen) >= _KEPT:
                self._seen.clear()
            self._seen[text] = sorted(best.values(), key=lambda each: (-each.score, each.entity.value))
        return self._seen[text]

    @property
    def compares_meaning(self) -> bool:
        """Kind of likeness: True for that of meaning, on which a link may rest; shared letters only help a reader."""
        return self._embedder is not None

    def _scores(self, text: str) -> list[float]:
        if self._embedder is None:
            return [round(SequenceMatcher(None, text, name.text.casefold()).ratio(), 6) for name in self.names]
        if self._vectors is None:
            self._vectors = self._embedder.embed([name.text for name in self.names])
        vector: Vectors = self._embedder.embed([text])[0]
        return [round(float(score), 6) for score in numpy.clip(self._vectors @ vector, 0.0, 1.0)]


def link(mention: str, lexicon: NameLexicon, threshold: float = THRESHOLD) -> Linked | Ambiguous | Unknown:
    """The thing that a mention names: by name at the first stage that has one, else by likeness of what is left."""
    for stage in stages(mention):
        names = lexicon.named(stage.core)
        if names:
            return _by_name(mention, stage, names)
    for stage in stages(mention):
        names = lexicon.named(f"number of {stage.core}") if stage.direction != "none" else []  # "fewer bees"
        if names:
            return _by_name(mention, stage, names)
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
    if not isinstance(object_, Linked):
        return object_
    return combine(proposition, subject, object_)


def combine(proposition: Proposition, subject: Linked, object_: Linked) -> CausalClaim | None:
    """The claim of a proposition whose mentions are linked; see `claim`."""
    denied = proposition.polarity == "negative"
    score = min(subject.score, object_.score)
    still = subject.polarity == "negative" and subject.direction != "none"
    if subject.direction == "steady" or still:
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
    return any(
        word.endswith(("er", "ed", "ing", "est", "up", "down", "off")) for word in _words(mention) - _words(label)
    )


def _turned(one: str, other: str) -> bool:
    pair = frozenset((_singular(one), _singular(other)))
    if pair in _opposites():
        return True
    shorter, longer = sorted((one, other), key=len)
    if longer.endswith(shorter) and len(shorter) >= _SHORTEST:
        return longer[: -len(shorter)].rstrip("-") in _turning()
    left, right = (_beginning(word) for word in (one, other))
    return left is not None and right is not None and left[1] == right[1] and left[0] != right[0]


def _beginning(word: str) -> tuple[str, str] | None:
    """A beginning that turns words round, and what is left: "hypo" and "tension"."""
    for prefix in _turning():
        if len(prefix) > 1 and word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST:
            return prefix, word[len(prefix) :].lstrip("-")
    return None


@cache
def _opposites() -> frozenset[frozenset[str]]:
    pairs = (entry.split("/") for entry in entries("opposites"))
    return frozenset(frozenset(pair) for pair in pairs)


@cache
def _turning() -> tuple[str, ...]:
    return tuple(sorted(entries("turning"), key=len, reverse=True))


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > _SHORTEST else word


def _words(text: str) -> set[str]:
    return {_singular(word) for word in re.findall(r"[a-z0-9][a-z0-9-]*", text.casefold())}


def _bag(text: str) -> tuple[str, ...]:
    """The stems of a name but for the words that only join ("price of oil", "oil price"); a denial is none of them."""
    tokens = re.findall(r"[^\W_]+", text.casefold().replace("'s ", " "))
    return tuple(sorted(_stem(_measures().get(token, token)) for token in tokens if token not in _JOINING))


def _stem(token: str) -> str:
    """The stem of a word in American spelling: "fertiliser" and "fertilizer", "vapour" and "vapor" are the same."""
    for british, american in _SPELLINGS:
        token = british.sub(american, token)
    return "".join(stems(token)) or token


@cache
def _measures() -> dict[str, str]:
    lines = [entry.split("/") for entry in entries("measures")]
    return {word: line[0] for line in lines for word in line}


def _near(ranked: list[LinkCandidate]) -> tuple[LinkCandidate, ...]:
    return tuple(c for c in ranked[:NEAREST] if c.score >= _NEAR)


def _by_name(mention: str, parts: MentionParts, names: list[ThingName]) -> Linked | Ambiguous:
    entities = dict.fromkeys(name.entity for name in names)
    if len(entities) > 1:
        return Ambiguous(mention, tuple(LinkCandidate(name.entity, name.text, 1.0) for name in names))
    polarity: Polarity = "negative" if parts.negative else "positive"
    return Linked(names[0].entity, moved(parts.direction, names[0].direction), polarity, 1.0, names[0].text)


def _by_likeness(
    mention: str, parts: MentionParts, lexicon: NameLexicon, threshold: float
) -> Linked | Ambiguous | Unknown:
    ranked = lexicon.nearest(parts.core) if parts.core else []
    best = ranked[0] if ranked else None
    if best is None or not lexicon.compares_meaning or best.score < threshold:
        return Unknown(mention, _near(ranked))
    if opposed(parts.core, best.label) or _may_direct(parts.core, best.label):
        return Unknown(mention, _near(ranked))
    rivals = [candidate for candidate in ranked if candidate.score >= best.score - MARGIN]
    if len(rivals) > 1:
        return Ambiguous(mention, tuple(rivals))
    direction = next(name.direction for name in lexicon.names if name.text == best.label and name.entity == best.entity)
    polarity: Polarity = "negative" if parts.negative else "positive"
    return Linked(best.entity, moved(parts.direction, direction), polarity, best.score, best.label)
