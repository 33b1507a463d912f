"""The experiments of the study as arms: chunkings, rerank and expansion (E2), graphs (E3), hypotheses (E1), and ours.

What a chat model wrote in the published experiments, the best sentence of the retrieved chunks stands for offline.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files

import numpy
import pandas
import yaml

from ovrag_core.base import CorpusError, Settings, Usage, project_file
from ovrag_core.llm import open_chat, tally
from ovrag_core.retrieval import Vectors, minilm
from ovrag_studies.contract_review import arms
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers, SpanAnswer
from ovrag_studies.contract_review.arms import ContractWalks, KnownContract, ReviewStudy, Say, searching_arm, shelf_of
from ovrag_studies.contract_review.graphs.graph import WALKED, EdgeKind
from ovrag_studies.contract_review.inference.nli import JudgedHypothesis
from ovrag_studies.contract_review.measures import answer_metrics, chunk_metrics
from ovrag_studies.contract_review.measures.chunk_metrics import CONTEXT, Arm
from ovrag_studies.contract_review.retrieval.expansion import read_descriptions
from ovrag_studies.contract_review.retrieval.retrievers import ContractShelf, FoundChunk, Remembered, Shelved
from ovrag_studies.contract_review.settings import AnswerArm, ContractReview, GraphArm, NliArm
from ovrag_studies.contract_review.texts import datasets
from ovrag_studies.contract_review.texts.chunkers import CHUNKERS
from ovrag_studies.contract_review.texts.datasets import ChecklistQuestion, Contract, NliSet

Published = Mapping[str, Mapping[str, Mapping[str, float]]]
Frames = dict[str, pandas.DataFrame]

GRID = {
    "MiniLM": ("minilm", "description"),
    "BM25": ("bm25", "description"),
    "sentences": ("sentences", "description"),
    "BM25 + sentences": ("rrf", "description"),
    "blend": ("blend", "vocabulary"),
}
LEARNED = "learned"
E2 = {  # way of cutting, wording, reranked
    "fixed 2,048": ("fixed-2048", "description", False),
    "paragraph": ("paragraph", "description", False),
    "recursive 2,048": ("recursive-2048", "description", False),
    "recursive 2,048, overlap 200": ("recursive-2048-200", "description", False),
    "rerank": ("recursive-2048", "description", True),
    "expansion + rerank": ("recursive-2048", "rewordings", True),
}
BASELINE = "recursive 2,048"
PLAIN = "vector store"
OURS = "graph, ours"
DESIGNS: Mapping[str, GraphArm] = {"graph v1": "v1", "graph v2": "v2", OURS: "ours"}
ONLY: Mapping[str, Sequence[EdgeKind]] = {
    "only DEFINES, USES": ("DEFINES", "USES"),
    "only REFERS_TO": ("REFERS_TO",),
    "only PARTY_TO": ("PARTY_TO",),
}
ANSWERERS: tuple[AnswerArm, ...] = ("extractive", "learned")
JUDGES: tuple[NliArm, ...] = ("majority", "lexical", "learned")
CANDIDATES = 10  # chunks that are looked at again
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 510)


def published() -> Published:
    """Published figures by experiment and arm."""
    read: Published = yaml.safe_load(files(__package__).joinpath("published.yaml").read_text(encoding="utf-8"))
    return read


def open_study(settings: Settings, say: Say = print) -> tuple[ReviewStudy, tuple[Contract, ...], NliSet]:
    """Open the parts of the experiments and both data sets of the settings. Raises CorpusError, SettingsError."""
    options = ContractReview.of(settings)
    cuad = project_file(options.data.cuad)
    study = ReviewStudy(options, Remembered(minilm()), read_descriptions(cuad), None, settings.llm.seed, say)
    return study, datasets.load_cuad(cuad), datasets.load_contractnli(project_file(options.data.contractnli))


def _set(study: ReviewStudy, **changes: object) -> ReviewStudy:
    """The study with other parameters of retrieval."""
    retrieval = study.options.retrieval.model_copy(update=changes)
    return replace(study, options=study.options.model_copy(update={"retrieval": retrieval}))


def retrieval_grid(
    study: ReviewStudy, contracts: Sequence[Contract], known: Mapping[str, KnownContract]
) -> dict[tuple[str, str], pandas.DataFrame]:
    """Measures of each way of finding, learned ones too, in each way of cutting; keys are (chunker, arm)."""
    frames = {}
    for chunker in CHUNKERS:
        shelf = shelf_of(study, contracts, chunker)
        for name, (retriever, wording) in GRID.items():
            arm = searching_arm(_set(study, retriever=retriever, wording=wording), shelf)
            frames[chunker, name] = chunk_metrics.run(contracts, arm, study.options.retrieval.budget)
        arm = arms.learned_arm(known, chunker)
        frames[chunker, LEARNED] = chunk_metrics.run(contracts, arm, study.options.retrieval.budget)
    return frames


@dataclass(frozen=True, slots=True)
class ComparedRetrieval:
    """Arms by name: their measures of retrieval, and the one sentence that each answers a question with."""

    frames: Frames = field(default_factory=dict)
    asked: dict[str, list[answer_metrics.AnsweredQuestion]] = field(default_factory=dict)

    def add(self, name: str, study: ReviewStudy, contracts: Sequence[Contract], arm: Arm, shelf: ContractShelf) -> None:
        """Add an arm: every question is ranked once, measured, and answered from its first chunks."""
        ranked = cache(arm)
        answers = {
            (c.document.id, q.category): _nearest_sentence(study, shelf, c.document.id, q.category, ranked(c, q))
            for c in contracts
            for q in c.questions
        }
        self.frames[name] = chunk_metrics.run(contracts, ranked, study.options.retrieval.budget)
        self.asked[name] = answer_metrics.join(contracts, answers)


def second_experiment(study: ReviewStudy, contracts: Sequence[Contract]) -> ComparedRetrieval:
    """E2: the published chunkings, rerank and expansion by vectors of whole chunks, the query naming the contract."""
    compared, shelves = ComparedRetrieval(), dict[str, ContractShelf]()
    for name, (chunker, wording, reranked) in E2.items():
        shelf = shelves[chunker] = shelves.get(chunker) or shelf_of(study, contracts, chunker)
        arm_study = _set(study, retriever="minilm", wording=wording)
        arm = searching_arm(arm_study, shelf, named=1)  # rewordings name no contract, as published
        compared.add(name, arm_study, contracts, _reranked_arm(arm_study, shelf, arm) if reranked else arm, shelf)
    return compared


def third_experiment(study: ReviewStudy, contracts: Sequence[Contract]) -> tuple[ComparedRetrieval, Frames]:
    """E3: the vector store, the published graphs and ours, at equal context; ours without or with one kind of edge."""
    walks, compared = ContractWalks(study, contracts), ComparedRetrieval()
    compared.add(PLAIN, study, contracts, walks.plain, walks.shelf)
    for name, design in DESIGNS.items():
        compared.add(name, study, contracts, walks.arm(design), walks.shelf)
    without = {f"without {kind}": [edge for edge in WALKED if edge != kind] for kind in WALKED}
    budget = study.options.retrieval.budget
    return compared, {
        name: chunk_metrics.run(contracts, walks.arm("ours", edges), budget)
        for name, edges in {**without, **ONLY}.items()
    }


def _nearest_sentence(
    study: ReviewStudy, shelf: ContractShelf, title: str, category: str, chunks: Sequence[FoundChunk]
) -> CategoryAnswers:
    """The sentence of the first chunks nearest to the question; it stands for what a chat model would write."""
    shelved = shelf.contracts[title]
    rows = _rows_in(shelved, chunks[:CONTEXT])
    if not rows:
        return CategoryAnswers(category, 0.0, ())
    cosines = _cosines(study, shelf, category, shelved.sentence_vectors[rows])
    best = max(cosines)
    start, end = shelved.passages[rows[cosines.index(best)]]
    return CategoryAnswers(category, best, (SpanAnswer(shelved.document.text[start:end], start, end, best, ""),))


def _cosines(study: ReviewStudy, shelf: ContractShelf, category: str, vectors: Vectors) -> list[float]:
    """For each of the vectors of passages how near it is to the question."""
    query_vector = shelf.embedder.embed([arms.wordings(study, category)[0].text])[0]
    cosines: list[float] = numpy.round(vectors @ query_vector, 6).tolist()
    return cosines


def _rows_in(contract: Shelved, chunks: Sequence[FoundChunk]) -> list[int]:
    """Numbers of the passages whose middles lie in one of the chunks."""
    middles = [(start + end) // 2 for start, end in contract.passages]
    return [row for row, middle in enumerate(middles) if any(c.chunk.start <= middle < c.chunk.end for c in chunks)]


def _reranked_arm(study: ReviewStudy, shelf: ContractShelf, arm: Arm) -> Arm:
    """The first chunks anew, by their sentence that is nearest to the question; its vectors are on the shelf."""

    def reranked(contract: Contract, question: ChecklistQuestion) -> Sequence[FoundChunk]:
        shelved = shelf.contracts[contract.document.id]
        cosines = _cosines(study, shelf, question.category, shelved.sentence_vectors)
        rescored = [
            FoundChunk(hit.chunk, max((cosines[row] for row in _rows_in(shelved, [hit])), default=-1.0))
            for hit in arm(contract, question)[:CANDIDATES]
        ]
        return sorted(rescored, key=lambda hit: -hit.score)

    return reranked


def redrawn_f1(asked: Sequence[answer_metrics.AnsweredQuestion], draws: int, seed: int) -> list[float]:
    """The published setting drawn again and again: F1 by the thesis's rule of all questions of two contracts."""
    sums = list(zip(*answer_metrics.f1_sums(asked, "thesis 0.5", -math.inf), strict=True))
    if len(sums) < 2:
        raise CorpusError("the published setting draws two contracts; give a data set with more")
    generator = numpy.random.default_rng(seed)
    drawn = [generator.choice(len(sums), size=2, replace=False) for _ in range(draws)]
    pairs = [[sums[row] for row in two] for two in drawn]
    return [(a[0] + b[0]) / max(1.0, a[1] + b[1]) for a, b in pairs]


