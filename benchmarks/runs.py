"""What a run costs, as one table: `python benchmarks/runs.py PART ...`.

scale   offline runs of 100, 1,000 and 10,000 generated contracts, scoped arms (--contracts, --ask to ask only some)
ab      plain against ovrag_evidence, 1,000 queries, a local server that takes 200 ms a call, 16 calls at once

Each part works in a temporary project of its own with generated contracts; nothing of this one is touched.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

from ovrag_core.loans import corpus_bench
from ovrag_core.loop import ARMS, ask
from ovrag_core.retrieval import find_embedder
from ovrag_core.runs import planned, run_experiment

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))  # the faulty server is theirs

from faulty_server import KEY, MODEL, Call, FaultyServer, scripted

from ovrag_core.base import load_settings
from ovrag_core.documents import find
from ovrag_core.loans import generate
from ovrag_core.retrieval import INDEX, build, load_all, split_all
from ovrag_core.runs import read_latency, read_run, run_files

PROJECT = Path(__file__).resolve().parent.parent
Row = tuple[str, str]
SCOPED = "[plain_scoped, ovrag_scoped, ovrag_evidence]"


@contextlib.contextmanager
def project(contracts: int, parameters: str, *, embed: bool = True) -> Iterator[Path]:
    """A temporary project with generated contracts and their index; without `embed`, vectors are drawn at random."""
    before = Path.cwd()
    folder = Path(tempfile.mkdtemp(prefix="ovrag-bench-"))
    try:
        os.chdir(folder)
        shutil.copytree(PROJECT / "ontologies", folder / "ontologies")
        (folder / "data").mkdir()
        for name in ("questions.yaml", "prices.yaml"):
            shutil.copy(PROJECT / "data" / name, folder / "data")
        (folder / "params.yaml").write_text(parameters, encoding="utf-8")
        generate(Path("data/contracts"), Path("data/ground_truth.json"), count=contracts, seed=42, wording="plain")
        settings = load_settings()
        chunks = split_all(settings, load_all(find(Path("data/contracts"))))
        if embed:
            vectors = find_embedder("minilm").embed([chunk.text for chunk in chunks])
        else:
            drawn = np.random.default_rng(42).standard_normal((len(chunks), 384)).astype(np.float32)
            vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        build(INDEX, chunks, vectors, "all-MiniLM-L6-v2")
        yield folder
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def command(*words: str) -> list[str]:
    """`ovrag run` with these words, in a process of its own."""
    code = "import sys; from ovrag_core.app.cli import main; sys.argv[0] = 'ovrag'; main()"
    return [sys.executable, "-c", code, "run", *words]


def environment(**more: str) -> dict[str, str]:
    """This process's environment with the package of this project on its path and one thread to a library."""
    return {**os.environ, "PYTHONPATH": str(PROJECT), "OMP_NUM_THREADS": "1", **more}


def lines(path: Path) -> int:
    """Whole lines of a file; none where there is no file."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


class Measured(NamedTuple):
    """What a run took: seconds of the clock and of the processor, and the most memory of its processes together."""

    clock: float
    cpu: float
    megabytes: float
    reasoner: float  # megabytes of it that are the reasoner's process


def scale(asked: argparse.Namespace) -> Iterator[Row]:
    """Seconds per contract, and peak memory of all processes together, of runs of growing size by one process."""
    found: dict[int, tuple[float, Measured]] = {}
    for contracts in asked.contracts or (100, 1_000, 10_000):
        parameters = f"experiment: {{arms: {asked.arms}, processes: 1}}\n"
        with project(contracts, parameters, embed=False):
            names = sorted(path.stem for path in Path("data/contracts").iterdir())
            chosen = names[:: max(1, len(names) // asked.ask)][: asked.ask] if asked.ask else names
            words = ["-S", f"experiment.contracts={json.dumps(chosen)}"] if asked.ask else []
            start = measured("-S", f"experiment.contracts={json.dumps(names[:1])}", "-S", "experiment.run=one")
            whole = measured(*words)
            each = (whole.clock - start.clock) / max(1, len(chosen) - 1)
            found[contracts] = each, whole
            cpu = (whole.cpu - start.cpu) / max(1, len(chosen) - 1)
            yield (
                f"{contracts:,} contracts, {len(chosen):,} asked, {lines(run_files('main').records):,} queries",
                f"{each:.3f} s a contract ({cpu:.3f} s of the processor), start {start.clock:.1f} s; peak "
                f"{whole.megabytes:.0f} MB, {whole.reasoner:.0f} of them the reasoner (one contract: "
                f"{start.megabytes:.0f} MB)",
            )
    seconds = [each for each, _ in found.values()]
    memory = [whole.megabytes for _, whole in found.values()]
    yield (
        "largest against smallest",
        f"seconds {max(seconds) / min(seconds):.2f}, memory {max(memory) / min(memory):.2f}",
    )


def measured(*words: str) -> Measured:
    """A run in a process of its own, watched. Memory is resident, pages that processes share counted in each."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command(*words), env=environment(), stdout=subprocess.DEVNULL, stderr=said)
        most, reasoner = 0, 0
        while process.poll() is None:
            sizes = memory_of(process.pid)
            if sum(sizes.values()) > most:
                most = sum(sizes.values())
                reasoner = sum(size for pid, size in sizes.items() if pid != process.pid)
            time.sleep(0.1)
        if process.returncode:
            said.seek(0)
            raise SystemExit(said.read())
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(seconds, cpu, most / 1e6, reasoner / 1e6)


