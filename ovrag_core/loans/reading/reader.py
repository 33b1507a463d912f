"""The clause reader: a loan document to facts and triples with verbatim evidence, deterministic and offline.

What sentences and rows (`sentences`) say of this loan becomes claims (`claims`); claims, parties and values are
attached to facilities (`facilities`). Nothing is resolved that the text leaves contradictory: that is the ontology's
to find.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ovrag_core.base import Chunk, Document, Evidence, Origin, Triple
from ovrag_core.loans.loan_facts import LoanReading, PartyKind
from ovrag_core.loans.reading.claims import (
    CONTRADICTED,
    FORM,
    LONG_DOCUMENT,
    Claim,
    defined_claims,
    find_claims,
    passage,
    settle,
)
from ovrag_core.loans.reading.facilities import FacilityName, find_facilities, mentioned
from ovrag_core.loans.reading.facts import KINDS, PARTY_CLASSES, facility_of
from ovrag_core.loans.reading.gate import gate
from ovrag_core.loans.reading.parties import Parties, PartyMention, find_parties
from ovrag_core.loans.reading.prepared import placed_back, prepare
from ovrag_core.loans.reading.sentences import PASSAGE, Plain, Unit, as_read, plain_text, units
from ovrag_core.loans.reading.subjects import LOAN
from ovrag_core.loans.reading.values import Maturity, Principal, Rate, Term, Values, find_values
from ovrag_core.text import Span

NAME = "clause reader"
OPENING = 60  # characters

T = TypeVar("T", Principal, Rate, Maturity, Term)
Named = tuple[str | None, Span]  # what is named as security, say, and the passage that names it
NOTHING: Named = (None, (0, 0))

BY_USE = ("ConsumerLoan", "CommercialLoan", "StudentLoan")
BEYOND_DOUBT = 0.97  # belief in a kind of loan that its borrower would not take
BY_NAME = 0.9  # belief in the form of a facility that stands beside others of another form
SECURITY = ("SecuredLoan", "UnsecuredLoan")

# Statements that show what a party is, by role and kind.
_SHOWN_BY: dict[tuple[str, PartyKind], str] = {
    ("borrower", "natural_person"): "is a person",
    ("borrower", "legal_entity"): "is a body",
    ("lender", "natural_person"): "lends privately",
    ("lender", "financial_institution"): "lends by trade",
}

_NOT_DESIGNATED = re.compile(
    r"\b(?:no (?:specific |particular )?(?:assets?|collateral|property|security)\b.{0,40}\b(?:designated|identified|"
    r"specified|named|described|allocated|selected|agreed|listed|attached)|"
    r"(?:to be (?:agreed|determined|designated|identified|specified|advised|nominated|named|confirmed)|"
    r"not (?:yet )?(?:been )?(?:designated|identified|specified|named|described|agreed|determined|listed)|left blank|"
    r"tba\b|tbd\b|intentionally (?:left )?blank))",
    re.IGNORECASE,
)
_COLLATERAL_WORD = re.compile(r"\b(?:collateral|security|assets?|pledge[sd]?|charged?|mortgaged?)\b", re.IGNORECASE)
_SUBSIDIZED = re.compile(r"\bsubsidi[sz]ed\b|\binterest subsidy\b", re.IGNORECASE)


@dataclass
class _Page:
    """Material of one reading: the document, its plain text and units; `whole` is False for a passage."""

    document: Document
    plain: Plain
    units: list[Unit]
    whole: bool = True
    shift: int = 0
    origin: Origin = "context"
    triples: list[Triple] = field(default_factory=list)

    @property
    def long(self) -> bool:
        return len(self.plain.text) > LONG_DOCUMENT

    def evidence(self, start: int, end: int) -> Evidence:
        """Evidence for a plain span, in the document's own offsets."""
        a, b = self.plain.original(start, end)
        quoted = Evidence.of(self.document, a, b)
        return quoted.model_copy(update={"start": a + self.shift, "end": b + self.shift})

    def around(self, start: int, end: int) -> Span:
        """The passage to quote for a span of the original text: the unit around it, whole where it is short."""
        a, b = self.plain.offset(start), self.plain.offset(end)
        index = self.unit_at(a)
        if index is None:
            return a, max(b, a + 1)
        unit = self.units[index]
        return passage(self.plain.text, unit.start, unit.end, [(a, min(max(b, a + 1), unit.end))])

    def unit_at(self, offset: int) -> int | None:
        index = bisect_right(self.units, offset, key=lambda unit: unit.start) - 1
        return index if index >= 0 else None

    def say(
        self, subject: str, predicate: str, object_: str, span: Span, subject_type: str = LOAN, object_type: str = ""
    ) -> None:
        """Add a statement with the passage that makes it."""
        statement = Triple(
            subject=subject,
            predicate=predicate,
            object=object_,
            subject_type=subject_type,
            object_type=object_type,
            origin=self.origin,
            evidence=self.evidence(*span),
        )
        self.triples.append(statement)


