"""Roles of names in a sentence: the agent of a verb, the owner of a noun. Every sign found is a vote."""

from collections.abc import Iterator
from itertools import takewhile

from ovrag_studies.abstention.parsing import english
from ovrag_studies.abstention.parsing.frames import SIGNS, Frame, RelationSign, slot_of
from ovrag_studies.abstention.parsing.relation_words import OTHER, Role, Sense

Vote = tuple[int, Role]  # that a slot is this part of the claim
Owner = tuple[int, bool]
_SEEN_THROUGH = english.DIRECT | english.INDIRECT | {"own", "many", "'s", "'"}


def votes_of(frame: Frame, sign: RelationSign) -> list[tuple[Sense, Vote]]:
    """Collect what a sign says of the names, with the sense that it has here."""
    sense = sign.senses[0]
    if not sense.noun:
        plain = next((sense for sense in sign.senses if not sense.needs), sense)
        sense = next(iter(frame.satisfied(sign)), plain)
        return [(sense, vote) for vote in _verb_votes(frame, sign, sense)]
    if way := _as_verb(frame, sign):
        return [(sense, vote) for vote in way]
    owner = _Noun(frame, sign).owner()
    if owner is None:
        return []
    index, owns = owner
    return [(sense, _vote(frame, index, sense.role if owns else OTHER[sense.role]))]


# -- verbs ------------------------------------------------------------------------------------------------------------


def _as_verb(frame: Frame, sign: RelationSign) -> list[Vote]:
    """The votes of a noun that says what a verb does: `the drainage of X into Y`."""
    (_, behind), verb = frame.around(sign), frame.lexicon.going
    into = len(behind) > 1 and frame.governor(behind[1]) in ("into", "toward", "towards")
    if verb is None or not into or frame.words[sign.end] != "of":
        return []
    return [_vote(frame, behind[0], verb.role), _vote(frame, behind[1], OTHER[verb.role])]


def _verb_votes(frame: Frame, sign: RelationSign, sense: Sense) -> Iterator[Vote]:
    passive, lead = _passive(frame, sign, sense), frame.words[sign.start - 1]
    before, behind = frame.around(sign)
    first = lead in ("by", "and") or _pronoun(frame, sign)  # "X runs to Y by flowing west"
    subject = before[:1] if first else before[-1:]
    by_person = lead in english.PERSONS
    turned = not by_person and any(map(frame.turned, subject))
    if not by_person and (passive or not turned):
        role = sense.role if sense.needs or not passive else OTHER[sense.role]
        yield from (_vote(frame, i, role) for i in subject)
    if behind and (subject or not by_person):
        yield from _complement(frame, behind[0], sense, passive, turned)


def _complement(frame: Frame, at: int, sense: Sense, passive: bool, turned: bool) -> Iterator[Vote]:
    governor = frame.governor(at)
    by = {"by", "from"} if sense.needs else {"by", "from", "into", "in", "within"}  # "received in X"
    from_there = governor == "from" and sense.needs in english.GOALS
    if (passive and governor in by) or from_there or (turned and not governor):
        yield _vote(frame, at, sense.role)
    elif governor != "of" and not (passive and not governor):
        yield _vote(frame, at, OTHER[sense.role])


def _pronoun(frame: Frame, sign: RelationSign) -> bool:
    """Return True where `it` is the verb's subject, which then stands for what the sentence is about."""
    lead = [word for word in frame.words[: sign.start] if word not in english.DO | english.NOT]
    return [word for word in lead if not word.endswith("ly")][-1:] in (["it"], ["they"])


def _passive(frame: Frame, sign: RelationSign, sense: Sense) -> bool:
    if sense.form != "participle":
        return False
    ahead = [word for word in frame.words[sign.end : sign.end + 3] if not word.endswith("ly")]
    clause = takewhile(lambda word: word not in english.RELATIVE | SIGNS, reversed(frame.words[: sign.start]))
    return ahead[:1] == ["by"] or not english.BE.isdisjoint(clause)


# -- nouns ------------------------------------------------------------------------------------------------------------


