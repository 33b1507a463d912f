"""The data sets of the contract-review study: CUAD, ContractNLI, written agreements, broken files; and folds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import pytest

from ovrag_core.base.errors import CorpusError
from ovrag_studies.contract_review.texts.datasets import (
    WRITTEN,
    categories,
    fold_of,
    load_contractnli,
    load_cuad,
    read_written,
)

TEXT = "Supply Agreement\r\n\r\n1. Governing Law. The laws of Utah govern this Agreement."
CLAUSE = "The laws of Utah govern this Agreement."


class Changes(TypedDict, total=False):
    start: int
    text_file: str


def ours(folder: Path, *, start: int | None = None, text_file: str = "texts/a.txt", title: str = "A") -> Path:
    (folder / "texts").mkdir(parents=True, exist_ok=True)
    (folder / "texts" / "a.txt").write_bytes(TEXT.encode())
    answer = {"text": CLAUSE, "answer_start": TEXT.index(CLAUSE) if start is None else start}
    asked = [
        {"id": "A__Governing Law", "category": "Governing Law", "answers": [answer], "is_impossible": False},
        {"id": "A__Parties", "category": "Parties", "answers": [], "is_impossible": True},
    ]
    listed = [{"title": title, "text_file": text_file, "qas": asked}]
    (folder / "questions.json").write_text(json.dumps({"version": "x", "data": listed}), encoding="utf-8")
    return folder


def nli(folder: Path, **changes: object) -> Path:
    document = {
        "id": 7,
        "file_name": "nda.txt",
        "text": "Title\nThe Recipient may keep one copy.",
        "spans": [[0, 5], [6, 38]],
        "annotation_sets": [{"annotations": {"nda-1": {"choice": "Entailment", "spans": [1]}}}],
    } | changes
    read = {
        "documents": [document],
        "labels": {"nda-1": {"hypothesis": "A copy may be kept.", "short_description": ""}},
    }
    (folder / "dev.json").write_text(json.dumps(read), encoding="utf-8")
    return folder


def test_cuad_counts_and_three_records(external_data: Path) -> None:
    contracts = load_cuad(external_data / "contract_review" / "cuad")
    questions = [question for contract in contracts for question in contract.questions]
    assert (len(contracts), len(questions), len(categories(contracts))) == (60, 2460, 41)
    assert sum(len(contract.document.text) for contract in contracts) == 2_712_806
    assert sum(bool(question.gold) for question in questions) == 762
    assert sum(len(question.gold) for question in questions) == 1594
    for place, title, answered, spans in (
        (0, "ACCURAYINC_09_01_2010-EX-10.31-DISTRIBUTOR AGREEMENT", 13, 30),
        (30, "KENTUCKYUTILITIESCO_03_25_2003-EX-10.65-TRANSPORTATION AGREEMENT", 9, 15),
        (59, "WPPPLC_04_30_2020-EX-4.28-SERVICE AGREEMENT", 13, 26),
    ):
        contract = contracts[place]
        assert contract.document.id == title
        assert contract.questions[0].category == "Document Name"
        assert sum(bool(question.gold) for question in contract.questions) == answered
        assert sum(len(question.gold) for question in contract.questions) == spans


def test_contractnli_counts_and_three_records(external_data: Path) -> None:
    read = load_contractnli(external_data / "contract_review" / "contractnli")
    judged = [judgement for agreement in read.agreements for judgement in agreement.judgements]
    choices = [judgement.choice for judgement in judged]
    assert (len(read.agreements), len(read.hypotheses), len(judged)) == (61, 17, 1037)
    assert sum(len(agreement.spans) for agreement in read.agreements) == 5102
    counts = [choices.count(choice) for choice in ("Entailment", "NotMentioned", "Contradiction")]
    assert counts == [519, 423, 95]
    assert list(read.hypotheses)[:3] == ["nda-1", "nda-2", "nda-3"]
    first = next(each for each in read.agreements[0].judgements if each.hypothesis == "nda-1")
    assert (first.choice, first.evidence) == ("Entailment", (18,))
    for place, number, spans, evidence in ((0, 3, 97, 24), (30, 72, 100, 18), (60, 610, 100, 28)):
        agreement = read.agreements[place]
        assert (agreement.number, len(agreement.spans)) == (number, spans)
        assert sum(len(judgement.evidence) for judgement in agreement.judgements) == evidence


def test_a_folder_of_ours_and_the_original_file_say_the_same(tmp_path: Path) -> None:
    mine = load_cuad(ours(tmp_path / "ours"))
    answer = {"text": CLAUSE, "answer_start": TEXT.index(CLAUSE)}
    asked = [{"id": "A__Governing Law", "question": "Highlight …", "answers": [answer], "is_impossible": False}]
    asked.append({"id": "A__Parties", "question": "Highlight …", "answers": [], "is_impossible": True})
    published = {"version": "aok_v1.0", "data": [{"title": "A", "paragraphs": [{"context": TEXT, "qas": asked}]}]}
    folder = tmp_path / "CUAD_v1"
    folder.mkdir()
    (folder / "CUADv1.json").write_text(json.dumps(published), encoding="utf-8")
    assert load_cuad(folder) == load_cuad(folder / "CUADv1.json") == load_cuad(tmp_path / "CUAD_v1") == mine
    [contract] = mine
    start, end = contract.questions[0].gold[0]
    assert contract.document.text[start:end] == CLAUSE
    assert "\r\n" in contract.document.text  # offsets count the file's own characters
    assert contract.questions[1].gold == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start": 0}, "the answer of A__Governing Law is not at 0"),
        ({"text_file": "texts/b.txt"}, "b.txt cannot be read"),
    ],
)
def test_a_broken_cuad_folder_is_named(tmp_path: Path, changes: Changes, words: str) -> None:
    with pytest.raises(CorpusError, match=words):
        load_cuad(ours(tmp_path, **changes))


def test_titles_and_ids_occur_once(tmp_path: Path) -> None:
    folder = ours(tmp_path)
    read = json.loads((folder / "questions.json").read_text())
    read["data"] *= 2
    (folder / "questions.json").write_text(json.dumps(read))
    with pytest.raises(CorpusError, match="the title A occurs twice"):
        load_cuad(folder)
    read["data"] = read["data"][:1]
    read["data"][0]["qas"] *= 2
    (folder / "questions.json").write_text(json.dumps(read))
    with pytest.raises(CorpusError, match="the question id A__Governing Law occurs twice"):
        load_cuad(folder)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not valid JSON at line 1"),
        ('{"data": []}', "names no contract"),
        ('{"data": [{}]}', "title"),
        ("[]", "has another form"),
    ],
)
def test_a_file_that_is_no_cuad_is_named(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "questions.json").write_text(content)
    with pytest.raises(CorpusError, match=words):
        load_cuad(tmp_path)


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"holds neither questions\.json nor CUADv1\.json"):
        load_cuad(tmp_path)
    with pytest.raises(CorpusError, match="holds no ContractNLI file"):
        load_contractnli(tmp_path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"spans": [[0, 5], [6, 39]]}, "a span of document 7 is not inside its text"),
        ({"annotation_sets": [{"annotations": {"nda-1": {"choice": "Entailment", "spans": [2]}}}]}, "names evidence"),
        ({"annotation_sets": [{"annotations": {"nda-9": {"choice": "Entailment", "spans": []}}}]}, "judges nda-9"),
        ({"annotation_sets": [{"annotations": {"nda-1": {"choice": "Perhaps", "spans": []}}}]}, "choice"),
    ],
)
def test_a_broken_contractnli_file_is_named(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    with pytest.raises(CorpusError, match=words):
        load_contractnli(nli(tmp_path, **changes))


def test_contractnli_keeps_what_is_not_mentioned(tmp_path: Path) -> None:
    read = load_contractnli(nli(tmp_path))
    assert read.agreements[0].judgements[0].evidence == (1,)
    assert read.hypotheses == {"nda-1": "A copy may be kept."}


HYPOTHESES = ("nda-1", "nda-7")
FILE = """title: Agreement
clauses: ["1. Nothing goes to anybody else.", "2. Tea is served."]
labels:
  nda-1: {choice: N}
  nda-7: {choice: C, clauses: [1]}
