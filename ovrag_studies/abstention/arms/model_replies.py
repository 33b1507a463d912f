"""A model's reply as an answer: yes, no, that it does not know, or nothing that is understood.

The reading is strict: the first line is one of the words that were asked for, or the reply is unparsed. Neither a
prefix ("Yesterday", "Nobody") nor a guess makes an answer.
"""

import re
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
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.S)
_CONFIDENCE = re.compile(r"\D{0,40}(\d{1,3})\s*%?\W*")  # `90`, `Confidence: 90%`


def read_reply(text: str) -> CardReply:
    """Read a model's whole reply: the word on its first line, signs around it left aside, and a number on a later one.

    A reply that says several of the words on lines of their own is unparsed.
    """
    lines = [line.strip() for line in _THOUGHT.sub("", text).splitlines() if line.strip()]
    said = [line.strip(" .,:;!?*_`\"'()[]").upper() for line in lines]
    words = {word for word in said if word in ("YES", "NO", "UNKNOWN")}
    answer = CardAnswer(said[0]) if len(words) == 1 and said[0] in words else CardAnswer.UNPARSED
    numbers = [int(match[1]) for line in lines[1:] if (match := _CONFIDENCE.fullmatch(line))]
    return CardReply(answer, next((number / 100 for number in numbers if number <= 100), UNSURE))
