"""Arms put together from the settings: what finds chunks, answers the checklist, judges hypotheses, walks the graph.

What weights were trained on is answered by models of the other folds, or refused.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path

from ovrag_core.base import CorpusError, Document, ModelSetupError, Settings, SettingsError, bar
from ovrag_core.llm import Chat, open_chat
from ovrag_core.retrieval import Embedder, minilm
from ovrag_studies.contract_review.answering.candidates import Scored
from ovrag_studies.contract_review.answering.features import ContractReading, read
from ovrag_studies.contract_review.answering.learned import ClauseModel, Trainer, default_model
from ovrag_studies.contract_review.answering.span_answers import CategoryAnswers, by_chat, drafted, extractive, learned
from ovrag_studies.contract_review.graphs import graph as graphs_of
from ovrag_studies.contract_review.graphs.graph import WALKED, EdgeKind
from ovrag_studies.contract_review.inference import nli
from ovrag_studies.contract_review.inference.nli import JudgedHypothesis
from ovrag_studies.contract_review.inference.nli_chat import CHAT_ARMS, ask_all
from ovrag_studies.contract_review.measures.chunk_metrics import DEPTH, Arm
from ovrag_studies.contract_review.retrieval.expansion import ChunkQuery, queries, read_descriptions, titled
from ovrag_studies.contract_review.retrieval.retrievers import ContractShelf, FoundChunk, Remembered, search
from ovrag_studies.contract_review.settings import AnswerArm, ContractReview, GraphArm, NliArm
from ovrag_studies.contract_review.texts.chunkers import chunk
from ovrag_studies.contract_review.texts.datasets import ChecklistQuestion, Contract, NliAgreement, NliSet

Say = Callable[[str], None]


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
    """Parts of which arms are made; `descriptions` are the data set's of categories, `say` tells a person."""

    options: ContractReview
    embedder: Embedder
    descriptions: Mapping[str, str]
    chat: Chat | None
    seed: int | None
    say: Say

    def asked_chat(self, what: str) -> Chat:
        """The chat model. Raises ModelSetupError where the settings name none."""
        if self.chat is None:
            raise ModelSetupError(f"{what} asks a chat model; set llm.provider to openai or replay")
        return self.chat


@contextmanager
def open_study(settings: Settings, say: Say, cuad: Path | None = None) -> Iterator[ReviewStudy]:
    """Open the parts, with a connection to the model that the settings name; `cuad` is what describes categories."""
    options, descriptions = ContractReview.of(settings), read_descriptions(cuad) if cuad else {}
    with open_chat(settings.llm) as chat:
        yield ReviewStudy(options, Remembered(minilm()), descriptions, chat, settings.llm.seed, say)


def known_contracts(study: ReviewStudy, contracts: Sequence[Contract]) -> dict[str, KnownContract]:
    """Each contract by its title with a model that saw neither it nor another of its filer. Raises CorpusError."""
    weights = default_model()
    trained = [c for c in contracts if weights.was_trained_on(c.document)]
    by_title: dict[str, KnownContract] = {}
    with bar(len(contracts), "reading", "contract") as progress:
        if trained:
            study.say(_told(len(trained), len(contracts), "contracts"))
            for contract, reading, model in Trainer(trained, weights.categories, study.embedder).out_of_fold():
                by_title[contract.document.id] = KnownContract(reading, model)
                progress.update()
        for document in (c.document for c in contracts if c.document.id not in by_title):
            by_title[document.id] = KnownContract(read(document.text, study.embedder), weights)
            progress.update()
    return by_title


def refuse_seen(document: Document) -> None:
    """Raise CorpusError for a contract of the training: how it is answered shows nothing of others."""
    if default_model().was_trained_on(document):
        raise CorpusError(
            f"{document.id} was in the training of the weights; answer it out of fold with `ovrag contract-review run "
            "answers`, or with --arm extractive"
        )


def _told(trained: int, of: int, what: str) -> str:
    return f"{trained} of {of} {what} were in the training of the weights: those are scored out of fold"


