# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Lenders, borrowers and guarantors, from the text of one loan document.

Contracts name their parties in a handful of ways: rows ("Borrower: …"), definitions (… (the "Bank")), capacities
(… as Borrower), verbs ("promises to pay to the order of …"), letters and signature blocks. Each way gives sightings
of a name in a role with a weight; the names are then ranked by role. Words come from the lexicon, never from code
that knows a drafter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ovrag_core.base import Document
from ovrag_core.loans.loan_facts import PartyKind
from ovrag_core.loans.reading.letters import own_hand
from ovrag_core.loans.reading.names import (
    Name,
    Role,
    built_kind,
    could_be_person,
    find_cue,
    has_form,
    name_at,
    party_kind,
    plain_words,
    word_set,
)
from ovrag_core.loans.reading.persons import PersonSigns
from ovrag_core.loans.reading.roles import LEAST, LEAST_IN_A_PASSAGE, PRINCIPALS, weighed
from ovrag_core.loans.reading.sightings import (
    Sighting,
    Terms,
    cells_of,
    certain_terms,
    is_common,
    is_party,
    lines_of,
    office_pattern,
    role_words,
    singular,
    sure_person,
)
from ovrag_core.loans.reading.speakers import is_asked
from ovrag_core.text import strip_span

__all__ = ["Parties", "PartyMention", "find_parties"]


@dataclass(frozen=True, slots=True)
class PartyMention:
    """A party in a role: `[start, end)` is a passage that names it, `[kind_start, kind_end)` one that shows its kind."""

    role: Role
    name: str
    kind: PartyKind | None
    start: int
    end: int
    kind_start: int
    kind_end: int


@dataclass(frozen=True, slots=True)
class Parties:
    """The parties of a document by role, best first, and the terms it calls them by ("Obligor" → "borrower")."""

    borrowers: tuple[PartyMention, ...] = ()
    lenders: tuple[PartyMention, ...] = ()
    guarantors: tuple[PartyMention, ...] = ()
    defined_terms: dict[str, str] = field(default_factory=dict)


