"""Role of a named person or body in the loan, by what the words around the name mean.

Patterns find a party where it is called one in words that somebody foresaw. The judge of roles reads the passage around
a name instead: the bundled sentence embedder with low-rank adapters (Hu et al. 2022) and one linear layer, trained by
`tools/train_roles.py` on the passages of `training/loans/roles/`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from ovrag_core.base import project_file
from ovrag_core.loans.reading.mentions import SHORT_LINE, MentionJudge
from ovrag_core.loans.reading.names import Name, Role, built_kind, name_at
from ovrag_core.loans.reading.sightings import Sighting, Terms, is_party

ROLES = ("other", "borrower", "lender", "guarantor")
WEIGHTS = Path("ontologies/lexicon/roles.safetensors")
PARTIES: tuple[Role, Role, Role] = ("borrower", "lender", "guarantor")
PRINCIPALS = PARTIES[:2]
WAY = 1.4  # log odds that a unit of a sighting's weight is worth; from .6 to 2 the drafters set aside are named alike
PLAIN = 8.0  # weight: who is named so needs no judgement
UNSEEN = 0.05  # probability of a role of a name that is not judged
LEAST = -2.0  # weight above which somebody is named at all; beside another in the same role, only above 0
LEAST_IN_A_PASSAGE = 1.0  # the same, where a passage is all there is to read
MENTIONS = 2  # of one bearer that are judged
MOST = 60  # mentions of names that are judged, from the beginning and from the end
_LEADING = {"for", "by", "to", "from", "the", "and"}  # words that may stand before a name, as if they were of it
_CAPITAL = re.compile(r"(?<![\w'’-])[A-ZÀ-Þ]")


def candidates(text: str, terms: Terms) -> list[Name]:
    """The names in `text` that could be a party's, in order; each as long as it goes."""
    names: list[Name] = []
    next_start = 0
    for capital in _CAPITAL.finditer(text):
        if capital.start() < next_start:
            continue
        name = name_at(text, capital.start(), wrap=_is_prose(text, capital.start()))
        if name is not None:
            next_start = name.end
            if is_party(name, terms) and (built_kind(name.text) is not None or len(name.text.split()) > 1):
                names.append(name)
    return names


def _is_prose(text: str, at: int) -> bool:
    """Return True where the line at `at` is long enough to run on in the next."""
    end = text.find("\n", at)
    return (end if end >= 0 else len(text)) - (text.rfind("\n", 0, at) + 1) >= SHORT_LINE


def weighed(text: str, terms: Terms, sightings: Sequence[Sighting], least: float) -> list[Sighting]:
    """The sightings, each weighed by what the words around its bearer's name mean, and what these alone show.

    How a party is named and what its surroundings mean count together: a sighting's weight times WAY and the best log
    How a party is named and what its surroundings mean count together: a sighting's weight times WAY and the best log
    odds of the role among the mentions of its bearer; what is not above `least` is no sighting. Where borrower and
    lender are both named beyond doubt, nobody is judged.
    """
    if all(any(s.role == role and s.weight >= PLAIN for s in sightings) for role in PRINCIPALS):
        return list(sightings)
    names = candidates(text, terms)
    if len(names) > MOST:
        names = [*names[: MOST * 2 // 3], *names[-(MOST // 3) :]]
    sighted_names = [sighting.name for sighting in sightings]
    bearers = _bearers([*names, *sighted_names])
    rows = [row for row, bearer in enumerate(bearers[: len(names)]) if bearers[:row].count(bearer) < MENTIONS]
    judged = load_roles()([(text, names[row].start, names[row].end) for row in rows])
    best: dict[tuple[frozenset[str], str], float] = {}
    alone = []
    for row, probabilities in zip(rows, judged, strict=True):
        for role in PARTIES:
            odds = _log_odds(probabilities[ROLES.index(role)])
            best[bearers[row], role] = max(odds, best.get((bearers[row], role), odds))
            described = names[row].end, min(len(text), names[row].end + 160)
            alone.append((bearers[row], Sighting(role, names[row], odds, described)))
    named = [
        (bearer, replace(sighting, weight=WAY * sighting.weight + best.get((bearer, sighting.role), _log_odds(UNSEEN))))
        for sighting, bearer in zip(sightings, bearers[len(names) :], strict=True)
    ]
    whole = _whole(names, bearers[: len(names)]) | _whole(sighted_names, bearers[len(names) :])
    return [
        replace(sighting, name=whole.get(bearer, sighting.name))
        for bearer, sighting in (*named, *alone)
        if sighting.weight > least
    ]


def _whole(names: Sequence[Name], bearers: Sequence[frozenset[str]]) -> dict[frozenset[str], Name]:
    """For each bearer the name of most words, rather spelled out than by initials or in capitals, then the shortest."""
    fullest: dict[frozenset[str], Name] = {}

    def order(name: Name) -> tuple[int, int, bool, int]:
        words = _words(name)
        return -len(words), sum(len(word) == 1 for word in words), name.text.isupper(), len(name.text)

    for name, bearer in zip(names, bearers, strict=True):
        fullest[bearer] = min(fullest.get(bearer, name), name, key=order)
    return fullest


def _log_odds(likely: float) -> float:
    likely = min(max(float(likely), 0.01), 0.99)
    return math.log(likely / (1 - likely))


def _bearers(names: Sequence[Name]) -> list[frozenset[str]]:
    """Whom each name names, as the words of the longest name that holds all of its own or begins as its initials do."""
    words = [_words(name) for name in names]
    return [max((w for w in words if _holds(w, name_words)), key=_fullness) for name_words in words]


def _holds(fuller: frozenset[str], words: frozenset[str]) -> bool:
    """Return True where `fuller` has each of the words, or for an initial one that begins with it."""
    more = fuller - words
    missing = words - fuller
    return all(len(word) == 1 and any(w.startswith(word) for w in more) for word in missing) and len(missing) <= len(
        more
    )


def _fullness(words: frozenset[str]) -> tuple[int, int, list[str]]:
    return len(words), sum(map(len, words)), sorted(words)


def _words(name: Name) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", name.text.casefold())) - _LEADING


@cache
def load_roles() -> MentionJudge:
    """The judge of roles, loaded once in a process."""
    return MentionJudge(project_file(WEIGHTS), len(ROLES))