def memory_of(pid: int) -> dict[int, int]:
    """Bytes in memory of a process and of all below it, by process id."""
    found: dict[int, int] = {}
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(pid)
        for each in (top, *top.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                found[each.pid] = each.memory_info().rss
    return found


def model(call: Call) -> object:
    """Answers with the first line of the first passage, every call in other words; states nothing."""
    return {"statements": []} if call.wants_json else f"{call.fenced[0].strip().splitlines()[0]} ({call.number})"


@contextlib.contextmanager
def server(delay: float) -> Iterator[str]:
    """A scripted model in a process of its own, so that it takes none of our time; its address."""
    words = [sys.executable, __file__, "serve", "--delay", str(delay)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def serve(asked: argparse.Namespace) -> Iterator[Row]:
    """Serve until ended; the address is the first line."""
    with FaultyServer(scripted(model), delay=asked.delay) as running:
        print(running.base_url, flush=True)
        signal.pause()
    yield from ()


def remote(address: str, arms: str, **more: object) -> str:
    """The parameters of a run against a local server."""
    llm = {
        "provider": "openai",
        "model": MODEL,
        "base_url": address,
        "key_variable": "BENCHMARK_KEY",
        "store": None,
        "concurrency": 16,
        "retries": 3,
        **more,
    }
    return f"experiment: {{arms: {arms}}}\nllm: {json.dumps(llm)}\n"


def ab(asked: argparse.Namespace) -> Iterator[Row]:
    """Wall time of a whole A/B against what its calls would take at best, and our own part of each query."""
    contracts = asked.contracts[0] if asked.contracts else 100
    with server(0.2) as address, project(contracts, remote(address, asked.ab_arms)):
        os.environ["BENCHMARK_KEY"] = KEY
        settings = load_settings()
        with corpus_bench(settings) as bench:
            bench.validator.check([])  # the reasoner is warm
            bench.embedder.embed(["warm"])
            bench.extractor.read_passage("The loan is secured.", document_id="warm")
            bench.index.search(bench.embedder.embed(["warm"])[0], 1)  # over all documents: Chroma is open
            began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
            path = run_experiment(settings, bench)
            wall, now = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
        records = read_run(path)
        calls = sum(record.usage.calls for record in records)
        ideal = 0.2 * calls / settings.llm.concurrency
        cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        overhead = [1e3 * (each.total - (each.model or 0.0)) for each in read_latency(run_files("main").latency)]
        yield f"{len(records)} queries, {calls} calls of 200 ms, 16 at once", f"{wall:.1f} s, at best {ideal:.1f} s"
        yield "against the best", f"{wall / ideal:.2f}"
        yield "our processor time", f"{cpu:.1f} s, {1e3 * cpu / len(records):.1f} ms a query"
        median, high = statistics.median(overhead), sorted(overhead)[int(0.95 * len(overhead))]
        yield (
            "a query beyond its model time, threads waiting for each other included",
            f"median {median:.1f} ms, 95th {high:.1f} ms",
        )
        yield "outcomes", ", ".join(f"{n} {name}" for name, n in Counter(r.outcome for r in records).most_common())
    with server(0.2) as address, project(10, remote(address, asked.ab_arms)), corpus_bench(load_settings()) as bench:
        bench.validator.check([])
        bench.embedder.embed(["warm"])
        found = [
            ask(query.question, query.document_id, ARMS[query.arm], bench)[1]
            for query in planned(load_settings(), sorted(bench.documents))
        ]
        overhead = [1e3 * (each.total - (each.model or 0.0)) for each in found]
        yield "beyond model time, one query at a time", f"median {statistics.median(overhead):.1f} ms"


PARTS: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "scale": scale,
    "ab": ab,
    "serve": serve,
}


def main() -> None:
    """Run the parts asked for, and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=list(PARTS))
    parser.add_argument("--contracts", type=int, nargs="*", help="how many contracts are generated")
    parser.add_argument("--ask", type=int, default=0, help="scale: ask only so many of them, evenly spread")
    parser.add_argument("--arms", default=SCOPED, help="scale: the arms, as YAML")
    parser.add_argument("--ab-arms", default="[plain, ovrag_evidence]", help="ab: the arms, as YAML")
    parser.add_argument("--delay", type=float, default=0.0)
    asked = parser.parse_args()
    for part in asked.parts:
        for what, figure in PARTS[part](asked):
            print(f"{part:<8}{what:<78} {figure}", flush=True)


if __name__ == "__main__":
    main()
