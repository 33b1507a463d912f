"""Is this an English loan document at all? A reader that guesses on anything else does harm."""

from __future__ import annotations

import re
from typing import Literal

import py3langid

Status = Literal["loan", "not_loan", "not_english", "empty"]

SAMPLE = 6000  # characters of the beginning, the middle and the end that are looked at for the language
_ENGLISH = frozenset(
    [
        "the",
        "of",
        "and",
        "to",
        "in",
        "a",
        "is",
        "that",
        "for",
        "by",
        "on",
        "as",
        "with",
        "or",
        "be",
        "this",
        "at",
        "from",
        "shall",
        "will",
        "not",
        "any",
        "are",
        "which",
        "an",
        "such",
        "all",
        "it",
        "has",
        "no",
        "its",
        "under",
        "may",
        "if",
        "other",
        "upon",
        "hereby",
        "each",
        "have",
        "per",
        "you",
        "your",
        "we",
        "our",
        "us",
        "i",
        "my",
        "date",
        "amount",
        "rate",
        "interest",
        "payment",
        "loan",
        "borrower",
        "lender",
    ]
)
_OTHER = frozenset(
    [
        "der",
        "die",
        "das",
        "und",
        "den",
        "von",
        "zu",
        "dem",
        "mit",
        "des",
        "ist",
        "nicht",
        "ein",
        "eine",
        "im",
        "für",
        "auf",
        "le",
        "la",
        "les",
        "de",
        "des",
        "du",
        "et",
        "en",
        "un",
        "une",
        "est",
        "dans",
        "que",
        "qui",
        "pour",
        "par",
        "sur",
        "au",
        "aux",
        "el",
        "los",
        "las",
        "del",
        "y",
        "por",
        "con",
        "para",
        "una",
        "se",
        "su",
        "il",
        "di",
        "che",
        "per",
        "della",
        "dei",
        "sono",
        "nel",
        "o",
        "os",
        "da",
        "do",
        "das",
        "em",
        "um",
        "uma",
        "não",
        "ao",
        "van",
        "het",
        "een",
        "op",
        "te",
        "voor",
        "zijn",
        "och",
        "att",
        "som",
        "det",
        "på",
        "av",
        "w",
        "z",
        "i",
        "na",
        "się",
        "nie",
        "jest",
        "oraz",
        "og",
        "til",
        "ikke",
        "ve",
        "bir",
        "ile",
        "da",
    ]
)
_CORE = re.compile(
    r"\b(?:loans?|lend(?:s|er|ers|ing)?|lent|borrow(?:s|er|ers|ed|ing|ings)?|promissory|credit (?:agreement|facilit|"
    r"limit|line|card)\w*|line of credit|"
    r"overdraft|mortgage\w*|amount financed|advances?|facility|financing|financier|re-?borrow\w*|indebtedness|"
    r"deed of trust|retail instal\w+|"
    r"promise[s]? to pay|obligor|funder|lien|home equity|credit|debt)\b",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\b(?:promises? to (?:re)?pay|agrees? to lend|willing to lend|shall lend|will lend|lends?|lent|loan (?:amount|"
    r"agreement|of|note|number|contract)|"
    r"(?:the|this|a|your|my|our) (?:\w+ ){0,2}(?:loan|note|advance|facility|overdraft|credit line|line of credit)|"
    r"principal (?:amount|sum|balance)|principal|"
    r"amount financed|credit limit|borrowers?|lenders?|credit card|interest rate|rate of interest|interest|creditor|"
    r"owes?|annual percentage rate|repay(?:ment|able|s)?|"
    r"install?ments?|maturity date|per annum|balance|minimum payment|credit limit|credit|what you (?:owe|pay)|"
    r"amortization|advance)\b",
    re.IGNORECASE,
)
_OTHER_KINDS = re.compile(
    r"\b(?:lease|tenancy|rental|non-?disclosure|confidentiality|employment|independent contractor|service agreement|"
    r"services agreement|licen[cs]e agreement|"
    r"insurance policy|privacy (?:policy|notice)|terms of (?:use|service)|purchase order|sale of goods|"
    r"power of attorney|last will|shareholders'? agreement|"
    r"partnership agreement|joint venture|minutes of|curriculum|invoice|newsletter|recipe|press release|"
    r"distribution agreement|supply agreement|"
    r"consulting agreement|share purchase|asset purchase|merger|franchise|policy of insurance|warranty deed|"
    r"articles of|bylaws|prospectus)\b",
    re.IGNORECASE,
)
_LOAN_TITLE = re.compile(
    r"\b(?:loan|credit|note|mortgage|facility|lending|overdraft|advance|borrow\w*|financ\w+|deed of trust|"
    r"security agreement|instal\w+|debenture|darlehen\w*|line|"
    r"card|bond|charge)\b",
    re.IGNORECASE,
)
_LENDS = re.compile(r"\b(?:we|i|the \w+) (?:hereby |shall |will )?lends? (?:you|to you|the \w+)\b", re.IGNORECASE)
_CARD = re.compile(
    r"\b(?:(?:credit|charge) card|card (?:account|agreement|number)|cardholder|your card|the card|"
    r"annual percentage rate|minimum (?:monthly )?payment|"
    r"your balance|statement balance|cash advance|the account)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")


def gate(text: str) -> tuple[Status, str | None]:
    """What kind of text this is, with a sentence of reason where it is not an English loan document."""
    sample = _sample(text)
    words = [word.lower() for word in _WORD.findall(sample)]
    if len(words) < 5:
        return "empty", "the document holds no text to read"
    language = _language(sample, words)
    if language is not None:
        return "not_english", f"the document is not in English (it looks like {language})"
    if not _is_loan(text):
        return (
            "not_loan",
            "the document does not look like a loan: it names no lender, borrower, principal or repayment",
        )
    return "loan", None


def _sample(text: str) -> str:
    if len(text) <= 3 * SAMPLE:
        return text
    middle = len(text) // 2
    return "\n".join((text[:SAMPLE], text[middle : middle + SAMPLE], text[-SAMPLE:]))


def _language(sample: str, words: list[str]) -> str | None:
    """None for English, else the ISO 639-1 code of what it seems to be."""
    english = sum(word in _ENGLISH for word in words) / len(words)
    other = sum(word in _OTHER for word in words) / len(words)
    if english >= 0.2 and english > other:
        return None
    code = str(py3langid.classify(sample)[0])
    if code == "en" or (english >= 0.1 and english >= other):
        return None
    return code


def _is_loan(text: str) -> bool:
    sample = text[:200_000]
    total = max(1, len(_WORD.findall(sample)))
    core = _CORE.findall(sample)
    strong = {match.lower() for match in _STRONG.findall(sample)}
    title = " ".join(text[:400].split())
    other = _OTHER_KINDS.search(title)
    if other is not None and not _LOAN_TITLE.search(title[: max(other.end() + 40, 120)]) and len(core) < 0.02 * total:
        return False
    density = len(core) / total
    card = len(_CARD.findall(sample)) >= 4
    if other is None and _LOAN_TITLE.search(title[:160]) and len(strong) >= 2 and core:
        return True
    if _LENDS.search(sample) and len(core) >= 3:
        return True
    if len(strong) >= 5 and len(core) >= 2 and density >= 0.004:
        return True
    return (
        (len(core) >= 2 or card) and len(strong) >= (2 if card else 3) and (density >= 0.006 or len(core) >= 60 or card)
    )
