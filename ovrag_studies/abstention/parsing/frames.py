"""A sentence with its names taken out: what its words are (of a relation, a cue, a filler), and what governs a name."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from ovrag_studies.abstention.parsing import english
from ovrag_studies.abstention.parsing.relation_words import Phrase, RelationWords, Sense

_BEFORE_NOUNS = frozenset({"of", "as", "many", "few", "several", "other", "own", "one", "another"})
_LEADING = english.DETERMINERS | {"own", "very", "'s"}
SIGNS = frozenset(",;:.?!()\"'-–—/")


def slot_word(slot: int) -> str:
    """What stands in a sentence for a name: its number, from 1, behind a sign that no word has."""
    return f"\0{slot}"


def slot_of(word: str) -> int:
    """The number of the name that a word stands for; 0 where it stands for none."""
    return int(word[1:] or 0) if word.startswith("\0") else 0


@dataclass(frozen=True, slots=True)
class RelationSign:
    """A word of a relation in a sentence (words from, to), with what it may mean."""

    start: int
    end: int
    senses: tuple[Sense, ...]


class Frame:
    """A sentence whose words are marked by what they do.

    `slots` are the places of names, `texts` says of each name if it is text, so that it can be no subject. `signs` are
    the words of relations, `either` all that they may mean; `fillers`, `told` (how directly) and `understood` are
    places; `indirect`: a chain is meant, `direct`: none is; `other` is a word of a relation that is not here.
    """

    def __init__(self, words: Sequence[str], lexicon: RelationWords, texts: tuple[bool, ...]) -> None:
        self.words = list(words)
        self.lexicon = lexicon
        self.texts = texts
        self.slots = [i for i, word in enumerate(words) if slot_of(word)]
        self.signs: list[RelationSign] = []
        self.either: set[Sense] = set()
        self.fillers: set[int] = set()
        self.understood: set[int] = set()
        self.told: set[int] = set()  # words that say how directly
        self.indirect = self.direct = False
        self.other = ""
        index = 0
        while index < len(self.words):
            index += self._match(index) or 1
        for index in range(len(self.words)):
            self._tell_how_directly(index)
        self.direct |= any(self.is_aside(sign) and english.OWN & set(self.words[: sign.start]) for sign in self.signs)

    def _tell_how_directly(self, at: int) -> None:
        """Marks the sentence by a single word that says how directly."""
        word, before, ahead = self.words[at], self.words[max(at - 1, 0) : at], self.words[at + 1 : at + 2]
        if word in english.DIRECT and at not in self.told:
            offered = "or" in [*before, *ahead]  # "directly or by other rivers"
            self.indirect |= offered
            self.direct |= not offered
        self.direct |= word == "right" and bool({*ahead} & english.GOALS - {"to"})
        # "by however many rivers"; but no indirect word in "the final stop"
        self.indirect |= word in english.HOWEVER and not {*ahead} & (english.DO | english.BE | {","})
        self.indirect |= word in english.INDIRECT and at not in self.understood

    def _match(self, at: int) -> int:
        """Marks the longest phrase that begins at a word; its length, 0 where there is none."""
        lexicon = self.lexicon
        for length in range(min(max(lexicon.longest, 5), len(self.words) - at), 0, -1):
            phrase: Phrase = tuple(self.words[at : at + length])
            marked: set[int] = set()
            if phrase in english.INDIRECT_PHRASES | english.DIRECT_PHRASES | lexicon.cues:
                self.direct |= phrase in english.DIRECT_PHRASES
                self.indirect |= phrase not in english.DIRECT_PHRASES
                marked = self.told
            elif phrase in lexicon.senses:
                if not self._place(at, length, self._of_kind(lexicon.senses[phrase])):
                    marked = self.fillers
            elif phrase in lexicon.others:
                self.other = self.other or self._not_here(at, phrase)
            elif phrase in lexicon.fillers:
                marked = self.fillers
            else:
                continue
            marked.update(range(at, at + length))
            self.understood.update(range(at, at + length))
            return length
        if self.words[at : at + 2] == ["that", "of"] and self.signs and self.signs[-1].senses[0].noun:
            self.signs.append(RelationSign(at, at + 1, self.signs[-1].senses))  # "the basin of X, that of Y"
        return 0

    def _not_here(self, at: int, phrase: Phrase) -> str:
        """A word of a relation that is not in the domain; empty where it only says something by the way."""
        aside = at > self.slots[-1] and "by" not in self.words[at - 2 : at]
        aside |= self.words[at - 1] in english.HOWEVER  # "at whatever distance"
        return "" if aside or (at == 0 and phrase[0].endswith("ing")) else " ".join(phrase)

    def _of_kind(self, senses: tuple[Sense, ...]) -> tuple[Sense, ...]:
        """The senses whose objects are text, or things, as the names in the sentence are."""
        text = any(self.texts)
        return tuple(sense for sense in senses if (sense.relation in self.lexicon.texts) == text) or senses

    def _place(self, at: int, length: int, senses: tuple[Sense, ...]) -> bool:
        """Keeps the senses that the place allows; a verb where a noun must stand (`the flow of`) is only a filler."""
        nominal = self._nominal(at)
        fitting = tuple(sense for sense in senses if sense.noun == nominal)
        formed = any(sense.form in ("ing", "participle") for sense in senses)
        if not fitting and (formed or not nominal):
            fitting = senses  # "the receiving river", "its emptying into"; "mouth of X: Y", a noun without an article
        self.either.update(fitting)
        if fitting:
            self.signs.append(RelationSign(at, at + length, fitting))
        return bool(fitting)

    def _nominal(self, at: int) -> bool:
        """Return True where a noun must stand: behind an article or a possessor (with adjectives)."""
        for back in range(at - 1, max(at - 4, -1), -1):
            word = self.words[back]
            if word in ("'s", "'", "whose") or (word in english.DETERMINERS and word != "that"):
                return True
            plain = word in english.FUNCTION - english.DIRECT - english.INDIRECT or word in SIGNS
            if plain or back in self.slots or word.endswith("ly"):
                someone = word == "one" and self.words[max(back - 1, 0)] in english.DO  # "does one arrive"
                return word in _BEFORE_NOUNS and not someone
            if back in self.fillers | self.told:
                return False
        return False

    def _fronted(self, at: int) -> bool:
        """Detect a preposition that opens the sentence, or its clause, with a name behind it: `Into X does Y flow`."""
        before = self.words[at - 1] if at else ","
        return (before in SIGNS or before in english.BE | {"that", "it"}) and any(i > at for i in self.slots)

    def around(self, sign: RelationSign) -> tuple[list[int], list[int]]:
        """The places of the names before a sign, and of those behind it."""
        at = bisect(self.slots, sign.start)
        return self.slots[:at], self.slots[at:]

    def turned(self, at: int) -> bool:
        """Detect a name before the verb behind a preposition that opens the clause: `Into X flows Y`."""
        governor = self.governing(at)
        return governor is not None and self.words[governor] in english.GOALS and self._fronted(governor)

    def governor(self, at: int) -> str:
        """The preposition that a name depends on, if any."""
        governor = self.governing(at)
        return "" if governor is None else self.words[governor]

    def governing(self, at: int) -> int | None:
        """Place of the preposition that a name depends on; fillers are seen through: `into the waters of X`."""
        back = at - 1
        while back >= 0:
            word = self.words[back]
            if word in ("of", "from", "in") and back - 1 in self.fillers:
                back -= 2
            elif word in english.PREPOSITIONS | english.ASIDE:
                return back
            elif word in english.DETERMINERS | english.NAMING or back in self.fillers:
                back -= 1
            else:
                return None
        return None

    def is_adjective(self, at: int) -> bool:
        """Return True where a word may be an adjective: nothing is known of it."""
        return at not in self.slots and self.words[at] not in english.FUNCTION and at not in self.understood

    def adds_nothing(self, at: int) -> bool:
        """Return True where a word between a noun and its preposition is a filler, a comma, or says how directly."""
        directly = english.DIRECT | english.INDIRECT | {",", "or", "not"}
        return at in self.fillers | self.told or self.words[at] in directly

    def is_aside(self, sign: RelationSign) -> bool:
        """Detect a noun that only says where something happens: `at its mouth`, `right at the bottom end`."""
        before = (i for i in reversed(range(sign.start)) if self.words[i] not in _LEADING and i not in self.fillers)
        alone = self.words[sign.end : sign.end + 1] != ["of"] and sign.end not in self.slots
        direct = sign.senses[0].noun and not self.lexicon.is_chain(sign.senses[0].relation)
        return direct and alone and next((self.words[i] for i in before), "") == "at"

    def satisfied(self, sign: RelationSign) -> list[Sense]:
        """The senses whose preposition is there, behind the verb or before a relative pronoun or a fronted name."""
        stops = [*self.slots, *(s.start for s in self.signs if not s.senses[0].noun), len(self.words)]
        behind = self.words[sign.end : min(stop for stop in stops if stop >= sign.end)]
        before = self.words[: sign.start]
        goals = [i for i, word in enumerate(before) if word in english.GOALS]
        fronted = [before[i] for i in goals if self.words[i + 1] in english.RELATIVE or self._fronted(i)]
        present = {*behind, *fronted, self.words[sign.start]}
        return [sense for sense in sign.senses if sense.needs and ("where" in before or sense.needs in present)]
