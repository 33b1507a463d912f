"""What a run says of effort, statements, misses and other runs, on records small enough to count by hand."""

from pathlib import Path

import pytest
from run_factory import latencies, record, run

from ovrag_core.base.errors import RunError
from ovrag_core.base.settings import Settings
from ovrag_core.base.types import Recorded, Triple, Usage, Verdict
from ovrag_core.evaluation import latency, statements
from ovrag_core.evaluation.contamination import source_frame
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.ontology.load import load_ontology
from ovrag_core.report import consistency, contamination_results, effort_results, latency_results, statement_results
from ovrag_core.report.results import write_run_results
from ovrag_core.report.run import Run
from ovrag_core.runs.files import run_files, write_run

PLAN = Resampling(samples=99)
SETTINGS = Settings.model_validate({"evaluation": {"bootstrap_samples": 50}})
ONTOLOGY = load_ontology(Path(__file__).resolve().parents[2] / "ontologies")


def opened(records, folder, name="main"):
    return Run(name, records, SETTINGS, None, folder / "tables", folder / "figures")


# --- effort


def test_calls_tokens_and_cost_are_means_by_outcome_and_a_sum():
    paid = {"usage": Usage(calls=3, prompt_tokens=300, completion_tokens=30), "cost_usd": 0.01}
    dear = {"usage": Usage(calls=9, prompt_tokens=900, completion_tokens=90), "cost_usd": 0.05}
    records = [record(document="D1", **paid), record(document="D2", **paid)]
    records += [record(document="D3", outcome="hard_rejected", attempts=4, **dear)]
    table = effort_results.by_outcome(records, PLAN).set_index("outcome")
    assert table.loc["hard_rejected", ["attempts", "calls", "cost_usd"]].tolist() == [4, 9, 0.05]
    assert table.loc["all", ["queries", "calls", "prompt_tokens"]].tolist() == [3, 5, 500]
    assert table.loc["all", "cost_usd_sum"] == pytest.approx(0.07)
    assert table["calls_low"].isna()["accepted"], "both cost the same: nothing can be said of the spread"


def test_what_a_recorded_run_did_not_say_is_missing_and_not_zero():
    table = effort_results.by_outcome([record(recorded=Recorded(attempts=1))], PLAN)
    assert table["calls"].isna().all()
    assert table["attempts"].tolist() == [1]


# --- statements


def test_statements_are_counted_by_origin_and_foreign_ones_named(tmp_path):
    table = statement_results.origin_table(opened([record(document="D1"), record(document="D2")], tmp_path))
    shown = table[["Origin", "Statements", "Per query", "Foreign"]].values.tolist()
    assert shown == [["answer", "2", "1.00", "n/a"], ["context", "2", "1.00", "0"]]


def with_triples(*triples, **more):
    item = record(**more)
    attempt = item.attempts[-1].model_copy(update={"triples": triples, "verdict": Verdict(status="consistent")})
    return item.model_copy(update={"attempts": (attempt,), "context_triples": ()})


def test_coverage_counts_what_asserts_and_names_what_does_not_but_no_values(tmp_path):
    said = Triple(subject="Loan", predicate="rdf:type", object="Mortgage")
    odd = Triple(subject="Loan", predicate="rdf:type", object="Spaceship")
    unread = Triple(subject="Loan", predicate="hasPrincipalAmount", object="a secret of the contract")
    made = opened([with_triples(said, odd, unread)], tmp_path)
    asserted = statements.assert_all(made.records, ONTOLOGY)
    row = statement_results.coverage_table(made, asserted, ONTOLOGY).iloc[0]
    assert row[["Statements", "Taking part"]].tolist() == ["3", "0.333"] and row["Classes"].startswith("1 of ")
    table = statement_results.unmapped_table(made, asserted).set_index("Reason")
    assert table.loc["unknown class", "Commonest"] == "Spaceship"
    assert table.loc["value cannot be read", ["Statements", "Commonest"]].tolist() == ["1", ""]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"sources": ("D9",)}, "only other contracts were seen"),
        ({"outcome": "corrected"}, "a later answer passed"),
        ({}, "what was read of the asked contract is compatible"),
        ({"recorded": Recorded(attempts=1, about="other"), "retrieved": ()}, "only other contracts were seen"),
        ({"recorded": Recorded(attempts=1), "retrieved": ()}, "what was retrieved is not recorded"),
    ],
)
def test_a_miss_has_the_reason_that_stood_in_the_way_first(more, reason):
    assert statements.miss_reason(record(document="D1", label="CLASH", **more)) == reason


