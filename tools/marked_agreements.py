"""Agreements with their labels marked where they stand, as `training/loans/marked` holds them.

A file is a header of facts between two lines `---` and the text, in which `⟦borrower.person|Ann Lee⟧` marks a passage
with its label; marks may stand inside one another. `training/README.md` says what each label means.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("training/loans/marked")
WAITING = Path("training/loans/waiting")  # marked alike; the judge has not learned from them yet
ASIDE = Path("training/loans/set_aside")  # of drafters from whom no weights learn, to choose by
PARTIES = ("borrower", "lender", "guarantor", "agent", "other")
KINDS = {"person": "natural_person", "company": "legal_entity", "bank": "financial_institution", "public": "government"}
TERMS = ("principal", "rate", "maturity", "term", "collateral", "purpose")
STATED = (
    "secured", "unsecured", "openend", "closedend", "consumer", "commercial", "student", "mortgage", "green", "card",
    "lends_by_trade", "lends_privately", "is_person", "is_company", "clash",
)  # fmt: skip
LABELS = {f"{party}.{kind}" for party in PARTIES for kind in KINDS} | {*TERMS, *STATED}

_FILE = re.compile(r"---\n(?P<header>.*?)\n---\n(?P<text>.*)\Z", re.S)
_BOUND = re.compile(r"(⟦[^⟦⟧|]*\||⟧)")


@dataclass(frozen=True, slots=True)
class Mark:
    """A passage `[start, end)` of the text and its label; that of a party is its role, and `kind` says what it is."""

    label: str
    start: int
    end: int
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class MarkedAgreement:
    """The text as a document has it, its marks in the order in which they begin, and the header's facts."""

    name: str
    text: str
    marks: tuple[Mark, ...]
    facts: dict[str, str]


def read_marked(path: Path) -> MarkedAgreement:
    """Read one file. Raises ValueError naming it and what is wrong with its marks."""
    match = _FILE.match(path.read_text(encoding="utf-8"))
    if match is None:
        raise ValueError(f"{path}: has no header between two lines ---")
    facts = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in match["header"].splitlines())
    }
    text, marks, opened = "", list[Mark](), list[tuple[str, int]]()
    for piece in _BOUND.split(match["text"]):
        if piece == "⟧":
            if not opened:
                raise ValueError(f"{path}: a ⟧ closes nothing, after {text[-40:]!r}")
            label, start = opened.pop()
            role, _, kind = label.partition(".")
            marks.append(Mark(role, start, len(text), KINDS[kind] if kind else None))
        elif _BOUND.fullmatch(piece):
            if (label := piece[1:-1]) not in LABELS:
                raise ValueError(f"{path}: {label} is no label, after {text[-40:]!r}")
            opened.append((label, len(text)))
        else:
            text += piece
    if opened:
        raise ValueError(f"{path}: ⟦{opened[-1][0]}| is never closed")
    return MarkedAgreement(f"{path.parent.name}/{path.stem}", text, tuple(sorted(marks, key=_place)), facts)


def _place(mark: Mark) -> tuple[int, int]:
    return mark.start, -mark.end


def marked_agreements(folder: Path = FOLDER) -> Iterator[MarkedAgreement]:
    """All of them, by drafter."""
    for path in sorted(folder.glob("*/*.txt")):
        yield read_marked(path)
