"""Runs recorded elsewhere: every row is accounted for, nothing is invented, and bad files are one sentence."""

import json
from pathlib import Path

import pandas as pd
import pytest
from recorded_rows import a_row, a_try, as_csv, as_json, plain_row

from ovrag_core.base.errors import RunError
from ovrag_core.base.settings import Settings
from ovrag_core.base.types import Recorded
from ovrag_core.evaluation import contamination
from ovrag_core.evaluation.score import score_run, score_text
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.loans.imports import import_run
from ovrag_core.runs.files import read_latency, read_run, run_files


def test_attempts_triples_seconds_and_scores_are_kept(tmp_path: Path) -> None:
    second = a_try(1, valid=False, explanation="secured and unsecured")
    row = a_row(
        validation_passed=False, hard_reject=True, total_attempts=2, correction_attempts=[a_try(0, False), second]
    )
    found = import_run(as_json(tmp_path / "source.jsonl", row), "thesis", folder=tmp_path, model="gpt-4o")
    (record,) = read_run(found.files.records)
    assert (record.arm, record.document_id, record.question, record.model) == (
        "ovrag",
        "007",
        "Is it secured?",
        "gpt-4o",
    )
    assert (record.label, record.clash_type, record.outcome) == ("CLASH", "secured_unsecured", "hard_rejected")
    assert [(each.number, each.answer.text) for each in record.attempts] == [(1, "try 0"), (2, "try 1")]
    assert record.attempts[1].verdict is not None
    assert (record.attempts[1].verdict.status, record.attempts[1].verdict.reason) == (
        "inconsistent",
        "secured and unsecured",
    )
    assert record.attempts[0].triples[0].object == "SecuredLoan"
    assert record.recorded is not None
    assert (record.recorded.rouge_l, record.recorded.bertscore_f1) == (0.25, None)
    (seconds,) = read_latency(found.files.latency)
    assert (seconds.rag, seconds.total, seconds.attempts) == (1.5, 4.25, 2)
    assert seconds.retrieval is None
    assert found.left_behind == ("timestamp",)


def test_what_a_table_does_not_say_stays_empty(tmp_path: Path) -> None:
    rows = [
        a_row(total_attempts=4, validation_passed=False, hard_reject=True),
        plain_row(latency_total=""),
    ]
    found = import_run(as_csv(tmp_path / "table.csv", *rows, drop=("answer",)), "table", folder=tmp_path)
    rejected, plain = read_run(found.files.records)
    assert (rejected.outcome, rejected.attempts, rejected.answer, rejected.attempt_count) == (
        "hard_rejected",
        (),
        None,
        4,
    )
    assert (plain.outcome, plain.attempt_count, plain.cost_usd) == ("accepted", 1, None)
    assert [each.arm for each in read_latency(found.files.latency)] == ["ovrag"]


@pytest.mark.parametrize(
    ("row", "outcome", "reason"),
    [
        (a_row(error="APIConnectionError: Connection error.", answer=None), "error", "APIConnectionError"),
        (a_row(validation_passed=None, correction_attempts=[a_try(0, None)]), "unchecked", "no verdict"),
        (a_row(triples=[], correction_attempts=[a_try(0, triples=[])]), "unchecked", "no triples"),
        (a_row(triples=None, correction_attempts=None), "unchecked", "no triples"),
        (a_row(total_attempts=2, correction_attempts=[a_try(0, False), a_try(1)]), "corrected", None),
        (a_row(validation_passed=False, hard_reject=False), "hard_rejected", None),
        (plain_row(), "accepted", None),
    ],
)
def test_a_row_that_was_not_checked_is_never_a_pass(
    tmp_path: Path, row: dict[str, object], outcome: str, reason: str | None
) -> None:
    found = import_run(as_json(tmp_path / "source.jsonl", row), "run", folder=tmp_path)
    (record,) = found.records
    assert record.outcome == outcome
    assert (reason or "") in (record.error or "")
    assert bool(record.error) is bool(reason)


def test_reference_answers_come_from_the_ground_truth(tmp_path: Path) -> None:
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps({"007": {"label": "CLASH", "reference_answers": {"Q1": "It is secured."}}}))
    found = import_run(as_json(tmp_path / "source.jsonl", a_row(), a_row("Q2")), "run", folder=tmp_path, truth=truth)
    assert [record.reference_answer for record in found.records] == ["It is secured.", None]


