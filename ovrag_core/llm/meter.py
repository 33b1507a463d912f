"""Usage of model calls: tokens, calls and seconds by part of the work, and a budget."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ovrag_core.base import BudgetError, Usage
from ovrag_core.llm.prices import Prices

CHARACTERS_PER_TOKEN = 4  # of English prose, OpenAI's own rule of thumb; for estimates only


def sum_usage(usages: Iterable[Usage]) -> Usage:
    """Calls and tokens together."""
    listed = list(usages)
    return Usage(
        calls=sum(u.calls for u in listed),
        prompt_tokens=sum(u.prompt_tokens for u in listed),
        completion_tokens=sum(u.completion_tokens for u in listed),
    )


@dataclass(slots=True)
class Spending:
    """Usage and seconds of one part of the work."""

    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


@dataclass(slots=True)
class Tally:
    """Spending by purpose.

    A recorded reply counts like the call that was recorded, so that a replayed run has the records of the first.
    """

    by_purpose: dict[str, Spending] = field(default_factory=dict)
    discarded: dict[str, int] = field(default_factory=dict)  # statements of a model that were not used, by reason
    outer: Tally | None = None

    @property
    def usage(self) -> Usage:
        """Calls and tokens of all parts."""
        return sum_usage(spending.usage for spending in self.by_purpose.values())

    def add(self, purpose: str, usage: Usage, seconds: float) -> None:
        """Count a call here and in the tally around this one."""
        with _counting:
            for counter in self._and_around():
                spending = counter.by_purpose.setdefault(purpose, Spending())
                spending.usage = sum_usage([spending.usage, usage])
                spending.seconds += seconds

    def discard(self, statements: Mapping[str, int]) -> None:
        """Count statements that were not used, by reason, here and in the tally around this one."""
        with _counting:
            for counter in self._and_around():
                for reason, number in statements.items():
                    counter.discarded[reason] = counter.discarded.get(reason, 0) + number

    def include(self, other: Tally, *, cached: bool = False) -> None:
        """Count all that another tally holds; `cached`: it was made earlier, and costs no money and no time now."""
        for purpose, spending in other.by_purpose.items():
            self.add(purpose, spending.usage, 0.0 if cached else spending.seconds)
        self.discard(other.discarded)

    def _and_around(self) -> Iterator[Tally]:
        counter: Tally | None = self
        while counter is not None:
            yield counter
            counter = counter.outer

    @property
    def total_seconds(self) -> float:
        """Seconds of all calls, as measured when they were made."""
        return sum(spending.seconds for spending in self.by_purpose.values())


_counting = threading.Lock()  # one query may be at work in several threads
_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


def current_tally() -> Tally | None:
    """The tally that calls of this thread or task are counted to."""
    return _tally.get()


@contextmanager
def tally(*, apart: bool = False) -> Iterator[Tally]:
    """Counts every model call made inside, also by tasks started inside.

    A tally within a tally counts to both, unless it stands `apart`.
    """
    inner = Tally(outer=None if apart else _tally.get())
    token = _tally.set(inner)
    try:
        yield inner
    finally:
        _tally.reset(token)


class Budget:
    """Stops before a call that could bring the cost over a limit in US dollars.

    Before a call its upper bound is held: every byte of the prompt a token, the reply as long as allowed. After it,
    what it used is charged. While held sums alone stand in the way, a call waits for those before it. A model without
    a price is a PriceError.
    """

    def __init__(self, limit_usd: float, prices: Prices, *, spent_usd: float = 0.0) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self._held_usd = 0.0
        self._calls_under_way = 0
        self._prices = prices
        self._changed = asyncio.Condition()

    async def hold(self, model: str, bound: Usage) -> float:
        """Hold the cost of `bound`; returns it. Raises BudgetError where it does not fit any more."""
        cost = self._prices.of(model).cost(bound)
        async with self._changed:
            while self.spent_usd + self._held_usd + cost > self.limit_usd:
                if not self._calls_under_way:
                    raise BudgetError(self._sentence(cost))
                await self._changed.wait()
            self._calls_under_way += 1
            self._held_usd += cost
        return cost

    async def settle(self, model: str, held: float, used: Usage) -> None:
        """Charge what a call used in place of what was held for it."""
        async with self._changed:
            self._calls_under_way -= 1
            self._held_usd = self._held_usd - held if self._calls_under_way else 0.0
            self.spent_usd += self._prices.of(model).cost(used)
            self._changed.notify_all()

    def _sentence(self, cost: float) -> str:
        return (
            f"stopped before the budget of {self.limit_usd:.2f} USD would be exceeded: {self.spent_usd:.4f} USD are "
            f"spent and the next call may cost {cost:.4f} USD; raise budget_usd and run again to go on"
        )
