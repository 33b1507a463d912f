"""What two sentences have in common and what sets them against each other, as numbers for any wording.

Nothing here decides. Words count as the same where they are one concept or their vectors are near; what is left over on
each side is compared with what is left over on the other, phrase by phrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import product
from math import log, sqrt

import numpy
from numpy.typing import NDArray

from ovrag_core.text import NEGATION
from ovrag_studies.cited.conflicts.alignment import FEATURES as ALIGNED
from ovrag_studies.cited.conflicts.alignment import Alignment
from ovrag_studies.cited.conflicts.clashes import (
    Found,
    Kind,
    amount_of,
    cites,
    clashes,
    comparable,
    compatible,
    excepted,
    limit_of,
    others,
    people_of,
    same,
    tiers,
    turned,
)
from ovrag_studies.cited.conflicts.deontic import Norm
from ovrag_studies.cited.language.forces import Force
from ovrag_studies.cited.language.readings import RULING, SentenceReading, Words, means_clash, read
from ovrag_studies.cited.language.thesaurus import concepts, opposite

Features = NDArray[numpy.float64]

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
_KINDS: tuple[Kind, ...] = (
    "quantity", "limit", "duty", "denial", "former", "actor", "exclusive", "means", "place", "condition",
)  # fmt: skip
_FORCES: tuple[tuple[Force, Force], ...] = (
    ("duty", "ban"), ("may", "ban"), ("duty", "waived"), ("is", "not"), ("duty", "may"), ("ban", "waived"),
    ("ban", "is"), ("may", "not"), ("is", "waived"),
)  # fmt: skip
_SLOTS = {
    "in": frozenset({"in", "at", "on", "into", "inside", "onto", "near", "under", "outside", "within", "behind"}),
    "by": frozenset({"by", "via", "through", "using", "with"}),
    "to": frozenset({"to"}),
    "for": frozenset({"for", "of", "from", "about"}),
    "when": frozenset({"if", "when", "where", "during", "after", "before", "until", "once", "while", "unless", "upon"}),
}
_CASES = ("only", "if", "except", "before", "after")
NEAR = 0.5

NAMES = (
    *ALIGNED,
    "loss_most", "loss_least", "lost_cosine", "lost_near", "subject_cosine", "object_cosine", "verb_cosine",
    "agent_cosine", "agents_one", "agents_both", "sequence", "sequence_longest", "length", "shortest", "words_shared",
    "numbers_differ", "numbers_same", "numbers_log", "numbers_turned", "numbers_one", "numbers_both", "times_both",
    "limits", "compatible", "bounds", "means", "places", "opposite", "contrary_leads", "excepted", "exceptions",
    "tiers", "others", "people_shared", "people_one", "cites", "parity", "scope_one", "heads_differ",
    *(f"{name}_{how}" for name in _FLAGS for how in ("one", "both")),
    *(f"{one}_{other}" for one, other in _FORCES),
    *(f"slot_{name}" for name in _SLOTS),
    *(f"rule_{kind}" for kind in _KINDS), "rules",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence as it is compared: its norms, its reading, its flags, and its concepts in order."""

    norms: tuple[Norm, ...]
    reading: SentenceReading
    flags: frozenset[str]
    words: tuple[str, ...]
    forces: frozenset[Force]


@lru_cache(maxsize=1 << 14)
def flags_of(text: str) -> frozenset[str]:
    """Which classes of words a sentence has."""
    return frozenset(name for name, pattern in _FLAG_RES.items() if pattern.search(text))


def told(norms: Sequence[Norm]) -> Told:
    """The norms of one sentence as they are compared."""
    text = norms[0].source.text
    forces = frozenset(each.modality for each in norms)
    words = tuple(word for word in concepts(text) if word not in RULING)
    return Told(tuple(norms), read(text), flags_of(text), words, forces)


def compare(one: Told, other: Told, alignment: Alignment) -> Features:
    """One number for each of NAMES; the same for both orders of the two."""
    first, second = one.norms[0].source.text, other.norms[0].source.text
    aligned = alignment.features(first, second)
    found = {kind for kind, _, _ in clashes(one.norms, other.norms)}
    values: list[float] = [
        *aligned,
        *_words(one, other, alignment),
        *_numbers(one.norms, other.norms),
        float(means_clash(one.reading.means, other.reading.means)),
        float(bool(one.reading.places and other.reading.places and not one.reading.places & other.reading.places)),
        float(bool(opposite(one.reading.content, other.reading.content))),
        float(_leads_differ(one.reading, other.reading)),
        *_cases(one, other),
    ]
    for name in _FLAGS:
        values += [
            float((name in one.flags) != (name in other.flags)),
            float(name in one.flags and name in other.flags),
        ]
    values += [
        float((a in one.forces and b in other.forces) or (b in one.forces and a in other.forces)) for a, b in _FORCES
    ]
    values += [_slot(one.reading, other.reading, leads, alignment) for leads in _SLOTS.values()]
    values += [float(kind in found) for kind in _KINDS]
    return numpy.array([*values, float(bool(found))])


