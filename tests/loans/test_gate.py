"""What is read as a loan document: nearly all of drafters that taught nothing, and none of other contracts."""

import json
from pathlib import Path

import pytest
from marked_agreements import ASIDE, marked_agreements

from ovrag_core.documents import load
from ovrag_core.loans.reading.gate import gate

PROJECT = Path(__file__).resolve().parents[2]
TAKEN, LESS = 155, 1  # of 155


def test_loan_documents_of_drafters_set_aside_are_taken_for_such() -> None:
    read = [gate(agreement.text) for agreement in marked_agreements(PROJECT / ASIDE)]
    assert len(read) == 155
    assert sum(status == "loan" for status, _ in read) >= TAKEN - LESS
    assert all((reason is None) == (status == "loan") for status, reason in read)


@pytest.mark.parametrize("path", sorted((PROJECT / "tests/data/leases").rglob("*.txt")), ids=lambda path: path.stem)
def test_leases_are_no_loan_documents(path: Path) -> None:
    status, reason = gate(path.read_text(encoding="utf-8"))
    assert status == "not_loan"
    assert reason.startswith("the document does not look like a loan: its words are not those of one; ")
    assert "give the whole agreement" in reason, "with the remedy"


@pytest.mark.parametrize("folder", ["loan_genuine/documents", "loan_prose/documents", "loan_thesis/contracts"])
def test_genuine_agreements_are_loan_documents(external_data: Path, folder: str) -> None:
    if not (external_data / folder).is_dir():
        pytest.skip(f"no {folder} in the external data")
    refused = [path.name for path in sorted((external_data / folder).iterdir()) if gate(load(path).text)[0] != "loan"]
    assert refused == []


def test_what_teaches_the_gate_is_many_kinds_of_documents() -> None:
    lines = [
        line
        for path in sorted((PROJECT / "training/loans/others").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    others = [json.loads(line) for line in lines]
    assert len({other["text"] for other in others}) == len(others) >= 120
    assert len({other["kind"] for other in others}) >= 100
    assert all(80 <= len(other["text"].split()) <= 450 for other in others)
