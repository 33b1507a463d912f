"""Reasons not to read a sentence at all, whatever words of a relation it has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ovrag_studies.abstention.parsing.english import (
    ACCOUNTS,
    ASIDE,
    BE,
    BEARINGS,
    DETERMINERS,
    DO,
    EXCLUDING,
    GOALS,
    PREPOSITIONS,
    SHELL,
    UPWARD,
)
from ovrag_studies.abstention.parsing.frames import SIGNS, Frame

_SOME = frozenset({"a", "an", "another", "some", "any"})
_COMPARATIVES = frozenset({"more", "less", "fewer", "better", "worse"})
_NO_COMPARATIVES = frozenset({"other", "rather", "later", "water", "river", "further", "farther"})
_ASKING = frozenset({"why", "when", "how", "where", "who", "which", "what"})
_AT = frozenset({"on", "at", "near", "in"})


def doubts(frame: Frame) -> Iterator[str]:
    """Each reason not to read it, as a sentence to people."""
    if frame.other:
        yield f"'{frame.other}' asks for a relation that is not in the domain"
    yield from (reason for i in range(len(frame.words)) if (reason := _at_a_word(frame, i)))
    yield from (reason for i in frame.slots if (reason := _at_a_name(frame, i)))
    if _asks_more(frame):
        yield f"'{frame.words[0]}' asks for more than that something is so"
    if unheard := _unheard(frame):
        yield f"'{unheard}' is not understood"
    if _of_another(frame):
        yield "the question is about some thing without a name"
    if side_by_side(frame) and len(frame.slots) == 2:
        yield "the names stand side by side, so that neither is said of the other"


def _at_a_word(frame: Frame, at: int) -> str:
    word, ahead = frame.words[at], "".join(frame.words[at + 1 : at + 2])
    if word in EXCLUDING and at not in frame.told:
        return f"'{word}' leaves open which of the names is meant"
    if word == "than" and any(_compares(w) for w in frame.words[max(at - 3, 0) : at]):
        return "the question compares the names"
    if word in BEARINGS and ahead == "of":
        return f"'{word} of' asks where something lies"
    if word in UPWARD and ahead == "to":
        return f"'{word} to' turns the way round"
    return ""


def _at_a_name(frame: Frame, at: int) -> str:
    governor = frame.governor(at)
    if governor in ASIDE:
        return f"'{governor}' asks where something lies"
    if frame.words[at - 1] == "not" and frame.words[at - 2] not in BE | DO:
        return "one of the names is denied"
    lead = frame.governing(at) or 0
    if frame.words[max(lead - 1, 0) : lead] == ["or"] and frame.words[lead - 2] not in PREPOSITIONS:
        return "the question offers two things"
    window = frame.words[at - 4 : at]  # "to the town on"
    if len(window) == 4 and window[0] in GOALS | {"through"} and window[1] in DETERMINERS and window[3] in _AT:
        return f"'{window[2]}' is not understood" if frame.is_adjective(at - 2) and window[2] not in ACCOUNTS else ""
    return ""


def side_by_side(frame: Frame) -> bool:
    """Detect names with only `and` or `or` between them: `Do X and Y flow into the same sea?`."""
    between = set(frame.words[frame.slots[0] + 1 : frame.slots[1]])
    return bool({"and", "or"} & between) and between <= {"and", "or", "the", ",", "both"}


def _asks_more(frame: Frame) -> bool:
    """Detect what is no question of yes or no: `Why does X flow into Y?`; but `Where does X end, in Y?`."""
    opening = frame.words[: frame.slots[0]]
    if any(word in SIGNS for word in frame.words[: frame.slots[-1]]):
        return False
    return bool(opening) and opening[0] in _ASKING and bool((DO | BE) & set(opening[1:]) and not SHELL & set(opening))


def _unheard(frame: Frame) -> str:
    """The main verb, where nothing is known of it: `Does the mouth of X face Y?`; but a basin may `span` anything."""
    between = [i for i in range(frame.slots[0] + 1, frame.slots[1]) if frame.words[i] not in DETERMINERS]
    if len(between) != 1 or frame.words[0] not in DO or not frame.is_adjective(between[0]):
        return ""
    for sign in frame.signs:
        sense = sign.senses[0]
        if not sense.noun or frame.lexicon.is_chain(sense.relation):
            return ""
        if sign.end > frame.slots[0] and not frame.is_aside(sign):
            return ""
    word = frame.words[between[0]]
    return word if word.isalpha() and not word.endswith("ly") else ""


def _compares(word: str) -> bool:
    return word in _COMPARATIVES or (word.endswith("er") and word not in _NO_COMPARATIVES)


def _of_another(frame: Frame) -> bool:
    """Detect a verb that is said of a thing told only by a noun: `a tributary of X flows`, `into a tributary of X`."""
    for left, right in pairwise(frame.signs):
        left_sense, right_sense = left.senses[0], right.senses[0]
        between = set(frame.words[left.end : right.start])
        if (
            right_sense.noun
            and not left_sense.noun
            and right_sense.role == "object"
            and between & _SOME
            and between <= _SOME | GOALS
        ):
            return True
        some = bool(_SOME & set(frame.words[left.start - 1 : left.start])) and frame.words[left.end] == "of"
        if (
            left_sense.noun
            and not right_sense.noun
            and left_sense.role == "object"
            and some
            and right.start - 1 in frame.slots
        ):
            return True
    return False
