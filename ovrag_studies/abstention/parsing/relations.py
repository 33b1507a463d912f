"""Which relation a sentence asks for, and how directly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ovrag_studies.abstention.parsing.english import DIRECT
from ovrag_studies.abstention.parsing.frames import Frame, RelationSign
from ovrag_studies.abstention.parsing.relation_words import Sense


def relation_of(frame: Frame, signs: Sequence[RelationSign], voting: Sequence[Sense]) -> str | None:
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
    offered = bool(links) and len(found) > 1 and "or" in frame.words  # "does it pass through or end in X"
    if offered or frame.indirect or name in frame.cues:
        return None if frame.indirect and frame.direct else chain
    return _link_of(frame, name) if frame.direct and frame.lexicon.is_chain(name) else name


def _noun_of_a_chain(frame: Frame, signs: Sequence[RelationSign]) -> str:
    for sign in signs:
        sense = sign.senses[0]
        if sense.noun and frame.lexicon.is_chain(sense.relation):
            near = sign.start and frame.words[sign.start - 1] in DIRECT  # "immediately downstream of"
            here = frame.direct and sense.role == "subject" and not frame.indirect  # "where it arrives directly"
            return _link_of(frame, sense.relation) if near or here else sense.relation
    return ""


def _link_of(frame: Frame, chain: str) -> str:
    return next(predicate for predicate, name in frame.lexicon.chains.items() if name == chain)


def otherwise_of(frame: Frame, relation: str, voting: Sequence[Sense]) -> str | None:
    """The chain of the relation, where every verb means either."""
    chain = frame.lexicon.chains.get(relation)
    if chain is None or frame.direct or any(sense.noun for sense in voting):
        return None
    either = [sense for sense in voting if replace(sense, relation=chain) in frame.either]
    return chain if len(either) == len(voting) else None
