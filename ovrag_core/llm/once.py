"""Values that are made once, whichever thread asks first, with what making them used."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

from ovrag_core.base import OvragError
from ovrag_core.llm.meter import Tally, current_tally, tally

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
LIMIT = 512


class Made(NamedTuple, Generic[V]):
    """A value, what the model calls used that made it, and whether it was made now."""

    value: V
    used: Tally
    fresh: bool


class Once(Generic[K, V]):
    """The last `limit` values by key. Threads that ask for the same one wait for it; other keys go on.

    What is made is counted to nobody: the caller decides, since whoever asks first is chance. What fails is counted
    to the one who asked, is not kept, and is tried again by the next.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._made: OrderedDict[K, Made[V]] = OrderedDict()
        self._turns: dict[K, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> Made[V]:
        """The value of `key`, made now where there is none."""
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                if key in self._made:
                    self._made.move_to_end(key)
                    self._turns.pop(key, None)
                    return self._made[key]
            around = current_tally()
            with tally(apart=True) as used:
                try:
                    metered = Made(make(), used, True)
                except OvragError:
                    if around is not None:  # what failed was paid for all the same
                        around.include(used)
                    raise
            with self._lock:
                self._made[key] = metered._replace(fresh=False)
                self._turns.pop(key, None)
                while len(self._made) > self._limit:
                    self._made.popitem(last=False)
        return metered

    def counted(self, key: K, make: Callable[[], V]) -> V:
        """The value of `key`, counted to everybody who asks as if each had made it: records must not tell who did."""
        metered = self.get(key, make)
        if (around := current_tally()) is not None:
            around.include(metered.used)
        return metered.value
