"""Measure what two sentences have in common and what sets them apart, as numbers for any wording.

Nothing here decides. Words count as the same where they are one concept or their vectors are near.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from math import sqrt

import numpy
from numpy.typing import NDArray

from ovrag_core.text import NEGATION
from ovrag_studies.cited.conflicts.alignment import FEATURES as ALIGNED
from ovrag_studies.cited.conflicts.alignment import Alignment
from ovrag_studies.cited.language.readings import RULING, Words, read
from ovrag_studies.cited.language.thesaurus import concepts

Numbers = NDArray[numpy.float64]

_FLAGS = {
    "negative": rf"{NEGATION}|\b(?:refus|declin|reject)\w+",
    "banned": r"\b(?:(?:must|shall|may|should|can) (?:not|never)|cannot|prohibit\w*|forbid\w*|forbidden|banned?|barred"
    r"|not (?:be )?(?:allowed|permitted)|no (?:one|person|\w+) (?:may|shall|must|can)|nobody|out of bounds"
    r"|off[- ]limits|ruled out|disallowed|do not|don['’]t|never|unacceptable|not acceptable|on no account"
    r"|under no circumstances)\b",
    "free": r"\b(?:may|might|can|optional\w*|voluntar\w+|choose|choice|discretion|entitled|permitted|allowed|free to"
    r"|welcome|at liberty|wish|prefer\w*|recommend\w*|encouraged|advis\w+|up to (?:the|each|every|you)|judge?ment"
    r"|fine to|no objection|acceptable|as (?:they|you|he|she) (?:see|like|please)\w*)\b",
    "bound": r"\b(?:must|shall|has to|have to|required?|requires|mandatory|compulsory|obligat\w+|obliged|needs? to"
    r"|is to|are to|necessary|essential|without exception|always|ought)\b",
    "waived": r"\b(?:need not|needn['’]t|not (?:be )?(?:required|necessary|needed|obliged|compulsory|mandatory)"
    r"|no (?:need|requirement|obligation|duty|further)|exempt\w*|waive[sd]?|excused|(?:does|do) not (?:need|require"
    r"|have to)|without (?:the |any |prior |further |needing|having|asking|approv|permi|consent|notice|writ)\w*"
    r"|requires? no|needs? no|unnecessary|dispensed)\b",
    "only": r"\b(?:only|solely|exclusively|alone|restricted to|limited to|reserved|no one (?:but|except|other)"
    r"|nobody (?:but|except|other)|not (?:before|until)|unless|except)\b",
    "always": r"\b(?:all|every|each|any|anyone|anybody|everyone|everybody|always|at all times|any time|whenever|however"
    r"|regardless|whatever|irrespective|both|throughout|everywhere|no matter|without exception|around the clock"
    r"|including|whether)\b",
    "if": r"\b(?:if|when|where|provided|in case|in the event|during|while|once|subject to|as long as|for \w+ing)\b",
    "except": r"\b(?:except\w*|unless|other than|apart from|save (?:for|in|where)|excluding|notwithstanding|exempt\w*"
    r"|instead|but)\b",
    "before": r"\b(?:before\w*|prior|in advance|ahead|until|till|first|earlier|pre-\w+)\b",
    "after": r"\b(?:after\w*|following|from|since|once|subsequent\w*|later|upon|as soon as|thereafter|on completion)\b",
    "during": r"\b(?:during|while|within|in the course|as it|at the time|real[- ]time|immediately|at once|straight)\b",
    "outside": r"\b(?:outside|out of|beyond|off|elsewhere|external\w*|away)\b",
    "inside": r"\b(?:inside|within|in|on|internal\w*)\b",
    "more": r"\b(?:more than|above|over|exceed\w*|at least|minimum|not less|longer than|or more)\b",
    "less": r"\b(?:less than|below|under|at most|maximum|not more|no more|up to|no longer|or less|within|no later)\b",
}  # fmt: skip
_FLAG_RES = {name: re.compile(pattern, re.I) for name, pattern in _FLAGS.items()}
NEAR = 0.5

NAMES = (
    *ALIGNED,
    "loss_most", "loss_least", "lost_cosine", "lost_near", "sequence", "sequence_longest", "length", "shortest",
    "words_shared", "parity",
    *(f"{name}_{how}" for name in _FLAGS for how in ("one", "both")),
)  # fmt: skip


@lru_cache(maxsize=1 << 14)
def _flags(text: str) -> frozenset[str]:
    """Name the classes of words that a sentence has."""
    return frozenset(name for name, pattern in _FLAG_RES.items() if pattern.search(text))


@lru_cache(maxsize=1 << 14)
def _telling(text: str) -> tuple[str, ...]:
    """The concepts of a sentence in order, without what rules have in common."""
    return tuple(word for word in concepts(text) if word not in RULING)


def compare(one: str, other: str, alignment: Alignment) -> Numbers:
    """One number for each of NAMES; the same for both orders of two sentences that are aligned."""
    values = [*alignment.features(one, other), *_words(one, other, alignment)]
    values.append(float(sum(len(_FLAG_RES["negative"].findall(text)) for text in (one, other)) % 2))
    mine, theirs = _flags(one), _flags(other)
    for name in _FLAGS:
        values += [float((name in mine) != (name in theirs)), float(name in mine and name in theirs)]
    return numpy.array(values)


def _words(one: str, other: str, alignment: Alignment) -> list[float]:
    mine, theirs = read(one).content, read(other).content
    lost = _lost(mine, theirs, alignment), _lost(theirs, mine, alignment)
    weights = sorted(sum(alignment.weights.get(word, 1.0) for word in side) for side in lost)
    words = _telling(one), _telling(other)
    matcher = SequenceMatcher(None, *words, autojunk=False)
    shortest, longest = min(map(len, words)), max(1, *map(len, words))
    return [
        weights[1],
        weights[0],
        _likeness(lost[0], lost[1], alignment),
        _best(lost[0], lost[1], alignment),
        matcher.ratio(),
        matcher.find_longest_match().size / max(shortest, 1),
        shortest / longest,
        min(shortest, 12) / 12,
        len(mine & theirs) / max(1, min(len(mine), len(theirs))),
    ]


def _lost(mine: Words, theirs: Words, alignment: Alignment) -> Words:
    """The words that have no counterpart."""
    return frozenset(word for word in mine if alignment.likeness(word, theirs) < NEAR)


def _likeness(one: Words, other: Words, alignment: Alignment) -> float:
    """The cosine of the sums of the words' vectors; -0.5 where either has none."""
    rows = [sorted(alignment.words[word] for word in side if word in alignment.words) for side in (one, other)]
    if not rows[0] or not rows[1]:
        return -0.5
    table = alignment.word_cosines
    between = float(table[numpy.ix_(rows[0], rows[1])].sum())
    lengths = [float(table[numpy.ix_(indices, indices)].sum()) for indices in rows]
    return between / max(sqrt(lengths[0] * lengths[1]), 1e-9)


def _best(one: Words, other: Words, alignment: Alignment) -> float:
    rows = [sorted(alignment.words[word] for word in side if word in alignment.words) for side in (one, other)]
    return float(alignment.word_cosines[numpy.ix_(rows[0], rows[1])].max()) if rows[0] and rows[1] else -0.5
