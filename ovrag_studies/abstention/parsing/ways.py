"""A way that something takes from one thing to another: `If I drop a leaf into X, will it come to Y?`

Only where the way begins and where it leads is said of the names; who or what goes it (a person, a leaf, the water)
does not matter. Only domains whose things go anywhere have ways (`* into` among their verbs).
"""

from __future__ import annotations

from collections.abc import Iterable

from ovrag_studies.abstention.parsing.english import (
    ALONG,
    ASIDE,
    BE,
    DETERMINERS,
    DO,
    GOING,
    NAMING,
    PLACING,
    RELATIVE,
    UPWARD,
)
from ovrag_studies.abstention.parsing.frames import SIGNS, Frame
from ovrag_studies.abstention.parsing.word_forms import verb_forms


def _forms(verbs: Iterable[str]) -> frozenset[str]:
    return frozenset(form for verb in verbs for form in verb_forms(verb))


_PLACING, _GOING = _forms(PLACING), _forms(GOING)
_NO_END = ALONG | ASIDE | BE | DO | RELATIVE | SIGNS | {"from", "of", "by", "up", "and", "or"}
_INTO = frozenset({"into", "in", "onto", "on"})


def way_of(frame: Frame) -> tuple[int, int] | None:
    """Where the names stand from which and to which a way leads down; none where no way is told."""
    if len(frame.slots) != 2 or not frame.lexicon.any_verb:
        return None
    for begin, end in (frame.slots, frame.slots[::-1]):
        if _begins(frame, begin) and _ends(frame, end):
            return (end, begin) if _upward(frame, begin, end) else (begin, end)
    begin, end = frame.slots
    turns = ALONG | UPWARD | {"downstream"}
    if frame.governor(begin) == "from" and frame.governor(end) == "to" and turns & set(frame.words[begin:end]):
        return (end, begin) if _upward(frame, begin, end) else (begin, end)
    return None


def _before(frame: Frame, at: int) -> int:
    """Where the word stands that comes before a name and all that leads up to it; -1 where there is none."""
    back = at - 1
    while back >= 0:
        word = frame.words[back]
        if (
            word not in DETERMINERS | NAMING
            and back not in frame.fillers
            and (word != "of" or back - 1 not in frame.fillers)
        ):
            break
        back -= 1
    return back


def _begins(frame: Frame, at: int) -> bool:
    lead = _before(frame, at)
    if lead < 0:
        return False
    word, clause = frame.words[lead], _clause(frame, lead)
    if word in ALONG | {"up"} | _GOING:
        return not any(clause <= each < lead for each in frame.slots)
    placed = any(each in _PLACING for each in frame.words[clause:lead])
    return word in _INTO and placed and not any(clause <= each < lead for each in frame.slots)


def _ends(frame: Frame, at: int) -> bool:
    word = frame.words[_before(frame, at)]
    return word not in _NO_END


def _clause(frame: Frame, at: int) -> int:
    """Where the clause begins that a place is in."""
    begins = SIGNS | {"if", "that", "which", "who"}
    return max((back + 1 for back in range(at) if frame.words[back] in begins), default=0)


def _upward(frame: Frame, begin: int, end: int) -> bool:
    """Whether the way goes up, as `up X to Y` does, and not what only ends up somewhere."""
    verbs = {at for sign in frame.signs for at in range(sign.start, sign.end)}
    return any(frame.words[at] in UPWARD for at in range(_before(frame, begin), end) if at not in verbs)
