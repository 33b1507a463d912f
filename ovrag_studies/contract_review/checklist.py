"""Contracts looked through: one for a person, as text with places, or a data set, as lines of JSON that are scored.

chunks   {"id", "chunks": [{"start", "end", "score"}]}, best first
answers  {"id", "answers": [{"text", "start", "end", "score", "section"}], "present": 0..1}
nli      {"document", "hypothesis", "choice", "evidence": [{"start", "end", "score"}]}
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from ovrag_core.base import Document, SettingsError, project_file
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers, SpanAnswer
from ovrag_studies.contract_review.arms import ReviewStudy, wordings
from ovrag_studies.contract_review.inference import nli
from ovrag_studies.contract_review.inference.nli import Judge, JudgedHypothesis
from ovrag_studies.contract_review.inference.nli_chat import CHAT_ARMS, ChatJudge, examples_for
from ovrag_studies.contract_review.measures.chunk_metrics import Arm
from ovrag_studies.contract_review.retrieval.expansion import ask
from ovrag_studies.contract_review.retrieval.retrievers import ContractShelf, FoundChunk, search
from ovrag_studies.contract_review.settings import NliArm
from ovrag_studies.contract_review.texts.chunkers import ContractChunk
from ovrag_studies.contract_review.texts.datasets import Contract, load_contractnli

Record = dict[str, object]
WIDTH = 116
QUOTED = 240  # characters of a quote that a person is shown
SHOWN = 3  # quotes of an item, or spans of evidence, that a person is shown


def find_chunks(study: ReviewStudy, document: Document, query: str | None, category: str | None) -> list[FoundChunk]:
    """Return the best `k` chunks for free words, or for a category. Raises SettingsError, QuestionError."""
    chosen = study.options.retrieval
    if chosen.retriever == "learned":
        raise SettingsError("retrieval.retriever: learned takes no free words; set it to blend, or use `review`")
    chunk_queries = wordings(study, category) if category else [ask(query or "")]
    return search(ContractShelf([document], chosen.chunker, study.embedder), chosen.retriever, chunk_queries, chosen.k)


def make_judge(study: ReviewStudy, arm: NliArm) -> Judge:
    """Return the judge of single agreements. Raises ModelSetupError where it needs a chat model and none is set."""
    if arm in CHAT_ARMS:
        chat, marked = study.asked_chat(f"nli.arm: {arm}"), project_file(study.options.data.contractnli)
        examples = examples_for(load_contractnli(marked), -1) if arm == "chat_five_shot" else ()
        return ChatJudge(chat, examples, study.seed)
    return nli.JUDGES[arm]()


def checklist_text(document: Document, answers: Sequence[CategoryAnswers], least: float) -> str:
    """The checklist of a contract as lines: what is present first shown with quotes, their places and sections."""
    lines = [f"{document.id}: {sum(a.present >= least for a in answers)} of {len(answers)} items present"]
    for answered in answers:
        if answered.present < least or not answered.answers:
            why = f"  ({answered.error})" if answered.error else ""
            lines.append(f"  -  {answered.category:<36} {answered.present:4.2f}  not found{why}")
            continue
        lines.append(f"  +  {answered.category:<36} {answered.present:4.2f}")
        likely = [a for a in answered.answers if a.score >= least] or list(answered.answers[:1])
        for answer in likely[:SHOWN]:
            lines += [f"       {_located(answer)} ({answer.score:.2f})", *_quoted(answer.text)]
        if len(likely) > SHOWN:
            lines.append(f"       and {len(likely) - SHOWN} more")
    return "\n".join(lines)


def judged_text(document: Document, wordings: Mapping[str, str], judged: Sequence[JudgedHypothesis]) -> str:
    """Write out the judgement of each hypothesis, with the spans that tell."""
    lines = [document.id]
    for judgement in judged:
        share = "" if judgement.choice is None else f"{judgement.probabilities.get(judgement.choice, 1.0):4.2f}"
        verdict = judgement.choice or judgement.fault or "no choice"
        lines.append(f"  {judgement.hypothesis:<7} {verdict:<14} {share:<4}  {wordings[judgement.hypothesis]}")
        for span in judgement.evidence[:1] if judgement.choice in ("Entailment", "Contradiction") else ():
            quote = _quoted(document.text[span.start : span.end])
            lines += [f"       [{span.start}:{span.end}] ({span.score:.2f})", *quote]
    return "\n".join(lines)


def found_text(document: Document, found: Sequence[FoundChunk]) -> str:
    """Chunks with their places and sections, best first."""
    if not found:
        return f"{document.id}: nothing matches"
    lines = [document.id]
    for rank, hit in enumerate(found, 1):
        lines += [f"  {rank}. {_located(hit.chunk)} ({hit.score:.3f})", *_quoted(hit.chunk.text)]
    return "\n".join(lines)


def _located(passage: SpanAnswer | ContractChunk) -> str:
    return f"[{passage.start}:{passage.end}] {passage.section}".rstrip()


def _quoted(text: str) -> list[str]:
    short = textwrap.shorten(text, QUOTED, placeholder=" …")
    return textwrap.wrap(short, WIDTH, initial_indent=" " * 9, subsequent_indent=" " * 9)


def chunk_records(contracts: Sequence[Contract], arm: Arm) -> Iterator[Record]:
    """One line a question."""
    for contract in contracts:
        for question in contract.questions:
            yield {"id": question.id, "chunks": [chunk_record(hit) for hit in arm(contract, question)]}


def chunk_record(hit: FoundChunk) -> Record:
    """The place of a chunk and its score."""
    return {"start": hit.chunk.start, "end": hit.chunk.end, "score": round(hit.score, 6)}


def answer_records(given: Iterable[tuple[Contract, Sequence[CategoryAnswers]]]) -> Iterator[Record]:
    """One line a question, in its contract's order, which is that of the answers."""
    for contract, answers in given:
        for question, of_question in zip(contract.questions, answers, strict=True):
            yield answer_record(question.id, of_question)


def answer_record(question_id: str, answers: CategoryAnswers) -> Record:
    """The answers to one question; quotes that a model invented and a model's errors are told where there are any."""
    spans = [asdict(span) for span in answers.answers]
    record: Record = {"id": question_id, "answers": spans, "present": round(answers.present, 6)}
    return record | _where_any(dropped=answers.dropped, error=answers.error)


def _where_any(**facts: object) -> Record:
    return {name: fact for name, fact in facts.items() if fact}


def nli_record(document: int | str, judged: JudgedHypothesis) -> Record:
    """The judgement of one hypothesis; faults and invented quotes are told where there are any."""
    record: Record = {"document": document, "hypothesis": judged.hypothesis, "choice": judged.choice}
    record |= {"probabilities": dict(judged.probabilities), "evidence": [asdict(span) for span in judged.evidence]}
    return record | _where_any(invented=judged.invented, fault=judged.fault)
