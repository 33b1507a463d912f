"""The loop: retrieve, answer, extract, validate, correct. One question in, one record out."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from ovrag_core.base import (
    Answer,
    Attempt,
    Cause,
    Chunk,
    Correction,
    Document,
    LatencyRecord,
    ModelError,
    ModelSetupError,
    Origin,
    Outcome,
    QueryRecord,
    Question,
    Reading,
    Retrieved,
    Triple,
    Verdict,
    Violation,
)
from ovrag_core.llm import Made, Once, Tally, tally
from ovrag_core.loop.arms import CAUSES, Arm, distinct
from ovrag_core.loop.identity import Shelf, violation
from ovrag_core.loop.validation import Validator, assign_causes, clashes_of
from ovrag_core.loop.validation import feedback as answer_feedback
from ovrag_core.retrieval import Embedder, Index, Vectors

Span = tuple[str, int, int]
ReadingT_co = TypeVar("ReadingT_co", bound=Reading, covariant=True)

READINGS = 64  # of documents in memory, the last ones: a document's questions are asked one after the other
Searcher = Index
Checker = Validator
PUBLISHED_FEEDBACK = "The answer cannot be true together with the documents:"
QUOTED = 6  # words of an answer that are the document's where they stand in it; fewer may be chance


class Answerer(Protocol):
    """Question and chunks to an answer.

    A correction comes with all earlier answers and what was wrong with each (`corrections`, oldest first), and with the
    passages (document id, start, end) that may not be quoted again (`exclude`).
    """

    @property
    def name(self) -> str:
        """The name that results are labelled with."""

    def answer(
        self,
        question: str,
        chunks: Sequence[Chunk],
        *,
        exclude: frozenset[Span] = frozenset(),
        corrections: Sequence[Correction] = (),
    ) -> Answer:
        """An answer from these chunks only. Raises a ModelError where a model gives none."""


class Extractor(Protocol[ReadingT_co]):
    """Text to triples with evidence. Raises a ModelError where a model gives none."""

    def read(self, document: Document) -> ReadingT_co:
        """The triples of a whole document."""

    def read_passage(
        self, text: str, *, document_id: str, start: int = 0, origin: Origin = "context"
    ) -> tuple[Triple, ...]:
        """The triples of a piece of text that begins at `start` of the document."""

    def read_chunks(self, chunks: Sequence[Chunk]) -> tuple[Triple, ...]:
        """The triples of retrieved chunks."""


@dataclass
class Bench(AbstractContextManager["Bench"]):
    """All that the loop works with.

    `pool` is what pooled arms search: all documents, or those up to the asked one, in the order of their ids.
    A document is read once, not once a question, whichever thread asks first; what that used is in the record of
    `payer` (arm and question), so that records do not tell who was first. Without a payer it is in that of the first.
    `shelf`, where given, tells answers about other documents. `cost_usd` prices what was used; `close` ends what the
    bench holds open. Several threads may ask at once. `reader` reads documents as a review does, without a model; where
    it is None, the extractor does. `thing` is the class that the documents are about. `problem` tells why a document is
    none that can be read: what is said of it is then unchecked.
    """

    index: Index
    embedder: Embedder
    answerer: Answerer
    extractor: Extractor[Reading]
    validator: Validator
    documents: Mapping[str, Document]
    top_k: int = 3
    corrections: int = 3
    pool: Literal["whole", "growing"] = "whole"
    model: str = "offline"
    thing: str = "Loan"
    payer: tuple[str, str] | None = None
    shelf: Shelf | None = None
    reader: Extractor[Reading] | None = None
    problem: Callable[[str], str | None] = lambda document_id: None
    cost_usd: Callable[[Tally], float | None] = lambda used: None
    close: Callable[[], None] = lambda: None
    readings: Once[str, Reading] = field(default_factory=lambda: Once(READINGS))
    question_vectors: Once[str, Vectors] = field(default_factory=Once)

    def read(self, document_id: str) -> Made[Reading]:
        """The reading of a document, made at its first use, with what it used."""
        return self.readings.get(document_id, lambda: self.extractor.read(self.documents[document_id]))

    def question_vector(self, question: str) -> Vectors:
        """The vector of a question, counted to every query that needs it."""
        vectors = self.question_vectors.counted(question, lambda: self.embedder.embed([question]))
        return vectors.reshape(-1)

    def __exit__(self, *exception: object) -> None:
        self.close()


@dataclass
class Query:
    """One question under way: what is asked, in which arm, and what has come of it so far; seconds by part of it."""

    question: Question
    document_id: str
    arm: Arm
    bench: Bench
    used: Tally
    retrieved: list[Retrieved] = field(default_factory=list)
    context: tuple[Triple, ...] = ()
    attempts: list[Attempt] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)
    waited: float = 0.0  # seconds for model calls that another query makes and counts

    @property
    def merged(self) -> str | None:
        """The class whose individuals are one in this arm, of whatever document."""
        return self.bench.thing if self.arm.merges else None

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Adds the seconds of its block to the part of that name."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def ask(question: Question, document_id: str, arm: Arm, bench: Bench) -> tuple[QueryRecord, LatencyRecord]:
    """One question about one document through an arm. Labels are added by the experiment.

    Where a model gives no usable reply, the record's outcome is `error`, with the cause and what was done before it.
    Raises what no query can help: ModelSetupError, BudgetError, StoreError, PriceError.
    """
    outcome: Outcome = "error"
    cause, error = None, None
    with tally() as used:
        query = Query(question, document_id, arm, bench, used)
        try:
            _answer(query)
            outcome, cause = _outcome(query.attempts, arm)
        except ModelSetupError:
            raise
        except ModelError as failure:
            error = str(failure)
    key: dict[str, Any] = {"arm": arm.name, "document_id": document_id, "question_id": question.id}
    record = QueryRecord(
        **key,
        question=question.text,
        retrieved=tuple(query.retrieved),
        context_triples=query.context,
        attempts=tuple(query.attempts),
        outcome=outcome,
        cause=cause,
        error=error,
        model=bench.model,
        usage=used.usage,
        cost_usd=bench.cost_usd(used),
        discarded=dict(sorted(used.discarded.items())),
    )
    latency = LatencyRecord(
        **key,
        model=used.total_seconds + query.waited if used.by_purpose else None,
        total=time.perf_counter() - query.started,
        attempts=len(query.attempts),
        **dict.fromkeys(("retrieval", "answering", "extraction", "validation"), 0.0) | query.seconds,
    )
    return record, latency


def with_identity(record: QueryRecord, bench: Bench) -> QueryRecord:
    """The record of an arm that does not validate, with a warning where its answer is about another document."""
    if record.answer is None or bench.shelf is None:
        return record
    bare = Verdict(status="unchecked", reason="the arm does not validate")
    verdict = _noted(bare, record.answer, record.retrieved, record.document_id, bench)
    if not verdict.violations:
        return record
    attempt = record.attempts[-1].model_copy(update={"verdict": verdict})
    return record.model_copy(update={"attempts": (*record.attempts[:-1], attempt)})


def _noted(
    verdict: Verdict,
    answer: Answer,
    retrieved: Sequence[Retrieved],
    document_id: str,
    bench: Bench,
    among: Collection[str] | None = None,
) -> Verdict:
    """The verdict with a warning where the answer, by its text, is not about the asked document alone."""
    if bench.shelf is None:
        return verdict
    context = [bench.index.chunk(hit.chunk_id).text for hit in retrieved]
    judgement = bench.shelf.judge(answer.text, document_id, context=context, among=among)
    warning = violation(judgement, answer.text, document_id, bench.shelf)
    return verdict if warning is None else verdict.model_copy(update={"violations": (*verdict.violations, warning)})


def _answer(query: Query) -> None:
    """The loop, its results added to the query as they come."""
    bench, arm = query.bench, query.arm
    with query.part("retrieval"):
        vector = bench.question_vector(query.question.text)
        query.retrieved = bench.index.search(vector, bench.top_k, _searched(query))
    chunks = [bench.index.chunk(hit.chunk_id) for hit in query.retrieved]
    if arm.validates:
        with query.part("extraction"):
            if arm.context == "document":
                query.context = _document_triples(query)
            else:
                query.context = distinct(bench.extractor.read_chunks(chunks), query.merged)
    corrections: list[Correction] = []
    exclude: frozenset[Span] = frozenset()
    for number in range(1, bench.corrections + 2):
        with query.part("answering"):
            answer = bench.answerer.answer(query.question.text, chunks, exclude=exclude, corrections=tuple(corrections))
        feedback = corrections[-1].feedback if corrections else None
        if not arm.validates:
            query.attempts.append(Attempt(number=1, answer=answer))
            return
        if query.attempts and answer == query.attempts[-1].answer:  # the same answer gives the same verdict
            attempt = query.attempts[-1].model_copy(update={"number": number, "feedback": feedback})
        else:
            attempt = _checked(Attempt(number=number, answer=answer, feedback=feedback), query)
        query.attempts.append(attempt)
        assert attempt.verdict is not None
        clashes = clashes_of(attempt.verdict)
        if attempt.verdict.status != "inconsistent":
            return
        if arm.uses_cause and all(clash.cause != "answer" for clash in clashes):
            return  # nothing of it is the answer's fault
        words = answer_feedback(attempt.verdict) if arm.uses_cause else _published_feedback(clashes)
        corrections.append(Correction(answer=answer, feedback=words))
        exclude |= _contradicting_passages(answer, clashes)


def _published_feedback(clashes: Sequence[Violation]) -> str:
    """What the published loop tells the next attempt: each contradiction in a sentence, whoever caused it."""
    return "\n".join([PUBLISHED_FEEDBACK, *(f"- {clash.message}" for clash in clashes)])


def _searched(query: Query) -> Collection[str] | None:
    """Ids of the documents that retrieval sees; None: all."""
    if query.arm.scoped:
        return {query.document_id}
    if query.bench.pool == "growing":
        return {name for name in query.bench.documents if name <= query.document_id}
    return None


def _document_triples(query: Query) -> tuple[Triple, ...]:
    """The triples of the whole document; the one who pays for the reading counts it."""
    began = time.perf_counter()
    reading, used, fresh = query.bench.read(query.document_id)
    pays = query.bench.payer == (query.arm.name, query.question.id) if query.bench.payer else fresh
    if pays:
        query.used.include(used, cached=not fresh)
    if not (pays and fresh):  # whoever pays, it waited for the model
        query.waited += min(used.total_seconds, time.perf_counter() - began)
    return reading.triples


def _checked(attempt: Attempt, query: Query) -> Attempt:
    """The attempt with the triples of its answer and the verdict on them."""
    bench, arm, document_id = query.bench, query.arm, query.document_id
    if problem := bench.problem(document_id):
        return attempt.model_copy(update={"verdict": Verdict(status="unchecked", reason=problem)})
    with query.part("extraction"):
        triples = bench.extractor.read_passage(attempt.answer.text, document_id="answer", origin="answer")
        if arm.context == "document" and not arm.merges:
            triples = _about_main_subject(triples, bench.read(document_id).value.subjects, bench.thing)
        triples = distinct(triples, query.merged)
    with query.part("validation"):
        judged_triples = _of_its_own(triples, query) if arm.context == "document" else triples
        checked = [*judged_triples, *query.context]
        verdict = bench.validator.check(checked, closed_world=arm.closed_world, document=document_id)
        verdict = assign_causes(verdict, document_id)
        # What was never retrieved cannot be mixed in, and to look at every document would make large runs ever slower.
        verdict = _noted(verdict, attempt.answer, query.retrieved, document_id, bench, _searched(query))
    return attempt.model_copy(update={"triples": triples, "verdict": verdict})


def _of_its_own(triples: tuple[Triple, ...], query: Query) -> tuple[Triple, ...]:
    """Keep what an answer states but does not quote: the document has been read whole, where each sentence stands."""
    text = " ".join(query.bench.documents[query.document_id].text.split())
    spoken = [(triple, triple.evidence.quote.split() if triple.evidence else []) for triple in triples]
    return tuple(triple for triple, words in spoken if len(words) < QUOTED or " ".join(words) not in text)


def _about_main_subject(triples: tuple[Triple, ...], subjects: Sequence[str], thing: str) -> tuple[Triple, ...]:
    """Triples of an answer, about the document's main subject where the answer does not name its own."""
    return tuple(
        triple.model_copy(update={"subject": subjects[0]})
        if subjects and triple.subject_type == thing and triple.subject not in subjects
        else triple
        for triple in triples
    )


def _contradicting_passages(answer: Answer, clashes: Sequence[Violation]) -> frozenset[Span]:
    triples = [triple for clash in clashes for triple in clash.triples if triple.origin == "answer"]
    quotes = {triple.evidence.quote for triple in triples if triple.evidence}
    return frozenset(
        (passage.document_id, passage.start, passage.end)
        for passage in answer.evidence
        if any(quote in passage.quote or passage.quote in quote for quote in quotes)
    )


def _outcome(attempts: Sequence[Attempt], arm: Arm) -> tuple[Outcome, Cause | None]:
    verdict = attempts[-1].verdict
    if verdict is None or verdict.status == "consistent":
        return ("accepted" if len(attempts) == 1 else "corrected"), None
    if verdict.status == "unchecked":
        return "unchecked", None
    causes = {clash.cause for clash in clashes_of(verdict)}
    cause = next((cause for cause in CAUSES if cause in causes), None)
    return ("source_finding" if arm.uses_cause and cause == "source" else "hard_rejected"), cause