def sampled_questions(options: ContractReview, contracts: Sequence[Contract]) -> tuple[Contract, ...]:
    """Return the contracts with the questions of the sample; a contract without one is left out."""
    sampled = _spread(options, [(q.category, q.id) for c in contracts for q in c.questions])
    asked = (replace(c, questions=tuple(q for q in c.questions if (q.category, q.id) in sampled)) for c in contracts)
    return tuple(contract for contract in asked if contract.questions)


def sampled_hypotheses(options: ContractReview, data: NliSet) -> NliSet:
    """Return the agreements with the judgements of the sample; an agreement without one is left out."""
    sampled = _spread(options, [(j.hypothesis, a.number) for a in data.agreements for j in a.judgements])
    asked = (
        replace(a, judgements=tuple(j for j in a.judgements if (j.hypothesis, a.number) in sampled))
        for a in data.agreements
    )
    return replace(data, agreements=tuple(agreement for agreement in asked if agreement.judgements))


def _spread(options: ContractReview, pairs: Sequence[tuple[str, object]]) -> set[tuple[str, object]]:
    """Return the sampled pairs of an item and a document, counted item by item to meet all items."""
    order = list(dict.fromkeys(item for item, _ in pairs))
    return set(options.sampled(sorted(pairs, key=lambda pair: order.index(pair[0]))))


def retrieval_arm(study: ReviewStudy, contracts: Sequence[Contract]) -> Arm:
    """Return what ranks chunks as `retrieval` of the settings has it."""
    chosen = study.options.retrieval
    if chosen.retriever != "learned":
        return searching_arm(study, shelf_of(study, contracts, chosen.chunker))
    return learned_arm(known_contracts(study, contracts), chosen.chunker)


def shelf_of(study: ReviewStudy, contracts: Sequence[Contract], chunker: str) -> ContractShelf:
    """Return contracts cut by `chunker`, ready to be searched."""
    return ContractShelf([contract.document for contract in contracts], chunker, study.embedder)


def learned_arm(known: Mapping[str, KnownContract], chunker: str) -> Arm:
    """Return what ranks the chunks of one contract by the trained scores of what lies in them."""
    cut = cache(partial(chunk, name=chunker))

    def arm(contract: Contract, question: ChecklistQuestion) -> Sequence[FoundChunk]:
        title, chunks = contract.document.id, cut(contract.document)
        spans = [(c.start, c.end) for c in chunks]
        ranking = known[title].model.rank(known[title].scored, question.category, spans)
        return [FoundChunk(chunks[number], score) for number, score in ranking[:DEPTH]]

    return arm


def searching_arm(
    study: ReviewStudy, shelf: ContractShelf, depth: int | None = DEPTH, *, pooled: bool = False, named: int = 0
) -> Arm:
    """Return what ranks chunks, `depth` or all, by a retriever that learned nothing from any contract.

    In scope is the asked contract, which the first `named` queries name, or, `pooled`, the shelf: then all name it.
    """
    retriever = study.options.retrieval.retriever

    def arm(contract: Contract, question: ChecklistQuestion) -> Sequence[FoundChunk]:
        chunk_queries, title = wordings(study, question.category), contract.document.id
        count = len(chunk_queries) if pooled else named
        asked = [*(titled(query, title) for query in chunk_queries[:count]), *chunk_queries[count:]]
        return search(shelf, retriever, asked, depth, within=None if pooled else title)

    return arm


def wordings(study: ReviewStudy, category: str) -> tuple[ChunkQuery, ...]:
    """Return the queries for a category. Raises QuestionError for an unknown one."""
    return queries(category, study.options.retrieval.wording, study.descriptions.get(category))


def graph_arm(study: ReviewStudy, contracts: Sequence[Contract]) -> Arm:
    """Return what hands on the chunks for a question by the walk of the settings, best first. Raises SettingsError."""
    return ContractWalks(study, contracts).arm(study.options.graph.arm)


