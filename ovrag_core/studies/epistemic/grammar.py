"""Which relation a sentence asks for, and which of its two names is whose: the grammar of direction.

A sentence comes with its names taken out (`Piece.slot`). The domain's words tell what a verb's agent and a noun's owner
are in a claim; the grammar finds agent and owner: active and passive, clefts, relative clauses, fronted prepositions,
`of`, possessors, compounds, `has ... as its`. Every sign found is a vote; signs that disagree are doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ovrag_core.studies.epistemic.english import ARTICLES, ASIDE, DIRECT, EXCLUDING, FUNCTION, GOALS, SHELL
from ovrag_core.studies.epistemic.frames import SIGNS, Frame, Piece, Sign
from ovrag_core.studies.epistemic.lexicon import Lexicon, Phrase, Sense
from ovrag_core.studies.epistemic.polarity import is_negated, tag_of
from ovrag_core.studies.epistemic.roles import Vote, votes_of, votes_of_the_way

_UNSURE = 0.5  # a reading that is less sure is none
_WRAPPED = 0.98  # a wording of the domain inside another sentence
_UNKNOWN_WORD = 0.9  # what each word that is not understood leaves of the confidence


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


def read_sentence(pieces: Sequence[Piece], lexicon: Lexicon, texts: Sequence[bool] = ()) -> Sentence:
    """What a sentence with two slots asks. `texts` says of each slot whether it is text, so never a subject."""
    frame = Frame(pieces, lexicon, tuple(texts))
    if known := _known(frame):
        return known
    return _read(frame)


def _known(frame: Frame) -> Sentence | None:
    """The sentence as a template of the domain says it, by itself or inside `Is it true that ...?`."""
    if len(frame.slots) != 2:
        return None
    start, end = _core(frame)
    template = frame.lexicon.templates.get(_said(frame, 0, len(frame.words)))
    confidence, negated = 1.0, False
    if template is None:
        template = frame.lexicon.templates.get(_said(frame, start, end))
        confidence, negated = _WRAPPED, is_negated(frame)
    if template is None:
        return None
    first, second = (frame.pieces[at].slot for at in frame.slots)
    subject, object_ = (first, second) if template.order[0] == "subject" else (second, first)
    if frame.is_text(subject):
        return None
    between = frame.pieces[frame.slots[0] + 1 : frame.slots[1]] or frame.pieces[: frame.slots[0]] or frame.pieces
    span = (between[0].start, between[-1].end)
    return Sentence(template.relation, subject, object_, confidence, negated, span=span)


def _said(frame: Frame, start: int, end: int) -> Phrase:
    """The words from one place to another as templates have them: names by their order, no articles before them."""
    return tuple(
        str(frame.slots.index(at) + 1) if at in frame.slots else frame.words[at]
        for at in range(start, end)
        if frame.words[at] not in SIGNS and not (frame.words[at] in ARTICLES and at + 1 in frame.slots)
    )


def _core(frame: Frame) -> tuple[int, int]:
    """The clause inside `Is it true that ...?` and before a tag."""
    opening = [at for at in range(frame.slots[0]) if frame.words[at] in ("that", "whether", "if", ":")]
    wraps = opening and all(word in FUNCTION | SHELL or word in SIGNS for word in frame.words[: opening[-1]])
    return (opening[-1] + 1 if wraps else 0), tag_of(frame)


def _read(frame: Frame) -> Sentence:
    """The sentence by its words and their order."""
    if reason := _refused(frame):
        return Sentence(None, reason=reason)
    signs = _meant(frame) or _unheard_verb(frame) or _loose(frame)
    if not signs:
        return Sentence(None, reason="no word of a relation that the domain has stands between the names")
    votes: list[tuple[Sense, Vote]] = []
    for sign in signs:
        votes += votes_of(frame, sign)
    votes = _innermost(frame, votes)
    relation = _relation(frame, signs, [sense for sense, _ in votes])
    if relation and not votes:
        votes = [(signs[0].senses[0], vote) for vote in votes_of_the_way(frame)]
        relation = frame.lexicon.chains.get(relation, relation)  # a way may be long
    if relation is None:
        return Sentence(None, reason="the question fits several relations")
    placed = _placed(frame, [vote for _, vote in votes])
    if placed is None:
        return Sentence(None, reason="which of the two names is whose is not clear")
    subject, object_, confidence = placed
    unknown = [frame.words[at] for at in _unknown_at(frame)]
    confidence *= _UNKNOWN_WORD ** len(unknown) * (1.0 if signs[0] in frame.signs else 0.85)
    if confidence < _UNSURE:
        return Sentence(
            None, reason=f"{', '.join(repr(word) for word in unknown[:3]) or 'the wording'} is not understood"
        )
    span = (frame.pieces[signs[0].start].start, frame.pieces[signs[-1].end - 1].end)
    otherwise = _otherwise(frame, relation, [sense for sense, _ in votes])
    return Sentence(relation, subject, object_, round(confidence, 4), is_negated(frame), "", span, otherwise)


def _refused(frame: Frame) -> str:
    """Why the sentence is not read at all, whatever its words of a relation."""
    if frame.other:
        return f"'{frame.other}' asks for a relation that is not in the domain"
    if excluding := next((word for word in frame.words if word in EXCLUDING), ""):
        return f"'{excluding}' leaves open which of the names is meant"
    if aside := next((frame.governor(at) for at in frame.slots if frame.governor(at) in ASIDE), ""):
        return f"'{aside}' asks where something lies"
    if _either_way(frame):
        return "the question asks for one relation or its reverse"
    if _side_by_side(frame):
        return "the names stand side by side, so that neither is said of the other"
    return ""


def _either_way(frame: Frame) -> bool:
    """Whether `or` stands between two words of opposite direction: `upstream or downstream of`."""
    pairs = zip(frame.signs, frame.signs[1:], strict=False)
    return any(
        frame.words[one.end : other.start] == ["or"] and one.senses[0].role != other.senses[0].role
        for one, other in pairs
    )


def _side_by_side(frame: Frame) -> bool:
    """Whether only `and` or `or` is between the names: `Do X and Y flow into the same sea?`."""
    between = frame.words[frame.slots[0] + 1 : frame.slots[1]] if len(frame.slots) == 2 else []
    return bool({"and", "or"} & set(between)) and set(between) <= {"and", "or", "the", ",", "both"}


def _meant(frame: Frame) -> list[Sign]:
    """The signs whose preposition is there, where they need one: `falls on` is not `falls into`."""
    return [sign for sign in frame.signs if frame.satisfied(sign) or any(not sense.needs for sense in sign.senses)]


def _loose(frame: Frame) -> list[Sign]:
    """The one verb of the sentence whose preposition is not behind it, where it has a name on either side."""
    if len(frame.signs) != 1:
        return []
    sign = frame.signs[0]
    around = frame.slots[0] < sign.start and sign.end <= frame.slots[-1]
    return [sign] if around or any(frame.governor(at) == "from" for at in frame.slots[:1]) else []


def _unheard_verb(frame: Frame) -> list[Sign]:
    """A verb that is not in the domain, by the preposition behind it: `debouches into`."""
    for preposition, sense in frame.lexicon.any_verb.items():
        for at, word in enumerate(frame.words):
            if word == preposition and at > 0:
                return [Sign(at, at + 1, (sense,))]
    for at in frame.fillers:  # "sheds its water in"
        ahead = frame.words[at + 1 : at + 2]
        if ahead and ahead[0] in GOALS and frame.lexicon.any_verb and any(frame.is_adjective(b) for b in range(at)):
            return [Sign(at + 1, at + 2, (next(iter(frame.lexicon.any_verb.values())),))]
    return []


def _relation(frame: Frame, signs: Sequence[Sign], voting: Sequence[Sense]) -> str | None:
    """A chain by its nouns and cues; else what the nouns say, else the verbs."""
    senses = list(voting) or [sense for sign in signs for sense in sign.senses]
    chains = frame.lexicon.chains
    for sign in signs:
        sense = sign.senses[0]
        if sense.noun and frame.lexicon.is_chain(sense.relation):
            near = sign.start and frame.words[sign.start - 1] in DIRECT  # "immediately downstream of"
            return _link_of(frame, sense.relation) if near else sense.relation
    nouns = {sense.relation for sense in senses if sense.noun}
    found = nouns or {sense.relation for sense in senses}
    direct = {name for name in found if not frame.lexicon.is_chain(name)}
    if len(direct) > 1:
        return None
    name = next(iter(direct or found))
    if frame.indirect or name in frame.cues:
        return chains.get(name, name)
    if frame.lexicon.is_chain(name) and any(word in DIRECT for word in frame.words):
        return _link_of(frame, name)
    return name


def _otherwise(frame: Frame, relation: str, voting: Sequence[Sense]) -> str | None:
    """The chain of the relation, where a verb means either, or an aside that is not understood may ask for it."""
    chain = frame.lexicon.chains.get(relation)
    if chain is None or any(word in DIRECT for word in frame.words) or any(sense.noun for sense in voting):
        return None
    either = [sense for sense in voting if replace(sense, relation=chain) in frame.either]
    return chain if len(either) == len(voting) or _has_aside(frame) else None


def _has_aside(frame: Frame) -> bool:
    """Whether words between commas, with no name among them, are not understood: `fed, at some remove, by`."""
    unknown = set(_unknown_at(frame))
    commas = [0, *(at for at, word in enumerate(frame.words[: tag_of(frame)]) if word == ","), tag_of(frame)]
    parts = [set(range(start, end)) for start, end in pairwise(commas)]
    return any(len(part) > 2 and part & unknown and not part & set(frame.slots) for part in parts)


def _innermost(frame: Frame, votes: list[tuple[Sense, Vote]]) -> list[tuple[Sense, Vote]]:
    """Without the votes of a noun of a chain that lies in another: `Is the basin of X in the basin of Y?`."""
    owners = [
        (sense, vote)
        for sense, vote in votes
        if sense.noun and vote.role == sense.role and frame.lexicon.is_chain(sense.relation)
    ]
    inner = [each for each in owners if (each[0].role, each[1].slot) != (owners[-1][0].role, owners[-1][1].slot)]
    same = [each for each in inner if each[0].role == owners[-1][0].role]
    return [each for each in votes if each not in same]


def _link_of(frame: Frame, chain: str) -> str:
    return next(predicate for predicate, name in frame.lexicon.chains.items() if name == chain)


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
    if forward == backward:
        return None
    sure = 0.9 if max(forward, backward) < 2 else 0.95
    sure *= 1.0 if min(forward, backward) == 0 else 0.7
    sure *= 1.0 if max(forward, backward) >= 0.9 else 0.9
    return (one, other, sure) if forward > backward else (other, one, sure)


def _unknown_at(frame: Frame) -> list[int]:
    """Where the words are that nothing is known of."""
    return [
        at
        for at, word in enumerate(frame.words)
        if at not in frame.understood
        and not frame.pieces[at].slot
        and word not in FUNCTION
        and word not in SHELL
        and not word.endswith("ly")
        and word[0].isalnum()
    ]
