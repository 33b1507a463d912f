"""A claim about a graph, and how a question is read as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from pyoxigraph import Literal, NamedNode

from ovrag_core.lines import one_line
from ovrag_core.studies.epistemic.domain import Domain
from ovrag_core.studies.epistemic.english import ADJECTIVES, BE, CLAUSES, DO, FUNCTION, SHELL
from ovrag_core.studies.epistemic.frames import Piece
from ovrag_core.studies.epistemic.grammar import Sentence, read_sentence
from ovrag_core.studies.epistemic.lexicon import Lexicon, lexicon_of
from ovrag_core.studies.epistemic.names import Mention, Names
from ovrag_core.studies.epistemic.words import Word, words_of

Span = tuple[int, int]  # from and to, in characters of the question

LONGEST = 1_000  # characters; no question about two things needs more
_PART_OF_A_NAME = 0.9  # what is left of the confidence where a name is not given whole
_TAIL = 0.85  # the same where the end of a question is left aside
_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class Claim:
    """That the subject has the object under a predicate of the domain, named as there, or under its chain's name."""

    subject: NamedNode
    predicate: str
    object: NamedNode | Literal


@dataclass(frozen=True, slots=True)
class Reading:
    """How a question was read. Without a claim, `reason` says why, and `candidates` what it may have meant.

    `confidence` is from 0 to 1; `mentions` are the spans of `subject`, `object` and `relation` in the question.
    `negated`: the question asks whether the claim is *not* so, so that a yes of the graph is a no to it.
    """

    claim: Claim | None
    confidence: float
    reason: str = ""
    mentions: Mapping[str, Span] = field(default_factory=dict)
    candidates: tuple[Claim, ...] = ()
    negated: bool = False


def read_claim(question: str, names: Names, domain: Domain) -> Reading:
    """The claim that a question (or a statement) makes about two things of a graph; doubt is no claim, with its reason.

    Anything may stand in a question: it is only ever compared with names and words.
    """
    if len(question) > LONGEST:
        return _unread(f"the question has {len(question):,} characters; at most {LONGEST:,} are read")
    text = _Text(question, words_of(question), lexicon_of(domain), names)
    found = text.mentions()
    if problem := text.strangers(found):
        return _unread(problem)
    if len(found) < 2:
        return _unread(text.lacking(found))
    sentence, used = text.sentence(found)
    if sentence.relation is None:
        return _unread(sentence.reason)
    return _claimed(sentence, used, text, domain)


def _unread(reason: str) -> Reading:
    return Reading(None, 0.0, reason)


def _claimed(sentence: Sentence, used: Sequence[Mention], text: _Text, domain: Domain) -> Reading:
    """The reading with the things that the names may mean in their parts of the claim."""
    subject, object_ = used[sentence.subject - 1], used[sentence.object - 1]
    relations = [name for name in (sentence.relation, sentence.otherwise) if name]
    value = domain.predicate(relations[0]).values != "thing"
    subjects = [thing for thing in subject.things if isinstance(thing, NamedNode)]
    objects = [thing for thing in object_.things if isinstance(thing, Literal) == value]
    claims = tuple(Claim(one, name, other) for one, name, other in product(subjects, relations, objects))
    parts = [each for each in (subject, object_) if not each.whole]
    reading = Reading(
        claims[0] if len(claims) == 1 else None,
        round(sentence.confidence * _PART_OF_A_NAME ** len(parts) / max(len(claims), 1), 4),
        "; ".join(f"{text.quoted(each)} is taken for {text.names.label(each.things[0])!r}" for each in parts),
        {"subject": text.span(subject), "object": text.span(object_), "relation": sentence.span},
        claims[:_CANDIDATES] if len(claims) > 1 else (),
        sentence.negated,
    )
    if reading.claim:
        return reading
    if len(subjects) == len(objects) == 1:
        return replace(reading, reason=f"the question may ask for {' or '.join(relations)}")
    several, things = (subject, subjects) if len(subjects) != 1 else (object_, objects)
    if not things:
        part = "subject" if several is subject else "object"
        return replace(reading, reason=f"{text.quoted(several)} is of no use as the {part} of {relations[0]}")
    return replace(reading, reason=f"{text.quoted(several)} is the name of {len(things)} things")


