"""Every table and figure of a run in one call: for runs that the pipeline does not make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ovrag_core.evaluation.contamination import source_frame
from ovrag_core.evaluation.latency import latency_frame
from ovrag_core.evaluation.score import CACHE, score_run
from ovrag_core.ontology.load import Ontology
from ovrag_core.thesis import (
    cases,
    consistency,
    contamination,
    corpus,
    effort,
    headlines,
    latency,
    quality,
    rejudged,
    statements,
)
from ovrag_core.thesis.run import Run
from ovrag_core.types import Chunk, LatencyRecord


def write_results(
    run: Run,
    seconds: Sequence[LatencyRecord],
    ontology: Ontology,
    *,
    kinds: Mapping[str, Sequence[str]] | None = None,
    chunks: Mapping[str, Chunk] | None = None,
    pages: Path,
    cache: Path | None = CACHE,
) -> list[Path]:
    """All tables, figures and numbers of `run` into its folders, and case pages into `pages`; the paths of the pages.

    Seconds may be missing altogether. What is made is what notebooks 04 to 06 make, and for a run that was judged again
    the comparison with the verdicts that were recorded.
    """
    corpus.corpus_table(run, kinds or {})
    for of_run in (
        *(consistency.outcome_table, consistency.confusion_table, consistency.confusion_figure),
        *(consistency.rates_table, consistency.rates_figure, consistency.precision_recall_figure),
        *(consistency.clash_type_table, consistency.question_table, consistency.contract_table),
        *(consistency.detection_table, consistency.detection_figure, consistency.correction_table),
        *(consistency.comparison_table, effort.effort_table, effort.reject_table, effort.flow_table),
        *(effort.flow_figure, statements.origin_table, statements.violation_table, statements.missed_table),
        *(statements.case_table, statements.explanation_figure),
        *(contamination.retrieved_table, contamination.false_positive_table),
    ):
        of_run(run)
    statements.coverage_table(run, ontology)
    statements.unmapped_table(run, ontology)
    if rejudged.pairs(run):
        rejudged.rejudged_table(run)
    scored = quality.scored_quality(run, cache)
    quality.quality_table(run, scored)
    quality.quality_comparison_table(run, scored)
    quality.quality_figure(run, scored)
    effort.cost_figure(run, scored)
    sources = source_frame(run.records)
    effort.contract_summary(run, scored, sources)
    contamination.contamination_table(run, sources)
    contamination.wrong_answer_table(run, sources)
    contamination.contamination_figures(run, sources)
    headlines.numbers_file(run, score_run(run.records, [], run.settings, run=run.name, cache=cache))
    times = latency_frame(seconds)
    for of_seconds in (
        *(latency.latency_table, latency.latency_distribution_table, latency.latency_attempts_table),
        *(latency.latency_outlier_table, latency.latency_figures, latency.latency_numbers_file),
    ):
        of_seconds(run, times)
    latency.latency_quality_figure(run, times, scored)
    return cases.write_cases(run.records, chunks or {}, pages, latex=run.tables / "cases.tex")
