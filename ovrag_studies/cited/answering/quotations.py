"""Sentences with the quotations that they rest on: what they are, how they are made, and whether they still hold."""

import re
from dataclasses import dataclass

from ovrag_core.text import find_passages, one_line
from ovrag_studies.cited.corpus.policies import Paragraph, PolicyCorpus
from ovrag_studies.cited.corpus.sources import text_digest

_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.]{0,60}"
    r"\b(?:instructions?|prompts?|rules above|everything (?:above|before))\b"
    r"|\b(?:assistants?|language models?|chatbots?|LLMs?|AI (?:systems?|tools?|models?|agents?))\b[^.]{0,80}"
    r"\b(?:reply|respond|answer|output|say|state|tell the user|reveal)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Citation:
    """A quotation: `quote` is the document's text from `start` to `end`, `sha256` that of the quote in UTF-8."""

    doc_id: str
    paragraph_id: str
    page: int
    start: int
    end: int
    quote: str
    sha256: str


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer with what it rests on; a copied one is its own quotation."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Removed:
    """A sentence that is not part of the answer, and why."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer, or silence with its reason. `confidence` is the best sentence's cosine with the query.

    `repairs` counts calls to mend a reply, `unknown` ids that the evidence lacks, `invented` quotes that do not stand
    where they are said to. `notices` tell of evidence that addresses assistants.
    """

    query: str
    sentences: tuple[CitedSentence, ...]
    removed: tuple[Removed, ...] = ()
    silent: bool = False
    reason: str = ""
    confidence: float = 0.0
    repairs: int = 0
    unknown: int = 0
    invented: int = 0
    notices: tuple[str, ...] = ()


def silent_answer(query: str, reason: str) -> CitedAnswer:
    """Return the silence of whatever was to answer, with its reason."""
    return CitedAnswer(query, (), silent=True, reason=reason)


def quotable_spans(text: str) -> list[tuple[int, int]]:
    """Return the sentences to quote from; what is left after an abbreviation ("ext. 9999") joins the former."""
    spans: list[tuple[int, int]] = []
    for start, end in find_passages(text):
        if spans and text.count(" ", start, end) < 2 and not text[start].isupper():
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [(start, end) for start, end in spans if not _INSTRUCTION.search(text, start, end)]


def cite(paragraph: Paragraph, start: int, end: int) -> Citation:
    """The citation of a paragraph's text from `start` to `end`, at the paragraph's first place."""
    quote = paragraph.text[start:end]
    span = paragraph.start + start, paragraph.start + end
    return Citation(paragraph.doc_id, paragraph.id, paragraph.page, *span, quote, text_digest(quote))


def verifies(citation: Citation, corpus: PolicyCorpus) -> bool:
    """Return True where a quotation stands where it says, unchanged, in a paragraph that the corpus has."""
    paragraph = corpus.by_id.get(citation.paragraph_id)
    places = [place for place in paragraph.places if place.doc_id == citation.doc_id] if paragraph else []
    if not any(place.start <= citation.start < citation.end <= place.end for place in places):
        return False
    text = corpus.documents[citation.doc_id].text[citation.start : citation.end]
    return text == citation.quote and text_digest(citation.quote) == citation.sha256


def find_instructions(paragraph: Paragraph) -> list[str]:
    """Find what a paragraph says to assistants, which is never followed: one line each, naming the paragraph."""
    return [
        f"{paragraph.id} addresses assistants: {one_line(paragraph.text[start:end], 160)}"
        for start, end in find_passages(paragraph.text)
        if _INSTRUCTION.search(paragraph.text, start, end)
    ]
