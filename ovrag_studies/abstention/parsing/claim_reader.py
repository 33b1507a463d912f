"""A claim about a graph, and how a question is read as one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from pyoxigraph import Literal, NamedNode

from ovrag_core.text import one_line
from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.parsing import english
from ovrag_studies.abstention.parsing.english import Word, words_of
from ovrag_studies.abstention.parsing.frames import slot_of, slot_word
from ovrag_studies.abstention.parsing.grammar import Sentence, read_sentence
from ovrag_studies.abstention.parsing.name_index import Mention, Names
from ovrag_studies.abstention.parsing.relation_words import RelationWords, lexicon_of

LONGEST = 1_000  # characters; no question about two things needs more
_PART_OF_A_NAME = 0.9  # what is left of the confidence where a name is not given whole
_TAIL = 0.85  # the same where the end of a question is left aside
_CANDIDATES = 64
_KNOWN = english.FUNCTION | english.SHELL
_LEADS = frozenset({"(", ",", "in", "of", "near", "from"})  # from a name to what tells it from others of that name
_APART = english.CLAUSES - {",", ";", "which"} | {"in"}  # what follows is about something else


@dataclass(frozen=True)
class _Text:
    """A question while it is read."""

    question: str
    words: list[Word]
    lexicon: RelationWords
    names: Names

    def written(self, mention: Mention) -> str:
        return self.question[self.words[mention.start].start : self.words[mention.end - 1].end]

    def quoted(self, mention: Mention) -> str:
        return f"'{one_line(self.written(mention), 80)}'"

    @cached_property
    def every(self) -> list[Mention]:
        """All that may be a name, inside longer ones too."""
        return list(self.names.mentions(self.question, self.words))

    @cached_property
    def cased(self) -> bool:
        """Flag that capitals tell names from other words: some words have them, or the names found have none either."""
        letters = [word.capital for word in self.words[1:] if not word.sign and word.text[:1].isalpha()]
        labels = [self.names.label(mention.things[0]) for mention in self.every]
        return not all(letters) and (any(letters) or not any(label != label.lower() for label in labels))

    def known(self, word: Word) -> bool:
        """Return True for a word of the language or the domain, as far as they are known here."""
        return word.sign or word.text in _KNOWN or word.text in self.lexicon.words

    def mentions(self) -> list[Mention]:
        """The names that are meant, in order, without overlap: the weightiest first, common words at need only."""
        chosen: list[Mention] = []
        for mention in sorted(self.every, key=lambda m: (self._is_common(m), -self._weight(m), m.start)):
            if len(chosen) >= 2 and self._is_common(mention):
                break
            if not any(mention.start < c.end and c.start < mention.end for c in chosen):
                chosen.append(mention)
        return sorted(chosen, key=lambda m: m.start)

    def _is_common(self, mention: Mention) -> bool:
        words = self.words[mention.start : mention.end]
        return all(self.known(word) and (not word.capital or word.start == 0) for word in words)

    def _weight(self, mention: Mention) -> float:
        """The part of the question that a name accounts for; less where it is not whole, or in other letters."""
        written = self.written(mention)
        labels = [self.names.label(node) for node in mention.things]
        verbatim = any(label.startswith(written) or label[4:].startswith(written) for label in labels)  # "the ocean"
        words = self.words[mention.start : mention.end]
        weight = sum(0.3 if self.known(word) and not (word.capital and self.cased) else 1.0 for word in words)
        return weight - (0 if mention.whole else 0.01) - (0 if verbatim or not self.cased else 0.35)

    def sentence(self, found: Sequence[Mention], slots: Sequence[int]) -> list[str]:
        """The words, each name as its number; a hyphen inside a word joins nothing here (`sub-tributary`)."""
        names = {mention.start: slot_word(slot) for slot, mention in zip(slots, found, strict=True)}
        hidden = _covered(found) | {i for i, word in enumerate(self.words) if self._is_hyphen(word)}
        words = (names.get(i) or ("" if i in hidden else word.text) for i, word in enumerate(self.words))
        text = f" {' '.join(filter(None, words))} "
        for phrase, short in english.LONG_PREPOSITIONS.items():
            text = text.replace(f" {phrase} ", f" {short} ")
        return text.split()

    def _is_hyphen(self, word: Word) -> bool:
        around = self.question[word.start - 1 : word.start] + self.question[word.end : word.end + 1]
        return word.text == "-" and len(around) == 2 and around.isalpha()


# -- strangers: what is written as a name, or as part of one, and is no name of the graph -----------------------------


def _stranger(text: _Text, found: Sequence[Mention]) -> str:
    """Say why the names found are not those that the question has; empty if they are.

    A longer name is never taken for one inside it, nor an unknown thing passed over for others that are mentioned.
    """
    for start, end in _runs(text, _covered(found)):
        touching = [mention for mention in found if _touches(text, mention, start, end)]
        if touching or not _passed_over(text, found, start, end):
            name = _whole_name(text, [(start, end), *((mention.start, mention.end) for mention in touching)])
            near = ", ".join(repr(one_line(n, 80)) for n in text.names.nearest(name[:100]))
            return f"'{one_line(name, 80)}' is no name in the graph{near and f'; the nearest are {near}'}"
    if not found:
        return "no name of the graph is in the question"
    return f"only {text.quoted(found[0])} is a name in the graph" if len(found) < 2 else ""


def _passed_over(text: _Text, found: Sequence[Mention], start: int, end: int) -> bool:
    """Detect a run apart from two names that are asked about, or the first word of "Hydrologists say ..."."""
    apart = any(word.text in _APART for mention in found[-1:] for word in text.words[mention.end : start])
    return len(found) > 1 and (apart or (_opens(text, start) and end == start + 1))


def _whole_name(text: _Text, parts: Sequence[tuple[int, int]]) -> str:
    """The words from the first part of a name to the last, with what stands in a bracket that is open there."""
    first, last = text.words[min(parts)[0]].start, text.words[max(end for _, end in parts) - 1].end
    if text.question.count("(", first, last) > text.question.count(")", first, last):
        last = text.question.find(")", last) + 1 or last
    return text.question[first:last]


def _covered(found: Sequence[Mention]) -> set[int]:
    return {i for mention in found for i in range(mention.start, mention.end)}


def _touches(text: _Text, mention: Mention, start: int, end: int) -> bool:
    """Return True where a run stands right beside a name, or with only a bracket, a comma or `in` between."""
    behind = [word.text for word in text.words[mention.end : start]]
    before = [word.text for word in text.words[end : mention.start]]
    beside = mention.end == start or mention.start == end
    return beside or (len(behind) == 1 and behind[0] in _LEADS) or before == ["("]


def _runs(text: _Text, covered: set[int]) -> Iterator[tuple[int, int]]:
    """Stretches of words outside the names that look like a name."""
    start = 0
    while start < len(text.words):
        end = start
        while end < len(text.words) and end not in covered and _like_a_name(text, end, start):
            end += 1
        adjectives = english.ADJECTIVES if end in covered else ()  # right before a name: `Great Fisher River`
        strange = (word.text in adjectives or not text.known(word) for word in text.words[start:end])
        if any(strange) or _headed(text, start, end):
            yield start, end
        start = max(end, start + 1)


def _headed(text: _Text, start: int, end: int) -> bool:
    """Detect words that are all known but make a name by their capitals: `Lost River`."""
    words = [word for word in text.words[start:end] if word.text not in english.FUNCTION]
    return text.cased and len(words) > 1 and any(word.text in text.names.heads for word in words[1:])


def _like_a_name(text: _Text, at: int, start: int) -> bool:
    """Tell by its capital whether a word may be in a name; where capitals say nothing, whether it is unknown."""
    word = text.words[at]
    if word.sign or word.text == "'s" or (text.cased and not word.capital):
        return False
    if not text.cased:
        return word.text in english.ADJECTIVES or (not text.known(word) and not word.text.endswith("ly"))
    if not _opens(text, at):
        return at > start or word.text not in english.FUNCTION
    headed = any(ahead.capital and ahead.text in text.names.heads for ahead in text.words[at + 1 : at + 2])
    plain = text.known(word) or word.text.endswith(("ly", "ing"))
    return word.text not in english.FUNCTION and (headed or not plain)


def _opens(text: _Text, at: int) -> bool:
    """Return True for a word that begins a sentence, where every word has a capital."""
    return at == 0 or text.words[at - 1].text in (".", "?", "!", ":", '"')


# -- claims -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GraphClaim:
    """That the subject has the object under a predicate of the domain, named as there, or under its chain's name."""

    subject: NamedNode
    predicate: str
    object: NamedNode | Literal


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """Reading of a question. Without a claim, `reason` says why, and `candidates` what it may have meant.

    `confidence` is from 0 to 1. `negated`: the question asks whether the claim is *not* so, so that a yes of the graph
    is a no to it.
    """

    claim: GraphClaim | None
    confidence: float
    reason: str = ""
    candidates: tuple[GraphClaim, ...] = ()
    negated: bool = False


