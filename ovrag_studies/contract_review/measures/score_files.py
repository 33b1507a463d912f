"""Files of results scored against a data set: the measures of the study with intervals over contracts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import pandas
from pydantic import BaseModel, ConfigDict, Field

from ovrag_core.base import CorpusError, read_records
from ovrag_core.evaluation import Estimate, Resampling
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers, SpanAnswer
from ovrag_studies.contract_review.inference.nli import EvidenceSpan, JudgedHypothesis
from ovrag_studies.contract_review.measures import answer_metrics, chunk_metrics, nli_metrics
from ovrag_studies.contract_review.retrieval.retrievers import FoundChunk
from ovrag_studies.contract_review.texts.chunkers import ContractChunk
from ovrag_studies.contract_review.texts.datasets import ChecklistQuestion, Choice, Contract, NliSet

Kind = Literal["retrieval", "answers", "nli", "graph"]
L = TypeVar("L", "_Chunks", "_Answered", "_ScoredJudgement")
COLUMNS = ["measure", "value", "low", "high", "n", "clusters"]


class _ScoredLine(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Place(_ScoredLine):
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    score: float = 0.0


class _Quote(_Place):
    text: str


class _ScoredQuestion(_ScoredLine):
    id: str

    def about(self) -> str:
        return self.id


class _Chunks(_ScoredQuestion):
    chunks: tuple[_Place, ...]


class _Answered(_ScoredQuestion):
    answers: tuple[_Quote, ...]
    present: float | None = None


class _ScoredJudgement(_ScoredLine):
    document: int
    hypothesis: str
    choice: Choice | None
    evidence: tuple[_Place, ...] = ()

    def about(self) -> str:
        return f"{self.hypothesis} of {self.document}"


def score_chunks(contracts: Sequence[Contract], file: Path, plan: Resampling) -> pandas.DataFrame:
    """Retrieval measures over answerable questions; one that the file lacks has found nothing."""
    ranked = {q.id: q.chunks for q in _lines(file, _Chunks)}
    _refuse_other(file, set(ranked), contracts)

    def arm(contract: Contract, question: ChecklistQuestion) -> list[FoundChunk]:
        return [_found(contract, span) for span in ranked.get(question.id, ())]

    frame = chunk_metrics.run(contracts, arm)
    names = chunk_metrics.MEASURES
    return _frame([(name, chunk_metrics.estimate(frame, name, plan), int(frame[name].notna().sum())) for name in names])


def _found(contract: Contract, place: _Place) -> FoundChunk:
    text = contract.document.text[place.start : place.end]
    return FoundChunk(ContractChunk("", contract.document.id, place.start, place.end, text), place.score)


def score_answers(
    contracts: Sequence[Contract], file: Path, plan: Resampling, present: float = 0.5
) -> pandas.DataFrame:
    """Measures of answers and presence over all questions; one that the file lacks is unanswered and absent."""
    answered = {q.id: q for q in _lines(file, _Answered)}
    _refuse_other(file, set(answered), contracts)
    texts = {c.document.id: c.document.text for c in contracts}
    answers, invented = {}, 0
    for contract in contracts:
        for question in contract.questions:
            if (line := answered.get(question.id)) is None:
                continue
            quotes = [SpanAnswer(quote.text, quote.start, quote.end, quote.score, "") for quote in line.answers]
            invented += sum(texts[contract.document.id][quote.start : quote.end] != quote.text for quote in quotes)
            best = max((quote.score for quote in quotes), default=0.0)
            presence = best if line.present is None else line.present
            answers[contract.document.id, question.category] = CategoryAnswers(
                question.category, presence, tuple(quotes)
            )
    frame = answer_measures(answer_metrics.join(contracts, answers), plan, present)
    not_in_text = _frame([("answers_not_in_text", Estimate(float(invented), clusters=len(contracts)), len(answered))])
    return pandas.concat([frame, not_in_text], ignore_index=True)


def answer_measures(
    asked: Sequence[answer_metrics.AnsweredQuestion], plan: Resampling, present: float = 0.5
) -> pandas.DataFrame:
    """Measures of answers and presence with intervals: pooled spans, best answers, presence, and F1 by three rules.

    F1 counts the best answer of a question whose presence is at least `present`.
    """
    spans = answer_metrics.pooled_spans(asked)
    golden = sum(len(q.gold) for q in asked)
    aupr, at_80 = answer_metrics.span_estimates(asked, plan)
    rows: list[tuple[str, Estimate, int]] = [
        ("presence_auroc", answer_metrics.presence_estimate(asked, plan), len(asked)),
        ("aupr", aupr, golden),
        ("p_at_80_recall", at_80, golden),
        ("max_recall", Estimate(spans.most_recall), golden),
        ("best_answer_hit", answer_metrics.best_answer(asked, plan), sum(bool(q.gold) for q in asked)),
    ]
    for rule in answer_metrics.RULES:
        rows.append((f"f1 {rule}", answer_metrics.f1(asked, rule, present, plan), len(asked)))
    return _frame(rows)


def score_nli(data: NliSet, file: Path, plan: Resampling) -> pandas.DataFrame:
    """Measures of judgements and evidence; one that the file lacks is wrong."""
    judged: dict[int, list[JudgedHypothesis]] = {}
    for line in _lines(file, _ScoredJudgement):
        evidence = tuple(EvidenceSpan(span.start, span.end, span.score) for span in line.evidence)
        judged.setdefault(line.document, []).append(JudgedHypothesis(line.hypothesis, line.choice, {}, evidence))
    if not {a.number for a in data.agreements} & judged.keys():
        raise CorpusError(f"{file} judges none of the agreements of the data; name the data that it was made from")
    return nli_measures(data, judged, plan)


def nli_measures(data: NliSet, judged: Mapping[int, Sequence[JudgedHypothesis]], plan: Resampling) -> pandas.DataFrame:
    """Measures of judgements and evidence with intervals over agreements."""
    by_agreement = {a.number: nli_metrics.asked_of(a, judged.get(a.number, ())) for a in data.agreements}
    pairs = sum(len(questions) for questions in by_agreement.values())
    with_evidence = sum(bool(q.spans) for questions in by_agreement.values() for q in questions)
    estimates = nli_metrics.estimates(by_agreement, plan)
    return _frame(
        [
            (name, estimate, with_evidence if name.startswith("evidence") else pairs)
            for name, estimate in estimates.items()
        ]
    )


def _frame(rows: Sequence[tuple[str, Estimate, int]]) -> pandas.DataFrame:
    listed = [(name, estimate.value, estimate.low, estimate.high, n, estimate.clusters) for name, estimate, n in rows]
    return pandas.DataFrame(listed, columns=COLUMNS)


def _lines(file: Path, model: type[L]) -> list[L]:
    lines: dict[str, L] = {}
    for number, line in read_records(file, model, CorpusError, "make it anew with `ovrag contract-review run`"):
        if line.about() in lines:
            raise CorpusError(f"{file}, line {number}: {line.about()} is there twice; leave one of them")
        lines[line.about()] = line
    return list(lines.values())


def _refuse_other(file: Path, ids: set[str], contracts: Sequence[Contract]) -> None:
    if not ids & {question.id for contract in contracts for question in contract.questions}:
        raise CorpusError(f"{file} answers none of the questions of the data; name the data that it was made from")


def scores_text(frame: pandas.DataFrame, plan: Resampling) -> str:
    """The measures as aligned lines for a person."""
    lines = [f"{'measure':<24} {'value':>7}  {f'{plan.confidence:.0%} interval':<16} {'n':>6}"]
    for name, *numbers, n, _ in frame[COLUMNS].to_numpy().tolist():
        value, low, high = (math.nan if number is None else float(number) for number in numbers)
        shown = "n/a" if math.isnan(value) else f"{value:.4f}"
        between = "" if math.isnan(low) else f"[{low:.3f}, {high:.3f}]"
        lines.append(f"{name:<24} {shown:>7}  {between:<16} {n:>6}")
    clusters = int(frame["clusters"].max()) if len(frame) else 0
    return "\n".join([*lines, f"intervals resample {clusters} contracts {plan.samples} times"])
