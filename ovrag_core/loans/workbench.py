"""The parts that the settings ask for, put together."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache, lru_cache
from pathlib import Path

from ovrag_core.base import (
    Chunk,
    CorpusError,
    Document,
    Settings,
    SettingsError,
    Triple,
    load_questions,
    notice,
)
from ovrag_core.documents import find
from ovrag_core.llm import Chat, Connection, connect, warn_on_stderr
from ovrag_core.loans import corpus
from ovrag_core.loans.loan_facts import LoanReading
from ovrag_core.loans.reading import reader
from ovrag_core.loans.reading.chat import ChatExtractor
from ovrag_core.loans.reading.details import find_details
from ovrag_core.loans.reading.gate import gate
from ovrag_core.loans.reading.hybrid import AnswersAlone, FormHybrid, HybridExtractor, form_reader
from ovrag_core.loans.reading.subjects import LOAN
from ovrag_core.loop import (
    ARMS,
    Answerer,
    Bench,
    ChatAnswerer,
    ClassAsker,
    ExtractiveAnswerer,
    Extractor,
    ModelReader,
    Searcher,
    Shelf,
    Validator,
)
from ovrag_core.ontology import Ontology, open_form, open_ontology
from ovrag_core.retrieval import INDEX, Documents, Embedder, Index, index_loaded, minilm

PASSAGES, DOCUMENTS = 128, 2  # whose reading is kept


def make_validator(settings: Settings, *, wait: bool = True) -> Validator:
    """The ontology and the reasoner, for which the first check waits where this does not."""
    return Validator(
        open_ontology(settings),
        reasoner=settings.validation.reasoner,
        seconds_per_check=settings.validation.seconds_per_check,
        heap_megabytes=settings.validation.heap_megabytes,
        wait=wait,
    )


def corpus_bench(settings: Settings, *, spent_usd: float = 0.0) -> Bench:
    """The bench over the corpus of the settings and its stored index; `spent_usd` is what a resumed run has spent.

    Documents that the index does not hold are left out and named on standard error.
    """
    paths = find(corpus.folder(settings))
    connection = open_connection(settings, spent_usd)
    with notice("ovrag: loading encoder, index and reasoner …"), _reasoner_started(settings) as validator:
        embedder = minilm()
        index = Index(INDEX, embedder.name)
    documents = Documents(_indexed(paths, index.document_ids))
    bench = _bench(settings, documents, index, embedder, connection, validator.result())
    bench.pool = settings.retrieval.pool
    bench.payer = _payer(settings)
    if bench.thing == LOAN:
        bench.problem = cache(lambda document_id: gate(documents[document_id].text)[1])
    return bench


def documents_bench(settings: Settings, documents: Sequence[Document]) -> Bench:
    """The bench over a few documents, indexed in a temporary folder; pooled arms search all of them."""
    connection = open_connection(settings)
    with _reasoner_started(settings) as validator:
        embedder = minilm()
        folder = Path(tempfile.mkdtemp(prefix="ovrag-index-"))
        index = index_loaded(settings, documents, folder, embedder)
    by_id = {document.id: document for document in documents}
    bench = _bench(settings, by_id, index, embedder, connection, validator.result())
    weakref.finalize(bench, shutil.rmtree, folder, ignore_errors=True)  # it holds the documents' text
    return bench


def _indexed(paths: Sequence[Path], document_ids: Collection[str]) -> list[Path]:
    """The paths of documents that the index holds; a line names others. Raises CorpusError where it holds none."""
    indexed = set(document_ids)
    left_out = [path.name for path in paths if path.stem not in indexed]
    named = f"{len(left_out)} of {len(paths)} documents are not in the index"
    remedy = "`dvc repro 02_index_contracts` indexes those that can be read"
    if len(left_out) == len(paths):
        raise CorpusError(f"{named}; {remedy}")
    if left_out:
        warn_on_stderr(f"{named} and are left out: {corpus.first_of(left_out)}; {remedy}")
    return [path for path in paths if path.stem in indexed]


@contextmanager
def _reasoner_started(settings: Settings) -> Iterator[Future[Validator]]:
    """The validator, made during the block: its process starts while others load."""
    with ThreadPoolExecutor(1, "reasoner") as pool:
        yield pool.submit(make_validator, settings)


def open_connection(settings: Settings, spent_usd: float = 0.0) -> Connection | None:
    """The models that the settings ask for; None offline."""
    if settings.llm.provider == "offline":
        return None
    return connect(settings.llm, spent_usd=spent_usd)


def _bench(
    settings: Settings,
    documents: Mapping[str, Document],
    index: Searcher,
    embedder: Embedder,
    connection: Connection | None,
    validator: Validator,
) -> Bench:
    read_once = ReadOnce()
    chat = connection.chat if connection else None
    is_other = settings.ontology.domain is not None
    model_reader = _other_reader(settings, validator.ontology, chat, embedder) if is_other else None
    extractor = model_reader or _extractor(settings, validator.ontology, chat, read_once)
    if connection is None:
        answerer: Answerer = ExtractiveAnswerer(embedder)
    else:
        answerer = ChatAnswerer(connection.chat, temperature=settings.llm.temperature, seed=settings.llm.seed)
    label = f"{answerer.name}, {extractor.name}, {embedder.name}"
    bench = Bench(
        index=index,
        embedder=embedder,
        answerer=answerer,
        extractor=extractor,
        validator=validator,
        documents=documents,
        shelf=None if model_reader else Shelf(documents, find_details),
        reader=None if model_reader else read_once,
        thing=model_reader.thing if model_reader else LOAN,
        top_k=settings.retrieval.top_k,
        corrections=settings.experiment.corrections,
        model=label if connection else f"offline: {label}",
    )
    if connection is not None:
        bench.cost_usd = connection.cost_usd
        # Also where nobody closes it: connections are closed at the end of the process.
        bench.close = weakref.finalize(bench, connection.close)
    return bench


@contextmanager
def review_extractor(settings: Settings, ontology: Ontology) -> Iterator[tuple[Extractor[LoanReading], str]]:
    """Open the extractor for a review, with its name: the reader, alone or with the model of the settings."""
    with open_connection(settings) or nullcontext() as connection:
        extractor = _extractor(settings, ontology, connection.chat if connection else None, ReadOnce())
        yield extractor, extractor.name


@contextmanager
def other_reader(settings: Settings, ontology: Ontology) -> Iterator[ModelReader]:
    """Open the reader of another domain's documents for a review: the model of the settings, by the domain's form."""
    with open_connection(settings) or nullcontext() as connection:
        yield _other_reader(settings, ontology, connection.chat if connection else None, minilm())


def _other_reader(settings: Settings, ontology: Ontology, model: Chat | None, embedder: Embedder) -> ModelReader:
    """The reader of a domain that has none of its own. Raises SettingsError without a model."""
    if model is None:
        raise SettingsError(
            f"documents of {settings.ontology.domain} are read by a language model; name one: "
            "-S llm.provider=openai (docs/models.md)"
        )
    form, seed = open_form(settings, ontology), settings.llm.seed
    classes = ClassAsker(model, form, embedder, seed=seed)
    return ModelReader(form_reader(model, form, seed=seed), classes, window=settings.extraction.window)


def _extractor(settings: Settings, ontology: Ontology, model: Chat | None, read_once: ReadOnce) -> Named:
    """The extractor that the settings ask for; results are labelled with its name."""
    if model is None or settings.extractor == "reader":
        return read_once
    seed, window = settings.llm.seed, settings.extraction.window
    extractor: FormHybrid | ChatExtractor | HybridExtractor
    if settings.extraction.form == "triples":
        by_meaning = settings.extraction.support == "meaning"
        chat = ChatExtractor(model, ontology, seed=seed, window=window, by_meaning=by_meaning)
        extractor = chat if settings.extractor == "chat" else HybridExtractor(chat, read_once, reader.NAME)
    else:
        model_reader = form_reader(model, open_form(settings, ontology), seed=seed)
        extractor = FormHybrid(model_reader, read_once, reader.NAME, ontology, window=window)
    if settings.extractor == "answers":
        return AnswersAlone(extractor, read_once, extractor.name)
    return extractor


class ReadOnce:
    """An extractor without a model, whose last readings of passages are kept.

    A short contract's chunks are all retrieved for every question, and a correction may come to the same answer.
    """

    name = reader.NAME

    def __init__(self) -> None:
        self.read = lru_cache(DOCUMENTS)(reader.read)
        self.read_passage = lru_cache(PASSAGES)(reader.read_passage)

    def read_chunks(self, chunks: Sequence[Chunk]) -> tuple[Triple, ...]:
        """The triples of retrieved chunks, each read on its own."""
        read = [self.read_passage(chunk.text, document_id=chunk.document_id, start=chunk.start) for chunk in chunks]
        return tuple(triple for triples in read for triple in triples)


Named = FormHybrid | ChatExtractor | HybridExtractor | AnswersAlone | ReadOnce


def _payer(settings: Settings) -> tuple[str, str] | None:
    """Find the arm and the question whose records hold what reading the documents used.

    They are the first arm that reads the documents whole, and its first question.
    """
    arms = [name for name in settings.experiment.arms if ARMS[name].context == "document"]
    questions = settings.experiment.questions or [question.id for question in load_questions(settings.questions)]
    return (arms[0], questions[0]) if arms and questions else None
