"""The agreements written for the tests: each gold record is well formed and true to its document."""

import json
import re
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from agreement_folders import FOLDERS

HALVES = ("development", "check")
SPLITS = (*HALVES, "hard_negatives", "hard_negatives2", "development2", "unread", "unread2", "unread3", "unread4")
CLASH_TYPES = {"secured_unsecured", "openend_closedend", "borrower_type", "lender_type"}
CLASH_DIFFICULTIES = {"explicit", "implicit", "long_distance", "single_sentence"}
CLEAN_DIFFICULTIES = {"hard_negative", "plain"}
PARTY_KINDS = {"natural_person", "legal_entity", "financial_institution", "government"}
LOAN_TYPES = {
    "ConsumerLoan",
    "CommercialLoan",
    "Mortgage",
    "StudentLoan",
    "SubsidizedStudentLoan",
    "CardAccount",
    "GreenLoan",
}
FIELDS = {
    "label",
    "clash_type",
    "difficulty",
    "form",
    "loan_types",
    "security",
    "credit_form",
    "borrower",
    "lender",
    "principal",
    "interest_rate",
    "maturity",
    "collateral",
    "evidence",
    "notes",
}
GOLD = {split: json.loads((FOLDERS[split] / "gold.json").read_text("utf-8")) for split in SPLITS}
RECORDS = [(split, key) for split in SPLITS for key in GOLD[split]]

each_record = pytest.mark.parametrize(("split", "key"), RECORDS)


def text_of(split: str, key: str) -> str:
    return (FOLDERS[split] / f"{key}.txt").read_bytes().decode("utf-8")


def words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def broken_rules(record: dict) -> set[str]:
    """The rules of the table in DESIGN.md that the record's facts break."""
    kinds = set(record["loan_types"])
    borrower, lender = record["borrower"]["kind"], record["lender"]["kind"]
    security, form = record["security"], record["credit_form"]
    broken = set()
    if security == "contradictory" or ("Mortgage" in kinds and security == "unsecured"):
        broken.add("secured_unsecured")
    if (
        form == "contradictory"
        or (kinds & {"StudentLoan", "SubsidizedStudentLoan"} and form == "open-end")
        or ("CardAccount" in kinds and form == "closed-end")
    ):
        broken.add("openend_closedend")
    if kinds & {"ConsumerLoan", "StudentLoan", "SubsidizedStudentLoan"} and borrower != "natural_person":
        broken.add("borrower_type")
    if "CommercialLoan" in kinds and borrower == "natural_person":
        broken.add("borrower_type")
    if kinds & {"CommercialLoan", "Mortgage", "CardAccount"} and lender == "natural_person":
        broken.add("lender_type")
    return broken


def test_there_are_36_documents_with_distinct_ids() -> None:
    ids = [key for split, key in RECORDS if split in HALVES]
    assert sorted(ids) == [f"A{number:02d}" for number in range(1, 37)]
    for split in SPLITS:
        assert {path.stem for path in FOLDERS[split].glob("*.txt")} == set(GOLD[split])


def test_both_splits_have_the_same_mix() -> None:
    for split in HALVES:
        assert Counter(record["label"] for record in GOLD[split].values()) == {"CLASH": 9, "CLEAN": 9}
    for field, tolerance in (("clash_type", 1), ("difficulty", 1), ("security", 3), ("credit_form", 3)):
        counts = [Counter(record[field] for record in GOLD[split].values()) for split in HALVES]
        for value in set(counts[0]) | set(counts[1]):
            assert abs(counts[0][value] - counts[1][value]) <= tolerance, (field, value)


def test_clash_types_are_spread_as_planned() -> None:
    found = Counter(record["clash_type"] for split in HALVES for record in GOLD[split].values() if record["clash_type"])
    assert found == {"secured_unsecured": 6, "openend_closedend": 6, "borrower_type": 3, "lender_type": 3}


@each_record
def test_a_record_has_valid_fields(split: str, key: str) -> None:
    record = GOLD[split][key]
    assert set(record) - {"distractors"} == FIELDS
    clash = record["label"] == "CLASH"
    assert clash or record["label"] == "CLEAN"
    assert record["clash_type"] in (CLASH_TYPES if clash else {None})
    assert record["difficulty"] in (CLASH_DIFFICULTIES if clash else CLEAN_DIFFICULTIES)
    assert set(record["loan_types"]) <= LOAN_TYPES
    assert record["security"] in {"secured", "unsecured", "contradictory"}
    assert record["credit_form"] in {"open-end", "closed-end", "contradictory"}
    for role in ("borrower", "lender"):
        assert set(record[role]) == {"name", "kind"}
        assert record[role]["kind"] in PARTY_KINDS
    assert record["principal"]["amount"] > 0
    assert re.fullmatch(r"[A-Z]{3}", record["principal"]["currency"])
    assert record["interest_rate"] is None or re.fullmatch(r"\d+(\.\d+)?%", record["interest_rate"])
    assert record["maturity"] is None or date.fromisoformat(record["maturity"])
    assert record["form"]
    assert record["notes"]
    if record["security"] != "contradictory":
        assert bool(record["collateral"]) == (record["security"] == "secured")


@each_record
def test_a_clash_breaks_exactly_its_rule_and_a_clean_none(split: str, key: str) -> None:
    record = GOLD[split][key]
    assert broken_rules(record) == ({record["clash_type"]} if record["label"] == "CLASH" else set())


@each_record
def test_every_quoted_passage_stands_once_in_the_document(split: str, key: str) -> None:
    record, text = GOLD[split][key], text_of(split, key)
    assert len(record["evidence"]) == (2 if record["label"] == "CLASH" else 0)
    for passage in record["evidence"] + record.get("distractors", []):
        assert text.count(passage) == 1, passage


@each_record
def test_names_and_figures_stand_in_the_document(split: str, key: str) -> None:
    record, text = GOLD[split][key], text_of(split, key)
    for role in ("borrower", "lender"):
        assert words(record[role]["name"]) in words(text)
    digits = re.sub(r"(?<=\d)[,.' ](?=\d)", "", text)
    assert str(record["principal"]["amount"]) in digits or "Principal in words" in record["notes"]
    if record["interest_rate"] and "Rate in words" not in record["notes"]:
        number = record["interest_rate"].rstrip("%")
        assert re.search(rf"(?<![\d.]){re.escape(number)}0*(?!\d)", text.replace(",", "."))
    if record["maturity"] and "Maturity reckoned" not in record["notes"]:
        assert record["maturity"][:4] in text


@each_record
def test_a_document_is_plain_text_of_usual_length(split: str, key: str) -> None:
    text = text_of(split, key)
    assert (
        1500 <= len(text) <= 9000
        or (split in ("development2", "unread") and 18_000 <= len(text) <= 40_000)
        or (split == "unread4" and len(text) <= 15_000)
    )
    assert "\r" not in text
    assert "\t" not in text
    assert text.endswith("\n")


def test_figures_say_which_sets_taught_a_judge(project: Path) -> None:
    """A set that weights were learned from is marked so in every table of figures, and no other set is."""
    training = (project / "tools/train_judge.py").read_text(encoding="utf-8")
    learned = set(re.findall(r'"(\w+)"', re.search(r"^FOLDERS = \((.*)\)", training, re.M)[1]))
    benchmark = (project / "benchmarks/reading.py").read_text(encoding="utf-8")
    assert set(re.findall(r'"(\w+)": TAUGHT', benchmark)) == learned
    assert learned.isdisjoint({"check", "unread", "unread2", "unread3", "unread4"})