def test_answers_about_other_contracts_are_found_where_the_contracts_are_at_hand(tmp_path: Path) -> None:
    contracts = tmp_path / "contracts"
    contracts.mkdir()
    loan = "LOAN AGREEMENT\n\nBorrower: {}\nLender: {}\n\nThe Lender lends USD {} to the Borrower until 3 March 2031.\n"
    (contracts / "Contract_007.txt").write_text(loan.format("Miriam Oduya", "Harrow Vale Savings Bank", "12,400.00"))
    (contracts / "Contract_008.txt").write_text(loan.format("Tomasz Brill", "Northgate Mutual Bank", "88,150.00"))
    rows = [
        a_row("Q1", answer="Miriam Oduya borrows USD 12,400.00 from Harrow Vale Savings Bank."),
        a_row("Q2", answer="Tomasz Brill borrows USD 88,150.00 from Northgate Mutual Bank."),
        a_row("Q3", answer="The loan is secured."),
        a_row("Q4", error="timeout", answer=None),
    ]
    for row in rows:
        row["correction_attempts"] = None
    source = as_json(tmp_path / "source.jsonl", *rows)
    found = import_run(source, "run", folder=tmp_path, contracts=contracts)
    about = [record.recorded.about if record.recorded else None for record in found.records]
    assert about == ["asked", "other", "none", None]
    assert found.records[1].recorded is not None
    assert found.records[1].recorded.about_documents == ("Contract_008",)
    result = score_run(found.records, found.seconds, Settings(), cache=None)
    assert result["arms"]["ovrag"]["wrong_contract_rate"] == 0.5
    elsewhere = as_json(tmp_path / "others.jsonl", a_row(contract_id="999"))
    with pytest.raises(RunError, match="holds no document named like the contract 999"):
        import_run(elsewhere, "elsewhere", folder=tmp_path, contracts=contracts)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty; a run has one row a query"),
        ("contract_id,condition,question_id\n", "has no rows"),
        ("contract_id,condition\n1,ovrag\n", "has no question_id and no validation_passed; a run recorded elsewhere"),
        (
            "contract_id,condition,question_id,validation_passed\n1,o,Q1,True,5\n",
            "line 2 has more or fewer fields than the header",
        ),
        ('contract_id,condition,question_id,validation_passed\n"1,o,Q1,True\n', "line 2 is not CSV"),
        ("contract_id,condition,question_id,validation_passed\n1,o,Q1,maybe\n", "line 2: validation_passed: input"),
        ("contract_id,condition,question_id,validation_passed\n,o,Q1,True\n", "line 2: contract_id: string should"),
        (json.dumps(a_row())[:-20], "line 1 is not one whole JSON object"),
        ("[1, 2]\n", "line 1 is not a JSON object"),
        ("[" * 100_000, "line 1 is not one whole JSON object"),
        (json.dumps(a_row(triples=[7])), r"line 1: triples\.0: "),
        (json.dumps(a_row(latency_total=-1)), "line 1: latency_total: input should be greater than or equal to 0"),
        (json.dumps(a_row(rouge_l="much")), "line 1: rouge_l: input should be a valid number.*'much'; mend that row"),
        (json.dumps(a_row(hard_reject=True)), "says both that validation passed and that the answer was rejected"),
        (json.dumps(a_row(expect_clash=False)), "ground_truth CLASH and expect_clash False do not agree"),
    ],
)
def test_a_broken_file_is_one_sentence_and_writes_nothing(tmp_path: Path, text: str, sentence: str) -> None:
    source = tmp_path / "bad.txt"
    source.write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=sentence) as raised:
        import_run(source, "bad", folder=tmp_path / "runs")
    assert "\n" not in str(raised.value)
    assert not list((tmp_path / "runs").glob("*"))


def test_bytes_that_are_no_text_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RunError, match="is not UTF-8; save it"):
        import_run(tmp_path / "bad.csv", "bad", folder=tmp_path)
    with pytest.raises(RunError, match="does not exist; name the file"):
        import_run(tmp_path / "none.csv", "bad", folder=tmp_path)


def test_two_rows_for_one_query_are_refused(tmp_path: Path) -> None:
    failed = a_row(error="RateLimitError", answer=None)
    source = as_json(tmp_path / "source.jsonl", failed, a_row("Q2"), a_row())
    with pytest.raises(RunError, match=r"line 3 repeats condition ovrag, contract 007, question Q1"):
        import_run(source, "run", folder=tmp_path / "runs")


