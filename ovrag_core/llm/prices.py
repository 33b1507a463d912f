"""Prices of models, from a dated price file."""

import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ovrag_core.base import Frozen, PriceError, Usage, fault, read_yaml

MILLION = 1_000_000
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


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
