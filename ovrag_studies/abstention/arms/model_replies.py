"""What a model's reply says: yes, no, that it does not know, or nothing that is understood.

The reading is strict. A reply abstains where it says so in a form known here, answers where it says yes or no and
nothing against it, and is unparsed else: neither a prefix ("Yesterday", "Nobody") nor a guess makes an answer.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum


class Answer(StrEnum):
    """What a system says of a card. `unparsed` and `failed` are no abstentions: they count beside the three answers."""

    YES = "YES"
    NO = "NO"
    UNKNOWN = "UNKNOWN"
    UNPARSED = "unparsed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Read:
    """A reply that was read; `confidence` lies between 0 and 1, None where the reply gives none."""

    answer: Answer
    confidence: float | None = None


LONGEST = 20_000  # characters; a longer reply is no answer of a word or two
_WORDS = {
    "yes": Answer.YES,
    "true": Answer.YES,
    "correct": Answer.YES,
    "no": Answer.NO,
    "false": Answer.NO,
    "incorrect": Answer.NO,
}

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.S)
_THINKING = re.compile(r"<(?:think|thinking|reasoning)>")
_MARKUP = re.compile(r"[*_`#>\"“”«»\[\]{}]+")
_FENCED = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.S)
_CONFIDENCE = re.compile(
    r"^\W*(?:(?:my )?(?:confidence|certainty|probability)(?: level| score)?(?: is)?\s*[:=]?\s*)?"
    r"(?P<number>\d{1,3}(?:\.\d{1,9})?)\s*(?P<percent>%|percent|/ ?100)?\W*$"
)
_NAMED = re.compile(r"\b(?:confidence|certainty|probability)(?: level| score)?(?: is)?\s*[:=]?\s*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_OPENING = re.compile(
    r"^(?:(?:sorry|unfortunately|well|hmm|sure|certainly|okay|ok|thanks|i'?m sorry|i am sorry|apologies)\b[\s,.:!-]*"
    r"|(?:so|therefore|thus|hence|in conclusion|overall|but|however|and)\b[\s,:]*"
    r"|based on [^,.\n]{1,120},\s*|given [^,.\n]{1,120},\s*|according to [^,.\n]{1,120},\s*"
    r"|(?:the|my)(?: final| correct)? (?:answer|verdict|conclusion|response) (?:is|would be)\b[\s:,-]*"
    r"|(?:final )?(?:answer|verdict|response)\s*[:=-]+\s*)+"
)
_MARKED = re.compile(
    r"(?:\b(?:final |correct )?(?:answer|verdict)\s*[:=]+\s*|\b(?:answer|verdict) (?:is|would be)\b[\s:,-]*)"
    r"(?P<said>[^\n]*)"
)
_ENDS = r"(?=\s*(?:$|[.,;:!?()\n–—-]))"
_ANSWER = re.compile(
    rf"^(?P<word>yes|no|true|false|correct|incorrect)"
    rf"(?:{_ENDS}|(?=\s+(?:it|this|that|they|he|she|there|because|since|as)\b))"
)
_BOTH = re.compile(r"^(?:yes\W+(?:and\W+|or\W+)?no|no\W+(?:and\W+|or\W+)?yes|true\W+(?:or\W+)?false)\b")

_MATTER = (
    r"(?:information|info|evidence|data|details?|context|facts?|knowledge|records?|mention|indication|basis|proof"
    r"|documentation|reference)"
)
_TELL = (
    r"(?:determin|decid|establish|verif|confirm|ascertain|answer|know|say|tell|infer|conclud|judg|state|find)"
    r"(?:e|ed|d|y|ied|n|ing|s|red)?\b"
)
_LACKING = r"(?:not (?:\w+ )?(?:enough|sufficient|adequate)|insufficient|inadequate|too little|no|not any)"
_ABSTAINS = re.compile(
    "|".join(
        (
            rf"^(?:unknown|unclear|undetermined|indeterminate|uncertain|unsure|inconclusive|unanswerable|undecidable"
            rf"|abstain|dunno|idk|undecided|unverifiable)(?:{_ENDS}|(?=\s+(?:whether|if|from|based|given|to me|because"
            rf"|as|since|due|on)\b))",
            r"^(?:i|we) (?:honestly |really |simply |just )?(?:do not|don't|did not|didn't) (?:really )?know\b",
            rf"^(?:i|we) (?:do not|don't) (?:currently )?(?:have|see|find|possess) (?:any|enough|sufficient|the"
            rf"|adequate)? ?(?:\w+ )?{_MATTER}\b",
            rf"^(?:i|we) have {_LACKING} (?:\w+ )?(?:{_MATTER}|idea|clue|way)\b",
            rf"^(?:i|we) lack (?:\w+ )?(?:\w+ )?{_MATTER}\b",
            rf"^(?:i|we) (?:cannot|can not|can't|could not|couldn't|am unable to|are unable to|am not able to"
            rf"|are not able to) (?:\w+ly )?{_TELL}",
            r"^(?:i|we)(?:'m| am|'re| are) (?:really |quite |entirely )?(?:not (?:\w+ly )?(?:sure|certain)|unsure"
            r"|uncertain|unable to)\b",
            r"^(?:i|we) (?:must |have to |will |would |choose to )?abstain\b",
            r"^(?:not|un)(?: |-)?(?:sure|certain)\b",
            rf"^not (?:known|clear|stated|specified|mentioned|given|provided|recorded|determinable)\b{_ENDS}",
            rf"^{_LACKING} (?:\w+ )?{_MATTER}\b",
            r"^no (?:idea|clue|way (?:to|of) (?:know|tell|say)\w*|one knows|answer (?:is )?(?:possible|available))\b",
            rf"^(?:there is|there's|there are|there exists?) {_LACKING} (?:\w+ )?(?:{_MATTER}|way)\b",
            rf"^(?:(?:it|this|that|the answer|the question) )?(?:cannot|can not|can't|could not|couldn't) be {_TELL}",
            r"^(?:it|this|that|the answer)(?:'s| is| remains) (?:currently )?(?:not (?:known|clear|possible to"
            r"|stated|specified|mentioned|recorded|certain|determinable)|unknown|unclear|uncertain|undetermined"
            r"|impossible to|indeterminate|hard to say|inconclusive)\b",
            rf"^(?:impossible|unable|not possible|hard|difficult) to {_TELL}",
            r"^(?:the |these |those |this )?(?:given |provided |available |above |listed )?(?:facts?|passages?"
            r"|context|texts?|information|database|graph|data|sources?|documents?|evidence|records?)"
            r"(?: (?:given|provided|above|supplied|available))? (?:do not|does not|don't|doesn't|did not|is not|are not"
            r"|isn't|aren't|is|are) (?:say|state|mention|contain|provide|specify|tell|include|settle|give|indicate"
            r"|show|support|sufficient|enough|insufficient|inconclusive|silent|clear)\b",
        )
    )
)


def read_reply(text: str) -> Read:
    """What a model's whole reply says. Never raises; what contradicts itself is unparsed."""
    said = _normalised(text)
    if not said or len(said) > LONGEST or _THINKING.search(said):
        return Read(Answer.UNPARSED)
    if said.startswith(("{", "`")) and (found := _object(said)) is not None:
        return found
    lines = [line for raw in said.split("\n") if (line := _plain(raw))]
    confidence = next((value for line in lines[1:] if (value := _confidence(line)) is not None), None)
    lines = [line for place, line in enumerate(lines) if place == 0 or _confidence(line) is None]
    return Read(_said("\n".join(lines)), confidence)


