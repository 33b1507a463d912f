"""Answers held against the ground truth: what is right, wrong, silent or refused, and what correction changes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from ovrag_core.base import LatencyRecord, QueryRecord, RunError, Settings
from ovrag_core.base.types import Answer, Attempt, Verdict
from ovrag_core.loans.contracts.contract_truth import ContractTruth
from ovrag_core.loans.loan_facts import Money, Party
from ovrag_core.loans.model_results import (
    accused_table,
    answer_frame,
    answer_table,
    change_table,
    form_table,
    held_against,
    judged,
    recorded_runs,
    seconds_table,
    systems_table,
)
from ovrag_core.ontology import Ontology, load_ontology
from ovrag_core.report.run import Run

TRUTH = ContractTruth(
    label="CLEAN",
    loan_types=("ConsumerLoan",),
    security="unsecured",
    credit_form="closed-end",
    borrower=Party(name="Ann Lee", kind="natural_person"),
    lender=Party(name="Harbor Bank, N.A.", kind="financial_institution"),
    principal=Money(amount=25000.0, currency="USD"),
    interest_rate="5.75%",
)
TOPICS = {"Q2": "parties", "Q3": "security", "Q5": "summary"}


@pytest.fixture(scope="module")
def ontology(project: Path) -> Ontology:
    return load_ontology(project / "ontologies")


@pytest.mark.parametrize(
    ("answer", "topic", "held"),
    [
        ("The loan is unsecured.", "security", "right"),
        ("The loan is secured by a 2021 motor car.", "security", "wrong"),
        ("The loan is unsecured. The loan is secured by a 2021 motor car.", "security", "wrong"),
        ("Payments are due each month.", "security", "silent"),
        ("The borrower is Ms. Ann Lee and the lender is Harbor Bank, N.A.", "parties", "right"),
        ("The context does not hold an answer.", "security", "silent"),
        ("The borrower is Ann Lee and the lender is Harbor Bank, N.A.", "parties", "right"),
        ("The borrower is Bob Roy and the lender is Harbor Bank, N.A.", "parties", "wrong"),
        ("The loan is unsecured.", "parties", "silent"),
        ("The principal amount is USD 25,000.00 at an interest rate of 5.75% per year.", "summary", "right"),
        ("The principal amount is USD 2,500.00 at an interest rate of 5.75% per year.", "summary", "wrong"),
        ("The loan is unsecured.", "a topic of one's own", "silent"),
    ],
)
def test_an_answer_is_held_against_what_its_question_asks_for(
    ontology: Ontology, answer: str, topic: str, held: str
) -> None:
    assert judged(answer, topic, TRUTH, ontology) == held


def test_what_the_contract_contradicts_itself_in_has_no_right_answer(ontology: Ontology) -> None:
    torn = TRUTH.model_copy(update={"security": "contradictory"})
    assert held_against("The loan is unsecured.", "security", torn, ontology) == {}
    assert held_against("The loan is unsecured.", "security", TRUTH, ontology) == {"security": True}


def record(question: str, *answers: str, outcome: str = "accepted", arm: str = "ovrag") -> QueryRecord:
    attempts = tuple(Attempt(number=number, answer=Answer(text=text)) for number, text in enumerate(answers, 1))
    return QueryRecord(
        arm=arm,
        document_id="A",
        question_id=question,
        question="?",
        attempts=attempts,
        outcome=outcome,
        model="m",
        label="CLEAN",
    )


@pytest.fixture
def frame(ontology: Ontology) -> pd.DataFrame:
    records = [
        record("Q3", "The loan is secured by a 2021 motor car.", "The loan is unsecured.", outcome="corrected"),
        record("Q2", "The borrower is Bob Roy.", "The borrower is Bob Roy.", outcome="hard_rejected"),
        record("Q5", "The loan is unsecured."),
        record("Q5", "The loan is unsecured.", arm="plain"),
        record("Q9", "A question that is not ours."),
    ]
    return answer_frame(records, {"A": TRUTH}, TOPICS, ontology)


def test_before_and_after_correction(frame: pd.DataFrame) -> None:
    assert [tuple(row) for row in frame[["arm", "question_id", "before", "after"]].to_numpy()] == [
        ("ovrag", "Q3", "wrong", "right"),
        ("ovrag", "Q2", "wrong", "refused"),
        ("ovrag", "Q5", "right", "right"),
        ("plain", "Q5", "right", "right"),
    ]


def test_tables_say_what_correction_changes(frame: pd.DataFrame, tmp_path: Path) -> None:
    records = [record("Q3", "x"), record("Q3", "x", arm="plain")]
    run = Run("open", records, Settings(), tables=tmp_path, figures=tmp_path)
    assert len(answer_table(run, frame)) == 4
    table = pd.read_csv(tmp_path / "answers.csv").set_index(["arm", "when"])
    assert table.loc[("ovrag", "before"), ["right", "wrong", "refused"]].tolist() == [1, 2, 0]
    assert table.loc[("ovrag", "after"), ["right", "wrong", "refused"]].tolist() == [2, 0, 1]
    assert change_table(run, frame).empty, "no arm of this run judges"


def test_what_correction_gains_and_loses_is_tested_in_pairs(frame: pd.DataFrame, tmp_path: Path) -> None:
    attempt = Attempt(number=1, answer=Answer(text="x"), verdict=Verdict(status="consistent"))
    judging = record("Q3", "x").model_copy(update={"attempts": (attempt,)})
    change_table(Run("open", [judging], Settings(), tables=tmp_path, figures=tmp_path), frame)
    changes = pd.read_csv(tmp_path / "answer_changes.csv").set_index("answers")
    assert changes.loc["right", ["gained", "lost"]].tolist() == [1, 0]
    assert changes.loc["wrong", ["gained", "lost", "p"]].tolist() == [0, 2, 0.5]
    assert changes.loc["wrong", "difference"] == pytest.approx(-2 / 3, abs=1e-5)


def test_an_answer_that_is_refused_accuses_no_contract(tmp_path: Path) -> None:
    refused = record("Q3", "x", outcome="hard_rejected").model_copy(update={"cause": "answer"})
    torn = {"document_id": "B", "label": "CLASH", "outcome": "source_finding", "cause": "source"}
    run = Run("open", [refused, refused.model_copy(update=torn)], Settings(), tables=tmp_path, figures=tmp_path)
    accused_table(run)
    table = pd.read_csv(tmp_path / "accused.csv").set_index("label")
    assert table["accused"].to_dict() == {"CLEAN": 0, "CLASH": 1}


def test_forms_of_extraction_judge_the_same_answers(ontology: Ontology, tmp_path: Path) -> None:
    wrong = record("Q3", "The loan is secured by a 2021 motor car.", outcome="hard_rejected")
    right = record("Q5", "The loan is unsecured.")
    torn = record("Q5", "The loan is unsecured.", outcome="source_finding").model_copy(update={"label": "CLASH"})
    other = record("Q9", "A question that is not ours.", outcome="hard_rejected")
    read = {
        "typed": [wrong, right, torn, other],
        "free": [
            wrong,
            right.model_copy(update={"outcome": "hard_rejected", "discarded": {"incomplete": 3}}),
            right.model_copy(update={"outcome": "error", "attempts": ()}),
        ],
    }
    frames = {name: answer_frame(records, {"A": TRUTH}, TOPICS, ontology) for name, records in read.items()}
    form_table(Run("open", read["typed"], Settings(), tables=tmp_path, figures=tmp_path), read, frames)
    table = pd.read_csv(tmp_path / "forms.csv").set_index("form")
    columns = ["answers", "unread", "wrong", "wrong_refused", "others_refused", "not_used"]
    assert table.loc["typed", columns].tolist() == [3, 0, 1, 1, 1, 0]
    assert table.loc["free", columns].tolist() == [2, 1, 1, 1, 1, 3]
    assert table.loc["typed", "others_refused_share"] == 0.5


def test_seconds_are_those_of_the_recording(tmp_path: Path) -> None:
    one = LatencyRecord(arm="plain", document_id="A", question_id="Q1", total=0, attempts=1)
    run = Run("open", [record("Q5", "The loan is unsecured.")], Settings(), tables=tmp_path, figures=tmp_path)
    seconds_table(run, [one.model_copy(update={"arm": run.arms[0], "model": spent}) for spent in (1.0, 2.0, 9.0)])
    table = pd.read_csv(tmp_path / "seconds.csv")
    assert table.iloc[0, 1:].tolist() == pytest.approx([3, 2.0, 8.3, 0.2])
    assert "recorded" in (tmp_path / "seconds.tex").read_text()


def test_systems_stand_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "recorded.yaml"
    path.write_text("runs: [{system: elsewhere, arm: ovrag, tp: 3, fp: 1, tn: 5, fn: 1}]")
    records = [record("Q3", "x", outcome="hard_rejected").model_copy(update={"label": "CLASH"}), record("Q2", "x")]
    run = Run("open", records, Settings(), tables=tmp_path, figures=tmp_path)
    systems_table(run, {"ours": records, "silent": [record("Q2", "x")]})
    rows = pd.read_csv(tmp_path / "systems.csv").set_index("system")
    assert list(rows.index) == ["elsewhere", "ours"]
    assert rows.loc["elsewhere", ["queries", "precision", "recall", "f1"]].tolist() == [10, 0.75, 0.75, 0.75]
    assert rows.loc["ours", "recall"] == 1.0
    path.write_text("runs: [{system: elsewhere}]")
    with pytest.raises(RunError, match="does not hold recorded runs: system, arm, tp"):
        recorded_runs(path)
