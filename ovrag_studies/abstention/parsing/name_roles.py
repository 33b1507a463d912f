"""Who is who in a sentence: the agent of a verb, the owner of a noun. Every sign found is a vote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ovrag_studies.abstention.parsing.english import (
    ACCOUNTS,
    ADVERBIAL,
    BE,
    DETERMINERS,
    DIRECT,
    DO,
    GOALS,
    HAVE,
    INDIRECT,
    NAMING,
    NOT,
    OWN,
    PERSONS,
    RELATIVE,
)
from ovrag_studies.abstention.parsing.frames import SIGNS, Frame, RelationSign
from ovrag_studies.abstention.parsing.relation_words import OTHER, Role, Sense

_RELATING = frozenset({"of", "to", "in", "within"})  # with `which`, they may make the name before it an owner


@dataclass(frozen=True, slots=True)
class Vote:
    """That a slot is this part of the claim."""

    slot: int
    role: Role
    weight: float


def votes_of(frame: Frame, sign: RelationSign) -> list[tuple[Sense, Vote]]:
    """What a sign says of the names, with the sense that it has here."""
    if sign.senses[0].noun:
        sense = sign.senses[0]
        if way := _as_verb(frame, sign):
            return [(sense, vote) for vote in way]
        return [(sense, vote) for vote in _noun_votes(frame, sign, sense)]
    sense = _verb_sense(frame, sign)
    return [(sense, vote) for vote in _verb_votes(frame, sign, sense)]


def _as_verb(frame: Frame, sign: RelationSign) -> list[Vote]:
    """The votes of a noun that says what a verb does: `the drainage of X into Y`."""
    behind = [at for at in frame.slots if at >= sign.end]
    goals = {"into", "toward", "towards"}
    into = len(behind) > 1 and frame.governor(behind[1]) in goals and frame.words[sign.end] == "of"
    verb = next(iter(frame.lexicon.any_verb.values()), None)
    if not into or verb is None:
        return []
    return [_vote(frame, behind[0], verb.role, 1), _vote(frame, behind[1], OTHER[verb.role], 1)]


def _verb_sense(frame: Frame, sign: RelationSign) -> Sense:
    verbs = [sense for sense in sign.senses if not sense.noun]
    plain = next((sense for sense in verbs if not sense.needs), verbs[0])
    return next(iter(frame.satisfied(sign)), plain)


def _verb_votes(frame: Frame, sign: RelationSign, sense: Sense) -> Iterator[Vote]:
    passive = _passive(frame, sign, sense)
    behind = next((at for at in frame.slots if sign.end <= at < frame.next_sign(sign)), None)
    before = next((at for at in reversed(frame.slots) if at < sign.start), None)
    if before is not None and (_pronoun(frame, sign) or frame.words[sign.start - 1] in ("by", "and")):
        before = frame.slots[0]  # "X runs to Y by flowing west and ends there"
    agent, patient = sense.role, OTHER[sense.role]
    if before is not None and frame.words[sign.start - 1] in PERSONS:
        if behind is not None:
            yield from _complement(frame, behind, agent, patient, sense, passive, turned=False)
        return
    turned = before is not None and frame.turned(before)
    if before is not None:
        if passive:
            yield _vote(frame, before, agent if sense.needs else patient, 1)
        elif not turned:
            yield _vote(frame, before, agent, 1)
    if behind is not None and (before is not None or frame.words[sign.start - 1] not in PERSONS):
        yield from _complement(frame, behind, agent, patient, sense, passive, turned)


def _pronoun(frame: Frame, sign: RelationSign) -> bool:
    """Whether `it` is the verb's subject, which then stands for what the sentence is about."""
    lead = [word for word in frame.words[: sign.start] if word not in DO | NOT and not word.endswith("ly")]
    return lead[-1:] in (["it"], ["they"])


