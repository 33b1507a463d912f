"""The phrases of a sentence of a policy, and which of its words are of content.

Nothing here parses: phrases are what stands between prepositions, verbs and marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ovrag_studies.cited.language.amounts import without_amounts
from ovrag_studies.cited.language.thesaurus import concept, concepts

Words = frozenset[str]

_PREPOSITIONS = (
    r"in the event of|in case of|no later than|in front of|next to|prior to|subject to|as well as|of|in|on|at"
    r"|for|from|to|by"
    r"|with|without|during|after|before|within|under|over|above|below|between|against|through|via|per|into|onto|outside"
    r"|inside|near|behind|until|since|upon|about|among|across|beyond|except|unless|if|whenever|when|while|where|once"
    r"|provided|because|whether|who|whom|whose|which|that|than|as|and|or|but|nor|so"
)
_VERBS = (
    r"is|are|was|were|be|been|being|has|have|had|does|do|did|will|would|must|shall|should|may|might|can|cannot"
    r"|could|need"
    r"|needs|ought"
)
_BREAK = re.compile(rf"(?P<word>\b(?:{_PREPOSITIONS}|{_VERBS})\b)|(?P<mark>[,;:()–—]|\s-\s)", re.I)
_RULING_TEXT = """must shall should may can cannot require required requirement requirements mandatory permit permitted
allow permission allowed prohibit prohibited forbidden banned never without need necessary exempt minimum maximum least
most limit limited within every any each always only also now more less than no later earlier last up company
policy policies following circumstance circumstances exception exceptions possible compulsory optional obligatory
exclusively solely immediately not be up case event order used using use whole entire new per least further total
available frequency interval cycle duration rate conducted increased reduced applies set provided capped receive make
given raised serves fixed about relevant appropriate applicable effective one two full all well even both either
therefore however same
"""
RULING = frozenset(concept(word) for word in _RULING_TEXT.split()) | frozenset({"employe", "day", "time", ""})


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that one preposition leads, or none (a subject, an object)."""

    lead: str
    words: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """A sentence: its phrases, its concepts of content, those of its first phrase, and the last of these."""

    phrases: tuple[Phrase, ...]
    content: Words
    subject: Words
    head: str


@lru_cache(maxsize=1 << 14)
def read(sentence: str) -> SentenceReading:
    """The reading of one sentence."""
    text = without_amounts(sentence)
    phrases = tuple(_phrases(text))
    subject = _subject(phrases)
    content = frozenset(concepts(text)) - RULING
    return SentenceReading(phrases, content, frozenset(subject) - RULING, subject[-1] if subject else "")


def _phrases(text: str) -> Iterator[Phrase]:
    lead, start = "", 0
    for match in [*_BREAK.finditer(text), None]:
        end = match.start() if match else len(text)
        words = concepts(text[start:end])
        if words:
            yield Phrase(lead, words, start, end)
        if match:
            lead, start = (match["word"] or match["mark"]).lower(), match.end()


def _subject(phrases: tuple[Phrase, ...]) -> tuple[str, ...]:
    return phrases[0].words if phrases and not phrases[0].lead else ()
