# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Debt that a clause speaks of: this loan's, or that of another creditor, product, contract or time.

A cue near the mention of another debt speaks of that one, unless the clause says "this loan" or the document calls
its own debt so, which is learned from its title and its defined terms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ovrag_core.loans.reading.lexicon import Lexicon
from ovrag_core.loans.reading.sentences import Unit

TITLE = 1200  # characters from the beginning in which a document says what it is and who is party to it


def spaced(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """A pattern whose spaces stand for any white space: lines are wrapped and indented."""
    return re.compile(pattern.replace(" ", r"\s+"), flags)


_WORD = re.compile(r"[a-z]{3,}")
_TERM = re.compile(
    r"\(\s*(?:hereinafter |each an? |collectively )*(?:the |an? )?\"(?P<term>[A-Za-z][\w' -]{1,40})\"\s*\)|"
    r"\"(?:the )?(?P<means>[A-Z][\w' -]{1,40})\" (?:means|shall mean|has the meaning)"
)
_PLAIN = frozenset(["revolving", "term", "credit", "loan", "working", "capital", "line", "account", "main", "note"])
_CONTRAST = spaced(
    r"\b(?:unlike|in contrast (?:to|with)|as opposed to|other than|apart from|aside from|whatever|in place of|instead of|"
    r"regardless of|independently of|separately from|not being|before|after|behind|ahead of|in priority to)\b[^,;]*,?"
)
_PRONOUN = spaced(
    r"\s*(?:\(?\w{1,3}[.)]\s+)?(?:it|they|both|these|those|that|this (?:charge|mortgage|pledge|security|lien|bank)|"
    r"the (?:charge|mortgage|pledge|lien|latter|former|same)|its (?:terms|mortgage|charge|security))\b"
)
_NAME = spaced(
    r"\b(?P<name>(?:[A-Z][\w&'.\u00c0-\u024f-]*,? (?:(?:and|&|of|for|de|du) )?){0,5}"
    r"(?:[A-Z][a-z]+(?:bank|kasse)|Banco?|Bank of (?:the )?[A-Z]\w+(?: [A-Z]\w+)*|Bank|Bancorp|Banca|Banque|Sparkasse|plc|PLC|Inc\b|LLC|Ltd|Limited|GmbH|AG\b|"
    r"eG\b|S\.A\.|N\.A\.|B\.V\.|N\.V\.|ASA\b|A/S|Oy\b|AB\b|Beperk|Trust\b|Finance|Finans|Financial|Society|Corporation|"
    r"Leasing|Capital|Credit Union|Insurance|Funding|Motors|Home Loans))"
)
_PRODUCT = spaced(
    r"\b(?:[Tt]he|[Aa]n?|[Oo]ur|[Tt]heir|[Yy]our|[Mm]y) \"?(?P<name>[A-Z][\w'\u00c0-\u024f-]+(?: [A-Z][\w'\u00c0-\u024f-]+)*)\"? (?:mobile |credit |term )*"
    r"(?:loan|line|facility|account|card|overdraft|product|advance|note)s?\b"
)
# Where a creditor's name stands: "a line with …", "pledged to …", "the mortgage of …", or as the one who holds.
_TO = spaced(
    r"(?:\b(?:to|with|for|from|at|favou?r of|held by|granted by)|"
    r"\b(?:loan|line|facility|mortgage|charge|lien|overdraft|credit|account|lending)s? (?:of|by)) (?:the )?$"
)
_HOLDS = spaced(
    r"(?:,[^,;.]{1,80},)? (?:holds?|held|retains?|takes?|took|enjoys|keeps?|remains?|reserves?|(?:has|have|had) (?!today|now|hereby|signed|"
    r"granted|given|executed|charged|pledged|mortgaged|created|agreed|also))"
)
_OWN_NAME = spaced(r"[A-Z][a-z]{2,}(?:bank|kasse)")
_BANKING = re.compile(r"bank|banc|banque|sparkasse|caixa|credit")
# "the sellers' credit", "Northgate's overdraft": another's debt by its owner, unless the owner is a side of this loan.
_POSSESSED = spaced(
    r"\b(?P<owner>[a-z][\w-]+)(?:'s|(?<=s)') (?:own |existing |old |new |later |present )?"
    r"(?:credits?|loans?|debts?|facilit(?:y|ies)|lines?|notes?|overdrafts?|advances?|borrowings?)\b"
)
_SIDES = frozenset(
    ["bank", "banks", "borrower", "borrowers", "lender", "lenders", "company", "customer", "client", "member", "society",
     "cooperative", "obligor", "debtor", "creditor", "holder", "maker", "payee", "mortgagor", "mortgagee", "debtors",
     "fund", "union", "cardholder", "today", "day", "week", "month", "months", "year", "years", "else"]
)  # fmt: skip
_THE_BANK = spaced(r"\b(?:the|that|its|his|her|their|my|your|house) bank(?:'s)?\b")
_ROLE_WORDS = frozenset({"the", "such", "said", "each", "any", "this", "our", "your", "a", "an", "no", "if", "when"})


class Debts:
    """Names that a document gives its own debt and its parties, and words that name those of others."""

    def __init__(self, text: str, units: Sequence[Unit], lexicon: Lexicon, roles: Mapping[str, str]) -> None:
        self.words = lexicon.words
        head = [text[unit.start : unit.end] for unit in units if unit.kind == "heading" and unit.start < TITLE]
        terms = [match["term"] or match["means"] for match in _TERM.finditer(text)]
        self.own = _PLAIN | frozenset(_WORD.findall(" ".join([*head[:6], *terms]).lower()))
        self.head = " ".join(text[:TITLE].split())
        self.names = frozenset(" ".join(name.split()).lower() for name in roles)
        lenders = [name.lower() for name, role in roles.items() if role == "lender"]
        self.lender_is_no_bank = len(lenders) > 1 and not any(_BANKING.search(name) for name in lenders)

    def another(self, raw: str, start: int, a: int, b: int, end: int, *, security: bool) -> bool:
        """Detect another debt in the clause `[start, end)` of the lower-case `raw`, with a cue at `[a, b)`.

        The debt stands before the predicate ("the lease is secured by …") or after the words that say what is secured
        ("… as security for the rent").
        """
        bracket = raw.rfind("(", 0, a)
        if bracket >= 0 and ")" not in raw[bracket:a]:  # "the shareholders' loans (2019, no security) are …"
            before = raw[max(0, bracket - 80) : bracket]
            if self._foreign(before) and not self.is_own(before):
                return True
        subject = _CONTRAST.sub(lambda match: " " * len(match.group()), raw[start:b])
        if self.is_own(subject):
            return False
        if self._foreign(subject):
            return True
        if not security:
            return False
        secured = self.words["securedobject"].search(raw, a, min(end, b + 120))
        if secured is None:
            return False
        debt_words = raw[secured.end() : min(end, secured.end() + 90)]
        bank = self.lender_is_no_bank and _THE_BANK.search(debt_words) is not None
        return not self.is_own(debt_words) and (bank or self._foreign(debt_words))

    def is_own(self, words: str) -> bool:
        """Return True where the words point at this loan outright."""
        return self.words["owndebt"].search(words) is not None

    def anchored(self, words: str) -> bool:
        """Return True where the words name this loan, or one of its two sides: then the clause is about it."""
        return self.is_own(words) or self.words["anchor"].search(words) is not None

    def _foreign(self, words: str) -> bool:
        return any(not (self.own & set(_key(match))) for match in self.words["otherdebt"].finditer(words)) or any(
            not self._ours(match["owner"]) for match in _POSSESSED.finditer(words)
        )

    def _ours(self, owner: str) -> bool:
        return owner in _SIDES or owner in self.own or any(owner in name.split() for name in self.names)

    def another_creditor(self, text: str, raw: str, a: int, b: int) -> bool:
        """Detect a holder of the security in `[a, b)` of the unit who is called by a name or word not the lender's.

        `text` is the unit in its own case with the parties' names already replaced, `raw` the same in lower case.
        """
        if self.lender_is_no_bank and _THE_BANK.search(raw, a, b):
            return True
        word = self.words["othercreditor"].search(raw, a, b)
        if word is not None and self.own.isdisjoint(_key(word)):
            return True
        return any(
            self._stranger(match["name"], text)
            and (_TO.search(text, max(0, match.start() - 40), match.start()) or _HOLDS.match(text, match.end()))
            for match in _NAME.finditer(text, a, b)
        )

    def product(self, text: str, start: int, end: int) -> bool:
        """Detect a clause about a loan called by a name ("the M-Mkopo line") that is not this document's."""
        return any(
            not self.own & set(_WORD.findall(match["name"].lower())) and not self._titled(match["name"], text)
            for match in _PRODUCT.finditer(text, start, end)
        )

    def _titled(self, name: str, text: str) -> bool:
        """Return True where the head of the document has the name, elsewhere than in the unit `text`."""
        return self.head.count(name) > " ".join(text.split()).count(name)

    def _stranger(self, name: str, text: str) -> bool:
        """A name of several words that is no party's and does not stand at the head of the document."""
        bare = [word for word in name.split() if word.lower() not in _ROLE_WORDS]
        bare_name = " ".join(bare)
        if len(bare) < 2 and not _OWN_NAME.fullmatch(bare_name):
            return False
        return bare_name.lower() not in self.names and not self._titled(bare_name, text)

    def continues(self, raw: str) -> bool:
        """Return True where a sentence goes on about what the one before it spoke of ("It is secured by …")."""
        return _PRONOUN.match(raw) is not None and not self.is_own(raw)

    def elsewhere(self, text: str) -> bool:
        """Return True where a whole sentence speaks of another's debt and not at all of this one."""
        raw = text.lower()
        if self.is_own(raw):
            return False
        return self._foreign(raw) or self.product(text, 0, len(text)) or self.another_creditor(text, raw, 0, len(raw))


def _key(match: re.Match[str]) -> list[str]:
    return [word for group in match.groupdict().values() if group for word in _WORD.findall(group)]
