"""The lists that contracts are sampled and worded from, read from the YAML files beside this module."""

from __future__ import annotations

from collections import ChainMap
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field

from ovrag_core.base import Frozen

_FOLDER = Path(__file__).resolve().parent
Texts = Annotated[tuple[str, ...], Field(min_length=1)]
Use = Literal["personal", "business", "home", "study", "green"]
Asset = Literal["real_property", "vehicle", "deposit", "equipment", "receivables", "undertaking", "securities"]
MoneyStyle = Literal["code", "code_after", "symbol", "symbol_bare", "words", "note", "local"]
DayStyle = Literal["us", "uk", "iso", "dotted", "ordinal", "abbreviated"]
RateStyle = Literal["sign", "sign_spaced", "per_cent", "percent", "words", "fraction", "comma"]


class Culture(Frozen):
    """First and last names that go together."""

    first: Texts
    last: Texts


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
    use: Use
    tags: Texts
    principal: tuple[int, int, int]
    months: tuple[int, ...]
    rates: tuple[float, float]
    secured: float
    assets: tuple[Asset, ...] = ()


class Register(Frozen):
    """A family of documents; every list is drawn from.

    `articles` stand before party terms; `short_names` is the share of contracts in which the parties' own short names
    take the place of terms; `numbering` names ways of numbering; `extras` are further sections.
    """

    name: str
    voice: Literal["third", "you", "first"]
    fits: tuple[str, ...]
    weight: int
    form: Literal["agreement", "letter", "note", "cover", "you", "schedule", "first", "boxes", "memo"]
    titles: tuple[str, ...]
    open_titles: tuple[str, ...]
    borrower: tuple[str, ...]
    lender: tuple[str, ...]
    debt: tuple[str, ...]
    document: tuple[str, ...]
    shall: tuple[str, ...]
    money: tuple[MoneyStyle, ...]
    days: tuple[DayStyle, ...]
    rates: tuple[RateStyle, ...]
    headings: str
    numbering: Texts
    flow: tuple[Literal["sentences", "joined"], ...]
    font: Literal["serif", "sans"]
    articles: tuple[Literal["the", ""], ...] = ("the",)
    short_names: float = 0
    extras: tuple[Literal["definitions", "conditions", "representations", "boilerplate"], ...] = ()


class Numbering(Frozen):
    """Patterns of a section's heading and of the mark of each of its paragraphs, where there are several.

    A heading that is `within` begins the first paragraph.
    """

    heading: str
    mark: str = ""
    within: bool = False


class Lists(Frozen):
    """Parts of names, noun phrases for purposes and collateral with what fills them, and what else is drawn from.

    `kinds` are by the name of their class, `headings` texts by set and section.
    """

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
    purposes: dict[str, Texts]
    pledges: dict[str, Texts]
    makes: Texts
    machines: Texts
    kinds: dict[str, KindOfLoan]
    places: tuple[Place, ...]
    numberings: dict[str, Numbering]
    headings: dict[str, dict[str, Texts]]
    registers: tuple[Register, ...]


@cache
def lists() -> Lists:
    """The lists, each in its file's order."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in _FOLDER.glob("*.yaml")}
    files = {name: yaml.load(text, Loader=yaml.CSafeLoader) for name, text in texts.items()}
    whole = {name: files.pop(name) for name in ("kinds", "places")}
    return Lists.model_validate(dict(ChainMap(whole, *files.values())))
