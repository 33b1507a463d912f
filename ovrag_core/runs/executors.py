"""Who answers the queries of a run: this process, threads of it, several processes, or the workers of a Dask cluster.

All give the same records, as they are answered and in no particular order. Queries go out in batches, one document's at
a time, so that what a document needs once is made once; only a few batches are under way, whatever the size of the run.
"""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import groupby, islice
from multiprocessing.connection import wait as wait_for_any
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from weakref import WeakSet

from ovrag_core.base.errors import OvragError, RunError
from ovrag_core.base.settings import ArmName, Question, Settings
from ovrag_core.base.types import LatencyRecord, QueryRecord
from ovrag_core.llm.background import cancel_all
from ovrag_core.loop.arms import ARMS
from ovrag_core.loop.pipeline import Bench, ask

if TYPE_CHECKING:
    from distributed import Client

Answered = tuple[QueryRecord, LatencyRecord]
Answers = Generator[Answered, None, None]
QUERIES_PER_PROCESS = 100  # with fewer, starting another process costs more than it saves
THREADS_PER_CALL = 8  # while some wait for the model, or for one that reads their contract, others do what is ours
BATCHES_PER_WORKER = 3
DEATHS = 3  # of pools in a row, without an answer between them, after which a run stops
POLL_SECONDS = 5.0
SECONDS_BETWEEN_CANCELS = 0.1
SECONDS_TO_CONNECT = 20.0
SECONDS_WITHOUT_WORKERS = 60.0

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class Query(NamedTuple):
    """What is asked of which document in which arm."""

    arm: ArmName
    document_id: str
    question: Question


class Order(NamedTuple):
    """Instructions for a worker: settings, the folder and code (its digest) that must be its own too, and its bench."""

    settings: Settings
    folder: str
    code: str
    open_bench: Callable[[Settings], Bench] | None = None


