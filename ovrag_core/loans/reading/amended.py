"""The agreement that an amendment says it amends, by title, day and parties, and what of that does not fit a deal.

Nothing is held against an amendment that it does not say. What it says fits where any document before it bears it out,
in whatever form a name or a date is written.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import chain

from ovrag_core.base import Document
from ovrag_core.loans.reading.details import JOINING, bare_words
from ovrag_core.loans.reading.parties import find_parties
from ovrag_core.text import dates, one_line, plain_words, readings

_ENDS = 1500  # characters at the beginning and the end of a document in which its own day stands
_NEAR = 0.84  # likeness of two words of a name that a slip may have made of one
_LONGEST = 100  # characters of a title that is shown
_AMENDMENT = r"(?i:(?:amendment|variation|supplement|addendum|modification|extension|amending agreement)\b)"
_TITLE = (
    rf"(?:(?!{_AMENDMENT})[A-Z][\w&'’/-]*[ \t]+(?:and[ \t]+)?){{0,7}}"
    r"(?:(?i:agreement|contract|note|letter|deed|bond)|LOAN|Loan|FACILITY|Facility)\b"
)
_NAMED = re.compile(  # a title, up to its date where it has one
    rf"(?P<lead>\b(?i:(?P<own>this|the present)[ \t]+(?:[\w.]+[ \t]+){{0,6}}|"
    rf"{_AMENDMENT}[ \t]+(?:(?:no\.?|number)[ \t]*\d+[ \t]+)?(?:to|of)[ \t]+(?:(?:the|that|certain)[ \t]+)*))?"
    rf"(?P<title>{_TITLE})"
    r"(?:[ \t]*,?\s{0,2}(?i:(?:originally[ \t]+)?(?:dated|made|of|entered[ \t]+into|executed|signed)"
    r"(?:[ \t]+(?:as|of|on|the|and|effective|dated|executed|at|this)){0,4})\s+)?"
)
_OWN_DAY = re.compile(  # before a date
    r"\bthis\b[^.;\n]{0,120}?\b(?:dated|made|entered into|effective|executed)\b[^.;\n\d]{0,40}\Z|"
    r"(?:\A|\n)[ \t]*(?:date[d:]?[ \t]*(?:as of[ \t]+)?)?\Z",
    re.IGNORECASE,
)
_BEFORE = 240  # characters before a date
_BESIDE = re.compile(
    r"\b(?:security|pledge|guarant\w+|mortgage|trust|intercreditor|subordination|debenture|collateral|amendment|"
    r"amending|supplement\w*|variation|fee)\b",
    re.IGNORECASE,
)
_CHANGES_PARTIES = re.compile(
    r"\b(?:assign|transfer|novat|substitut|assum|becom|successor|replac)\w*[^.;]{0,200}?"
    r"\b(?:borrower|lender|bank|creditor|debtor)\b",
    re.IGNORECASE,
)
_ANY_TITLE = frozenset(
    [
        *("agreement", "contract", "note", "letter", "deed", "bond", "loan", "credit", "facility", "facilities"),
        *("the", "this", "that", "certain", "said", "and", "of", "to", "amended", "restated", "original", "existing"),
        *("promissory", "financing", "lending", "advance", "multicurrency", "as", "mr", "ms"),
    ]
)


def misfit(amendment: Document, earlier: Sequence[Document]) -> str | None:
    """A sentence where what `amendment` names fits none of the documents before it in the deal; None where it does."""
    titles, named_days = _agreement_named(amendment.text)
    body = plain_words(" ".join(document.text for document in earlier))
    earlier_parties = [_parties(document) for document in earlier]
    days = set(chain.from_iterable(map(_days_of, earlier)))
    other_days = named_days if days and days.isdisjoint(named_days) else []
    is_other_title = titles and all(_is_other_title(title, body) for title in titles)
    strangers = _strangers(amendment, body, earlier_parties)
    if not (other_days or is_other_title or strangers):
        return None
    theirs = _described(next(iter(titles), "an agreement"), other_days, strangers)
    original = earlier[0]
    own_parties = {role: name for role, name in earlier_parties[0].items() if role in strangers}
    ours = _described(_title_of(original), other_days and _days_of(original), own_parties)
    return (
        f"{amendment.id} amends {theirs}, but {original.id} is {ours}; leave {amendment.id} out, or review it with the "
        "agreement that it amends"
    )


def _strangers(amendment: Document, body: str, own: Sequence[dict[str, str]]) -> dict[str, str]:
    """The parties that an amendment names, by role, where the deal has others and neither text has the other's name.

    An amendment that puts one party in another's place names a new one, beside one of the deal's.
    """
    text = plain_words(amendment.text)
    known = {role: [parties[role] for parties in own if role in parties] for role in ("lender", "borrower")}
    if _CHANGES_PARTIES.search(amendment.text) and any(_holds(text, name) for name in chain(*known.values())):
        return {}
    return {
        role: name
        for role, name in _parties(amendment).items()
        if known[role]
        and not _holds(body, name)
        and not any(_holds(text, n) or _is_same_name(name, n) for n in known[role])
    }


def _agreement_named(text: str) -> tuple[list[str], list[dt.date]]:
    """Titles and days of the agreement that an amendment says it amends, as far as it says so."""
    mentions = {start: readings(text[start:end], day) for day, start, end in dates(text)}
    own = (days for start, days in mentions.items() if _OWN_DAY.search(text[max(0, start - _BEFORE) : start]))
    own_days = set(chain.from_iterable(own))
    titles: list[str] = []
    named_days: list[dt.date] = []
    for match in _NAMED.finditer(text):
        if match["own"] or _BESIDE.search(match["title"]):
            continue
        days = mentions.get(match.end(), ())
        # "Amendment to the Loan Agreement dated …": where nothing else says of which day it is, that may be its own.
        if own_days.intersection(days) or (match["lead"] and not own_days):
            days = ()
        if days or (match["lead"] and match.start() < _ENDS):
            titles.append(one_line(match["title"]))
            named_days += days
    return titles, named_days


def _is_same_name(one: str, other: str) -> bool:
    """Match two names that may be one party's: without legal form, word by word, with initials, slips and acronyms."""
    shorter, longer = sorted((_core(one), _core(other)), key=len)
    if "".join(shorter) in ("".join(longer), "".join(word[0] for word in longer)):
        return True
    return bool(shorter) and all(any(_is_near(word, w) for w in longer) for word in shorter)


