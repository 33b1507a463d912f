"""Answer the queries of a run: in this process, or in threads of it where a model is asked, in no particular order.

The queries of a document follow one another, so that what the document needs is made once, and a server that keeps the
beginnings of prompts has read it. Only a few queries are under way, whatever the size of the run.
"""

import hashlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from importlib.util import find_spec
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple
from weakref import WeakSet

from ovrag_core.base import ArmName, LatencyRecord, QueryRecord, Question, Settings
from ovrag_core.llm import cancel_all
from ovrag_core.loop import ARMS, Bench, ask

Answered = tuple[QueryRecord, LatencyRecord]
Answers = Generator[Answered, None, None]
SECONDS_BETWEEN_CANCELS = 0.1


class PlannedQuery(NamedTuple):
    """Question to ask of one document in one arm."""

    arm: ArmName
    document_id: str
    question: Question


def answers(todo: Sequence[PlannedQuery], settings: Settings, bench: Bench) -> Answers:
    """The answers to these queries, by threads where the settings ask for a model.

    What no other query can do better (ModelSetupError, BudgetError, StoreError, PriceError, RunError) is raised once
    the answers that are under way have come.
    """
    if settings.llm.provider != "offline":
        return _by_threads(todo, bench, settings.llm.concurrency)
    return (_answer(query, bench) for query in by_document(todo))


def _answer(query: PlannedQuery, bench: Bench) -> Answered:
    return ask(query.question, query.document_id, ARMS[query.arm], bench)


def code_digest(packages: Iterable[str] = ("ovrag_core",)) -> str:
    """SHA-256 of the Python files of these packages or modules: contents alone, a file that is moved changes nothing.

    Raises ModuleNotFoundError for a name that is neither.
    """
    files: set[Path] = set()
    for name in packages:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"no package or module is called {name}", name=name)
        folders = spec.submodule_search_locations
        files |= {Path(spec.origin)} if folders is None else {p for f in folders for p in Path(f).rglob("*.py")}
    contents = sorted(hashlib.sha256(path.read_bytes()).digest() for path in files)
    return hashlib.sha256(b"".join(contents)).hexdigest()


def by_document(todo: Sequence[PlannedQuery]) -> list[PlannedQuery]:
    """The queries of each document one after another, documents in the order of their first query."""
    names = dict.fromkeys(query.document_id for query in todo)
    rank = {name: number for number, name in enumerate(names)}
    return sorted(todo, key=lambda query: rank[query.document_id])


def _by_threads(todo: Sequence[PlannedQuery], bench: Bench, calls: int) -> Answers:
    submitted: WeakSet[Future[Answered]] = WeakSet()
    with ThreadPoolExecutor(calls, "query") as pool:

        def submit(query: PlannedQuery) -> Future[Answered]:
            future = pool.submit(_answer, query, bench)
            submitted.add(future)
            return future

        try:
            yield from _as_answered(_lanes(todo, calls), submit, calls)
        except (KeyboardInterrupt, GeneratorExit):  # a model may take minutes, and nobody waits for its answer any more
            while not all(future.done() for future in list(submitted)):
                cancel_all()
                time.sleep(SECONDS_BETWEEN_CANCELS)
            raise


def _lanes(todo: Sequence[PlannedQuery], enough: int) -> Iterator[Iterator[PlannedQuery]]:
    """Queries that are asked one after another: a document's, or single ones where the documents are not `enough`."""
    by_name = groupby(by_document(todo), key=lambda query: query.document_id)
    documents = [list(queries) for _, queries in by_name]
    lanes = documents if len(documents) >= enough else [[query] for queries in documents for query in queries]
    return map(iter, lanes)


def _as_answered(
    lanes: Iterator[Iterator[PlannedQuery]], submit: Callable[[PlannedQuery], Future[Answered]], most: int
) -> Iterator[Answered]:
    """Answers as they come, at most `most` lanes under way. After a failure those under way are still waited for."""
    failure: BaseException | None = None
    under_way: dict[Future[Answered], Iterator[PlannedQuery]] = {}
    free = most
    try:
        while True:
            for lane in islice(lanes, 0 if failure else free):
                under_way[submit(next(lane))] = lane
            if not under_way:
                break
            free = 0
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                lane = under_way.pop(future)
                if (error := future.exception()) is None:
                    yield future.result()
                else:
                    failure = failure or error
                if failure is None and (query := next(lane, None)) is not None:
                    under_way[submit(query)] = lane
                else:
                    free += 1
            if failure is not None:
                under_way = {future: lane for future, lane in under_way.items() if not future.cancel()}
    finally:
        for future in under_way:
            future.cancel()
    if failure is not None:
        raise failure
