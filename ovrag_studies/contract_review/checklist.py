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
                named = {(folder / each["text_file"]).resolve(): str(each["title"]) for each in entries}
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
        asked = [ask(query or "")]
        return search(shelve([document], chosen.chunker, study.embedder), chosen.retriever, asked, chosen.k)
    contract = Contract(document, ())
    known = None
    if chosen.retriever == "learned":
        study.model.column(category)
        known = {document.id: KnownContract(read(document.text, study.embedder), study.model)}
    arm = retrieval_arm(study, [contract], known)
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
    if any(each.seen for each in judged):
        study.say(f"{document.id} was in the training of the weights: how it is judged shows nothing of others")
    return judged


def checklist_text(document: Document, answers: Sequence[CategoryAnswers], least: float) -> str:
    """The checklist of a contract as lines: what is present first shown with quotes, their places and sections."""
    lines = [f"{document.id}: {sum(each.present >= least for each in answers)} of {len(answers)} items present"]
    for each in answers:
        if each.present < least or not each.answers:
            why = f"  ({each.error})" if each.error else ""
            lines.append(f"  -  {each.category:<36} {each.present:4.2f}  not found{why}")
            continue
        lines.append(f"  +  {each.category:<36} {each.present:4.2f}")
        likely = [one for one in each.answers if one.score >= least] or list(each.answers[:1])
        for one in likely[:SHOWN]:
            place = f"[{one.start}:{one.end}]" + (f" {one.section}" if one.section else "") + f" ({one.score:.2f})"
            lines += [f"       {place}", *_quoted(one.text)]
        if len(likely) > SHOWN:
            lines.append(f"       and {len(likely) - SHOWN} more")
    return "\n".join(lines)


def judged_text(document: Document, wordings: Mapping[str, str], judged: Sequence[JudgedHypothesis]) -> str:
    """Write out the judgement of each hypothesis, with the spans that tell."""
    lines = [document.id]
    for each in judged:
        share = "" if each.choice is None else f"{each.probabilities.get(each.choice, 1.0):4.2f}"
        said = each.choice or each.fault or "no choice"
        lines.append(f"  {each.hypothesis:<7} {said:<14} {share:<4}  {wordings[each.hypothesis]}")
        for one in each.evidence[:1] if each.choice in ("Entailment", "Contradiction") else ():
            lines.append(f"       [{one.start}:{one.end}] ({one.score:.2f})")
            lines += _quoted(document.text[one.start : one.end])
    return "\n".join(lines)


def found_text(document: Document, found: Sequence[FoundChunk]) -> str:
    """Chunks with their places and sections, best first."""
    if not found:
        return f"{document.id}: nothing matches"
    lines = [document.id]
    for rank, each in enumerate(found, 1):
        place = f"[{each.chunk.start}:{each.chunk.end}]" + (f" {each.chunk.section}" if each.chunk.section else "")
        lines += [f"  {rank}. {place} ({each.score:.3f})", *_quoted(each.chunk.text)]
    return "\n".join(lines)


def _quoted(text: str) -> list[str]:
    return textwrap.wrap(
        textwrap.shorten(text, QUOTED, placeholder=" …"), WIDTH, initial_indent=" " * 9, subsequent_indent=" " * 9
    )