def answered(
    study: ReviewStudy,
    contracts: Sequence[Contract],
    known: Mapping[str, KnownContract],
    answerers: Sequence[AnswerArm] = ANSWERERS,
) -> dict[str, list[answer_metrics.AnsweredQuestion]]:
    """The checklist, or its sample, answered without training and with it, by arm."""
    results: dict[str, list[answer_metrics.AnsweredQuestion]] = {}
    for arm in answerers:
        checklists = arms.answer_all(study, contracts, arm, known)
        answers = {(contract.document.id, a.category): a for contract, answered in checklists for a in answered}
        results[arm] = answer_metrics.join(arms.sampled_questions(study.options, contracts), answers)
    return results


def first_experiment(
    study: ReviewStudy, data: NliSet, judges: Sequence[NliArm] = JUDGES
) -> tuple[NliSet, dict[str, dict[int, list[JudgedHypothesis]]]]:
    """E1: the hypotheses judged by each offline arm, by the agreement's number; before them what was asked."""
    return arms.sampled_hypotheses(study.options, data), {arm: arms.judge_all(study, data, arm) for arm in judges}


@dataclass(frozen=True, slots=True)
class ModelSample:
    """The same questions and hypotheses by the offline arms and by a chat model, its name, and what it used."""

    model: str
    asked: dict[str, list[answer_metrics.AnsweredQuestion]]
    data: NliSet
    judged: dict[str, dict[int, list[JudgedHypothesis]]]
    usage: Usage


