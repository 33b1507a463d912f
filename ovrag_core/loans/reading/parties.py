"""Lenders, borrowers and guarantors, from the text of one loan document.

The judge tells who is named as what, and what each is. What remains to rules is people named in one breath.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy

from ovrag_core.base import Document
from ovrag_core.loans.loan_facts import PartyKind
from ovrag_core.loans.reading.judge import KINDS
from ovrag_core.loans.reading.names import BEARERS, Name, ends_in_form, is_known_institution, likely_bearers
from ovrag_core.loans.reading.roles import LEAST, LEAST_IN_A_PASSAGE, PARTIES, PRINCIPALS, Role, Sighting, sighted
from ovrag_core.ontology import fold


@dataclass(frozen=True, slots=True)
class PartyMention:
    """A party in a role, with the mention at `[start, end)` that names it so."""

    role: Role
    name: str
    kind: PartyKind | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parties:
    """The parties of a document by role, best first."""

    borrowers: tuple[PartyMention, ...] = ()
    lenders: tuple[PartyMention, ...] = ()
    guarantors: tuple[PartyMention, ...] = ()

    def __iter__(self) -> Iterator[PartyMention]:
        return chain(self.borrowers, self.lenders, self.guarantors)


LIKELY = 0.6  # probability from which a kind is said
FEW = 0.003  # the least that is made of a probability
PERSON = 0.5  # probability from which a name is a person's who may be named with another
SHORT = 2  # words of a short name
_AND = re.compile(r"\s+(?:and|&)\s+")


def find_parties(document: Document, *, whole: bool = True) -> Parties:
    """The parties of `document`, best first by role. Offsets are into `document.text`.

    A passage, which is not the `whole` document, need not name any party: it takes more evidence there.
    """
    text = document.text
    return Parties(*_ranked(_joined(text, sighted(text, LEAST if whole else LEAST_IN_A_PASSAGE))))


def _joined(text: str, sightings: Sequence[Sighting]) -> list[Sighting]:
    """The sightings, with two people who are named in one breath in the same role as one: "Ana and Luis Ortega"."""
    people = {
        (s.role, s.name.start): s.name
        for s in sightings
        if likely_bearers([s.name.text])[0, BEARERS.index("natural_person")] > PERSON
    }
    pairs: dict[tuple[Role, int], Name] = {}
    for (role, start), first in people.items():
        link = _AND.match(text, first.end)
        if link and (second := people.get((role, link.end()))) and _as_one(first.text.split(), second.text.split()):
            both = Name(start, second.end, " ".join(text[start : second.end].split()), first.title)
            pairs |= {(role, start): both, (role, second.start): both}
    joint = ((s, pairs.get((s.role, s.name.start))) for s in sightings)
    return [replace(s, name=both, shown=both) if both else s for s, both in joint]


def _as_one(first: Sequence[str], second: Sequence[str]) -> bool:
    """Tell the names of two people who share one, or are short, from whole names, of which the first is the party's."""
    return len(second) > 1 and (first[-1] == second[-1] or min(len(first), len(second)) <= SHORT)


def _ranked(sightings: Iterable[Sighting]) -> Iterator[tuple[PartyMention, ...]]:
    """Names of each role, best first: the strongest sighting counts, others add a little.

    A name keeps its better role.
    """
    groups: dict[tuple[str, Role], list[Sighting]] = {}
    for sighting in sightings:
        groups.setdefault((fold(sighting.name.text), sighting.role), []).append(sighting)
    scores = {key: _score(group) for key, group in groups.items()}
    likeliest = _likeliest_pair(scores)
    for role in PARTIES:
        first = likeliest.get(role)
        rest = {
            name: score
            for (name, r), score in scores.items()
            if r == role and name not in likeliest.values() and score > 0
            if all(score >= scores.get((name, other), score) for other in PARTIES)
        }
        order = sorted(rest, key=lambda name: (-rest[name], min(s.name.start for s in groups[name, role])))
        yield tuple(_mention(groups[name, role]) for name in ([first] if first else []) + order)


def _likeliest_pair(scores: Mapping[tuple[str, Role], float]) -> dict[Role, str]:
    """The borrower and the lender, two different names, that weigh most together; a side may stay open."""
    borrowers, lenders = (
        {"": LEAST, **{name: score for (name, r), score in scores.items() if r == role}} for role in PRINCIPALS
    )
    pairs = [(borrower, lender) for borrower in borrowers for lender in lenders if borrower != lender or not borrower]
    borrower, lender = max(pairs, key=lambda pair: borrowers[pair[0]] + lenders[pair[1]])
    named: dict[Role, str] = {"borrower": borrower, "lender": lender}
    return {role: name for role, name in named.items() if name}


def _score(group: list[Sighting]) -> float:
    weights = sorted((s.weight for s in group), reverse=True)
    return weights[0] + min(0.5, 0.05 * sum(weights[1:]))


def _mention(group: list[Sighting]) -> PartyMention:
    group = sorted(group, key=lambda s: (-s.own, s.name.start))
    best = group[0]
    spelled = next((s.name.text for s in group if not s.name.text.isupper()), best.name.text)
    shown = next((s.shown for s in group if s.shown.text == spelled), best.shown)
    return PartyMention(best.role, spelled, _kind(best), shown.start, shown.end)


def _kind(best: Sighting) -> PartyKind | None:
    """What a party is, by what the judge makes of all its mentions and, at half its weight, by the name alone."""
    name = best.name.text
    if best.name.title:
        return "natural_person"
    if is_known_institution(name):
        return "financial_institution"
    odds = numpy.maximum(best.kinds, FEW) * numpy.maximum(likely_bearers([name])[0, 1:], FEW) ** 0.5
    if ends_in_form(name):
        odds[KINDS.index("natural_person")] = 0
    likeliest = int(odds.argmax())
    return KINDS[likeliest] if odds[likeliest] > LIKELY * odds.sum() else None