def _cases(one: Told, other: Told) -> list[float]:
    """Whether the two are for other cases, or for other people."""
    mine, theirs = one.norms[0], other.norms[0]
    people = people_of(mine), people_of(theirs)
    negations = [len(_FLAG_RES["negative"].findall(each.norms[0].source.text)) for each in (one, other)]
    scoped = [bool(each.reading.conditions) for each in (one, other)]
    heads = one.reading.head, other.reading.head
    return [
        float(excepted(one.reading, other.reading) or excepted(other.reading, one.reading)),
        float(one.reading.is_exception or other.reading.is_exception),
        float(tiers(one.norms, other.norms)),
        float(others(mine, theirs)),
        float(bool(people[0] & people[1])),
        float(bool(people[0]) != bool(people[1])),
        float(cites(mine, theirs)),
        float(sum(negations) % 2),
        float(scoped[0] != scoped[1]),
        float(bool(heads[0] and heads[1]) and heads[0] != heads[1]),
    ]


def _words(one: Told, other: Told, alignment: Alignment) -> list[float]:
    mine, theirs = one.reading.content, other.reading.content
    lost = _lost(mine, theirs, alignment), _lost(theirs, mine, alignment)
    weights = sorted(sum(alignment.weights.get(word, 1.0) for word in each) for each in lost)
    agents = [frozenset(word for _, who in each.reading.agents for word in who) for each in (one, other)]
    matcher = SequenceMatcher(None, one.words, other.words, autojunk=False)
    longest = matcher.find_longest_match().size
    shortest = min(len(one.words), len(other.words))
    longer = max(len(one.words), len(other.words), 1)
    rest = [each.reading.content - each.reading.subject - each.reading.verbs for each in (one, other)]
    return [
        weights[1], weights[0],
        _likeness(lost[0], lost[1], alignment),
        _best(lost[0], lost[1], alignment),
        _likeness(one.reading.subject, other.reading.subject, alignment),
        _likeness(rest[0], rest[1], alignment),
        _likeness(one.reading.verbs, other.reading.verbs, alignment),
        _likeness(agents[0], agents[1], alignment),
        float(bool(agents[0]) != bool(agents[1])),
        float(bool(agents[0] and agents[1])),
        matcher.ratio(),
        longest / max(shortest, 1),
        shortest / longer,
        min(shortest, 12) / 12,
        len(mine & theirs) / max(1, min(len(mine), len(theirs))),
    ]  # fmt: skip


def _lost(mine: Words, theirs: Words, alignment: Alignment) -> Words:
    """The words that have no counterpart."""
    return frozenset(word for word in mine if alignment.likeness(word, theirs) < NEAR)


def _likeness(one: Words, other: Words, alignment: Alignment) -> float:
    """The cosine of the sums of the words' vectors; -0.5 where either has none."""
    rows = [sorted(alignment.words[word] for word in each if word in alignment.words) for each in (one, other)]
    if not rows[0] or not rows[1]:
        return -0.5
    table = alignment.word_cosines
    between = float(table[numpy.ix_(rows[0], rows[1])].sum())
    lengths = [float(table[numpy.ix_(each, each)].sum()) for each in rows]
    return between / max(sqrt(lengths[0] * lengths[1]), 1e-9)


def _best(one: Words, other: Words, alignment: Alignment) -> float:
    rows = [sorted(alignment.words[word] for word in each if word in alignment.words) for each in (one, other)]
    return float(alignment.word_cosines[numpy.ix_(rows[0], rows[1])].max()) if rows[0] and rows[1] else -0.5


