"""The clause reader: a loan document to facts and triples with verbatim evidence, deterministic and offline.

Sentences and rows (`sentences`) are searched for the lexicon's cues (`lexicon`), which become claims about this loan
once polarity and scope are settled (`claims`); claims, parties and values are attached to facilities (`facilities`).
Nothing is resolved that the text leaves contradictory: that is the ontology's to find.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from ovrag_core.base import Chunk, Document, Evidence, Origin, Triple
from ovrag_core.loans.loan_facts import Facility, LoanReading, Money, Party, PartyKind
from ovrag_core.loans.reading.claims import (
    LONG_DOCUMENT,
    Claim,
    find_claims,
    passage,
    settle,
    weigh_by_length,
    whole_claims,
)
from ovrag_core.loans.reading.facilities import FacilityName, find_facilities, mentioned
from ovrag_core.loans.reading.gate import gate
from ovrag_core.loans.reading.judge import heed, load_judge, sure_of
from ovrag_core.loans.reading.lexicon import Lexicon, load_lexicon
from ovrag_core.loans.reading.parties import Parties, PartyMention, find_parties
from ovrag_core.loans.reading.prepared import placed_back, prepare
from ovrag_core.loans.reading.purposes import (
    KINDS_BY_USE,
    TELLS,
    Purpose,
    find_home_use,
    find_purpose,
    says_in_passing,
)
from ovrag_core.loans.reading.sentences import Plain, Unit, plain_text, struck_out, ticked_only, units
from ovrag_core.loans.reading.values import (
    Maturity,
    Principal,
    Rate,
    Term,
    Values,
    find_values,
)
from ovrag_core.text import Span

NAME = "clause reader"
OPENING = 60  # characters

T = TypeVar("T", Principal, Rate, Maturity, Term)
Named = tuple[str, Span]  # what is named as security, and the passage that names it

KINDS = (
    "ConsumerLoan", "CommercialLoan", "Mortgage", "StudentLoan", "SubsidizedStudentLoan", "GreenLoan", "CardAccount",
)  # fmt: skip
SURELY = 0.5  # probability of a kind by purpose that the kind of the borrower does not bear out
SECURITY = ("SecuredLoan", "UnsecuredLoan")
FORM = ("OpenEndCredit", "ClosedEndCredit")
PARTY_CLASSES: dict[PartyKind, str] = {
    "natural_person": "NaturalPerson",
    "legal_entity": "LegalEntity",
    "financial_institution": "FinancialInstitution",
    "government": "GovernmentBody",
}

_SAYS_KIND: dict[PartyKind, str] = {
    "natural_person": (
        r"natural persons?|individuals?\b|private (?:person|individual)|human being|sole (?:trader|proprietor)"
    ),
    "legal_entity": (
        r"(?:\w+ ){0,3}(?:corporation|limited liability company|legal (?:entity|person)|body corporate|"
        r"limited company|partnership|company)\b"
    ),
}
_ROLE_WORDS = {
    "borrower": r"(?:the|each) (?:borrower|obligor|maker|debtor|customer|client|member|applicant|mortgagor|company)",
    "lender": r"(?:the|each) (?:lender|payee|holder|creditor|financier|funder|mortgagee|bank|lender under these terms)",
    "guarantor": r"the guarantor",
}

_REAL_PROPERTY = re.compile(
    r"\b(?:real (?:property|estate)|immovables?|lands?\b|dwelling|residence|homes?\b|house|apartment|flat\b|"
    r"condominium|premises|building|lot \d+|parcel|freehold|leasehold|plot\b|farmland|property (?:at|located|situated|"
    r"known)|housing|title number|folio|erf\b|deed of trust|trust deed|title deeds?|homestead|"
    r"villa|mortgaged property|(?:legal |registered |first |second )*mortgage (?:over|on|of) (?:the |your |its |his |"
    r"her |their )?(?:property|unit|lot|premises)|standard security|\d+ [A-Z][\w ]+ (?:street|st|avenue|ave|road|rd|"
    r"lane|drive|way|court|place|boulevard|blvd|rise|close|crescent|terrace|grove|quay|row|gardens|mews|parade)\b)",
    re.IGNORECASE,
)
_NOT_LAND = re.compile(
    r"\b(?:chattel mortgage|ship\s+mortgage|vessel|motor vehicle|landlord|mobile home|aircraft mortgage|land rover|"
    r"landing)\b",
    re.IGNORECASE,
)
_NAMES_A_THING = re.compile(
    r"(?:all|any and all|substantially all|the (?:property|land|collateral|assets|mortgaged|premises|project|real)|"
    r"each|certain|its|a first|first|lien|one)\b",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\b(?:(?:all|the|my|our|its|his|her|their|your|an?|one|two|certain)\s+)?(?:[\w'-]+\s+){0,3}?(?:vehicles?|car|"
    r"truck|tractor|land|house|home|apartment|flat|premises|building|hotel|shop|farm|polic(?:y|ies)|certificates?|"
    r"shares|stock|inventory|receivables|book debts|equipment|machin\w+|crops?|cattle|livestock|herd|vessel|ship|"
    r"aircraft|jewell?ery|gold|ring|watch|painting|deposit|savings|"
    r"account|Property|Vehicle|Equipment|Goods|Premises|Land|Security Property|title deeds?|bonds|parcel|plot|"
    r"dwelling|condominium|unit|mill|trade debts|claims|portfolio|(?:all|whole) [\w' ]{0,30}(?:assets|property|"
    r"undertaking)|Flat No|securities|undertaking|instruments?|boat|horse|warehouse receipts?)\b"
)
_GOODS = re.compile(
    r"\b(?:accounts|goods|receivables?|inventory|inventories|fixtures|rights under|proceeds of)\b", re.IGNORECASE
)
_COLLATERAL_WORD = re.compile(r"\b(?:collateral|security|assets?|pledge[sd]?|charged?|mortgaged?)\b", re.IGNORECASE)
_IDENTIFIED = re.compile(r"\d{3}|\b(?:no\.|VIN|registered|title number)\b")
_LAND_SECURITY = re.compile(
    r"\b(?:deeds? of trust|deeds? to secure debt|mortgage deed|security deed|standard security|"
    r"mortgage of (?:the )?property|mortgaged propert(?:y|ies)|hypothecary|real estate mortgage)\b",
    re.IGNORECASE,
)
_UNNAMED = re.compile(
    r"(?:in )?(?:us|me|our|its|their|his|her|the [a-z]+'s)?\s*(?:favou?r|today|name|now|hereby)?(?: today)?|what|it|"
    r"(?:the |a |an |any |all |such |its |your |our |this |certain |specific |some |of )*(?:collateral|security|"
    r"securities interests?|security interests?|liens?|assets?|property|pledge|charge|mortgage|following|loan|"
    r"lender|bank|borrower|facility|advance|this|that|these|those|obligations?|same|it|them|obligation|note|"
    r"agreement|law|default)?(?: (?:provided|given|granted|pledged|offered|as security|of the borrower))*",
    re.IGNORECASE,
)
_NOT_DESIGNATED = re.compile(
    r"\b(?:no (?:specific |particular )?(?:assets?|collateral|property|security)\b.{0,40}\b(?:designated|identified|"
    r"specified|named|described|allocated|selected|agreed|listed|attached)|"
    r"(?:to be (?:agreed|determined|designated|identified|specified|advised|nominated|named|confirmed)|"
    r"not (?:yet )?(?:been )?(?:designated|identified|specified|named|described|agreed|determined|listed)|left blank|"
    r"tba\b|tbd\b|intentionally (?:left )?blank))",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"\"(?:the )?(?P<term>Collateral|Pledged [A-Z]\w+|Mortgaged (?:Property|Premises)|Property|Vehicle|Goods|"
    r"Equipment|Security|Charged (?:Property|Assets)|Secured (?:Property|Assets)|Premises|Land|Security Property|"
    r"Hypothecated (?:Assets|Goods))\"\s+(?:means?|shall mean|has the meaning|is|refers to)\s+(?P<what>[^;\n]{4,200})"
)
_COLLATERAL_TERM = re.compile(
    r"\b(?:Collateral(?: Documents?)?|Security (?:Documents?|Agreements?|Instruments?|Deed)|"
    r"Pledge(?: and Security)? Agreements?|Mortgaged Propert(?:y|ies)|Mortgages?|"
    r"Deeds? (?:of Trust|to Secure Debt)|Debenture|Guarant(?:ee|y) and (?:Collateral|Security) Agreement)\b"
)
_POINTS_ELSEWHERE = re.compile(
    r"\b(?:named|described|listed|identified|set (?:out|forth)|specified|stated|shown)\s+(?:in|on|at|below|above|"
    r"overleaf|under)\b",
    re.IGNORECASE,
)
_GIVEN_COLLATERAL = re.compile(
    r"\bthe (?:collateral|security(?! (?:interest|of))|pledge|mortgage|charge|lien|charged|pledged|mortgaged)\b"
    r"(?: (?:assets?|property|goods))?",
    re.IGNORECASE,
)
# What stands around a thing in the object of a grant: how it is granted before it, what is then done with it after it.
_GRANT_LEAD = re.compile(
    r"^(?:in )?(?:(?:(?:by )?way of (?:an? )?(?:(?:first|second|fixed|floating|legal|equitable)[ -])*"
    r"(?:charge|mortgage|pledge|assignment|security)(?: over| of| on)? |"
    r"favou?r of [^,]{1,60}, (?:for \D{0,3}[\d,.]+[^,]*, )?|"
    r"(?:first|second|third) (?:place|rank|priority), (?:of|over|on) |[^,]{0,60}\b(?:is|are|has been) (?:re)?paid, ))",
    re.IGNORECASE,
)
_GRANT_TAIL = re.compile(
    r",? (?:and )?(?:who|which|that|(?:and|but) (?:has|have|may|shall|will|must|we|you|they|it|keep|so))\b.*|"
    r",? (?:keep|insure|see|to remain|to be filed|to be registered|is continuing security|"
    r"as (?:continuing )?security)\b.*|, of$",
    re.IGNORECASE | re.DOTALL,
)
_GRANTED = re.compile(
    r"\b(?:charges?|mortgages?|pledges?|hypothecates?|assigns?|cedes?|transfers?|lodges?|deposits?|puts? up|"
    r"hands? over|turns? over)\s+(?P<what>(?!to\b|and\b|or\b|of\b|over\b|on\b)[^.;]{4,160}?)"
    r"\s+(?:to|unto|with|in favou?r of)\s+(?:the|you|us|me)\b"
)
_GOES_ON = re.compile(r"(?:\b(?:over|of|on|in|and|the|a|to|at)|,)\s*\Z")
_NO_THING = re.compile(
    r"(?:the (?:lender|bank|creditor|holder|society|public|personal|last)\b|(?:with|until|if|when|what|it|"
    r"that charge|these|so)\b(?! vehicle| property| shares| goods))",
    re.IGNORECASE,
)
_DESCRIBED = re.compile(
    r"\b(?:collateral|security|property|assets?)\b[^.;]{0,60}\b(?:described|listed|identified|set (?:out|forth)|"
    r"specified|defined|scheduled)\s+(?:in|on|at|below|above|overleaf)\b",
    re.IGNORECASE,
)


@dataclass
class _Page:
    """Material of one reading: the document, its plain text and units, the lexicon, the ablation switches."""

    document: Document
    plain: Plain
    units: list[Unit]
    lexicon: Lexicon
    scope: bool = True
    embedder: bool = True
    implied: bool = True
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
        evidence = Evidence.of(self.document, a, b)
        return evidence.model_copy(update={"start": a + self.shift, "end": b + self.shift}) if self.shift else evidence

    def around(self, start: int, end: int) -> Span:
        """The passage to quote for a span of the original text: the unit around it, whole where it is short."""
        a, b = self.plain.offset(start), self.plain.offset(end)
        index = self.unit_at(a)
        if index is None or self.units[index].start > a:
            return a, max(b, a + 1)
        unit = self.units[index]
        return passage(self.plain.text, unit, a, min(max(b, a + 1), unit.end))

    def around_plain(self, span: Span) -> Span:
        return self.around(*self.plain.original(*span))

    def unit_at(self, offset: int) -> int | None:
        index = bisect_right(self.units, offset, key=lambda unit: unit.start) - 1
        return index if index >= 0 else None

    def say(self, subject: str, predicate: str, object_: str, subject_type: str, object_type: str, span: Span) -> None:
        """A statement with its evidence; said once per passage."""
        self.triples.append(
            Triple(
                subject=subject,
                predicate=predicate,
                object=object_,
                subject_type=subject_type,
                object_type=object_type,
                origin=self.origin,
                evidence=self.evidence(*span),
            )
        )

    def say_value(
        self, subject: str, predicate: str, object_: str, datatype: str, mention: Principal | Rate | Maturity | Term
    ) -> None:
        span = self.around(mention.start, mention.end)
        self.say(subject, predicate, object_, "Loan", f"xsd:{datatype}", span)


def read(document: Document, *, scope: bool = True, embedder: bool = True, implied: bool = True) -> LoanReading:
    """Facts and triples of a whole document; the first facility is the main one.

    The switches are for ablations: without `scope` negation and scope markers are not heeded, without `embedder`
    only values are judged by meaning, without `implied` only cues that name the matter count. Slips of text
    recognition are mended for reading, and what speaks to the reader instead of to the parties is passed over.
    """
    prepared, repaired = prepare(document)
    reading = _read(prepared, scope=scope, embedder=embedder, implied=implied)
    return reading if prepared.text == document.text else placed_back(reading, document, repaired)


def _read(document: Document, *, scope: bool, embedder: bool, implied: bool) -> LoanReading:
    status, reason = gate(document.text)
    if status != "loan":
        return LoanReading(document_id=document.id, status=status, reason=reason)
    plain = plain_text(document.text)
    page = _Page(document, plain, units(plain.text), load_lexicon(), scope, embedder, implied)
    facilities = _assemble(page)
    return LoanReading(
        document_id=document.id, status="loan", facilities=tuple(facilities), triples=tuple(page.triples)
    )


def read_passage(text: str, *, document_id: str, start: int = 0, origin: Origin = "context") -> tuple[Triple, ...]:
    """Triples of a chunk or an answer on its own; evidence offsets are shifted by `start`. There is no gate."""
    if not text.strip():
        return ()
    plain = plain_text(text)
    document = Document(document_id, text)
    page = _Page(document, plain, units(plain.text), load_lexicon(), whole=False, shift=start, origin=origin)
    _assemble(page)
    return tuple(page.triples)


def read_chunks(chunks: Sequence[Chunk]) -> tuple[Triple, ...]:
    """Triples of retrieved chunks, each read on its own."""
    return tuple(
        triple
        for chunk in chunks
        for triple in read_passage(chunk.text, document_id=chunk.document_id, start=chunk.start)
    )


def _assemble(page: _Page) -> list[Facility]:
    document, text = page.document, page.plain.text
    parties = find_parties(document, whole=page.whole)
    roles = _roles(parties)
    names = find_facilities(text, page.units)
    if page.scope:
        text = struck_out(ticked_only(text))
    claims = find_claims(text, page.units, page.lexicon, scope=page.scope, implied=page.implied, roles=roles)
    purpose = find_purpose(text, page.units) if page.embedder else None
    claims = _without_hints(weigh_by_length(claims, text), long=page.long)
    if page.embedder and page.scope:  # which leaves no claim stronger than it was
        claims = _without_hints(_judged(page, text, claims, roles), long=page.long)
    values = find_values(ticked_only(document.text))  # every offset stays
    facilities: list[Facility] = []
    for name in names:
        mine = [claim for claim in claims if _concerns(page, claim, name, names)]
        if len(names) > 1 and name.family is not None:
            mine.append(_by_name(page, name))
        settled = settle(mine, page.lexicon, long=page.long)
        facilities.append(_facility(page, name, names, settled, parties, purpose, values))
    return facilities


def _without_hints(claims: list[Claim], *, long: bool) -> list[Claim]:
    """The claims that count: in a long agreement, a hint at security does not."""
    return [claim for claim in claims if claim.strength > 1 or claim.about not in SECURITY] if long else claims


def _judged(page: _Page, text: str, claims: Sequence[Claim], roles: Mapping[str, str]) -> list[Claim]:
    """The claims that a judgement of their passages bears out, and those that no phrase tells.

    In a long agreement only what phrases tell counts: its stray sentences are too many to trust a judgement of each.
    """
    judge = load_judge()
    heeded = heed(judge, claims, text, page.units)
    if page.long or not page.implied:
        return heeded
    says = sure_of(judge, claims, text, page.units)
    return [*heeded, *whole_claims(text, page.units, page.lexicon, roles, says)]


def _roles(parties: Parties) -> dict[str, str]:
    """Names and defined terms of the parties with their roles."""
    roles = {term: role for term, role in parties.defined_terms.items() if term[:1].isupper()}
    for mention in (*parties.guarantors[:3], *parties.lenders[:1], *parties.borrowers[:1]):
        roles[mention.name] = mention.role
    return roles


def _concerns(page: _Page, claim: Claim, name: FacilityName, names: Sequence[FacilityName]) -> bool:
    """Decide if a claim is about the facility `name`: by its clause, passage, heading, paragraph, else all alike."""
    if len(names) == 1 or (claim.about in SECURITY and page.long):
        return True
    for text in (
        page.plain.text[claim.cue[0] : claim.cue[1]],
        page.plain.text[claim.start : claim.end],
        page.units[claim.unit].heading,
        _opening(page.plain.text, claim.start),
    ):
        named = mentioned(text, names)
        if named and claim.about in FORM:
            family = "revolving" if claim.about == "OpenEndCredit" else "term"
            fitting = [facility for facility in named if facility.family == family]
            named = fitting if fitting and len(named) > len(fitting) else named
        if named:
            return name in named
    return claim.about not in FORM


def _opening(text: str, at: int) -> str:
    """Opening of the paragraph around `at`, which often says of which facility all of it speaks: "8. (C) The line"."""
    start = text.rfind("\n\n", 0, at) + 2
    return text[start : min(at, start + OPENING)]


def _by_name(page: _Page, name: FacilityName) -> Claim:
    """A facility that stands beside others of another form is of the form its name says."""
    match = name.pattern.search(page.plain.text)
    name_span = match.span() if match else (0, 1)
    index = page.unit_at(name_span[0]) or 0
    unit = page.units[index]
    span = passage(page.plain.text, unit, *name_span) if unit.start <= name_span[0] < unit.end else name_span
    about = "OpenEndCredit" if name.family == "revolving" else "ClosedEndCredit"
    return Claim(about, 2, False, *span, name_span, index)


def _facility(
    page: _Page,
    name: FacilityName,
    names: Sequence[FacilityName],
    claims: list[Claim],
    parties: Parties,
    purpose: Purpose | None,
    values: Values,
) -> Facility:
    subject = name.subject
    borrower, lender = next(iter(parties.borrowers), None), next(iter(parties.lenders), None)
    stated = {claim.about for claim in claims}
    for about in (*SECURITY, *FORM):
        if about in stated:
            page.say(subject, "rdf:type", about, "Loan", "", _passage_of(page, claims, about))
    collateral = _collateral(page, claims) if "SecuredLoan" in stated else None
    if collateral is not None:
        description, span = collateral
        page.say(subject, "hasCollateral", description, "Loan", "Collateral", span)
        if _is_land(description):
            page.say(description, "rdf:type", "RealProperty", "", "", span)
    kinds = _kinds(page, claims, collateral, borrower, lender, purpose)
    for kind, span in kinds.items():
        page.say(subject, "rdf:type", kind, "Loan", "", span)
    _say_parties(page, subject, "hasBorrower", parties.borrowers[:1])
    _say_parties(page, subject, "hasLender", parties.lenders[:1])
    _say_parties(page, subject, "hasGuarantor", parties.guarantors)
    principal = _of_facility(page, values.principals, name, names)
    rate = _of_facility(page, values.rates, name, names)
    maturity = _of_facility(page, values.maturities, name, names)
    term = _of_facility(page, values.terms, name, names)
    # A loan free of interest states no rate.
    percent = f"{rate.percent.normalize():f}%" if rate and rate.percent else None
    if principal is not None:
        amount = f"{principal.currency} {principal.amount:,.2f}"
        page.say_value(subject, "hasPrincipalAmount", amount, "decimal", principal)
    if rate is not None and percent is not None:
        page.say_value(subject, "hasInterestRate", percent, "decimal", rate)
    if maturity is not None:
        page.say_value(subject, "hasMaturityDate", maturity.date, "date", maturity)
    if term is not None:
        page.say_value(subject, "hasTerm", f"{term.months} months", "string", term)
    if purpose is not None:
        unit = page.units[purpose.unit]
        span = passage(page.plain.text, unit, purpose.start, min(purpose.end, unit.end))
        page.say(subject, "hasPurpose", purpose.text, "Loan", "xsd:string", span)
    return Facility(
        name=name.name,
        subject=subject,
        loan_types=tuple(kind for kind in KINDS if kind in kinds),
        security=security_of(stated),
        credit_form=form_of(stated),
        borrower=_party(borrower),
        lender=_party(lender),
        guarantors=tuple(Party(name=mention.name, kind=mention.kind) for mention in parties.guarantors),
        principal=Money(amount=float(principal.amount), currency=principal.currency) if principal is not None else None,
        interest_rate=percent,
        maturity=maturity.date if maturity is not None else None,
        collateral=collateral[0] if collateral is not None else None,
        purpose=purpose.text if purpose is not None else None,
        term_months=term.months if term is not None else None,
    )


def security_of(classes: Collection[str]) -> Literal["secured", "unsecured", "contradictory", "unstated"]:
    """Tell if a loan of these classes is secured."""
    secured, unsecured = (about in classes for about in SECURITY)
    if secured and unsecured:
        return "contradictory"
    return "secured" if secured else "unsecured" if unsecured else "unstated"


def form_of(classes: Collection[str]) -> Literal["open-end", "closed-end", "contradictory", "unstated"]:
    """Tell the form of credit of a loan of these classes."""
    open_end, closed_end = (about in classes for about in FORM)
    if open_end and closed_end:
        return "contradictory"
    return "open-end" if open_end else "closed-end" if closed_end else "unstated"


def _party(mention: PartyMention | None) -> Party | None:
    return Party(name=mention.name, kind=mention.kind) if mention is not None else None


def _passage_of(page: _Page, claims: Iterable[Claim], about: str) -> Span:
    """The passage that states `about` with the most and strongest cues; a title comes after a sentence."""
    weights: dict[Span, int] = {}
    for claim in claims:
        if claim.about == about:
            span = (claim.start, claim.end)
            title = page.units[claim.unit].kind == "heading"
            weights[span] = max(weights.get(span, 0), 10 * claim.strength - 15 * title) + claim.strength
    return min(weights, key=lambda span: (-weights[span], span))


def _say_parties(page: _Page, subject: str, role: str, mentions: Sequence[PartyMention]) -> None:
    for mention in mentions:
        named = _place_of(page, mention.name, mention.start, mention.end)
        page.say(subject, role, mention.name, "Loan", PARTY_CLASSES[mention.kind] if mention.kind else "", named)
        if mention.kind is not None:
            shown = _described(page, mention) or _place_of(page, mention.name, mention.kind_start, mention.kind_end)
            page.say(mention.name, "rdf:type", PARTY_CLASSES[mention.kind], "", "", shown)


def _place_of(page: _Page, name: str, start: int, end: int) -> Span:
    """The passage around a name, which may stand below its label."""
    offset = page.document.text.find(name, start, end)
    return page.around(offset, offset + len(name)) if offset >= 0 else page.around(start, end)


def _described(page: _Page, mention: PartyMention) -> Span | None:
    """A sentence that says outright what sort of person or body the party is ("The Payee is a natural person")."""
    described = _SAYS_KIND.get(mention.kind) if mention.kind else None
    if described is None:
        return None
    surname = mention.name.split()[-1]
    who = rf"(?:{re.escape(mention.name)}|(?:Mr|Mrs|Ms|Dr)\.? {re.escape(surname)}|{_ROLE_WORDS[mention.role]})"
    match = re.compile(
        rf"\b{who}\b[^.;\n]{{0,60}}?\b(?:is|are|being|am)\b[^.;\n]{{0,40}}?\b(?:{described})", re.IGNORECASE
    ).search(page.plain.text)
    if match is None or re.search(r"\bnot\b|\bif\b", match.group()):
        return None
    return page.around_plain(match.span())


def _collateral(page: _Page, claims: Sequence[Claim]) -> Named | None:
    """Find what is named as security, with the passage that names it; None where the text names nothing."""
    stated = [claim for claim in claims if claim.about == "SecuredLoan"]
    text = page.plain.text
    if page.long:
        return (
            _defined_collateral(page) or _named_collateral(page, stated, long=True) or _termed_collateral(page, stated)
        )
    named = _named_collateral(page, stated, long=False) or _defined_collateral(page)
    if named is not None or _left_open(text):
        return named
    return (
        _thing_in_passage(page, stated)
        or _described_collateral(page)
        or _term_in_passage(page, stated)
        or _spoken_of_collateral(page, stated)
        or _thing_in_passage(page, stated, implied=False)
        or _told_without_label(page, stated)
    )


def _left_open(text: str) -> bool:
    """Return True where the text says that the collateral is still to be named."""
    return any(
        _COLLATERAL_WORD.search(text, max(0, match.start() - 100), match.end() + 60) is not None
        for match in _NOT_DESIGNATED.finditer(text)
    )


def _named_collateral(page: _Page, stated: Sequence[Claim], *, long: bool) -> Named | None:
    """The thing that a claim of security names, by the strongest claim."""
    best: list[tuple[bool, int, int, str, Span]] = []
    for claim in stated:
        if claim.collateral is None:
            continue
        description = " ".join(page.plain.text[slice(*claim.collateral)].split()).strip(" \"'")
        description = _GRANT_TAIL.sub("", _GRANT_LEAD.sub("", description, count=1)).strip(" ,;")
        generic = (
            not description
            or _UNNAMED.fullmatch(description.lower())
            or _NOT_DESIGNATED.search(description)
            or _NO_THING.match(description)
        )
        if not generic and (not long or _NAMES_A_THING.match(description)):
            elsewhere = _POINTS_ELSEWHERE.search(description) is not None
            best.append(
                (elsewhere, -claim.strength, claim.start, _resolved(page, description), (claim.start, claim.end))
            )
    return min(best)[3:] if best else None


def _defined_collateral(page: _Page) -> Named | None:
    """Find what a definition of the collateral says it is."""
    match = _DEFINITION.search(page.plain.text)
    return (" ".join(match["what"].split())[:200], page.around_plain(match.span())) if match else None


def _thing_in_passage(page: _Page, stated: Sequence[Claim], *, implied: bool = True) -> Named | None:
    """A thing that stands in the passage of a grant, though not where a grant has its object."""
    for claim in stated:
        if (implied and not claim.implied) or claim.strength < 2:
            continue
        words = page.plain.text[claim.start : claim.end]
        granted, asset = _GRANTED.search(words), _THING.search(words)
        what = granted["what"] if granted else asset.group() if asset else ""
        if what:
            return _resolved(page, " ".join(what.split())), (claim.start, claim.end)
        if claim.strength == 3 and (_IDENTIFIED.search(words) or _GOODS.search(words)):
            return " ".join(words.split())[:160], (claim.start, claim.end)
    return None


def _described_collateral(page: _Page) -> Named | None:
    """A reference to where the collateral is described."""
    match = _DESCRIBED.search(page.plain.text)
    return (" ".join(match.group().split()), page.around_plain(match.span())) if match else None


def _term_in_passage(page: _Page, stated: Sequence[Claim]) -> Named | None:
    """A security document that a claim of security names."""
    for claim in stated:
        term = _COLLATERAL_TERM.search(page.plain.text, claim.start, claim.end)
        if term is not None:
            return _resolved(page, f"the {' '.join(term.group().split())}"), (claim.start, claim.end)
    return None


def _spoken_of_collateral(page: _Page, stated: Sequence[Claim]) -> Named | None:
    """Collateral that a passage takes as given ("the documents that create the collateral") is named somewhere else."""
    for claim in stated:
        mention = _GIVEN_COLLATERAL.search(page.plain.text, claim.start, claim.end)
        if claim.implied and mention is not None:
            return " ".join(mention.group().split()), (claim.start, claim.end)
    return None


def _told_without_label(page: _Page, stated: Sequence[Claim]) -> Named | None:
    """A passage that makes the loan secured without ever saying so does it by telling what is given."""
    implied = [claim for claim in stated if claim.implied and claim.strength >= 2]
    if not implied or len(implied) < len(stated):
        return None
    surest = max(implied, key=lambda claim: (claim.belief, -claim.start))
    return " ".join(page.plain.text[surest.start : surest.end].split())[:160], (surest.start, surest.end)


def _termed_collateral(page: _Page, stated: Sequence[Claim]) -> Named | None:
    """A long agreement describes its collateral in documents of its own; what its own words call it must do."""
    if not stated:
        return None
    termed = _term_in_passage(page, stated)
    if termed is not None:
        return termed
    strongest = max(stated, key=lambda claim: (claim.strength, -claim.start))
    term = _COLLATERAL_TERM.search(page.plain.text)
    wording = term.group() if term is not None else page.plain.text[strongest.cue[0] : strongest.cue[1]]
    return f"the {' '.join(wording.split())}", (strongest.start, strongest.end)


def _resolved(page: _Page, what: str) -> str:
    """A defined term ("the Vehicle") with what it stands for, where a row or a definition says so."""
    term = re.fullmatch(r"(?:the |that |such |said )?(?P<term>[A-Z]\w+(?: [A-Z]\w+){0,2})", what.strip(" ."))
    if term is None:
        return what
    text = page.plain.text
    word = re.escape(term["term"])
    for unit in page.units:
        if unit.kind == "row" and re.fullmatch(rf"(?:the )?{word}", unit.label, re.IGNORECASE):
            end = unit.end
            while _GOES_ON.search(text[unit.value_start : end]) and text[end : end + 1] == "\n":
                end = (text.find("\n", end + 1) + 1 or len(text) + 1) - 1
            return " ".join(text[unit.value_start : end].split())[:200]
    defined = re.search(rf"\"(?:the )?{word}\"\s+(?:means?|is|are|refers to)\s+(?P<what>[^;\n]{{4,200}})", text)
    defined = defined or re.search(
        rf"(?P<what>[^.;:\n(]{{8,160}})\s*\((?:collectively,? )?(?:the )?\"(?:the )?{word}\"\)", text
    )
    return f"{what}: {' '.join(defined['what'].split())}" if defined else what


def _is_land(what: str) -> bool:
    return _REAL_PROPERTY.search(what) is not None and _NOT_LAND.search(what) is None


def _only_where_told(
    found: dict[str, Span], claims: Sequence[Claim], borrower: PartyKind | None, *, long: bool
) -> None:
    """Drop kinds that rest on signs where a statement is needed: a company's studies, a card or a course in passing."""

    def told(kind: str) -> bool:
        return any(claim.about == kind and claim.strength == 3 for claim in claims)

    named = any(
        claim.about in ("StudentLoan", "SubsidizedStudentLoan") and claim.strength == 3 and not claim.implied
        for claim in claims
    )
    if (
        "StudentLoan" in found
        and not named
        and (borrower not in (None, "natural_person") or (long and not told("StudentLoan")))
    ):
        del found["StudentLoan"]
    if "SubsidizedStudentLoan" in found and "StudentLoan" not in found:
        if told("SubsidizedStudentLoan"):
            found["StudentLoan"] = found["SubsidizedStudentLoan"]
        else:
            del found["SubsidizedStudentLoan"]
    if long and "CardAccount" in found and not told("CardAccount"):
        del found["CardAccount"]


