"""A claim about a graph, and how a question is read as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from pyoxigraph import Literal, NamedNode

from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.parsing.english import CLAUSES
from ovrag_studies.abstention.parsing.grammar import Sentence, read_sentence
from ovrag_studies.abstention.parsing.name_index import Mention, Names, Thing
from ovrag_studies.abstention.parsing.relation_words import lexicon_of
from ovrag_studies.abstention.parsing.strangers import stranger
from ovrag_studies.abstention.parsing.texts import Text
from ovrag_studies.abstention.parsing.word_forms import words_of

Span = tuple[int, int]  # from and to, in characters of the question

LONGEST = 1_000  # characters; no question about two things needs more
_PART_OF_A_NAME = 0.9  # what is left of the confidence where a name is not given whole
_TAIL = 0.85  # the same where the end of a question is left aside
_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class GraphClaim:
    """That the subject has the object under a predicate of the domain, named as there, or under its chain's name."""

    subject: NamedNode
    predicate: str
    object: NamedNode | Literal


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """Reading of a question. Without a claim, `reason` says why, and `candidates` what it may have meant.

    `confidence` is from 0 to 1; `mentions` are the spans of `subject`, `object` and `relation` in the question.
    `negated`: the question asks whether the claim is *not* so, so that a yes of the graph is a no to it.
    """

    claim: GraphClaim | None
    confidence: float
    reason: str = ""
    mentions: Mapping[str, Span] = field(default_factory=dict)
    candidates: tuple[GraphClaim, ...] = ()
    negated: bool = False


def read_claim(question: str, names: Names, domain: Domain) -> QuestionReading:
    """The claim that a question (or a statement) makes about two things of a graph; doubt is no claim, with its reason.

    Anything may stand in a question: it is only ever compared with names and words.
    """
    if len(question) > LONGEST:
        return _unread(f"the question has {len(question):,} characters; at most {LONGEST:,} are read")
    text = Text(question, words_of(question), lexicon_of(domain), names)
    found = text.mentions()
    if problem := stranger(text, found):
        return _unread(problem)
    sentence, used = _sentence(text, found)
    if sentence.relation is None:
        return _unread(sentence.reason)
    return _claimed(sentence, used, text, domain)


def _unread(reason: str) -> QuestionReading:
    return QuestionReading(None, 0.0, reason)


def _claimed(sentence: Sentence, used: Sequence[Mention], text: Text, domain: Domain) -> QuestionReading:
    """The reading with the things that the names may mean in their parts of the claim."""
    subject, object_ = used[sentence.subject - 1], used[sentence.object - 1]
    relations = [name for name in (sentence.relation, sentence.otherwise) if name]
    value = domain.predicate(relations[0]).values != "thing"
    subjects = [thing for thing in subject.things if isinstance(thing, NamedNode)]
    objects = [thing for thing in object_.things if isinstance(thing, Literal) == value]
    claims = tuple(GraphClaim(one, name, other) for one, name, other in product(subjects, relations, objects))
    parts = [each for each in (subject, object_) if not each.whole]
    taken = [f"{text.quoted(each)} is taken for {text.names.label(each.things[0])!r}" for each in parts]
    return QuestionReading(
        claims[0] if len(claims) == 1 else None,
        round(sentence.confidence * _PART_OF_A_NAME ** len(parts) / max(len(claims), 1), 4),
        "; ".join(taken) if len(claims) == 1 else _several(text, subject, subjects, object_, objects, relations),
        {"subject": text.span(subject), "object": text.span(object_), "relation": sentence.span},
        claims[:_CANDIDATES] if len(claims) > 1 else (),
        sentence.negated,
    )


def _several(
    text: Text,
    subject: Mention,
    subjects: Sequence[Thing],
    object_: Mention,
    objects: Sequence[Thing],
    relations: Sequence[str],
) -> str:
    """Say why the question is not one claim."""
    if len(subjects) == len(objects) == 1:
        return f"the question may ask for {' or '.join(relations)}"
    part, name, things = ("subject", subject, subjects) if len(subjects) != 1 else ("object", object_, objects)
    if not things:
        return f"{text.quoted(name)} is of no use as the {part} of {relations[0]}"
    return f"{text.quoted(name)} is the name of {len(things)} things"


def _sentence(text: Text, found: Sequence[Mention]) -> tuple[Sentence, list[Mention]]:
    """The sentence around the names, and these by their slots.

    With more than two, or where the whole cannot be read, the clause behind the second is left aside.
    """
    slots = _slots(found)
    used = [found[slots.index(slot)] for slot in sorted(set(slots))]
    pieces = text.pieces(found, slots)
    texts = [all(isinstance(thing, Literal) for thing in mention.things) for mention in used]
    listed = ", ".join(text.quoted(mention) for mention in used[:4])
    whole = Sentence(None, reason=f"the question names {len(used)} things: {listed}")
    if len(used) == 2:
        whole = read_sentence(pieces, text.lexicon, texts)
    second, third = ([at for at, piece in enumerate(pieces) if piece.slot] + [len(pieces)])[1:3]
    ends = [at for at in range(second + 1, third) if pieces[at].text in CLAUSES]
    for at in ends if whole.relation is None else ():
        part = read_sentence(pieces[:at], text.lexicon, texts[:2])
        if part.relation:
            return replace(part, confidence=round(part.confidence * _TAIL, 4)), used
    return whole, used


def _slots(found: Sequence[Mention]) -> list[int]:
    """The number of each name: one that comes again has the number it had, unless there is no other."""
    things = list(dict.fromkeys(mention.things for mention in found))
    if len(things) == 1:
        return list(range(1, len(found) + 1))
    return [things.index(mention.things) + 1 for mention in found]
