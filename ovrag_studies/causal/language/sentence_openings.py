"""The sentences of a text, what opens one without saying anything of its matter, and what says that one is not so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ovrag_core.text.sentences import sentences
from ovrag_core.text.tokens import any_of
from ovrag_studies.causal.language.wording import entries

_MARK = re.compile(r"\s*(?:[-*•–—·]+\s+|\(?\d{1,3}[.):]\s+|\(?[a-z]\)\s+|#+\s+|>\s+)")
_ASKED = re.compile(r"(?:question|task|query)\s*[:\-]", re.IGNORECASE)
_CLOSING = "\"'”’)] "
_SAID = r"(?:claim|statement|assertion|idea|belief|notion|view|opinion|assumption|conclusion|sentence)"
_IS = r"(?:\s+(?:is|was|would be|turns out to be)|['’]s)\s+"
_CONTRARY = re.compile(
    r"(?:(?:but|no|in fact|actually|in reality)\b[,\s]*)*"
    r"(?:(?:quite |just )?the (?:very |exact )?(?:opposite|reverse|contrary)"
    r"|(?:it|this|that)(?: is|['’]s) the other way (?:a)?round)"
    r"(?:\s+(?:is (?:true|the case|so|right|correct)|holds))?$",
    re.IGNORECASE,
)
_SURELY = r"(?:(?:just|of course|in fact|not at all|all|[a-z]+ly)\s+)*"


@dataclass(frozen=True, slots=True)
class Opening:
    """What stands before the matter of a sentence: where that begins, and whether it is denied or merely given."""

    body: int
    denied: bool
    given: bool
    consequent: bool  # "as a result": it follows from what was said before


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a sentence says of a statement: where that begins and ends in it (both 0: it is the one before), and whether
    it is so.
    """

    start: int
    end: int
    holds: bool


def statements(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the sentences, without marks of lists and white space; the end of a line ends a sentence too."""
    for start, end in sentences(text, loose=True):
        mark = _MARK.match(text, start, end)
        begin = mark.end() if mark else start
        if any(letter.isalnum() for letter in text[begin:end]):
            yield begin, end


def is_question(sentence: str) -> bool:
    """Whether a sentence asks."""
    return sentence.rstrip(_CLOSING).endswith("?") or _ASKED.match(sentence) is not None


def ruling(sentence: str) -> Ruling | None:
    """Whether a sentence says of a statement, its own or the one before, that it is so or not; None where it does not.

    "…, which is false", "the claim that … is wrong", "“…” is a myth"; "that is not true" by itself.
    """
    if _CONTRARY.match(sentence):
        return Ruling(0, 0, holds=False)
    patterns = _patterns()
    for pattern in (patterns.before, patterns.around, patterns.behind):
        if match := pattern.match(sentence):
            start, end = match.span("matter") if "matter" in match.groupdict() else (0, 0)
            return Ruling(start, end, match["no"] is None)
    return None


def opening(text: str, start: int, end: int) -> Opening:
    """What opens the sentence at `start`: words of transition, "it is not true that", "given:"."""
    patterns = _patterns()
    denied = given = consequent = False
    while True:
        if match := patterns.denial.match(text, start, end):
            denied = not denied
        elif match := patterns.given.match(text, start, end):
            given = True
        elif match := patterns.consequence.match(text, start, end):
            consequent = True
        elif (match := patterns.other.match(text, start, end)) is None:
            return Opening(start, denied, given, consequent)
        start = match.end()


@dataclass(frozen=True, slots=True)
class _Patterns:
    denial: re.Pattern[str]
    given: re.Pattern[str]
    consequence: re.Pattern[str]
    other: re.Pattern[str]
    before: re.Pattern[str]
    around: re.Pattern[str]
    behind: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    words = {
        key: any_of(entries("openings", key))
        for key in ("given", "labels", "clauses", "phrases", "adverbs", "consequences")
    }
    denials = any_of(entries("denials"))
    sure = any_of(entries("affirmations"))
    holds = rf"{_SURELY}(?:(?P<no>{denials}|not {sure})|{sure})\)?$"
    flags = re.IGNORECASE | re.DOTALL
    return _Patterns(
        denial=re.compile(rf"(?:it|that)(?: is|'s|’s| would be) {denials} that\s+", re.IGNORECASE),
        given=re.compile(rf"{words['given']}\b(?!\s+that\b)\s*[,:]?\s*", re.IGNORECASE),
        consequence=re.compile(rf"{words['consequences']}\b\s*,?\s*(?=\S)", re.IGNORECASE),
        other=re.compile(
            rf"{words['labels']}(?: \d+)?\s*:\s*|{words['clauses']}\s*,?\s*|{words['phrases']}\b\s*,?\s*"
            rf"|{words['adverbs']}\s*,\s*|according to [a-z ]{{3,40}},\s*"
            r"|(?:therefore|thus|hence|then|and|but|also|consequently|finally|so)\s+(?!(?:does|do|is|are)\b)",
            re.IGNORECASE,
        ),
        before=re.compile(
            rf"(?:(?:but|and|yet|no|however|in fact|in reality)\b[,\s]*)*"
            rf"(?:(?:(?:this|that|the (?:first|last|above|previous)) {_SAID}|this|that|it|which){_IS})?{holds}",
            flags,
        ),
        around=re.compile(
            rf"(?:(?:(?:the|this|that|a) {_SAID} )?that\s+|[\"“‘'])(?P<matter>.+?)(?:[\"”’'])?,?{_IS}{holds}", flags
        ),
        behind=re.compile(
            rf"(?P<matter>.+?)(?:(?:\s*[,;(–—]+\s*(?:(?:and|but|yet|though|although|however)\b[,\s]*)?"
            rf"|\s+-+\s+|\s+(?:and|but|yet)\s+)(?:which|this|that|it){_IS}|\s*\(|\s+[–—-]+\s+){holds}",
            flags,
        ),
    )