def read_claim(question: str, names: Names, domain: Domain) -> QuestionReading:
    """The claim that a question or statement makes about two things of a graph; doubt is no claim, with its reason."""
    if len(question) > LONGEST:
        reason = f"the question has {len(question):,} characters; at most {LONGEST:,} are read"
        return QuestionReading(None, 0.0, reason)
    text = _Text(question, words_of(question), lexicon_of(domain), names)
    mentions = text.mentions()
    if problem := _stranger(text, mentions):
        return QuestionReading(None, 0.0, problem)
    sentence, used = _sentence(text, mentions)
    if sentence.relation is None:
        return QuestionReading(None, 0.0, sentence.reason)
    return _claimed(sentence, used, text, domain)


def _claimed(sentence: Sentence, used: Sequence[Mention], text: _Text, domain: Domain) -> QuestionReading:
    """The reading with the things that the names may mean in their parts of the claim."""
    subject, object_ = used[sentence.subject - 1], used[sentence.object - 1]
    relations = [name for name in (sentence.relation, sentence.otherwise) if name]
    value = domain.predicate(relations[0]).values != "thing"
    subjects = [node for node in subject.things if isinstance(node, NamedNode)]
    objects = [node for node in object_.things if isinstance(node, Literal) == value]
    claims = tuple(GraphClaim(s, name, o) for s, name, o in product(subjects, relations, objects))
    partial = [m for m in (subject, object_) if not m.whole]
    confidence = round(sentence.confidence * _PART_OF_A_NAME ** len(partial) / max(len(claims), 1), 4)
    if len(claims) == 1:
        reason = "; ".join(f"{text.quoted(m)} is taken for {text.names.label(m.things[0])!r}" for m in partial)
        return QuestionReading(claims[0], confidence, reason, negated=sentence.negated)
    reason = f"the question may ask for {' or '.join(relations)}"
    for role, mention, things in (("object", object_, objects), ("subject", subject, subjects)):
        if len(things) != 1:
            bears = f"the name of {len(things)} things" if things else f"of no use as the {role} of {relations[0]}"
            reason = f"{text.quoted(mention)} is {bears}"
    return QuestionReading(None, confidence, reason, claims[:_CANDIDATES], sentence.negated)


