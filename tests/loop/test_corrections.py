"""Whether feedback lets a model that errs in known ways put its answer right, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import standins

from ovrag_core.base.project import ROOT
from ovrag_core.base.settings import Question
from ovrag_core.base.types import Answer, Chunk
from ovrag_core.loans.reading import reader
from ovrag_core.loop.arms import ARMS
from ovrag_core.loop.pipeline import ask
from ovrag_core.loop.validation import Validator
from ovrag_core.ontology.load import load_ontology

TERM = """LOAN AGREEMENT

Lender: Harbour Savings Bank, 12 Quay Street, Boston.
Borrower: Larkspur Mills, Inc., a Delaware corporation.
Principal amount: USD 900,000.00.
Purpose: working capital for the Borrower's business.
The loan is paid out in one sum for a fixed term of 60 months and may not be drawn again once repaid.
Security: Unsecured; the Borrower gives no collateral.
"""
SAYS = {
    "kind": ("It is a commercial loan.", "It is a consumer loan."),
    "lender": (
        "The lender is Harbour Savings Bank, an organisation.",
        "The lender is Harriet Lindqvist, a private individual.",
    ),
    "security": ("The loan is unsecured.", "The loan is secured by a pledge of the borrower's shares."),
    "form": ("It is a fixed-term loan.", "It is a revolving line of credit."),
    "principal": ("The principal amount is USD 900,000.00.", ""),
}


@dataclass
class Erring:
    """A model that knows nothing but the feedback's words: what they quote of its answer it puts right, or gives up."""

    wrong: set[str]
    separator: str
    lost: set[str] = field(default_factory=set)
    name: str = "scripted, erring"

    def answer(self, question: str, chunks: Sequence[Chunk], **given: Any) -> Answer:
        for correction in given["corrections"][-1:]:
            said = "".join(line.split("The document says")[0] for line in correction.feedback.splitlines())
            named = [topic for topic in SAYS if topic not in self.lost and self.said(topic).rstrip(".") in said]
            self.lost |= set(named) - self.wrong
            self.wrong -= set(named)
        return Answer(text=self.separator.join(self.said(topic) for topic in SAYS if topic not in self.lost))

    def said(self, topic: str) -> str:
        return SAYS[topic][topic in self.wrong]


@pytest.fixture(scope="module")
def validator() -> Iterator[Validator]:
    made = Validator(load_ontology(ROOT / "ontologies"))
    yield made
    made.close()


@pytest.mark.parametrize("separator", [" ", "\n- "])
@pytest.mark.parametrize("wrong", [["security"], ["form"], ["kind"], ["lender"], ["security", "lender"]])
def test_feedback_names_what_is_wrong_and_nothing_else(validator: Validator, separator: str, wrong: list[str]) -> None:
    model = Erring(set(wrong), separator)
    parts = standins.bench({"A": TERM}, model)
    parts.extractor, parts.validator = reader, validator
    record, _ = ask(Question(id="Q5", text="Summarise the loan."), "A", ARMS["ovrag_evidence"], parts)
    assert (record.outcome, model.wrong, model.lost) == ("corrected", set(), set())