class ContractWalks:
    """Walks over the graphs of contracts; all begin with the `plain` ranking of all chunks, made once a question."""

    def __init__(self, study: ReviewStudy, contracts: Sequence[Contract]) -> None:
        if study.options.retrieval.retriever == "learned":
            raise SettingsError(
                "a graph begins with a search of words or vectors; set retrieval.retriever to another one"
            )
        self._study = study
        self.shelf = shelf_of(study, contracts, study.options.graph.chunker)
        self.plain: Arm = cache(searching_arm(study, self.shelf, depth=None))
        self._graphs = {title: graphs_of.build_graph(shelved) for title, shelved in self.shelf.contracts.items()}

    def arm(self, design: GraphArm, edges: Sequence[EdgeKind] = WALKED) -> Arm:
        """Return a walk of this design; `edges` are of ours."""

        def arm(contract: Contract, question: ChecklistQuestion) -> Sequence[FoundChunk]:
            graph = self._graphs[contract.document.id]
            numbers = {c.id: number for number, c in enumerate(graph.chunks)}
            ranking = [(numbers[hit.chunk.id], hit.score) for hit in self.plain(contract, question)]
            wording = wordings(self._study, question.category)[0].text
            if design == "v1":
                reached = graphs_of.neighbours(graph, ranking)
            elif design == "v2":
                reached = graphs_of.by_section(graph, ranking, self._study.embedder.embed([wording])[0])
            else:
                reached = graphs_of.walk(graph, ranking, wording, edges=edges)
            return [FoundChunk(graph.chunks[number], score) for number, score in reached[:DEPTH]]

        return arm


def answer_all(
    study: ReviewStudy, contracts: Sequence[Contract], arm: AnswerArm, known: Mapping[str, KnownContract] | None = None
) -> Iterator[tuple[Contract, list[CategoryAnswers]]]:
    """Each contract with the answers to the categories, or those of the sample; all contracts teach the learned arm."""
    models = (known_contracts(study, contracts) if known is None else known) if arm == "learned" else {}
    contracts = sampled_questions(study.options, contracts)
    with bar(len(contracts), "answering", "contract") as progress:
        for contract in contracts:
            categories = [question.category for question in contract.questions]
            if known_contract := models.get(contract.document.id):
                yield contract, learned(known_contract.reading, categories, known_contract.model, least=0.0)
            else:
                yield contract, checklist(study, contract.document, categories, arm)
            progress.update()


def checklist(
    study: ReviewStudy, document: Document, categories: Sequence[str], arm: AnswerArm
) -> list[CategoryAnswers]:
    """Answers for one contract by the arm; the learned ones by the weights, whatever those were trained on."""
    reading = read(document.text, study.embedder)
    if arm == "learned":
        return learned(reading, categories, default_model())
    if arm == "extractive":
        return extractive(reading, categories, study.embedder)
    chat = study.asked_chat("answers.arm: chat")
    return by_chat(reading, categories, chat, lambda name: drafted(reading, [name], study.embedder)[:, 0], study.seed)


def judge_all(study: ReviewStudy, data: NliSet, arm: NliArm) -> dict[int, list[JudgedHypothesis]]:
    """Every hypothesis, or those of the sample, judged for every agreement, by its number. Raises CorpusError."""
    sampled = sampled_hypotheses(study.options, data)
    if arm in CHAT_ARMS:
        return ask_all(data, study.asked_chat(f"nli.arm: {arm}"), arm, study.seed, sampled.agreements)
    trained = [] if arm == "lexical" else agreements_trained_on(data.agreements)
    results: dict[int, list[JudgedHypothesis]] = {}
    if trained:
        study.say(_told(len(trained), len(data.agreements), "agreements"))
        results = nli.out_of_fold(NliSet(tuple(trained), data.hypotheses), arm)
    if unjudged := [a for a in sampled.agreements if a.number not in results]:
        judge = nli.JUDGES[arm]()
        with bar(len(unjudged), "judging", "agreement") as progress:
            for agreement in unjudged:
                results[agreement.number] = judge(agreement.document, agreement.spans, data.hypotheses)
                progress.update()
    names = {a.number: {j.hypothesis for j in a.judgements} for a in sampled.agreements}
    return {number: [j for j in results[number] if j.hypothesis in hypotheses] for number, hypotheses in names.items()}


def agreements_trained_on(agreements: Sequence[NliAgreement]) -> list[NliAgreement]:
    """Return those of the agreements that the weights of the judge were trained on."""
    digests = nli.load_learned().trained_on
    return [agreement for agreement in agreements if nli.digest(agreement.document.text) in digests]