def _numbers(first: Sequence[Norm], second: Sequence[Norm]) -> list[float]:
    mine = [each for each in first if each.quantity and not each.quantity.former]
    theirs = [each for each in second if each.quantity and not each.quantity.former]
    equal = differ = turn = times = limits = fit = bounds = 0
    widest = 0.0
    for one in mine:
        for other in theirs:
            a, b = one.quantity, other.quantity
            if a is None or b is None or not comparable(a, b):
                continue
            limits += bool(limit_of(one.source.text, a)) != bool(limit_of(other.source.text, b))
            times += a.unit in ("time", "minute", "month", "working day", "date")
            if same(a, b):
                equal += 1
            else:
                fits = compatible(a, b)
                fit += fits
                differ += not fits
                bounds += {a.bound, b.bound} == {"least", "most"}
                turn += turned(one.source.text, a, other.source.text, b)
                small, great = sorted((float(amount_of(a)), float(amount_of(b))))
                widest = max(widest, min(log((great + 1) / (small + 1)), 5))
    both = bool(mine and theirs)
    return [
        float(min(differ, 2)), float(min(equal, 2)), widest, float(turn > 0), float(bool(mine) != bool(theirs)),
        float(both), float(times > 0), float(limits > 0), float(fit > 0), float(bounds > 0),
    ]  # fmt: skip


def _leads_differ(one: SentenceReading, other: SentenceReading) -> bool:
    """Whether the same words stand after one preposition here and after another there."""
    return any(
        mine.lead != theirs.lead
        and mine.lead
        and theirs.lead
        and (frozenset(mine.words) & frozenset(theirs.words)) - RULING
        for mine in one.phrases
        for theirs in other.phrases
        if {mine.lead, theirs.lead} <= _SLOTS["when"] | _SLOTS["in"]
    )


def _slot(one: SentenceReading, other: SentenceReading, leads: frozenset[str], alignment: Alignment) -> float:
    """How alike what stands after prepositions of a kind is; 2 where one sentence has it, 3 where neither."""
    mine, theirs = (
        frozenset(word for each in reading.phrases if each.lead in leads for word in each.words) - RULING
        for reading in (one, other)
    )
    if not mine and not theirs:
        return 3.0
    if not mine or not theirs:
        return 2.0
    return max(_likeness(mine, theirs, alignment), float(bool(mine & theirs)) * 0.9)


def differing(one: Told, other: Told) -> Found | None:
    """Where two sentences that seem to conflict differ, where no rule names it; None where amounts or all words agree.

    The kind, and the norms that say so.
    """
    amounts = list(_amounts(one.norms, other.norms))
    set_apart = next(((one, two) for one, two, differ in amounts if differ), None)
    forces = (frozenset({one.modality, two.modality}) for one, two in product(one.norms, other.norms))
    if set_apart:
        return "quantity", *set_apart
    kind: Kind | None = None if amounts else "course"
    if any(each in _CONTRARY for each in forces):
        kind = "duty"
    elif ("negative" in one.flags) != ("negative" in other.flags):
        kind = "denial"
    elif slot := _other_slot(one.reading, other.reading):
        kind = slot
    elif not amounts and any((name in one.flags) != (name in other.flags) for name in _CASES):
        kind = "condition"
    if kind is None or (kind == "course" and one.reading.content == other.reading.content):
        return None
    return (kind, *_saying(kind, one, other))


def _saying(kind: Kind, one: Told, other: Told) -> tuple[Norm, Norm]:
    """The norms that are opposed in force, else the first of each sentence."""
    both = product(one.norms, other.norms)
    found = ((a, b) for a, b in both if kind == "duty" and frozenset({a.modality, b.modality}) in _CONTRARY)
    return next(found, (one.norms[0], other.norms[0]))


def _other_slot(one: SentenceReading, other: SentenceReading) -> Kind | None:
    """Whether two sentences say of each other's actor, means or place something else."""
    mine, theirs = (frozenset(word for _, who in each.agents for word in who) for each in (one, other))
    if mine and theirs and not mine & theirs:
        return "actor"
    if means_clash(one.means, other.means):
        return "means"
    return "place" if one.places and other.places and not one.places & other.places else None


def _amounts(first: Sequence[Norm], second: Sequence[Norm]) -> Iterator[tuple[Norm, Norm, bool]]:
    """The norms whose amounts can be compared, and whether these cannot both hold."""
    for one, other in product(first, second):
        mine, theirs = one.quantity, other.quantity
        if mine and theirs and comparable(mine, theirs):
            yield one, other, not same(mine, theirs) and not compatible(mine, theirs)


_CONTRARY = frozenset(
    frozenset(pair) for pair in (("duty", "ban"), ("may", "ban"), ("duty", "waived"), ("ban", "waived"))
)
