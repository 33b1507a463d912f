"""The few types everything is said in. Frozen; offsets are in characters, seconds are seconds."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import BaseModel, Field

Origin = Literal["answer", "context"]
Severity = Literal["clash", "warning"]
ViolationKind = Literal["owl", "closed_world", "identity"]
Cause = Literal["answer", "source", "mixture"]
Status = Literal["consistent", "inconsistent", "unchecked"]
Outcome = Literal["accepted", "corrected", "hard_rejected", "source_finding", "unchecked", "error"]
Label = Literal["CLEAN", "CLASH", "UNCHECKED"]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a document: 1-based number, and its span `[start, end)` in `Document.text`."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """A headed part of a document: heading text, and its span `[start, end)` in `Document.text`, heading included."""

    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text with the spans of its pages and sections. `id` is unique within one call (a path or a file stem)."""

    id: str
    text: str
    pages: tuple[Page, ...] = ()
    sections: tuple[Section, ...] = ()

    def page_at(self, offset: int) -> int | None:
        """Number of the page that holds the character at `offset`; None where the format has no pages."""
        if not self.pages:
            return None
        return self.pages[max(0, bisect_right([page.start for page in self.pages], offset) - 1)].number


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrievable piece: `text == document.text[start:end]`."""

    id: str
    document_id: str
    start: int
    end: int
    text: str


class Frozen(BaseModel, frozen=True, extra="forbid"):
    """A value that crosses a file boundary: immutable, and an unknown field is an error."""


class Evidence(Frozen):
    """A verbatim passage: `text[start:end] == quote` in the document named."""

    document_id: str
    start: int
    end: int
    quote: str
    page: int | None = None

    @classmethod
    def of(cls, document: Document, start: int, end: int) -> Evidence:
        """The passage of `document` at `[start, end)`. Raises ValueError where the span is not inside the text."""
        if not 0 <= start < end <= len(document.text):
            raise ValueError(f"span {start}:{end} is not inside {document.id} of {len(document.text)} characters")
        quote = document.text[start:end]
        return cls(document_id=document.id, start=start, end=end, quote=quote, page=document.page_at(start))


class Triple(Frozen):
    """A statement with the classes of its ends, as extractors write it; terms are names, not IRIs.

    `predicate` is a property's name or `rdf:type`; `object` of a type statement is a class's name. `origin` says
    whether it was read from an answer or from the context, `evidence` where.
    """

    subject: str
    predicate: str
    object: str
    subject_type: str = ""
    object_type: str = ""
    origin: Origin = "context"
    evidence: Evidence | None = None


class Violation(Frozen):
    """One contradiction or warning.

    `triples` is a minimal set that breaks `rule`; `axioms` are the ontology's part of the explanation in Manchester
    syntax; `message` is a sentence for people. `clash_type` is None for what does not make a document CLASH.
    """

    rule: str
    clash_type: str | None
    severity: Severity
    kind: ViolationKind
    cause: Cause | None = None
    triples: tuple[Triple, ...] = ()
    axioms: tuple[str, ...] = ()
    message: str


class Verdict(Frozen):
    """Result of validation. `inconsistent` means at least one violation of severity clash; `unchecked` carries why.

    `unmapped` are triples for which the ontology has no term: for the predicate, the class or the type beside a name.
    They are reported and counted, never silently dropped.
    """

    status: Status
    violations: tuple[Violation, ...] = ()
    reason: str | None = None
    unmapped: tuple[Triple, ...] = ()


class Answer(Frozen):
    """An answer; `evidence` are the passages it was taken from (empty for a model that quotes none)."""

    text: str
    evidence: tuple[Evidence, ...] = ()


class Attempt(Frozen):
    """One pass through the loop: the answer, its triples, the verdict (None in arms that do not validate)."""

    number: int
    answer: Answer
    triples: tuple[Triple, ...] = ()
    verdict: Verdict | None = None
    feedback: str | None = None


class Correction(Frozen):
    """Word to the next attempt about an earlier one: its answer, and what was wrong with it."""

    answer: Answer
    feedback: str


class Retrieved(Frozen):
    """A retrieved chunk by reference; `score` is cosine similarity to the question."""

    chunk_id: str
    document_id: str
    start: int
    end: int
    score: float


class Usage(Frozen):
    """Model calls and tokens of one query; all zero offline."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Recorded(Frozen):
    """Facts of a query from a run recorded elsewhere that none of our own fields holds; None where it is silent.

    Records of such a run have it, others do not. `attempts` counts attempts of which no answer was recorded. The scores
    are those of the run's own evaluation. What the last answer is `about` was found from its text when the run was
    imported, where the documents were at hand.
    """

    SCORES: ClassVar[tuple[str, ...]] = ("rouge_l", "bertscore_precision", "bertscore_recall", "bertscore_f1")

    attempts: int | None = None
    rouge_l: float | None = None
    bertscore_precision: float | None = None
    bertscore_recall: float | None = None
    bertscore_f1: float | None = None
    about: Literal["asked", "mixed", "other", "none"] | None = None
    about_documents: tuple[str, ...] = ()

    @property
    def has_scores(self) -> bool:
        """True where the run came with any score of the answer."""
        return any(getattr(self, name) is not None for name in self.SCORES)


class QueryRecord(Frozen):
    """One line of a run: a question asked of a contract in an arm, and all that came of it.

    The expected label, clash type and reference answer are carried along, so that evaluation reads runs and nothing
    else. `label` is None for contracts without ground truth.
    """

    arm: str
    document_id: str
    question_id: str
    question: str
    label: Label | None = None
    clash_type: str | None = None
    reference_answer: str | None = None
    retrieved: tuple[Retrieved, ...] = ()
    context_triples: tuple[Triple, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    outcome: Outcome
    cause: Cause | None = None
    error: str | None = None
    model: str
    usage: Usage = Field(default_factory=Usage)
    cost_usd: float | None = None
    discarded: dict[str, int] = Field(default_factory=dict)  # statements of a model that are no triples, by reason
    recorded: Recorded | None = None

    @property
    def attempt_count(self) -> int:
        """Attempts that were made, also where their answers were not recorded."""
        return (self.recorded.attempts if self.recorded else None) or len(self.attempts)

    @property
    def flagged(self) -> bool:
        """Positive in a confusion matrix: refused, or reported as contradicting itself."""
        return self.outcome in ("hard_rejected", "source_finding")

    @property
    def failure(self) -> str | None:
        """Reason why the query was not judged: its error, or why the last check was none. None where it was."""
        if self.outcome not in ("error", "unchecked"):
            return None
        verdict = self.attempts[-1].verdict if self.attempts else None
        return self.error or (verdict.reason if verdict else None) or self.outcome

    @property
    def answer(self) -> Answer | None:
        """The last attempt's answer; None where the query failed before one."""
        return self.attempts[-1].answer if self.attempts else None


class LatencyRecord(Frozen):
    """Seconds of one query by part, kept in a sidecar so that a run's own bytes do not depend on the machine.

    A part that was not timed is None. `rag` is retrieval and answering in one, where a run recorded elsewhere does not
    tell them apart.
    """

    arm: str
    document_id: str
    question_id: str
    retrieval: float | None = None
    answering: float | None = None
    rag: float | None = None
    extraction: float | None = None
    validation: float | None = None
    model: float | None = None  # of its model calls, as measured when they were made
    total: float
    attempts: int


class Reading(Frozen):
    """Triples that an extractor found in a whole document; a `reason` is a remark on how it was read."""

    document_id: str
    reason: str | None = None
    triples: tuple[Triple, ...] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """Individuals that the document is about, the main one first; none where that is not known."""
        return ()
