"""Who answers the queries of a run: this process, threads of it where a model is asked, or several processes.

All give the same records, as they are answered and in no particular order. Queries go out in batches, one document's at
a time, so that what a document needs once is made once; only a few batches are under way, whatever the size of the run.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby, islice
from multiprocessing.connection import wait as wait_for_any
from pathlib import Path
from typing import NamedTuple, TypeVar
from weakref import WeakSet

from ovrag_core.base import ArmName, LatencyRecord, QueryRecord, Question, RunError, Settings
from ovrag_core.llm import cancel_all
from ovrag_core.loop import ARMS, Bench, ask

Answered = tuple[QueryRecord, LatencyRecord]
Answers = Generator[Answered, None, None]
QUERIES_PER_PROCESS = 100  # with fewer, starting another process costs more than it saves
THREADS_PER_CALL = 8  # while some wait for the model, or for one that reads their contract, others do what is ours
BATCHES_PER_WORKER = 3
DEATHS = 3  # of pools in a row, without an answer between them, after which a run stops
SECONDS_BETWEEN_CANCELS = 0.1

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class PlannedQuery(NamedTuple):
    """What is asked of which document in which arm."""

    arm: ArmName
    document_id: str
    question: Question


class Order(NamedTuple):
    """Instructions for a worker: the settings, and what opens its bench by them."""

    settings: Settings
    open_bench: Callable[[Settings], Bench]


def answers(todo: Sequence[PlannedQuery], settings: Settings, bench: Bench) -> Answers:
    """The answers to these queries, by whichever means the settings ask for.

    What no other query can do better (ModelSetupError, BudgetError, StoreError, PriceError, RunError) is raised once
    the answers that are under way have come.
    """
    if settings.llm.provider != "offline":
        return _by_threads(todo, bench, settings.llm.concurrency)
    processes = min(settings.experiment.processes, len(todo) // QUERIES_PER_PROCESS)
    if processes > 1 and bench.reopen is not None:
        return _by_processes(todo, Order(settings, bench.reopen), processes)
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


def batches(todo: Iterable[PlannedQuery]) -> list[list[PlannedQuery]]:
    """The queries of each document together, documents in the order of their first query."""
    rank: dict[str, int] = {}
    for query in todo:
        rank.setdefault(query.document_id, len(rank))
    ordered = sorted(todo, key=lambda query: rank[query.document_id])
    return [list(group) for _, group in groupby(ordered, key=lambda query: query.document_id)]


def _answer(query: PlannedQuery, bench: Bench) -> Answered:
    return ask(query.question, query.document_id, ARMS[query.arm], bench)


def _by_threads(todo: Sequence[PlannedQuery], bench: Bench, calls: int) -> Answers:
    threads = THREADS_PER_CALL * calls
    submitted: WeakSet[Future[Answered]] = WeakSet()
    with ThreadPoolExecutor(threads, "query") as pool:

        def submit(query: PlannedQuery) -> Future[Answered]:
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


def _by_processes(todo: Sequence[PlannedQuery], order: Order, processes: int) -> Answers:
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


def _by_pool(todo: Iterable[Sequence[PlannedQuery]], order: Order, processes: int) -> Iterator[list[Answered]]:
    # A forked process would share the parent's threads and its Java; a spawned one builds its own bench.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _end_with_parent) as pool:

        def submit(batch: Sequence[PlannedQuery]) -> Future[list[Answered]]:
            # It may start a process, which shall not see a Ctrl-C before it knows what to do with one.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                return pool.submit(answer_batch, order, batch)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

        yield from _as_answered(todo, submit, BATCHES_PER_WORKER * processes)


def answer_batch(order: Order, batch: Sequence[PlannedQuery]) -> list[Answered]:
    """The answers to a batch, in a worker process, which keeps its bench for the next one."""
    bench = _bench_of(order)
    return [_answer(query, bench) for query in batch]


@lru_cache(maxsize=1)
def _bench_of(order: Order) -> Bench:
    import torch  # noqa: PLC0415 - takes a second, and only a worker needs it

    torch.set_num_threads(1)
    return order.open_bench(order.settings)


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