def test_a_violation_is_counted_once_a_query_and_by_the_label(tmp_path):
    records = [
        record(document=d, outcome="hard_rejected", label=label) for d, label in (("A", "CLEAN"), ("B", "CLASH"))
    ]
    shown = statement_results.violation_table(opened(records, tmp_path))
    rows = shown[["Rule", "Queries", "On clash", "On clean"]].values.tolist()
    assert rows == [["secured_unsecured", "2", "1", "1"]]


def test_statements_of_a_run_recorded_elsewhere_are_not_printed(tmp_path):
    secret = record(document="D1", outcome="hard_rejected", label="CLASH", recorded=Recorded(attempts=1))
    theirs = opened([secret], tmp_path)
    statement_results.explanation_figure(theirs)
    assert "UnsecuredLoan" not in (tmp_path / "figures" / "explanation.tex").read_text()


def test_what_a_recorded_run_did_not_say_is_not_shown_as_nothing(tmp_path):
    """An empty cell would say that no chunk came from elsewhere, and that no rule was broken."""
    rejected = record(document="D1", outcome="hard_rejected", retrieved=())
    reason = Verdict(status="inconsistent", reason="secured and unsecured")
    attempts = (rejected.attempts[0].model_copy(update={"verdict": reason}),)
    theirs = opened([rejected.model_copy(update={"attempts": attempts})], tmp_path)
    shown = contamination_results.false_positive_table(theirs)
    assert shown[["Chunks also from", "Rules"]].values.tolist() == [["not recorded", "not recorded"]]
    sources = source_frame(theirs.records)
    assert "retrieved chunks" not in contamination_results.contamination_table(theirs, sources)["Of"].tolist()
    assert "Cause" not in statement_results.violation_table(theirs)


def test_latency_rests_on_the_queries_that_were_timed(tmp_path):
    timed = record(document="D1")
    theirs = opened([timed, timed.model_copy(update={"arm": "ovrag_rejudged"})], tmp_path)
    latency_results.latency_attempts_table(theirs, latency.latency_frame(latencies([timed])))
    text = (tmp_path / "tables" / "latency_by_attempts.tex").read_text()
    assert "Arm: ovrag. n = 1 queries: 1 contracts, 1 questions" in text


# --- contracts


def test_contracts_are_counted_by_kind_and_in_all(tmp_path):
    records = [record(document="A"), record(document="B", label="CLASH"), record(document="C", label=None)]
    table = consistency.corpus_table(opened(records, tmp_path), {"A": ["X"], "B": ["X", "Y"]})
    assert table.iloc[-1].tolist() == ["all", "1", "1", "1", "3", "secured unsecured 1"]
    assert set(table["Kind of loan"]) == {"X", "X and Y", "not recorded", "all"}


# --- other runs


def test_results_of_a_run_recorded_elsewhere_are_kept_out_of_git(tmp_path):
    theirs = [item.model_copy(update={"recorded": Recorded(attempts=1)}) for item in run(4, arms=("ovrag",))]
    write_run(run_files("theirs", tmp_path / "runs"), theirs, latencies(theirs), "{}\n")
    said = write_run_results("theirs", tmp_path / "out", SETTINGS, tmp_path / "runs", {}, cache=tmp_path / "cache")
    assert said.startswith("run theirs: ")
    assert (tmp_path / "out" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "out" / "figures" / "rates.pdf").exists()
    with pytest.raises(RunError, match="nobody"):
        write_run_results("nobody", tmp_path / "out", SETTINGS, tmp_path / "runs", {})