def _complement(
    frame: Frame, at: int, agent: Role, patient: Role, sense: Sense, passive: bool, turned: bool
) -> Iterator[Vote]:
    governor = frame.governor(at)
    by = {"by", "from"} if sense.needs else {"by", "from", "into", "in", "within"}  # "received in X"
    from_there = governor == "from" and sense.needs in GOALS
    if (passive and governor in by) or from_there or (turned and not governor):
        yield _vote(frame, at, agent, 1)
    elif governor != "of" and not (passive and not governor):
        yield _vote(frame, at, patient, 1)


def _passive(frame: Frame, sign: RelationSign, sense: Sense) -> bool:
    if sense.form not in ("participle",):
        return False
    ahead = [word for word in frame.words[sign.end : sign.end + 3] if not word.endswith("ly")]
    if ahead[:1] == ["by"]:
        return True
    for word in reversed(frame.words[: sign.start]):
        if word in RELATIVE or word in SIGNS:
            return False
        if word in BE:
            return True
    return False


def _noun_votes(frame: Frame, sign: RelationSign, sense: Sense) -> Iterator[Vote]:
    owner = _owner(frame, sign, sense)
    if owner is not None:
        at, role, weight = owner
        yield _vote(frame, at, sense.role if role else OTHER[sense.role], weight)


def _owner(frame: Frame, sign: RelationSign, sense: Sense) -> tuple[int, bool, float] | None:
    """A name that owns the noun (True) or that the noun is said of (False), and how sure that is."""
    before = [at for at in frame.slots if at < sign.start]
    behind = [at for at in frame.slots if at >= sign.end]
    if linked := _linked(frame, sign, sense, before, behind):
        return linked
    if (at := _possessor(frame, sign)) is not None:
        return at, True, 1
    said = sign.end
    while frame.words[said] in NAMING or frame.words[said] == ":":
        said += 1
    if said in frame.slots:  # "the tributary X", "of the kind X", "mouth: X", "a tributary called X"
        return said, False, 0.8
    return _distant_owner(frame, sign, before, behind)


def _linked(
    frame: Frame, sign: RelationSign, sense: Sense, before: Sequence[int], behind: Sequence[int]
) -> tuple[int, bool, float] | None:
    """The owner by the preposition behind the noun: `the mouth of X`, `the river that X is a tributary of`."""
    end = sign.end
    while end < len(frame.words) and frame.adds_nothing(end):  # "tributary stream, directly or not, of"
        end += 1
    link, ahead = "".join(frame.words[end : end + 1]), frame.words[end + 1 : end + 2]
    links = {"of", "for", "from", "than", "after", *(["to"] if sense.role == "object" else [])} | {
        each.needs for each in sign.senses if each.relation == sense.relation and each.needs
    }
    relating = _RELATING if sense.role == "object" else {"of"}  # "the system to which X belongs"
    if before and link in relating and ahead in (["which"], ["whom"]):
        return before[-1], True, 1
    if link in links and behind:
        governor, between = frame.governor(behind[0]), set(frame.words[end : behind[0]])
        near = governor in links or not (governor or between & (BE | DO | SIGNS))
        if near and not frame.is_text(frame.pieces[behind[0]].slot):
            return behind[0], True, 1
    return (before[-1], False, 1) if link in links and before and not behind else None


def _possessor(frame: Frame, sign: RelationSign) -> int | None:
    """The name right before the noun: `X's mouth`, `the X drainage`; adjectives and fillers may stand between."""
    back = sign.start - 1
    if frame.words[sign.end - 1] in ADVERBIAL and frame.words[back] not in ("'s", "'"):
        return None  # "does it reach X downstream"
    while back >= 0:
        if frame.pieces[back].slot:
            return back
        word = frame.words[back]
        plain = back in frame.fillers or frame.is_adjective(back) or word in DIRECT | INDIRECT | {"own", "many"}
        if word not in ("'s", "'") and not plain:
            return None
        back -= 1
    return None


