"""The lists that contracts are sampled from, read from the YAML files beside this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, TypeAdapter

from ovrag_core.base import Frozen

_FOLDER = Path(__file__).resolve().parent
Texts = Annotated[tuple[str, ...], Field(min_length=1)]


Asset = Literal["real_property", "vehicle", "deposit", "equipment", "receivables", "undertaking", "securities"]


class Culture(Frozen):
    """First and last names that go together."""

    first: Texts
    last: Texts


class NameParts(Frozen):
    """Parts of names of people, companies and lenders."""

    people: dict[str, Culture]
    titles: Texts
    suffixes: Texts
    middles: Texts
    lender_stems: Texts
    continental_stems: Texts
    lender_people: Texts
    company_stems: Texts
    trades: Texts
    street_stems: Texts
    other_banks: Texts


class Matters(Frozen):
    """Noun phrases for purposes and collateral, and what fills them."""

    purposes: dict[str, Texts]
    pledges: dict[str, Texts]
    makes: Texts
    machines: Texts


class Place(Frozen):
    """A jurisdiction with its law, currency and the shape of addresses there.

    `address` and `land` are patterns; `company_forms` pairs a suffix with what a contract calls such a company,
    `lender_forms` a name pattern with what the lender is; `cultures` name the lists that people are drawn from.
    """

    name: str
    law: str
    court: str
    currency: str
    weight: int
    cultures: Texts
    streets: Texts
    cities: Texts
    address: str
    company_forms: tuple[tuple[str, str], ...]
    lender_forms: tuple[tuple[str, str], ...]
    land: Texts
    benchmark: str
    government: Texts

    @property
    def american(self) -> bool:
        """True where dates and land law are those of the United States."""
        return self.currency == "USD"

    @property
    def continental(self) -> bool:
        """True where contracts follow the drafting habits of the European continent."""
        return self.currency in ("EUR", "CHF") and self.name != "Ireland"


class KindOfLoan(Frozen):
    """Values to draw from for a kind of loan, as `kinds.yaml` explains; no `assets`: those of the borrower's sort."""

    name: str
    tags: Texts
    principal: tuple[int, int, int]
    months: tuple[int, ...]
    rates: tuple[float, float]
    secured: float
    assets: tuple[Asset, ...] = ()


@cache
def names() -> NameParts:
    """The name lists."""
    return NameParts.model_validate(read_list("names.yaml"))


@cache
def matters() -> Matters:
    """The lists of purposes and collateral."""
    return Matters.model_validate(read_list("matters.yaml"))


@cache
def kinds() -> dict[str, KindOfLoan]:
    """The kinds of loan by the name of their class."""
    return TypeAdapter(dict[str, KindOfLoan]).validate_python(read_list("kinds.yaml"))


@cache
def places() -> tuple[Place, ...]:
    """The jurisdictions, in the file's order."""
    return TypeAdapter(tuple[Place, ...]).validate_python(read_list("places.yaml"))


def read_list(name: str) -> object:
    """What a YAML file beside this module holds."""
    return yaml.load((_FOLDER / name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
