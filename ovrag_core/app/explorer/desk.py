"""Contracts and models that the explorer works on, and a bench for each pair of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from ovrag_core.base import (
    ArmName,
    CorpusError,
    Document,
    DocumentError,
    LatencyRecord,
    QueryRecord,
    Question,
    QuestionError,
    Settings,
    load_questions,
    load_settings,
    project_file,
)
from ovrag_core.documents import find, load
from ovrag_core.llm import Once
from ovrag_core.loans import ask_once, corpus_bench, documents_bench
from ovrag_core.loans import folder as contracts_folder
from ovrag_core.loop import ARMS, Bench
from ovrag_core.retrieval import Index, load_all

OFFLINE = "offline"
MOST_OPEN = 3  # benches; each has a reasoner's process


@dataclass
class Desk:
    """The models that can be chosen, by name, with their settings; the project's contracts, and those uploaded.

    The project's own contracts are known by their paths and read when the first question about them is asked.
    """

    models: dict[str, Settings]
    questions: tuple[Question, ...]
    corpus: dict[str, Path] = field(default_factory=dict)
    uploads: dict[str, Document] = field(default_factory=dict)
    benches: Once[tuple[str, int], Bench] = field(default_factory=lambda: Once(MOST_OPEN))


def open_desk(params: Path = Path("params.yaml")) -> Desk:
    """The desk of a parameter file. Raises SettingsError and QuestionError; without contracts it opens all the same."""
    named = load_settings(params)
    models = {f"{named.llm.model} ({named.llm.provider})": named} if named.llm.provider != OFFLINE else {}
    models[OFFLINE] = load_settings(params, {"llm.provider": OFFLINE, "extraction.extractor": "auto"})
    desk = Desk(models, load_questions(project_file(named.questions)))
    with suppress(DocumentError):
        desk.corpus = {path.stem: path for path in find(contracts_folder(named))}
    return desk


def add_upload(desk: Desk, name: str, content: bytes) -> Document:
    """Take in an uploaded file. Raises DocumentError, with one sentence, for what cannot be read as a document."""
    clean = PurePath(name.replace("\\", "/")).name.lstrip(".") or "upload"  # a browser may send any name
    with TemporaryDirectory(prefix="ovrag-explorer-") as folder:
        path = Path(folder, f"upload-{PurePath(clean).suffix[:10]}")
        path.write_bytes(content)
        try:
            document = load(path, PurePath(clean).stem)
        except DocumentError as error:
            raise DocumentError(str(error).replace(path.name, clean)) from None
    desk.uploads[document.id] = document
    return document


def ask_about(
    desk: Desk, model: str, document_id: str, uploaded: bool, arm: ArmName, text: str
) -> tuple[QueryRecord, LatencyRecord, Bench]:
    """One question about a contract of the project, or one uploaded, with the bench of a model over all of these.

    Raises QuestionError for an empty question, else what opening the bench raises.
    """
    if not text.strip():
        raise QuestionError("the question is empty; choose one or write one")
    question = next((q for q in desk.questions if q.text == text.strip()), Question(id="Q", text=text.strip()))
    documents = tuple(desk.uploads.values()) if uploaded else ()
    bench = desk.benches.get((model, hash(documents)), lambda: _open_bench(desk.models[model], documents)).value
    record, latency = ask_once(question, document_id, ARMS[arm], bench)
    return record, latency, bench


def _open_bench(settings: Settings, documents: Sequence[Document]) -> Bench:
    """The bench over these documents, or over the project's contracts, which are indexed anew where that is needed."""
    if documents:
        return documents_bench(settings, documents)
    with suppress(CorpusError):
        bench = corpus_bench(settings)
        if _is_index_of(bench):
            return bench
    anew = documents_bench(settings, load_all(find(contracts_folder(settings))))
    anew.pool = settings.retrieval.pool
    return anew


def _is_index_of(bench: Bench) -> bool:
    """Return True where the index was made of the contracts as they are."""
    assert isinstance(bench.index, Index)
    if set(bench.index.document_ids) != set(bench.documents):
        return False
    texts = {name: document.text for name, document in bench.documents.items()}
    return all(texts[chunk.document_id][chunk.start : chunk.end] == chunk.text for chunk in bench.index.chunks)