def _distant_owner(
    frame: Frame, sign: RelationSign, before: Sequence[int], behind: Sequence[int]
) -> tuple[int, bool, float] | None:
    """A name further off that owns the noun: `X has Y as its mouth`, `the lake whose mouth`, `For X, the mouth`."""
    lead = frame.words[max(sign.start - 4, 0) : sign.start]
    relating = _RELATING if sign.senses[0].role == "object" else {"of"}
    relative = [
        at
        for at, word in enumerate(frame.words[: sign.start])
        if (word == "whose" and not any(at < each < sign.start for each in frame.slots))
        or (word in relating and frame.words[at + 1] in ("which", "whom", "what") and at + 2 not in frame.fillers)
    ]
    if relative:
        owners = [at for at in before if at < relative[-1]]
        return (owners[-1], True, 1) if owners else None
    if OWN & set(lead) and (at := _antecedent(frame, sign, before, behind)) is not None:
        return at, True, 0.9 if before else 0.6
    if (at := _possessing(frame, sign, before)) is not None:
        return at, True, 0.9
    said = _said_as(frame, sign, before)
    if said is not None:
        return said, False, 0.8
    for at in frame.slots:
        if frame.governor(at) in ("of", "for") or _is_topic(frame, at):
            return at, True, 0.7
    opens = bool(before) and frame.words[before[0] + 1] in (",", ":", "-", "–", "—")
    return (before[0], True, 0.6) if opens else None


def _antecedent(frame: Frame, sign: RelationSign, before: Sequence[int], behind: Sequence[int]) -> int | None:
    """The name that `its` or `their` before the noun stands for."""
    last = before[-1] if before else -1
    between = range(last + 1, sign.start)
    if len(before) > 1 and RELATIVE & set(frame.words[last - 2 : last]):
        return last  # "the water that X brings at its mouth"
    if before and (HAVE & {frame.words[at] for at in between} or frame.words[last + 1].endswith("ing")):
        return last  # "that X has its mouth", "see X coming in at its mouth"
    kinds = [at for at in between if at in frame.fillers and frame.words[at][-1] == "s" and frame.words[at + 1] != "of"]
    if kinds and behind and "their" in (frame.words[at] for at in between):  # "rivers with their mouths in X include Y"
        return next((at for at in frame.slots if at != behind[0]), None)
    return (before or behind)[0] if before or behind else None


def _is_topic(frame: Frame, at: int) -> bool:
    """Whether something is written about the name: `the entry on X`, `listed under X`."""
    lead = frame.words[max(at - 4, 0) : at]
    return frame.governor(at) in ("on", "under", "about") and bool(ACCOUNTS & set(lead))


def _said_as(frame: Frame, sign: RelationSign, before: Sequence[int]) -> int | None:
    """The name that the noun is said of: `X names Y as its ...`, `of which water is X a ...`."""
    if before and frame.words[before[-1] - 1] in BE:
        between = set(frame.words[before[-1] + 1 : sign.start])
        return before[-1] if between <= DETERMINERS | DIRECT else None
    for at in range(sign.start - 1, max(sign.start - 4, 0), -1):
        if frame.words[at] == "as" and len(before) > 1 and before[-1] == at - 1:
            return at - 1
    return None


def _possessing(frame: Frame, sign: RelationSign, before: Sequence[int]) -> int | None:
    """The subject of `has`, or the name before `with`, where such a word stands before the noun."""
    for at in range(sign.start - 1, -1, -1):
        if frame.words[at] in HAVE:
            owners = [each for each in before if each < at] or ([] if frame.words[at] == "with" else before[:1])
            if owners:
                return owners[-1]
    return None


def votes_from_to(frame: Frame) -> Iterator[Vote]:
    """What is said without a verb: a way from one thing to the other, where the domain's things go anywhere."""
    for sense in list(frame.lexicon.any_verb.values())[:1]:
        for at in frame.slots:
            if frame.governor(at) == "from":
                yield _vote(frame, at, sense.role, 0.9)
            elif frame.governor(at) in ("to", "into"):
                yield _vote(frame, at, OTHER[sense.role], 0.9)


def _vote(frame: Frame, at: int, role: Role, weight: float) -> Vote:
    return Vote(frame.pieces[at].slot, role, weight)
