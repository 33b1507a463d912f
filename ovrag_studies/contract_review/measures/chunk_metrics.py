"""Measures of retrieved chunks by gold spans; arms are frames with one row per answerable question.

A chunk finds an answer if it holds at least half of the characters of one of its spans. Intervals resample contracts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy
import pandas

from ovrag_core.base import Chunk, Document
from ovrag_core.evaluation import Difference, Estimate, Resampling, holm, paired_difference, ratio
from ovrag_core.study import bounds
from ovrag_core.text import Span, find_passages
from ovrag_studies.contract_review.retrieval.retrievers import FoundChunk
from ovrag_studies.contract_review.texts.datasets import ChecklistQuestion, Contract

BUDGET = 6144  # characters: three chunks of 2,048
DEPTH = 50  # chunks that an arm returns to be measured
SHARE = 0.5  # of a gold span that a chunk must hold
CONTEXT = 3  # chunks that are handed on to whoever answers


class Measures(NamedTuple):
    """Measures of one ranking for one question.

    `recall_k`: one of the first k chunks finds an answer. `mrr`: 1 / rank of the first that does, 0 without. `hit`: one
    within the first 6,144 characters does; `hit_third`: within a third of them. `presence`: a gold span lies whole in
    the text of the first three. `relevancy`: the share of their sentences that overlap a gold span; None without one.
    """

    recall_1: float
    recall_3: float
    mrr: float
    hit: float
    hit_third: float
    presence: float
    relevancy: float | None


MEASURES = Measures._fields


def finds(chunk: Chunk, gold: Iterable[Span]) -> bool:
    """Return True where a chunk of the same contract holds at least half of one of the gold spans."""
    return any(min(chunk.end, end) - max(chunk.start, start) >= SHARE * (end - start) for start, end in gold)


def measure(document: Document, ranked: Sequence[Chunk], gold: Sequence[Span], budget: int = BUDGET) -> Measures:
    """Measures of chunks, best first; those of other contracts find nothing. Raises ValueError without a gold span."""
    if not gold:
        raise ValueError("retrieval is measured for questions that have an answer")
    hits = [chunk.document_id == document.id and finds(chunk, gold) for chunk in ranked]
    used = numpy.cumsum([chunk.end - chunk.start for chunk in ranked])
    first_end = min((end for hit, end in zip(hits, used, strict=True) if hit), default=budget + 1)
    context = ranked[:CONTEXT]
    own_chunks = [chunk for chunk in context if chunk.document_id == document.id]
    return Measures(
        recall_1=float(any(hits[:1])),
        recall_3=float(any(hits[:3])),
        mrr=1 / (hits.index(True) + 1) if True in hits else 0.0,
        hit=float(first_end <= budget),
        hit_third=float(first_end <= budget // 3),
        presence=float(any(_is_covered(document.text, span, own_chunks) for span in gold)),
        relevancy=_relevancy(document.id, context, gold),
    )


def _is_covered(text: str, span: Span, chunks: Sequence[Chunk]) -> bool:
    """Return True where chunks together hold every character of a span, but for white space at their borders."""
    reached, end = span
    for chunk in sorted(chunks, key=lambda chunk: chunk.start):
        if reached < chunk.start and text[reached : chunk.start].isspace():
            reached = chunk.start
        if chunk.start <= reached < chunk.end:
            reached = chunk.end
    return reached >= end


def _relevancy(document_id: str, chunks: Sequence[Chunk], gold: Sequence[Span]) -> float | None:
    sentences = {(chunk.document_id, span) for chunk in chunks for span in find_passages(chunk.text, chunk.start)}
    relevant = [
        owner == document_id and any(start < right and left < end for left, right in gold)
        for owner, (start, end) in sentences
    ]
    return sum(relevant) / len(relevant) if relevant else None


Arm = Callable[[Contract, ChecklistQuestion], Sequence[FoundChunk]]


def run(contracts: Sequence[Contract], arm: Arm, budget: int = BUDGET) -> pandas.DataFrame:
    """One row per answerable question: contract, question, category, and its measures."""
    rows = [
        {"contract": contract.document.id, "question": question.id, "category": question.category}
        | measure(contract.document, [hit.chunk for hit in arm(contract, question)], question.gold, budget)._asdict()
        for contract in contracts
        for question in contract.questions
        if question.gold
    ]
    return pandas.DataFrame(rows, columns=["contract", "question", "category", *MEASURES])


def estimate(frame: pandas.DataFrame, measure_name: str, plan: Resampling) -> Estimate:
    """A measure's mean over the questions of a frame, with its interval over contracts."""
    return ratio(*_by_contract(frame, measure_name), plan, proportion=measure_name != "relevancy")


def difference(first: pandas.DataFrame, second: pandas.DataFrame, measure_name: str, plan: Resampling) -> Difference:
    """First minus second on the same questions. Raises ValueError where the questions differ."""
    if list(first["question"]) != list(second["question"]):
        raise ValueError("arms are compared on the same questions")
    return paired_difference(_by_contract(first, measure_name), _by_contract(second, measure_name), plan)


def differences(
    arms: Mapping[str, pandas.DataFrame], baseline: str, measure_name: str, plan: Resampling
) -> pandas.DataFrame:
    """Every arm minus the baseline: value, interval, p, and p after Holm's adjustment over these comparisons."""
    others = [name for name in arms if name != baseline]
    gaps = [difference(arms[name], arms[baseline], measure_name, plan) for name in others]
    table = pandas.DataFrame([{**bounds("difference", gap), "p": gap.p} for gap in gaps])
    table["arm"], table["holm"] = others, holm([gap.p for gap in gaps])
    return table


def _by_contract(frame: pandas.DataFrame, measure_name: str) -> tuple[list[float], list[float]]:
    grouped = frame.groupby("contract", sort=True)[measure_name]
    return grouped.sum().astype(float).tolist(), grouped.count().astype(float).tolist()
