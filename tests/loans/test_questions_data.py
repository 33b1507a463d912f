"""Labelled questions: each names a document that is there, and what a right reply says stands in it or is none."""

import json
from pathlib import Path

import pytest

from ovrag_core.loans.fact_answering import ASKABLE

PROJECT = Path(__file__).resolve().parents[2]
SETS = {
    "tests/data/questions.json": ("tests/data/agreements", 100, 25),
    "training/loans/asked.json": ("training/loans/agreements", 72, 18),
}
AUTHORS = sorted((PROJECT / "training/loans/questions").glob("*.jsonl"))
NAMES = {"kind": "loan_types"}


@pytest.mark.parametrize("name", SETS)
def test_every_question_has_its_document_and_its_answer_or_none(name: str) -> None:
    folder, questions, documents = SETS[name]
    entries = json.loads((PROJECT / name).read_text(encoding="utf-8"))
    assert len(entries) == questions
    assert len({entry["document"] for entry in entries}) == documents
    for entry in entries:
        assert (PROJECT / folder / f"{entry['document']}.txt").is_file()
        assert entry["silent"] == (not entry["says"]), entry
        assert all(group and all(group) for group in entry["says"]), entry


def test_what_a_question_is_learned_to_ask_for_is_known_and_no_question_is_learned_twice() -> None:
    lines = [json.loads(line) for path in AUTHORS for line in path.read_text(encoding="utf-8").splitlines()]
    assert {NAMES.get(each, each) for line in lines for each in line["asks"]} == set(ASKABLE)
    asked = [" ".join(line["question"].casefold().split()).strip(" ?.!") for line in lines]
    assert len(set(asked)) == len(asked)


def test_no_labelled_question_is_learned_word_for_word() -> None:
    learned = {json.loads(line)["question"].casefold() for path in AUTHORS for line in path.open(encoding="utf-8")}
    measured = {
        entry["question"].casefold() for name in SETS for entry in json.loads((PROJECT / name).read_text("utf-8"))
    }
    assert not learned & measured