def _normalised(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).replace("’", "'").replace("`'", "'")
    return _THOUGHT.sub(" ", folded.casefold()).strip()


def _plain(line: str) -> str:
    return " ".join(_MARKUP.sub(" ", line).split())


def _object(said: str) -> Read | None:
    """A reply that is a JSON object with an `answer`; None for anything else."""
    fenced = _FENCED.match(said)
    try:
        value = json.loads(fenced.group(1) if fenced else said)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    answer, sure = value.get("answer"), value.get("confidence")
    if isinstance(answer, bool):
        answer = "true" if answer else "false"
    read = _said(_plain(answer)) if isinstance(answer, str) else Answer.UNPARSED
    stated = isinstance(sure, int | float | str) and not isinstance(sure, bool)
    return Read(read, _confidence(str(sure)) if stated else None)


def _said(text: str) -> Answer:
    """The one thing that is said: marked as the answer, or else at the beginning with nothing against it later on."""
    marked = {_statement(each["said"]) for each in _MARKED.finditer(text)} - {Answer.UNPARSED}
    statements = [_statement(each) for each in _SENTENCE.split(text)]
    first = statements[0] if statements else Answer.UNPARSED
    if first is Answer.UNPARSED:
        return marked.pop() if len(marked) == 1 else Answer.UNPARSED
    # An explanation may say that nothing is known of something; it may not say the opposite.
    against = {Answer.YES, Answer.NO} - {first} if first is not Answer.UNKNOWN else {Answer.YES, Answer.NO}
    if (marked | set(statements)) & against or (first is not Answer.UNKNOWN and Answer.UNKNOWN in statements[1:]):
        return Answer.UNPARSED
    return first


def _statement(text: str) -> Answer:
    said = _OPENING.sub("", text.strip(" \t-–—•:,.'()")).strip(" '()")
    if _BOTH.match(said):
        return Answer.UNPARSED
    if _ABSTAINS.match(said):
        return Answer.UNKNOWN
    found = _ANSWER.match(said)
    if not found:
        return Answer.UNPARSED
    rest = said[found.end() :].lstrip(" ,;:.!-–—()")
    rest = re.sub(r"^(?:but|although|though|and|however)\s+", "", rest)
    return Answer.UNPARSED if _ABSTAINS.match(rest) else _WORDS[found["word"]]


def _confidence(line: str) -> float | None:
    """A share of 1 from a line that is a number and little else: with a decimal point up to 1, else of a hundred."""
    found = _CONFIDENCE.match(_NAMED.sub("", line))
    if not found:
        return None
    value = float(found["number"])
    if "." not in found["number"] or found["percent"] or value > 1:
        value /= 100
    return value if value <= 1 else None