def answers(todo: Sequence[Query], settings: Settings, bench: Bench) -> Answers:
    """The answers to these queries, by whichever means the settings ask for.

    What no other query can do better (ModelSetupError, BudgetError, StoreError, PriceError, RunError) is raised once
    the answers that are under way have come.
    """
    order = Order(settings, str(Path.cwd()), code_digest(), bench.reopen)
    if settings.experiment.executor == "dask":
        return _by_dask(todo, order)
    if settings.llm.provider != "offline":
        return _by_threads(todo, bench, settings.llm.concurrency)
    processes = min(settings.experiment.processes, len(todo) // QUERIES_PER_PROCESS)
    if processes > 1 and bench.reopen is not None:
        return _by_processes(todo, order, processes)
    return (_answer(query, bench) for batch in batches(todo) for query in batch)


def code_digest(packages: Iterable[str] = ("ovrag_core",)) -> str:
    """SHA-256 of the Python files of these packages or modules: contents alone, a file that is moved changes nothing.

    Raises ModuleNotFoundError for a name that is neither.
    """
    files = {path for name in packages for path in _python_files(name)}
    contents = sorted(hashlib.sha256(path.read_bytes()).digest() for path in files)
    return hashlib.sha256(b"".join(contents)).hexdigest()


def _python_files(name: str) -> list[Path]:
    """Python files of a package, or the one of a module."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no package or module is called {name}", name=name)
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)]
    return [path for folder in spec.submodule_search_locations for path in Path(folder).rglob("*.py")]


def batches(todo: Iterable[Query]) -> list[list[Query]]:
    """The queries of each document together, documents in the order of their first query."""
    rank: dict[str, int] = {}
    for query in todo:
        rank.setdefault(query.document_id, len(rank))
    ordered = sorted(todo, key=lambda query: rank[query.document_id])
    return [list(group) for _, group in groupby(ordered, key=lambda query: query.document_id)]


def _answer(query: Query, bench: Bench) -> Answered:
    return ask(query.question, query.document_id, ARMS[query.arm], bench)


def _by_threads(todo: Sequence[Query], bench: Bench, calls: int) -> Answers:
    threads = THREADS_PER_CALL * calls
    submitted: WeakSet[Future[Answered]] = WeakSet()
    with ThreadPoolExecutor(threads, "query") as pool:

        def submit(query: Query) -> Future[Answered]:
            future = pool.submit(_answer, query, bench)
            submitted.add(future)
            return future

        ordered = [query for batch in batches(todo) for query in batch]
        try:
            yield from _as_answered(ordered, submit, 2 * threads, 2 * calls)
        except (KeyboardInterrupt, GeneratorExit):  # a model may take minutes, and nobody waits for its answer any more
            while not all(future.done() for future in list(submitted)):
                cancel_all()
                time.sleep(SECONDS_BETWEEN_CANCELS)
            raise


def _by_processes(todo: Sequence[Query], order: Order, processes: int) -> Answers:
    """Answers by processes of their own; where one dies, the queries that were lost with it are asked again."""
    left = {batch[0].document_id: batch for batch in batches(todo)}
    deaths = 0
    while left:
        try:
            for answered in _by_pool(list(left.values()), order, processes):
                del left[answered[0][0].document_id]
                deaths = 0
                yield from answered
        except BrokenProcessPool:
            deaths += 1
            if deaths == DEATHS:
                raise RunError(
                    "processes that answer queries die again and again, perhaps for want of memory; what was answered "
                    "is kept, lower experiment.processes and run again to go on"
                ) from None


def _by_pool(todo: Iterable[Sequence[Query]], order: Order, processes: int) -> Iterator[list[Answered]]:
    # A forked process would share the parent's threads and its Java; a spawned one builds its own bench.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _end_with_parent) as pool:

        def submit(batch: Sequence[Query]) -> Future[list[Answered]]:
            # It may start a process, which shall not see a Ctrl-C before it knows what to do with one.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                return pool.submit(answer_batch, order, batch)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

        yield from _as_answered(todo, submit, BATCHES_PER_WORKER * processes)


def _end_with_parent() -> None:
    """In a worker: end at Ctrl-C, and when the run is killed, or it would wait for work for ever."""
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(1))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch(sentinel: int = parent.sentinel) -> None:
            wait_for_any([sentinel])
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def _as_answered(
    pieces: Iterable[Piece], submit: Callable[[Piece], Future[Result]], most: int, at_first: int | None = None
) -> Iterator[Result]:
    """Results as they come, at most `most` pieces under way, `at_first` until there is one, since all may fail alike.

    After a failure those under way are still waited for.
    """
    failure: BaseException | None = None
    allowed = at_first or most
    under_way: set[Future[Result]] = set()
    rest = iter(pieces)
    try:
        while True:
            under_way |= {submit(piece) for piece in islice(rest, 0 if failure else allowed - len(under_way))}
            if not under_way:
                break
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                if (error := future.exception()) is None:
                    allowed = most
                    yield future.result()
                else:
                    failure = failure or error
            if failure is not None:
                under_way = {future for future in under_way if not future.cancel()}  # those that have begun
    finally:
        for future in under_way:
            future.cancel()
    if failure is not None:
        raise failure


def _by_dask(todo: Sequence[Query], order: Order) -> Answers:
    """Answers by the workers of a cluster; what a lost worker had under way, the others are given."""
    from distributed import CancelledError, KilledWorker  # noqa: PLC0415 - takes a second, and only this needs it
    from distributed import Future as Promise  # noqa: PLC0415
    from distributed import wait as wait_for  # noqa: PLC0415

    failure: BaseException | None = None
    under_way: set[Promise[list[Answered]]] = set()
    rest = iter(batches(todo))
    with _cluster(order.settings) as client:
        alone_since: float | None = None
        while True:
            most = BATCHES_PER_WORKER * max(1, _threads(client))
            for batch in islice(rest, 0 if failure else max(0, most - len(under_way))):
                under_way.add(client.submit(answer_batch, order, batch, pure=False))
            if not under_way:
                break
            try:
                done, under_way = wait_for(under_way, timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
            except TimeoutError:
                alone_since = _refuse_to_wait_alone(client, alone_since)
                continue
            alone_since = None
            for promise in done:
                try:
                    yield from promise.result()
                except OvragError as error:
                    failure = failure or error
                except (KilledWorker, CancelledError, OSError) as error:
                    failure = failure or _lost(error)
    if failure is not None:
        raise failure


@contextmanager
def _cluster(settings: Settings) -> Iterator[Client]:
    """A client of the scheduler that the settings name, or of a cluster on this machine."""
    from distributed import Client, LocalCluster  # noqa: PLC0415

    address = settings.experiment.dask.scheduler
    if address is None:
        with (
            tempfile.TemporaryDirectory(prefix="ovrag-dask-") as folder,
            LocalCluster(
                n_workers=settings.experiment.processes,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
                local_directory=folder,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError):
        raise RunError(
            f"there is no Dask scheduler at {address}; start one with `dask scheduler`, or correct "
            "experiment.dask.scheduler"
        ) from None
    with client:
        yield client


def _threads(client: Client) -> int:
    """Threads of all workers of the cluster."""
    return sum(client.nthreads().values())


def _refuse_to_wait_alone(client: Client, since: float | None) -> float | None:
    """Since when the cluster has had no worker, None where it has one. Raises RunError where that is too long."""
    if _threads(client):
        return None
    now = time.monotonic()
    if since is not None and now - since > SECONDS_WITHOUT_WORKERS:
        raise RunError(
            f"the Dask cluster has had no worker for {SECONDS_WITHOUT_WORKERS:.0f} seconds; what was answered is kept, "
            "start workers and run again to go on"
        )
    return since or now


def _lost(error: BaseException) -> RunError:
    return RunError(
        f"the Dask cluster lost its work ({type(error).__name__}); what was answered is kept, run again to go on"
    )


# --- what runs in a worker

_bench: dict[Order, Bench] = {}
_building = threading.Lock()


def answer_batch(order: Order, batch: Sequence[Query]) -> list[Answered]:
    """The answers to a batch, in a worker process, which keeps its bench for the next one."""
    bench = _bench_of(order)
    if order.settings.llm.provider == "offline":
        return [_answer(query, bench) for query in batch]
    return list(_by_threads(batch, bench, order.settings.llm.concurrency))


def _bench_of(order: Order) -> Bench:
    with _building:
        if order not in _bench:
            _refuse_other_project(order)
            assert order.open_bench is not None, "queries are sent to workers only where they can open a bench"
            import torch  # noqa: PLC0415

            torch.set_num_threads(1)
            for old in _bench.values():
                old.close()
            _bench.clear()
            _bench[order] = order.open_bench(order.settings)
        return _bench[order]


def _refuse_other_project(order: Order) -> None:
    """Enter the project's folder. Raises RunError where this worker has another one, or other code."""
    try:
        os.chdir(order.folder)
    except OSError:
        raise RunError(
            f"the worker on {socket.gethostname()} does not see {order.folder}; workers need the project's folder, for "
            "example on a shared file system"
        ) from None
    if code_digest() != order.code:
        raise RunError(
            f"the worker on {socket.gethostname()} has another version of the code; update it and start it anew"
        )
