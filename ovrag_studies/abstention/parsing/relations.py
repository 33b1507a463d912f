"""Which relation a sentence asks for, and how directly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ovrag_studies.abstention.parsing.english import DIRECT, MEANS, PERSONS
from ovrag_studies.abstention.parsing.frames import Frame, Sign
from ovrag_studies.abstention.parsing.negation import tag_of
from ovrag_studies.abstention.parsing.relation_words import Sense


def relation_of(frame: Frame, signs: Sequence[Sign], voting: Sequence[Sense]) -> str | None:
    """A chain by its nouns and cues; else what the nouns say, else the verbs. None where they disagree."""
    if relation := _noun_of_a_chain(frame, signs):
        return relation
    senses = list(voting) or [sense for sign in signs for sense in sign.senses]
    found = {sense.relation for sense in senses if sense.noun} or {sense.relation for sense in senses}
    links = {name for name in found if not frame.lexicon.is_chain(name)}
    if len(links) > 1:
        return None
    name = next(iter(links or found))
    chain = frame.lexicon.chains.get(name, name)
    if _in_the_end(frame, signs):
        return chain
    if frame.indirect or name in frame.cues:
        return None if frame.indirect and frame.direct else chain
    return _link_of(frame, name) if frame.direct and frame.lexicon.is_chain(name) else name


def _noun_of_a_chain(frame: Frame, signs: Sequence[Sign]) -> str:
    for sign in signs:
        sense = sign.senses[0]
        if sense.noun and frame.lexicon.is_chain(sense.relation):
            near = sign.start and frame.words[sign.start - 1] in DIRECT  # "immediately downstream of"
            here = frame.direct and sense.role == "subject" and not frame.indirect  # "where it arrives directly"
            return _link_of(frame, sense.relation) if near or here else sense.relation
    return ""


def _link_of(frame: Frame, chain: str) -> str:
    return next(predicate for predicate, name in frame.lexicon.chains.items() if name == chain)


def _in_the_end(frame: Frame, signs: Sequence[Sign]) -> bool:
    """Whether a verb of the chain and one of its link are offered with `or`: `Does it pass through or end in X?`."""
    return any(
        "or" in frame.words[one.end : other.start]
        and len({frame.lexicon.is_chain(_meaning(frame, sign).relation) for sign in (one, other)}) == 2
        for one, other in pairwise(signs)
        if not one.senses[0].noun and not other.senses[0].noun and other.start - one.end <= 3
    )


def _meaning(frame: Frame, sign: Sign) -> Sense:
    return next(iter(frame.satisfied(sign)), sign.senses[0])


def otherwise_of(frame: Frame, relation: str, voting: Sequence[Sense]) -> str | None:
    """The chain of the relation, where a verb means either, or an aside that is not understood may ask for it."""
    chain = frame.lexicon.chains.get(relation)
    if chain is None or frame.direct or any(sense.noun for sense in voting):
        return None
    either = [sense for sense in voting if replace(sense, relation=chain) in frame.either]
    return chain if len(either) == len(voting) or _has_aside(frame) else None


def _has_aside(frame: Frame) -> bool:
    """Whether words between commas, with no name among them, are not understood: `fed, at some remove, by`."""
    unknown = set(frame.unknown())
    commas = [0, *(at for at, word in enumerate(frame.words[: tag_of(frame)]) if word == ","), tag_of(frame)]
    parts = [set(range(start, end)) for start, end in pairwise(commas)]
    if frame.words[0] not in MEANS:
        parts = parts[1:]  # "On the map, ..."
    told = set(frame.slots) | {at for at, word in enumerate(frame.words) if word in PERSONS}  # "by what I read"
    return any(len(part) > 2 and part & unknown and not part & told for part in parts)
