"""The loop: retrieve, answer, extract, validate, correct. One question in, one record out."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from ovrag_core.arms import MERGED_CLASS, Arm, merge_individuals
from ovrag_core.retrieval.embedding import Embedder
from ovrag_core.settings import Question
from ovrag_core.types import (
    Answer,
    Attempt,
    Cause,
    Chunk,
    Document,
    LatencyRecord,
    Origin,
    Outcome,
    QueryRecord,
    Reading,
    Retrieved,
    Triple,
    Verdict,
)
from ovrag_core.validation import assign_causes
from ovrag_core.validation import feedback as answer_feedback

Span = tuple[str, int, int]


class Searcher(Protocol):
    """An index of chunks: exact top-k by vector, over all documents or some."""

    def search(self, vector: np.ndarray, top_k: int, documents: Collection[str] | None = None) -> list[Retrieved]:
        """The `top_k` nearest chunks of the documents with these ids (None: of all), best first."""

    def chunk(self, chunk_id: str) -> Chunk:
        """The chunk of that id."""


class Answerer(Protocol):
    """Question and chunks to an answer; passages in `exclude` (document id, start, end) may not be used."""

    @property
    def name(self) -> str:
        """The name that results are labelled with."""

    def answer(self, question: str, chunks: Sequence[Chunk], *, exclude: frozenset[Span] = frozenset()) -> Answer:
        """An answer from these chunks only."""


class Extractor(Protocol):
    """Text to triples with evidence."""

    def read(self, document: Document) -> Reading:
        """The facts and triples of a whole document."""

    def read_passage(
        self, text: str, *, document_id: str, start: int = 0, origin: Origin = "context"
    ) -> tuple[Triple, ...]:
        """The triples of a piece of text that begins at `start` of the document."""


class Checker(Protocol):
    """Triples to a verdict."""

    def check(self, triples: Sequence[Triple], *, closed_world: bool = True, document: str | None = None) -> Verdict:
        """Whether the triples can be true together; `unchecked` where that could not be decided.

        Of several explanations one from the asked `document` alone is preferred.
        """


@dataclass
class Bench:
    """All that the loop works with.

    `pool` is what pooled arms search: all documents, or those up to the asked one, in the order of their ids.
    `readings` keeps each document's reading: it is read once, not once a question.
    """

    index: Searcher
    embedder: Embedder
    answerer: Answerer
    extractor: Extractor
    validator: Checker
    documents: Mapping[str, Document]
    top_k: int = 3
    corrections: int = 3
    pool: Literal["whole", "growing"] = "whole"
    model: str = "offline"
    readings: dict[str, Reading] = field(default_factory=dict)

    def reading(self, document_id: str) -> Reading:
        """The reading of a document, made at its first use."""
        if document_id not in self.readings:
            self.readings[document_id] = self.extractor.read(self.documents[document_id])
        return self.readings[document_id]


@dataclass
class Stopwatch:
    """Seconds by part of a query."""

    seconds: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Adds the seconds of its block to the part of that name."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def total(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started


def ask(question: Question, document_id: str, arm: Arm, bench: Bench) -> tuple[QueryRecord, LatencyRecord]:
    """One question about one document through an arm. Labels are added by the experiment."""
    watch = Stopwatch()
    with watch.part("retrieval"):
        retrieved = _retrieve(question.text, document_id, arm, bench)
    chunks = [bench.index.chunk(hit.chunk_id) for hit in retrieved]
    context: tuple[Triple, ...] = ()
    if arm.validates:
        with watch.part("extraction"):
            context = _context_triples(document_id, chunks, arm, bench)
    attempts = _attempts(question.text, document_id, chunks, context, arm, bench, watch)
    outcome, cause = _outcome(attempts, arm)
    record = QueryRecord(
        arm=arm.name,
        document_id=document_id,
        question_id=question.id,
        question=question.text,
        retrieved=tuple(retrieved),
        context_triples=context,
        attempts=tuple(attempts),
        outcome=outcome,
        cause=cause,
        model=bench.model,
    )
    parts = {part: watch.seconds.get(part, 0.0) for part in ("retrieval", "answering", "extraction", "validation")}
    latency = LatencyRecord(
        arm=arm.name,
        document_id=document_id,
        question_id=question.id,
        total=watch.total(),
        attempts=len(attempts),
        **parts,
    )
    return record, latency


def _retrieve(question: str, document_id: str, arm: Arm, bench: Bench) -> list[Retrieved]:
    vector = bench.embedder.embed([question])[0]
    return bench.index.search(vector, bench.top_k, _searched(document_id, arm, bench))


def _searched(document_id: str, arm: Arm, bench: Bench) -> Collection[str] | None:
    if arm.scoped:
        return {document_id}
    if bench.pool == "growing":
        return {other for other in bench.documents if other <= document_id}
    return None


def _context_triples(document_id: str, chunks: Sequence[Chunk], arm: Arm, bench: Bench) -> tuple[Triple, ...]:
    if arm.context == "document":
        return bench.reading(document_id).triples
    triples = [
        triple
        for chunk in chunks
        for triple in bench.extractor.read_passage(chunk.text, document_id=chunk.document_id, start=chunk.start)
    ]
    return merged(triples) if arm.merges else unique(triples)


def merged(triples: Sequence[Triple]) -> tuple[Triple, ...]:
    """Triples about one individual, duplicates dropped."""
    return unique(merge_individuals(tuple(triples)))


def unique(triples: Sequence[Triple]) -> tuple[Triple, ...]:
    """Triples without those that repeat subject, predicate and object of an earlier one, in order."""
    first: dict[tuple[str, str, str], Triple] = {}
    for triple in triples:
        first.setdefault((triple.subject, triple.predicate, triple.object), triple)
    return tuple(first.values())


def _attempts(
    question: str,
    document_id: str,
    chunks: Sequence[Chunk],
    context: tuple[Triple, ...],
    arm: Arm,
    bench: Bench,
    watch: Stopwatch,
) -> list[Attempt]:
    attempts: list[Attempt] = []
    exclude: frozenset[Span] = frozenset()
    feedback: str | None = None
    for number in range(1, bench.corrections + 2):
        with watch.part("answering"):
            answer = bench.answerer.answer(question, chunks, exclude=exclude)
        if not arm.validates:
            return [Attempt(number=1, answer=answer)]
        if attempts and answer == attempts[-1].answer:
            attempts.append(attempts[-1].model_copy(update={"number": number, "feedback": feedback}))
            continue  # the same answer gives the same verdict
        with watch.part("extraction"):
            triples = _answer_triples(answer, document_id, arm, bench)
        with watch.part("validation"):
            verdict = _verdict(triples, context, document_id, arm, bench)
        attempts.append(Attempt(number=number, answer=answer, triples=triples, verdict=verdict, feedback=feedback))
        if not _can_be_corrected(verdict, arm):
            break
        feedback = answer_feedback(verdict) if arm.uses_cause else correction_feedback(verdict)
        exclude |= _contradicting_passages(answer, verdict)
    return attempts


def _answer_triples(answer: Answer, document_id: str, arm: Arm, bench: Bench) -> tuple[Triple, ...]:
    triples = bench.extractor.read_passage(answer.text, document_id="answer", origin="answer")
    if arm.merges:
        return merged(triples)
    if arm.context == "document":
        triples = _about_main_facility(triples, bench.reading(document_id))
    return unique(triples)


def _about_main_facility(triples: tuple[Triple, ...], reading: Reading) -> tuple[Triple, ...]:
    """An answer speaks of one facility without naming it; that is the document's main one."""
    subjects = {facility.subject for facility in reading.facilities}
    if not subjects:
        return triples
    main = reading.facilities[0].subject
    return tuple(
        triple.model_copy(update={"subject": main})
        if triple.subject_type == MERGED_CLASS and triple.subject not in subjects
        else triple
        for triple in triples
    )


