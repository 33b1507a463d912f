"""Runs that are stopped, killed, retried, or done elsewhere end with the bytes of one that was not."""

import asyncio
import json
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from recorded_rows import a_row, a_try, as_json, plain_row
from standins import TEXTS, BlackAndWhite, FirstWords, WordExtractor, bench

from ovrag_core.app import cli
from ovrag_core.base.errors import (
    BudgetError,
    CorpusError,
    ModelError,
    ModelSetupError,
    PriceError,
    RunError,
    StoreError,
)
from ovrag_core.base.settings import Settings
from ovrag_core.base.types import Answer, Chunk, Triple, Verdict
from ovrag_core.llm import Once
from ovrag_core.llm.background import run as run_in_background
from ovrag_core.retrieval.indexing import Documents
from ovrag_core.runs import executors
from ovrag_core.runs import files as runs
from ovrag_core.runs.experiment import code_digest, count_failures, planned, refuse_failed, run_experiment, spent_usd
from ovrag_core.runs.files import Key, read_latency, read_run, run_files

MANY = {f"Contract_{number:03d}": "is_Black is_White" if number % 3 else "is_Black" for number in range(1, 13)}


class Failing(FirstWords):
    """Fails with `error` at the calls numbered in `at`."""

    def __init__(self, error: Exception, at: set[int]) -> None:
        self.error, self.at, self.calls = error, at, 0

    def answer(self, *args: object, **more: object) -> Answer:
        self.calls += 1
        if self.calls in self.at:
            raise self.error
        return super().answer(*args, **more)


def keys(path: Path) -> list[Key]:
    return [(record.arm, record.document_id, record.question_id) for record in read_run(path)]


def test_errors_are_recorded_and_asked_again_on_demand(settings: Settings, tmp_path: Path) -> None:
    whole = run_experiment(settings, bench(TEXTS), tmp_path / "whole")
    folder = tmp_path / "failing"
    failing = bench(TEXTS, Failing(ModelError("the server did not answer"), {2, 5}))
    path = run_experiment(settings, failing, folder)
    failed = [record for record in read_run(path) if record.outcome == "error"]
    assert [record.error for record in failed] == ["the server did not answer"] * 2
    assert keys(path) == keys(whole)
    failures = count_failures(read_run(path))
    assert (failures.total, failures.arms) == (2, ())
    assert failures.text.startswith("2 of 12 queries were not judged (2 errors, 0 unchecked), the first, plain ")
    assert failures.text.endswith("the server did not answer")

    assert run_experiment(settings, bench(TEXTS), folder).read_bytes() == path.read_bytes()
    assert path.read_bytes() != whole.read_bytes()
    run_experiment(settings, bench(TEXTS), folder, retry_errors=True)
    assert path.read_bytes() == whole.read_bytes()
    assert len(read_latency(run_files("main", folder).latency)) == len(read_run(path))
    assert sorted(each.name for each in folder.iterdir()) == sorted(each.name for each in whole.parent.iterdir())


def test_a_run_of_which_an_arm_has_nothing_but_failures_is_refused_with_the_first_reason(
    settings: Settings, tmp_path: Path
) -> None:
    down = Failing(ModelError("the server did not answer"), set(range(1, 100)))
    failed = read_run(run_experiment(settings, bench(TEXTS, down), tmp_path / "errors"))
    with pytest.raises(RunError, match=r"no query of plain, ovrag_evidence was judged; 12 of 12 .*did not answer"):
        refuse_failed(failed)
    checked_by_none = bench(dict.fromkeys(TEXTS, "is_Broken"))
    path = run_experiment(settings, checked_by_none, tmp_path / "unchecked")
    with pytest.raises(RunError, match=r"no query of ovrag_evidence was .*\(0 errors, 6 unchecked\).*reasoner stopped"):
        refuse_failed(read_run(path))
    refuse_failed(record for record in read_run(path) if record.arm == "plain")
    whole = run_experiment(settings, bench(TEXTS), tmp_path / "whole")
    refuse_failed(read_run(whole))


