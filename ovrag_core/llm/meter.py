"""Usage of model calls: tokens, calls and seconds by part of the work, and a budget."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ovrag_core.base import BudgetError, Usage
from ovrag_core.llm.prices import Prices


def sum_usage(usages: Iterable[Usage]) -> Usage:
    """Calls and tokens together."""
    listed = list(usages)
    return Usage(**{name: sum(getattr(usage, name) for usage in listed) for name in Usage.model_fields})


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
    discarded: Counter[str] = field(default_factory=Counter)  # statements of a model that were not used, by reason

    @property
    def usage(self) -> Usage:
        """Calls and tokens of all parts."""
        return sum_usage(spending.usage for spending in self.by_purpose.values())

    def add(self, purpose: str, usage: Usage, seconds: float) -> None:
        """Count a call."""
        with _counting:
            spending = self.by_purpose.setdefault(purpose, Spending())
            spending.usage = sum_usage([spending.usage, usage])
            spending.seconds += seconds

    def discard(self, statements: Mapping[str, int]) -> None:
        """Count statements that were not used, by reason."""
        with _counting:
            self.discarded.update(statements)

    def include(self, other: Tally, *, cached: bool = False) -> None:
        """Count all that another tally holds; `cached`: it was made earlier, and costs no money and no time now."""
        for purpose, spending in other.by_purpose.items():
            self.add(purpose, spending.usage, 0.0 if cached else spending.seconds)
        self.discard(other.discarded)

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

    What a tally within a tally has counted is counted to both at its end, unless it stands `apart`.
    """
    inner, outer = Tally(), _tally.get()
    token = _tally.set(inner)
    try:
        yield inner
    finally:
        _tally.reset(token)
        if outer is not None and not apart:
            outer.include(inner)


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
