"""Usage of model calls: tokens, calls and seconds by part of the work, and a budget."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ovrag_core.base import BudgetError, Usage
from ovrag_core.llm.prices import Prices


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
    """Stops calls once a limit in US dollars is reached. A model without a price is a PriceError."""

    def __init__(self, limit_usd: float, prices: Prices, *, spent_usd: float = 0.0) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self._prices = prices

    def check(self) -> None:
        """Raise BudgetError where the limit is reached."""
        if self.spent_usd >= self.limit_usd:
            raise BudgetError(
                f"stopped at the budget of {self.limit_usd:.2f} USD: {self.spent_usd:.4f} USD are spent; raise "
                "budget_usd and run again to go on"
            )

    def charge(self, model: str, used: Usage) -> None:
        """Add what a call used."""
        self.spent_usd += self._prices.of(model).cost(used)