def test_what_could_not_be_checked_is_asked_again_on_demand(settings: Settings, tmp_path: Path) -> None:
    class Mended(BlackAndWhite):
        def check(self, triples: Sequence[Triple], **given: object) -> Verdict:
            return Verdict(status="consistent")

    broken = dict.fromkeys(TEXTS, "is_Broken")
    path = run_experiment(settings, bench(broken), tmp_path)
    assert "(0 errors, 6 unchecked)" in count_failures(read_run(path)).text
    mended = bench(broken)
    mended.validator = Mended()
    run_experiment(settings, mended, tmp_path, retry_errors=True)
    assert count_failures(read_run(path)).total == 0


def test_asking_errors_again_can_be_interrupted_and_fail_again(settings: Settings, tmp_path: Path) -> None:
    whole = run_experiment(settings, bench(TEXTS), tmp_path / "whole")
    folder = tmp_path / "failing"
    path = run_experiment(settings, bench(TEXTS, Failing(ModelError("no"), {2, 5, 7})), folder)
    before = path.read_bytes()
    with pytest.raises(BudgetError):
        run_experiment(settings, bench(TEXTS, Failing(BudgetError("spent"), {2})), folder, retry_errors=True)
    assert path.read_bytes() == before
    run_experiment(settings, bench(TEXTS, Failing(ModelError("still no"), {1})), folder)
    assert [record.error for record in read_run(path) if record.error] == ["still no"]
    run_experiment(settings, bench(TEXTS), folder, retry_errors=True)
    assert path.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("kind", [BudgetError, StoreError, PriceError, ModelSetupError])
@pytest.mark.parametrize("threads", [False, True])
def test_what_no_query_can_help_stops_the_run_and_keeps_what_it_has(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[Exception],
    threads: bool,
) -> None:
    whole = run_experiment(settings, bench(MANY), tmp_path / "whole")
    folder = tmp_path / "stopped"
    if threads:
        monkeypatch.setattr(
            executors, "answers", lambda todo, settings, bench: executors._by_threads(todo, bench, calls=2)
        )
        monkeypatch.setattr("ovrag_core.runs.experiment.answers", executors.answers)
    with pytest.raises(kind, match="stop here"):
        run_experiment(settings, bench(MANY, Failing(kind("stop here"), {20})), folder)
    files = run_files("main", folder)
    assert not files.records.exists()
    assert len(read_run(files.partial_records)) >= 19
    run_experiment(settings, bench(MANY), folder)
    assert files.records.read_bytes() == whole.read_bytes()
    assert not files.partial_records.exists()
    assert not files.partial_manifest.exists()


def test_a_run_by_threads_is_the_run_by_one(settings: Settings, tmp_path: Path) -> None:
    one = run_experiment(settings, bench(MANY), tmp_path / "one")
    queries = planned(settings, sorted(MANY))
    found = list(executors._by_threads(queries, bench(MANY), calls=4))
    assert {runs.key_of(record) for record, _ in found} == set(keys(one))
    assert len(found) == len(queries)


@pytest.mark.parametrize("calls", [2, 3])
def test_a_documents_queries_are_asked_one_after_another(settings: Settings, calls: int) -> None:
    """A server that keeps the beginnings of its last prompts has read the document then."""
    under_way: set[str] = set()
    most = []

    class Watched(FirstWords):
        def answer(self, question: str, chunks: Sequence[Chunk], **more: object) -> Answer:
            name = threading.current_thread().name
            under_way.add(name)
            most.append(len(under_way))
            made = super().answer(question, chunks, **more)
            under_way.discard(name)
            return made

    todo = planned(settings, sorted(MANY))
    seen: dict[str, int] = {}
    for number, (record, _) in enumerate(executors._by_threads(todo, bench(MANY, Watched()), calls)):
        seen[record.document_id] = number
    assert len(seen) == len(MANY) and max(most) <= calls
    lanes = [[query.document_id for query in lane] for lane in executors._lanes(todo, calls)]
    assert all(len(set(lane)) == 1 for lane in lanes) and len(lanes) == len(MANY)
    alone = list(executors._lanes(todo, len(MANY) + 1))
    assert len(alone) == len(todo), "too few documents: each query by itself"