def _core(name: str) -> list[str]:
    words = [word for word in bare_words(name) if word not in JOINING]
    return words or plain_words(name).split()


def _is_near(one: str, other: str) -> bool:
    if min(len(one), len(other)) == 1:
        return one[0] == other[0]
    return one == other or SequenceMatcher(None, one, other, autojunk=False).ratio() >= _NEAR


def _holds(body: str, name: str) -> bool:
    return f" {' '.join(bare_words(name))} " in f" {body} "


def _parties(document: Document) -> dict[str, str]:
    """The first lender and borrower that a document names, by role."""
    parties = find_parties(document, whole=False)
    return {mention.role: mention.name for mention in (*parties.lenders[:1], *parties.borrowers[:1])}


def _is_other_title(title: str, body: str) -> bool:
    """Return True where `body` lacks the words by which a title tells an agreement from others."""
    telling = [word for word in plain_words(title).split() if word not in _ANY_TITLE]
    return bool(telling) and not any(f" {word} " in f" {body} " for word in telling)


def _days_of(document: Document) -> list[dt.date]:
    """The days that may be a document's own: those at its beginning and its end."""
    ends = f"{document.text[:_ENDS]}\n\n{document.text[_ENDS:][-_ENDS:]}"
    return [reading for day, start, end in dates(ends) for reading in readings(ends[start:end], day)]


def _title_of(document: Document) -> str:
    lines = (line.strip() for line in document.text.splitlines())
    return one_line(next((line for line in lines if line), document.id), _LONGEST)


def _described(title: str, days: Sequence[dt.date], parties: dict[str, str]) -> str:
    """A title with the first of its days, and parties by role."""
    day = f" of {days[0].isoformat()}" if days else ""
    return f"“{title}”{day}" + "".join(f", {role} {one_line(name)}" for role, name in parties.items())
