"""Which relation a sentence asks for, and which of its two names is whose: the grammar of direction.

A sentence comes with its names taken out (`Piece.slot`). The domain's words tell what a verb's agent and a noun's owner
are in a claim; the grammar finds agent and owner: active and passive, clefts, relative clauses, fronted prepositions,
`of`, possessors, compounds, `has ... as its`. Every sign found is a vote; signs that disagree are doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ovrag_studies.abstention.parsing.doubts import doubts, side_by_side
from ovrag_studies.abstention.parsing.english import ADVERBIAL, ARTICLES, FUNCTION, GOALS, PERSONS, SHELL
from ovrag_studies.abstention.parsing.frames import SIGNS, Frame, RelationSign, SentencePart
from ovrag_studies.abstention.parsing.name_roles import Vote, votes_from_to, votes_of
from ovrag_studies.abstention.parsing.polarity import is_negated, tag_of
from ovrag_studies.abstention.parsing.relation_words import Phrase, RelationWords, Sense
from ovrag_studies.abstention.parsing.relations import otherwise_of, relation_of

_UNSURE = 0.5  # a reading that is less sure is none
_WRAPPED = 0.98  # a wording of the domain inside another sentence
_UNKNOWN_WORD = 0.9  # what each word that is not understood leaves of the confidence
_UNHEARD = 0.85  # a verb that the domain has not


Votes = list[tuple[Sense, Vote]]  # each with the sense of its word


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a sentence asks: the relation, the slots of subject and object, and whether it asks if that is not so.

    `otherwise` is another relation that it may ask for as well. Without a relation, `reason` says why. `span` is where
    the relation stands.
    """

    relation: str | None
    subject: int = 0
    object: int = 0
    confidence: float = 0.0
    negated: bool = False
    reason: str = ""
    span: tuple[int, int] = (0, 0)
    otherwise: str | None = None


def read_sentence(pieces: Sequence[SentencePart], lexicon: RelationWords, texts: Sequence[bool] = ()) -> Sentence:
    """What a sentence with two slots asks. `texts` says of each slot whether it is text, so never a subject."""
    frame = Frame(pieces, lexicon, tuple(texts))
    if known := _known(frame):
        return known
    return _read(frame)


def _known(frame: Frame) -> Sentence | None:
    """The sentence as a template of the domain says it, by itself or inside `Is it true that ...?`."""
    if len(frame.slots) != 2:
        return None
    opening = [at for at in range(frame.slots[0]) if frame.words[at] == "that"][-1:]
    wraps = all(word in FUNCTION | SHELL | SIGNS for at in opening for word in frame.words[:at])
    inside = opening[0] + 1 if opening and wraps else 0
    for start, end, sure in ((0, len(frame.words), 1.0), (inside, tag_of(frame), _WRAPPED)):
        if template := frame.lexicon.templates.get(_said(frame, start, end)):
            first, second = (frame.pieces[at].slot for at in frame.slots)
            subject, object_ = (first, second) if template.order[0] == "subject" else (second, first)
            between = frame.pieces[frame.slots[0] + 1 : frame.slots[1]] or frame.pieces
            span = (between[0].start, between[-1].end)
            return Sentence(template.relation, subject, object_, sure, sure < 1 and is_negated(frame), span=span)
    return None


def _said(frame: Frame, start: int, end: int) -> Phrase:
    """The words from one place to another as templates have them: names by their order, no articles before them."""
    return tuple(
        str(frame.slots.index(at) + 1) if at in frame.slots else frame.words[at]
        for at in range(start, end)
        if frame.words[at] not in SIGNS and not (frame.words[at] in ARTICLES and at + 1 in frame.slots)
    )


def _read(frame: Frame) -> Sentence:
    """The sentence by its words and their order."""
    if reason := next(doubts(frame), ""):
        return Sentence(None, reason=reason)
    signs = _meant(frame) or _unheard_verb(frame) or _loose(frame)
    if side_by_side(frame):  # "Do X and Y meet where X ends?"
        signs = [sign for sign in signs if sign.senses[0].noun or sign.start > frame.slots[1] + 1]
    if not signs:
        return Sentence(None, reason="no word of a relation that the domain has stands between the names")
    found = {sign: votes_of(frame, sign) for sign in signs}
    every = _innermost(frame, [vote for votes in found.values() for vote in votes])
    votes = [vote for vote in every if vote not in _partial(frame, found)]
    if not votes:  # without a verb
        votes = every = [(_going(frame), vote) for vote in votes_from_to(frame)]
    placed = _placed(frame, [vote for _, vote in votes])
    if placed is None:
        return Sentence(None, reason="which of the two names is whose is not clear")
    subject, object_, confidence = placed
    senses = [sense for sense, vote in every if (vote.slot == subject) == (vote.role == "subject")]
    relation = relation_of(frame, signs, senses)
    if relation is None:
        return Sentence(None, reason="the question fits several relations")
    unknown = [frame.words[at] for at in frame.unknown()]
    confidence *= _UNKNOWN_WORD ** len(unknown) * (1.0 if signs[0] in frame.signs else _UNHEARD)
    if confidence < _UNSURE:
        wording = ", ".join(repr(word) for word in unknown[:3]) or "the wording"
        return Sentence(None, reason=f"{wording} is not understood")
    span = (frame.pieces[signs[0].start].start, frame.pieces[signs[-1].end - 1].end)
    otherwise = otherwise_of(frame, relation, senses)
    return Sentence(relation, subject, object_, round(confidence, 4), is_negated(frame), "", span, otherwise)


