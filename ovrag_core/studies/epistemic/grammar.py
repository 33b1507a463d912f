"""Which relation a sentence asks for, and which of its two names is whose: the grammar of direction.

A sentence comes with its names taken out (`Piece.slot`). The domain's words tell what a verb's agent and a noun's owner
are in a claim; the grammar finds agent and owner: active and passive, clefts, relative clauses, fronted prepositions,
`of`, possessors, compounds, `has ... as its`. Every sign found is a vote; signs that disagree are doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ovrag_core.studies.epistemic.english import (
    ARTICLES,
    ASIDE,
    BE,
    DETERMINERS,
    DIRECT,
    DO,
    EXCLUDING,
    FUNCTION,
    GOALS,
    HAVE,
    INDIRECT,
    INDIRECT_PHRASES,
    NAMING,
    NOT,
    OWN,
    PREPOSITIONS,
    RELATIVE,
    SHELL,
    UNTRUE,
)
from ovrag_core.studies.epistemic.lexicon import OTHER, Lexicon, Phrase, Role, Sense


@dataclass(frozen=True, slots=True)
class Piece:
    """A word of a sentence, or the place of a name (`slot`, from 1). `start` and `end` are in characters."""

    text: str
    start: int
    end: int
    slot: int = 0


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


@dataclass(frozen=True, slots=True)
class Sign:
    """A word of a relation in a sentence (pieces from, to)."""

    start: int
    end: int
    senses: tuple[Sense, ...]


@dataclass(frozen=True, slots=True)
class Vote:
    """That a slot is this part of the claim."""

    slot: int
    role: Role
    weight: float


_SIGNS = frozenset(",;:.?!()\"'-–—/")
_UNSURE = 0.5  # a reading that is less sure is none
_WRAPPED = 0.98  # a wording of the domain inside another sentence
_UNKNOWN_WORD = 0.9  # what each word that is not understood leaves of the confidence


def read_sentence(pieces: Sequence[Piece], lexicon: Lexicon, texts: Sequence[bool] = ()) -> Sentence:
    """What a sentence with two slots asks. `texts` says of each slot whether it is text, so never a subject."""
    frame = _Frame(pieces, lexicon, tuple(texts))
    if known := frame.known():
        return known
    return frame.read()


class _Frame:
    """A sentence while it is read."""

    def __init__(self, pieces: Sequence[Piece], lexicon: Lexicon, texts: tuple[bool, ...]) -> None:
        self.pieces = pieces
        self.words = [f"\0{piece.slot}" if piece.slot else piece.text for piece in pieces]
        self.lexicon = lexicon
        self.texts = texts
        self.slots = [at for at, piece in enumerate(pieces) if piece.slot]
        self.signs: list[Sign] = []
        self.either: set[Sense] = set()
        self.fillers: set[int] = set()
        self.understood: set[int] = set()
        self.told: set[int] = set()  # words that say how directly
        self.cues: dict[str, int] = {}
        self.indirect = False
        self.other = ""
        self._find()

    # -- wordings known word for word ---------------------------------------------------------------------------------

    def known(self) -> Sentence | None:
        """The sentence as a template of the domain says it, by itself or inside `Is it true that ...?`."""
        if len(self.slots) != 2:
            return None
        start, end = self._core()
        template = self.lexicon.templates.get(self._said(0, len(self.words)))
        confidence, negated = 1.0, False
        if template is None:
            template = self.lexicon.templates.get(self._said(start, end))
            confidence, negated = _WRAPPED, self._negated()
        if template is None:
            return None
        first, second = (self.pieces[at].slot for at in self.slots)
        subject, object_ = (first, second) if template.order[0] == "subject" else (second, first)
        if self._is_text(subject):
            return None
        between = self.pieces[self.slots[0] + 1 : self.slots[1]] or self.pieces[: self.slots[0]] or self.pieces
        span = (between[0].start, between[-1].end)
        return Sentence(template.relation, subject, object_, confidence, negated, span=span)

    def _said(self, start: int, end: int) -> Phrase:
        """The words from one place to another as templates have them: names by their order, no articles before them."""
        return tuple(
            str(self.slots.index(at) + 1) if at in self.slots else self.words[at]
            for at in range(start, end)
            if self.words[at] not in _SIGNS and not (self.words[at] in ARTICLES and at + 1 in self.slots)
        )

    def _core(self) -> tuple[int, int]:
        """The clause inside `Is it true that ...?` and before a tag."""
        opening = [at for at in range(self.slots[0]) if self.words[at] in ("that", "whether", "if", ":")]
        wraps = opening and all(word in FUNCTION | SHELL or word in _SIGNS for word in self.words[: opening[-1]])
        return (opening[-1] + 1 if wraps else 0), self._tag()

    # -- what the words are -------------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Marks every word of a relation, every cue, and every word that carries none."""
        at = 0
        while at < len(self.words):
            at += self._match(at) or 1

    def _match(self, at: int) -> int:
        lexicon = self.lexicon
        for length in range(min(max(lexicon.longest, 5), len(self.words) - at), 0, -1):
            phrase: Phrase = tuple(self.words[at : at + length])
            covered = range(at, at + length)
            if phrase in INDIRECT_PHRASES:
                self.indirect = True
                self.told.update(covered)
            elif phrase in lexicon.cues:
                self.told.update(covered)
                self.cues[lexicon.cues[phrase]] = at
            elif phrase in lexicon.senses:
                if not self._place(at, length, self._of_kind(lexicon.senses[phrase])):
                    self.fillers.update(covered)
            elif phrase in lexicon.others:
                self.other = self.other or (" ".join(phrase) if at < self.slots[-1] else "")
            elif phrase in lexicon.fillers:
                self.fillers.update(covered)
            else:
                continue
            self.understood.update(covered)
            return length
        if self.words[at] in INDIRECT:
            self.indirect = True
        return 0

    def _of_kind(self, senses: tuple[Sense, ...]) -> tuple[Sense, ...]:
        """The senses whose objects are text, or things, as the names in the sentence are."""
        text = any(self.texts)
        return tuple(sense for sense in senses if (sense.relation in self.lexicon.texts) == text) or senses

    def _place(self, at: int, length: int, senses: tuple[Sense, ...]) -> bool:
        """Keeps the senses that the place allows; a verb where a noun must stand (`the flow of`) is only a filler."""
        nominal = self._nominal(at, at + length, any(sense.noun for sense in senses))
        fitting = tuple(sense for sense in senses if sense.noun == nominal)
        if not fitting and nominal and any(sense.form in ("ing", "participle") for sense in senses):
            fitting = senses  # "the receiving river", "its emptying into"
        if not fitting and not nominal:
            fitting = senses  # "mouth of X: Y", a noun without an article
        self.either.update(fitting)
        if fitting:
            self.signs.append(Sign(at, at + length, fitting))
        return bool(fitting)

    def _nominal(self, at: int, end: int, nouns: bool) -> bool:
        """Whether a noun must stand here: before `of`, or behind an article or a possessor (with adjectives)."""
        if nouns and self.words[end : end + 1] == ["of"]:
            return True
        for back in range(at - 1, max(at - 4, -1), -1):
            word = self.words[back]
            if word in DETERMINERS and word != "that":
                return True
            if word in ("'s", "'", "whose"):
                return True
            if word in FUNCTION - DIRECT - INDIRECT or word in _SIGNS or self.pieces[back].slot or word.endswith("ly"):
                return word in ("of", "as", "many", "few", "several", "other", "own", "one", "another")
            if back in self.fillers:
                return False
        return False

    # -- who is who ---------------------------------------------------------------------------------------------------

    def read(self) -> Sentence:
        """The sentence by its words and their order."""
        if reason := self._refused():
            return Sentence(None, reason=reason)
        signs = self._meant() or self._unheard_verb() or self.signs
        if not signs:
            return Sentence(None, reason="no word of a relation that the domain has stands between the names")
        votes: list[tuple[Sense, Vote]] = []
        for sign in signs:
            votes += self._votes(sign)
        votes = votes or [(signs[0].senses[0], vote) for vote in self._from_to()]
        relation = self._relation(signs, [sense for sense, _ in votes])
        if relation is None:
            return Sentence(None, reason="the question fits several relations")
        placed = self._placed([vote for _, vote in votes])
        if placed is None:
            return Sentence(None, reason="which of the two names is whose is not clear")
        subject, object_, confidence = placed
        unknown = self._unknown()
        confidence *= _UNKNOWN_WORD ** len(unknown) * (1.0 if signs[0] in self.signs else 0.85)
        if confidence < _UNSURE:
            return Sentence(
                None, reason=f"{', '.join(repr(word) for word in unknown[:3]) or 'the wording'} is not understood"
            )
        span = (self.pieces[signs[0].start].start, self.pieces[signs[-1].end - 1].end)
        otherwise = self._otherwise(relation, [sense for sense, _ in votes])
        return Sentence(relation, subject, object_, round(confidence, 4), self._negated(), "", span, otherwise)

    def _refused(self) -> str:
        """Why the sentence is not read at all, whatever its words of a relation."""
        if self.other:
            return f"'{self.other}' asks for a relation that is not in the domain"
        if excluding := next((word for word in self.words if word in EXCLUDING), ""):
            return f"'{excluding}' leaves open which of the names is meant"
        if aside := next((self._governor(at) for at in self.slots if self._governor(at) in ASIDE), ""):
            return f"'{aside}' asks where something lies"
        if self._side_by_side():
            return "the names stand side by side, so that neither is said of the other"
        return ""

    def _side_by_side(self) -> bool:
        """Whether only `and` or `or` is between the names: `Do X and Y flow into the same sea?`."""
        between = self.words[self.slots[0] + 1 : self.slots[1]] if len(self.slots) == 2 else []
        return bool({"and", "or"} & set(between)) and set(between) <= {"and", "or", "the", ",", "both"}

    def _meant(self) -> list[Sign]:
        """The signs whose preposition is there, where they need one: `falls on` is not `falls into`."""
        return [sign for sign in self.signs if self._satisfied(sign) or any(not sense.needs for sense in sign.senses)]

    def _unheard_verb(self) -> list[Sign]:
        """A verb that is not in the domain, by the preposition behind it: `debouches into`."""
        for preposition, sense in self.lexicon.any_verb.items():
            for at, word in enumerate(self.words):
                if word == preposition and at > 0:
                    return [Sign(at, at + 1, (sense,))]
        for at in self.fillers:  # "sheds its water in"
            ahead = self.words[at + 1 : at + 2]
            if ahead and ahead[0] in GOALS and self.lexicon.any_verb and any(self._is_adjective(b) for b in range(at)):
                return [Sign(at + 1, at + 2, (next(iter(self.lexicon.any_verb.values())),))]
        return []

    def _relation(self, signs: Sequence[Sign], voting: Sequence[Sense]) -> str | None:
        """A chain by its nouns and cues; else what the nouns say, else the verbs."""
        senses = list(voting) or [sense for sign in signs for sense in sign.senses]
        chains = self.lexicon.chains
        for sign in signs:
            sense = sign.senses[0]
            if sense.noun and self.lexicon.is_chain(sense.relation):
                near = sign.start and self.words[sign.start - 1] in DIRECT  # "immediately downstream of"
                return self._link_of(sense.relation) if near else sense.relation
        nouns = {sense.relation for sense in senses if sense.noun}
        found = nouns or {sense.relation for sense in senses}
        direct = {name for name in found if not self.lexicon.is_chain(name)}
        if len(direct) > 1:
            return None
        name = next(iter(direct or found))
        if self.indirect or name in self.cues:
            return chains.get(name, name)
        if self.lexicon.is_chain(name) and any(word in DIRECT for word in self.words):
            return self._link_of(name)
        return name

    def _from_to(self) -> Iterator[Vote]:
        """What is said without a verb: a way from one thing to the other, where the domain's things go anywhere."""
        for sense in list(self.lexicon.any_verb.values())[:1]:
            for at in self.slots:
                if self._governor(at) == "from":
                    yield self._vote(at, sense.role, 0.9)
                elif self._governor(at) in ("to", "into"):
                    yield self._vote(at, OTHER[sense.role], 0.9)

    def _otherwise(self, relation: str, voting: Sequence[Sense]) -> str | None:
        """The chain of the relation, where one word means either and nothing else in the sentence tells which."""
        chain = self.lexicon.chains.get(relation)
        either = [sense for sense in voting if not sense.noun and replace(sense, relation=str(chain)) in self.either]
        told = any(word in DIRECT for word in self.words) or len(either) < len(voting)
        return chain if either and not told else None

    def _link_of(self, chain: str) -> str:
        return next(predicate for predicate, name in self.lexicon.chains.items() if name == chain)

    def _votes(self, sign: Sign) -> list[tuple[Sense, Vote]]:
        if sign.senses[0].noun:
            sense = sign.senses[0]
            return [(sense, vote) for vote in self._noun_votes(sign, sense)]
        sense = self._verb_sense(sign)
        return [(sense, vote) for vote in self._verb_votes(sign, sense)]

    # -- verbs --------------------------------------------------------------------------------------------------------

    def _verb_sense(self, sign: Sign) -> Sense:
        verbs = [sense for sense in sign.senses if not sense.noun]
        plain = next((sense for sense in verbs if not sense.needs), verbs[0])
        return next(iter(self._satisfied(sign)), plain)

    def _satisfied(self, sign: Sign) -> list[Sense]:
        """The senses whose preposition is there, behind the verb or before a relative pronoun or a fronted name."""
        stop = next((at for at in self.slots if at >= sign.end), len(self.words))
        verbs = [each.start for each in self.signs if each.start >= sign.end and not each.senses[0].noun]
        behind = {word for word in self.words[sign.end : min([stop, *verbs])] if word in PREPOSITIONS}
        fronted = {
            word
            for at, word in enumerate(self.words[: sign.start])
            if word in GOALS and at + 1 < len(self.words) and (self.words[at + 1] in RELATIVE or self._fronted(at))
        }
        where = "where" in self.words[: sign.start]
        there = behind | fronted | {self.words[sign.start]}
        return [sense for sense in sign.senses if sense.needs and (where or sense.needs in there)]

    def _fronted(self, at: int) -> bool:
        """Whether a preposition opens the sentence, or its clause, with a name behind it: `Into X does Y flow`."""
        before = self.words[at - 1] if at else ","
        return (before in _SIGNS or before in BE | {"that", "it"}) and any(each > at for each in self.slots)

    def _next_sign(self, sign: Sign) -> int:
        return min((each.start for each in self.signs if each.start >= sign.end), default=len(self.words))

    def _verb_votes(self, sign: Sign, sense: Sense) -> Iterator[Vote]:
        passive = self._passive(sign, sense)
        behind = next((at for at in self.slots if sign.end <= at < self._next_sign(sign)), None)
        before = next((at for at in reversed(self.slots) if at < sign.start), None)
        if before is not None and self._pronoun(sign):
            before = self.slots[0]
        agent, patient = sense.role, OTHER[sense.role]
        turned = before is not None and self._turned(before)
        if before is not None:
            if turned and len([at for at in self.slots if at < sign.start]) == 1 and behind is not None:
                yield self._vote(before, patient, 1)
            elif passive:
                yield self._vote(before, agent if sense.needs else patient, 1)
            elif not turned:
                yield self._vote(before, agent, 1)
        if behind is not None:
            yield from self._complement(behind, agent, patient, sense, passive, turned)

    def _pronoun(self, sign: Sign) -> bool:
        """Whether `it` is the verb's subject, which then stands for what the sentence is about."""
        lead = [word for word in self.words[: sign.start] if word not in DO | NOT and not word.endswith("ly")]
        return lead[-1:] in (["it"], ["they"])

    def _complement(
        self, at: int, agent: Role, patient: Role, sense: Sense, passive: bool, turned: bool
    ) -> Iterator[Vote]:
        governor = self._governor(at)
        by = {"by", "from"} if sense.needs else {"by", "from", "into", "in", "within"}  # "received in X"
        from_there = governor == "from" and sense.needs in GOALS
        if (passive and governor in by) or from_there or (turned and not governor):
            yield self._vote(at, agent, 1)
        elif governor != "of" and not (passive and not governor):
            yield self._vote(at, patient, 1)

    def _passive(self, sign: Sign, sense: Sense) -> bool:
        if sense.form not in ("participle",):
            return False
        ahead = [word for word in self.words[sign.end : sign.end + 3] if not word.endswith("ly")]
        if ahead[:1] == ["by"]:
            return True
        for word in reversed(self.words[: sign.start]):
            if word in RELATIVE or word in _SIGNS:
                return False
            if word in HAVE - {"with"} | DO:
                return False
            if word in BE:
                return True
        return False

    def _turned(self, at: int) -> bool:
        """Whether a name before the verb stands behind a preposition that opens the clause: `Into X flows Y`."""
        governor = self._governor_at(at)
        return governor is not None and self.words[governor] in GOALS and self._fronted(governor)

    def _governor(self, at: int) -> str:
        """The preposition that a name depends on, if any."""
        governor = self._governor_at(at)
        return "" if governor is None else self.words[governor]

    def _governor_at(self, at: int) -> int | None:
        """Where that preposition stands; fillers are seen through: `into the waters of X`."""
        back = at - 1
        while back >= 0:
            word = self.words[back]
            if word in ("of", "from", "in") and back - 1 in self.fillers:
                back -= 2
            elif word == "from" or (word in PREPOSITIONS | ASIDE | {"by"} and not self._is_joint(back)):
                return back
            elif word in DETERMINERS or word in NAMING | {"of"} or back in self.fillers or self._is_adjective(back):
                back -= 1
            else:
                return None
        return None

    def _is_joint(self, at: int) -> bool:
        """Whether a word belongs to `by the name of`."""
        return "name" in (self.words[at - 1], *self.words[at + 1 : at + 3])

    def _is_adjective(self, at: int) -> bool:
        word = self.words[at]
        plain = not self.pieces[at].slot and word not in FUNCTION and word not in _SIGNS and word != "'s"
        return plain and at not in self.understood and not word.endswith(("ing", "ed"))

    # -- nouns --------------------------------------------------------------------------------------------------------

    def _noun_votes(self, sign: Sign, sense: Sense) -> Iterator[Vote]:
        owner = self._owner(sign, sense)
        if owner is not None:
            at, role, weight = owner
            yield self._vote(at, sense.role if role else OTHER[sense.role], weight)

    def _owner(self, sign: Sign, sense: Sense) -> tuple[int, bool, float] | None:
        """A name that owns the noun (True) or that the noun is said of (False), and how sure that is."""
        before = [at for at in self.slots if at < sign.start]
        behind = [at for at in self.slots if at >= sign.end]
        end = sign.end
        while end < len(self.words) and self._adds_nothing(end):  # "tributary stream, directly or not, of"
            end += 1
        following = self.words[end : end + 1]
        links = {"of", "for", "from", "than", *(["to"] if sense.role == "object" else [])} | {
            each.needs for each in sign.senses if each.relation == sense.relation
        }
        if (
            following
            and following[0] in PREPOSITIONS
            and self.words[end + 1 : end + 2] in (["which"], ["whom"])
            and before
        ):
            return before[-1], True, 1
        if following and following[0] in links:
            if behind and self._governor(behind[0]) in links and not self._is_text(self.pieces[behind[0]].slot):
                return behind[0], True, 1
            if before and not behind:  # "the river that X is a tributary of"
                return before[-1], False, 1
        if (at := self._possessor(sign)) is not None:
            return at, True, 1
        if sign.end in self.slots:  # "the tributary X", "of the kind X"
            return sign.end, False, 0.8
        return self._distant_owner(sign, before, behind)

    def _adds_nothing(self, at: int) -> bool:
        """Whether a word between a noun and its preposition is a filler, a comma, or says how directly."""
        return at in self.fillers or at in self.told or self.words[at] in DIRECT | INDIRECT | {","}

    def _possessor(self, sign: Sign) -> int | None:
        """The name right before the noun: `X's mouth`, `the X drainage`; adjectives and fillers may stand between."""
        back = sign.start - 1
        while back >= 0:
            if self.pieces[back].slot:
                return back
            word = self.words[back]
            plain = back in self.fillers or self._is_adjective(back) or word in DIRECT | INDIRECT | {"own", "many"}
            if word not in ("'s", "'") and not plain:
                return None
            back -= 1
        return None

    def _distant_owner(
        self, sign: Sign, before: Sequence[int], behind: Sequence[int]
    ) -> tuple[int, bool, float] | None:
        """A name further off that owns the noun: `X has Y as its mouth`, `the lake whose mouth`, `For X, the mouth`."""
        lead = self.words[max(sign.start - 4, 0) : sign.start]
        relative = [
            at
            for at, word in enumerate(self.words[: sign.start])
            if word == "whose" or (word in PREPOSITIONS and self.words[at + 1] in ("which", "whom", "what"))
        ]
        if relative:
            owners = [at for at in before if at < relative[-1]]
            return (owners[-1], True, 1) if owners else None
        if OWN & set(lead) and self.slots:
            here = set(self.words[before[-1] + 1 : sign.start]) if before else set()
            owner = before[-1] if HAVE & here else (before or behind or self.slots)[0]  # "that X has its mouth"
            return owner, True, 0.9 if before else 0.6
        if (at := self._possessing(sign, before)) is not None:
            return at, True, 0.9
        said = self._said_as(sign, before)
        if said is not None:
            return said, False, 0.8
        for at in self.slots:
            if self._governor(at) in ("of", "for"):
                return at, True, 0.7
        opens = bool(before) and self.words[before[0] + 1] in (",", ":")
        return (before[0], True, 0.6) if opens else None

    def _said_as(self, sign: Sign, before: Sequence[int]) -> int | None:
        """The name that the noun is said of: `X names Y as its ...`."""
        for at in range(sign.start - 1, max(sign.start - 4, 0), -1):
            if self.words[at] == "as" and len(before) > 1 and before[-1] == at - 1:
                return at - 1
        return None

    def _possessing(self, sign: Sign, before: Sequence[int]) -> int | None:
        """The subject of `has`, or the name before `with`, where such a word stands before the noun."""
        for at in range(sign.start - 1, -1, -1):
            if self.words[at] in HAVE:
                owners = [each for each in before if each < at] or ([] if self.words[at] == "with" else before[:1])
                if owners:
                    return owners[-1]
        return None

    # -- the outcome --------------------------------------------------------------------------------------------------

    def _vote(self, at: int, role: Role, weight: float) -> Vote:
        return Vote(self.pieces[at].slot, role, weight)

    def _is_text(self, slot: int) -> bool:
        return 0 < slot <= len(self.texts) and self.texts[slot - 1]

    def _placed(self, votes: Sequence[Vote]) -> tuple[int, int, float] | None:
        """Subject and object with the confidence in them."""
        slots = list(dict.fromkeys(self.pieces[at].slot for at in self.slots))
        if len(slots) != 2:
            return None
        one, other = slots
        if self._is_text(one) or self._is_text(other):
            if self._is_text(one) and self._is_text(other):
                return None
            return (other, one, 0.95) if self._is_text(one) else (one, other, 0.95)
        forward = sum(vote.weight for vote in votes if (vote.slot == one) == (vote.role == "subject"))
        backward = sum(vote.weight for vote in votes) - forward
        if forward == backward:
            return None
        sure = 0.9 if max(forward, backward) < 2 else 0.95
        sure *= 1.0 if min(forward, backward) == 0 else 0.7
        sure *= 1.0 if max(forward, backward) >= 0.9 else 0.9
        return (one, other, sure) if forward > backward else (other, one, sure)

    def _unknown(self) -> list[str]:
        """The words that nothing is known of."""
        return [
            word
            for at, word in enumerate(self.words)
            if at not in self.understood
            and not self.pieces[at].slot
            and word not in FUNCTION
            and word not in SHELL
            and not word.endswith("ly")
            and word[0].isalnum()
        ]

    def _negated(self) -> bool:
        """Whether it asks if the claim is not so. `Doesn't X flow into Y?` does not: it asks for the claim itself."""
        words, count = self.words, 0
        tag = self._tag()
        for at, word in enumerate(words[:tag]):
            if (word in UNTRUE and "or" not in words[max(at - 1, 0) : at + 2]) or (word in NOT and not self._asks(at)):
                count += 1
        if tag < len(words) and count % 2 and set(words[tag:]) & DO and not set(words[tag:]) & NOT:
            return False  # "X doesn't flow into Y, does it?"
        return count % 2 == 1

    def _tag(self) -> int:
        """Where a tag begins (`, isn't it?`); the end where there is none."""
        last = self.slots[-1] if self.slots else 0
        commas = [at for at, word in enumerate(self.words) if word in ",-–—" and at > last]
        short = [at for at in commas if len([word for word in self.words[at:] if word[0].isalnum()]) <= 4]
        return short[0] if short else len(self.words)

    def _asks(self, at: int) -> bool:
        """Whether a `not` belongs to the form of a question: the verb opens it, and no clause is between."""
        if self.words[at] == "never" or (at and self.words[at - 1] == "or"):
            return self.words[at] != "never"
        opening = self.words[:at]
        return (
            bool(opening)
            and opening[0] in BE | DO | {"has", "have", "had"}
            and not set(opening) & (RELATIVE - {"what"})
        )
