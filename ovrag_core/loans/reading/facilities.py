"""Facilities of an agreement: a revolver beside a term loan, lettered tranches, a swingline; one subject each.

Facts are attached to the facility that their clause, else their heading names. Where a document knows one loan only,
all its facts are of that loan, whatever it is called.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ovrag_core.loans.reading.grids import facility_cells
from ovrag_core.text import one_line

Family = Literal["revolving", "term"]

MENTIONS = 2  # of each family, at least, before a document is taken to hold more than one facility
SWINGLINES = 5  # mentions

_REVOLVING = (
    r"Revolving\s+(?:Credit\s+)?(?:Loans?|Facility|Commitments?|Advances?|Notes?|Line|Credits?)|Line\s+of\s+Credit|"
    r"Overdraft(?:\s+Facility)?|Working\s+Capital\s+(?:Loan|Facility|Line)|Revolver|Credit\s+Line"
)
_SWINGLINE = r"Swing\s?-?\s?[Ll]ine\s+(?:Loans?|Commitment|Facility|Note|Advances?)"
_TERM = (
    r"Term\s+(?:Loans?|Facility|Commitments?|Notes?|Advances?|Credit)(?!\s+(?:[B-Z]\b|SOFR))|"
    r"(?:Bridge|Acquisition|Construction|Equipment|Mortgage|Real\s+Estate)\s+(?:Term\s+)?(?:Loans?|Facility)"
)
_TERM_LETTER = r"Tranche\s+(?P<before>[A-D])\s+Term\b|Term\s+(?:Loans?|Facility|Commitments?)\s+(?P<after>[A-D])\b"
_LETTERED = re.compile(r"\b(?P<noun>Facility|Tranche|Loan)\s+(?P<letter>[A-D]|[1-4]|I{1,3})\b")
_DEFINED = (
    r"(?:\"\s*(?:the\s+)?(?:{0})\s*\"\s*(?:\)|means?|shall\s+mean|has\s+the)|"
    r"\b(?:lend|loan|make|provide|extend|grant|available|consist|compris|offer|establish)\w*\b[^.;]{{0,160}}?\b(?:{0}))"
)
OPEN_WORDS = re.compile(
    r"\b(?:revolv\w+|overdraft|line of credit|re-?borrow\w*|redraw\w*|credit line)\b", re.IGNORECASE
)
TERM_WORDS = re.compile(
    r"\b(?:term (?:loan|facility|advance)|install?ments?|amorti[sz]\w+|single (?:advance|drawdown|drawing)|"
    r"fixed term|bullet|bridge)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FacilityName:
    """A facility as an individual: the subject of its triples, its name in the text, and how it is recognised.

    `family` is None where a table has a column for it that tells neither (a line for guarantees, say).
    """

    subject: str
    name: str
    family: Family | None
    pattern: re.Pattern[str]


SINGLE = FacilityName("Loan", "Loan", "term", re.compile(r"(?!)"))


def find_facilities(text: str) -> list[FacilityName]:
    """The facilities of a plain text in order of first mention; one, named Loan, where there are not several."""
    if tabled := _tabled(text):
        return tabled
    revolving = _named(text, _REVOLVING, "RevolvingFacility", "revolving")
    terms = _term_letters(text) or _named(text, _TERM, "TermLoan", "term")
    facilities = terms
    if revolving and terms:
        facilities = [*revolving, *terms, *_named(text, _SWINGLINE, "SwinglineLoan", "revolving", SWINGLINES)]
    elif lettered := _lettered(text):
        return lettered
    if len(facilities) < 2:
        return [SINGLE]
    return sorted(facilities, key=lambda f: (next(f.pattern.finditer(text)).start(), f.subject))


def mentioned(text: str, facilities: Sequence[FacilityName]) -> list[FacilityName]:
    """The facilities that `text` names."""
    return [facility for facility in facilities if facility.pattern.search(text)]


def _named(text: str, names: str, subject: str, family: Family, mentions: int = MENTIONS) -> list[FacilityName]:
    """The facility called by one of `names`, where it is mentioned often enough and defined or granted somewhere."""
    flags = re.IGNORECASE if len(text) < 30_000 else re.NOFLAG
    pattern = re.compile(rf"\b(?:{names})\b", flags)
    hits = pattern.findall(text)
    if len(hits) < mentions or not re.search(_DEFINED.format(names), text, flags):
        return []
    return [FacilityName(subject, one_line(hits[0]), family, pattern)]


def _term_letters(text: str) -> list[FacilityName]:
    facilities = []
    for letter in sorted({match["before"] or match["after"] for match in re.finditer(_TERM_LETTER, text)}):
        pattern = re.compile(rf"\b(?:Tranche\s+{letter}\b|Term\s+(?:Loans?|Facility|Commitments?|Notes?)\s+{letter}\b)")
        if len(pattern.findall(text)) >= MENTIONS:
            facilities.append(FacilityName(f"TermLoan{letter}", f"Term Loan {letter}", "term", pattern))
    return facilities if len(facilities) > 1 else []


def _tabled(text: str) -> list[FacilityName]:
    """The columns of a table of facilities, where at least two are told to be credit of one form or the other."""
    cells_by_name: dict[str, list[str]] = {}
    for cell in facility_cells(text):
        cells_by_name.setdefault(cell.facility, []).append(text[cell.start : cell.end])
    facilities = []
    for name, cells in cells_by_name.items():
        words = " ".join([name, *cells])
        letter = _LETTERED.fullmatch(name.title())
        # Beside a table its columns are called by their letter alone: "7. (B) Interest is charged monthly".
        bare = rf"|(?m:^[ \t]*(?:\d+[.)][ \t]*)?\({letter['letter']}\)(?=\s))" if letter else ""
        pattern = re.compile(rf"\b{re.escape(name)}\b{bare}", re.IGNORECASE)
        subject = "".join(word.capitalize() for word in re.findall(r"\w+", name))
        facilities.append(FacilityName(subject, name, _family_of(words), pattern))
    return facilities if sum(facility.family is not None for facility in facilities) > 1 else []


def _lettered(text: str) -> list[FacilityName]:
    """ "Facility A" and "Facility B", each with words beside it that tell its form."""
    nouns: dict[str, dict[str, list[int]]] = {}
    for match in _LETTERED.finditer(text):
        nouns.setdefault(match["noun"], {}).setdefault(match["letter"], []).append(match.start())
    for noun, letters in sorted(nouns.items(), key=lambda pair: -len(pair[1])):
        several = {letter: places for letter, places in letters.items() if len(places) >= MENTIONS}
        facilities = [
            FacilityName(f"{noun}{letter}", f"{noun} {letter}", family, re.compile(rf"(?i)\b{noun}\s+{letter}\b"))
            for letter, places in sorted(several.items())
            if (family := _family_beside(text, places))
        ]
        if len(facilities) > 1:
            return facilities
    return []


def _family_beside(text: str, places: Sequence[int]) -> Family | None:
    stops = [(start, _LETTERED.search(text, start + 10, start + 260)) for start in places]
    return _family_of(" ".join(text[start : stop.start() if stop else start + 260] for start, stop in stops))


def _family_of(words: str) -> Family | None:
    revolving, term = len(OPEN_WORDS.findall(words)), len(TERM_WORDS.findall(words))
    return "revolving" if revolving > term else "term" if term else None
