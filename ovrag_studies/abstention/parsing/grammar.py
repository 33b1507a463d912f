"""Grammar of direction: which relation a sentence asks for, and which of its two names is whose.

The domain's words tell what a verb's agent and a noun's owner are in a claim; the grammar finds agent and owner. Every
sign found is a vote; signs that disagree are doubt.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from ovrag_studies.abstention.parsing import english
from ovrag_studies.abstention.parsing.frames import SIGNS, Frame, RelationSign, slot_of
from ovrag_studies.abstention.parsing.name_roles import Vote, votes_from_to, votes_of
from ovrag_studies.abstention.parsing.relation_words import Phrase, RelationWords, Sense

_WRAPPED = 0.98  # a wording of the domain inside another sentence
_READ = 0.9  # other words of the domain
_UNHEARD = 0.75  # a verb that the domain has not
# What begins something else than a verb.
_BREAKS = frozenset({"and", "or", "to", ".", ":", ";", "?"}) | english.SHELL | english.PERSONS


@dataclass(frozen=True, slots=True)
class Sentence:
    """Question of a sentence: the relation, the slots of subject and object, and if it is denied.

    `otherwise` is another relation that it may ask for as well. Without a relation, `reason` says why.
    """

    relation: str | None
    subject: int = 0
    object: int = 0
    confidence: float = 0.0
    negated: bool = False
    reason: str = ""
    otherwise: str | None = None


def read_sentence(words: Sequence[str], lexicon: RelationWords, texts: Sequence[bool]) -> Sentence:
    """Find what a sentence with two slots asks. `texts` says of each slot whether it is text, so never a subject."""
    frame = Frame(words, lexicon, tuple(texts))
    return _known(frame) or _read(frame)


def _known(frame: Frame) -> Sentence | None:
    """The sentence as a template of the domain says it, by itself or inside `Is it true that ...?`."""
    opening = [i for i in range(frame.slots[0]) if frame.words[i] == "that"][-1:]
    wraps = all(word in english.FUNCTION | english.SHELL | SIGNS for i in opening for word in frame.words[:i])
    inside = opening[0] + 1 if opening and wraps else 0
    for start, end, sure in ((0, len(frame.words), 1.0), (inside, _tag_of(frame), _WRAPPED)):
        relation, first_role = frame.lexicon.templates.get(_said(frame, start, end), ("", ""))
        if relation:
            names = [slot_of(frame.words[i]) for i in frame.slots]
            subject, object_ = names if first_role == "subject" else names[::-1]
            return Sentence(relation, subject, object_, sure, sure < 1 and _is_negated(frame))
    return None


def _said(frame: Frame, start: int, end: int) -> Phrase:
    """The words from one place to another as templates have them: names by their order, no articles before them."""
    return tuple(
        str(frame.slots.index(i) + 1) if i in frame.slots else frame.words[i]
        for i in range(start, end)
        if frame.words[i] not in SIGNS and not (frame.words[i] in english.ARTICLES and i + 1 in frame.slots)
    )


def _read(frame: Frame) -> Sentence:
    if reason := next(_doubts(frame), ""):
        return Sentence(None, reason=reason)
    signs = _meant(frame) or _unheard_verb(frame) or _loose(frame)
    if _side_by_side(frame):  # "Do X and Y meet where X ends?"
        signs = [sign for sign in signs if sign.senses[0].noun or sign.start > frame.slots[1] + 1]
    if not signs:
        return Sentence(None, reason="no word of a relation that the domain has stands between the names")
    votes, senses = _heard(frame, signs)
    placed = _placed(frame, votes)
    if placed is None:
        return Sentence(None, reason="which of the two names is whose is not clear")
    relation = _noun_of_a_chain(frame, signs) or _relation(frame, senses)
    if relation is None:
        return Sentence(None, reason="the question fits several relations")
    confidence = _READ if signs[0] in frame.signs else _UNHEARD
    otherwise = _otherwise(frame, relation, senses)
    return Sentence(relation, *placed, confidence, _is_negated(frame), otherwise=otherwise)


# -- signs ------------------------------------------------------------------------------------------------------------


def _meant(frame: Frame) -> list[RelationSign]:
    """The signs whose preposition is there, where they need one: `falls on` is not `falls into`."""
    meant = [sign for sign in frame.signs if frame.satisfied(sign) or any(not sense.needs for sense in sign.senses)]
    return [sign for sign in meant if not frame.is_aside(sign)] or meant


def _loose(frame: Frame) -> list[RelationSign]:
    """The one verb of the sentence whose preposition is not behind it, where it has a name on either side."""
    if len(frame.signs) != 1:
        return []
    sign, (left, *_, right) = frame.signs[0], frame.slots
    between = frame.words[left + 1 : sign.start]
    around = left < sign.start and sign.end <= right and not _BREAKS & set(between)
    return [sign] if around or frame.governor(left) == "from" else []


def _unheard_verb(frame: Frame) -> list[RelationSign]:
    """A verb that is not in the domain, by the preposition behind it: `debouches into`."""
    for preposition, sense in frame.lexicon.any_verb.items():
        if preposition in frame.words[1:]:
            index = frame.words.index(preposition, 1)
            return [RelationSign(index, index + 1, (sense,))]
    return []


# -- names ------------------------------------------------------------------------------------------------------------


def _heard(frame: Frame, signs: Sequence[RelationSign]) -> tuple[list[Vote], list[Sense]]:
    """The votes that count, and the senses of all signs that have one; without a verb, those of `from X to Y`."""
    by_sign = [votes_of(frame, sign) for sign in signs]
    every, partial = list(chain.from_iterable(by_sign)), _partial(by_sign)
    if votes := [vote for sense, vote in every if (sense, vote) not in partial]:
        return votes, [sense for sense, _ in every]
    going = frame.lexicon.going
    if going is None:
        return [], [sense for sign in signs for sense in sign.senses]
    relation = frame.lexicon.chains.get(going.relation, going.relation)
    return votes_from_to(frame, going.role), [replace(going, relation=relation)]


def _partial(by_sign: Sequence[list[tuple[Sense, Vote]]]) -> list[tuple[Sense, Vote]]:
    """Votes of verbs that have one name, which count nothing beside one with both: "Does X reach Y when it ends?"."""
    verbs = [votes for votes in by_sign if votes and not votes[0][0].noun]
    whole = any(len({slot for _, (slot, _) in votes}) == 2 for votes in verbs)
    return [votes[0] for votes in verbs if whole and len(votes) == 1]


def _placed(frame: Frame, votes: Sequence[Vote]) -> tuple[int, int] | None:
    """The slots of subject and object; None where the votes disagree, or there is none."""
    slots = list(dict.fromkeys(slot_of(frame.words[i]) for i in frame.slots))
    if len(slots) != 2:
        return None
    left, right = slots
    if any(frame.texts):
        return (right, left) if frame.texts[left - 1] else (left, right)
    forward = {(slot == left) == (role == "subject") for slot, role in votes}
    if len(forward) != 1:
        return None
    return (left, right) if forward.pop() else (right, left)


# -- relation ---------------------------------------------------------------------------------------------------------


def _relation(frame: Frame, voting: Sequence[Sense]) -> str | None:
    """Choose what the nouns say, else the verbs, or the chain of that by its cues. None where they disagree."""
    relations = {sense.relation for sense in voting if sense.noun} or {sense.relation for sense in voting}
    links = relations - set(frame.lexicon.chains.values())
    if len(links) > 1 or (frame.indirect and frame.direct):
        return None
    name = next(iter(links or relations))
    offered = 0 < len(links) < len(relations) and "or" in frame.words  # "does it pass through or end in X"
    chain, link = frame.lexicon.chains.get(name, name), frame.lexicon.link_of(name)
    return chain if offered or frame.indirect else link if frame.direct else name


def _noun_of_a_chain(frame: Frame, signs: Sequence[RelationSign]) -> str:
    """The chain that the first of its nouns says; its link where a word says how directly; empty without one."""
    for sign in signs:
        sense = sign.senses[0]
        if sense.noun and frame.lexicon.is_chain(sense.relation):
            near = sign.start and frame.words[sign.start - 1] in english.DIRECT  # "immediately downstream of"
            directly = frame.direct and sense.role == "subject" and not frame.indirect  # "where it arrives directly"
            return frame.lexicon.link_of(sense.relation) if near or directly else sense.relation
    return ""


def _otherwise(frame: Frame, relation: str, voting: Sequence[Sense]) -> str | None:
    """The chain of the relation, where every verb means either."""
    chain = frame.lexicon.chains.get(relation)
    if chain is None or frame.direct:
        return None
    return chain if all(replace(sense, relation=chain) in frame.either for sense in voting) else None


# -- polarity ----------------------------------------------------------------------------------------------------------


def _is_negated(frame: Frame) -> bool:
    """Return True where it asks if the claim is not so; `Doesn't X flow into Y?` asks for the claim itself."""
    words, count = frame.words, 0
    tag = min(_tag_of(frame), _next_sentence(frame))
    for index, word in enumerate(words[:tag]):
        offered = {"or", "/"} & set(words[max(index - 1, 0) : index + 3])  # "true or false", "am I wrong, or does it"
        count += (word in english.UNTRUE and not offered) or (word in english.NOT and not _asks(frame, index))
    turned = set(words[tag:]) & english.DO and not set(words[tag:]) & english.NOT  # "X doesn't flow into Y, does it?"
    return count % 2 == 1 and not turned


def _tag_of(frame: Frame) -> int:
    """Find the place where a tag begins (`, isn't it?`); the end where there is none."""
    behind = range(frame.slots[-1] + 1, len(frame.words))
    tags = (i for i in behind if frame.words[i] in ",-–—" and sum(word[:1].isalnum() for word in frame.words[i:]) <= 4)
    return next(tags, len(frame.words))


def _asks(frame: Frame, at: int) -> bool:
    """Detect a `not` that belongs to the form of a question: the verb opens it, and no clause is between."""
    opening = frame.words[:at]
    if frame.words[at] == "never" or not opening:
        return False
    opens = opening[0] in english.BE | english.DO | {"has", "have", "had"}
    return opening[-1] == "or" or (opens and not set(opening) & (english.RELATIVE - {"what"}))


def _next_sentence(frame: Frame) -> int:
    """The start of a sentence behind the one with the names, but one on whether that is so; without one, the end."""
    behind = range(frame.slots[-1], len(frame.words))
    starts = (i for i in behind if frame.words[i] in ".;?" and not english.UNTRUE & set(frame.words[i:]))
    return next(starts, len(frame.words))


# -- doubts: reasons not to read a sentence at all --------------------------------------------------------------------


_SOME = frozenset({"a", "an", "another", "some", "any"})
_COMPARATIVES = frozenset({"more", "less", "fewer", "better", "worse"})
_NO_COMPARATIVES = frozenset({"other", "rather", "later", "water", "river", "further", "farther"})
_ASKING = frozenset({"why", "when", "how", "where", "who", "which", "what"})
_AT = frozenset({"on", "at", "near", "in"})


def _doubts(frame: Frame) -> Iterator[str]:
    """Each reason not to read it, as a sentence to people."""
    if frame.other:
        yield f"'{frame.other}' asks for a relation that is not in the domain"
    for i in range(len(frame.words)):
        yield from _at_a_word(frame, i)
    for i in frame.slots:
        yield from _at_a_name(frame, i)
    if _asks_more(frame):
        yield f"'{frame.words[0]}' asks for more than that something is so"
    if unheard := _unheard(frame):
        yield f"'{unheard}' is not understood"
    if _of_another(frame):
        yield "the question is about some thing without a name"
    if _side_by_side(frame) and len(frame.slots) == 2:
        yield "the names stand side by side, so that neither is said of the other"


def _at_a_word(frame: Frame, at: int) -> Iterator[str]:
    word, ahead = frame.words[at], "".join(frame.words[at + 1 : at + 2])
    if word in english.EXCLUDING and at not in frame.told:
        yield f"'{word}' leaves open which of the names is meant"
    before = frame.words[max(at - 3, 0) : at]
    if word == "than" and any(w in _COMPARATIVES or w.endswith("er") for w in before if w not in _NO_COMPARATIVES):
        yield "the question compares the names"
    if word in english.BEARINGS and ahead == "of":
        yield f"'{word} of' asks where something lies"
    if word in english.UPWARD and ahead == "to":
        yield f"'{word} to' turns the way round"


def _at_a_name(frame: Frame, at: int) -> Iterator[str]:
    governor, words = frame.governor(at), frame.words
    if governor in english.ASIDE:
        yield f"'{governor}' asks where something lies"
    if words[at - 1] == "not" and words[at - 2] not in english.BE | english.DO:
        yield "one of the names is denied"
    lead = frame.governing(at) or 0
    if words[max(lead - 1, 0) : lead] == ["or"] and words[lead - 2] not in english.PREPOSITIONS:
        yield "the question offers two things"
    if at >= 4 and words[at - 4] in english.GOALS | {"through"} and words[at - 3] in english.DETERMINERS:
        noun = words[at - 2]  # "to the town on"
        if words[at - 1] in _AT and frame.is_adjective(at - 2) and noun not in english.ACCOUNTS:
            yield f"'{noun}' is not understood"


def _side_by_side(frame: Frame) -> bool:
    """Detect names with only `and` or `or` between them: `Do X and Y flow into the same sea?`."""
    between = set(frame.words[frame.slots[0] + 1 : frame.slots[1]])
    return bool({"and", "or"} & between) and between <= {"and", "or", "the", ",", "both"}


def _asks_more(frame: Frame) -> bool:
    """Detect what is no question of yes or no: `Why does X flow into Y?`; but `Where does X end, in Y?`."""
    opening = frame.words[: frame.slots[0]]
    if any(word in SIGNS for word in frame.words[: frame.slots[-1]]):
        return False
    asks = bool(opening) and opening[0] in _ASKING and not english.SHELL & set(opening)
    return asks and bool((english.DO | english.BE) & set(opening[1:]))


def _unheard(frame: Frame) -> str:
    """The main verb, where nothing is known of it: `Does the mouth of X face Y?`; but a basin may `span` anything."""
    between = [i for i in range(frame.slots[0] + 1, frame.slots[1]) if frame.words[i] not in english.DETERMINERS]
    if len(between) != 1 or frame.words[0] not in english.DO or not frame.is_adjective(between[0]):
        return ""
    for sign in frame.signs:
        sense = sign.senses[0]
        if not sense.noun or frame.lexicon.is_chain(sense.relation):
            return ""
        if sign.end > frame.slots[0] and not frame.is_aside(sign):
            return ""
    return frame.words[between[0]]


def _of_another(frame: Frame) -> bool:
    """Detect a verb that is said of a thing told only by a noun: `a tributary of X flows`, `into a tributary of X`."""
    for left, right in pairwise(frame.signs):
        sense, between = left.senses[0], set(frame.words[left.end : right.start])
        if between & _SOME and between <= _SOME | english.GOALS:
            return True
        some = bool(_SOME & set(frame.words[left.start - 1 : left.start])) and frame.words[left.end] == "of"
        if sense.noun and sense.role == "object" and some and right.start - 1 in frame.slots:
            return True
    return False
