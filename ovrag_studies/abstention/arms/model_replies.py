"""A model's reply as an answer: yes, no, that it does not know, or nothing that is understood.

The reading is strict: neither a prefix ("Yesterday", "Nobody") nor a guess makes an answer.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum


class CardAnswer(StrEnum):
    """Answer of a system to a card. `unparsed` and `failed` are no abstentions: they count beside the three answers."""

    YES = "YES"
    NO = "NO"
    UNKNOWN = "UNKNOWN"
    UNPARSED = "unparsed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CardReply:
    """A system's answer to a card. `evidence` are passages or triples, `detail` says why in words, for people.

    `confidence` lies between 0 and 1; `seconds` are those of the clock, and the only part that differs between runs.
    """

    answer: CardAnswer
    confidence: float
    evidence: tuple[str, ...] = ()
    seconds: float = 0.0
    detail: str = ""


UNSURE = 0.5  # the confidence of a reply that gives none
LONGEST = 20_000  # characters; a longer reply is no answer of a word or two
_WORDS = dict.fromkeys(("yes", "true", "correct"), CardAnswer.YES)
_WORDS |= dict.fromkeys(("no", "false", "incorrect"), CardAnswer.NO)
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.S)
_THINKING = re.compile(r"<(?:think|thinking|reasoning)>")
_MARKUP = re.compile(r"[*_`#>\"“”«»\[\]{}]+")
_CONFIDENCE = re.compile(
    r"^\W*(?:(?:confidence|certainty|probability)(?: is)?\s*[:=]?\s*)?"
    r"(?P<number>\d{1,3}(?:\.\d{1,9})?)\s*(?P<percent>%|percent|/ ?100)?\W*$"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_OPENING = re.compile(
    r"^(?:(?:sorry|unfortunately|well|sure|i'?m sorry|so|therefore|thus|hence|overall|but|however|and)\b[\s,.:!-]*"
    r"|(?:based on|given|according to) [^,.\n]{1,120},\s*"
    r"|(?:(?:the|my) )?(?:final |correct )?(?:answer|verdict)(?: is| would be|\s*[:=])[\s:,-]*)+"
)
_MARKED = re.compile(r"\b(?:answer|verdict)(?: is| would be|\s*[:=])[\s:,-]*(?P<said>[^\n]*)")
_ENDS = r"(?=\s*(?:$|[.,;:!?()\n–—-]))"
_ANSWER = re.compile(
    rf"^(?P<word>{'|'.join(_WORDS)})(?:{_ENDS}|(?=\s+(?:it|this|that|they|there|because|since|as)\b))(?!\W+(?:and\W+)?no\b)"
)
_MATTER = r"(?:information|evidence|data|details?|context|facts?|knowledge|records?|mention|indication|proof)"
_KNOW = (
    r"(?:know|known|sure|certain|clear|possible|say|tell|stated?|mentioned|specified|recorded"
    r"|determined?|decided?|verify|verified|confirm(?:ed)?|answer(?:ed)?|establish(?:ed)?|infer(?:red)?)"
)
_ABSTAINS = re.compile(
    rf"^(?:unknown|unclear|undetermined|uncertain|unsure|inconclusive|abstain)(?:{_ENDS}"
    r"|(?=\s+(?:whether|if|from|based|given|because|as|since)\b))"
    rf"|^(?:no|not enough|insufficient|inadequate) (?:\w+ )?{_MATTER}\b|^no (?:idea|clue|way|one knows)\b"
    rf"|\b(?:have|is|are|lack) (?:no|not enough|insufficient|any|the)? ?(?:\w+ )?(?:{_MATTER}|idea|clue|way)\b"
    rf"|(?:\b(?:not|cannot|unable to|impossible to|hard to)|n't) (?:be )?(?:\w+ly )?{_KNOW}\b"
    rf"|\b(?:unknown|unclear|uncertain|undetermined){_ENDS}"
)


def read_reply(text: str) -> CardReply:
    """Read a model's whole reply. Never raises; a reply that contradicts itself is unparsed."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    reply = _THOUGHT.sub(" ", folded).strip() if len(folded) <= LONGEST else ""
    if not reply or _THINKING.search(reply):
        return CardReply(CardAnswer.UNPARSED, UNSURE)
    lines = [line for raw in reply.split("\n") if (line := " ".join(_MARKUP.sub(" ", raw).split()))]
    confidence = next((value for line in lines[1:] if (value := _confidence(line)) is not None), UNSURE)
    lines = [line for i, line in enumerate(lines) if i == 0 or _confidence(line) is None]
    return CardReply(_said("\n".join(lines)), confidence)


def _said(text: str) -> CardAnswer:
    """The one thing that is said: marked as the answer, or else at the beginning with nothing against it later on."""
    marked = {_statement(match["said"]) for match in _MARKED.finditer(text)} - {CardAnswer.UNPARSED}
    opening, *later = (_statement(sentence) for sentence in _SENTENCE.split(text))
    if opening is CardAnswer.UNPARSED:
        return marked.pop() if len(marked) == 1 else CardAnswer.UNPARSED
    # An explanation may say that nothing is known of something; it may not say the opposite.
    against = {CardAnswer.YES, CardAnswer.NO} - {opening}
    if (marked | set(later)) & against or (opening is not CardAnswer.UNKNOWN and CardAnswer.UNKNOWN in later):
        return CardAnswer.UNPARSED
    return opening


def _statement(text: str) -> CardAnswer:
    statement = _OPENING.sub("", text.strip(" \t-–—•:,.'()")).strip(" '()")
    match = _ANSWER.match(statement)
    if not match:
        abstains = _ABSTAINS.search(statement) and statement.split(" ")[0] not in ("yes", "true", "correct", "false")
        return CardAnswer.UNKNOWN if abstains else CardAnswer.UNPARSED
    return CardAnswer.UNPARSED if _ABSTAINS.search(statement, match.end()) else _WORDS[match["word"]]


def _confidence(line: str) -> float | None:
    """A share of 1 from a line that is a number and little else: with a decimal point up to 1, else of a hundred."""
    match = _CONFIDENCE.match(line)
    if not match:
        return None
    value = float(match["number"])
    if "." not in match["number"] or match["percent"] or value > 1:
        value /= 100
    return value if value <= 1 else None
