"""Claims that a document makes about its own loan, as the judge reads them sentence by sentence.

Both sides of a contradiction are kept where both are likely; else the likelier stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy

from ovrag_core.loans.reading.judge import STATEMENTS, Judge, load_judge
from ovrag_core.loans.reading.sentences import PASSAGE, Plain, Unit, as_read, pieces
from ovrag_core.retrieval import Probabilities
from ovrag_core.text import Span

LONG_DOCUMENT = 12_000  # characters
# Probabilities, chosen on the drafters set aside, the thesis's contracts, prose and generated contracts.
HINT = 0.3  # from which a sentence hints at something of the loan
STATED = 0.4  # from which it states its security or form of credit
KIND = 0.6  # from which it states a kind of loan, or what a party is
STATED_TOO = 0.5  # from which it states the less likely of two opposites
OPPOSED = 0.7  # from which each of two opposites stands, or, where a sentence is likely contradicted, from HINT
CONTRADICTED = 0.4  # from which a sentence is likely contradicted by another
LONG = 0.9  # all of these, in a long agreement, where stray sentences on other debts abound
GRANTED = 0.6  # the same, of security and of credit that may be drawn again
BY_DEFINITION = 0.9  # belief in what a term is defined for
MAY_SAY = 0.05  # of the screen: below, a sentence is not judged
MOST = 60  # sentences of a document that are judged, at most
FEWEST = 2  # words
CONTRADICTED_AT = STATEMENTS.index("contradicted")
FORM = ("OpenEndCredit", "ClosedEndCredit")
OPPOSITES: Mapping[str, str] = {
    "SecuredLoan": "UnsecuredLoan",
    "UnsecuredLoan": "SecuredLoan",
    "OpenEndCredit": "ClosedEndCredit",
    "ClosedEndCredit": "OpenEndCredit",
}


_EXCEPTION = re.compile(
    r"\b(?:no|not|nothing)\b[^.;]{0,60}\b(?:other than|except(?: for)?|save(?: for)?|apart from|besides|beyond)\b",
    re.IGNORECASE,
)


# Terms in quotes that a document defines for security, or for credit of a form, of its own.
_DEFINED = {
    about: re.compile(rf"\"\s*(?:the\s+)?(?:{terms})[,.]?\s*\"", re.IGNORECASE)
    for about, terms in {
        "SecuredLoan": r"collateral(?:\s+documents?)?|security\s+(?:agreement|deed|documents?|instruments?)|"
        r"secured\s+(?:obligations|parties)|deeds?\s+(?:of\s+trust|to\s+secure\s+debt)|pledge(?:\s+agreement)?",
        "OpenEndCredit": r"revolving\s+(?:credit\s+)?(?:advances?|commitments?|facility|line|loans?|notes?)|"
        r"(?:revolving\s+)?line\s+of\s+credit",
        "ClosedEndCredit": r"term\s+(?:commitments?|facility|loans?|note)",
    }.items()
}
_RELEASE = re.compile(r"\b(?:releas|discharg|reconvey)\w*\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that the loan is an `about` (one of STATEMENTS), with its passage, its unit and its probability.

    `[start, end)` is the passage to quote, `things` are what it names as security, all in the plain text.
    `contradicted` is how likely another sentence of the document contradicts it.
    """

    about: str
    start: int
    end: int
    unit: int
    belief: float
    things: tuple[Span, ...] = ()
    contradicted: float = 0.0


def find_claims(document: str, plain: Plain, units: Sequence[Unit]) -> list[Claim]:
    """All claims of a document, which is given as it is, made plain and cut into units, in order."""
    judge = load_judge()
    long = len(plain.text) > LONG_DOCUMENT
    parts = _worth_judging(judge, plain.text, units)
    judged = judge.read(as_read(document))
    spans = [plain.original(*part) for _, part in parts]
    found = judged.statements(spans)
    claims = []
    for (row, part), span, seen in zip(parts, spans, found, strict=True):
        likely = seen
        if units[row].label and units[row].value_start == units[row].start:  # a cell, which its headings explain
            headed = as_read(f"{units[row].heading}\n{units[row].label}: {plain.text[slice(*part)]}")
            likely = judge.read(headed).statements([(len(units[row].heading) + 1, len(headed))])[0]
        for about, belief in _said(plain.text[slice(*part)], likely, long=long):
            things = judged.things(span) if about == "SecuredLoan" else []
            things = [(plain.offset(start), plain.offset(end - 1) + 1) for start, end in things]
            quote = passage(plain.text, *part, things)
            claims.append(Claim(about, *quote, row, belief, tuple(things), float(likely[CONTRADICTED_AT])))
    return claims


