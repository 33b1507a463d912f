"""Sightings of parties in roles, the terms a document calls its parties by, and what every way of naming needs.

A term that the lexicon does not know, or doubts, is judged by what the document has its bearer do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ovrag_core.loans.reading.names import (
    Name,
    Role,
    built_kind,
    common_words,
    could_be_person,
    has_form,
    plain_words,
    word_set,
    words,
)
from ovrag_core.loans.reading.speakers import speaker_roles

_PLACEHOLDERS = word_set(
    "hereto herein hereof thereof hereunder listed assignees party parties lenders borrowers guarantors"
)
_CONTRACTED = re.compile(r"(?:i|we|you|he|she|it|they|that|there|who)['’]")
_DEED_OF_TRUST = re.compile(r"\bdeed\s+of\s+trust\b|\btrust\s+deed\b", re.IGNORECASE)
BRACKETS = re.compile(r"\(([^()]{1,220})\)|\[([^\[\]]{1,80})\]")
QUOTED = re.compile(
    r"[\"“”„«‘'’]{1,2}\s*(?:the\s+|The\s+)?([A-Za-z][\w/&-]*(?:[ \n]{1,2}[A-Za-z][\w/&-]*){0,3})"
    r"\s*[,.;]?\s*[\"“”»’']{1,2}"
)
TRADES_AS = re.compile(r",?\s+(?:d/?b/?a|t/as?|trading\s+as|doing\s+business\s+as)\b\s*", re.IGNORECASE)
# The end of a heading or sentence inside what looked like one clause.
_ACROSS = re.compile(r"\n\s*(?:\n|The\s)|[.;]\s")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A name seen in a role, with how much that weighs and the term it goes by there, if any."""

    role: Role
    name: Name
    weight: float
    described: tuple[int, int]  # the words after the name that may describe the party
    term: str = ""
    shown: Name | None = None  # the mention itself, where the name is a fuller one of its bearer
    own: float = 0.0  # of the weight what the mention itself adds
    kinds: tuple[float, ...] = ()  # how likely the bearer is of each kind


@lru_cache(maxsize=1)
def role_words() -> dict[str, tuple[Role, bool]]:
    """Role words in lower case with their role and whether they are certain."""
    table: dict[str, tuple[Role, bool]] = {}
    groups: tuple[tuple[str, Role, bool], ...] = (
        ("weakBorrowerTerm", "borrower", False),
        ("weakLenderTerm", "lender", False),
        ("borrowerTerm", "borrower", True),
        ("lenderTerm", "lender", True),
        ("guarantorTerm", "guarantor", True),
    )
    for kind, role, certain in groups:
        for entry in words(kind):
            table[entry.lower()] = (role, certain)
    return table


@lru_cache(maxsize=1)
def certain_terms() -> str:
    """The certain role words as one alternation, longest first."""
    entries = sorted((t for t, (_, certain) in role_words().items() if certain), key=lambda t: (-len(t), t))
    return "|".join(re.escape(entry).replace(r"\ ", r"[ \n]") for entry in entries)


def deed_roles(text: str) -> dict[str, Role | None]:
    """The roles of a deed of trust: grantor owes, beneficiary lends, trustee does neither."""
    if not _DEED_OF_TRUST.search(text[:3000]) or not re.search(r"\bbeneficiar", text[:6000], re.IGNORECASE):
        return {}
    return {"grantor": "borrower", "trustor": "borrower", "beneficiary": "lender", "trustee": None}


