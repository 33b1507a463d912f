"""Collections of contracts that the explorer works on, and a bench for each of them and each model."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePath

import numpy

from ovrag_core.base import (
    ArmName,
    Chunk,
    CorpusError,
    Document,
    DocumentError,
    LatencyRecord,
    QueryRecord,
    Question,
    QuestionError,
    RunError,
    Settings,
    load_questions,
    load_settings,
    project_file,
)
from ovrag_core.documents import find, load
from ovrag_core.llm import Once
from ovrag_core.loans import ask_once, corpus_bench, documents_bench, generate
from ovrag_core.loans import folder as contracts_folder
from ovrag_core.loop import ARMS, Bench
from ovrag_core.retrieval import INDEX, Embedder, Index, Vectors, load_all, read_chunks
from ovrag_core.runs import RUNS, read_run, run_files

CORPUS, OWN, SAMPLE = "contracts of the project", "uploaded contracts", "sample"
OFFLINE = "offline"
SAMPLE_SIZE = 8
SAMPLE_SEED = 7
OFFLINE_CHANGES = {"llm.provider": "offline", "extraction.extractor": "auto", "retrieval.embedding": "minilm"}
MOST_OPEN = 3  # benches; each has a reasoner's process
AT_A_TIME = 16  # passages that are embedded between two words about progress
Watch = Callable[[int, int], None]  # passages that are embedded, and all
PARTS_OF_RUNS = (".latency.jsonl", ".partial.jsonl")


@dataclass
class Desk:
    """The models that can be chosen, by name, with their settings; the collections, by name, with their documents.

    The project's own contracts are known by their paths and read when the first question about them is asked.
    """

    models: dict[str, Settings]
    questions: tuple[Question, ...]
    corpus: dict[str, Path]
    folder: Path
    collections: dict[str, dict[str, Document]] = field(default_factory=dict)
    truth: dict[str, Path] = field(default_factory=dict)
    benches: Once[tuple[str, str, int], Bench] = field(default_factory=lambda: Once(MOST_OPEN))
    vectors: dict[tuple[str, str], Vectors] = field(default_factory=dict)


class Remembering:
    """An embedder that keeps the vectors of the passages of uploads, and says how far it is with new ones.

    So a second upload does not have the first embedded again. A vector depends on its text alone.
    """

    def __init__(self, embedder: Embedder, known: dict[tuple[str, str], Vectors], watch: Watch) -> None:
        self._embedder, self._known, self._watch = embedder, known, watch
        self.name = embedder.name

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        new = sorted({text for text in texts if (self.name, text) not in self._known}, key=len)
        for start in range(0, len(new), AT_A_TIME):
            self._watch(start, len(new))
            some = new[start : start + AT_A_TIME]
            self._known.update(zip(((self.name, text) for text in some), self._embedder.embed(some), strict=True))
        return numpy.stack([self._known[self.name, text] for text in texts])


def open_desk(params: Path = Path("params.yaml")) -> Desk:
    """The desk of a parameter file. Raises SettingsError and QuestionError; without contracts it opens all the same."""
    offline = load_settings(params, dict(OFFLINE_CHANGES))
    named = load_settings(params)
    models = {OFFLINE: offline}
    if named.llm.provider != "offline":
        models = {f"{named.llm.model} ({named.llm.provider})": named, OFFLINE: offline}
    try:
        corpus = {path.stem: path for path in find(contracts_folder(named))}
    except DocumentError:
        corpus = {}
    questions = load_questions(project_file(named.questions))
    folder = Path(tempfile.mkdtemp(prefix="ovrag-explorer-"))
    desk = Desk(models, questions, corpus, folder)
    weakref.finalize(desk, shutil.rmtree, folder, ignore_errors=True)  # uploads are held while the page is open
    return desk


def collections_of(desk: Desk) -> dict[str, list[str]]:
    """Ids of the contracts that can be asked about by collection; the ones that were added last come first."""
    added = {name: sorted(documents) for name, documents in reversed(desk.collections.items())}
    return {**added, CORPUS: sorted(desk.corpus)} if desk.corpus else added


def add_upload(desk: Desk, name: str, content: bytes) -> Document:
    """Take in an uploaded file. Raises DocumentError, with one sentence, for what cannot be read as a document."""
    clean = PurePath(name.replace("\\", "/")).name.lstrip(".") or "upload"  # a browser may send any name
    uploads = desk.collections.setdefault(OWN, {})
    path = desk.folder / f"upload-{len(uploads):03}{PurePath(clean).suffix[:10]}"
    path.write_bytes(content)
    try:
        document = load(path, PurePath(clean).stem)
    except DocumentError as error:
        if not uploads:
            del desk.collections[OWN]
        raise DocumentError(str(error).replace(path.name, clean)) from None
    finally:
        path.unlink()
    uploads[document.id] = document
    return document


def add_sample(desk: Desk) -> list[str]:
    """Generate a few contracts, as stage 01 does, beside and not in the project's data; their ids."""
    folder, truth = desk.folder / "sample", desk.folder / "sample.json"
    generate(folder, truth, count=SAMPLE_SIZE, seed=SAMPLE_SEED, wording="varied")
    documents = {document.id: document for document in load_all(find(folder))}
    desk.collections[SAMPLE], desk.truth[SAMPLE] = documents, truth
    return list(documents)