_MAX_PASSAGE = 400
_PRONOUNS = word_set("i me my we us our you your")
_NOISE = word_set(
    "signature signatures signed sign by for whose data section name names full legal called of the and or party "
    "parties details information particulars registered printed individual no nr first second third primary"
)
_BRACKETS = re.compile(r"\(([^()]{1,220})\)|\[([^\[\]]{1,80})\]")
_QUOTED = re.compile(
    r"[\"“”„«‘'’]{1,2}\s*(?:the\s+|The\s+)?([A-Za-z][\w/&-]*(?:[ \n]{1,2}[A-Za-z][\w/&-]*){0,3})\s*[,.;]?\s*[\"“”»’']{1,2}"
)
_UNQUOTED = re.compile(
    r"^\s*(?:(?:hereinafter|hereafter|herein|henceforth|from now on|also)?\s*,?\s*(?:referred to as|called|known as|being|as)?\s*)?"
    r"(?:collectively,?\s+)?(?:the|an?|each an?|as|our|your)?\s*([A-Za-z][\w/-]*(?:\s[A-Za-z][\w/-]*)?)\s*$"
)
_CALLED = re.compile(
    r"\b(?:(?:herein(?:after)?|hereafter|below|in this (?:agreement|note|deed|letter|contract))?,?\s*(?:collectively\s+)?"
    r"(?:referred to (?:herein(?:after)? |hereafter |below )?as|called|known as|defined as|designated(?: as)?)\s*,?\s*(?:the|an?)?\s*[\"“‘']?|"
    r"(?:herein(?:after)?|hereafter)\s*,?\s*(?:the|an?)?\s*[\"“‘])([A-Za-z][\w/-]*(?:\s[A-Z][\w-]*)?)",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"\b(?:between|among|amongst|by|and|to|of|with|from|that|which|whom|said|than|is|are|for|whereas|received|behalf|pay|repay|owes?|unto|lender|borrower)\b[,:]?\s+|[:;–—]\s+|(?<=[,(/])\s+|"
    r"(?:^|\n)[ \t]*(?:\(?(?:\d{1,2}|[ivx]{1,4}|[A-Za-z])[.)]\s+|[-*•#|]+\s*)?|\(\d\)\s*",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s*$|[ \t]*[,;(\[–—-](?!\s*\n[ \t]*\n\s*[A-Z])|[ \t]*\n[ \t]*(?=[a-z(])|\s+(?:of|a|an|whose|having|with|acting|as|at|organi[sz]ed|incorporated|registered|"
    r"residing|resident|born|and|represented|established|trading|doing|is|in|holding|t/a|d/b/a|on|holder|ABN|ACN|UEN|CRO|HRB|CIN|KvK)\b"
)
_ITEM = re.compile(r"[\s,;]*(?:\(?(?:\d{1,2}|[ivx]{1,4}|[A-HIa-h])[.)]\s+(?=[^\s.]{2,}))?")
_ENUMERATES = re.compile(r"\s*\(?(?:\d{1,2}|[ivx]{1,4}|[A-Ha-h])[.)]\s")
_ENUMERATED = re.compile(r"[A-H]\. \S+ (?:.*\b)?(?:Inc|LLC|Ltd|Limited|Corp|Company|plc)\b")
_NEW_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*(?=[A-Z\"“$£€\d])")
_LAST_WORD = re.compile(r"([^\W_]+)[^\w]*$")
_POSTCODE = re.compile(r",?\s+(?:[A-Z]{2}|[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)\.?,?\s+\d{4,6}\b")
_IN_A_NAME = re.compile(r"[A-ZÀ-Þ][^\W\d_]+\s+$")
_BEFORE_TOWN = re.compile(r"\b(?:\d{4,6}|\d{4} [A-Z]{2}|[A-Z]{1,2}\d[\dA-Z]? \d[A-Z]{2})\s+$")
_STREET = re.compile(
    r"\d\S*\s+(?:[\w.]+\s+){1,4}(?:Street|Str|St\.?|Avenue|Ave\.?|Road|Rd\.?|Lane|Drive|Boulevard|Blvd\.?|Square|Place|Way|Suite \w+),?\s*$"
)
_RELATED = re.compile(
    r"\b(?:subsidiary|division|branch|affiliate|member|successor|part|formerly known|known|formerly|parent|office|owned|controlled|managed|behalf|state|laws)\s+(?:of|to|as|by)?\s*(?:the\s*)?$",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"\n[ \t]*[A-Z][\w ()/-]{2,30}:")
_SENTENCE_END = re.compile(
    r"(?<![A-Z])(?<!\b[A-Z][a-z])(?<!\b[Nn]o)(?<!\bnos)(?<!Inc)(?<!Ltd)(?<!Corp)(?<!Bros)(?<!Ing)(?<!Dipl)(?<!Prof)(?<!\bul)(?<!\bnr)(?<!\bal)(?<!\bpl)[.;?!][\"”]?\s+(?=[A-Z\"“(])|\n\s*\n(?=\s*(?:WHEREAS|RECITALS|NOW|WITNESSETH))"
)
_SPOKEN = re.compile(
    r"((?:[\"“](?:the\s+)?\w+[,.]?[\"”]\s*(?:,|and|or)?\s*){1,4})(?:is|are|means?|refers?\s+to|shall\s+mean|stands?\s+for)\s+(?=(?:the\s+)?[A-ZÀ-Þ])",
    re.IGNORECASE,
)
_UNDERSIGNED = re.compile(
    r"\bundersigned\b\s*(?:borrower|maker|obligor)?\s*(?:\([^()]{0,60}\))?\s*,?\s+(?!\s*\d{1,2}[.)]\s)", re.IGNORECASE
)
_SELF = re.compile(r"\b(I|We)(?:,|\s+the\s+undersigned,?)\s+(?:the\s+undersigned,?\s+)?")
_OWES_ME = re.compile(r"\b(?:owed?|owing|pay|payable|repay)\b[^.;]{0,40}\bto\s+(?:me|us),\s+(?=[A-ZÀ-Þ])")
_GUARANTEES = re.compile(
    r"\b(?:(?<!\bby[ \n])guarantees?|guaranteed|(?:will|shall|agrees?\s+to|has\s+agreed\s+to)\s+(?:unconditionally\s+|irrevocably\s+)*guarantee|stands?\s+surety|stands?\s+as\s+(?:surety|cautioner|guarantor))\b",
    re.IGNORECASE,
)
_GUARANTEED_BY = re.compile(
    r"\b(?:guaranteed|guarantee(?:\s+(?:given|granted|made))?|guaranty(?:\s+(?:given|granted|made))?)\s+(?:in full\s+)?(?:by|of|from)\s+(?=[A-ZÀ-Þ])",
    re.IGNORECASE,
)
_PAY_WORDS = re.compile(
    r"\b(?:promise|agree|undertake)s?\s+to\s+(?:re)?pay|\bborrow|\breceived\b|\bowe\b|\backnowledge|\bindebted",
    re.IGNORECASE,
)
_LEND_WORDS = re.compile(r"\b(?:lend|lent|lending|advance|loaned)\b", re.IGNORECASE)
_NOT_PARTY = re.compile(
    r"\b(?:former|previous|existing|prior|witness\w*|solicitors?|notary|attorneys?|counsel|guarantee[ds]? (?:to|by)|(?:registered|licen[sc]ed|supervised|regulated|entered|enrolled|authori[sz]ed) (?:with|by|in|at|on) (?:the )?(?:\w+ (?:for|of) (?:the )?)?|dealer|assigned to|transferred? to|sold to|represented\b[^.;()]{0,60}\bby|(?:represented|signed|acting) by(?: its| his| her)?(?: [a-z]+){0,5},?|signed by|acting by|By:|Per:|Attn\.?:?)\s*[:,]?\s*$",
    re.IGNORECASE,
)
_NUMBERING = re.compile(
    r"^[\s|>*#_•–—-]*(?:Q\.?\s?\d{1,2}\s*[.:)]\s*|(?:PART|Part|SECTION|Section|BOX|Box|ARTICLE|Article|Schedule|SCHEDULE|Item|ITEM|Line|Field)\s+\w{1,4}\s*[:.–—-]*\s*|"
    r"\(?(?:\d{1,2}(?:\.\d{1,2})*|[A-Za-z]|[ivx]{1,4})[.)]\s+|\d{1,2}\s+)?[\s|>*#_]*"
)
_BORROWING = re.compile(
    r"\b(?:borrow\w*|who (?:\w+ )?(?:must|will|shall|is to|has to) (?:re)?pay|owes?|debtor|takes? the (?:loan|money))\b",
    re.IGNORECASE,
)
_LENDING = re.compile(r"\b(?:lend\w*|lent|who advances?|is owed|creditor|gives? the (?:loan|money))\b", re.IGNORECASE)
_LENDING_HOUSES = frozenset(["bank", "credit union", "building society", "trust company"])
_BANK_TERMS = _LENDING_HOUSES | {"the bank", "issuing bank", "lending bank", "savings bank"}
_INSTITUTIONAL = _LENDING_HOUSES | {"society", "company"}
_SPOKEN_OF = re.compile(
    r"\((?:hereinafter\s+)?[\"“‘']?(you|we|us|me|I)[\"”’']?(?:\s*(?:,|and|or)\s*[\"“‘']?\w+[\"”’']?)*\)", re.IGNORECASE
)
_WHO_IS = re.compile(r"who (?:is|are) (?:the |your |my )?(\w+(?: \w+)?)")
_WHO_DOES = re.compile(r"(who (?:lends|is lending|borrows|is borrowing|owes))\b(?: [a-z]+){0,4}")
_KIN = re.compile(r"(?:Your|My|Our|The) [a-z]+(?: [a-z]+)?, (?=[A-ZÀ-Þ])")
_NEXT_LINE = re.compile(r"[ \t]*\n[ \t]*(?=[A-ZÀ-Þ])")
_TERM_ONLY = re.compile(r"(?:^|[\d,.]\s*)\((?:the\s+)?[\"“][^)]*\)\s*$|^[^(]*\)\s*$|^\([^()]*\)\s*$")
_BLANK = re.compile(r"[_.…\s]{3,}")
_DESCRIBES = re.compile(
    r"\s*[,(–—-]|\s+(?:of|an?|residing|whose|with|is|trading|t/a)\b|[ \t]*\n[ \t(]*(?:Registered|Licen[sc]ed|Authori[sz]ed|Incorporated|Regulated|Creditor|Credit|Lender|An?)\b",
    re.IGNORECASE,
)
_DESCRIPTION_END = re.compile(
    r"\n\s*\n|\n(?=[ \t]*[A-Z][\w ()/-]{1,30}(?::|[ ]{2,}))|(?<=[a-z0-9)])[.;]\s+[A-Z]|,?\s+and\s+the\s+[a-z]+\s+is\b|\((?:the|hereinafter|\"|“)|\b(?:promises?|acknowledges?|owes?|agrees?|undertakes?|lends?|borrows?|shall|will|order of|in favou?r of)\b"
)
_AFTER_VALUE = re.compile(r"\s*(?:[,;(]|$|\n|-|–|—|\s{2}|of\b|with\b|a\b|an\b|\.\s)")

_OFFICE = re.compile(
    r"[ \t]*,[ \t]*\n?[ \t]*(?:(?:Senior|Vice|Assistant|Executive|Managing|Branch|Deputy|Regional|Chief|Loan|Credit|Authori[sz]ed)[ -])*"
    r"(?:President|Manager|Officer|Director|Secretary|Treasurer|Cashier|MLO|Chair\w*|Attorney|Underwriter|Signatory|Executive|Head of)\b"
)
_TRADES_AS = re.compile(r",?\s+(?:d/?b/?a|t/as?|trading\s+as|doing\s+business\s+as)\b", re.IGNORECASE)
_YOU_DEFINED = re.compile(r"[\"“][Yy]ou[\"”]\s+(?:means?|is|are|refers? to)\b")


def find_parties(document: Document, *, by_meaning: bool = True, whole: bool = True) -> Parties:
    """The parties of `document`, best first by role. Offsets are into `document.text`.

    With `by_meaning` the judge of roles has a say wherever the ways of naming leave a doubt. A passage, which is not
    the `whole` document, need not name any party: it takes more evidence there.
    """
    text = document.text
    terms = Terms(text)
    sightings: list[Sighting] = []
    for start, stop in _regions(text):
        for finder in (_rows, _definitions, _statements, _called_parties, _appositions, _speakers):
            sightings.extend(finder(text, start, stop, terms))
    sightings.extend(own_hand(text, terms))
    if by_meaning:
        least = LEAST if whole else LEAST_IN_A_PASSAGE
        sightings = [
            replace(s, name=_joint(text, s.name, s.name.end + 80)) for s in weighed(text, terms, sightings, least)
        ]
    sightings = _spelled_out(text, sightings)
    ranked = _rank(text, sightings, terms)
    # Whoever signs for a party ("For the Bank: A. Name, Manager") is none.
    parties = {role: tuple(m for m in mentions if not _is_officer(text, m)) for role, mentions in ranked.items()}
    lending = [mention for mention in parties["borrower"] if _is_lender_called_you(text, mention)]
    return Parties(
        tuple(mention for mention in parties["borrower"] if mention not in lending),
        (*parties["lender"], *(replace(mention, role="lender") for mention in lending)),
        parties["guarantor"],
        terms.table(),
    )


_INITIALS = re.compile(
    r"((?:[A-ZÀ-Þ]\.?[ -]?){1,4}) ?((?:(?:van|von|de|der|bin|al|el|la|du|da|dos|di) ){0,2}[A-ZÀ-Þ][\w'’-]+)"
)


def _spelled_out(text: str, sightings: Sequence[Sighting]) -> list[Sighting]:
    """The sightings with each name as fully as the text gives it: initials spelled out, no beginning cut off."""
    longest: dict[int, Name] = {}
    for name in (sighting.name for sighting in sightings):
        if name.end not in longest or (name.start < longest[name.end].start and not name.text[0].isdigit()):
            longest[name.end] = name
    whole = [_owner(text, longest[sighting.name.end]) for sighting in sightings]
    return [replace(s, name=_without_initials(text, name)) for s, name in zip(sightings, whole, strict=True)]


_OWNED_BY = re.compile(
    r"\b(?:belong(?:s|ing)\s+to|(?:name|style|firm)\s+(?:of|under\s+which|used\s+by|registered\s+by)|deals?\s+with(?!\s+it\b)|owned\s+by|proprietor(?:\s+is|,|:)|carried\s+on\s+by)\s+(?=[A-ZÀ-Þ])"
)


_DIVISION = re.compile(
    r"[\"”]?[\s,(–—-]{1,8}(?:is\s+)?(?:an?|the)\s+(?:\w+\s+){0,2}?(?:division|branch|brand|department|business\s+unit|(?:trading|business|trade)\s+(?:name|style|arm))\s+of\s+(?=(?:the\s+)?[A-ZÀ-Þ])"
)


def _owner(text: str, name: Name) -> Name:
    """The person behind a trade name that the text explains: '"Quay Works" is a business name of Ida Roth'."""
    if has_form(name.text) or name.title or len(name.text.split()) > 5:
        return name
    division = _DIVISION.match(text, name.end)
    whole = name_at(text, division.end(), stop=division.end() + 120) if division else None
    if whole and _sure_party(whole):
        return whole
    spelled = r"\s+".join(map(re.escape, name.text.split()))
    explained = re.search(
        rf"[\"“]?{spelled}[\"”]?,?\s+(?:is|being)\s+(?:only\s+|merely\s+|just\s+)?(?:an?|the|his|her)\s+(?:\w+\s+){{0,2}}?(?:name|style|firm|sole\s+proprietorship)\b",
        text,
        re.IGNORECASE,
    )
    for match in _OWNED_BY.finditer(text, explained.end(), explained.end() + 420) if explained else ():
        person = name_at(text, match.end(), stop=match.end() + 80)
        if person and sure_person(person):
            return person
    return name


def _without_initials(text: str, name: Name) -> Name:
    """A name of initials and a surname as the one full name of the text that they fit; itself where none or several do."""
    short = _INITIALS.fullmatch(name.text)
    if short is None:
        return _with_surname(text, name)
    initials = re.findall(r"[A-ZÀ-Þ]", short.group(1))
    given_pattern = r"\s+".join(rf"{initial}[\w'’-]+" for initial in initials)
    extra = r"(?:\s+[A-ZÀ-Þ][\w'’-]+)?" if len(initials) == 1 else ""
    surname = short.group(2)
    pattern = rf"\b{given_pattern}{extra}\s+(?:{re.escape(surname)}|{re.escape(surname.upper())})\b(?![-'’]\w)"
    full_names = {_key(match.group()): match for match in reversed(list(re.finditer(pattern, text)))}
    if len(full_names) != 1:
        return name
    (match,) = full_names.values()
    return Name(match.start(), match.end(), " ".join(match.group().split()), name.title)


def _with_surname(text: str, name: Name) -> Name:
    """A bare first name as the one full name that the text gives it; itself where none or several do."""
    if " " in name.text or built_kind(name.text) != "natural_person":
        return name
    full_names: dict[str, Name] = {}
    for match in re.finditer(rf"(?<![\w'’-]){re.escape(name.text)}(?=[ ][A-ZÀ-Þ])", text):
        longer = name_at(text, match.start(), stop=match.start() + 80, wrap=False)
        if longer and longer.start == match.start() and could_be_person(longer.text):
            full_names.setdefault(_key(longer.text), longer)
    return next(iter(full_names.values())) if len(full_names) == 1 else name


def _is_officer(text: str, mention: PartyMention) -> bool:
    last_word = mention.name.split()[-1]
    offset = text.rfind(last_word, mention.start, mention.end + len(last_word))
    return offset >= 0 and _OFFICE.match(text, offset + len(last_word)) is not None


def _is_lender_called_you(text: str, mention: PartyMention) -> bool:
    """In a contract that a borrower speaks ("I promise"), "you" is the institution that lends."""
    definition = _YOU_DEFINED.search(text, mention.start, mention.end)
    return definition is not None and mention.kind in ("financial_institution", "government")


def _regions(text: str) -> tuple[tuple[int, int], ...]:
    """Spans in which parties are named: all of a short text; the opening and the end of a long one."""
    if len(text) <= 60_000:
        return ((0, len(text)),)
    return ((0, 40_000), (len(text) - 15_000, len(text)))


# --- words of roles ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _is_statement() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w-])(?:the\s+|my\s+|our\s+|your\s+)?(?:(?:sole|only|named|principal|main)\s+)?[\"“']?({certain_terms()})[\"”']?(?:\s+(?:under|in|of|for)\s+(?:this|the|these)\s+(?:\w+\s+){{0,2}}?\w+)?"
        r"(?:\s+(?:is|are|shall\s+be|means|shall\s+mean|refers\s+to|being)[:,]?\s+|\s*[,–—]\s*|\s+(?:named\s+|called\s+)?)(?=(?:the\s+)?[\"“]?[A-ZÀ-Þ])",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def _is_role() -> re.Pattern[str]:
    return re.compile(
        rf"\s*(?:,\s*|\s+(?:is|are|acts\s+as|shall\s+be|being)\s+)(?:hereby\s+)?(?:the|as|as\s+the)\s+(?:sole\s+)?({certain_terms()})(?![\w-])(?!\s*['’]s)",
        re.IGNORECASE,
    )


def _label_role(label: str, terms: Terms) -> tuple[Role, bool, str] | None:
    """The role a row's label names, whether it is certain, and the term; None for any other label."""
    plain = re.sub(r"\(s\)|[\"“”*_#\[\]?]", "", label.lower())
    plain = re.sub(r"['’]s\b|s['’](?=\s)|\bno\.?\s*\d|\d+", " ", plain).replace("(", " / ").replace(")", " ")
    if len(plain) > 60:
        return None
    who_is = _WHO_IS.fullmatch(plain.strip())
    if who_is and (role := terms.role(who_is.group(1))):
        return role, True, ""
    if who_does := _WHO_DOES.fullmatch(plain.strip()):
        return role_words().get(who_does.group(1), ("borrower", True))[0], True, ""
    best: tuple[Role, bool, str] | None = None
    whole = " ".join(plain.split()).strip(" .:")
    if singular(whole) not in role_words():
        whole = " ".join(w for w in plain.split() if w not in _NOISE)
    if singular(whole) in role_words():
        role, certain = role_words()[singular(whole)]
        return (role if certain else terms.role(whole) or role), certain, whole
    for piece in re.split(r"\s*(?:/|,|&|\band\b|\bor\b|\s-\s)\s*", plain):
        core = " ".join(w for w in piece.strip(" .:").split() if w not in _NOISE)
        if not core:
            continue
        entry = role_words().get(singular(core))
        if entry is None:
            return None
        role, certain = entry
        if best is None or (certain and not best[1]):
            best = ((role if certain else terms.role(core) or role), certain, core)
    return best


# --- ways of naming --------------------------------------------------------------------------------------------


def _rows(text: str, start: int, stop: int, terms: Terms) -> Iterator[Sighting]:
    """Rows "Borrower: X", labels with the value below, blocks with a "Name:" row, and cells of a table."""
    lines = list(lines_of(text, start, stop))
    for number, (line_start, line) in enumerate(lines):
        if not line.strip():
            continue
        for cell, (begin, end) in enumerate(cells := list(cells_of(line, line_start))):
            piece = text[begin:end]
            lead = _NUMBERING.match(piece)
            offset = lead.end() if lead else 0
            label, colon, _ = piece[offset:].partition(":")
            role = _label_role(label, terms) if len(label) < 64 and not _TERM_ONLY.search(label) else None
            if role is None:
                role = _described_label(text, begin + offset, end)
                colon = ":" if role else ""
            if role is None or (role[2] in _PRONOUNS and not (colon or cell + 1 < len(cells))):
                continue
            value = begin + offset + len(label) + 1
            weight = (10.0 if role[1] else 8.0) - (
                3.0 if role[2].startswith("co-") else 2.5 if role[2].startswith("cardholder") else 0.0
            )
            weight -= 2.0 if begin > max(20_000, 0.5 * len(text)) else 0.0
            late = begin > 0.8 * len(text)
            if colon and text[value:end].strip(" *_|\t"):
                for sighting in _named_in(
                    text, value, end, role, weight, terms, wrap_to=_wrapped(lines, number, cell, cells)
                ):
                    signs = late and built_kind(sighting.name.text) == "natural_person"
                    yield replace(sighting, weight=sighting.weight - 4.5) if signs else sighting
            elif cell == 0 and not colon and role[0] == "guarantor" and _is_header(text, cells):
                yield from _column(text, lines, number, role, weight - 1.0, terms)
            elif cell + 1 < len(cells) and not colon:
                yield from _named_in(text, *cells[cell + 1], role, weight - 1.0, terms)
            elif cell == 0 or colon:
                yield from _below(text, lines, number, role, weight if colon else weight - 2.5, terms)


def _is_header(text: str, cells: list[tuple[int, int]]) -> bool:
    """Recognise a row that is a table's header: three cells or more, and the second names nobody."""
    if len(cells) < 3:
        return False
    name = name_at(text, cells[1][0], stop=cells[1][1], wrap=False)
    return name is None or built_kind(name.text) is None


def _column(
    text: str, lines: list[tuple[int, str]], number: int, role: tuple[Role, bool, str], weight: float, terms: Terms
) -> Iterator[Sighting]:
    """The names in the first column of a table, down to the first empty line."""
    for line_start, line in lines[number + 1 : number + 12]:
        cells = list(cells_of(line, line_start))
        if not cells:
            return
        for sighting in _named_in(text, *cells[0], role, weight, terms):
            if built_kind(sighting.name.text) is not None:
                yield sighting


def _described_label(text: str, start: int, end: int) -> tuple[Role, bool, str] | None:
    """The role of a line such as "The one who borrows and who alone must pay:", which names its party below."""
    line = text[start:end].strip(" *_")
    if not line.endswith(":") or not 12 < len(line) < 80 or ":" in line[:-1] or "’s" in line or "'s" in line:
        return None
    borrowing, lending = _BORROWING.search(line), _LENDING.search(line)
    if bool(borrowing) == bool(lending) or re.search(
        r"\b(?:agree|follow|must:|shall:|will:|may:|represent|information)", line, re.IGNORECASE
    ):
        return None
    return ("borrower" if borrowing else "lender"), False, ""


def _wrapped(lines: list[tuple[int, str]], number: int, cell: int, cells: list[tuple[int, int]]) -> int | None:
    """End of the next line, where a row's value may run on: only the last cell of a line, before an indented line."""
    if cell != len(cells) - 1 or number + 1 >= len(lines):
        return None
    line_start, line = lines[number + 1]
    return line_start + len(line) if line.strip() and ":" not in line else None


def _below(
    text: str, lines: list[tuple[int, str]], number: int, role: tuple[Role, bool, str], weight: float, terms: Terms
) -> Iterator[Sighting]:
    """The value under a label that stands alone, or in the "Name:" row of its block."""
    line_count = 0
    heading = re.search(r"signature|signed|execut", lines[number][1], re.IGNORECASE)
    for line_start, line in lines[number + 1 : number + 14]:
        if not line.strip(" _*|-"):
            continue
        line_count += 1
        line_end = line_start + len(line)
        named = re.match(
            r"[\s*#|-]*(?:full |legal |registered )?names?(?: of \w+)?(?:\s*[:|]|\s*\.{3,}|\s{2,})\s*",
            line,
            re.IGNORECASE,
        )
        if named and line_count <= 3:
            yield from _named_in(text, line_start + named.end(), line_end, role, weight, terms)
            return
        if line_count == 1:
            if ":" in line[:40] or _label_role(line.strip(" *#:"), terms):
                continue
            if line.lstrip().startswith("#") or (role[2] == "undersigned" and _ENUMERATES.match(line)):
                return
            next_end = text.find("\n", line_end + 1)
            wrap_to = next_end if next_end > 0 else None
            sighting = next(_named_in(text, line_start, line_end, role, weight, terms, wrap_to=wrap_to), None)
            if sighting and (
                sighting.name.text.endswith(".") or _AFTER_VALUE.match(text[sighting.name.end : sighting.name.end + 12])
            ):
                yield sighting
                return
            if not heading:
                return
        if heading and line_count > 1:
            signer = next(_named_in(text, line_start, line_end, role, weight - 2.0, terms), None)
            if (
                signer
                and re.match(r"\s*(?:,|$|\n)", text[signer.name.end : signer.name.end + 4])
                and built_kind(signer.name.text)
            ):
                yield signer
                return
        if line_count >= 6:
            return


def _named_in(
    text: str,
    start: int,
    end: int,
    role: tuple[Role, bool, str],
    weight: float,
    terms: Terms,
    *,
    wrap_to: int | None = None,
) -> Iterator[Sighting]:
    """The party named at the start of a row's value, if any."""
    while blank := _BLANK.match(text, start, end):
        start = blank.end()
    kin = _KIN.match(text, strip_span(text, start, end)[0], end)
    start = kin.end() if kin else start
    name = name_at(text, start, stop=end, wrap=False)
    if wrap_to and (name is None or (built_kind(name.text) is None and any(c.isdigit() for c in text[start:end]))):
        name = name_at(text, end, stop=wrap_to, wrap=False)
        if name and built_kind(name.text) is not None:
            yield Sighting(role[0], name, weight - 0.5, (name.end, name.end), role[2])
        return
    if name is None:
        return
    if wrap_to and name.end >= end - 1:
        longer = name_at(text, start, stop=wrap_to)
        is_whole = has_form(name.text) or sure_person(name)
        if longer and longer.end > name.end and has_form(longer.text) and not is_whole:
            name = longer
    if (
        wrap_to
        and office_pattern().match(text[name.end : name.end + 80])
        and built_kind(name.text) in (None, "natural_person")
    ):
        return
    if not is_party(name, terms) or text[start : name.start].strip(" \t\r\n\"“”‘'*_#>|:-–—•[]") not in (
        "",
        "the",
        "The",
        "THE",
        name.title,
    ):
        return
    name = _joint(text, name, end)
    if role[2] in _INSTITUTIONAL and built_kind(name.text) == "natural_person":
        weight -= 5.0  # whoever signs for the bank
    spoken = _SPOKEN_OF.search(text, name.end, end)
    spoken_role = terms.role(spoken.group(1)) if spoken else None
    yield Sighting(spoken_role or role[0], name, weight, (name.end, min(len(text), name.end + 240)), role[2])


def _definitions(text: str, start: int, stop: int, terms: Terms) -> Iterator[Sighting]:  # noqa: PLR0912 -- one way of naming per branch
    """Names with a term of their own: X, a Delaware corporation (the "Borrower"); X, hereinafter called the Lender."""
    unknown = 0
    for match in _BRACKETS.finditer(text, start, stop):
        inside = match.group(1) or match.group(2)
        if _belongs_to_label(text, match.start(), match.end()):
            for term in (" ".join(t.split()) for t in _QUOTED.findall(inside)):
                if labelled := _label_role(_label_before(text, match.start()), terms):
                    terms.define(term, labelled[0])
            continue
        quoted = [" ".join(t.split()) for t in _QUOTED.findall(inside)]
        plain = None if quoted else _UNQUOTED.match(inside)
        defined_terms = quoted or ([plain.group(1)] if plain and _names_a_role(plain.group(1), inside) else [])
        if not defined_terms:
            continue
        role_terms = [t for t in defined_terms if singular(t) in role_words()]
        if (
            not role_terms
            and not any(role_words().get(singular(t.split()[0])) for t in defined_terms)
            and (unknown > 14 or match.start() > start + 25_000)
        ):
            continue
        if plain and _caption_line(text, match.start(), match.end()):
            continue
        names = (_adjacent(text, match.start(), terms) if plain else []) or _names_before(
            text, match.start(), terms, several=bool(re.search(r"collectively|together|jointly|each|s[\"”’']", inside))
        )
        if not names:
            continue
        unknown += not role_terms
        for term in defined_terms:
            role = terms.role(term)
            if role is None:
                continue
            certain = terms.certain(term) is not None
            terms.define(term, role)
            for order, name in enumerate(names):
                yield Sighting(role, name, (9.0 if certain else 6.0) - 0.6 * order, (name.end, match.start()), term)
    for match in _CALLED.finditer(text, start, stop):
        term = match.group(1)
        role = terms.certain(term) or terms.certain(term.split()[0])
        if role is None and term[0].isupper() and " ".join(plain_words(term)) in terms.quoted:
            role = terms.role(term)
        elif role is None and term[0].isupper():
            role = terms.use(term)
        if role:
            for order, name in enumerate(_names_before(text, match.start(), terms, several=True)[:3]):
                terms.define(term, role)
                yield Sighting(role, name, 8.0 - 0.6 * order, (name.end, match.start()), term)


def _names_a_role(term: str, inside: str) -> bool:
    """Detect a role in brackets without quotation marks: "(Borrower)", or with an article "(the Client)"."""
    role, certain = role_words().get(singular(term), (None, False))
    return role is not None and (certain or (inside.lower().startswith("the ") and term[0].isupper()))


def _adjacent(text: str, at: int, terms: Terms) -> list[Name]:
    """The name that fills the line up to brackets holding a role only: "Ana Ruiz (Borrower)"."""
    start = text.rfind("\n", 0, at) + 1
    name = name_at(text, start, stop=at, wrap=False)
    if name is None or text[name.end : at].strip() or text[start : name.start].strip(" _\t*") not in ("", name.title):
        return []
    return [name] if is_party(name, terms) else []


def _caption_line(text: str, start: int, end: int) -> bool:
    """Return True where brackets with a role stand alone on their line, as captions under signatures do."""
    following = text.find("\n", end)
    return not _label_before(text, start) and not text[end : len(text) if following < 0 else following].strip()


def _label_before(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : at].strip(" \t*_|#")


def _belongs_to_label(text: str, start: int, end: int) -> bool:
    """Return True where brackets follow a row's label, as in 'Client ("you"): …', and not a name."""
    label = _label_before(text, start)
    return (
        bool(label)
        and len(label) < 40
        and singular(label) in role_words()
        and bool(re.match(r"[ \t]*[:|]|[ \t]{2,}\S", text[end : end + 8]))
    )


def _names_before(text: str, at: int, terms: Terms, *, several: bool = False, since: int = 0) -> list[Name]:  # noqa: PLR0912 -- each branch refuses one sort of false name
    """The party (or parties) whose description ends at `at` and begins at `since` or later."""
    floor = max(0, at - 700, since)
    window = text[floor:at]
    cut = 0
    for bracket in _BRACKETS.finditer(window):
        plain = _UNQUOTED.match(bracket.group()[1:-1])
        if _QUOTED.search(bracket.group()) or (plain and terms.certain(plain.group(1))):
            cut = bracket.end()
    for stop in _SENTENCE_END.finditer(window, cut):
        cut = stop.end()
    begins = {floor + cut + _blanks(window, cut)}
    begins.update(
        floor + lead.end() + _blanks(window, lead.end())
        for lead in _LEADS.finditer(window, cut)
        if lead.end() < len(window)
    )
    for begin in () if several else sorted(begins, reverse=True):
        name = name_at(text, begin, stop=at)
        if (
            name is None
            or text[name.end : at].strip(" ,\n\t")
            or not (has_form(name.text) or built_kind(name.text) == "financial_institution")
        ):
            continue
        before = text[max(floor, name.start - 60) : name.start]
        if (
            name.start - begin <= 12
            and is_party(name, terms)
            and not _RELATED.search(before)
            and not _NOT_PARTY.search(before)
            and not _in_address(text, name)
        ):
            return [_longest(text, name, begins, at)]
    for begin in sorted(begins):
        name = name_at(text, begin, stop=at)
        if (
            name is None
            or name.start - begin > 12
            or not is_party(name, terms)
            or not (_TAIL.match(text[name.end : at]) or (several and _NEXT_LINE.match(text, name.end, at)))
        ):
            continue
        if _NOT_PARTY.search(text[max(0, name.start - 90) : name.start]) or _in_address(text, name):
            continue
        single = " " not in name.text and not name.title and not has_form(name.text)
        if single and (text[name.end : at].strip() or _IN_A_NAME.search(text[max(0, name.start - 30) : name.start])):
            continue
        if re.search(
            r"\b(?:order of|between|among|promises? to pay|owes?|acknowledges?|to pay|lends?|undertakes?)\s",
            text[name.end : at],
        ):
            continue
        if (
            _LABELLED.search(text[name.end : at])
            or _NEW_PARAGRAPH.search(text[name.end : at])
            or (begin > 0 and _ENUMERATED.match(name.text) and floor + cut < begin)
        ):
            continue
        name = _joint(text, name, at)
        further = _further(text, name.end, at, terms)
        if (
            further
            and not several
            and built_kind(name.text) != "natural_person"
            and not text[further[-1].end : at].strip(" ,\n")
        ):
            return further[-1:]
        return [name, *(further if several else [])]
    return []


def _longest(text: str, name: Name, begins: set[int], at: int) -> Name:
    """The name that ends where `name` does and begins first: "of", "and" may stand inside it."""
    for begin in sorted(b for b in begins if b < name.start):
        longer = name_at(text, begin, stop=at)
        if longer and longer.end == name.end and longer.start - begin <= 12 and not longer.text[0].isdigit():
            return longer
    return name


def _blanks(text: str, start: int) -> int:
    """Blanks, and the letter or number of an item ("A. ", "(1) "), before the words at `start`."""
    lead = _ITEM.match(text, start)
    return lead.end() - start if lead else 0


def _further(text: str, start: int, stop: int, terms: Terms) -> list[Name]:
    """More names of a list: ", Y, Inc. and Z LLC"."""
    names: list[Name] = []
    while len(names) < 20:
        gap = re.compile(r"[,;]?\s*(?:and\s+|&\s+)?").match(text, start, stop)
        name = name_at(text, gap.end() if gap else start, stop=stop)
        if name is None or name.start - start > 12 or built_kind(name.text) is None or not is_party(name, terms):
            return names
        if built_kind(name.text) == "natural_person" and len(name.text.split()) < 2:
            return names
        names.append(name)
        start = name.end
    return names


def _joint(text: str, name: Name, stop: int) -> Name:
    """Two people named in one breath, "Ana and Luis Ortega", as one name; otherwise the name itself."""
    link = re.compile(r"\s+(?:and|&)\s+(?=[A-ZÀ-Þ])").match(text, name.end, stop)
    if not link or built_kind(name.text) not in (None, "natural_person"):
        return name
    second_name = name_at(text, link.end(), stop=stop)
    if second_name is None or " " not in second_name.text or built_kind(second_name.text) != "natural_person":
        return name
    if " " not in name.text and built_kind(name.text + " X") != "natural_person":
        return name
    name_words, second_words = name.text.split(), second_name.text.split()
    if len(name_words) > 2 and len(second_words) > 2 and name_words[-1] != second_words[-1]:
        return name  # two whole names: the first is the party's, the other a further party's
    return Name(name.start, second_name.end, " ".join(text[name.start : second_name.end].split()), name.title)


def _in_address(text: str, name: Name) -> bool:
    """Return True where a name without a form of its own stands as the town of an address."""
    if has_form(name.text):
        return False
    if _BEFORE_TOWN.search(text[max(0, name.start - 20) : name.start]):
        return True
    return bool(
        _POSTCODE.match(text[name.end : name.end + 40]) or _STREET.search(text[max(0, name.start - 60) : name.start])
    )


def _begins_a_name(match: re.Match[str]) -> bool:
    """Return True where a role word stands right before a name without an article, as in "Bank Lambert NV"."""
    bare = match.group() == match.group(1) + " " and match.group()[0].isupper()
    return bare and singular(match.group(1)) in _BANK_TERMS


def _statements(text: str, start: int, stop: int, terms: Terms) -> Iterator[Sighting]:
    """ "The Lender is X", "the borrower, X", '"Lender" means X', "X is the lender"."""
    for match in _is_statement().finditer(text, start, stop):
        role = terms.certain(match.group(1))
        linked = bool(re.search(r"\b(?:is|are|be|means?|to|being)\W*$", match.group()[match.end(1) - match.start() :]))
        inside = re.search(r"[A-Z&][\w'’&-]*[ \n]$", text[max(0, match.start() - 30) : match.start()])
        if role is None or inside or is_asked(text, match.end()) or _begins_a_name(match):
            continue
        name = _party_after(text, match.end(), stop, terms)
        if name is None or not _has_sure_kind(name):
            continue
        if not linked and not (match.group(1)[0].isupper() or match.group().lower().startswith("the")):
            continue
        if not linked and (
            name.text.isupper() or not _TAIL.match(text[name.end : name.end + 20]) or " " not in name.text
        ):
            continue
        name = _joint(text, name, min(stop, name.end + 80))
        yield Sighting(role, name, 8.5 if linked else 3.5, (name.end, min(stop, name.end + 200)), match.group(1))
    for match in _SPOKEN.finditer(text, start, stop):
        group = [" ".join(t.split()) for t in _QUOTED.findall(match.group(1))]
        role = next((r for t in group if (r := terms.certain(t))), None) or next(
            (r for t in group if (r := terms.role(t))), None
        )
        name = _party_after(text, match.end(), stop, terms)
        if role and name:
            for term in group:
                terms.define(term, role)
            yield Sighting(
                role, _joint(text, name, name.end + 80), 8.0, (name.end, min(stop, name.end + 200)), group[0]
            )
    for match in _is_role().finditer(text, start, stop):
        role = terms.certain(match.group(1))
        before = _LAST_WORD.search(text, max(0, match.start() - 40), match.start())
        if (
            before is None
            or (before.group(1).islower() and len(before.group(1)) > 4)
            or is_common(before.group(1).lower())
        ):
            continue
        names = _names_before(text, match.start(), terms) if role else []
        if role and names and match.start() - names[0].end < 200 and _near(text, names[0].end, match.start()):
            yield Sighting(
                role, names[0], 6.0 if " is" in match.group() else 4.0, (names[0].end, match.start()), match.group(1)
            )


def _called_parties(text: str, start: int, stop: int, terms: Terms) -> Iterator[Sighting]:
    """ "The Giver is X", where the document has put its own term in quotation marks and uses it as a role."""
    for match in _TERM_IS.finditer(text, start, stop):
        term = match.group(1)
        if " ".join(plain_words(term)) not in terms.quoted or terms.certain(term) or is_asked(text, match.end()):
            continue
        name = _party_after(text, match.end(), stop, terms)
        role = terms.role(term)
        if name and role and _sure_party(name):
            yield Sighting(role, name, 8.5, (name.end, min(stop, name.end + 200)), term)


_TERM_IS = re.compile(r"\b[Tt]he\s+([A-Z][\w-]+)\s+is\s+(?=[A-ZÀ-Þ])")
_APPOSED = re.compile(
    r"\b(?:between|and|by|seal\s+of)\s+(?:the\s+(?:[A-Za-z]+\s+and\s+)?(?P<term>[A-Z]\w+(?:\s[A-Z]\w+)?|borrower|lender)|(?P<me>me|us)),\s+(?=[A-ZÀ-Þ])"
)
_LENT_BY_ME = re.compile(r"\b(?:lent|advanced)\s+by\s+(?:me|us)\b|\b(?:owed|owing|repaid|payable)\s+to\s+(?:me|us)\b")


def _appositions(text: str, start: int, stop: int, terms: Terms) -> Iterator[Sighting]:
    """ "between … and the Member, X", "signed by the Borrower, X", "issued by me, X, who lend"."""
    for match in _APPOSED.finditer(text, start, stop):
        name = _party_after(text, match.end(), stop, terms)
        if (
            name is None
            or built_kind(name.text) is None
            or not re.match(r"\s*[,.(;]|\s*$", text[name.end : name.end + 8])
        ):
            continue
        if match["term"]:
            role = terms.role(match["term"])
        else:
            following = text[name.end : name.end + 400]
            pays, lends = _PAY_WORDS.search(following), _LENT_BY_ME.search(following) or _LEND_WORDS.search(following)
            role = _speaker(pays, lends)
        if role:
            yield Sighting(role, name, 7.0, (name.end, min(stop, name.end + 240)), match["term"] or "")


def _near(text: str, start: int, end: int) -> bool:
    """Return True where a name's description, if any, is all that stands between."""
    between = text[start:end]
    return not between.strip() or (between.lstrip().startswith(("(", ",")) and "\n\n" not in between)


def _speakers(text: str, start: int, stop: int, terms: Terms) -> Iterator[Sighting]:
    """Find those who say "I, X, promise to pay", are "me, Y", sign as the undersigned, or guarantee."""
    yield from _subjects(text, _GUARANTEES, "guarantor", start, stop, terms)
    after: tuple[tuple[re.Pattern[str], Role, float], ...] = (
        (_UNDERSIGNED, "borrower", 6.5),
        (_OWES_ME, "lender", 6.0),
        (_GUARANTEED_BY, "guarantor", 5.0),
    )
    for pattern, role, weight in after:
        for match in pattern.finditer(text, start, stop):
            yield from _after(text, match.end(), role, weight, terms, stop)
    for match in _SELF.finditer(text, start, stop):
        name = _party_after(text, match.end(), stop, terms)
        if name is None:
            continue
        sentence = text[name.end : name.end + 400]
        speaks = _speaker(_PAY_WORDS.search(sentence), _LEND_WORDS.search(sentence))
        if speaks is not None:
            terms.define(match.group(1) if match.group(1) == "I" else "we", speaks)
            yield Sighting(speaks, _joint(text, name, name.end + 80), 7.0, (name.end, name.end + 200), match.group(1))


def _subjects(text: str, verb: re.Pattern[str], role: Role, start: int, stop: int, terms: Terms) -> Iterator[Sighting]:
    """The names that are subjects of a verb, with the role it gives them."""
    for match in verb.finditer(text, start, stop):
        window = text[max(0, match.start() - 320) : match.start()]
        defined = re.search(r"\)\s*,?\s*(?:hereby\s+|jointly and severally,?\s+|unconditionally\s+|and\s+)*$", window)
        subject_end = match.start() if not defined else match.start() - len(window) + window.rfind("(")
        names = [] if is_asked(text, match.end()) else _names_before(text, subject_end, terms)
        if (
            names
            and not _NEW_PARAGRAPH.search(text[names[0].end : match.start()])
            and _subject(text[names[0].end : subject_end])
        ):
            yield Sighting(role, names[0], 6.0, (names[0].end, match.start()))


def _speaker(pays: re.Match[str] | None, lends: re.Match[str] | None) -> Role | None:
    """The role of someone who says "I": by whichever comes first, paying back or lending."""
    if lends and (not pays or lends.start() < pays.start()):
        return "lender"
    return "borrower" if pays else None


def _subject(between: str) -> bool:
    """Return True where only a description, not another clause, stands between a subject and its verb."""
    plain = between.strip()
    adverbs = r"(?:hereby|also|unconditionally|absolutely|jointly|and|severally|for|value|received|today|of [^.;]{0,120}|,|\s)*"
    return len(plain) <= 260 and (plain[:1] in (",", "(") or bool(re.fullmatch(adverbs, plain, re.IGNORECASE)))


def _after(text: str, at: int, role: Role, weight: float, terms: Terms, stop: int) -> Iterator[Sighting]:
    name = _party_after(text, at, stop, terms, reach=160)
    if name is None or is_asked(text, at) or not _has_sure_kind(name):
        return
    if name.text.isupper() and len(name.text.split()) > 7:
        return
    if role == "borrower" and built_kind(name.text) == "financial_institution":
        weight -= 2.5
    if not _TAIL.match(text[name.end : name.end + 24]) and text[name.end : name.end + 1] not in '."”':
        weight -= 1.0
    name = _joint(text, name, min(stop, name.end + 80))
    yield Sighting(role, name, weight, (name.end, min(stop, name.end + 160)))


def _party_after(text: str, start: int, stop: int, terms: Terms, *, reach: int = 140) -> Name | None:
    """The party named at `start`, if only blanks, a quotation mark, an article or a title stand before its name."""
    name = name_at(text, start, stop=min(stop, start + reach))
    if name is None or not is_party(name, terms):
        return None
    lead = text[start : name.start].strip(" \t\r\n\"“„‘'*_")
    return name if lead in ("", "the", "The", "THE", name.title, f"the {name.title}") else None


def _has_sure_kind(name: Name) -> bool:
    """Return True where a name shows its kind, a person's beyond doubt."""
    kind = built_kind(name.text)
    return kind is not None and (kind != "natural_person" or sure_person(name))


def _sure_party(name: Name) -> bool:
    """Return True where a name is an organisation's by its form or a person's beyond doubt."""
    return has_form(name.text) or built_kind(name.text) in ("financial_institution", "government") or sure_person(name)


# --- ranking ---------------------------------------------------------------------------------------------------


def _key(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def _rank(text: str, sightings: Iterable[Sighting], terms: Terms) -> dict[Role, tuple[PartyMention, ...]]:
    """Names by role, best first: the strongest sighting counts, others add a little; a name keeps its better role."""
    groups: dict[tuple[str, Role], list[Sighting]] = {}
    for sighting in sightings:
        groups.setdefault((_key(sighting.name.text), sighting.role), []).append(sighting)
    scores = {key: _score(group) for key, group in groups.items()}
    roles: dict[str, list[Role]] = {}
    for name, role in groups:
        roles.setdefault(name, []).append(role)
    signs = PersonSigns(text, terms)
    result: dict[Role, tuple[PartyMention, ...]] = {"borrower": (), "lender": (), "guarantor": ()}
    likeliest = _likeliest_pair(scores)
    for role in result:
        keys = [
            k
            for k in groups
            if k[1] == role
            and (
                likeliest.get(role) == k[0]
                or (
                    k[0] not in likeliest.values()
                    and scores[k] > 0
                    and all(scores[k] >= scores[k[0], r] for r in roles[k[0]])
                )
            )
        ]
        keys.sort(key=lambda k: (k[0] != likeliest.get(role), -scores[k], min(s.name.start for s in groups[k])))
        result[role] = tuple(
            _mention(text, groups[k], [s for o in roles[k[0]] if o != role for s in groups[k[0], o]], signs)
            for k in keys
        )
    return result


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


def _mention(text: str, group: list[Sighting], elsewhere: list[Sighting], signs: PersonSigns) -> PartyMention:
    group = sorted(group, key=lambda s: (-s.weight, s.name.start))
    best = group[0]
    spelled = next((s.name.text for s in group if not s.name.text.isupper()), best.name.text)
    start, end = _passage(text, best.name.start, best.name.end)
    kind, where = _kind(text, [*group, *elsewhere], best.role, signs)
    kind_start, kind_end = _passage(text, *where) if where else (start, end)
    return PartyMention(best.role, spelled, kind, start, end, kind_start, kind_end)


def _kind(
    text: str, group: list[Sighting], role: Role, signs: PersonSigns
) -> tuple[PartyKind | None, tuple[int, int] | None]:
    """Return the kind that the text gives evidence of, None without any, and the span of what shows it."""
    name = group[0].name
    formed = party_kind(name.text, role=role)
    named = formed if formed != "natural_person" else None
    titled = next((s.name for s in group if s.name.title), None) if named != "financial_institution" else None
    trades = built_kind(name.text) == "natural_person" and any(_TRADES_AS.match(text, s.name.end) for s in group)
    if titled or trades:
        return "natural_person", (titled.start, titled.end) if titled else None
    for start, stop in _descriptions(text, group):
        cue = find_cue(text, start, stop)
        if cue is None:
            continue
        kind = party_kind(name.text, text[start:stop], role=role)
        if kind != named or kind == cue.kind:
            return kind, ((cue.start, cue.end) if kind == cue.kind else None)
    if role == "lender" and named in (None, "legal_entity") and any(s.term.lower() in _BANK_TERMS for s in group):
        return "financial_institution", None
    if named is not None:
        return named, None
    for sighting in group:
        by = re.match(r"\s*\n\s*(?:_{3,}\s*)?(?:By|Per)\s*:?\s*_", text[sighting.name.end : sighting.name.end + 80])
        if by:
            return "legal_entity", (sighting.name.start, sighting.name.end)
    shown = signs.of(group)
    return ("natural_person", shown) if shown else (None, None)


def _descriptions(text: str, group: list[Sighting]) -> Iterator[tuple[int, int]]:
    """Spans that may describe a party: the words after its name, and sentences that say what it is."""
    for sighting in group[:6]:
        start, stop = sighting.described
        between = text[start:stop]
        if _DESCRIBES.match(between):
            end = _DESCRIPTION_END.search(between)
            yield start, start + (end.start() if end else len(between))
    for term in sorted({s.term for s in group if s.term and s.term.lower() not in _PRONOUNS}):
        statement = re.search(rf"\b[Tt]he\s+{re.escape(term)}\s+is\s+(?=an?\b)", text[:60_000], re.IGNORECASE)
        if statement:
            stop = statement.end() + 120
            end = re.search(r"[.;\n]", text[statement.end() : stop])
            yield statement.end(), statement.end() + (end.start() if end else 120)


def _passage(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence or row around `[start, end)`, trimmed to `_MAX_PASSAGE` characters about it."""
    limit = _MAX_PASSAGE
    left = max(0, start - limit)
    before = text[left:start]
    cuts = re.finditer(r"\n\s*\n|[.;!?][)\"”]?\s+(?=[A-Z\"“(])|\n(?=[ \t]*[^\n:]{2,40}:)", before)
    line_start = before.rfind("\n") + 1
    uncut = 0 if left == 0 else line_start or len(before)
    begin = left + max((cut.end() for cut in cuts), default=uncut)
    after = text[end : end + limit]
    stop = re.search(r"\n\s*\n|(?<=[a-z0-9)%\"”])[.;!?][)\"”]?(?=\s|$)|\n(?=[ \t]*[^\n:]{2,40}:)", after)
    finish = end + (stop.end() if stop and not stop.group().startswith("\n") else stop.start() if stop else len(after))
    if finish - begin > limit:
        begin = max(begin, end - limit // 2) if start - begin > limit // 2 else begin
        begin = min(begin, start)
        finish = max(end, min(finish, begin + limit))
    return strip_span(text, begin, finish)
