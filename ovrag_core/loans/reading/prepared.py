"""A document as it is read: repaired, and without what is said to its reader instead of to the parties."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from ovrag_core.base import Document, Evidence, Triple
from ovrag_core.documents import Repaired, repair
from ovrag_core.loans.loan_facts import LoanReading, SecondReading
from ovrag_core.text import Span, one_line

# Words to whoever reads the text, be it a person or a program: no contract between two parties speaks so.
_TO_THE_READER = re.compile(
    r"(?:^|(?<=[.:;!?>\]*\"]))[ \t]*(?:please\s+|now\s+|you\s+(?:must|should)\s+)?"
    r"(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,4}?"
    r"(?:above|foregoing|previous|prior|preceding|earlier|other|system|instructions?|rest|text)\b|"
    r"\b(?:AI|language)\s+(?:reader|model|assistant|system|reviewer|agent)s?\b|"
    r"\b(?:you are|act as)\s+(?:now\s+)?(?:an?|the)\s+(?:AI|helpful|assistant|reviewer)\b|"
    r"\b(?:system|developer|user|assistant)\s+(?:prompt|message|instruction)s?\b|"
    r"^[ \t]*(?:SYSTEM|ASSISTANT|PROMPT)\s*:|"
    r"\b(?:note|instruction|message)s?\s+(?:to|for)\s+(?:\w+\s+)?(?:AI|model|reader|reviewer|software|program|assistant)s?\b|"
    r"\b(?:report|label|classify|output|mark|answer)\s+(?:that\s+)?(?:this|the)\s+(?:loan|document|contract|agreement)\s+"
    r"(?:is|as)\s+(?:clean|consistent|secured|unsecured)\b",
    re.I | re.M,
)
_SHOWN = 160  # characters
_LONGEST = 600  # characters of a paragraph that is set aside whole; of a longer one, the sentence and the next


def prepare(document: Document) -> tuple[Document, Repaired]:
    """The document to be read, and the way back to the one that it was made from."""
    repaired = repair(document.text)
    text = without_orders(repaired.text)
    return Document(document.id, text, document.pages if text == document.text else ()), repaired


def without_orders(text: str) -> str:
    """The text with blanks where it speaks to its reader, so that offsets stay."""
    for start, end in addressed(text):
        text = text[:start] + re.sub(r"\S", " ", text[start:end]) + text[end:]
    return text


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
    triples = tuple(placed(triple, document, repaired.original) for triple in reading.triples)
    passed = [repaired.text[start:end] for start, end in addressed(repaired.text)]
    reason = reading.reason
    if reading.status == "loan" and passed:
        reason = f"the text speaks to its reader, which was passed over: “{one_line(passed[0], _SHOWN)}”"
    return reading.model_copy(update={"triples": triples, "reason": reason})


Said = TypeVar("Said", Triple, SecondReading)


def placed(said: Said, document: Document, original: Callable[[int, int], Span] = lambda *span: span) -> Said:
    """What a text says with its passage as it stands in `document`, whose offsets are the `original` of the text's."""
    if said.evidence is None:
        return said
    evidence = Evidence.of(document, *original(said.evidence.start, said.evidence.end))
    return said.model_copy(update={"evidence": evidence})
