"""Confidentiality agreements that were written to be learned from: `training/contract_review/ndas`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from ovrag_core.base import CorpusError, Document, Frozen, fault, read_yaml
from ovrag_studies.contract_review.texts.datasets import Choice, GoldJudgement, NliAgreement

WRITTEN = Path("training/contract_review/ndas")
REMEDY = "its form is described in training/contract_review/README.md"
FIRST = 100_000  # number of the first: those of ContractNLI are smaller
CHOICES: dict[str, Choice] = {"E": "Entailment", "C": "Contradiction", "N": "NotMentioned"}


class _Label(Frozen):
    choice: Literal["E", "C", "N"]
    clauses: tuple[int, ...] = ()


class _Written(Frozen):
    title: str
    clauses: tuple[str, ...]
    labels: dict[str, _Label]


def read_written(folder: Path, hypotheses: Sequence[str]) -> list[NliAgreement]:
    """The agreements of a folder with what is true of these hypotheses; none of other hypotheses is known.

    Each clause is a span. Raises CorpusError for a folder without any, and for a file whose form or labels are wrong.
    """
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise CorpusError(f"{folder} holds no agreements to learn from; restore it from git")
    agreements = [_agreement(path, FIRST + row) for row, path in enumerate(files)]
    return [a for a in agreements if {j.hypothesis for j in a.judgements} >= set(hypotheses)]


def _agreement(path: Path, number: int) -> NliAgreement:
    try:
        written = _Written.model_validate(read_yaml(path, CorpusError, REMEDY))
    except ValidationError as error:
        raise CorpusError(f"{path}: {fault(error)}; {REMEDY}") from None
    text, spans = f"{written.title}\n", []
    for clause in written.clauses:
        spans.append((len(text), len(text) + len(clause)))
        text += f"{clause}\n"
    for name, label in written.labels.items():
        if bool(label.clauses) == (label.choice == "N") or not all(1 <= n <= len(spans) for n in label.clauses):
            raise CorpusError(f"{path}: the clauses of {name} are not those of its choice {label.choice}; {REMEDY}")
    judgements = [
        GoldJudgement(name, CHOICES[label.choice], tuple(sorted(n - 1 for n in label.clauses)))
        for name, label in written.labels.items()
    ]
    return NliAgreement(Document(path.stem, text), number, tuple(spans), tuple(judgements))
