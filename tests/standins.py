"""Small parts that behave in known ways, for tests of the loop and of runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ovrag_core.base.types import (
    Answer,
    Chunk,
    Correction,
    Document,
    Evidence,
    Origin,
    Retrieved,
    Triple,
    Verdict,
    Violation,
)
from ovrag_core.loans.loan_facts import Facility, LoanReading
from ovrag_core.loop.pipeline import Bench

NAME = "words"
TEXTS = {"Contract_001": "is_Black", "Contract_002": "is_Black is_White", "Contract_003": "is_White"}
TRUTH = {
    "Contract_001": {"label": "CLEAN", "reference_answers": {"Q1": "black"}},
    "Contract_002": {"label": "CLASH", "clash_type": "colour"},
    "Contract_003": {"label": "CLEAN"},
}


def text_triples(text: str, document_id: str, start: int, origin: Origin) -> tuple[Triple, ...]:
    """Every word `is_X` states that the loan is of class X."""
    document = Document(document_id, text)
    triples = []
    position = 0
    for word in text.split():
        position = text.index(word, position)
        if word.startswith("is_"):
            span = Evidence.of(document, position, position + len(word))
            evidence = span.model_copy(update={"start": span.start + start, "end": span.end + start})
            triples.append(
                Triple(
                    subject=f"Loan_{document_id}" if origin == "context" else "Loan",
                    predicate="rdf:type",
                    object=word[3:],
                    subject_type="Loan",
                    origin=origin,
                    evidence=evidence,
                )
            )
        position += len(word)
    return tuple(triples)


class WordExtractor:
    """Reads `is_X` words."""

    calls = 0

    def read(self, document: Document) -> LoanReading:
        self.calls += 1
        subject = f"Loan_{document.id}"
        return LoanReading(
            document_id=document.id,
            status="loan",
            facilities=(Facility(name="Loan", subject=subject),),
            triples=text_triples(document.text, document.id, 0, "context"),
        )

    def read_passage(
        self, text: str, *, document_id: str, start: int = 0, origin: Origin = "context"
    ) -> tuple[Triple, ...]:
        return text_triples(text, document_id, start, origin)

    def read_chunks(self, chunks: Sequence[Chunk]) -> tuple[Triple, ...]:
        return tuple(
            triple for each in chunks for triple in text_triples(each.text, each.document_id, each.start, "context")
        )


class BlackAndWhite:
    """Black and White exclude each other for one subject; the word Broken cannot be checked."""

    calls = 0

    def check(self, triples: Sequence[Triple], *, closed_world: bool = True, document: str | None = None) -> Verdict:
        self.calls += 1
        if any(triple.object == "Broken" for triple in triples):
            return Verdict(status="unchecked", reason="the reasoner stopped")
        violations = []
        for subject in sorted({triple.subject for triple in triples}):
            sides = [
                sorted(
                    (t for t in triples if t.subject == subject and t.object == side),
                    key=lambda t: t.origin == "answer",
                )
                for side in ("Black", "White")
            ]
            if all(sides):
                violations.append(
                    Violation(
                        rule="colour",
                        clash_type="colour",
                        severity="clash",
                        kind="owl",
                        triples=tuple(side[0] for side in sides),
                        message=f"{subject} is black and white",
                    )
                )
        return Verdict(status="inconsistent" if violations else "consistent", violations=tuple(violations))


class FirstWords:
    """Answers with each chunk's words one passage each, but for those excluded."""

    name = "first words"

    def answer(
        self,
        question: str,
        chunks: Sequence[Chunk],
        *,
        exclude: frozenset[tuple[str, int, int]] = frozenset(),
        corrections: Sequence[Correction] = (),
    ) -> Answer:
        passages = []
        for chunk in chunks:
            document = Document(chunk.document_id, chunk.text)
            position = 0
            for word in chunk.text.split():
                position = chunk.text.index(word, position)
                evidence = Evidence.of(document, position, position + len(word))
                evidence = evidence.model_copy(
                    update={"start": evidence.start + chunk.start, "end": evidence.end + chunk.start}
                )
                if (evidence.document_id, evidence.start, evidence.end) not in exclude:
                    passages.append(evidence)
                position += len(word)
        return Answer(text=" ".join(passage.quote for passage in passages), evidence=tuple(passages))


class Scripted:
    """Answers with the given texts in turn, the last one for ever."""

    name = "scripted"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    def answer(
        self,
        question: str,
        chunks: Sequence[Chunk],
        *,
        exclude: frozenset[tuple[str, int, int]] = frozenset(),
        corrections: Sequence[Correction] = (),
    ) -> Answer:
        return Answer(text=self.texts.pop(0) if len(self.texts) > 1 else self.texts[0])


class OneChunkEach:
    """Each document is one chunk; a pooled search returns all, in order of their ids."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.chunks = {
            f"{document.id}#0": Chunk(f"{document.id}#0", document.id, 0, len(document.text), document.text)
            for document in documents
        }

    def search(self, vector: np.ndarray, top_k: int, documents: Collection[str] | None = None) -> list[Retrieved]:
        hits = [
            chunk for _, chunk in sorted(self.chunks.items()) if documents is None or chunk.document_id in documents
        ]
        return [
            Retrieved(chunk_id=chunk.id, document_id=chunk.document_id, start=chunk.start, end=chunk.end, score=1.0)
            for chunk in hits[:top_k]
        ]

    def chunk(self, chunk_id: str) -> Chunk:
        return self.chunks[chunk_id]


class Zeros:
    """Embeds everything at one point."""

    name = "zeros"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.zeros((len(texts), 1), dtype=np.float32)


def bench(texts: dict[str, str], answerer: FirstWords | Scripted | None = None) -> Bench:
    """A bench over the given documents."""
    documents = [Document(name, text) for name, text in sorted(texts.items())]
    return Bench(
        index=OneChunkEach(documents),
        embedder=Zeros(),
        answerer=answerer or FirstWords(),
        extractor=WordExtractor(),
        validator=BlackAndWhite(),
        documents={document.id: document for document in documents},
        model="stand-ins",
    )
