"""A run's metrics: the matrix counts what it should, and nothing crashes where there is nothing to count."""

import csv
import json
from collections import Counter

import pytest
from run_factory import latencies, record, run

from ovrag_core.base.settings import Settings
from ovrag_core.evaluation import confusion, contamination, latency
from ovrag_core.evaluation.score import score_run, score_text
from ovrag_core.evaluation.statistics import Resampling

PLAN = Resampling(samples=200)


@pytest.fixture(scope="module")
def records():
    return run(12)


def test_flagged_is_hard_rejected_or_source_finding_and_nothing_else():
    outcomes = ["hard_rejected", "source_finding", "accepted", "corrected", "unchecked", "error"]
    clash = confusion.count(confusion.query_frame([record(outcome=o, label="CLASH") for o in outcomes]))
    clean = confusion.count(confusion.query_frame([record(outcome=o, label="CLEAN") for o in outcomes]))
    beside = {"unchecked": 1, "error": 1, "unlabelled": 0, "queries": 4}
    assert clash == {"tp": 2, "fn": 2, "fp": 0, "tn": 0, **beside}
    assert clean == {"tp": 0, "fn": 0, "fp": 2, "tn": 2, **beside}


def test_documents_without_a_label_are_counted_beside_the_matrix():
    frame = confusion.query_frame([record(label=None, outcome="hard_rejected"), record(label="UNCHECKED")])
    assert confusion.count(frame)["unlabelled"] == 2
    assert confusion.rates(frame, PLAN)["precision"].value is None


def test_every_query_is_counted_exactly_once(records):
    judged = len(records)
    records = [*records, record(question="Q6", outcome="error"), record(question="Q7", outcome="unchecked")]
    frame = confusion.query_frame(records)
    assert confusion.count(frame)["queries"] == judged
    for keys in (["arm"], ["arm", "clash_type"], ["arm", "question_id"], ["arm", "document_id"]):
        by = confusion.confusion_by(frame, keys, PLAN)
        assert by["queries"].sum() == judged
        assert by[["queries", "unchecked", "error"]].to_numpy().sum() == len(records)


def test_published_rates_follow_from_published_counts():
    cells = [("CLASH", "hard_rejected")] * 109 + [("CLEAN", "hard_rejected")] * 4
    cells += [("CLEAN", "accepted")] * 291 + [("CLASH", "accepted")] * 90
    records = [record(document=f"D{i}", label=label, outcome=outcome) for i, (label, outcome) in enumerate(cells)]
    rates = confusion.rates(confusion.query_frame(records), PLAN)
    assert [round(rates[name].value, 4) for name in ("precision", "recall", "f1")] == [0.9646, 0.5477, 0.6987]


def test_precision_is_not_given_where_only_clashes_are(records):
    by_type = confusion.confusion_by(confusion.query_frame(records), ["arm", "clash_type"], PLAN)
    assert by_type["precision"].isna().all()
    assert by_type.loc[by_type["clash_type"] != "clean", "recall"].notna().all()


def test_corrections_needed_and_succeeded():
    frame = confusion.query_frame(
        [
            record(outcome="accepted"),
            record(outcome="corrected", attempts=2),
            record(outcome="hard_rejected", attempts=4),
            record(outcome="source_finding"),
        ]
    )
    assert frame["needed"].tolist() == [0, 1, 1, 0]
    assert confusion.share_of(frame, "succeeded", "needed", PLAN).value == 0.5


def test_hard_reject_rate_leaves_out_what_did_not_complete():
    outcomes = ["hard_rejected", "accepted", "error", "unchecked"]
    frame = confusion.query_frame([record(document=f"D{i}", outcome=o) for i, o in enumerate(outcomes)])
    assert confusion.share_of(frame, "hard_rejected", "completed", PLAN).value == 0.5


