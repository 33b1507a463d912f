"""Families of documents, each with its words for parties and debt, its styles of figures, headings and layout."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from ovrag_core.loans.contracts.phrasings import fits
from ovrag_core.loans.contracts.written_figures import DayStyle, MoneyStyle, RateStyle

Form = Literal["agreement", "letter", "note", "cover", "you", "schedule", "first", "boxes", "memo"]
Numbering = Literal[
    "article",
    "decimal",
    "plain_decimal",
    "section",
    "section_sign",
    "letters",
    "caps",
    "none",
    "run_in",
    "ordinal_words",
]
Extra = Literal["definitions", "conditions", "representations", "boilerplate"]
Flow = Literal["sentences", "joined"]


class Register(BaseModel):
    """A family of documents; every list is drawn from.

    `articles` stand before party terms; `short_names` is the share of contracts in which the parties' own short names
    take the place of terms; `extras` are further sections.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    voice: Literal["third", "you", "first"]
    fits: tuple[str, ...]
    weight: int
    form: Form
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
    numbering: tuple[Numbering, ...]
    flow: tuple[Flow, ...]
    font: Literal["serif", "sans"]
    articles: tuple[Literal["the", ""], ...] = ("the",)
    short_names: float = 0
    extras: tuple[Extra, ...] = ()


class Registers(BaseModel):
    """The file `registers.yaml`: heading texts by set and section, and the registers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    headings: dict[str, dict[str, tuple[str, ...]]]
    registers: tuple[Register, ...]


@cache
def registers() -> Registers:
    """The registers, in the file's order."""
    text = (Path(__file__).resolve().parent / "registers.yaml").read_text(encoding="utf-8")
    return Registers.model_validate(yaml.load(text, Loader=yaml.CSafeLoader))


def choose_register(random: Random, tags: frozenset[str]) -> Register:
    """A register that fits a contract with these tags, by weight."""
    fitting = [register for register in registers().registers if fits(register.fits, tags)]
    return random.choices(fitting, weights=[register.weight for register in fitting])[0]
