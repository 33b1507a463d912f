"""Runs: nothing is lost, nothing twice, nothing mixed."""

from pathlib import Path

import pytest
from standins import TEXTS, bench

from ovrag_core.base.errors import RunError
from ovrag_core.base.settings import Settings, load_settings
from ovrag_core.runs.experiment import run_experiment
from ovrag_core.runs.files import read_latency, read_run, run_files


def test_a_run_holds_every_query_once_with_its_truth(settings: Settings) -> None:
    records = read_run(run_experiment(settings, bench(TEXTS)))
    assert len(records) == 2 * 3 * 2
    assert len({(r.arm, r.document_id, r.question_id) for r in records}) == len(records)
    first, clash = records[0], next(r for r in records if r.document_id == "Contract_002" and r.arm == "ovrag_evidence")
    assert (first.label, first.reference_answer) == ("CLEAN", "black")
    assert (clash.label, clash.clash_type, clash.outcome) == ("CLASH", "colour", "source_finding")
    assert len(read_latency(run_files("main").latency)) == len(records)


def test_the_same_inputs_give_the_same_bytes(settings: Settings, tmp_path: Path) -> None:
    first = run_experiment(settings, bench(TEXTS), tmp_path / "one")
    second = run_experiment(settings, bench(TEXTS), tmp_path / "two")
    assert first.read_bytes() == second.read_bytes()
    assert first.with_name("main.manifest.json").read_bytes() == second.with_name("main.manifest.json").read_bytes()


@pytest.mark.parametrize("cut", [0, 1, 57, 1500, -1, -40])
def test_an_interrupted_run_goes_on_without_loss_or_repetition(settings: Settings, tmp_path: Path, cut: int) -> None:
    whole = run_experiment(settings, bench(TEXTS), tmp_path / "whole")
    folder = tmp_path / "cut"
    folder.mkdir()
    files = run_files("main", folder)
    complete = run_files("main", tmp_path / "whole")
    files.partial_manifest.write_bytes(complete.manifest.read_bytes())
    files.partial_records.write_bytes(whole.read_bytes()[:cut])
    files.partial_latency.write_bytes(complete.latency.read_bytes())
    resumed = run_experiment(settings, bench(TEXTS), folder)
    assert sorted(resumed.read_text().splitlines()) == sorted(whole.read_text().splitlines())
    assert not files.partial_records.exists()


def test_a_run_made_with_other_parameters_is_not_mixed(settings: Settings) -> None:
    run_experiment(settings, bench(TEXTS))
    other = load_settings(overrides={"retrieval.top_k": 1})
    with pytest.raises(RunError, match=r"main\.jsonl was made with other parameters"):
        run_experiment(other, bench(TEXTS))


def test_a_subset_runs_only_what_is_named(settings: Settings) -> None:
    some = load_settings(overrides={"experiment.contracts": ["Contract_002"], "experiment.questions": ["Q2"]})
    records = read_run(run_experiment(some, bench(TEXTS)))
    assert {(r.document_id, r.question_id) for r in records} == {("Contract_002", "Q2")}
    missing = load_settings(overrides={"experiment.contracts": ["Contract_009"], "experiment.run": "other"})
    with pytest.raises(RunError, match=r"experiment\.contracts names Contract_009, which does not exist"):
        run_experiment(missing, bench(TEXTS))
    assert not list(Path("data/runs").glob("other.*")), "a run that cannot begin leaves nothing"


def test_a_partial_run_of_other_parameters_is_in_the_way_for_its_answers_alone(settings: Settings) -> None:
    whole = run_experiment(settings, bench(TEXTS))
    files = run_files("main")
    files.manifest.rename(files.partial_manifest)
    files.latency.rename(files.partial_latency)
    whole.rename(files.partial_records)
    other = load_settings(overrides={"retrieval.top_k": 1})
    with pytest.raises(RunError, match=r"main\.partial\.jsonl was made with other parameters; delete it or choose"):
        run_experiment(other, bench(TEXTS))
    files.partial_records.unlink()
    records = read_run(run_experiment(other, bench(TEXTS)))
    assert len(records) == 12 and not list(Path("data/runs").glob("*.partial.*"))


def test_a_broken_last_line_is_named(settings: Settings) -> None:
    path = run_experiment(settings, bench(TEXTS))
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(RunError, match=r"main\.jsonl, line 12: "):
        read_run(path)


def test_a_missing_run_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="does not exist; make it with `ovrag run`"):
        read_run(tmp_path / "none.jsonl")
