"""Measure what two sentences have in common and what sets them apart, as numbers for any wording.

Nothing here decides. Words count as the same where they are one concept or their vectors are near.
"""

import re
from difflib import SequenceMatcher
from functools import lru_cache
from math import sqrt

import numpy
from numpy.typing import NDArray

from ovrag_core.text import NEGATION
from ovrag_studies.cited.conflicts.alignment import FEATURES as ALIGNED
from ovrag_studies.cited.conflicts.alignment import Alignment
from ovrag_studies.cited.language.readings import RULING, Words, concepts, read

Numbers = NDArray[numpy.float64]

_FLAG_PATTERNS = {
    "negative": rf"{NEGATION}|\b(?:refus|declin|reject)\w+",
    "banned": r"\b(?:(?:must|shall|may|should|can) (?:not|never)|cannot|prohibit\w*|forbid\w*|forbidden|banned?|barred"
    r"|not (?:be )?(?:allowed|permitted)|no (?:one|person|\w+) (?:may|shall|must|can)|nobody|out of bounds"
    r"|off[- ]limits|ruled out|disallowed|do not|don['’]t|never|unacceptable|not acceptable|on no account"
    r"|under no circumstances)\b",
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
    "outside": r"\b(?:outside|out of|beyond|off|elsewhere|external\w*|away)\b",
    "inside": r"\b(?:inside|within|in|on|internal\w*)\b",
    "more": r"\b(?:more than|above|over|exceed\w*|at least|minimum|not less|longer than|or more)\b",
    "less": r"\b(?:less than|below|under|at most|maximum|not more|no more|up to|no longer|or less|within|no later)\b",
}  # fmt: skip
_FLAGS = {name: re.compile(pattern, re.I) for name, pattern in _FLAG_PATTERNS.items()}

NAMES = (
    *ALIGNED,
    "loss_most", "loss_least", "lost_cosine", "lost_near", "sequence", "sequence_longest", "length", "shortest",
    "words_shared",
    *(f"{name}_{how}" for name in _FLAGS for how in ("one", "both")),
)  # fmt: skip


@lru_cache(maxsize=1 << 14)
def _flags(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _FLAGS.items() if pattern.search(text))


@lru_cache(maxsize=1 << 14)
def _telling(text: str) -> tuple[str, ...]:
    return tuple(word for word in concepts(text) if word not in RULING)


def compare(one: str, other: str, alignment: Alignment) -> Numbers:
    """One number for each of NAMES; the same for both orders of two sentences that are aligned."""
    mine, theirs = _flags(one), _flags(other)
    flags = [holds for name in _FLAGS for holds in (name in mine ^ theirs, name in mine & theirs)]
    return numpy.array([*alignment.features(one, other), *_words(one, other, alignment), *flags], float)


def _words(one: str, other: str, alignment: Alignment) -> tuple[float, ...]:
    mine, theirs = read(one).content, read(other).content
    lost = alignment.lost(mine, theirs), alignment.lost(theirs, mine)
    least_weight, most_weight = sorted(sum(alignment.weights.get(word, 1.0) for word in side) for side in lost)
    words = _telling(one), _telling(other)
    matcher = SequenceMatcher(None, *words, autojunk=False)
    shortest, longest = min(map(len, words)), max(1, *map(len, words))
    return (
        most_weight,
        least_weight,
        *_likeness(*lost, alignment),
        matcher.ratio(),
        matcher.find_longest_match().size / max(shortest, 1),
        shortest / longest,
        min(shortest, 12) / 12,
        len(mine & theirs) / max(1, min(len(mine), len(theirs))),
    )


def _likeness(one: Words, other: Words, alignment: Alignment) -> tuple[float, float]:
    """The cosine of the sums of the words' vectors, and the highest of two words; -0.5 where either has none."""
    rows = [sorted(alignment.words[word] for word in side if word in alignment.words) for side in (one, other)]
    if not all(rows):
        return -0.5, -0.5
    table = alignment.word_cosines
    between = table[numpy.ix_(*rows)]
    lengths = [float(table[numpy.ix_(indices, indices)].sum()) for indices in rows]
    return float(between.sum()) / max(sqrt(lengths[0] * lengths[1]), 1e-9), float(between.max())