"""


def test_each_clause_is_a_span_and_labels_name_their_clauses(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FILE, encoding="utf-8")
    (agreement,) = read_written(tmp_path, HYPOTHESES)
    text = agreement.document.text
    assert [text[start:end] for start, end in agreement.spans] == [
        "1. Nothing goes to anybody else.",
        "2. Tea is served.",
    ]
    assert [(each.hypothesis, each.choice, each.evidence) for each in agreement.judgements] == [
        ("nda-1", "NotMentioned", ()),
        ("nda-7", "Contradiction", (0,)),
    ]
    assert read_written(tmp_path, ("of another list",)) == []


@pytest.mark.parametrize("broken", [FILE.replace("[1]", "[3]"), FILE.replace("clauses: [1]", ""), "title: 1", "- 1"])
def test_a_file_of_another_form_is_one_sentence(tmp_path: Path, broken: str) -> None:
    (tmp_path / "a.yaml").write_text(broken, encoding="utf-8")
    with pytest.raises(CorpusError, match=r"its form is described in training/contract_review/README\.md"):
        read_written(tmp_path, HYPOTHESES)


def test_those_of_the_repository_are_whole_and_contradict_much(project: Path) -> None:
    read = read_written(project / WRITTEN, HYPOTHESES)
    choices = [said.choice for each in read for said in each.judgements]
    assert len(read) == 48 and len(choices) == 48 * 17
    assert choices.count("Contradiction") >= 4 * len(read)
    with pytest.raises(CorpusError, match="holds no agreements"):
        read_written(project / "docs", HYPOTHESES)


def test_contracts_of_one_filer_share_a_fold() -> None:
    folds = fold_of(["ACME INC_2019_lease", "AcmeInc_2020_supply", "Brook Ltd. - Hosting", "Cove", "Dell_1", "Elm_1"])
    assert folds["ACME INC_2019_lease"] == folds["AcmeInc_2020_supply"]
    assert sorted(set(folds.values())) == [0, 1, 2, 3, 4]


def test_the_order_and_repetition_of_titles_change_nothing() -> None:
    titles = [f"Filer {letter}_contract" for letter in "qwertyuiop"]
    assert fold_of(titles) == fold_of(reversed([*titles, titles[0]]))


def test_a_title_without_letters_is_its_own_filer() -> None:
    assert len(set(fold_of(["_1", "_2"]).values())) == 2