def _going(frame: Frame) -> Sense:
    """To go anywhere, by however long a way."""
    sense = next(iter(frame.lexicon.any_verb.values()))
    return replace(sense, relation=frame.lexicon.chains.get(sense.relation, sense.relation))


def _meant(frame: Frame) -> list[RelationSign]:
    """The signs whose preposition is there, where they need one: `falls on` is not `falls into`."""
    meant = [sign for sign in frame.signs if frame.satisfied(sign) or any(not sense.needs for sense in sign.senses)]
    asides = [sign for sign in meant if frame.is_aside(sign)]
    return [sign for sign in meant if sign not in asides] or (asides and _unheard_verb(frame)) or meant


def _loose(frame: Frame) -> list[RelationSign]:
    """The one verb of the sentence whose preposition is not behind it, where it has a name on either side."""
    if len(frame.signs) != 1:
        return []
    sign = frame.signs[0]
    if len({sense.role for sense in sign.senses}) > 1:  # "get the water of X" is to get it from X, not to get to X
        whole = frame.governor(frame.slots[-1]) == ""
        sign = replace(sign, senses=tuple(sense for sense in sign.senses if whole and sense.needs == "from"))
        if not sign.senses:
            return []
    around = frame.slots[0] < sign.start and sign.end <= frame.slots[-1] and _leads_to(frame, frame.slots[0], sign)
    return [sign] if around or any(frame.governor(at) == "from" for at in frame.slots[:1]) else []


def _leads_to(frame: Frame, at: int, sign: RelationSign) -> bool:
    """Whether a name may be the verb's subject: nothing is between that begins something else."""
    return not any(
        frame.words[back] in {"and", "or", "to", ".", ":", ";", "?"} or frame.words[back] in SHELL | PERSONS
        for back in range(at + 1, sign.start)
    )


def _unheard_verb(frame: Frame) -> list[RelationSign]:
    """A verb that is not in the domain, by the preposition behind it: `debouches into`."""
    for preposition, sense in frame.lexicon.any_verb.items():
        for at, word in enumerate(frame.words):
            if word == preposition and at > 0:
                return [RelationSign(at, at + 1, (sense,))]
    strange = [at for at in range(len(frame.words)) if frame.is_adjective(at)]
    for at in frame.fillers:  # "sheds its water in"
        goal = frame.words[at + 1 : at + 2]
        if strange[:1] < [at] and strange and at + 1 not in frame.told and goal and goal[0] in GOALS:
            return [RelationSign(at + 1, at + 2, (sense,)) for sense in list(frame.lexicon.any_verb.values())[:1]]
    return []


def _partial(frame: Frame, found: Mapping[RelationSign, Votes]) -> Votes:
    """The votes of verbs that have one of the names, beside one that has both: `Does X reach Y when it ends?`."""
    verbs = {sign for sign, votes in found.items() if votes and not votes[0][0].noun}
    whole = {sign for sign in verbs if len({vote.slot for _, vote in found[sign]}) == 2}
    if not whole:
        return []
    adverbs = {sign for sign in found if frame.words[sign.end - 1] in ADVERBIAL}
    begun = {sign for sign in found if any(_runs_on(frame, sign, verb) for verb in whole)}  # "the X basin drains to Y"
    return [vote for sign in verbs | adverbs | begun if len(found[sign]) == 1 for vote in found[sign]]


def _runs_on(frame: Frame, noun: RelationSign, verb: RelationSign) -> bool:
    """Whether the noun is what the verb says something of."""
    return (
        noun.senses[0].noun
        and noun.end <= verb.start
        and all(at in frame.told or frame.words[at].endswith("ly") for at in range(noun.end, verb.start))
    )


def _innermost(frame: Frame, votes: Votes) -> Votes:
    """Without the votes of a noun of a chain that lies in another: `Is the basin of X in the basin of Y?`."""
    owners = [
        (sense, vote)
        for sense, vote in votes
        if sense.noun and vote.role == sense.role and frame.lexicon.is_chain(sense.relation)
    ]
    inner = [each for each in owners if (each[0].role, each[1].slot) != (owners[-1][0].role, owners[-1][1].slot)]
    same = [each for each in inner if each[0].role == owners[-1][0].role]
    return [each for each in votes if each not in same]


def _placed(frame: Frame, votes: Sequence[Vote]) -> tuple[int, int, float] | None:
    """Subject and object with the confidence in them."""
    slots = list(dict.fromkeys(frame.pieces[at].slot for at in frame.slots))
    if len(slots) != 2:
        return None
    one, other = slots
    if frame.is_text(one) or frame.is_text(other):
        if frame.is_text(one) and frame.is_text(other):
            return None
        return (other, one, 0.95) if frame.is_text(one) else (one, other, 0.95)
    forward = sum(vote.weight for vote in votes if (vote.slot == one) == (vote.role == "subject"))
    backward = sum(vote.weight for vote in votes) - forward
    if bool(forward) == bool(backward):
        return None
    sure = 0.9 if max(forward, backward) < 2 else 0.95
    sure *= 1.0 if max(forward, backward) >= 0.9 else 0.9
    return (one, other, sure) if forward > backward else (other, one, sure)
