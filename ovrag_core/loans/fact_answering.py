"""Answers from what is read: the facts that a question asks for, in a sentence each, with the passages they rest on.

Which facts a question asks for is learned from labelled questions (`tools/train_questions.py`), as wording differs more
than matters do. Questions about anything else are answered by the passages that `passage_answering` is sure of; where
there are none, the nearest are shown, which need not answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from ovrag_core.base import Answer, Chunk, Correction, Document, Evidence, project_file, read_tensors
from ovrag_core.loans.grounds import ALL_FACTS, Passage, grounds_of, is_stated
from ovrag_core.loans.loan_facts import Facility, LoanReading, Party
from ovrag_core.loans.passage_answering import overlaps, read_passages, sure_of, with_quotes
from ovrag_core.loans.reading.subjects import words_of
from ovrag_core.loop import NO_ANSWER, Answerer
from ovrag_core.retrieval import MAX_TOKENS, Encoder

SUMMARY = "summary"  # asks for all facts
ASKABLE = (*ALL_FACTS, SUMMARY)
WEIGHTS = Path("ontologies/lexicon/questions.safetensors")
LIKELY = 0.5  # of a fact, that a question asks for it

INSTEAD = {"collateral": "security", "maturity": "term_months", "term_months": "maturity"}
_SENTENCES = {
    "loan_types": "The kind of loan: {}.",
    "borrower": "The borrower is {}.",
    "lender": "The lender is {}.",
    "guarantors": "The guarantor is {}.",
    "principal": "The principal or limit is {}.",
    "interest_rate": "The interest rate is {}.",
    "maturity": "The last day of repayment is {}.",
    "term_months": "The term is {} months.",
    "collateral": "The collateral is {}.",
    "purpose": "The purpose is {}.",
}
_STATES = {
    "secured": "The loan is secured.",
    "unsecured": "The loan is unsecured.",
    "open-end": "The credit is open-end: what is repaid may be drawn again.",
    "closed-end": "The credit is closed-end: what is repaid may not be drawn again.",
}
_CONTRADICTORY = {
    "security": "The document contradicts itself: it says that the loan is secured, and that it is unsecured.",
    "credit_form": "The document contradicts itself: it says that the credit is open-end, and that it is closed-end.",
}


@lru_cache(maxsize=256)
def requested_facts(question: str) -> frozenset[str]:
    """Return the names in `ALL_FACTS` that a question asks for; none where it asks for something else."""
    encoder = _encoder()
    ids = encoder.tokens(" ".join(question.split())).ids[:MAX_TOKENS]
    judged = encoder.probabilities([ids], [[[True] * len(ids)]], 2)[0]
    requested = {name for name, (_, likely) in zip(ASKABLE, judged, strict=True) if likely >= LIKELY}
    return frozenset(ALL_FACTS) if SUMMARY in requested else frozenset(requested)


@cache
def _encoder() -> Encoder:
    return Encoder(read_tensors(project_file(WEIGHTS))[0])


def sentence(facility: Facility, fact: str) -> str:
    """Return a fact that the document states of a facility in words."""
    value = getattr(facility, fact)
    if fact in _CONTRADICTORY:
        return _CONTRADICTORY[fact] if value == "contradictory" else _STATES[value]
    if fact == "loan_types":
        value = ", ".join(words_of(kind).lower() for kind in value)
    elif fact == "guarantors":
        value = " and ".join(map(_party, value))
    elif fact == "principal":
        value = value.words()
    elif isinstance(value, Party):
        value = _party(value)
    return _SENTENCES[fact].format(str(value).rstrip("."))


def _party(party: Party) -> str:
    return f"{party.name}, a {party.kind.replace('_', ' ')}" if party.kind else party.name


class FactAnswerer:
    """Answerer from the facts of the asked document, or from its passages where a question asks for no fact."""

    def __init__(self, passages: Answerer, documents: Mapping[str, Document], read: Callable[[Document], LoanReading]):
        self._passages = passages
        self._documents = documents
        self._read = read
        self.name = f"facts and passages read, else {passages.name}"

    def answer(
        self,
        question: str,
        chunks: Sequence[Chunk],
        *,
        exclude: frozenset[tuple[str, int, int]] = frozenset(),
        corrections: Sequence[Correction] = (),
    ) -> Answer:
        """Return the facts asked for, where all chunks are of one loan document; `NO_ANSWER` where it states none.

        A correction is made of other passages, as the facts do not change.
        """
        document_ids = {chunk.document_id for chunk in chunks}
        if len(document_ids) == 1 and not corrections:
            document = self._documents[document_ids.pop()]
            if answer := self._of_document(question, document):
                return answer
        return self._passages.answer(question, chunks, exclude=exclude, corrections=corrections)

    def _of_document(self, question: str, document: Document) -> Answer | None:
        """What a loan document says; None where only the nearest passages are left to show."""
        facts, reading = requested_facts(question), self._read(document)
        if reading.status != "loan":
            return None
        answer = _answer(reading, document, facts)
        quotes = [quote for quote in sure_of(read_passages(question, document)) if not overlaps(quote, answer.evidence)]
        if answer.text == NO_ANSWER:
            return with_quotes("", (), quotes) if quotes else answer if facts else None
        return with_quotes(answer.text, answer.evidence, quotes) if quotes and answer.evidence else answer


def _answer(reading: LoanReading, document: Document, facts: frozenset[str]) -> Answer:
    """Each of the facts that is stated in a sentence, behind the facility's name where there are several.

    A fact that is not stated gives way to the one that comes nearest (`INSTEAD`).
    """
    sentences: list[str] = []
    passages: list[Passage] = []
    for facility in reading.facilities:
        prefix = f"{facility.name}: " if len(reading.facilities) > 1 else ""
        asked = {fact if is_stated(facility, fact) else INSTEAD.get(fact, fact) for fact in facts}
        for fact, grounds in grounds_of(facility, reading, [document]).items():
            if fact in asked:
                sentences.append(f"{prefix}{sentence(facility, fact)}")
                passages += grounds.evidence
    evidence = tuple(Evidence.of(document, passage.start, passage.end) for passage in dict.fromkeys(passages))
    return Answer(text="\n".join(sentences) or NO_ANSWER, evidence=evidence)
