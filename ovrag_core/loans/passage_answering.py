"""Answers that quote the agreement: the passages of which a reader is sure that they answer the question.

The reader has learned it from questions about agreements (`tools/train_passages.py`). Where it is sure of none, the
passages that lie nearest are shown, which need not answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ovrag_core.base import Answer, Chunk, Evidence, project_file
from ovrag_core.loop import passages_of
from ovrag_core.retrieval import RelevanceReader

WEIGHTS = Path("ontologies/lexicon/passages.safetensors")
SURE = 1.0  # log-odds from which a passage answers
RIVAL = 1.5  # of the best one's log-odds: as good as it
MOST = 2  # passages of an answer
SAYS = "The agreement says:"


@dataclass(frozen=True, slots=True)
class Readable:
    """A passage as the reader sees it: below its heading, and behind the passage before it."""

    evidence: Evidence
    alone: str
    behind: str


def readings_of(chunks: Sequence[Chunk]) -> list[Readable]:
    """The passages of chunks, in the order of the text."""
    return list(_readings(chunks))


def _readings(chunks: Sequence[Chunk]) -> Iterator[Readable]:
    before = ""
    for passage in passages_of(chunks):
        words = " ".join(passage.text.split())
        heading = " ".join(passage.heading.split())
        yield Readable(passage.evidence, f"{heading}: {words}" if heading else words, f"{before} {words}".strip())
        before = words


def answering_passages(question: str, chunks: Sequence[Chunk], sure: float = SURE) -> list[tuple[Evidence, float]]:
    """The passages that answer a question, each with its log-odds, in the order of the text."""
    passages = readings_of(chunks)
    texts = [text for passage in passages for text in (passage.alone, passage.behind)]
    odds = load_passage_reader().read(question, texts)
    scores = [(alone + behind) / 2 for alone, behind in zip(odds[::2], odds[1::2], strict=True)]
    best = sorted(range(len(scores)), key=lambda row: -scores[row])[:MOST]
    chosen = sorted(row for row in best if scores[row] >= sure and scores[row] >= scores[best[0]] - RIVAL)
    return [(passages[row].evidence, scores[row]) for row in chosen]


def quoted_answer(evidence: Sequence[Evidence]) -> Answer:
    """An answer in the agreement's own words."""
    return Answer(text="\n".join([SAYS, *(each.quote for each in evidence)]), evidence=tuple(evidence))


@cache
def load_passage_reader() -> RelevanceReader:
    """The reader, loaded once in a process. Raises SettingsError where the weights cannot be read."""
    return RelevanceReader(project_file(WEIGHTS))
