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
    mentions = text.mentions()
    if problem := stranger(text, mentions):
        return _unread(problem)
    sentence, used = _sentence(text, mentions)
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
    subjects = [node for node in subject.things if isinstance(node, NamedNode)]
    objects = [node for node in object_.things if isinstance(node, Literal) == value]
    claims = tuple(GraphClaim(s, name, o) for s, name, o in product(subjects, relations, objects))
    partial = [m for m in (subject, object_) if not m.whole]
    assumed = [f"{text.quoted(m)} is taken for {text.names.label(m.things[0])!r}" for m in partial]
    return QuestionReading(
        claims[0] if len(claims) == 1 else None,
        round(sentence.confidence * _PART_OF_A_NAME ** len(partial) / max(len(claims), 1), 4),
        "; ".join(assumed) if len(claims) == 1 else _several(text, subject, subjects, object_, objects, relations),
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
    role, mention, nodes = ("subject", subject, subjects) if len(subjects) != 1 else ("object", object_, objects)
    if not nodes:
        return f"{text.quoted(mention)} is of no use as the {role} of {relations[0]}"
    return f"{text.quoted(mention)} is the name of {len(nodes)} things"


def _sentence(text: Text, found: Sequence[Mention]) -> tuple[Sentence, list[Mention]]:
    """The sentence around the names, and these by their slots.

    With more than two, or where the whole cannot be read, the clause behind the second is left aside.
    """
    slots = _slots(found)
    used = [found[slots.index(slot)] for slot in sorted(set(slots))]
    pieces = text.pieces(found, slots)
    texts = [all(isinstance(node, Literal) for node in mention.things) for mention in used]
    listed = ", ".join(text.quoted(mention) for mention in used[:4])
    whole = Sentence(None, reason=f"the question names {len(used)} things: {listed}")
    if len(used) == 2:
        whole = read_sentence(pieces, text.lexicon, texts)
    second, third = ([i for i, piece in enumerate(pieces) if piece.slot] + [len(pieces)])[1:3]
    ends = [i for i in range(second + 1, third) if pieces[i].text in CLAUSES]
    for end in ends if whole.relation is None else ():
        clause = read_sentence(pieces[:end], text.lexicon, texts[:2])
        if clause.relation:
            return replace(clause, confidence=round(clause.confidence * _TAIL, 4)), used
    return whole, used


def _slots(found: Sequence[Mention]) -> list[int]:
    """The number of each name: one that comes again has the number it had, unless there is no other."""
    distinct = list(dict.fromkeys(mention.things for mention in found))
    if len(distinct) == 1:
        return list(range(1, len(found) + 1))
    return [distinct.index(mention.things) + 1 for mention in found]