@dataclass(frozen=True)
class _Text:
    """A question while it is read."""

    question: str
    words: list[Word]
    lexicon: Lexicon
    names: Names

    def quoted(self, mention: Mention) -> str:
        start, end = self.span(mention)
        return f"'{one_line(self.question[start:end], 80)}'"

    def span(self, mention: Mention) -> Span:
        return self.words[mention.start].start, self.words[mention.end - 1].end

    @cached_property
    def every(self) -> list[Mention]:
        """All that may be a name, inside longer ones too."""
        return list(self.names.mentions(self.question, self.words))

    @cached_property
    def cased(self) -> bool:
        """Whether capitals tell names from other words: some words have them, or the names found have none either."""
        letters = [word.capital for word in self.words[1:] if not word.sign and word.text[:1].isalpha()]
        labels = [self.names.label(mention.things[0]) for mention in self.every]
        return not all(letters) and (any(letters) or not any(label != label.lower() for label in labels))

    def known(self, word: Word) -> bool:
        """Whether it is a word of the language or the domain, as far as they are known here."""
        return word.sign or word.text in FUNCTION or word.text in SHELL or word.text in self.lexicon.words

    def mentions(self) -> list[Mention]:
        """The names that cover most of the question, without overlap, in order. Common words are names at need only."""
        strong = [mention for mention in self.every if not self._is_common(mention)]
        best = self._best(strong)
        for weak in sorted((each for each in self.every if self._is_common(each)), key=self._rank):
            if len(best) >= 2:
                break
            best = self._best([*best, weak])
        return best

    def _is_common(self, mention: Mention) -> bool:
        words = self.words[mention.start : mention.end]
        return all(self.known(word) and (not word.capital or word.start == 0) for word in words)

    def _rank(self, mention: Mention) -> tuple[bool, int, int]:
        start, end = self.span(mention)
        exact = any(self.names.label(thing) == self.question[start:end] for thing in mention.things)
        return not exact, mention.start - mention.end, mention.start

    def _best(self, mentions: Iterable[Mention]) -> list[Mention]:
        """Those that weigh most together (weighted interval scheduling); a long name weighs more than two inside it."""
        by_end: dict[int, list[Mention]] = {}
        for mention in mentions:
            by_end.setdefault(mention.end, []).append(mention)
        best: list[tuple[float, tuple[Mention, ...]]] = [(0.0, ())]
        weights = [self._weight(word) for word in self.words]
        for end in range(1, len(self.words) + 1):
            top = best[end - 1]
            for mention in by_end.get(end, ()):
                before = best[mention.start]
                weight = before[0] + sum(weights[mention.start : end]) - self._cost(mention)
                if weight > top[0]:
                    top = (weight, (*before[1], mention))
            best.append(top)
        return list(best[-1][1])

    def _cost(self, mention: Mention) -> float:
        """What speaks against a name: that it is one more, is not whole, or is written in other letters."""
        start, end = self.span(mention)
        same = any(self.names.label(thing).startswith(self.question[start:end]) for thing in mention.things)
        return 0.02 + (0 if mention.whole else 0.01) + (0 if same or not self.cased else 0.35)

    def _weight(self, word: Word) -> float:
        if word.sign or word.text in FUNCTION:
            return 0.05
        if word.capital and self.cased:
            return 1.0
        if self.known(word):
            return 0.3
        return 0.6 if self.cased else 1.0

    # -- names that are not there -------------------------------------------------------------------------------------

    def strangers(self, found: Sequence[Mention]) -> str:
        """What is written as a name, or as part of one, and is not in the graph; empty if nothing is."""
        covered = {at for mention in found for at in range(mention.start, mention.end)}
        for start, end in self._runs(covered):
            touching = [m for m in found if m.end == start or m.start == end or self._qualifies(m, start)]
            if touching or len(found) < 2:
                first = min([start, *(mention.start for mention in touching)])
                last = max([end, *(mention.end for mention in touching)])
                return self._not_there(first, last)
        return ""

    def _runs(self, covered: set[int]) -> Iterator[tuple[int, int]]:
        """Stretches of words outside the names that look like a name: capitals, or unknown words beside a name."""
        at = 0
        while at < len(self.words):
            end = at
            while end < len(self.words) and end not in covered and self._like_a_name(end, at):
                end += 1
            if any(self._strange(word, end in covered) for word in self.words[at:end]):
                yield at, end
            at = max(end, at + 1)

    def _strange(self, word: Word, before_name: bool) -> bool:
        """Whether a word says nothing but a name; an adjective does so right before one: `Great Fisher River`."""
        adjective = word.text in ADJECTIVES and before_name and (word.capital or not self.cased)
        return adjective or not self.known(word)

    def _like_a_name(self, at: int, start: int) -> bool:
        word = self.words[at]
        if word.sign or word.text == "'s":
            return False
        if not self.cased:
            return word.text in ADJECTIVES or (not self.known(word) and not word.text.endswith("ly"))
        if at == 0:
            opening = word.text.endswith("ly") or (word.text.endswith("ing") and self._has_clause())
            return word.capital and not self.known(word) and not opening
        return word.capital and not (at == start and word.text in FUNCTION)

    def _has_clause(self) -> bool:
        """Whether a question follows a comma: `Following X downstream, do we ...`."""
        pairs = zip(self.words, self.words[1:], strict=False)
        return any(one.text == "," and other.text in BE | DO for one, other in pairs)

    def _qualifies(self, mention: Mention, start: int) -> bool:
        """Whether a bracket or a comma right behind a name leads to what stands at `start`."""
        between = [word.text for word in self.words[mention.end : start]]
        return between in (["("], [","], ["in"], ["of"], ["near"], ["from"])

    def _not_there(self, first: int, last: int) -> str:
        name = self.question[self.words[first].start : self.words[last - 1].end]
        name += ")" if name.count("(") > name.count(")") else ""
        return self._no_name(name)

    def _no_name(self, name: str) -> str:
        near = self.names.nearest(name[:100])
        nearest = f"; the nearest are {', '.join(repr(one_line(each, 80)) for each in near)}" if near else ""
        return f"'{one_line(name, 80)}' is no name in the graph{nearest}"

    def lacking(self, found: Sequence[Mention]) -> str:
        """Why there are not two names."""
        if not found:
            return "no name of the graph is in the question"
        return f"only {self.quoted(found[0])} is a name in the graph"

    # -- the sentence -------------------------------------------------------------------------------------------------

    def sentence(self, found: Sequence[Mention]) -> tuple[Sentence, list[Mention]]:
        """The sentence around the names. With more than two, the clause behind the second is left aside."""
        pieces = self._pieces(found)
        texts = [all(isinstance(thing, Literal) for thing in mention.things) for mention in found]
        whole = read_sentence(pieces, self.lexicon, texts) if len(found) == 2 else None
        if whole and whole.relation:
            return whole, list(found)
        second = [at for at, piece in enumerate(pieces) if piece.slot][1]
        for at in range(second + 1, len(pieces)):
            if pieces[at].text in CLAUSES and not any(piece.slot for piece in pieces[second + 1 : at]):
                part = read_sentence(pieces[:at], self.lexicon, texts[:2])
                if part.relation:
                    return replace(part, confidence=round(part.confidence * _TAIL, 4)), list(found[:2])
        listed = ", ".join(self.quoted(mention) for mention in found[:4])
        return whole or Sentence(None, reason=f"the question names {len(found)} things: {listed}"), list(found)

    @staticmethod
    def _slots(found: Sequence[Mention]) -> list[int]:
        """The number of each name; one that comes again, as the third or later, has the number it had."""
        slots: list[int] = []
        for at, mention in enumerate(found):
            same = [slots[back] for back in range(at) if found[back].things == mention.things]
            slots.append(same[0] if same and max(slots) > 1 else max(slots, default=0) + 1)
        return slots

    def _pieces(self, found: Sequence[Mention]) -> list[Piece]:
        pieces: list[Piece] = []
        at = 0
        slots = self._slots(found)
        for slot, mention in zip(slots, found, strict=True):
            pieces += self._between(at, mention.start)
            pieces.append(Piece("", *self.span(mention), slot))
            at = mention.end
        return pieces + self._between(at, len(self.words))

    def _between(self, start: int, end: int) -> list[Piece]:
        """The words that are not in names; a hyphen inside a word joins nothing here (`sub-tributary`)."""
        return [Piece(word.text, word.start, word.end) for word in self.words[start:end] if not self._is_hyphen(word)]

    def _is_hyphen(self, word: Word) -> bool:
        around = self.question[word.start - 1 : word.start] + self.question[word.end : word.end + 1]
        return word.text == "-" and len(around) == 2 and around.isalpha()
