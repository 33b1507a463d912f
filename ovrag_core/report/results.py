"""Every table and figure of a run in one call: for runs that the pipeline does not make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ovrag_core.base import Chunk, LatencyRecord, Settings
from ovrag_core.evaluation import CACHE, assert_all, latency_frame, score_run, source_frame
from ovrag_core.ontology import Ontology, open_ontology
from ovrag_core.report import (
    cases,
    consistency,
    contamination_results,
    effort_results,
    headlines,
    latency_results,
    quality_results,
    statement_results,
)
from ovrag_core.report.run import Run, open_run
from ovrag_core.runs import read_latency, read_run, run_files


def write_run_results(
    name: str,
    target: Path,
    settings: Settings,
    runs: Path,
    kinds: Mapping[str, Sequence[str]],
    cache: Path | None = CACHE,
) -> str:
    """All results of a run in `target`, with a line on them.

    `runs` is the folder of the runs, `kinds` the kind of each document that a run of our own asks about. Results that
    quote a run recorded elsewhere are kept out of git where they are.
    Raises RunError for a run that is not there or has no records.
    """
    evaluation = settings.evaluation.model_copy(update={"run": name})
    files = run_files(name, runs)
    opened = open_run(read_run(files.records), settings.model_copy(update={"evaluation": evaluation}))
    run = replace(opened, tables=target / "tables", figures=target / "figures")
    target.mkdir(parents=True, exist_ok=True)
    if run.imported:
        (target / ".gitignore").write_text("*\n", encoding="utf-8")
    chunks = {} if run.imported else cases.read_chunks()
    seconds, ontology = read_latency(files.latency), open_ontology(settings)
    pages = write_results(run, seconds, ontology, kinds=kinds, chunks=chunks, pages=target / "cases", cache=cache)
    tables, pictures = len(list(run.tables.glob("*.csv"))), len(list(run.figures.glob("*.pdf")))
    return f"run {name}: {tables} tables, {pictures} figures, {len(pages) - 1} case pages in {target}"


def write_results(
    run: Run,
    seconds: Sequence[LatencyRecord] | None,
    ontology: Ontology,
    *,
    kinds: Mapping[str, Sequence[str]] | None = None,
    chunks: Mapping[str, Chunk] | None = None,
    pages: Path,
    cache: Path | None = CACHE,
) -> list[Path]:
    """All tables, figures and numbers of `run` into its folders, and case pages into `pages`; the paths of the pages.

    Seconds may be missing altogether; None makes nothing of them. What is made is what notebooks 04 to 06 make.
    """
    consistency.corpus_table(run, kinds or {})
    for of_run in (
        *(consistency.outcome_table, consistency.confusion_table),
        *(consistency.rates_table, consistency.rates_figure),
        *(consistency.clash_type_table, consistency.question_table),
        *(consistency.detection_table, consistency.detection_figure),
        *(consistency.correction_table, consistency.comparison_table),
        *(effort_results.effort_table, effort_results.discarded_table),
        *(statement_results.origin_table, statement_results.violation_table, statement_results.missed_table),
        *(statement_results.explanation_figure, contamination_results.false_positive_table),
    ):
        of_run(run)
    asserted = assert_all(run.records, ontology)
    statement_results.coverage_table(run, asserted, ontology)
    statement_results.unmapped_table(run, asserted)
    scored = quality_results.scored_quality(run, cache)
    quality_results.quality_table(run, scored)
    quality_results.quality_comparison_table(run, scored)
    sources = source_frame(run.records)
    contamination_results.contamination_table(run, sources)
    contamination_results.wrong_answer_table(run, sources)
    contamination_results.contamination_figure(run, sources)
    headlines.numbers_file(run, score_run(run.records, [], run.settings, run=run.name, cache=cache))
    if seconds is not None:
        times = latency_frame(seconds)
        for of_seconds in (
            *(latency_results.latency_table, latency_results.latency_attempts_table),
            *(latency_results.latency_histogram, latency_results.latency_figure, latency_results.latency_numbers_file),
        ):
            of_seconds(run, times)
    return cases.write_cases(run.records, chunks or {}, pages)