def read(document: Document) -> LoanReading:
    """Facts and triples of a whole document; the first facility is the main one.

    Unseen characters are left out for reading, and what speaks to the reader instead of to the parties is passed
    over.
    """
    prepared, repaired = prepare(document)
    reading = _read(prepared)
    return reading if prepared.text == document.text else placed_back(reading, document, repaired)


def _read(document: Document) -> LoanReading:
    status, reason = gate(document.text)
    if status != "loan":
        return LoanReading(document_id=document.id, status=status, reason=reason)
    plain = plain_text(document.text)
    page = _Page(document, plain, units(plain.text))
    names = _assemble(page)
    facilities = tuple(facility_of(name.subject, name.name, page.triples) for name in names)
    return LoanReading(document_id=document.id, status="loan", facilities=facilities, triples=tuple(page.triples))


def read_passage(text: str, *, document_id: str, start: int = 0, origin: Origin = "context") -> tuple[Triple, ...]:
    """Triples of a chunk or an answer on its own; evidence offsets are shifted by `start`. There is no gate."""
    if not text.strip():
        return ()
    plain = plain_text(text)
    document = Document(document_id, text)
    page = _Page(document, plain, units(plain.text), whole=False, shift=start, origin=origin)
    _assemble(page)
    return tuple(page.triples)


def read_chunks(chunks: Sequence[Chunk]) -> tuple[Triple, ...]:
    """Triples of retrieved chunks, each read on its own."""
    return tuple(
        triple
        for chunk in chunks
        for triple in read_passage(chunk.text, document_id=chunk.document_id, start=chunk.start)
    )


def _assemble(page: _Page) -> Sequence[FacilityName]:
    """Say all that the page tells of its facilities, which are returned."""
    document, text = page.document, page.plain.text
    parties = find_parties(document, whole=page.whole)
    names = find_facilities(text)
    claims = find_claims(document.text, page.plain, page.units)
    if page.whole:
        defined = defined_claims(text, page.units, claims)
        claims += [claim for claim in defined if len(names) == 1 or claim.about in SECURITY]
    values = find_values(as_read(document.text))
    for name in names:
        mine = [claim for claim in claims if _concerns(page, claim, name, names)]
        if len(names) > 1 and name.family is not None:
            mine.append(_by_name(page, name, names))
        _say_facility(page, name, names, settle(mine, long=page.long), parties, values)
    return names


def _concerns(page: _Page, claim: Claim, name: FacilityName, names: Sequence[FacilityName]) -> bool:
    """Decide if a claim is about the facility `name`: by its passage, heading, paragraph, else all alike."""
    if len(names) == 1 or (claim.about in SECURITY and page.long):
        return True
    named = _named(page, claim.start, claim.end, names)
    if claim.about not in FORM:
        return name in (named or names)
    family = "revolving" if claim.about == "OpenEndCredit" else "term"
    return name in ([facility for facility in named if facility.family == family] or named)


def _named(page: _Page, start: int, end: int, names: Sequence[FacilityName]) -> list[FacilityName]:
    """The facilities that a passage names, else its heading, else the opening of its paragraph: "8. (C) The line"."""
    text, index = page.plain.text, page.unit_at(start)
    heading = page.units[index].heading if index is not None else ""
    paragraph = text.rfind("\n\n", 0, start) + 2
    opening = text[paragraph : min(start, paragraph + OPENING)]
    return next(filter(None, (mentioned(words, names) for words in (text[start:end], heading, opening))), [])


def _by_name(page: _Page, name: FacilityName, names: Sequence[FacilityName]) -> Claim:
    """A facility beside others of another form is of the form its name says, best in a sentence of its own."""
    text = page.plain.text
    places = [(span := match.span(), page.unit_at(span[0]) or 0) for match in name.pattern.finditer(text)]
    own = (
        (span, row)
        for span, row in places
        if (unit := page.units[row]).kind == "sentence" and mentioned(text[unit.start : unit.end], names) == [name]
    )
    span, row = next(own, places[0] if places else ((0, 1), 0))
    about = "OpenEndCredit" if name.family == "revolving" else "ClosedEndCredit"
    return Claim(about, *page.around(*page.plain.original(*span)), row, BY_NAME)


