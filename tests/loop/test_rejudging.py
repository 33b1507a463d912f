"""Recorded attempts judged again: our verdicts beside the recorded ones, nothing made up."""

from pathlib import Path

import pytest
from recorded_rows import a_row, a_try, as_json, plain_row
from standins import BlackAndWhite

from ovrag_core.base.errors import RunError
from ovrag_core.base.settings import Settings
from ovrag_core.base.types import QueryRecord
from ovrag_core.evaluation import confusion
from ovrag_core.evaluation.score import score_run
from ovrag_core.loans.imports import import_run
from ovrag_core.loop.rejudging import rejudged


def says(*classes: str) -> list[dict[str, str]]:
    return [
        {"sub": "Loan", "pred": "rdf:type", "obj": name, "sub_type": "Loan", "obj_type": "Class"} for name in classes
    ]


@pytest.fixture
def records(tmp_path: Path) -> tuple[QueryRecord, ...]:
    both, black = says("Black", "White"), says("Black")
    four = [a_try(0, False, triples=both), a_try(1, False, triples=black), a_try(2, False, triples=both)]
    rows = [
        a_row("missed", correction_attempts=[a_try(0, True, triples=both)]),
        a_row("mended", validation_passed=False, hard_reject=True, correction_attempts=four),
        a_row("said", correction_attempts=[a_try(0, True, triples=black, answer="It is_White too.")]),
        a_row("broken", correction_attempts=[a_try(0, True, triples=says("Broken"))]),
        a_row("empty", correction_attempts=[a_try(0, None, triples=[])]),
        a_row("failed", error="timeout", correction_attempts=None, answer=None),
        plain_row("missed"),
    ]
    return import_run(as_json(tmp_path / "source.jsonl", *rows), "run", folder=tmp_path).records


def test_our_verdicts_stand_beside_the_recorded_ones(records: tuple[QueryRecord, ...]) -> None:
    again = rejudged(records, BlackAndWhite())
    outcomes = {(record.arm, record.question_id): record.outcome for record in again}
    assert {record.arm for record in again} == {"ovrag_rejudged"}
    assert [outcomes["ovrag_rejudged", name] for name in ("missed", "mended", "said")] == [
        "hard_rejected",
        "corrected",
        "accepted",
    ]


def test_the_loop_stops_at_the_first_attempt_that_is_consistent(records: tuple[QueryRecord, ...]) -> None:
    mended = next(r for r in rejudged(records, BlackAndWhite()) if r.question_id == "mended")
    assert [attempt.verdict.status for attempt in mended.attempts if attempt.verdict] == ["inconsistent", "consistent"]
    assert mended.attempt_count == 2


def test_what_could_not_be_judged_is_no_pass(records: tuple[QueryRecord, ...]) -> None:
    again = {record.question_id: record for record in rejudged(records, BlackAndWhite())}
    assert (again["broken"].outcome, again["broken"].error) == ("unchecked", "the reasoner stopped")
    assert (again["empty"].outcome, again["empty"].error) == ("unchecked", "no triples were recorded")
    assert (again["failed"].outcome, again["failed"].error) == ("error", "timeout")


def test_a_run_without_triples_cannot_be_judged_again(records: tuple[QueryRecord, ...]) -> None:
    with pytest.raises(RunError, match="no recorded triples to judge again; import the file that has the answers"):
        rejudged([record for record in records if record.arm == "plain"], BlackAndWhite())


def test_our_engine_finds_what_the_published_one_found(external_data: Path, tmp_path: Path) -> None:
    source = external_data / "loan_thesis" / "recorded_queries.jsonl"
    found = import_run(source, "queries", folder=tmp_path, rejudge=True, settings=Settings())
    assert (found.rows, len(found.records)) == (400, 600)
    frame = confusion.query_frame(found.records)
    wide = frame[frame["arm"] != "plain"].pivot(index=["document_id", "question_id"], columns="arm", values="flagged")
    assert (wide["ovrag_rejudged"] | ~wide["ovrag"].astype(bool)).all()
    result = score_run(found.records, found.seconds, Settings(), cache=None)["arms"]
    ours, theirs = result["ovrag_rejudged"], result["ovrag"]
    assert ours["confusion"]["tp"] >= theirs["confusion"]["tp"]
    assert ours["confusion"]["unchecked"] == 0
    assert ours["recall_interval"] is not None