class Terms:
    """The terms a document calls its parties by; a doubtful one is judged by what the document has the party do."""

    def __init__(self, text: str) -> None:
        self._text = text if len(text) <= 120_000 else text[:90_000] + text[-30_000:]
        self._roles: dict[str, Role | None] = {**speaker_roles(self._text), **deed_roles(self._text)}
        self._defined: dict[str, Role] = {}
        #: Every term the document puts in quotation marks; none of them is a party's name.
        self.quoted = frozenset(
            " ".join(plain_words(t)) for t in re.findall(r"[\"“]([A-Z][\w' -]{1,40})[,.]?[\"”]", self._text)
        )

    def certain(self, term: str) -> Role | None:
        """The role of a term that the lexicon is sure of."""
        role, certain = role_words().get(singular(term), (None, False))
        return role if certain else None

    def role(self, term: str) -> Role | None:
        """The role of any term: by the lexicon, else by use."""
        key = singular(term)
        if key not in self._roles:
            role, certain = role_words().get(key, (None, False))
            used = None if certain or "agent" in key else self.use(term)
            self._roles[key] = role if certain else used or role
        return self._roles[key]

    def define(self, term: str, role: Role) -> None:
        """Note that the document defines `term` for a party of `role`; the first definition stays."""
        self._defined.setdefault(term, role)

    def table(self) -> dict[str, str]:
        """Terms as written with their role: those defined, and the certain role words that occur."""
        table: dict[str, str] = dict(self._defined)
        certain_uses = re.finditer(
            rf"\b(?:the|this|of|to)\s+({certain_terms()})\b",
            self._text[:60_000],
            re.IGNORECASE,
        )
        for word in (match.group(1) for match in certain_uses):
            if word[0].isupper() and (role := self.certain(word)):
                table.setdefault(word, role)
        for pronoun in ("we", "us", "you", "I"):
            if pronoun not in table and (role := self.role(pronoun)) and re.search(rf"\b{pronoun}\b", self._text):
                table[pronoun] = role
        return dict(sorted(table.items()))

    def use(self, term: str) -> Role | None:
        """The role that what the document has a term do shows, whatever the lexicon says."""
        word = re.escape(" ".join(term.split())).replace(r"\ ", r"\s")
        flags = re.IGNORECASE if len(term) > 1 else 0
        lends = re.compile(
            rf"\b{word}\s+(?:(?:hereby|also|now)\s+)?(?:(?:will|shall|may|agrees?\s+to|ha(?:s|ve)\s+agreed\s+to|(?:is|are)\s+(?:willing|prepared)\s+to)\s+)?(?:lends?|lent|advances?|(?:makes?|grants?|granted|provides?|gives?)\s+(?:(?:to\s+)?the\s+\w+\s+)?(?:the\s+|an?\s+)?(?:[\w-]+\s+){{0,3}}?(?:loan|credit|facility|line|available|advances?)|extend\s+credit|accelerate|declare|(?:puts?|places?)\s+at\s+the\s+disposal|(?:centrally\s+)?finances?)\b"
            rf"|\b(?:pay|pays|owes?|owed|repay|indebted|payable|(?:to\s+the\s+order\s+of))\s+(?:[\w,.$€£]+\s+){{0,3}}?(?:to\s+)?(?:the\s+)?{word}\b",
            flags,
        )
        borrows = re.compile(
            rf"\b{word}\s+(?:(?:hereby|also|unconditionally)\s+)?(?:(?:will|shall|may|must|agrees?\s+to|promises?\s+to|undertakes?\s+to|ha(?:s|ve)\s+agreed\s+to|wish(?:es)?\s+to|are\s+to|can)\s+)?(?:repays?|pays?|borrows?|borrowed|prepay|redraw|reborrow|draw|owes?|promises?\s+to)\b"
            rf"|\b(?:lend|lends|lent|loans?|advances?|advanced|available)\s+(?:[\w,.$€£]+\s+){{0,5}}?to\s+(?:the\s+)?{word}\b|\b(?:lends?|grants?|advances?|gives?)\s+(?:the\s+)?{word}\s+(?:the\s+sum|the\s+amount|an?\s+(?:[\w-]+\s+){{0,3}}?(?:loan|credit|facility|line|advance|sum)|[A-Z]{{3}}\s?\d|[$€£])|\blend\s+(?:the\s+)?{word}\b|\bobligations?\s+of\s+(?:the\s+)?{word}\b",
            flags,
        )
        lender, borrower = (
            sum(_ACROSS.search(match.group()) is None for match in pattern.finditer(self._text))
            for pattern in (lends, borrows)
        )
        default = role_words().get(singular(term), (None, False))[0]
        sides: tuple[tuple[Role, int, int], ...] = (("lender", lender, borrower), ("borrower", borrower, lender))
        for role, more, fewer in sides:
            # Against the lexicon only clear use counts.
            if more > fewer and (default in (None, role) or more >= 2 * fewer + 2):
                return role
        return None


def singular(term: str) -> str:
    """A term in lower case, without its plural or possessive ending unless the lexicon knows it so."""
    key = " ".join(term.lower().split())
    key = re.sub(r"\(s\)|['’]s$|['’]$", "", key)
    return key if key in role_words() or not key.endswith("s") else key[:-1]


def is_party(name: Name, terms: Terms) -> bool:
    """Accept a name that can be a party's: not a role word or a defined term, and some kind or two words to it."""
    name_words = plain_words(name.text)
    plain = " ".join(name_words)
    if singular(plain) in role_words() or all(singular(w) in role_words() for w in name_words):
        return False
    if (
        plain.startswith(("deed of", "loan between"))
        or plain in terms.quoted
        or _CONTRACTED.match(plain)
        or not _PLACEHOLDERS.isdisjoint(name_words)
    ):
        return False
    if not has_form(name.text) and (name.text[0].isdigit() or all(is_common(w) for w in re.split(r"[ /]+", plain))):
        return False
    is_doubtful = any(is_common(w) or any(c.isdigit() for c in w) for w in name_words)
    if len(name_words) > 1 and is_doubtful and built_kind(name.text) is None:
        return False
    if " " not in name.text and not name.title:
        return built_kind(name.text) is not None or len(name.text) > 3
    return True


def is_common(word: str) -> bool:
    """Return True where a word of a name is a role word or one of those that contracts are full of."""
    bare = word.removesuffix("'s")
    return bare in common_words() or singular(bare) in role_words()


def sure_person(name: Name) -> bool:
    """Recognise a name in running text as a person's beyond doubt: titled, or two words with a known name."""
    return bool(name.title) or (len(name.text.split()) > 1 and could_be_person(name.text))