def _say_facility(
    page: _Page,
    name: FacilityName,
    names: Sequence[FacilityName],
    claims: list[Claim],
    parties: Parties,
    values: Values,
) -> None:
    subject = name.subject
    borrower, lender = next(iter(parties.borrowers), None), next(iter(parties.lenders), None)
    for about in (*SECURITY, *FORM):
        if span := _passage_of(page, claims, about):
            page.say(subject, "rdf:type", about, span)
    collateral, shown = _collateral(page, claims)
    if collateral is not None:
        page.say(subject, "hasCollateral", collateral, shown, object_type="Collateral")
        if any(claim.about == "Mortgage" and (claim.start, claim.end) == shown for claim in claims):
            page.say(collateral, "rdf:type", "RealProperty", shown, subject_type="")
    kinds = _kinds(page, claims, borrower, lender)
    for kind, span in kinds.items():
        page.say(subject, "rdf:type", kind, span)
    _say_parties(page, subject, "hasBorrower", parties.borrowers[:1], claims)
    _say_parties(page, subject, "hasLender", parties.lenders[:1], claims)
    _say_parties(page, subject, "hasGuarantor", parties.guarantors, claims)
    _say_values(page, name, names, values)
    purpose, shown = _purpose(page, claims)
    if purpose is not None:
        page.say(subject, "hasPurpose", purpose, shown, object_type="xsd:string")


def _say_values(page: _Page, name: FacilityName, names: Sequence[FacilityName], values: Values) -> None:
    """Say the sum, rate, last day and term of a facility."""
    principal = _of_facility(page, values.principals, name, names)
    rate = _of_facility(page, values.rates, name, names)
    maturity = _of_facility(page, values.maturities, name, names)
    term = _of_facility(page, values.terms, name, names)
    # A loan free of interest states no rate.
    percent = f"{rate.percent.normalize():f}%" if rate and rate.percent else None
    for predicate, value, datatype, mention in (
        ("hasPrincipalAmount", principal and f"{principal.currency} {principal.amount:,.2f}", "decimal", principal),
        ("hasInterestRate", percent, "decimal", rate),
        ("hasMaturityDate", maturity and maturity.date, "date", maturity),
        ("hasTerm", term and f"{term.months} months", "string", term),
    ):
        if mention and value:
            place = page.around(mention.start, mention.end)
            page.say(name.subject, predicate, value, place, object_type=f"xsd:{datatype}")


def _passage_of(page: _Page, claims: Iterable[Claim], about: str) -> Span | None:
    """The passage that states `about` most surely, if any does; a title comes after a sentence.

    In a document, not in an answer, it is quoted with the sentences beside it that state it too.
    """
    stating = [claim for claim in claims if claim.about == about]
    best = max(
        stating,
        key=lambda claim: (page.units[claim.unit].kind != "heading", claim.belief, -claim.start),
        default=None,
    )
    if best is None:
        return None
    start, end = best.start, best.end
    for claim in sorted(stating, key=lambda claim: abs(claim.start - best.start)) if page.whole else ():
        low, high = min(start, claim.start), max(end, claim.end)
        between = page.plain.text[claim.end : start] if claim.start < start else page.plain.text[end : claim.start]
        if high - low <= PASSAGE and between.count("\n") < 2 and not between.strip():
            start, end = low, high
    return start, end


def _say_parties(
    page: _Page, subject: str, role: str, mentions: Sequence[PartyMention], claims: Sequence[Claim]
) -> None:
    for mention in mentions:
        place = page.around(mention.start, mention.end)
        kind = PARTY_CLASSES[mention.kind] if mention.kind else ""
        page.say(subject, role, mention.name, place, object_type=kind)
        if mention.kind is not None:
            shown = _passage_of(page, claims, _SHOWN_BY.get((mention.role, mention.kind), ""))
            page.say(mention.name, "rdf:type", kind, shown or place, subject_type="")


def _collateral(page: _Page, claims: Sequence[Claim]) -> Named:
    """Find what is named as security, with the passage that names it; else the passage itself, which describes it.

    None where nothing is said to secure the loan, or where the text says that it is still to be named.
    """
    stated = sorted((claim for claim in claims if claim.about == "SecuredLoan"), key=lambda claim: -claim.belief)
    named = [(claim.belief * (end - start), claim, (start, end)) for claim in stated for start, end in claim.things]
    if named:
        _, claim, thing = max(named, key=lambda row: (row[0], -row[1].start))
        return _resolved(page, " ".join(page.plain.text[slice(*thing)].split())), (claim.start, claim.end)
    if not stated or (not page.long and _left_open(page.plain.text)):
        return NOTHING
    surest = stated[0]
    return " ".join(page.plain.text[surest.start : surest.end].split())[:160], (surest.start, surest.end)


