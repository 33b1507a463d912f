"""The parts that the settings ask for, put together."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ovrag_core.answering import ExtractiveAnswerer
from ovrag_core.documents import find
from ovrag_core.extraction import reader
from ovrag_core.ontology.load import Ontology, load_ontology
from ovrag_core.ontology.reference import load_with_reference
from ovrag_core.pipeline import Bench, Searcher
from ovrag_core.project import project_file
from ovrag_core.retrieval.embedding import find_embedder
from ovrag_core.retrieval.index import open_index
from ovrag_core.retrieval.store import INDEX, index_loaded, load_all
from ovrag_core.settings import Settings
from ovrag_core.types import Document
from ovrag_core.validation import Validator

CONTRACTS = Path("data/contracts")
ONTOLOGIES = Path("ontologies")


def contracts_folder(settings: Settings) -> Path:
    """Where the contracts are: the generated ones, or the user's own folder."""
    return CONTRACTS if settings.corpus.source == "generated" else Path(settings.corpus.source)


def open_ontology(settings: Settings) -> Ontology:
    """The ontology with its rule settings: ours, or FIBO's hierarchy under our rules."""
    bundled, rules = project_file(ONTOLOGIES), project_file(settings.validation.rules)
    if settings.ontology.source == "bundled":
        return load_ontology(bundled, rules=rules)
    return load_with_reference(Path(settings.ontology.source), bundled, rules)


def make_validator(settings: Settings) -> Validator:
    """The ontology and the reasoner."""
    return Validator(
        open_ontology(settings),
        reasoner=settings.validation.reasoner,
        seconds_per_check=settings.validation.seconds_per_check,
        heap_megabytes=settings.validation.heap_megabytes,
    )


def corpus_bench(settings: Settings) -> Bench:
    """The bench over the corpus of the settings and its stored index."""
    return _bench(settings, load_all(find(contracts_folder(settings))), open_index(INDEX), settings.retrieval.pool)


def documents_bench(settings: Settings, documents: Sequence[Document]) -> Bench:
    """The bench over a few documents, indexed in a temporary folder; pooled arms search all of them."""
    index = index_loaded(settings, documents, Path(tempfile.mkdtemp(prefix="ovrag-index-")))
    return _bench(settings, documents, index, "whole")


def _bench(
    settings: Settings, documents: Sequence[Document], index: Searcher, pool: Literal["growing", "whole"]
) -> Bench:
    embedder = find_embedder(settings.retrieval.embedding)
    answerer = ExtractiveAnswerer(embedder)
    return Bench(
        index=index,
        embedder=embedder,
        answerer=answerer,
        extractor=reader,
        validator=make_validator(settings),
        documents={document.id: document for document in documents},
        top_k=settings.retrieval.top_k,
        corrections=settings.experiment.corrections,
        pool=pool,
        model=f"offline: {answerer.name}, {reader.NAME}, {embedder.name}",
    )
