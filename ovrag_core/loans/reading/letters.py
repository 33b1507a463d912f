# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Parties of letters and headed paper: who writes, to whom, and whose paper it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ovrag_core.loans.reading.names import Name, Role, built_kind, common_words, has_form, name_at, plain_words
from ovrag_core.loans.reading.sightings import (
    Sighting,
    Terms,
    alone_name,
    is_party,
    lines_of,
    office_pattern,
    sure_person,
)

_GREETING = re.compile(
    r"\b(?:Welcome|Dear|in the name of|opened for|To|[Pp]repared for|[Ii]ssued to)[,:]?\s+(?=[A-ZÀ-Þ])"
)
_ISSUED_BY = re.compile(
    r"\b(?:issued|offered|provided|granted|made|financed|extended|originated)\s+(?:to\s+you\s+)?by\s+(?=[A-ZÀ-Þ])",
    re.IGNORECASE,
)
_ACCEPTED = re.compile(r"\s*(?:I |We )?(?:agreed|accept|confirmed|acknowledg|read and)", re.IGNORECASE)
_CLOSING = re.compile(
    r"^[ \t]*(?:yours\b[^\n]{0,30}|(?:kind|best|warm|with (?:kind|best|warm))?\s*regards|sincerely[^\n]{0,20}|best wishes|with thanks[^\n]{0,40}|respectfully[^\n]{0,20}|cordially[^\n]{0,20}),?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ADDRESS = re.compile(r",[ ]+(?:\d|[^\n,]{3,40}(?:,[^\n,]{2,40}){0,4}$)", re.MULTILINE)
_SENT = re.compile(r"[ \t>]*(?:From|FROM|Cc|CC|Bcc|Subject|Date|Sent)[ \t]*:")
_ADVISER = re.compile(
    r"[\s,(–-]{1,6}(?:LLP\W+)?(?:Barristers?|Solicitors?|Attorneys?|Advocates?|Notar(?:y|ies)|Lawyers?|Counsel|Accountants?|Rechtsanw\w+|Avocats?|Abogados?)\b",
    re.IGNORECASE,
)
_ACTS_FOR = re.compile(r"\b(?:[Ww]e|I) act\b[^.;\n]{0,40}\bfor\b[^.;]{0,20}\b(?:lender|borrower|parties|both)\b")
_ACCEPTANCE = re.compile(
    r"^[ \t]*(?:[-~_=*]{8,}[ \t]*$|(?:For and on behalf of|Agreed|Accepted|I (?:agree|accept)|We (?:agree|accept)|Read and agreed)\b)",
    re.MULTILINE,
)
_I_LEND = re.compile(
    r"\bI\s+(?:(?:shall|will|can|have|hereby|now|agree\s+to|am\s+\w+\s+to)\s+){0,2}(?:lend|lent|advance)\b|\b(?:lends?|lent)\b[^.;]{0,90}\bis\s+(?:myself|me)\b|\b(?:owed?|owes|owing|repay)\b[^.;]{0,30}\bme\b"
)
_I_BORROW = re.compile(
    r"\bI\s+(?:(?:shall|will|hereby|now|promise\s+to|agree\s+to|undertake\s+to)\s+){0,2}(?:repay|borrow(?:ed)?|owe)\b|\b(?:lend|lent)\s+me\b"
)
_HEAD_NOUNS = frozenset(
    [
        "society",
        "foundation",
        "fund",
        "cooperative",
        "co-operative",
        "company",
        "corporation",
        "trust",
        "association",
        "institute",
        "union",
        "university",
        "college",
        "agency",
        "school",
        "council",
    ]
)


def letter_parties(text: str, terms: Terms) -> Iterator[Sighting]:
    """A letter's addressee borrows, its letterhead and signer lend; a bank at the head of any document lends."""
    greeting = re.search(r"^[ \t]*(?:Dear|DEAR)\b.*$", text[:6000], re.MULTILINE)
    head = text[: greeting.start()] if greeting else text[:700]
    letterhead = addressee = False
    called = _called(text, greeting)
    first = True
    for at, line in lines_of(head, 0, len(head)):
        if not line.strip():
            continue
        if _SENT.match(line):
            continue
        to = re.match(r"[ \t]*(?:To|TO)[ \t]*:?[ \t]+", line)
        opening, first = first and greeting is not None, False
        begin = at + (to.end() if to else 0)
        name = alone_name(text, begin, at + len(line), terms, described=bool(to) or opening) or _head_name(
            text, begin, at + len(line), terms
        )
        if name is None or _is_adviser(text, name):
            continue
        kind = built_kind(name.text)
        bank = kind in ("financial_institution", "government")
        after = (name.end, min(len(text), name.end + 200)) if to or opening else (name.end, name.end)
        if called & set(plain_words(name.text)) and kind == "natural_person" and not _company_below(head, name):
            addressee = True
            yield Sighting("borrower", name, 6.5, after)
        elif opening and not to and (kind is not None):
            letterhead = True
            yield Sighting("lender", name, 6.5, after)
        elif bank and (to or not letterhead):
            letterhead = True
            yield Sighting("lender", name, 3.0 if greeting or to else 2.0, after)
        elif (
            (greeting or to)
            and not addressee
            and (kind == "legal_entity" or (kind == "natural_person" and (sure_person(name) or to)))
            and (letterhead or to or at > 0)
        ):
            addressee = True
            yield Sighting("borrower", name, 6.5 if to and greeting else 3.0, after)
        elif kind == "legal_entity" and at < 300 and not greeting:
            yield Sighting("borrower", name, 0.5, (name.end, min(len(text), name.end + 200)))
    yield from _addressed(text, terms)
    yield from _closings(text, terms, bool(greeting))


def _head_name(text: str, start: int, stop: int, terms: Terms) -> Name | None:
    """A firm at the head of a paper whose line goes on with its address, or gives its name in two languages."""
    second = text.find(" / ", start, stop)
    for begin in (start, second + 3) if second >= 0 else (start,):
        name = name_at(text, begin, stop=stop, wrap=False)
        if (
            name
            and not text[begin : name.start].strip()
            and (has_form(name.text) or built_kind(name.text) == "financial_institution")
            and (begin != start or _ADDRESS.match(text, name.end))
            and is_party(name, terms)
        ):
            return name
    return None


def _addressed(text: str, terms: Terms) -> Iterator[Sighting]:
    """Whom a greeting or a heading addresses, and by whom something is issued."""
    for match in _GREETING.finditer(text[:6000]):
        name = name_at(text, match.end(), stop=match.end() + 80, wrap=False)
        if name and is_party(name, terms) and (built_kind(name.text) == "legal_entity" or sure_person(name)):
            yield Sighting("borrower", name, 2.5, (name.end, name.end))
    for match in _ISSUED_BY.finditer(text[:60_000]):
        name = name_at(text, match.end(), stop=match.end() + 100)
        if name and is_party(name, terms) and built_kind(name.text) in ("financial_institution", "government"):
            yield Sighting("lender", name, 2.0, (name.end, name.end))


def _is_adviser(text: str, name: Name) -> bool:
    """Whether a name at the head or foot of a letter is that of lawyers who write for a party."""
    if _ADVISER.match(text, name.end):
        return True
    return _ACTS_FOR.search(text[:8000]) is not None and not has_form(name.text)


def _called(text: str, greeting: re.Match[str] | None) -> frozenset[str]:
    """The names by which a letter greets its reader."""
    if greeting is None:
        return frozenset()
    return frozenset(w for w in plain_words(greeting.group()) if len(w) > 2) - common_words()


def _company_below(head: str, name: Name) -> bool:
    """Whether the person a letter greets stands above a company's name, or holds an office: the company is written to."""
    if office_pattern().match(head[name.end : name.end + 80]):
        return True
    lines = [line.strip() for line in head[name.end :].split("\n")[1:4]]
    return any(line and len(line) < 60 and has_form(line) for line in lines)


def _closings(text: str, terms: Terms, letter: bool) -> Iterator[Sighting]:
    """Who signs below "Yours faithfully": the institution or company, else, in a letter, the person without an office."""
    for match in _CLOSING.finditer(text):
        people: list[Name] = []
        for at, line in list(lines_of(text, match.end(), min(len(text), match.end() + 400)))[:12]:
            if _ACCEPTED.match(line):
                break
            signs = re.match(r"[ \t_]*(?:for|For|FOR)(?: and on behalf of)?[ \t]+", line)
            name = alone_name(text, at + (signs.end() if signs else 0), at + len(line), terms)
            if name and _is_adviser(text, name):
                break
            kind = built_kind(name.text) if name else None
            if name and (signs or kind in ("financial_institution", "government", "legal_entity")):
                yield Sighting("lender", name, 3.5, (name.end, name.end))
                people = []
                break
            if name and sure_person(name) and not office_pattern().match(text[name.end : name.end + 60]):
                people.append(name)
        for name in people[:1] if letter else ():
            yield Sighting("lender", name, 2.5, (name.end, name.end))


def own_hand(text: str, terms: Terms) -> Iterator[Sighting]:
    """A letter in which "I" lend, or owe: who signs it, and whoever agrees below it by the name it greets."""
    greeting = re.search(r"^[ \t]*(?:My dear|Dear|DEAR)\b.*$", text[:6000], re.MULTILINE)
    lends, borrows = len(_I_LEND.findall(text)), len(_I_BORROW.findall(text))
    if greeting is None or lends == borrows:
        return
    signer: Role = "lender" if lends > borrows else "borrower"
    other: Role = "borrower" if lends > borrows else "lender"
    accepted = _ACCEPTANCE.search(text, greeting.end() + (len(text) - greeting.end()) // 2)
    end = accepted.start() if accepted else len(text)
    signing = text.rfind("\n\n", 0, max(greeting.end(), end - 400))
    for at, line in lines_of(text, max(greeting.end(), signing), end):
        name = alone_name(text, at, at + len(line), terms)
        if (
            name
            and built_kind(name.text) == "natural_person"
            and " " in name.text
            and not office_pattern().match(text[name.end : name.end + 60])
        ):
            if not _is_adviser(text, name):
                yield Sighting(signer, replace(name, title=name.title or "I"), 7.0, (name.end, name.end))
            break
    for at, line in lines_of(text, end, len(text)) if accepted else ():
        name = name_at(text, at, stop=at + len(line), wrap=False)  # a name in quotation marks elsewhere is one too
        if (
            name
            and name.text == line.strip(" _")
            and " " in name.text
            and _called(text, greeting) & set(plain_words(name.text))
        ):
            yield Sighting(other, name, 6.5, (name.end, name.end))
            break


def headed_firms(text: str, terms: Terms) -> Iterator[Sighting]:
    """The firm at a paper's head that the text goes on to call by its last words: "the Society lends"."""
    for at, line in lines_of(text, 0, min(len(text), 700)):
        name = alone_name(text, at, at + len(line), terms) or _head_name(text, at, at + len(line), terms)
        for noun in reversed(name.text.split()) if name else ():
            if noun.lower() not in _HEAD_NOUNS or name is None:
                continue
            word = noun.capitalize()
            if len(re.findall(rf"\b[Tt]he\s+(?:{word}|{word.upper()})\b", text[:60_000])) < 2:
                continue
            acts = re.search(rf"\bthe\s+{word}\b,[^.;]{{0,200}}?\bas\s+(?:the\s+)?([A-Z]\w+)", text)
            role = (terms.certain(acts.group(1)) if acts else None) or terms.use(word)
            if role:
                yield Sighting(role, name, 5.0, (name.end, name.end), word)
            break


def closing_names(text: str, terms: Terms) -> Iterator[Name]:
    """Whoever signs a letter in their own name: the first name under its last words."""
    for match in _CLOSING.finditer(text):
        for at, line in list(lines_of(text, match.end(), min(len(text), match.end() + 300)))[:6]:
            name = alone_name(text, at, at + len(line), terms)
            if name:
                yield name
                break
