"""Files of results scored against a data set: the measures of the study with intervals over contracts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import pandas
from pydantic import Field

from ovrag_core.base import CorpusError, read_records
from ovrag_core.evaluation import Estimate, Resampling
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers, SpanAnswer
from ovrag_studies.contract_review.inference.nli import EvidenceSpan, JudgedHypothesis
from ovrag_studies.contract_review.measures import answer_metrics, chunk_metrics, nli_metrics
from ovrag_studies.contract_review.retrieval.retrievers import FoundChunk
from ovrag_studies.contract_review.texts.chunkers import ContractChunk
from ovrag_studies.contract_review.texts.datasets import ChecklistQuestion, Choice, Contract, FilePart, NliSet

L = TypeVar("L", bound=FilePart)
Measured = dict[str, tuple[Estimate, int]]  # by measure: the figure, and the number of questions or spans it rests on
COLUMNS = ["measure", "value", "low", "high", "n", "clusters"]


class _Place(FilePart):
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    score: float = 0.0


class _Quote(_Place):
    text: str


class _Chunks(FilePart):
    id: str
    chunks: tuple[_Place, ...]


class _Answered(FilePart):
    id: str
    answers: tuple[_Quote, ...]
    present: float | None = None


class _ScoredJudgement(FilePart):
    document: int
    hypothesis: str
    choice: Choice | None
    evidence: tuple[_Place, ...] = ()


def score_chunks(contracts: Sequence[Contract], file: Path, plan: Resampling) -> pandas.DataFrame:
    """Retrieval measures over answerable questions; one that the file lacks has found nothing."""
    ranked = {question_id: line.chunks for question_id, line in _lines(file, _Chunks, "{0.id}").items()}
    _refuse_other(file, ranked, contracts)

    def arm(contract: Contract, question: ChecklistQuestion) -> list[FoundChunk]:
        id_, text = contract.document.id, contract.document.text
        return [
            FoundChunk(ContractChunk("", id_, span.start, span.end, text[span.start : span.end]), span.score)
            for span in ranked.get(question.id, ())
        ]

    frame = chunk_metrics.run(contracts, arm)
    names = chunk_metrics.MEASURES
    return _frame({name: (chunk_metrics.estimate(frame, name, plan), int(frame[name].count())) for name in names})


def score_answers(contracts: Sequence[Contract], file: Path, plan: Resampling, present: float) -> pandas.DataFrame:
    """Measures of answers and presence over all questions; one that the file lacks is unanswered and absent."""
    answered = _lines(file, _Answered, "{0.id}")
    _refuse_other(file, answered, contracts)
    answers, invented = {}, 0
    for contract in contracts:
        for question in contract.questions:
            if (line := answered.get(question.id)) is None:
                continue
            quotes = tuple(SpanAnswer(**dict(quote), section="") for quote in line.answers)
            invented += sum(contract.document.text[quote.start : quote.end] != quote.text for quote in quotes)
            best = max((quote.score for quote in quotes), default=0.0)
            presence = best if line.present is None else line.present
            category_answers = CategoryAnswers(question.category, presence, quotes)
            answers[contract.document.id, question.category] = category_answers
    measured = answer_measures(answer_metrics.join(contracts, answers), plan, present)
    not_in_text = Estimate(float(invented), clusters=len(contracts)), len(answered)
    return _frame(measured | {"answers_not_in_text": not_in_text})


def answer_measures(
    asked: Sequence[answer_metrics.AnsweredQuestion], plan: Resampling, present: float = 0.5
) -> Measured:
    """Measures with intervals; F1 counts the best answer of a question whose presence is at least `present`."""
    golden = sum(len(q.gold) for q in asked)
    aupr, at_80 = answer_metrics.span_estimates(asked, plan)
    measured = {
        "presence_auroc": (answer_metrics.presence_estimate(asked, plan), len(asked)),
        "aupr": (aupr, golden),
        "p_at_80_recall": (at_80, golden),
        "max_recall": (Estimate(answer_metrics.pooled_spans(asked).most_recall), golden),
        "best_answer_hit": (answer_metrics.best_answer(asked, plan), sum(bool(q.gold) for q in asked)),
    }
    f1s = {f"f1 {rule}": answer_metrics.f1(asked, rule, present, plan) for rule in answer_metrics.RULES}
    return measured | {name: (f1, len(asked)) for name, f1 in f1s.items()}


def score_nli(data: NliSet, file: Path, plan: Resampling) -> pandas.DataFrame:
    """Measures of judgements and evidence; one that the file lacks is wrong."""
    judged: dict[int, list[JudgedHypothesis]] = {}
    for line in _lines(file, _ScoredJudgement, "{0.hypothesis} of {0.document}").values():
        evidence = tuple(EvidenceSpan(**dict(span)) for span in line.evidence)
        judged.setdefault(line.document, []).append(JudgedHypothesis(line.hypothesis, line.choice, {}, evidence))
    if not {a.number for a in data.agreements} & judged.keys():
        raise CorpusError(f"{file} judges none of the agreements of the data; name the data that it was made from")
    return _frame(nli_measures(data, judged, plan))


def nli_measures(data: NliSet, judged: Mapping[int, Sequence[JudgedHypothesis]], plan: Resampling) -> Measured:
    """Measures of judgements and evidence with intervals over agreements."""
    by_agreement = {a.number: nli_metrics.asked_of(a, judged.get(a.number, ())) for a in data.agreements}
    pairs = sum(len(questions) for questions in by_agreement.values())
    with_evidence = sum(bool(q.spans) for questions in by_agreement.values() for q in questions)
    estimates = nli_metrics.estimates(by_agreement, plan)
    return {name: (e, with_evidence if name.startswith("evidence") else pairs) for name, e in estimates.items()}


def _frame(measured: Measured) -> pandas.DataFrame:
    rows = [(name, e.value, e.low, e.high, n, e.clusters) for name, (e, n) in measured.items()]
    return pandas.DataFrame(rows, columns=COLUMNS)


def _lines(file: Path, model: type[L], about: str) -> dict[str, L]:
    """The lines of a file by what each is about, as a format of the line. Raises CorpusError for two about the same."""
    lines: dict[str, L] = {}
    for number, line in read_records(file, model, CorpusError, "make it anew with `ovrag contract-review run`"):
        if (key := about.format(line)) in lines:
            raise CorpusError(f"{file}, line {number}: {key} is there twice; leave one of them")
        lines[key] = line
    return lines


def _refuse_other(file: Path, lines: Mapping[str, object], contracts: Sequence[Contract]) -> None:
    if not any(question.id in lines for contract in contracts for question in contract.questions):
        raise CorpusError(f"{file} answers none of the questions of the data; name the data that it was made from")


def scores_text(frame: pandas.DataFrame, plan: Resampling) -> str:
    """The measures as aligned lines for a person."""
    lines = [f"{'measure':<24} {'value':>7}  {f'{plan.confidence:.0%} interval':<16} {'n':>6}"]
    for name, value, low, high, n, _ in frame[COLUMNS].itertuples(index=False):
        shown = "n/a" if pandas.isna(value) else f"{value:.4f}"
        between = "" if pandas.isna(low) else f"[{low:.3f}, {high:.3f}]"
        lines.append(f"{name:<24} {shown:>7}  {between:<16} {n:>6}")
    clusters = int(frame["clusters"].max()) if len(frame) else 0
    return "\n".join([*lines, f"intervals resample {clusters} contracts {plan.samples} times"])
