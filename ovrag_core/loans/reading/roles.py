"""Role and kind of a named person or body in the loan, by what the judge makes of every mention of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from ovrag_core.loans.reading.judge import ROLES, load_judge
from ovrag_core.loans.reading.names import Name, Role, built_kind, name_at
from ovrag_core.loans.reading.sentences import as_read
from ovrag_core.loans.reading.sightings import (
    BRACKETS,
    QUOTED,
    TRADES_AS,
    Sighting,
    Terms,
    is_party,
    role_words,
    singular,
)
from ovrag_core.loans.reading.windows import SHORT_LINE
from ovrag_core.retrieval import Probabilities
from ovrag_core.text import Span, any_of

PARTIES: tuple[Role, Role, Role] = ("borrower", "lender", "guarantor")
PRINCIPALS = PARTIES[:2]
DEFINED = 5.0  # log odds that a term which names a role adds to it
DOUBTED = 2.0  # the same, of a term that names a role in some documents only
LEAST = -2.0  # weight above which somebody is named at all; beside another in the same role, only above 0
LEAST_IN_A_PASSAGE = 1.0  # the same, where a passage is all there is to read
MOST = 60  # mentions of names that are judged, from the beginning and from the end
REACH = 320  # characters from a name to the brackets that define a term for it
LIKELY_A_PARTY = 0.5  # probability from which a name may bear the term that is defined behind it
TERMS = 4  # mentions of a term that are judged
_LEADING = {"for", "by", "to", "from", "the", "and"}  # words that may stand before a name, as if they were of it
_TERM = r"(?:the\s+)?([A-Z][\w/-]*(?:\s[A-Z][\w/-]*)?)"
_BARE = re.compile(
    r"\s*(?:hereinafter\s+)?(?:called\s+)?(?:the|an?|as|our|your)?\s*([A-Za-z][\w/-]*(?:\s[A-Za-z][\w/-]*)?)\s*$"
)
_CALLED = re.compile(
    rf"\b(?:called|known as|referred to as|designated(?: as)?|herein(?:after)?|hereafter)\s*,?\s*(?:the\s+|an?\s+)?"
    rf"[\"“‘']{_TERM}"
    rf"|\bherein(?:after)?,?\s+(?:called|referred to as|known as)\s+{_TERM}"
)
_LABEL = re.compile(
    r"[ \t|*(\d.)]*(?:the\s+)?([A-Za-z][A-Za-z /-]{2,30}?)(?:\s*\([^)\n]{1,30}\))?"
    r"\s*(?::|\||\.{3,}|\t|[ ]{2,}|\s(?:is|are))[ \t|]*(?:(?:Mr|Mrs|Ms|Miss|Dr|Messrs|M/s)\.?\s+)*",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^[ \t]*([A-F])\.[ \t]", re.MULTILINE)
_CAPITAL = re.compile(r"(?<![\w'’-])[A-ZÀ-Þ]")


def candidates(text: str, terms: Terms) -> list[Name]:
    """The names in `text` that could be a party's, in order; each as long as it goes."""
    names: list[Name] = []
    next_start = 0
    items = {match.start(1) for match in _ITEM.finditer(text)}
    items = items if {text[start] for start in items} >= {"A", "B"} else set()
    for capital in _CAPITAL.finditer(text):
        if capital.start() < next_start or capital.start() in items:
            continue
        name = name_at(text, capital.start(), wrap=_is_prose(text, capital.start()))
        if name is not None and (label := _label_in(name)):
            name = name_at(text, name.start + label, wrap=_is_prose(text, name.start))
        if name is not None:
            next_start = name.end
            if name.text.endswith((" by", " per")):
                name = replace(
                    name, text=name.text.rpartition(" ")[0], end=name.end - len(name.text.rpartition(" ")[2])
                )
            if names and TRADES_AS.fullmatch(text, names[-1].end, name.start):
                continue
            if is_party(name, terms) and (built_kind(name.text) is not None or len(name.text.split()) > 1):
                names.append(name)
    return names


def _label_in(name: Name) -> int:
    """Return where a name goes on behind a label that ran into it ("Borrower Hartwell Ltd"); 0 without one."""
    label = _label().match(name.text)
    return label.end() if label else 0


@cache
def _label() -> re.Pattern[str]:
    labels = any_of(
        term
        for term, (_, certain) in role_words().items()
        if certain and built_kind(f"Hart {term.title()}") in (None, "natural_person")
    )
    return re.compile(rf".*\b{labels}[:.]? (?=\w+ \w)", re.IGNORECASE)


def _is_prose(text: str, at: int) -> bool:
    """Return True where the line at `at` is long enough to run on in the next, and no heading in capitals."""
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    return len(line) >= SHORT_LINE and not line.isupper()


class Definition(NamedTuple):
    """A term that a document defines for a party, with who may bear it and where else it stands."""

    term: str
    rows: tuple[int, ...]  # the names before it, as places in their list
    start: int  # of the brackets, or of the words, that define it
    places: tuple[Span, ...]  # the first few mentions elsewhere; none of a term that names a role itself