def _sentence(text: _Text, found: Sequence[Mention]) -> tuple[Sentence, list[Mention]]:
    """The sentence around the names, and these by their slots; a clause behind the second may be left aside."""
    slots = _slots(found)
    used = [found[slots.index(slot)] for slot in sorted(set(slots))]
    words = text.sentence(found, slots)
    texts = [all(isinstance(node, Literal) for node in mention.things) for mention in used]
    listed = ", ".join(text.quoted(mention) for mention in used[:4])
    whole = Sentence(None, reason=f"the question names {len(used)} things: {listed}")
    if len(used) == 2:
        whole = read_sentence(words, text.lexicon, texts)
    second, third = ([i for i, word in enumerate(words) if slot_of(word)] + [len(words)])[1:3]
    ends = [i for i in range(second + 1, third) if words[i] in english.CLAUSES]
    for end in ends if whole.relation is None else ():
        clause = read_sentence(words[:end], text.lexicon, texts[:2])
        if clause.relation:
            return replace(clause, confidence=round(clause.confidence * _TAIL, 4)), used
    return whole, used


def _slots(found: Sequence[Mention]) -> list[int]:
    """The slots of names, from 1: one that comes again has that which it had, unless there is no other."""
    distinct = list(dict.fromkeys(mention.things for mention in found))
    return [distinct.index(mention.things) + 1 for mention in found] if distinct[1:] else [*range(1, len(found) + 1)]
