"""Arms put together from the settings: what finds chunks, answers the checklist, judges hypotheses, walks the graph.

Nothing is scored by weights that have seen it: contracts and agreements of their training are answered by models of
the other folds, or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy

from ovrag_core.base import Document, ModelSetupError, SettingsError, bar
from ovrag_core.llm import Chat
from ovrag_core.retrieval import Embedder
from ovrag_studies.contract_review.answering.candidates import Scored
from ovrag_studies.contract_review.answering.features import ContractReading, Numbers, read
from ovrag_studies.contract_review.answering.learned import ClauseModel, Trainer, default_model, digest, find_prototypes
from ovrag_studies.contract_review.answering.span_answers import LEAST, CategoryAnswers, by_chat, extractive, learned
from ovrag_studies.contract_review.graphs.graph import ContractGraph, EdgeKind, build_graph
from ovrag_studies.contract_review.graphs.graph_walks import WALKED, by_section, neighbours, walk
from ovrag_studies.contract_review.inference import nli
from ovrag_studies.contract_review.inference.nli import JudgedHypothesis
from ovrag_studies.contract_review.inference.nli_chat import CHAT_ARMS, ask_all
from ovrag_studies.contract_review.measures.chunk_metrics import DEPTH, Arm
from ovrag_studies.contract_review.retrieval.expansion import ChunkQuery, queries, reworded, titled
from ovrag_studies.contract_review.retrieval.retrievers import ContractShelf, FoundChunk, search, shelve
from ovrag_studies.contract_review.settings import AnswerArm, ContractReview, GraphArm, NliArm
from ovrag_studies.contract_review.texts.chunkers import ContractChunk, chunk
from ovrag_studies.contract_review.texts.datasets import ChecklistQuestion, Contract, NliAgreement, NliSet

Say = Callable[[str], None]
T = TypeVar("T", str, int)


@dataclass(frozen=True)
class KnownContract:
    """A contract as it was read, and a model that has not seen it."""

    reading: ContractReading
    model: ClauseModel

    @cached_property
    def scored(self) -> Scored:
        """All scores of the contract."""
        return self.model.score(self.reading)


@dataclass(frozen=True)
class ReviewStudy:
    """Parts of which arms are made: parameters, embedder, the data set's descriptions of categories, any chat model.

    `say` tells a person of contracts that the weights were trained on.
    """

    options: ContractReview
    embedder: Embedder
    descriptions: Mapping[str, str] = field(default_factory=dict)
    chat: Chat | None = None
    seed: int | None = 42
    say: Say = print

    @cached_property
    def model(self) -> ClauseModel:
        """The trained clause finder."""
        return default_model()

    def asked_chat(self, what: str) -> Chat:
        """The chat model. Raises ModelSetupError where the settings name none."""
        if self.chat is None:
            raise ModelSetupError(f"{what} asks a chat model; set llm.provider to openai or replay")
        return self.chat


def known_contracts(study: ReviewStudy, contracts: Sequence[Contract]) -> dict[str, KnownContract]:
    """Each contract by its title with a model that has not seen it, nor another one of its filer.

    Contracts of the training get models of the other folds, learned anew from those of them that are here. Raises
    CorpusError where too few are here to learn from.
    """
    trained = [c for c in contracts if was_trained_on(study.model, c)]
    by_title: dict[str, KnownContract] = {}
    with bar(len(contracts), "reading", "contract") as progress:
        if trained:
            study.say(_told(len(trained), len(contracts), "contracts"))
            for contract, reading, model in Trainer(trained, study.model.categories, study.embedder).out_of_fold():
                by_title[contract.document.id] = KnownContract(reading, model)
                progress.update()
        for contract in contracts:
            if contract.document.id not in by_title:
                by_title[contract.document.id] = KnownContract(
                    read(contract.document.text, study.embedder), study.model
                )
                progress.update()
    return by_title


def was_trained_on(model: ClauseModel, contract: Contract) -> bool:
    """Return True where a contract, by its title or its text, was in the training of a model."""
    text_digest = digest(contract.document.text)
    return any(contract.document.id == title or text_digest == text for title, text in model.trained_on)


def _told(trained: int, of: int, what: str) -> str:
    return f"{trained} of {of} {what} were in the training of the weights: those are scored out of fold"


# -- the sample -------------------------------------------------------------------------------------------------------


def sampled_questions(options: ContractReview, contracts: Sequence[Contract]) -> tuple[Contract, ...]:
    """Return the contracts with the questions of the sample; a contract without one is left out."""
    sampled = _spread(options, [(q.category, c.document.id) for c in contracts for q in c.questions])
    if sampled is None:
        return tuple(contracts)
    sampled_contracts = (
        replace(
            contract, questions=tuple(q for q in contract.questions if (q.category, contract.document.id) in sampled)
        )
        for contract in contracts
    )
    return tuple(c for c in sampled_contracts if c.questions)


def sampled_hypotheses(options: ContractReview, data: NliSet) -> NliSet:
    """Return the agreements with the judgements of the sample; an agreement without one is left out."""
    sampled = _spread(options, [(j.hypothesis, a.number) for a in data.agreements for j in a.judgements])
    if sampled is None:
        return data
    sampled_agreements = (
        replace(
            agreement, judgements=tuple(j for j in agreement.judgements if (j.hypothesis, agreement.number) in sampled)
        )
        for agreement in data.agreements
    )
    return replace(data, agreements=tuple(a for a in sampled_agreements if a.judgements))


def _spread(options: ContractReview, pairs: Sequence[tuple[str, T]]) -> set[tuple[str, T]] | None:
    """Return the sampled pairs of an item and its document, or None for all.

    Pairs are counted item by item: counted by document, an even step would meet the same few items in each.
    """
    if options.sample is None:
        return None
    order = {item: rank for rank, item in enumerate(dict.fromkeys(item for item, _ in pairs))}
    return set(options.sampled(sorted(pairs, key=lambda pair: order[pair[0]])))


# -- chunks -----------------------------------------------------------------------------------------------------------


def retrieval_arm(
    study: ReviewStudy, contracts: Sequence[Contract], known: Mapping[str, KnownContract] | None = None
) -> Arm:
    """Return what ranks the chunks of a contract, or of all, for a question, as `retrieval` of the settings says.

    `known` saves making models for the learned retriever. Raises SettingsError for settings that do not go together.
    """
    chosen = study.options.retrieval
    if chosen.retriever != "learned":
        return searching_arm(study, shelve([c.document for c in contracts], chosen.chunker, study.embedder))
    if chosen.scope == "pooled":
        raise SettingsError("retrieval.retriever: learned ranks one contract; set retrieval.scope to contract")
    return learned_arm(known_contracts(study, contracts) if known is None else known, chosen.chunker)


def learned_arm(known: Mapping[str, KnownContract], chunker: str) -> Arm:
    """Return what ranks the chunks of one contract by the trained scores of what lies in them."""
    cut: dict[str, tuple[ContractChunk, ...]] = {}

    def arm(contract: Contract, question: ChecklistQuestion) -> Sequence[FoundChunk]:
        known_contract = known[contract.document.id]
        if contract.document.id not in cut:
            cut[contract.document.id] = chunk(contract.document, chunker)
        chunks = cut[contract.document.id]
        ranking = known_contract.model.rank(
            known_contract.scored, question.category, [(c.start, c.end) for c in chunks]
        )
        return [FoundChunk(chunks[number], score) for number, score in ranking[:DEPTH]]

    return arm


def searching_arm(study: ReviewStudy, shelf: ContractShelf) -> Arm:
    """Return what ranks chunks by a retriever that learned nothing from any contract."""
    chosen = study.options.retrieval

    def arm(contract: Contract, question: ChecklistQuestion) -> Sequence[FoundChunk]:
        chunk_queries = wordings(study, question.category)
        if chosen.scope == "contract":
            return search(shelf, chosen.retriever, chunk_queries, DEPTH, within=contract.document.id)
        return search(shelf, chosen.retriever, [titled(q, contract.document.id) for q in chunk_queries], DEPTH)

    return arm


def wordings(study: ReviewStudy, category: str) -> tuple[ChunkQuery, ...]:
    """Return the queries for a category. Raises QuestionError for an unknown one."""
    wording = study.options.retrieval.wording
    if wording == "chat":
        return reworded(study.asked_chat("retrieval.wording: chat"), category, study.descriptions)
    return queries(category, wording, study.descriptions)


# -- the graph --------------------------------------------------------------------------------------------------------


def build_graphs(shelf: ContractShelf) -> dict[str, ContractGraph]:
    """Return the graph of each contract on a shelf, by its title."""
    graphs = {}
    with bar(len(shelf.contracts), "graph", "contract") as progress:
        for id_, shelved in shelf.contracts.items():
            graphs[id_] = build_graph(shelved)
            progress.update()
    return graphs


def graph_arm(study: ReviewStudy, contracts: Sequence[Contract]) -> Arm:
    """Return what hands on the chunks for a question by the walk of the settings, best first."""
    shelf = shelve([c.document for c in contracts], study.options.graph.chunker, study.embedder)
    return walking_arm(study, shelf, build_graphs(shelf), study.options.graph.arm)


def walking_arm(
    study: ReviewStudy,
    shelf: ContractShelf,
    graphs: Mapping[str, ContractGraph],
    design: GraphArm,
    edges: Iterable[EdgeKind] = WALKED,
) -> Arm:
    """Return a walk that begins with the ranking of the retriever of the settings; `edges` are those of our own design.

    Raises SettingsError for a retriever that no graph begins with.
    """
    if study.options.retrieval.retriever == "learned":
        raise SettingsError("a graph begins with a search of words or vectors; set retrieval.retriever to another one")
    walked = tuple(edges)

    def arm(contract: Contract, question: ChecklistQuestion) -> Sequence[FoundChunk]:
        graph = graphs[contract.document.id]
        numbers = {c.id: number for number, c in enumerate(graph.chunks)}
        chunk_queries = wordings(study, question.category)
        ranked = search(
            shelf, study.options.retrieval.retriever, chunk_queries, len(numbers), within=contract.document.id
        )
        ranking = [(numbers[hit.chunk.id], hit.score) for hit in ranked]
        if design == "v1":
            reached = neighbours(graph, ranking)
        elif design == "v2":
            reached = by_section(graph, ranking, shelf.vectors([chunk_queries[0].text])[0])
        else:
            reached = walk(graph, ranking, chunk_queries[0].text, edges=walked)
        return [FoundChunk(graph.chunks[number], score) for number, score in reached[:DEPTH]]

    return arm


# -- the checklist ----------------------------------------------------------------------------------------------------


def answer_all(
    study: ReviewStudy, contracts: Sequence[Contract], arm: AnswerArm, known: Mapping[str, KnownContract] | None = None
) -> Iterator[tuple[Contract, list[CategoryAnswers]]]:
    """Each contract with the answers to the categories that are asked of it, of the sample if the settings name one.

    What the learned arm is taught out of fold, all contracts teach.
    """
    models = (known_contracts(study, contracts) if known is None else known) if arm == "learned" else {}
    contracts = sampled_questions(study.options, contracts)
    with bar(len(contracts), "answering", "contract") as progress:
        for contract in contracts:
            categories = [question.category for question in contract.questions]
            if arm == "learned":
                known_contract = models[contract.document.id]
                yield contract, learned(known_contract.reading, categories, known_contract.model, least=0.0)
            else:
                yield contract, checklist(study, contract.document, categories, arm)
            progress.update()


def checklist(
    study: ReviewStudy, document: Document, categories: Sequence[str], arm: AnswerArm, least: float = LEAST
) -> list[CategoryAnswers]:
    """Answers for one contract by the arm; the learned ones by the weights, whatever those were trained on."""
    reading = read(document.text, study.embedder)
    if arm == "learned":
        return learned(reading, categories, study.model, least=least)
    if arm == "extractive":
        return extractive(reading, categories, study.embedder)
    chat = study.asked_chat("answers.arm: chat")
    return by_chat(reading, categories, chat, lambda category: _likeness(reading, category, study.embedder), study.seed)


def _likeness(reading: ContractReading, category: str, embedder: Embedder) -> Numbers:
    """Compare the passages with a clause of the category as one would draft it; this takes no training."""
    prototypes = find_prototypes([category], embedder)
    likeness: Numbers = (reading.vectors @ prototypes.vectors.T).max(axis=1, initial=0).astype(numpy.float32)
    return likeness


# -- hypotheses -------------------------------------------------------------------------------------------------------


def judge_all(study: ReviewStudy, data: NliSet, arm: NliArm) -> dict[int, list[JudgedHypothesis]]:
    """Every hypothesis judged for every agreement, or the pairs of the sample, by the agreement's number.

    Agreements of the training are judged by what the others of them that are here teach. Raises CorpusError where too
    few are here to learn from.
    """
    sampled = sampled_hypotheses(study.options, data)
    if arm in CHAT_ARMS:
        return ask_all(data, study.asked_chat(f"nli.arm: {arm}"), arm, study.seed, sampled.agreements)
    trained = [] if arm == "lexical" else agreements_trained_on(data.agreements)
    results: dict[int, list[JudgedHypothesis]] = {}
    if trained:
        study.say(_told(len(trained), len(data.agreements), "agreements"))
        results = nli.out_of_fold(NliSet(tuple(trained), data.hypotheses), arm)
    unjudged = [a for a in sampled.agreements if a.number not in results]
    if unjudged:
        model = nli.find_judge(arm)
        with bar(len(unjudged), "judging", "agreement") as progress:
            for agreement in unjudged:
                results[agreement.number] = model.judge(agreement.document, agreement.spans, data.hypotheses)
                progress.update()
    if study.options.sample is None:
        return {a.number: results[a.number] for a in data.agreements}
    names = {a.number: {j.hypothesis for j in a.judgements} for a in sampled.agreements}
    return {number: [j for j in results[number] if j.hypothesis in hypotheses] for number, hypotheses in names.items()}


def agreements_trained_on(agreements: Sequence[NliAgreement]) -> list[NliAgreement]:
    """Return those of the agreements that the weights of the judge were trained on."""
    digests = nli.load_learned().trained_on
    return [agreement for agreement in agreements if nli.digest(agreement.document.text) in digests]
