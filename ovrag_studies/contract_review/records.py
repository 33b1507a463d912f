"""Lines of JSON in the shapes by which the study's results are scored: written for every question of a data set.

chunks   {"id", "chunks": [{"start", "end", "score"}]}, best first
answers  {"id", "answers": [{"text", "start", "end", "score", "section"}], "present": 0..1}
nli      {"document", "hypothesis", "choice", "evidence": [{"start", "end", "score"}]}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers
from ovrag_studies.contract_review.inference.nli import JudgedHypothesis
from ovrag_studies.contract_review.measures.chunk_metrics import Arm
from ovrag_studies.contract_review.retrieval.retrievers import FoundChunk
from ovrag_studies.contract_review.texts.datasets import Contract

Record = dict[str, object]


def chunk_records(contracts: Sequence[Contract], arm: Arm) -> Iterator[Record]:
    """One line a question. A chunk of another contract stands beyond the end of the asked one, as long as it is."""
    for contract in contracts:
        for question in contract.questions:
            yield {"id": question.id, "chunks": [_placed(contract, hit) for hit in arm(contract, question)]}


def _placed(contract: Contract, found: FoundChunk) -> Record:
    start, end = found.chunk.start, found.chunk.end
    if found.chunk.document_id == contract.document.id:
        return {"start": start, "end": end, "score": round(found.score, 6)}
    beyond = len(contract.document.text)
    elsewhere = {"document": found.chunk.document_id, "document_start": start}
    return {"start": beyond, "end": beyond + end - start, "score": round(found.score, 6), **elsewhere}


def answer_records(given: Iterable[tuple[Contract, Sequence[CategoryAnswers]]]) -> Iterator[Record]:
    """One line a question, in its contract's order."""
    for contract, answers in given:
        by_category = {a.category: a for a in answers}
        for question in contract.questions:
            yield answer_record(question.id, by_category[question.category])


def answer_record(question_id: str, answers: CategoryAnswers) -> Record:
    """The answers to one question; quotes that a model invented and a model's errors are told where there are any."""
    spans = [
        {"text": span.text, "start": span.start, "end": span.end, "score": span.score, "section": span.section}
        for span in answers.answers
    ]
    record: Record = {"id": question_id, "answers": spans, "present": round(answers.present, 6)}
    if answers.dropped:
        record["dropped"] = answers.dropped
    return record | ({"error": answers.error} if answers.error else {})


def nli_records(judged: Mapping[int, Sequence[JudgedHypothesis]]) -> Iterator[Record]:
    """One line for each agreement and hypothesis."""
    for number, results in judged.items():
        for judgement in results:
            yield nli_record(number, judgement)


def nli_record(document: int | str, judged: JudgedHypothesis) -> Record:
    """The judgement of one hypothesis; faults and invented quotes are told where there are any."""
    record: Record = {
        "document": document,
        "hypothesis": judged.hypothesis,
        "choice": judged.choice,
        "probabilities": dict(judged.probabilities),
        "evidence": [{"start": span.start, "end": span.end, "score": span.score} for span in judged.evidence],
    }
    if judged.invented:
        record["invented"] = judged.invented
    return record | ({"fault": judged.fault} if judged.fault else {})
