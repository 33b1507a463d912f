# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Persons meant by "I", "we" and "you" in a loan document that talks to its reader.

A lender's form says "we lend, you pay"; a note or an older bank form says "I promise to pay you". What the pronouns are
said to do decides; a document that does neither leaves them open.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

Speaker = Literal["borrower", "lender"]

_ADVERBS = (
    r"(?:(?:hereby|also|each|both|jointly|severally|and|unconditionally|only|then|now|further|therefore),?\s+){0,3}"
)
_MODAL = r"(?:(?:will|shall|must|may|can|could|do|have\s+to|agree\s+to|promise\s+to|undertake\s+to|wish\s+to|would\s+like\s+to|are\s+to|am\s+to|need\s+to|have|had|am|are)\s+(?:not\s+)?)?"
_BORROWS = re.compile(
    rf"\b(?P<who>I|[Ww]e|WE|[Yy]ou|YOU)\s+{_ADVERBS}(?:(?:promise|agree|undertake|covenant)s?\s+to\s+(?:re)?pay|{_MODAL}(?:repay|pay|borrow(?:ed)?|reborrow|redraw|draw|owe|prepay|owing)|(?:am|are)\s+(?:truly\s+and\s+lawfully\s+)?indebted|acknowledge\s+(?:that\s+)?(?:I|we)?\s*(?:receipt|owe|having\s+received)|have\s+(?:today\s+)?(?:received|borrowed)|(?:give|grant|am\s+giving|are\s+giving)\s+(?:you|us|the\s+\w+)\s+a\s+security\s+interest)\b(?!\s+(?:you|out|it\s+into)\b)"
)
_LENDS = re.compile(
    rf"\b(?P<who>I|[Ww]e|WE|[Yy]ou|YOU)\s+{_ADVERBS}(?:(?:are|am)\s+(?:\w+\s+)?(?:pleased|happy|willing|prepared|glad|ready)\s+to\s+(?:lend|offer|make|advance|grant|provide)|{_MODAL}(?:lend|lent|advanced?|loaned|make\s+(?:you\s+)?(?:the\s+|a\s+|an\s+)?(?:loan|advance)s?|accelerate|charge\s+(?:you|me|us)|refuse\s+(?:to\s+make\s+)?(?:further\s+|an\s+)?advances?|(?:require|ask|demand|declare|call)\b[^.;\n]{{0,60}}\b(?:repay|pay|payment|balance|due)))\b"
)

_STOP = re.compile(r"[.;?!](?=\s|$|[\"”'])|\n[ \t]*\n")


def speaker_roles(text: str) -> dict[str, Speaker]:
    """The role of each pronoun of `text`, in lower case ("i", "we", "you" and their forms); open ones are left out."""
    paying = (match for match in _BORROWS.finditer(text) if not (_pays_out(match) or is_asked(text, match.end(), 400)))
    pays = Counter(match["who"].lower() for match in paying)
    lends = Counter(match["who"].lower() for match in _LENDS.finditer(text) if not is_asked(text, match.end(), 400))
    speaking = pays["i"] + pays["we"] + lends["you"]  # the one who says "I" or "we" is the borrower
    spoken_to = pays["you"] + lends["i"] + lends["we"]
    if speaking == spoken_to:
        return {}
    if speaking < spoken_to:
        first_person = ("we", "us", "our") if lends["we"] >= pays["we"] else ()
        return {"you": "borrower", "your": "borrower", **dict.fromkeys(first_person, "lender")}
    if speaking < 2 * spoken_to:
        return {}
    me = [word for who, words in (("i", ("i", "me", "my")), ("we", ("we", "us", "our"))) if pays[who] for word in words]
    return {**dict.fromkeys(me, "borrower"), "you": "lender", "your": "lender"}


def is_asked(text: str, position: int, reach: int = 300) -> bool:
    """Return True where the sentence around `position`, if it ends within `reach`, is a question: it says nothing."""
    end = _STOP.search(text, position, position + reach)
    return end is not None and end.group() == "?"


def _pays_out(match: re.Match[str]) -> bool:
    """Return True where "we pay" stands alone: lenders pay the loan out, pay a dealer, pay a fee."""
    words = match.group().lower().split()
    return words[0] == "we" and words[-1] == "pay" and not {"promise", "undertake", "covenant"} & set(words)
