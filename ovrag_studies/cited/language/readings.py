"""What the words of a rule mean, as far as policies of any trade use them, and the phrases that they stand in.

A sentence becomes concepts: stems, of which those of one row of `thesaurus.yaml` share the first. What is missing there
is left to the vectors of words. Nothing here parses: phrases are what stands between prepositions, verbs and marks.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

from ovrag_core.text import stems
from ovrag_studies.cited.language.amounts import without_amounts

Words = frozenset[str]

_LISTS = yaml.safe_load(Path(__file__).with_name("thesaurus.yaml").read_text(encoding="utf-8"))
_NAMES, _PATTERNS = zip(*_LISTS["phrases"].items(), strict=True)
_PHRASE = re.compile("|".join(rf"(?P<p{row}>\b(?:{pattern})\b)" for row, pattern in enumerate(_PATTERNS)), re.I)
_NOT = re.compile(r"\bnon[- ](?=[a-z])", re.I)
_CANONICAL: dict[str, str] = {}  # the concept of a stem
for _row in _LISTS["synonyms"].strip().split("\n"):
    _first, *_others = (next(iter(stems(word)), word) for word in _row.split())
    _CANONICAL |= {stem: _CANONICAL.get(_first, _first) for stem in (_first, *_others) if stem not in _CANONICAL}


def concept(word: str) -> str:
    """The concept of a word: its stem, or that of the first word of its row; empty for a stop word."""
    return next((_CANONICAL.get(stem, stem) for stem in stems(word)), "")


@lru_cache(maxsize=1 << 16)
def unite(text: str) -> str:
    """A text with phrases that are one in meaning as one word ("carried out": "conduct")."""
    named = _PHRASE.sub(lambda phrase: _NAMES[int(str(phrase.lastgroup)[1:])], text)
    return _NOT.sub("non", re.sub(r"\bIT\b", "infotech", named))  # "it" is a stop word, IT a department


@lru_cache(maxsize=1 << 16)
def concepts(text: str) -> tuple[str, ...]:
    """The concepts of a text in order, without stop words."""
    return tuple(_CANONICAL.get(stem, stem) for stem in stems(unite(text)))


_PREPOSITIONS = (
    r"in the event of|in case of|no later than|in front of|next to|prior to|subject to|as well as|of|in|on|at"
    r"|for|from|to|by"
    r"|with|without|during|after|before|within|under|over|above|below|between|against|through|via|per|into|onto|outside"
    r"|inside|near|behind|until|since|upon|about|among|across|beyond|except|unless|if|whenever|when|while|where|once"
    r"|provided|because|whether|who|whom|whose|which|that|than|as|and|or|but|nor|so"
)
_VERBS = (
    r"is|are|was|were|be|been|being|has|have|had|does|do|did|will|would|must|shall|should|may|might|can|cannot"
    r"|could|need|needs|ought"
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


class Phrase(NamedTuple):
    """Words that one preposition leads, or none (a subject, an object)."""

    lead: str
    words: tuple[str, ...]
    start: int
    end: int


class SentenceReading(NamedTuple):
    """A sentence: its phrases, and its concepts of content."""

    phrases: tuple[Phrase, ...]
    content: Words


@lru_cache(maxsize=1 << 14)
def read(sentence: str) -> SentenceReading:
    """The reading of one sentence."""
    text = without_amounts(sentence)
    return SentenceReading(tuple(_phrases(text)), frozenset(concepts(text)) - RULING)


def _phrases(text: str) -> Iterator[Phrase]:
    lead, start = "", 0
    for match in [*_BREAK.finditer(text), None]:
        end = match.start() if match else len(text)
        if words := concepts(text[start:end]):
            yield Phrase(lead, words, start, end)
        if match:
            lead, start = (match["word"] or match["mark"]).lower(), match.end()