def _left_open(text: str) -> bool:
    """Return True where the text says that the collateral is still to be named."""
    return any(
        _COLLATERAL_WORD.search(text, max(0, match.start() - 100), match.end() + 60) is not None
        for match in _NOT_DESIGNATED.finditer(text)
    )


def _resolved(page: _Page, what: str) -> str:
    """A defined term ("the Vehicle") with what it stands for, where a row or a definition says so."""
    term = re.fullmatch(r"(?:the |that |such |said )?(?P<term>[A-Z]\w+(?: [A-Z]\w+){0,2})", what.strip(" ."))
    if term is None:
        return what
    text = page.plain.text
    word = re.escape(term["term"])
    for unit in page.units:
        if unit.kind == "row" and re.fullmatch(rf"(?:the )?{word}", unit.label, re.IGNORECASE):
            return " ".join(text[unit.value_start : unit.end].split())[:200]
    defined = re.search(rf"\"(?:the )?{word}\"\s+(?:means?|is|are|refers to)\s+(?P<what>[^;\n]{{4,200}})", text)
    defined = defined or re.search(
        rf"(?P<what>[^.;:\n(]{{8,160}})\s*\((?:collectively,? )?(?:the )?\"(?:the )?{word}\"\)", text
    )
    return f"{what}: {' '.join(defined['what'].split())}" if defined else what


def _purpose(page: _Page, claims: Sequence[Claim]) -> Named:
    """The sentence or row that most surely says what the loan is for, by its use; None where none does."""
    told = [claim for claim in claims if claim.about in BY_USE and page.units[claim.unit].kind != "heading"]
    if not told:
        return NOTHING
    surest = max(told, key=lambda claim: (claim.belief, -claim.start))
    unit = page.units[surest.unit]
    start = unit.value_start if surest.start < unit.value_start < surest.end else surest.start
    return " ".join(page.plain.text[start : surest.end].split()), (surest.start, surest.end)


def _kinds(
    page: _Page, claims: Sequence[Claim], borrower: PartyMention | None, lender: PartyMention | None
) -> dict[str, Span]:
    """Kinds of loan with the passage that shows each; where none is told, by who borrows from whom."""
    stated = {claim.about for claim in claims if borrower is None or _is_sure(claim, borrower.kind)}
    kinds = {kind: span for kind in KINDS if kind in stated and (span := _passage_of(page, claims, kind))}
    subsidized = _SUBSIDIZED.search(page.plain.text) if "StudentLoan" in kinds and not page.long else None
    if subsidized:
        kinds["SubsidizedStudentLoan"] = page.around(*page.plain.original(*subsidized.span()))
    if page.whole and borrower is not None and not {*BY_USE} & kinds.keys():
        kind = _by_parties(borrower.kind, lender, alone=kinds.keys() <= {"CardAccount"})
        kinds |= {kind: page.around(borrower.start, borrower.end)} if kind else {}
    return kinds


def _by_parties(borrower: PartyKind | None, lender: PartyMention | None, *, alone: bool) -> str | None:
    """The kind of loan that an organised lender makes to a borrower of this kind; a consumer's, if no other is told."""
    if lender is not None and lender.kind == "natural_person":
        return None
    if borrower in ("legal_entity", "financial_institution"):
        return "CommercialLoan"
    return "ConsumerLoan" if borrower == "natural_person" and lender is not None and alone else None


def _is_sure(claim: Claim, borrower: PartyKind | None) -> bool:
    """Return False for a kind of loan that this borrower would not take, unless it is said beyond doubt.

    A purpose in two words is no ground for a contradiction.
    """
    unlikely = borrower == "natural_person" if claim.about == "CommercialLoan" else borrower == "legal_entity"
    doubtful = claim.about in BY_USE and unlikely
    return not doubtful or claim.belief >= BEYOND_DOUBT or claim.contradicted >= CONTRADICTED


def _of_facility(page: _Page, mentions: Sequence[T], name: FacilityName, names: Sequence[FacilityName]) -> T | None:
    """The best mention that speaks of the facility, else the best that speaks of none in particular."""
    if len(names) == 1:
        return mentions[0] if mentions else None
    named = [(mention, _named(page, *page.around(mention.start, mention.end), names)) for mention in mentions]
    own = [mention for mention, facilities in named if name in facilities]
    return next(iter(own or [mention for mention, facilities in named if not facilities]), None)
