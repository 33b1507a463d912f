"""A document as it is read: repaired, and without what is said to its reader instead of to the parties."""

from __future__ import annotations

import re
from functools import cache

from ovrag_core.base import Document, Evidence, Triple
from ovrag_core.documents import Repaired, repair
from ovrag_core.loans.loan_facts import LoanReading
from ovrag_core.loans.reading.names import LEXICON
from ovrag_core.text import one_line

_WORD = re.compile(r"[a-z]{3,}")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
_LOAN_WORDS = (
    "borrower borrowers lender lenders lends lent repay repays repayable repayment instalment instalments installment "
    "installments unsecured secured collateral mortgage mortgages guarantor maturity principal revolving reborrow"
)
# Words to whoever reads the text, be it a person or a program: no contract between two parties speaks so.
_TO_THE_READER = re.compile(
    r"(?:(?<=^)|(?<=[\n.:;!?>\]*\"]))[ \t]*(?:please\s+|now\s+|you\s+(?:must|should)\s+)?(?:ignore|disregard|"
    r"forget|override)\s+"
    r"(?:all\s+|any\s+|everything\s+|what\s+)?(?:of\s+)?(?:the\s+|your\s+|these\s+|is\s+|was\s+|said\s+)*"
    r"(?:above|foregoing|previous|prior|preceding|earlier|other|system|instructions?|rest|text)\b|"
    r"\b(?:AI|artificial intelligence|large language|language)\s+(?:reader|model|assistant|system|reviewer|agent)s?\b|"
    r"\b(?:you are|act as)\s+(?:now\s+)?(?:an?|the)\s+(?:AI|helpful|assistant|language|reviewer|contract reader)\b|"
    r"\b(?:system|developer|user|assistant)\s+(?:prompt|message|instruction)s?\b|^[ \t]*(?:SYSTEM|ASSISTANT|"
    r"PROMPT)\s*:|"
    r"\b(?:note|instruction|message)s?\s+(?:to|for)\s+(?:the\s+|any\s+|an?\s+)?(?:AI|reader|model|"
    r"reviewer|extractor|software|"
    r"machine|program|assistant|analyst)s?\b|"
    r"\b(?:report|label|classify|output|mark|treat|return|answer)\s+(?:that\s+)?(?:this|the)\s+(?:loan|document|"
    r"contract|agreement)\s+"
    r"(?:is\s+|as\s+)(?:clean|consistent|secured|unsecured|clash|no contradiction)\b",
    re.I | re.M,
)
_SHOWN = 160  # characters
_LONGEST = 600  # characters of a paragraph that is set aside whole; of a longer one, the sentence and the next


def prepare(document: Document) -> tuple[Document, Repaired]:
    """The document to be read, and the way back to the one that it was made from."""
    repaired = repair(document.text, _known())
    text = repaired.text
    for start, end in addressed(text):
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return Document(document.id, text, document.pages if text == document.text else ()), repaired


def addressed(text: str) -> list[tuple[int, int]]:
    """Passages that speak to the reader of the text, in order and apart."""
    passages: list[tuple[int, int]] = []
    for match in _TO_THE_READER.finditer(text):
        if passages and match.start() < passages[-1][1]:
            continue
        start = text.rfind("\n\n", 0, match.start()) + 1
        end = text.find("\n\n", match.end())
        end = len(text) if end < 0 else end
        if end - start > _LONGEST:
            start = max(start, *(text.rfind(mark, start, match.start()) + 1 for mark in (".", "\n")))
            ends = [m.end() for m in re.finditer(r"[.!?](?=\s|$)", text[match.end() : end])]
            end = match.end() + (ends[min(1, len(ends) - 1)] if ends else end - match.end())
        passages.append((start, end))
    return passages


def placed_back(reading: LoanReading, document: Document, repaired: Repaired) -> LoanReading:
    """The reading with each quote as it stands in `document`."""
    triples = tuple(_placed_back(triple, document, repaired) for triple in reading.triples)
    passed = [repaired.text[start:end] for start, end in addressed(repaired.text)]
    reason = reading.reason
    if reading.status == "loan" and passed:
        reason = f"the text speaks to its reader, which was passed over: “{one_line(passed[0], _SHOWN)}”"
    return reading.model_copy(update={"triples": triples, "reason": reason})


def _placed_back(triple: Triple, document: Document, repaired: Repaired) -> Triple:
    if triple.evidence is None:
        return triple
    evidence = Evidence.of(document, *repaired.original(triple.evidence.start, triple.evidence.end))
    return triple.model_copy(update={"evidence": evidence})


@cache
def _known() -> frozenset[str]:
    """Words of the trade, beside those of the general dictionary."""
    words = set(_LOAN_WORDS.split())
    for path in LEXICON.parent.glob("*.ttl"):
        for literal in _LITERAL.findall(path.read_text("utf-8")):
            words.update(_WORD.findall(literal.lower()))
    return frozenset(words)
