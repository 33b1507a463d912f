"""Labelled questions: each names a document that is there, and what a right reply says stands in it or is none."""

import json
from pathlib import Path

import pytest
from marked_agreements import ASIDE, FOLDER, WAITING, read_marked

from ovrag_core.loans.fact_answering import ASKABLE

PROJECT = Path(__file__).resolve().parents[2]
SETS = {
    "tests/data/questions.json": ("tests/data/agreements", 100, 25),
    "training/loans/asked.json": ("training/loans/agreements", 72, 18),
}
AUTHORS = sorted((PROJECT / "training/loans/questions").glob("*.jsonl"))
NAMES = {"kind": "loan_types"}
ASKED = [*sorted((PROJECT / "training/loans/asked").glob("*.jsonl")), PROJECT / ASIDE / "asked.jsonl"]


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


@pytest.mark.parametrize("path", ASKED, ids=lambda path: path.stem)
def test_what_answers_a_question_stands_in_its_agreement(path: Path) -> None:
    folders = [PROJECT / ASIDE] if path.parent.name == ASIDE.name else [PROJECT / FOLDER, PROJECT / WAITING]
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for name in {line["document"] for line in lines}:
        text = read_marked(next(p for folder in folders if (p := folder / f"{name}.txt").exists())).text
        asked = [line for line in lines if line["document"] == name]
        assert all(quote in text for line in asked for quote in line["quotes"])
    assert {bool(line["quotes"]) for line in lines} == {True, False}