def test_a_full_disk_is_one_sentence_and_loses_nothing(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = run_experiment(settings, bench(TEXTS), tmp_path / "whole")
    append, left = runs._append, [9]

    def full(file: object, line: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            append(file, line[:10])
            raise OSError(28, "No space left on device")
        append(file, line)

    monkeypatch.setattr(runs, "_append", full)
    with pytest.raises(RunError, match=r"No space left on device\); make room .* what was answered is kept"):
        run_experiment(settings, bench(TEXTS), tmp_path / "full")
    assert run_experiment(settings, bench(TEXTS), tmp_path / "full").read_bytes() == whole.read_bytes()


def test_two_processes_do_not_write_one_run(settings: Settings, tmp_path: Path) -> None:
    files = run_files("main", tmp_path)
    with (
        runs.appending(files),
        pytest.raises(RunError, match="main is being run by another process"),
        runs.appending(files),
    ):
        pass


def test_what_a_run_has_cost_is_read_from_its_records(settings: Settings, tmp_path: Path) -> None:
    priced = bench(TEXTS, Failing(BudgetError("spent"), {4}))
    priced.cost_usd = lambda used: 0.25
    with pytest.raises(BudgetError):
        run_experiment(settings, priced, tmp_path)
    assert spent_usd(run_files("main", tmp_path)) == 0.75
    assert spent_usd(run_files("none", tmp_path)) == 0


# --- a process that dies

RUNNER = """
    import sys, time
    sys.path.insert(0, {tests!r})
    from pathlib import Path
    from standins import FirstWords, bench
    from ovrag_core.runs.experiment import run_experiment
    from ovrag_core.base.settings import load_settings

    class Slow(FirstWords):
        def answer(self, *args, **more):
            time.sleep(0.004)
            return super().answer(*args, **more)

    print("ready", flush=True)
    run_experiment(load_settings(), bench({texts!r}, Slow()), Path({folder!r}))
"""


@pytest.mark.parametrize("moment", [0.0, 0.03, 0.11, 0.2])
def test_a_killed_run_goes_on_without_loss_or_repetition(settings: Settings, tmp_path: Path, moment: float) -> None:
    whole = run_experiment(settings, bench(MANY), tmp_path / "whole")
    folder = tmp_path / "killed"
    files = run_files("main", folder)
    code = textwrap.dedent(RUNNER).format(tests=str(Path(__file__).parents[1]), texts=MANY, folder=str(folder))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=Path.cwd())
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(moment)
    process.kill()
    process.wait()
    kept = files.partial_records.read_bytes().count(b"\n") if files.partial_records.exists() else 0
    assert files.records.exists() or kept < len(keys(whole))
    run_experiment(settings, bench(MANY), folder)
    assert files.records.read_bytes() == whole.read_bytes()


def test_a_run_reads_each_document_once_and_keeps_few(settings: Settings, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.txt" for name in MANY]
    for path in paths:
        path.write_text(MANY[path.stem])
    parts = bench(MANY)
    parts.documents, parts.readings = Documents(paths, kept=2), Once(2)
    lazy = run_files("main", tmp_path / "lazy")
    whole = run_files("main", tmp_path / "whole")
    run_experiment(settings, parts, tmp_path / "lazy")
    run_experiment(settings, bench(MANY), tmp_path / "whole")
    assert lazy.records.read_bytes() == whole.records.read_bytes()
    hashes = [json.loads(each.manifest.read_text())["documents_sha256"] for each in (lazy, whole)]
    assert hashes[0] == hashes[1]
    assert isinstance(parts.extractor, WordExtractor)
    assert parts.extractor.calls == len(MANY)


def test_every_document_that_cannot_be_read_is_named_before_a_run_begins(settings: Settings, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.txt" for name in MANY]
    for path in paths:
        path.write_text("" if path.stem[-1] in "35" else MANY[path.stem])
    parts = bench(MANY)
    parts.documents = Documents(paths)
    with pytest.raises(CorpusError, match=r"Contract_003.txt is empty.*; Contract_005.txt is empty"):
        run_experiment(settings, parts, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_run_that_is_stopped_waits_for_no_model(settings: Settings) -> None:
    class Slow(FirstWords):
        def answer(self, *given: object, **more: object) -> Answer:
            if more.get("exclude") is not None and threading.current_thread().name != "query_0":
                run_in_background(asyncio.sleep(60))
            return super().answer(*given, **more)

    todo = planned(settings, sorted(MANY))
    answered = executors._by_threads(todo, bench(MANY, Slow()), calls=2)
    next(answered)
    begun = time.monotonic()
    answered.close()
    assert time.monotonic() - begun < 20


def test_the_digest_of_code_is_of_contents_and_not_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "made/__init__.py": "",
        "made/first.py": "a = 1\n",
        "made/below/__init__.py": "",
        "beside/__init__.py": "b = 2\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    package, both = code_digest(["made"]), code_digest(["made", "beside"])
    assert package != both == code_digest(["beside", "made", "made.below"])
    moved = tmp_path / "made" / "below" / "zeroth.py"
    (tmp_path / "made" / "first.py").rename(moved)
    assert code_digest(["made"]) == package
    moved.write_text("a = 2\n", encoding="utf-8")
    assert code_digest(["made"]) != package
    moved.write_text(files["made/first.py"], encoding="utf-8")
    (tmp_path / "made" / "again.py").write_text(files["made/first.py"], encoding="utf-8")
    assert code_digest(["made"]) != package
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        code_digest(["made", "nowhere"])


# --- the command line


@pytest.fixture
def ovrag(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Runs `ovrag` in this process; returns exit code, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ovrag", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0), out, err

    return run


def test_runs_are_imported_and_scored_from_the_command_line(ovrag, settings: Settings, tmp_path: Path) -> None:
    rows = [a_row(), a_row("Q2", validation_passed=False, correction_attempts=[a_try(0, False)]), plain_row()]
    source = as_json(tmp_path / "source.jsonl", *rows)
    assert ovrag("import-run", str(source), "--name", "theirs")[0] == 0
    code, out, _ = ovrag("score", "theirs", "--format", "json")
    arm = json.loads(out)["arms"]["ovrag"]
    assert code == 0
    assert arm["confusion"] == {"tp": 1, "fp": 0, "tn": 0, "fn": 1, "unchecked": 0, "error": 0, "unlabelled": 0}
    assert {"precision", "recall", "f1", "per_clash_type", "per_contract", "hard_reject_rate", "corrections"} <= set(
        arm
    )
    assert {"corrections", "rouge_l", "bertscore", "latency", "wrong_contract_rate", "recall_interval"} <= set(arm)
    code, out, _ = ovrag("score", "theirs")
    assert code == 0
    assert "confusion  queries  tp  fp" in out
    assert "seconds  part" in out
    code, out, err = ovrag("score", "nobody")
    assert (code, out) == (2, "")
    assert "nobody.jsonl does not exist" in err
    code, _, err = ovrag("import-run", "none.csv", "--name", "x")
    assert (code, err.count("\n")) == (2, 1)


def test_a_run_that_is_not_finished_is_named_as_that(tmp_path: Path) -> None:
    (tmp_path / "run.partial.jsonl").touch()
    with pytest.raises(RunError, match=r"run\.jsonl is not finished; the same `ovrag run` goes on with it"):
        read_run(tmp_path / "run.jsonl")
