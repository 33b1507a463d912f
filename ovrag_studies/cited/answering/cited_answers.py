"""Answers whose every sentence quotes the corpus: copied from the evidence, or a chat model's where it is supported.

Where nothing is left, or too little speaks for it, the answer is silent and says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log

from ovrag_core.llm import Chat
from ovrag_core.text import stems
from ovrag_studies.cited.answering.chat_answers import ask_chat
from ovrag_studies.cited.answering.quotations import (
    Citation,
    CitedAnswer,
    CitedSentence,
    cite,
    find_instructions,
    quotable_spans,
    silent_answer,
)
from ovrag_studies.cited.answering.verification import SentenceVerifier
from ovrag_studies.cited.corpus.policies import Paragraph
from ovrag_studies.cited.corpus.relevance import load_reader
from ovrag_studies.cited.corpus.retrieval import RankedParagraph

LONGEST_QUERY = 2000  # characters
EXTRACTIVE = "extractive"
SENTENCES = 3  # of an answer, at most
CLOSE = 0.7  # of the best sentence's score, from which others are copied

# Weights of a sentence's score beside its own cosine with the query, which counts 1.
WITH_PARAGRAPH = 0.3
WITH_WORDS = 0.3
WITH_READER = 0.06  # of log-odds; for the last sentence only, which is to say what the others may have missed
FAR = 0.6  # of the best score, which the last sentence needs


def answer(
    query: str,
    evidence: Sequence[RankedParagraph],
    verifier: SentenceVerifier,
    chat: Chat | None = None,
    seed: int | None = 42,
) -> CitedAnswer:
    """Return the answer to a query by its evidence, best first: copied, or a chat model's where one is given.

    Nothing is answered that no evidence supports: an empty or endless query, no evidence, an unusable reply and one
    without a supported sentence give silence with its reason.
    """
    by = chat.name if chat else EXTRACTIVE
    if not query.strip() or len(query) > LONGEST_QUERY:
        reason = f"a question has 1 to {LONGEST_QUERY} characters, not {len(query)}"
        return silent_answer(query[:LONGEST_QUERY], reason, by)
    paragraphs = list({ranked.paragraph.id: ranked.paragraph for ranked in evidence}.values())
    if not paragraphs:
        return silent_answer(query, "nothing was found", by)
    cited_answer = (
        ask_chat(query, paragraphs, verifier, chat, seed) if chat else copy_sentences(query, paragraphs, verifier)
    )
    return replace(
        cited_answer, notices=tuple(notice for paragraph in paragraphs for notice in find_instructions(paragraph))
    )


def copy_sentences(query: str, paragraphs: Sequence[Paragraph], verifier: SentenceVerifier) -> CitedAnswer:
    """Return the answer of SENTENCES copied sentences at most, best first, each its own quotation.

    Copied is what scores at least CLOSE times the best; the last that there is room for is the one that most surely
    answers, by the reader too.
    """
    spans = [(row, span) for row, paragraph in enumerate(paragraphs) for span in quotable_spans(paragraph.text)]
    if not spans:
        return silent_answer(query, "the evidence holds no sentence", EXTRACTIVE)
    texts = [paragraphs[row].text[start:end] for row, (start, end) in spans]
    cosines = verifier.likeness(query, texts)
    paragraph_cosines = verifier.likeness(query, [paragraph.text for paragraph in paragraphs])
    scores = [
        cosine + WITH_PARAGRAPH * paragraph_cosines[row] + WITH_WORDS * share
        for cosine, (row, _), share in zip(cosines, spans, _word_shares(query, texts), strict=True)
    ]
    best = sorted(range(len(spans)), key=lambda index: -scores[index])
    chosen = [index for index in best if scores[index] >= CLOSE * scores[best[0]]]
    if len(set(texts)) > SENTENCES:
        chosen = chosen[: SENTENCES - 1]
        odds = load_reader().read(
            query, [_window(paragraphs[row].text, spans, index) for index, (row, _) in enumerate(spans)]
        )
        candidates = [index for index in best if index not in chosen and scores[index] >= FAR * scores[best[0]]]
        chosen += sorted(candidates, key=lambda index: -scores[index] - WITH_READER * odds[index])
    citations: dict[str, list[Citation]] = {}
    for index in chosen:
        if texts[index] in citations or len(citations) < SENTENCES:
            citations.setdefault(texts[index], []).append(cite(paragraphs[spans[index][0]], *spans[index][1]))
    sentences = tuple(CitedSentence(" ".join(text.split()), tuple(cited)) for text, cited in citations.items())
    return CitedAnswer(query, sentences, (), False, "", max(0.0, min(1.0, max(cosines))), EXTRACTIVE)


def _window(text: str, spans: Sequence[tuple[int, tuple[int, int]]], place: int) -> str:
    """A sentence behind the one before it, where that is of the same paragraph."""
    row, (start, end) = spans[place]
    before = spans[place - 1] if place else (row - 1, (0, 0))
    return text[before[1][0] if before[0] == row else start : end]


def _word_shares(query: str, texts: Sequence[str]) -> list[float]:
    """For each text the share of the query's words in it, rare ones among the texts counting more."""
    wanted, text_stems = set(stems(query)), [set(stems(text)) for text in texts]
    weights = {word: log(1 + len(texts) / (1 + sum(word in words for words in text_stems))) for word in sorted(wanted)}
    total = sum(weights.values()) or 1.0
    return [sum(weight for word, weight in weights.items() if word in words) / total for words in text_stems]
