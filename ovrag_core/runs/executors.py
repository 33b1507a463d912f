"""Answer the queries of a run: in this process, or in threads of it where a model is asked, in no particular order.

The queries of a document follow one another, so that what the document needs is made once, and a server that keeps the
beginnings of prompts has read it. Only a few queries are under way, whatever the size of the run.
"""

import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from queue import SimpleQueue
from typing import NamedTuple

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
    return (_answer(query, bench) for query in chain.from_iterable(_by_document(todo)))


def _answer(query: PlannedQuery, bench: Bench) -> Answered:
    return ask(query.question, query.document_id, ARMS[query.arm], bench)


def _by_document(todo: Sequence[PlannedQuery]) -> list[list[PlannedQuery]]:
    """The queries of each document, documents in the order of their first query."""
    groups: dict[str, list[PlannedQuery]] = {}
    for query in todo:
        groups.setdefault(query.document_id, []).append(query)
    return list(groups.values())


def _by_threads(todo: Sequence[PlannedQuery], bench: Bench, calls: int) -> Answers:
    """Answers as they come, by so many threads. After a failure those under way are still waited for."""
    lanes = iter(_lanes(todo, calls))  # of which each thread takes the next
    made: SimpleQueue[Answered | None] = SimpleQueue()  # None: a thread has ended
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for query in chain.from_iterable(lanes):
                if failures:
                    break
                made.put(_answer(query, bench))
        except BaseException as error:
            failures.append(error)
        finally:
            made.put(None)

    with ThreadPoolExecutor(calls, "query") as pool:
        workers = [pool.submit(work) for _ in range(calls)]
        try:
            for _ in workers:
                while (answered := made.get()) is not None:
                    yield answered
        except (KeyboardInterrupt, GeneratorExit) as stop:  # a model may take minutes, and nobody waits for its answer
            failures.append(stop)
            while not all(worker.done() for worker in workers):
                cancel_all()
                time.sleep(SECONDS_BETWEEN_CANCELS)
            raise
    if failures:
        raise failures[0]


def _lanes(todo: Sequence[PlannedQuery], enough: int) -> list[list[PlannedQuery]]:
    """Queries that are asked one after another: a document's, or single ones where the documents are not `enough`."""
    documents = _by_document(todo)
    return documents if len(documents) >= enough else [[query] for query in chain.from_iterable(documents)]
