"""Read what a sentence makes of an action: a duty, a ban, a permission, a waiver, or a plain yes or no.

A cue ("must not", "is prohibited", "no need to", "exempt") is read with the words that it governs and the words around
it, and compared with the cue of the evidence that speaks of the same.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from math import sqrt
from typing import Literal

from ovrag_core.text import NEGATION, find_passages, stems

Force = Literal["duty", "ban", "may", "waived", "is", "not"]

_ADVERB = r"(?:\s+(?:\w+ly|also|now|ever|be|been|being|yet|otherwise|longer|always))*"
_NOT = r"(?:not|never|no longer|n't)"
_MODALS = r"(?:must|shall|should|may|can|could|might|ought to|are to|is to|has to|have to)"
_ALLOWED = r"(?:permitted|allowed|authori[sz]ed|acceptable|accepted|tolerated|entitled|approved for|legal|permissible)"
_NEEDED = r"(?:required|requirement|mandatory|compulsory|obligatory|obliged|obligated|necessary|needed|need)"
_BANNED = r"(?:prohibited|prohibition|forbidden|banned|barred|disallowed|blocked|outlawed)"
_NOBODY = (
    r"\b(?:no(?! (?:later|more|less|fewer|longer|need|requirement)\b)|neither|none|nobody)\b(?:\s+[\w-]+){0,6}?\s+"
)

# In the order in which they are tried where two could begin at the same word.
_CUES: tuple[tuple[Force, *tuple[str, ...]], ...] = (
    ("duty", rf"\b{_MODALS} {_NOT} (?:avoid|fail|refrain|forget|neglect|omit)\b", r"\bnot optional\b"),
    ("may", rf"\b{_NOT}{_ADVERB}\s+{_BANNED}\b", r"\bno (?:ban|prohibition)\b"),
    (
        "waived",
        r"\bneed\s*(?:not|n't)\b",
        rf"\b(?:do|does|did|will|would|shall)(?:\s+not|n't){_ADVERB}\s+(?:require|need|have to|oblige|mandate)\b",
        rf"\b(?:is|are|was|were|be)(?:\s+{_NOT}|n't)(?:\s+(?!but\b|only\b|optional\b)\w+){{0,2}}?\s+{_NEEDED}\b",
        rf"\b{_NOT}\s+(?:an?\s+)?{_NEEDED}\b",
        rf"{_NOBODY}(?:is|are|be)?\s*{_NEEDED}\b",
        r"\b(?:requires?|needs?)\s+no\b",
        r"\b(?:nobody|no one|none)\s+(?:has|needs) to\b",
        r"\bno (?:need|requirement|obligation|duty)\b",
        r"\bwithout (?:the need|needing|requiring|requirement)\b",
        r"\b(?:exempt(?:s|ed|ions?)?|waive(?:[sd]|rs?)?|optional|voluntary)\b",
    ),
    (
        "ban",
        rf"\b{_MODALS}\s*(?:\s+{_NOT}|n't)\b",
        r"\b(?:cannot|can't|shan't)\b",
        rf"\b(?:is|are|was|were|be|been)(?:\s+{_NOT}|n't){_ADVERB}\s+{_ALLOWED}\b",
        rf"\b{_NOT}{_ADVERB}\s+{_ALLOWED}\b",
        r"\b(?:do|does|did|will)(?:\s+not|n't)\s+(?:permit|allow|authori[sz]e|accept|tolerate)\b",
        rf"{_NOBODY}(?:may|can|shall|should|must)\b",
        rf"{_NOBODY}(?:is|are|be|will be|shall be){_ADVERB}\s+{_ALLOWED}\b",
        r"\bunder no circumstances\b",
        rf"\b(?:{_BANNED}|prohibit(?:s|ing|ions)?|forbid(?:s|ding)?|bans?|disallows?)\b",
        r"\brefrain(?:s|ing)? from\b",
        r"\b(?:must|should|shall|to)\s+avoid\b",
    ),
    (
        "duty",
        r"\b(?:must|shall|should|requir(?:e|es|ed|ing|ements?)|mandat(?:ory|e|es|ed|ing)|compulsory)\b",
        r"\b(?:obligatory|obliged|obligat(?:ed|ions?)|duty|necessary)\b",
        r"\b(?:needs? to|ha(?:s|ve) to|(?:is|are) (?:to|expected to|needed))\b",
    ),
    (
        "may",
        r"\b(?:may(?!\s+\d)|can|could|might)\b",
        r"\b(?:right|free|able|welcome|at liberty) to\b",
        rf"\b(?:{_ALLOWED}|permi(?:ts?|tting|ssion)|allow(?:s|able)?|eligible|welcome)\b",
    ),
)
_CUE = re.compile(
    "|".join(f"(?P<c{row}>{'|'.join(patterns)})" for row, (_, *patterns) in enumerate(_CUES)), re.IGNORECASE
)
# "Nothing in this policy limits …" leaves a plain statement as it is.
_DENIAL = re.compile(rf"(?!nothing\b){NEGATION}|\bfail(?:s|ed|ure)?\b", re.I)
_DENIED = re.compile(
    rf"\b(?:(?:is|are|was|were|be|been|will|do|does|did|has|have|had)(?:\s+{_NOT}|n't)|won't){_ADVERB}"
    r"\s+(?!only\b)([a-z][\w-]*)",
    re.I,
)
_MODAL = re.compile(r"(?:must|shall|should|may|can|could|might|to|not?|never|longer|cannot|n't|avoid)$", re.I)
_ACTIVE = re.compile(
    r"(?:require|mandate|prohibit|forbid|ban|disallow|permit|allow)s?$|(?:requir|mandat|prohibit|permit|allow"
    r"|forbidd)ing$",
    re.I,
)
_CONDITION = re.compile(
    r"\b(?:only|solely|exclusively|unless|except(?:ions?)?|subject to|provid(?:ed|ing)|without|condition(?:s|al)?"
    r"|until|if|limited to|restricted to|prior|(?:pre-?)?approv\w+|others?|non-?[a-z]{4,}"
    r"|un(?:approved|authori[sz]ed|trained|qualified|licensed|certified|registered|supervised|accompanied|escorted))\b",
    re.I,
)
_BREAK = re.compile(
    r"[;:]\s|,\s|\s[-–—]{1,2}\s|\b(?:but|while|whereas|although|however|and|or|which|who|unless|if|when)\b", re.I
)

# Which force of the evidence supports which one claimed. A plain statement of a policy is taken for its rule.
_SUPPORTS: dict[Force, frozenset[Force]] = {
    "duty": frozenset({"duty", "is"}),
    "ban": frozenset({"ban", "not"}),
    "may": frozenset({"may", "waived", "is"}),
    "waived": frozenset({"waived", "may", "not"}),
    "is": frozenset({"is", "duty", "may", "waived"}),
    "not": frozenset({"not", "ban", "waived"}),
}
# What a rule under a condition comes to as well: "only with approval" requires approval, and bars who has none.
_CONDITIONED: dict[Force, frozenset[Force]] = {
    "may": frozenset({"duty", "ban"}),
    "ban": frozenset({"duty", "may"}),
    "duty": frozenset({"ban", "may"}),
    "is": frozenset({"ban", "not"}),
    "not": frozenset({"duty", "is", "may"}),
    "waived": frozenset(),
}


@dataclass(frozen=True, slots=True)
class ForceCue:
    """One force of a sentence: `head` are stems of what it governs, `around` those of its part of the sentence."""

    force: Force
    head: frozenset[str]
    around: frozenset[str]
    conditional: bool
    text: str


@lru_cache(maxsize=1 << 14)
def find_cues(text: str) -> tuple[ForceCue, ...]:
    """The cues of all sentences of `text` in order; a sentence without one is a plain `is` or `not`."""
    return tuple(cue for start, end in find_passages(text) for cue in _of_sentence(text[start:end].replace("’", "'")))


def _of_sentence(sentence: str) -> list[ForceCue]:
    matches, conditional = list(_CUE.finditer(sentence)), bool(_CONDITION.search(sentence))
    if not matches:
        words = frozenset(stems(sentence))
        return [ForceCue("not" if _DENIAL.search(sentence) else "is", words, words, conditional, "")]
    # Between two cues the second one's part begins at the last break, or else right before it.
    starts = [
        max((mark.start() for mark in _BREAK.finditer(sentence, left.end(), right.start())), default=right.start())
        for left, right in pairwise(matches)
    ]
    cues: list[ForceCue] = []
    for match, (start, end) in zip(matches, pairwise([0, *starts, len(sentence)]), strict=True):
        before, after = sentence[start : match.start()], sentence[match.end() : end]
        head, around = _head(match[0], before, after, sentence[match.end() :]), frozenset(stems(f"{before} {after}"))
        if cues and not head:  # "are allowed on weekdays but banned at weekends": the same ones
            head, around = cues[-1].head, around or cues[-1].around
        cues.append(ForceCue(_CUES[int(str(match.lastgroup)[1:])][0], head, around, conditional, match[0]))
    return cues


def _head(cue: str, before: str, after: str, rest: str) -> frozenset[str]:
    """The stems of what a cue governs, by the words of its part of the sentence; `rest` is all behind it."""
    if _MODAL.search(cue):
        return frozenset(stems(after)[:1])
    if _ACTIVE.search(cue) or re.match(r"\s+(?:to|from|for)\b", rest):
        return frozenset(stems(after)[:2])
    return frozenset(stems(before)[-3:])


def find_opposed(sentence: str, evidence: Sequence[str]) -> tuple[str, str] | None:
    """The first words of a sentence that the evidence opposes, with those that do; None where polarity is equal."""
    evidence_cues = list(chain.from_iterable(map(find_cues, evidence)))
    for claimed in find_cues(sentence):
        if against := _opposing(claimed, evidence_cues):
            return claimed.text or "plain statement", against.text or "plain statement"
    affirmed = set(chain.from_iterable(map(stems, evidence)))
    denied = set(chain.from_iterable(map(_denied, evidence)))
    denied |= {stem for cue in evidence_cues if cue.force in ("ban", "waived", "not") for stem in cue.around}
    return next(((f"not {stem}", stem) for stem in _denied(sentence) if stem in affirmed - denied), None)


def _denied(text: str) -> list[str]:
    """Stems of the words that are plainly denied ("is not X"), but for those that are cues themselves."""
    words = _DENIED.findall(text.replace("’", "'"))
    return stems(" ".join(word for word in words if not _CUE.search(word)))


def _opposing(claimed: ForceCue, given: Sequence[ForceCue]) -> ForceCue | None:
    scored = [(_likeness(claimed, cue), cue) for cue in given]
    best = max((score for score, _ in scored), default=0.0)
    rivals = [cue for score, cue in scored if score == best > 0]
    return rivals[0] if rivals and not any(_supported(claimed, cue) for cue in rivals) else None


def _likeness(first: ForceCue, second: ForceCue) -> float:
    if not first.around or not second.around:
        return 0.0
    shared = len(first.around & second.around) / sqrt(len(first.around) * len(second.around))
    alike = bool(first.head & second.head) and bool(first.text) == bool(second.text)
    return shared * (1.5 if alike else 1.0)


def _supported(claimed: ForceCue, given: ForceCue) -> bool:
    if given.force in _SUPPORTS[claimed.force]:
        return True
    if not given.conditional or claimed.head & given.head or claimed.force not in _CONDITIONED[given.force]:
        return False
    return claimed.force == "duty" or claimed.conditional
