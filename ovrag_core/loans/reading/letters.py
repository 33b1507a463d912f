# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Parties of letters in which "I" lend or owe: who writes, and who agrees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ovrag_core.loans.reading.names import Name, Role, built_kind, common_words, has_form, name_at, plain_words
from ovrag_core.loans.reading.sightings import Sighting, Terms, alone_name, lines_of, office_pattern

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


def _is_adviser(text: str, name: Name) -> bool:
    """Recognise a name at the head or foot of a letter as that of lawyers who write for a party."""
    if _ADVISER.match(text, name.end):
        return True
    return _ACTS_FOR.search(text[:8000]) is not None and not has_form(name.text)


def own_hand(text: str, terms: Terms) -> Iterator[Sighting]:
    """A letter in which "I" lend, or owe: who signs it, and whoever agrees below it by the name it greets."""
    greeting = re.search(r"^[ \t]*(?:My dear|Dear|DEAR)\b.*$", text[:6000], re.MULTILINE)
    lends, borrows = len(_I_LEND.findall(text)), len(_I_BORROW.findall(text))
    if greeting is None or lends == borrows:
        return
    signer: Role = "lender" if lends > borrows else "borrower"
    counterparty: Role = "borrower" if lends > borrows else "lender"
    greeted_words = frozenset(w for w in plain_words(greeting.group()) if len(w) > 2) - common_words()
    accepted = _ACCEPTANCE.search(text, greeting.end() + (len(text) - greeting.end()) // 2)
    end = accepted.start() if accepted else len(text)
    signing = text.rfind("\n\n", 0, max(greeting.end(), end - 400))
    for start, line in lines_of(text, max(greeting.end(), signing), end):
        name = alone_name(text, start, start + len(line), terms)
        if (
            name
            and built_kind(name.text) == "natural_person"
            and " " in name.text
            and not office_pattern().match(text[name.end : name.end + 60])
        ):
            if not _is_adviser(text, name):
                yield Sighting(signer, replace(name, title=name.title or "I"), 7.0, (name.end, name.end))
            break
    for start, line in lines_of(text, end, len(text)) if accepted else ():
        # a name in quotation marks elsewhere is one too
        name = name_at(text, start, stop=start + len(line), wrap=False)
        if name and name.text == line.strip(" _") and " " in name.text and greeted_words & set(plain_words(name.text)):
            yield Sighting(counterparty, name, 6.5, (name.end, name.end))
            break