def test_an_import_does_not_replace_another_run(tmp_path: Path) -> None:
    one = as_json(tmp_path / "one.jsonl", a_row())
    import_run(one, "run", folder=tmp_path / "runs")
    import_run(one, "run", folder=tmp_path / "runs")
    two = as_json(tmp_path / "two.jsonl", a_row("Q2"))
    with pytest.raises(RunError, match="exists and is not of this import; choose another --name"):
        import_run(two, "run", folder=tmp_path / "runs")
    with pytest.raises(RunError, match="cannot name a run"):
        import_run(one, "../run", folder=tmp_path / "runs")


def test_numbers_as_pandas_writes_them_and_half_a_surrogate_pair(tmp_path: Path) -> None:
    row = a_row(accepted_at_attempt=0.0, total_attempts="1.0", rouge_l="nan", answer="half \ud83d", error="")
    row["correction_attempts"] = None
    found = import_run(as_json(tmp_path / "source.jsonl", row), "run", folder=tmp_path)
    (record,) = read_run(found.files.records)
    assert record.answer is not None
    assert (record.attempt_count, record.answer.text, record.recorded) == (1, "half ?", Recorded())


def test_scores_come_from_the_file_and_are_said_to(tmp_path: Path) -> None:
    rows = [a_row("Q1", rouge_l=0.2), a_row("Q2", rouge_l=0.4), a_row("Q3", rouge_l=None, error="timeout")]
    found = import_run(as_json(tmp_path / "source.jsonl", *rows), "run", folder=tmp_path)
    result = score_run(found.records, found.seconds, Settings(), run="run", cache=None)
    arm = result["arms"]["ovrag"]
    assert (arm["quality_source"], arm["rouge_l"], arm["bertscore"]["f1"]) == ("recorded", pytest.approx(0.3), None)
    assert arm["confusion"]["error"] == 1
    assert arm["latency"]["rag"]["n"] == 3
    assert "as recorded with the run" in score_text(result)


def test_the_published_table_gives_its_own_figures(external_data: Path, tmp_path: Path) -> None:
    source = external_data / "loan_thesis" / "per_query.csv"
    found = import_run(source, "table", folder=tmp_path)
    result = score_run(found.records, found.seconds, Settings(), run="table", cache=None)
    table = pd.read_csv(source, dtype={"contract_id": str})
    assert found.rows == len(found.records) == len(table) == 500
    for name, arm in result["arms"].items():
        rows = table[table["condition"] == name]
        assert arm["queries"] + arm["confusion"]["error"] + arm["confusion"]["unchecked"] == len(rows)
        assert arm["confusion"]["error"] == rows["error"].notna().sum()
        for metric in ("rouge_l", "bertscore_precision", "bertscore_recall", "bertscore_f1"):
            ours = arm["rouge_l"] if metric == "rouge_l" else arm["bertscore"][metric.removeprefix("bertscore_")]
            assert round(ours, 4) == round(rows[metric].mean(), 4)
        for part in ("rag", "extraction", "validation", "total"):
            if rows[f"latency_{part}"].any():
                assert round(arm["latency"][part]["mean"], 4) == round(rows[f"latency_{part}"].mean(), 4)
    counts = result["arms"]["ovrag"]["confusion"]
    assert [counts[cell] for cell in ("tp", "fp", "tn", "fn")] == [59, 2, 148, 41]


def test_every_recorded_query_is_accounted_for(external_data: Path, tmp_path: Path) -> None:
    source = external_data / "loan_thesis" / "recorded_queries.jsonl"
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    contracts = external_data / "loan_thesis" / "contracts"
    found = import_run(source, "queries", folder=tmp_path, contracts=contracts)
    assert found.rows == len(found.records) == len(rows)
    records = {(r.arm, r.document_id, r.question_id): r for r in read_run(run_files("queries", tmp_path).records)}
    for row in rows:
        record = records[row["condition"], row["contract_id"], row["question_id"]]
        tries = row.get("correction_attempts") or []
        assert [len(each.triples) for each in record.attempts] == [len(t["triples"]) for t in tries] or not tries
        assert (record.answer.text if record.answer else None) == row["answer"]
        assert (record.outcome == "error") is (row["error"] is not None)
    shares = contamination.shares(contamination.source_frame(found.records), Resampling(samples=100))
    assert shares.set_index("arm").loc["ovrag", "other"] > 0.7  # the published run's own effect