def ask_model(settings: Settings, say: Say = print) -> ModelSample:
    """Ask the sample of the offline arms and of those that the settings name. Raises ModelSetupError, StoreError."""
    study, contracts, data = open_study(settings, say)
    options = study.options
    with open_chat(settings.llm) as chat, tally() as used:
        study = replace(study, chat=chat)
        contract_models = arms.known_contracts(study, contracts)
        questions = answered(study, contracts, contract_models, (*ANSWERERS, options.answers.arm))
        data, judged = first_experiment(study, data, (*JUDGES, options.nli.arm))
    return ModelSample(settings.llm.model, questions, data, judged, used.usage)


def scaling(study: ReviewStudy, contracts: Sequence[Contract]) -> pandas.DataFrame:
    """Measures of questions when 1, 2, 5 … `contracts` are searched together (`scope` pooled), and when only one is."""
    rows: list[pandas.DataFrame] = []
    for size in [count for count in SIZES if count < len(contracts)] + [len(contracts)]:
        some = contracts[:size]
        shelf = shelf_of(study, some, study.options.retrieval.chunker)
        for scope in ("contract", "pooled"):
            arm = searching_arm(study, shelf, pooled=scope == "pooled")
            frame = chunk_metrics.run(some, arm, study.options.retrieval.budget)
            rows.append(frame.assign(contracts=size, scope=scope))
    return pandas.concat(rows, ignore_index=True)


def size(contracts: Sequence[Contract], data: NliSet) -> Iterator[str]:
    """Count what the data sets hold, a line each."""
    questions = [question for contract in contracts for question in contract.questions]
    gold = sum(bool(question.gold) for question in questions)
    yield f"CUAD's format: {len(contracts)} contracts, {len(questions)} questions, {gold} with an answer"
    pairs = sum(len(a.judgements) for a in data.agreements)
    yield f"ContractNLI's format: {len(data.agreements)} agreements, {pairs} judgements"