def test_documents_are_flagged_once_one_of_their_queries_is():
    records = [record(question=q, outcome=o, label="CLASH") for q, o in (("Q1", "accepted"), ("Q2", "hard_rejected"))]
    row = confusion.document_rates(confusion.query_frame(records), 0.95).iloc[0]
    assert (row["clashes"], row["clashes_flagged"], row["clean"]) == (1, 1, 0)


def test_arms_are_compared_on_the_documents_they_share():
    better = [record("ovrag_evidence", f"D{i}", outcome="source_finding", label="CLASH") for i in range(8)]
    worse = [
        record("ovrag", f"D{i}", label="CLASH", outcome="hard_rejected" if i < 3 else "accepted") for i in range(9)
    ]
    frame = confusion.query_frame([*better, *worse])
    assert confusion.compare(frame, "ovrag_evidence", "ovrag", "recall", PLAN).value == pytest.approx(5 / 8)
    test = confusion.compare_documents(frame, "ovrag_evidence", "ovrag")
    assert (test.first_only, test.second_only, test.pairs) == (5, 0, 8)


def test_order_of_lines_in_a_run_does_not_matter(records):
    assert confusion.query_frame(records[::-1]).equals(confusion.query_frame(records))


def test_recorded_run_gives_the_counts_that_its_own_table_has(external_data):
    with (external_data / "loan_thesis" / "per_query.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["condition"] == "ovrag" and not row["error"]]
    judged = [row for row in rows if row["validation_passed"] in ("True", "False")]
    records = [
        record(
            document=row["contract_id"],
            question=row["question_id"],
            outcome="accepted" if row["validation_passed"] == "True" else "hard_rejected",
            label=row["ground_truth"],
            attempts=int(row["total_attempts"]),
        )
        for row in judged
    ]
    counts = confusion.count(confusion.query_frame(records))
    expected = Counter((row["expect_clash"], row["validation_passed"]) for row in judged)
    assert counts["tp"] == expected["True", "False"]
    assert counts["fn"] == expected["True", "True"]
    assert counts["fp"] == expected["False", "False"]
    assert counts["tn"] == expected["False", "True"]
    assert counts["tp"] > 20


# --- contamination


@pytest.mark.parametrize(
    ("sources", "expected"), [(("A",), "asked"), (("A", "B"), "mixed"), (("B", "C"), "other"), ((), "none")]
)
def test_what_an_answer_is_about(sources, expected):
    assert contamination.about(sources, "A") == expected


def test_answers_are_judged_by_what_they_quote_not_by_what_was_retrieved():
    frame = contamination.source_frame([record(document="A", sources=("A",), retrieved=("B", "A", "B"))])
    row = frame.iloc[0]
    assert (row["about"], row["retrieved_about"], row["main_source"]) == ("asked", "mixed", "A")


def test_retrieved_chunks_stand_in_for_a_model_that_quotes_nothing():
    frame = contamination.source_frame([record(document="A", sources=(), retrieved=("B", "B"), model="chat")])
    assert (frame.loc[0, "about"], frame.loc[0, "basis"]) == ("other", "retrieval")


def test_an_answer_that_found_nothing_is_about_nothing():
    records = [record(document="A"), record(document="B", sources=(), retrieved=("A",))]
    frame = contamination.source_frame(records)
    assert frame["about"].tolist() == ["asked", "none"]
    assert contamination.shares(frame, PLAN).loc[0, ["answers", "none", "asked"]].tolist() == [1, 1, 1.0]


def test_shares_of_an_arm_sum_to_one(records):
    table = contamination.shares(contamination.source_frame(records), PLAN)
    assert (table["asked"] + table["mixed"] + table["other"]).tolist() == pytest.approx([1, 1, 1])
    scoped = table[table["arm"] == "ovrag_evidence"].iloc[0]
    assert (scoped["asked"], scoped["asked_high"]) == (1.0, 1.0)
    assert scoped["asked_low"] < 1


def test_matrix_counts_asked_by_answered_over_all_documents(records):
    frame = contamination.source_frame(records)
    table = contamination.matrix(frame, "ovrag")
    assert table.shape == (12, 12)
    assert table.to_numpy().sum() == 60
    assert contamination.matrix(frame, "ovrag_evidence").to_numpy().trace() == 60


def test_false_positives_are_listed_with_where_their_chunks_came_from():
    records = [record(outcome="hard_rejected", document="A", retrieved=("B", "A")), record(label="CLASH")]
    table = contamination.false_positive_frame(records)
    assert table[["document_id", "chunks_also_from", "rules"]].values.tolist() == [["A", "B", "secured_unsecured"]]


def test_wrong_answers_are_accepted_ones_about_other_documents():
    records = [record(document="A", sources=("B",)), record(document="C", sources=("B",), outcome="hard_rejected")]
    assert contamination.wrong_answers(contamination.source_frame(records))["document_id"].tolist() == ["A"]


# --- latency


def test_latency_summary_has_parts_and_shares(records):
    table = latency.summary(latency.latency_frame(latencies(records)))
    total = table[table["part"] == "total"]
    assert total["share"].tolist() == [1.0] * 3
    parts = table[table["part"] != "total"].groupby("arm")["share"].sum()
    assert ((parts > 0.98) & (parts < 1)).all()
    assert (table["p25"] <= table["median"]).all()
    assert (table["p75"] <= table["p95"]).all()


def test_an_arm_has_no_row_for_a_part_it_does_not_have(records):
    rows = [row.model_copy(update={"validation": 0.0}) for row in latencies(records) if row.arm == "plain"]
    assert "validation" not in latency.summary(latency.latency_frame(rows))["part"].tolist()


def test_latency_by_attempts_counts_every_query(records):
    table = latency.by_attempts(latency.latency_frame(latencies(records)), PLAN)
    assert table["n"].sum() == len(records)


def test_a_run_without_latencies_has_empty_tables():
    frame = latency.latency_frame([])
    assert latency.summary(frame).empty
    assert latency.by_attempts(frame, PLAN).empty


# --- the whole


@pytest.fixture(scope="module")
def scored(records):
    return score_run(records, latencies(records), Settings(), run="test", cache=None)


def test_score_has_the_agreed_keys_with_intervals_beside_the_rates(scored):
    arm = scored["arms"]["ovrag"]
    assert set(arm["confusion"]) >= {"tp", "fp", "tn", "fn", "unchecked", "error"}
    for name in ("precision", "recall", "f1", "hard_reject_rate", "wrong_contract_rate"):
        low, high = arm[f"{name}_interval"]
        assert low <= arm[name] <= high
    assert arm["rouge_l_interval"] is None, "all answers are equally like their reference: no spread to resample"
    assert set(arm["bertscore"]) >= {"precision", "recall", "f1"}
    assert set(arm["corrections"]) >= {"needed", "succeeded"}
    assert set(arm["latency"]) == {"retrieval", "answering", "extraction", "validation", "total"}
    assert len(arm["per_contract"]) == 12


def test_score_is_json_and_readable(scored):
    assert json.loads(json.dumps(scored, allow_nan=False)) == scored
    assert "ovrag_evidence" in score_text(scored)


@pytest.mark.parametrize(
    "records",
    [
        [],
        [record(outcome="error", label=None)],
        [record(outcome="error", document=f"D{i}") for i in range(3)],
        [record()],
        [record(document=f"D{i}", question=q) for i in range(3) for q in ("Q1", "Q2")],
        [record(label=None, reference=None)],
    ],
    ids=["empty", "one error", "errors only", "one contract", "no clash", "no truth"],
)
def test_degenerate_runs_give_nulls_not_crashes(records):
    result = score_run(records, [], Settings(), run="test", cache=None)
    json.dumps(result, allow_nan=False)
    assert set(result["arms"]) == {each.arm for each in records}
    for arm, figures in result["arms"].items():
        assert figures["queries"] == sum(each.arm == arm and each.failure is None for each in records)
        assert figures["recall"] is None or figures["confusion"]["tp"] + figures["confusion"]["fn"] > 0
        assert arm in score_text(result)