def _land_passage(page: _Page, claims: Sequence[Claim]) -> Span | None:
    """A statement of security that is by its own words one over land, though what follows does not describe it."""
    for claim in claims:
        words = page.plain.text[claim.start : claim.end]
        if (
            claim.about == "SecuredLoan"
            and claim.strength >= 2
            and _LAND_SECURITY.search(words)
            and not _NOT_LAND.search(words)
            and _is_own(page, claim)
        ):
            return claim.start, claim.end
    return None


def _kinds(
    page: _Page,
    claims: Sequence[Claim],
    collateral: Named | None,
    borrower: PartyMention | None,
    lender: PartyMention | None,
    purpose: Purpose | None,
) -> dict[str, Span]:
    """Kinds of loan with the passage that shows each."""
    kinds: dict[str, Span] = {}
    for kind in KINDS:
        strong = [claim for claim in claims if claim.about == kind and claim.strength >= 2 and _is_own(page, claim)]
        if strong:
            kinds[kind] = _passage_of(page, strong, kind)
    if collateral is not None and "Mortgage" not in kinds:
        span = collateral[1] if _is_land(collateral[0]) else _land_passage(page, claims)
        if span is not None:
            kinds["Mortgage"] = span
    kind_of_borrower = borrower.kind if borrower is not None else None
    _only_where_told(kinds, claims, kind_of_borrower, long=page.long)
    stated = {"ConsumerLoan", "CommercialLoan"} & set(kinds)
    people = kind_of_borrower == "natural_person"
    private = people and lender is not None and lender.kind == "natural_person"
    if purpose is not None and not stated and not private and not page.long:
        for kind in _kinds_by_purpose(purpose, kind_of_borrower, kinds):
            unit = page.units[purpose.kinds[kind][1]]
            kinds[kind] = passage(page.plain.text, unit, unit.start, unit.end)
    if (
        page.whole
        and borrower is not None
        and kind_of_borrower in ("legal_entity", "financial_institution")
        and (lender is None or lender.kind != "natural_person")
        and not {"ConsumerLoan", "CommercialLoan", "StudentLoan", "Mortgage", "CardAccount"} & set(kinds)
    ):
        kinds["CommercialLoan"] = page.around(borrower.kind_start, borrower.kind_end)
    if (
        page.whole
        and borrower is not None
        and people
        and not {"ConsumerLoan", "CommercialLoan", "StudentLoan"} & set(kinds)
    ):
        span = _private_use(page, kinds, borrower, lender)
        if span is not None:
            kinds["ConsumerLoan"] = span
    explicit = any(claim.about == "ConsumerLoan" and not claim.implied for claim in claims)
    if "StudentLoan" in kinds and not explicit:
        kinds.pop("ConsumerLoan", None)
    return kinds