def bench_of(desk: Desk, model: str, collection: str, watch: Watch = lambda done, whole: None) -> Bench:
    """The bench over a collection with a model, made at its first use; `watch` is told how far its indexing is.

    Where the project's index is missing or belongs to other contracts, the contracts are indexed anew for this session.
    """
    documents = tuple(desk.collections.get(collection, {}).values())
    key = (model, collection, hash(documents))
    return desk.benches.get(key, lambda: _open_bench(desk, desk.models[model], documents, watch)).value


def ask_about(
    desk: Desk,
    model: str,
    collection: str,
    document_id: str,
    arm: ArmName,
    text: str,
    watch: Watch = lambda done, whole: None,
) -> tuple[QueryRecord, LatencyRecord, Bench]:
    """One question about one contract. Raises QuestionError for an empty one, else what opening the bench raises."""
    if not text.strip():
        raise QuestionError("the question is empty; choose one or write one")
    question = next((q for q in desk.questions if q.text == text.strip()), Question(id="Q", text=text.strip()))
    bench = bench_of(desk, model, collection, watch)
    record, latency = ask_once(question, document_id, ARMS[arm], bench)
    return record, latency, bench


def batch_settings(
    desk: Desk,
    model: str,
    collection: str,
    *,
    run: str,
    arms: Sequence[str],
    contracts: Sequence[str],
    questions: Sequence[str],
) -> Settings:
    """The settings of a batch as a run of its own. Raises RunError where nothing is chosen or the name will not do."""
    for noun, chosen in (("arm", arms), ("contract", contracts), ("question", questions)):
        if not chosen:
            raise RunError(f"no {noun} is chosen; mark at least one")
    if run in {desk.models[model].evaluation.run, desk.models[model].experiment.run}:
        raise RunError(f"the run {run} is the project's own; give the batch another name")
    values = desk.models[model].model_dump()
    values["experiment"] |= {"run": run, "arms": arms, "contracts": contracts, "questions": questions}
    if collection != CORPUS:
        truth = desk.truth.get(collection, Settings().corpus.ground_truth)
        values["corpus"] |= {"source": collection, "ground_truth": truth}
    try:
        return Settings.model_validate(values)
    except ValueError:
        raise RunError(
            f"{run!r} cannot be the name of a run; use letters, digits, dots, dashes and underscores"
        ) from None


def runs_of() -> list[str]:
    """Names of the complete runs, the last one made first."""
    files = [path for path in RUNS.glob("*.jsonl") if not path.name.endswith(PARTS_OF_RUNS)]
    return [path.stem for path in sorted(files, key=lambda path: (-path.stat().st_mtime, path.name))]


def free_name() -> str:
    """A name that no run has yet, complete or not."""
    names = (f"batch-{number}" for number in count(1))
    return next(name for name in names if not any(RUNS.glob(f"{name}.*")))


def open_run(run: str) -> list[QueryRecord]:
    """The records of a run. Raises RunError where it is broken or empty."""
    records = read_run(run_files(run).records)
    if not records:
        raise RunError(f"the run {run} holds no query; choose another")
    return records


def stored_chunks() -> dict[str, Chunk]:
    """The chunks of the project's index by id; none where it is missing or broken."""
    try:
        return {chunk.id: chunk for chunk in read_chunks(INDEX / "chunks.jsonl")}
    except CorpusError:
        return {}


def document_of(desk: Desk, document_id: str) -> Document | None:
    """The document of that id of any collection; None where none has it or it cannot be read."""
    for documents in reversed(desk.collections.values()):
        if document_id in documents:
            return documents[document_id]
    try:
        return load(desk.corpus[document_id]) if document_id in desk.corpus else None
    except DocumentError:
        return None


def _open_bench(desk: Desk, settings: Settings, documents: Sequence[Document], watch: Watch) -> Bench:
    def remembering(embedder: Embedder) -> Embedder:
        return Remembering(embedder, desk.vectors, watch)

    if documents:
        return documents_bench(settings, documents, remembering)
    with suppress(CorpusError):
        bench = corpus_bench(settings)
        if _is_index_of(bench, list(desk.corpus.values())):
            return bench
    anew = documents_bench(settings, load_all(find(contracts_folder(settings))), remembering)
    anew.pool = settings.retrieval.pool
    return anew


def _is_index_of(bench: Bench, contracts: Sequence[Path]) -> bool:
    """Return True where the index was made of the contracts as they are; read them only if a file is newer than it."""
    assert isinstance(bench.index, Index)
    if set(bench.index.document_ids) != set(bench.documents):
        return False
    # The time of a file's last change of any kind, which copying or moving it cannot set back.
    if max(path.stat().st_ctime_ns for path in contracts) < (INDEX / "chunks.jsonl").stat().st_ctime_ns:
        return True
    texts = {name: document.text for name, document in bench.documents.items()}
    return all(texts[chunk.document_id][chunk.start : chunk.end] == chunk.text for chunk in bench.index.chunks)