def _verdict(
    triples: tuple[Triple, ...], context: tuple[Triple, ...], document_id: str, arm: Arm, bench: Bench
) -> Verdict:
    verdict = bench.validator.check([*triples, *context], closed_world=arm.closed_world, document=document_id)
    return assign_causes(verdict, document_id)


def _can_be_corrected(verdict: Verdict, arm: Arm) -> bool:
    if verdict.status != "inconsistent":
        return False
    if not arm.uses_cause:
        return True
    return any(violation.cause == "answer" for violation in verdict.violations if violation.severity == "clash")


def correction_feedback(verdict: Verdict) -> str:
    """What the published loop tells the next attempt: each contradiction in a sentence, whoever caused it."""
    lines = [violation.message for violation in verdict.violations if violation.severity == "clash"]
    return "The answer cannot be true together with the documents:\n" + "\n".join(f"- {line}" for line in lines)


def _contradicting_passages(answer: Answer, verdict: Verdict) -> frozenset[Span]:
    quotes = {
        triple.evidence.quote
        for violation in verdict.violations
        if violation.severity == "clash"
        for triple in violation.triples
        if triple.origin == "answer" and triple.evidence
    }
    return frozenset(
        (passage.document_id, passage.start, passage.end)
        for passage in answer.evidence
        if any(quote in passage.quote or passage.quote in quote for quote in quotes)
    )


def _outcome(attempts: Sequence[Attempt], arm: Arm) -> tuple[Outcome, Cause | None]:
    last = attempts[-1]
    if last.verdict is None or last.verdict.status == "consistent":
        return ("accepted" if len(attempts) == 1 else "corrected"), None
    if last.verdict.status == "unchecked":
        return "unchecked", None
    causes = {violation.cause for violation in last.verdict.violations if violation.severity == "clash"}
    for cause in ("answer", "mixture", "source"):
        if cause in causes:
            return ("source_finding" if arm.uses_cause and cause == "source" else "hard_rejected"), cause
    return "hard_rejected", None
