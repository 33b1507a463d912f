"""One contract looked through for a person: the checklist, hypotheses, a search; as text, with places."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from ovrag_core.base import CorpusError, Document, SettingsError, project_file
from ovrag_studies.contract_review.answering.features import read
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers
from ovrag_studies.contract_review.arms import KnownContract, ReviewStudy, retrieval_arm, was_trained_on
from ovrag_studies.contract_review.inference import nli
from ovrag_studies.contract_review.inference.nli import HypothesisJudge, JudgedHypothesis
from ovrag_studies.contract_review.inference.nli_chat import CHAT_ARMS, ChatJudge, examples_for
from ovrag_studies.contract_review.retrieval.expansion import ask
from ovrag_studies.contract_review.retrieval.retrievers import FoundChunk, search, shelve
from ovrag_studies.contract_review.settings import ContractReview, NliArm
from ovrag_studies.contract_review.texts.datasets import QUESTIONS, ChecklistQuestion, Contract, load_contractnli

WIDTH = 116
QUOTED = 240  # characters of a quote that a person is shown
SHOWN = 3  # quotes of an item, or spans of evidence, that a person is shown


def title_of(path: Path) -> str:
    """A contract's title: what a `questions.json` beside or above its file calls it, else the stem of its name."""
    for folder in (path.parent, path.parent.parent):
        listed = folder / QUESTIONS
        if listed.is_file():
            try:
                entries = json.loads(listed.read_text(encoding="utf-8-sig"))["data"]
                named = {(folder / entry["text_file"]).resolve(): str(entry["title"]) for entry in entries}
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if path.resolve() in named:
                return named[path.resolve()]
    return path.stem


def refuse_seen(study: ReviewStudy, document: Document, allowed: bool) -> None:
    """Raises CorpusError for a contract of the training, unless it is `allowed`, and then it is told."""
    if not was_trained_on(study.model, Contract(document, ())):
        return
    if not allowed:
        raise CorpusError(
            f"{document.id} was in the training of the weights; score it out of fold with `ovrag contract-review run`, "
            "or give --allow-seen"
        )
    study.say(f"{document.id} was in the training of the weights: how it is answered shows nothing of others")


def find_chunks(study: ReviewStudy, document: Document, query: str | None, category: str | None) -> list[FoundChunk]:
    """Return the best `k` chunks for free words, or for a category. Raises SettingsError, QuestionError."""
    chosen = study.options.retrieval
    if category is None:
        if chosen.retriever == "learned":
            raise SettingsError("retrieval.retriever: learned takes no free words; give a --category")
        chunk_queries = [ask(query or "")]
        return search(shelve([document], chosen.chunker, study.embedder), chosen.retriever, chunk_queries, chosen.k)
    contract = Contract(document, ())
    known_contracts = None
    if chosen.retriever == "learned":
        study.model.column(category)
        known_contracts = {document.id: KnownContract(read(document.text, study.embedder), study.model)}
    arm = retrieval_arm(study, [contract], known_contracts)
    return list(arm(contract, ChecklistQuestion(f"{document.id}__{category}", category, ())))[: chosen.k]


def hypotheses(options: ContractReview) -> dict[str, str]:
    """The wording of the hypotheses by their ids, from the agreements of the settings."""
    return load_contractnli(project_file(options.data.contractnli)).hypotheses


def make_judge(study: ReviewStudy, arm: NliArm, *, allow_seen: bool = False) -> HypothesisJudge:
    """Return the judge of single agreements. Raises ModelSetupError where it needs a chat model and none is set."""
    if arm in CHAT_ARMS:
        chat = study.asked_chat(f"nli.arm: {arm}")
        marked = load_contractnli(project_file(study.options.data.contractnli))
        examples = examples_for(marked, -1) if arm == "chat_five_shot" else ()
        return ChatJudge(chat, examples, study.seed)
    return nli.load_learned(allow_seen=allow_seen) if arm == "learned" else nli.find_judge(arm)


def judge_document(
    study: ReviewStudy, document: Document, wordings: Mapping[str, str], judge: HypothesisJudge
) -> list[JudgedHypothesis]:
    """Judge an agreement that has no candidate spans, by its sentences."""
    judged = judge.judge(document, None, wordings)
    if any(j.seen for j in judged):
        study.say(f"{document.id} was in the training of the weights: how it is judged shows nothing of others")
    return judged


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
            location = (
                f"[{answer.start}:{answer.end}]"
                + (f" {answer.section}" if answer.section else "")
                + f" ({answer.score:.2f})"
            )
            lines += [f"       {location}", *_quoted(answer.text)]
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
            lines.append(f"       [{span.start}:{span.end}] ({span.score:.2f})")
            lines += _quoted(document.text[span.start : span.end])
    return "\n".join(lines)


def found_text(document: Document, found: Sequence[FoundChunk]) -> str:
    """Chunks with their places and sections, best first."""
    if not found:
        return f"{document.id}: nothing matches"
    lines = [document.id]
    for rank, hit in enumerate(found, 1):
        location = f"[{hit.chunk.start}:{hit.chunk.end}]" + (f" {hit.chunk.section}" if hit.chunk.section else "")
        lines += [f"  {rank}. {location} ({hit.score:.3f})", *_quoted(hit.chunk.text)]
    return "\n".join(lines)


def _quoted(text: str) -> list[str]:
    return textwrap.wrap(
        textwrap.shorten(text, QUOTED, placeholder=" …"), WIDTH, initial_indent=" " * 9, subsequent_indent=" " * 9
    )
