"""One event loop in a thread of its own, where every model call runs.

Whoever calls, a script, a thread or a notebook with a loop of its own, shares one pool of connections and one limit of
concurrency; and what the calls touch (store, budget, tallies) is touched from this thread only and needs no lock.
"""

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import TypeVar

T = TypeVar("T")
_starting = threading.Lock()


def run(work: Coroutine[object, object, T]) -> T:
    """The result of `work`, waited for. An interrupted wait cancels the work."""
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    finally:
        future.cancel()


def cancel_all() -> None:
    """Cancel the calls that are under way: whoever waits for one gets a CancelledError."""
    _loop().call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks()])


def _loop() -> asyncio.AbstractEventLoop:
    with _starting:
        return _started_loop()


@cache
def _started_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="model calls", daemon=True).start()
    return loop