class _Noun:
    """A noun of a relation among the names of its sentence: those before it, and those behind."""

    def __init__(self, frame: Frame, sign: RelationSign) -> None:
        self.frame, self.sign, self.words = frame, sign, frame.words
        self.before, self.behind = frame.around(sign)
        # With `which`, these may make the name before it an owner: "the system to which X belongs".
        self.relating = {"of", "to", "in", "within"} if sign.senses[0].role == "object" else {"of"}

    def owner(self) -> Owner | None:
        """A name that owns the noun (True) or that the noun is said of (False); nearest first."""
        own = self._linked() or self._possessor() or self._said_behind() or self._relative()
        return own or self._antecedent() or self._possessing() or self._said_before() or self._topic()

    def _linked(self) -> Owner | None:
        """The owner by the preposition behind the noun: `the mouth of X`, `the river that X is a tributary of`."""
        behind = range(self.sign.end, len(self.words))  # "tributary stream, directly or not, of"
        end = next((i for i in behind if not self.frame.adds_nothing(i)), len(self.words))
        link, ahead = "".join(self.words[end : end + 1]), self.words[end + 1 : end + 2]
        links = {"of", "for", "from", "than", "after", *(s.needs for s in self.sign.senses if s.needs)}
        links |= {"to"} & self.relating
        if self.before and link in self.relating and ahead in (["which"], ["whom"]):
            return self.before[-1], True
        if link not in links:
            return None
        if not self.behind:
            return (self.before[-1], False) if self.before else None
        governor, between = self.frame.governor(self.behind[0]), set(self.words[end : self.behind[0]])
        near = governor in links or not (governor or between & (english.BE | english.DO | SIGNS))
        text = self.frame.texts[slot_of(self.words[self.behind[0]]) - 1]
        return (self.behind[0], True) if near and not text else None

    def _possessor(self) -> Owner | None:
        """The name right before the noun: `X's mouth`, `the X drainage`; adjectives and fillers may stand between."""
        back = self.sign.start - 1
        if self.words[self.sign.end - 1] in english.ADVERBIAL and self.words[back] not in ("'s", "'"):
            return None  # "does it reach X downstream"
        while back >= 0 and (self.words[back] in _SEEN_THROUGH or back in self.frame.fillers):
            back -= 1
        return (back, True) if back in self.before else None

    def _said_behind(self) -> Owner | None:
        """The name that the noun is said of: `the tributary X`, `mouth: X`, `a tributary called X`."""
        behind = range(self.sign.end, len(self.words))
        index = next((i for i in behind if self.words[i] not in english.NAMING | {":"}), None)
        return (index, False) if index in self.behind else None

    def _relative(self) -> Owner | None:
        """The name that a relative pronoun stands for: `the lake X, whose mouth`, `X, in which the mouth`."""
        for index in range(self.sign.start - 1, -1, -1):
            whose = self.words[index] == "whose" and not any(index < i for i in self.before)
            of_which = self.words[index] in self.relating and self.words[index + 1] in ("which", "whom", "what")
            if whose or (of_which and index + 2 not in self.frame.fillers):
                return next(((owner, True) for owner in reversed(self.before) if owner < index), None)
        return None

    def _antecedent(self) -> Owner | None:
        """The name that `its` or `their` before the noun stands for."""
        possessives = english.OWN & set(self.words[max(self.sign.start - 4, 0) : self.sign.start])
        if not possessives:
            return None
        if not self.before:  # "rivers with their mouths in X include Y"
            return (self.behind["their" in possessives], True) if len(self.behind) > 1 else None
        last_index = self.before[-1]
        between = self.words[last_index + 1 : self.sign.start]
        # "that X has its mouth", "see X coming in at"
        near = bool(english.HAVE & set(between)) or between[0].endswith("ing")
        return last_index if near else self.before[0], True

    def _possessing(self) -> Owner | None:
        """The subject of `has`, or the name before `with`, where such a word stands before the noun."""
        for index in range(self.sign.start - 1, -1, -1):
            if self.words[index] in english.HAVE:
                owners = [i for i in self.before if i < index]
                owners = owners or ([] if self.words[index] == "with" else self.before[:1])
                if owners:
                    return owners[-1], True
        return None

    def _said_before(self) -> Owner | None:
        """The name that the noun is said of: `X names Y as its ...`, `of which water is X a ...`."""
        last_index = self.before[-1] if self.before else 0
        between = set(self.words[last_index + 1 : self.sign.start])
        is_it = self.words[last_index - 1] in english.BE and between <= english.DETERMINERS | english.DIRECT
        as_it = len(self.before) > 1 and self.words[last_index + 1] == "as" and self.sign.start - last_index < 5
        return (last_index, False) if self.before and (is_it or as_it) else None

    def _topic(self) -> Owner | None:
        """Name that the sentence is about: `the entry on X`, `For X, the mouth`, `X: the mouth`."""
        for index in self.frame.slots:
            governor, lead = self.frame.governor(index), set(self.words[max(index - 4, 0) : index])
            if governor in ("of", "for") or (governor in ("on", "under", "about") and english.ACCOUNTS & lead):
                return index, True
        opens = bool(self.before) and self.words[self.before[0] + 1] in (",", ":", "-", "–", "—")
        return (self.before[0], True) if opens else None


def votes_from_to(frame: Frame, role: Role) -> list[Vote]:
    """Vote without a verb, on a way from one thing to the other; `role` is that of what goes."""
    roles = {"from": role, "to": OTHER[role], "into": OTHER[role]}
    return [_vote(frame, i, roles[governor]) for i in frame.slots if (governor := frame.governor(i)) in roles]


def _vote(frame: Frame, at: int, role: Role) -> Vote:
    return slot_of(frame.words[at]), role
