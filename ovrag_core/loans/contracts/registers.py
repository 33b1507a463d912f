"""Families of documents, each with its words for parties and debt, its styles of figures, headings and layout."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Literal

from ovrag_core.base import Frozen
from ovrag_core.loans.contracts.lists import read_list
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


class Register(Frozen):
    """A family of documents; every list is drawn from.

    `articles` stand before party terms; `short_names` is the share of contracts in which the parties' own short names
    take the place of terms; `extras` are further sections.
    """

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


class Registers(Frozen):
    """The file `registers.yaml`: heading texts by set and section, and the registers."""

    headings: dict[str, dict[str, tuple[str, ...]]]
    registers: tuple[Register, ...]


@cache
def registers() -> Registers:
    """The registers, in the file's order."""
    return Registers.model_validate(read_list("registers.yaml"))


def choose_register(random: Random, tags: frozenset[str]) -> Register:
    """A register that fits a contract with these tags, by weight."""
    fitting = [register for register in registers().registers if fits(register.fits, tags)]
    return random.choices(fitting, weights=[register.weight for register in fitting])[0]