def definitions(text: str, names: Sequence[Span]) -> Iterator[Definition]:
    """The terms that a text defines in brackets or by "hereinafter called", each once."""
    known: set[str] = set()
    before = last = 0  # where the definition before, and the one before that in other brackets, ended
    for start, term, stop in sorted(_defined_terms(text)):
        if start >= last:
            before, last = last, stop
        rows = [row for row, (_, end) in enumerate(names) if 0 <= start - end < REACH]
        rows = [row for row in rows if "\n\n" not in text[names[row][1] : start]]
        rows = [row for row in rows if names[row][0] >= before] or rows
        if rows and term not in known:
            known.add(term)
            certain = role_words().get(singular(term), ("", False))[1]
            places = () if certain else tuple(_places(text, term, (start, stop), names))
            yield Definition(term, tuple(rows), start, places)


def _defined_terms(text: str) -> Iterator[tuple[int, str, int]]:
    """Each term with where the words that define it begin and end."""
    for bracket in BRACKETS.finditer(text):
        quoted = [" ".join(match[1].split()) for match in QUOTED.finditer(text, bracket.start() + 1, bracket.end())]
        bare = None if quoted else _BARE.match(bracket[1] or bracket[2])
        if bare and singular(bare[1]) in role_words() and (bare[1][0].isupper() or role_words()[singular(bare[1])][1]):
            quoted = [bare[1]]
        yield from ((bracket.start(), term, bracket.end()) for term in quoted)
    for match in _CALLED.finditer(text):
        yield match.start(), " ".join((match[1] or match[2]).split()), match.end()


def _owner_of(definition: Definition, names: Sequence[Name], party: Probabilities) -> int:
    """Whom a term is defined for: who has its words in the name, else the nearest that is likely a party's."""
    words = set(re.findall(r"\w+", definition.term.casefold()))
    return max(
        definition.rows, key=lambda row: (words <= _words(names[row]), min(float(party[row]), LIKELY_A_PARTY), row)
    )


def _places(text: str, term: str, own: Span, names: Sequence[Span]) -> Iterator[Span]:
    spelled = re.escape(term).replace(r"\ ", r"\s+")
    found = 0
    for place in re.finditer(rf"(?<![\w\"“‘'-]){spelled}(?![\w\"”-])", text):
        start = place.start()
        if not own[0] <= start < own[1] and not any(first <= start < end for first, end in names):
            yield place.span()
            found += 1
            if found == TERMS:
                return


def sighted(text: str, terms: Terms, least: float) -> list[Sighting]:
    """Each name of a text in each role that what is said around it, its bearer's other names and terms makes likely.

    The weight is the greatest log odds of the role among the mentions of a bearer, more by DEFINED where a term that
    names the role is defined for it; what is not above `least` is no sighting.
    """
    names = candidates(text, terms)
    if len(names) > MOST:
        names = [*names[: MOST * 2 // 3], *names[-(MOST // 3) :]]
    spans = [(name.start, name.end) for name in names]
    defined = list(definitions(text, spans))
    places = [(place, number) for number, definition in enumerate(defined) for place in definition.places]
    found = load_judge().read(as_read(text)).names([*spans, *(place for place, _ in places)])
    owners = [_owner_of(definition, names, found[:, 0, 1:].sum(1)) for definition in defined]
    rows = [*range(len(names)), *(owners[number] for _, number in places)]  # the name of each judgement
    bearers = _bearers(names)
    whole = _whole(names, bearers)
    judged: dict[frozenset[str], list[int]] = {}
    for judgement, row in enumerate(rows):
        judged.setdefault(bearers[row], []).append(judgement)
    called: dict[tuple[frozenset[str], str], float] = {}
    told: dict[int, Definition] = {}
    for definition, row in zip(defined, owners, strict=True):
        told.setdefault(row, definition)
        if role := terms.role(definition.term):
            more = DEFINED if terms.certain(definition.term) else DOUBTED
            called[bearers[row], role] = max(more, called.get((bearers[row], role), 0.0))
    for row, name in enumerate(names):
        if role := _labelled(text, name, terms):
            called[bearers[row], role] = DEFINED
    sightings = []
    for row, bearer in enumerate(bearers):
        kinds = tuple(map(float, found[judged[bearer], 1].mean(0)))
        term = told.get(row)
        described = (names[row].end, term.start if term else min(len(text), names[row].end + 160))
        for role in PARTIES:
            column = ROLES.index(role)
            best = max(_log_odds(likely) for likely in found[judged[bearer], 0, column])
            weight = best + called.get((bearer, role), 0.0)
            if weight > least:
                own = _log_odds(found[row, 0, column]) - best + (1.0 if term else 0.0)
                defined_as = term.term if term else ""
                sighting = Sighting(role, whole[bearer], weight, described, defined_as, names[row], own, kinds)
                sightings.append(sighting)
    return sightings


def _labelled(text: str, name: Name, terms: Terms) -> Role | None:
    """The role that the label of a row names beyond doubt, right before a name: "Borrower: Ida Roth"."""
    label = _LABEL.fullmatch(text, text.rfind("\n", 0, name.start) + 1, name.start)
    return terms.role(label[1]) if label and terms.certain(label[1]) else None


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
