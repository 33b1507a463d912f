"""Answers that quote the agreement: the passages of which a reader is sure that they answer the question.

The reader has learned it from questions about agreements (`tools/train_passages.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy

from ovrag_core.base import Answer, Chunk, Document, Evidence, project_file
from ovrag_core.loop import passages_of
from ovrag_core.retrieval import RelevanceReader, minilm

WEIGHTS = Path("ontologies/lexicon/passages.safetensors")
# Log-odds, chosen on `training/loans/asked.json` and on questions about the drafters set aside.
SURE = 2.5  # from which a passage answers
RIVAL = 2.0  # below the best one: still as good as it
MOST = 2  # passages of an answer
READ = 32  # passages, the nearest, that are read with the question
SHORT = 12_000  # characters of a document that is read; longer ones the reader has not learned from
SAYS = "The agreement says:"


@dataclass(frozen=True, slots=True)
class Readable:
    """A passage as the reader sees it: below its heading, and behind the passage before it."""

    evidence: Evidence
    alone: str
    behind: str


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A passage and the log-odds that it answers a question: `alone`, and the mean with those behind the one before."""

    evidence: Evidence
    alone: float
    odds: float


def readings_of(chunks: Sequence[Chunk]) -> list[Readable]:
    """The passages of chunks, in the order of the text."""
    passages = passages_of(chunks)
    words = [" ".join(passage.text.split()) for passage in passages]
    headings = [f"{' '.join(passage.heading.split())}: " if passage.heading else "" for passage in passages]
    return [
        Readable(passage.evidence, heading + own, f"{before} {own}".strip())
        for passage, heading, before, own in zip(passages, headings, ["", *words], words, strict=False)
    ]


def read_passages(question: str, document: Document) -> list[ReadPassage]:
    """The passages nearest to a question, each with its log-odds, in the order of the text.

    There are none of a long document: the reader has learned from none.
    """
    if len(document.text) > SHORT:
        return []
    passages = readings_of([Chunk(document.id, document.id, 0, len(document.text), document.text)])
    vectors = minilm().embed([question, *(passage.alone for passage in passages)])
    nearest = numpy.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:READ]
    near = [passages[row] for row in sorted(nearest)]
    odds = load_passage_reader().read(question, [text for passage in near for text in (passage.alone, passage.behind)])
    return [ReadPassage(p.evidence, a, (a + b) / 2) for p, a, b in zip(near, odds[::2], odds[1::2], strict=True)]


def overlaps(passage: Evidence, others: Sequence[Evidence]) -> bool:
    """Return True where a passage shares text with one of the others."""
    return any(passage.start < other.end and other.start < passage.end for other in others)


def sure_of(passages: Sequence[ReadPassage]) -> list[Evidence]:
    """The passages that answer, in the order of the text; none where the reader is sure of none.

    One that is not sure by itself, behind one that answers better, is there for what it stands behind.
    """
    leaning = {
        passage.evidence
        for before, passage in pairwise(passages)
        if passage.alone < SURE and before.odds >= max(SURE, passage.odds)
    }
    best = sorted((p for p in passages if p.evidence not in leaning), key=lambda passage: -passage.odds)[:MOST]
    chosen = [p.evidence for p in best if p.odds >= max(SURE, best[0].odds - RIVAL)]
    return sorted(chosen, key=lambda evidence: evidence.start)


def with_quotes(answer: str, told: Sequence[Evidence], quotes: Sequence[Evidence]) -> Answer:
    """An answer that ends in the agreement's own words."""
    text = "\n".join([*([answer] if answer else []), SAYS, *(quote.quote for quote in quotes)])
    return Answer(text=text, evidence=(*told, *quotes))


@cache
def load_passage_reader() -> RelevanceReader:
    """The reader, loaded once in a process. Raises SettingsError where the weights cannot be read."""
    return RelevanceReader(project_file(WEIGHTS))
