"""Usage of model calls: tokens, calls and seconds by part of the work; prices from a dated file, and a budget."""

from __future__ import annotations

import datetime
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ovrag_core.base import BudgetError, Frozen, PriceError, Usage, fault, read_yaml

MILLION = 1_000_000
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


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
    """Spending by purpose. A recorded reply counts like the call that was recorded, so replays have its records."""

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
    """Counts every model call made inside, also by tasks; the tally around it does too, unless this stands `apart`."""
    inner, outer = Tally(), _tally.get()
    token = _tally.set(inner)
    try:
        yield inner
    finally:
        _tally.reset(token)
        if outer is not None and not apart:
            outer.include(inner)


class Price(Frozen):
    """US dollars per million tokens; an embedding model has no output."""

    input: Dollars
    output: Dollars = 0.0
    also: tuple[str, ...] = ()  # other names of the same model at the same price

    def cost(self, usage: Usage) -> float:
        """US dollars for the tokens of `usage`."""
        return (usage.prompt_tokens * self.input + usage.completion_tokens * self.output) / MILLION


class Prices(Frozen):
    """The price file: a date, the source, and a price for each model."""

    path: Path
    as_of: datetime.date
    source: str
    models: dict[str, Price]

    def of(self, model: str) -> Price:
        """The price of a model. Raises PriceError for one that is not in the file."""
        if price := self.find(model):
            return price
        raise PriceError(
            f"{self.path} has no price for {model}; add its dollars per million tokens, or 0 where it is your own"
        )

    def find(self, model: str) -> Price | None:
        """The price of a model, None where the file does not have it."""
        if model in self.models:
            return self.models[model]
        return next((price for price in self.models.values() if model in price.also), None)


def load_prices(path: Path = Path("data/prices.yaml")) -> Prices:
    """The price file. Raises PriceError for a missing or broken one, with its field."""
    values = read_yaml(path, PriceError, "run from the project's folder or name the price file")
    if not isinstance(values, dict):
        raise PriceError(f"{path} must hold as_of, source and models")
    try:
        return Prices.model_validate({**values, "path": path})
    except ValidationError as error:
        raise PriceError(f"{path}: {fault(error)}") from None


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
