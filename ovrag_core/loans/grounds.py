"""Grounds of facts: the passages that each fact of a reading rests on, what was reckoned from them, marks in a text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from ovrag_core.base import Document, Evidence, Frozen, Triple
from ovrag_core.loans.loan_facts import PREDICATES, Facility, Facts, LoanReading
from ovrag_core.loans.reading.subjects import words_of
from ovrag_core.text import add_months, amounts, dates, durations, strip_span

CLASSES = {"security": ("SecuredLoan", "UnsecuredLoan"), "credit_form": ("OpenEndCredit", "ClosedEndCredit")}
_PARTIES = ("borrower", "lender", "guarantors")
FACTS = tuple(Facts.model_fields)
ALL_FACTS = (*FACTS, "guarantors", "purpose", "term_months")


class Passage(Frozen):
    """A verbatim quote; `start` and `end` count characters of the extracted text of `document`."""

    quote: str
    start: int
    end: int
    page: int | None
    document: str | None = None


class Grounds(Frozen):
    """Passages that a fact rests on. `reckoned` says, where none of them gives it in words, from what it was taken."""

    evidence: tuple[Passage, ...] = ()
    reckoned: str | None = None


def passage(evidence: Evidence) -> Passage:
    """Evidence as it is reported."""
    return Passage(**evidence.model_dump(exclude={"document_id"}), document=evidence.document_id)


def is_stated(facts: Facts, fact: str) -> bool:
    """Return True where the document says anything of a fact."""
    return getattr(facts, fact) not in (None, (), "", "unstated")


def grounds_of(facility: Facility, reading: LoanReading, documents: Sequence[Document]) -> dict[str, Grounds]:
    """The grounds of each fact of `facility` that is stated, by the fact's name; `documents` are what was read."""
    texts = {document.id: document for document in documents}
    return {fact: _grounds(fact, facility, reading.triples, texts) for fact in ALL_FACTS if is_stated(facility, fact)}


def _grounds(fact: str, facility: Facility, triples: Sequence[Triple], documents: Mapping[str, Document]) -> Grounds:
    found = passages_of(_triples(fact, facility, triples))
    if not found:
        return Grounds(reckoned="no passage gives it by itself")
    quotes = " ".join(p.quote for p in found)
    if fact == "maturity":
        return _of_maturity(dt.date.fromisoformat(facility.maturity or ""), found, quotes, documents)
    reckoned = None
    if fact == "term_months" and facility.maturity:
        if facility.term_months not in [months for months, _, _ in durations(quotes)]:
            found = tuple(dict.fromkeys((*found, *passages_of(_triples("maturity", facility, triples)))))
            reckoned = "the period or the instalments in the passage, and the maturity"
    elif fact == "principal" and facility.principal:
        if Decimal(str(facility.principal.amount)) not in [stated for stated, _, _ in amounts(quotes)]:
            reckoned = "the amounts in the passage"
    elif fact == "loan_types":
        reckoned = _kinds_told_by(facility, triples, found, quotes.casefold())
    return Grounds(evidence=found, reckoned=reckoned)


def _kinds_told_by(facility: Facility, triples: Sequence[Triple], found: Sequence[Passage], said: str) -> str | None:
    """The fact that shares a passage with the kinds of a loan, where what is `said` does not name them all."""
    if all(words_of(kind).split()[0].casefold() in said for kind in facility.loan_types):
        return None
    sources = {"borrower": "the kind of the borrower", "collateral": "the collateral", "purpose": "the purpose"}
    same = (name for name in sources if set(passages_of(_triples(name, facility, triples))) & set(found))
    return next((sources[name] for name in same), None)


def _triples(fact: str, facility: Facility, triples: Sequence[Triple]) -> list[Triple]:
    """The statements that make a fact: of a value the first, of a state or of kinds all, of parties their kinds too."""
    mine = [triple for triple in triples if triple.subject == facility.subject]
    stated = _first_each(stating(fact, mine, facility.loan_types))
    if fact in PREDICATES and fact != "guarantors":
        stated = stated[:1]
    parties = [(party.object, "rdf:type", party.object_type) for party in stated if fact in _PARTIES]
    said = {(triple.subject, triple.predicate, triple.object): triple for triple in reversed(triples)}
    return [*stated, *_first_each([said[party] for party in parties if party in said])]


def stating(fact: str, triples: Sequence[Triple], kinds: Sequence[str] = ()) -> list[Triple]:
    """Return the statements that make a fact, by their predicate or class; `kinds` are the classes of `loan_types`."""
    if fact in PREDICATES:
        return [triple for triple in triples if triple.predicate == PREDICATES[fact]]
    classes = CLASSES.get(fact, kinds)
    return [triple for triple in triples if triple.predicate == "rdf:type" and triple.object in classes]


def _first_each(triples: Sequence[Triple]) -> list[Triple]:
    """The first statement of each object."""
    return list({triple.object: triple for triple in reversed(triples)}.values())[::-1]


def passages_of(triples: Iterable[Triple]) -> tuple[Passage, ...]:
    """The passages that statements were read from, each once."""
    return tuple(dict.fromkeys(passage(triple.evidence) for triple in triples if triple.evidence))


def _of_maturity(day: dt.date, found: tuple[Passage, ...], quotes: str, documents: Mapping[str, Document]) -> Grounds:
    """The grounds of a maturity; of one counted from a day that stands elsewhere, with the passage of that day."""
    if days := [stated for stated, _, _ in dates(quotes)]:
        return Grounds(evidence=found, reckoned=None if day in days else "the period and the day in the passage")
    periods = [count for count, _, _ in durations(quotes)]
    document = documents.get(found[0].document or "")
    for first, start, end in dates(document.text) if document else ():
        if document and any(add_months(first, count) == day for count in periods):
            counted = passage(Evidence.of(document, *_line(document.text, start, end)))
            reckoned = "the period, counted from the day in the second passage"
            return Grounds(evidence=(*found, counted), reckoned=reckoned)
    return Grounds(evidence=found, reckoned="the period in the passage, counted from a day of the document")


def _line(text: str, start: int, end: int) -> tuple[int, int]:
    """The words of the line around a span."""
    line_end = text.find("\n", end)
    return strip_span(text, text.rfind("\n", 0, start) + 1, line_end if line_end >= 0 else len(text))


class Piece(NamedTuple):
    """A run of text, where it begins, and the marks of the passages that it is in (None for plain text)."""

    start: int
    text: str
    mark: str | None


def pieces(text: str, marks: Sequence[tuple[str, Sequence[Passage]]]) -> list[Piece]:
    """`text` cut at the quoted passages, each piece with the marks of all that it is in. Joined, they are the text."""
    spans = [(passage.start, passage.end, sign) for sign, passages in marks for passage in passages]
    cuts = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    cut = []
    for start, end in pairwise(cuts):
        signs = dict.fromkeys(sign for low, high, sign in spans if low <= start and end <= high)
        cut.append(Piece(start, text[start:end], ", ".join(signs) or None))
    return cut