def _kinds_by_purpose(purpose: Purpose, borrower: PartyKind | None, found: Mapping[str, object]) -> list[str]:
    """The kinds that a purpose makes a loan: a green one, and by its use, more surely where the borrower is of another
    kind or of none; a person's loan that has a kind of its own needs none by its use.
    """
    people = borrower == "natural_person"
    use = max(KINDS_BY_USE, key=purpose.kinds.__getitem__)
    doubtful = borrower is None or people == (use == "CommercialLoan")
    green = ["GreenLoan"] if "GreenLoan" not in found and purpose.kinds["GreenLoan"][0] >= SURELY else []
    if use in found or (people and (found or green)) or purpose.kinds[use][0] < (SURELY if doubtful else TELLS):
        return green
    return [use, *green]


def _private_use(
    page: _Page, found: Mapping[str, object], borrower: PartyMention, lender: PartyMention | None
) -> Span | None:
    """Find what makes a person's loan, of no kind by its words but `found`, a consumer loan: home, card or lender."""
    home = find_home_use(page.plain.text) if "Mortgage" in found else None
    if home is not None:
        return page.around_plain(home)
    # A card in a person's own name is a consumer's; so is what an organisation lends to a person for no business.
    organised = lender is not None and lender.kind in ("financial_institution", "legal_entity")
    if "CardAccount" in found or (organised and not found):
        return page.around(borrower.kind_start, borrower.kind_end)
    return None


def _is_own(page: _Page, claim: Claim) -> bool:
    """Return True where a claim of a kind is said of this loan, not in passing: see `says_in_passing`."""
    unit = page.units[claim.unit]
    return not says_in_passing(page.plain.text[unit.start : unit.end], claim.cue[0] - unit.start)


def _of_facility(page: _Page, mentions: Sequence[T], name: FacilityName, names: Sequence[FacilityName]) -> T | None:
    """The best mention that speaks of the facility, else the best that speaks of none in particular."""
    if len(names) == 1:
        return mentions[0] if mentions else None
    neutral: T | None = None
    for mention in mentions:
        start, end = page.around(mention.start, mention.end)
        index = page.unit_at(start)
        heading = page.units[index].heading if index is not None else ""
        named = mentioned(page.plain.text[start:end], names) or mentioned(heading, names)
        if name in named:
            return mention
        if not named and neutral is None:
            neutral = mention
    return neutral