def defined_claims(text: str, units: Sequence[Unit], stated: Sequence[Claim]) -> Iterator[Claim]:
    """What a plain text defines terms of where no sentence states it: collateral, a line of credit, a term loan."""
    settled = {claim.about for claim in stated if claim.belief >= STATED}
    defined: dict[str, tuple[int, Span]] = {}
    for about, pattern in _DEFINED.items():
        for match in pattern.finditer(text):
            row = bisect_right(units, match.start(), key=lambda unit: unit.start) - 1
            if row >= 0 and match.end() <= units[row].end:  # no unit holds what is not read
                defined.setdefault(about, (row, match.span()))
    for about, (row, term) in defined.items():
        if OPPOSITES[about] not in defined and settled.isdisjoint((about, OPPOSITES[about])):
            yield Claim(about, *passage(text, units[row].start, units[row].end, [term]), row, BY_DEFINITION)


def _said(words: str, likely: Probabilities, *, long: bool) -> Iterator[tuple[str, float]]:
    """What a sentence says and how likely: of two opposites the likelier, or both where both are likely.

    "No security other than the van" is security; what releases security hardly gives it.
    """
    for column in numpy.flatnonzero(likely[:CONTRADICTED_AT] >= HINT):
        about = STATEMENTS[column]
        if long and likely[column] < (GRANTED if about in ("SecuredLoan", "OpenEndCredit") else LONG):
            continue
        against = OPPOSITES.get(about)
        if against and likely[column] < min(STATED_TOO, float(likely[STATEMENTS.index(against)])):
            continue
        if about == "SecuredLoan" and likely[column] < LONG and _RELEASE.search(words):
            continue
        turned = about == "UnsecuredLoan" and _EXCEPTION.search(words) is not None
        yield "SecuredLoan" if turned else about, float(likely[column])


def _worth_judging(judge: Judge, text: str, units: Sequence[Unit]) -> list[tuple[int, Span]]:
    """The pieces that may say something, with the numbers of their units: those that the screen likes."""
    parts = [
        (row, part)
        for row, unit in enumerate(units)
        if unit.kind != "signature"
        for part in pieces(text, unit)
        if len(text[slice(*part)].split()) >= FEWEST
    ]
    if len(parts) <= MOST:
        return parts
    likely = judge.screen([text[slice(*part)] for _, part in parts])
    best = sorted(numpy.flatnonzero(likely >= MAY_SAY), key=lambda at: (-likely[at], at))[:MOST]
    return sorted(parts[at] for at in best)


def settle(claims: Sequence[Claim], *, long: bool = False) -> list[Claim]:
    """The claims that stand: a class that is merely hinted at goes, and of two opposites the less likely.

    Both opposites stand where both are likely, or where what says either is likely contradicted. In a long agreement,
    which may hold facilities of either form, forms of credit stand where both is so.
    """
    beliefs: dict[str, float] = {}
    for claim in claims:
        beliefs[claim.about] = max(beliefs.get(claim.about, 0.0), claim.belief)
    standing = set()
    for about, belief in beliefs.items():
        other = OPPOSITES.get(about, "")
        against = beliefs.get(other, 0.0)
        wins = belief >= (STATED if other else KIND) and (belief, about) > (against, other)
        opposed = [claim for claim in claims if claim.about in (about, other)]
        if wins or (against and _both_stand(opposed, min(belief, against), long=long)):
            standing.add(about)
    return [claim for claim in claims if claim.about in standing]


def _both_stand(opposed: Sequence[Claim], lesser: float, *, long: bool) -> bool:
    """Return True where the claims of two opposites stand side by side, the less likely believed by `lesser`."""
    doubted = any(claim.contradicted >= CONTRADICTED for claim in opposed if not long or claim.belief >= LONG)
    if long:
        return lesser >= LONG and (doubted or opposed[0].about not in FORM)
    return lesser >= OPPOSED or doubted


def passage(text: str, start: int, end: int, around: Sequence[Span] = ()) -> Span:
    """The span to quote of `[start, end)`: all of it, or PASSAGE characters of whole words around what it names."""
    if end - start <= PASSAGE:
        return start, end
    first = min(max(start, around[0][0] - PASSAGE // 2) if around else start, end - PASSAGE)
    first = first if first == start else text.find(" ", first, end) + 1
    return first, text.rfind(" ", first, min(end, first + PASSAGE))
