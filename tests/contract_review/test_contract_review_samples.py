"""The invented samples of contract review: they are made of their marked sources, and every label is exact."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ovrag_studies.contract_review.texts.datasets import Contract, NliSet, categories, load_contractnli, load_cuad

TOOL = "tools/contract_review_samples.py"


@pytest.fixture(scope="module")
def samples(project: Path) -> Path:
    return project / "data" / "samples" / "contract_review"


@pytest.fixture(scope="module")
def contracts(samples: Path) -> tuple[Contract, ...]:
    return load_cuad(samples / "cuad")


@pytest.fixture(scope="module")
def nli(samples: Path) -> NliSet:
    return load_contractnli(samples / "contractnli")


@pytest.fixture(scope="module")
def tool(project: Path) -> dict[str, Any]:
    return runpy.run_path(str(project / TOOL))


def made(folder: Path) -> dict[str, bytes]:
    parts = (folder / "cuad", folder / "contractnli")
    return {
        str(file.relative_to(folder)): file.read_bytes() for part in parts for file in part.rglob("*") if file.is_file()
    }


def test_the_files_are_what_the_tool_makes_of_the_sources(project: Path, samples: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, TOOL, str(tmp_path)], cwd=project, check=True)
    assert made(tmp_path) == made(samples)


def test_counts_of_contracts_and_questions(contracts: tuple[Contract, ...]) -> None:
    questions = [question for contract in contracts for question in contract.questions]
    answered = Counter(question.category for question in questions if question.gold)
    assert (len(contracts), len(questions), len(categories(contracts))) == (10, 410, 41)
    assert (sum(answered.values()), sum(len(question.gold) for question in questions)) == (220, 303)
    assert set(answered) == set(categories(contracts)) and min(answered.values()) >= 2
    assert all(3_000 <= len(contract.document.text) <= 9_000 for contract in contracts)


@pytest.mark.parametrize(
    ("place", "title", "category", "gold"),
    [
        (0, "Alder Ridge and Sunstead Battery Joint Venture", "Agreement Date", "June 5, 2018"),
        (5, "Larkpost and Tidewell Co-Branding Agreement", "Governing Law", "Massachusetts law applies."),
        (
            9,
            "Tarnholm Managed Hosting Services Agreement",
            "Notice Period to Terminate Renewal",
            "unless either party has served written notice of non-extension not less than six months beforehand.",
        ),
    ],
)
def test_three_contracts(contracts: tuple[Contract, ...], place: int, title: str, category: str, gold: str) -> None:
    contract = contracts[place]
    assert contract.document.id == title
    spans = next(question.gold for question in contract.questions if question.category == category)
    assert [contract.document.text[slice(*span)] for span in spans] == [gold]


def test_spans_are_exact_trimmed_and_said_once(contracts: tuple[Contract, ...]) -> None:
    for contract in contracts:
        text = contract.document.text
        assert "[[" not in text and "]]" not in text
        for question in contract.questions:
            pieces = [text[start:end] for start, end in question.gold]
            assert all(piece == piece.strip() for piece in pieces), question.id
            assert len(set(question.gold)) == len(question.gold), question.id


def test_answers_agree_with_what_is_said_of_them(samples: Path) -> None:
    for entry in json.loads((samples / "cuad" / "questions.json").read_text(encoding="utf-8"))["data"]:
        text = (samples / "cuad" / entry["text_file"]).read_bytes().decode()
        assert entry["characters"] == len(text)
        for asked in entry["qas"]:
            assert asked["is_impossible"] == (not asked["answers"])
            if asked["normalized_answer"] in ("Yes", "No"):
                assert (asked["normalized_answer"] == "Yes") == bool(asked["answers"])


def test_one_contract_has_the_line_ends_of_another_system(contracts: tuple[Contract, ...]) -> None:
    (supply,) = [each for each in contracts if "\r\n" in each.document.text]
    assert supply.document.text.count("\n") == supply.document.text.count("\r\n") > 50
    assert any("\r\n" not in supply.document.text[slice(*span)] for each in supply.questions for span in each.gold)


def test_names_of_categories_are_those_asked(samples: Path, contracts: tuple[Contract, ...]) -> None:
    listed = json.loads((samples / "cuad" / "categories.json").read_text(encoding="utf-8"))
    assert [each["category"] for each in listed] == categories(contracts)
    assert all(each["description"] and each["question"].endswith("?") for each in listed)


def test_categories_and_hypotheses_are_the_publishers(samples: Path, nli: NliSet, external_data: Path) -> None:
    published = json.loads((external_data / "contract_review" / "cuad" / "categories.json").read_text("utf-8"))
    ours = json.loads((samples / "cuad" / "categories.json").read_text(encoding="utf-8"))
    assert [each["category"] for each in ours] == [each["category"] for each in published]
    assert nli.hypotheses == load_contractnli(external_data / "contract_review" / "contractnli").hypotheses


def test_counts_of_agreements_and_judgements(nli: NliSet) -> None:
    judged = [judgement for agreement in nli.agreements for judgement in agreement.judgements]
    assert (len(nli.agreements), len(nli.hypotheses), len(judged)) == (10, 17, 170)
    assert Counter(each.choice for each in judged) == {"Entailment": 84, "NotMentioned": 53, "Contradiction": 33}
    assert all(bool(each.evidence) == (each.choice != "NotMentioned") for each in judged)
    assert all(2_500 <= len(agreement.document.text) <= 6_000 for agreement in nli.agreements)


@pytest.mark.parametrize(
    ("place", "hypothesis", "choice", "evidence"),
    [
        (0, "nda-20", "Contradiction", "It shall keep no copy, extract or note in any form."),
        (
            4,
            "nda-10",
            "Contradiction",
            "3.1 Either party may make known that this Agreement exists and that the parties are talking about "
            "a Project.",
        ),
        (
            9,
            "nda-18",
            "Entailment",
            "Before the award neither Firm may induce a member of the other's bid team to change employer.",
        ),
    ],
)
def test_three_agreements(nli: NliSet, place: int, hypothesis: str, choice: str, evidence: str) -> None:
    agreement = nli.agreements[place]
    judgement = next(each for each in agreement.judgements if each.hypothesis == hypothesis)
    assert judgement.choice == choice
    assert [agreement.document.text[slice(*agreement.spans[index])] for index in judgement.evidence] == [evidence]


def test_candidate_spans_tile_an_agreement(nli: NliSet) -> None:
    for agreement in nli.agreements:
        text, last = agreement.document.text, 0
        assert "[[" not in text
        for start, end in agreement.spans:
            assert text[start:end].strip() and not text[last:start].strip()
            last = end
        assert not text[last:].strip()


def test_marks_may_stand_in_one_another(tool: dict[str, Any]) -> None:
    text, passages = tool["unmark"]("A [[exp nren|two years, [[date|May 1]]]] B")
    assert text == "A two years, May 1 B"
    assert [(text[start:end], code) for start, end, code in passages] == [
        ("two years, May 1", "exp"),
        ("two years, May 1", "nren"),
        ("May 1", "date"),
    ]


@pytest.mark.parametrize(("marked", "said"), [("a [[law|b", "not closed"), ("a ]] b", "not opened")])
def test_a_mark_without_its_other_end_is_named(tool: dict[str, Any], marked: str, said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        tool["unmark"](marked)


def test_a_span_reaches_to_the_next_of_its_paragraph(tool: dict[str, Any]) -> None:
    text, spans, evidence = tool["lay_out"]("1. Use.\n+ [[4]] Only so.\n\n(a) [[5 7]] staff\n")
    assert text == "1. Use. Only so.\n\n(a) staff"
    assert [text[start:end] for start, end in spans] == ["1. Use. ", "Only so.", "(a) staff"]
    assert evidence == {4: [1], 5: [2], 7: [2]}
