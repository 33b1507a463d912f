"""Notebooks 04 to 06 on runs that have not all that ours have: each ends in its tables, never in a traceback."""

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
import run_factory
from recorded_rows import a_row, a_try, as_csv, as_json, plain_row
from run_factory import record

from ovrag_core.base.types import LatencyRecord, QueryRecord
from ovrag_core.loans.imports import import_run
from ovrag_core.runs.files import read_latency, read_run, run_files, write_run

STAGES = ("04_consistency_and_quality", "05_latency", "06_contamination_analysis")
ARMS = ("plain", "ovrag")
Recording = tuple[list[QueryRecord], list[LatencyRecord]]


def imported(folder: Path, *, table: bool) -> Recording:
    rows = [
        row
        for contract, label in (("001", "CLEAN"), ("002", "CLASH"), ("003", "CLASH"))
        for row in (
            a_row(contract_id=contract, ground_truth=label, expect_clash=label == "CLASH"),
            a_row(
                "Q2",
                contract_id=contract,
                ground_truth=label,
                expect_clash=label == "CLASH",
                validation_passed=False,
                correction_attempts=[a_try(number, False) for number in range(4)],
                total_attempts=4,
            ),
            plain_row(contract_id=contract, ground_truth=label, expect_clash=label == "CLASH"),
            plain_row("Q2", contract_id=contract, ground_truth=label, expect_clash=None, error="timeout", answer=None),
        )
    ]
    source = as_csv(folder / "t.csv", *rows, drop=("answer",)) if table else as_json(folder / "q.jsonl", *rows)
    found = import_run(source, "theirs", folder=folder / "theirs")
    return list(found.records), list(found.seconds)


def recording(name: str, folder: Path) -> Recording:
    whole = run_factory.run(contracts=4)
    cases: dict[str, Recording] = {
        "one arm": (
            [r for r in whole if r.arm == "ovrag"],
            [s for s in run_factory.latencies(whole) if s.arm == "ovrag"],
        ),
        "no seconds": (whole, []),
        "errors only": ([record(arm, f"D{n}", outcome="error") for arm in ARMS for n in range(3)], []),
        "no clashes": ([record(arm, f"D{n}") for arm in ARMS for n in range(3)], []),
        "no labels": ([record(arm, f"D{n}", label=None, reference=None) for arm in ARMS for n in range(3)], []),
        "one query": ([record("ovrag", "D1")], []),
    }
    if name in ("table", "queries"):
        return imported(folder, table=name == "table")
    return cases[name]


@pytest.mark.parametrize(
    "name", ["table", "queries", "one arm", "no seconds", "errors only", "no clashes", "no labels", "one query"]
)
def test_another_run_is_evaluated_as_far_as_it_goes(
    name: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = (project / "params.yaml").read_text(encoding="utf-8")
    other = parameters.replace("evaluation:\n  run: main", "evaluation:\n  run: other")
    assert other != parameters
    (tmp_path / "params.yaml").write_text(other.replace("bootstrap_samples: 2000", "bootstrap_samples: 50"))
    (tmp_path / "data" / "index").mkdir(parents=True)
    shutil.copy(project / "data" / "published.yaml", tmp_path / "data")
    records, seconds = recording(name, tmp_path)
    files = run_files("other", tmp_path / "data" / "runs")
    write_run(files, records, seconds, "{}\n")
    if not seconds:
        files.latency.unlink()
    assert read_run(files.records) == records
    assert read_latency(files.latency) == seconds
    (tmp_path / "notebooks").mkdir()
    for stage in STAGES:
        monkeypatch.chdir(tmp_path / "notebooks")
        names: dict[str, Any] = {}
        for cell in nbformat.read(project / "notebooks" / f"{stage}.ipynb", as_version=4).cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, stage, "exec"), names)  # as the kernel would, without starting one
    assert (tmp_path / "tables" / "consistency" / "confusion.csv").read_text(encoding="utf-8").count("\n") > 1
    theirs = name in ("table", "queries")
    folder = tmp_path / ("data/runs/other.cases" if theirs else "reports/cases")  # what quotes them stays out of git
    pages = "\n".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md"))
    if theirs:
        assert "not quoted here" in (tmp_path / "reports" / "cases" / "index.md").read_text(encoding="utf-8")
        assert "refused after 4 attempts for reasons that were not recorded" in pages
        assert "all retrieved chunks are of the asked contract" not in pages
        shown = names["pages"][0].read_text(encoding="utf-8")  # by the last notebook, whose report is in git
        written = [path for kind in ("tables", "figures", "reports") for path in (tmp_path / kind).rglob("*")]
        texts = [
            path.read_text(errors="replace") for path in written if path.suffix not in (".png", "") and path.is_file()
        ]
        for record_ in records:
            for attempt in record_.attempts:
                assert not any(attempt.answer.text in text for text in (shown, *texts) if attempt.answer.text)
