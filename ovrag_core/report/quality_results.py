"""Likeness to reference answers: tables and a figure of a run."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ovrag_core.evaluation import CACHE, quality
from ovrag_core.report.run import MARK, Run, paired_rows, with_rows
from ovrag_core.report.tables import with_bounds

DECIMALS = 4  # of a mean BERTScore in a CSV or a picture: beyond, processors differ


def scored_quality(run: Run, cache: Path | None = CACHE) -> quality.Quality:
    """ROUGE-L and BERTScore of the run's answers."""
    return quality.score_quality(run.records, run.settings.evaluation.bertscore_model, cache)


def quality_table(run: Run, scored: quality.Quality) -> pd.DataFrame:
    """ROUGE-L and BERTScore per arm, over all and accepted answers, beside published ones: `quality`, with parts."""
    frames = [
        quality.quality_by(scored, ["arm"], run.plan, accepted_only=only).assign(which=answers)
        for answers, only in (("all", False), ("accepted", True))
    ]
    keys = ["arm", "which", "answers"]
    table = pd.concat(frames, ignore_index=True)[[*keys, *with_bounds([*quality.METRICS, *quality.RESCALED])]]
    beside = [
        {"arm": f"{arm} {MARK}", "which": "all", "answers": run.printed(arm).get("queries")}
        | {name: run.printed(arm).get(name) for name in quality.METRICS}
        for arm in run.arms
        if "rouge_l" in run.printed(arm)
    ]
    table = with_rows(table, beside, ["answers"])
    components = table[[*keys, *with_bounds(quality.METRICS[1:])]].dropna(subset="bertscore_f1")
    run.table(components, "quality_components", _bertscore(scored), kept=DECIMALS)
    main = ["rouge_l", "bertscore_f1", "bertscore_f1_rescaled"]
    return run.table(table[[*keys, *with_bounds(main)]], "quality", _bertscore(scored), kept=DECIMALS)


def quality_comparison_table(run: Run, scored: quality.Quality) -> pd.DataFrame:
    """Paired differences in quality between arms, over queries that both accepted: `quality_comparisons`."""
    metrics = ("rouge_l", "bertscore_f1")
    rows = paired_rows(run, metrics, lambda pair, metric: quality.compare_quality(scored, *pair, metric, run.plan))
    names = ["metric", "first", "second", "contracts", *with_bounds(["difference"]), "p", "p_holm"]
    table = pd.DataFrame(rows, columns=names)
    return run.table(table, "quality_comparisons", _bertscore(scored), kept=DECIMALS)


def _bertscore(scored: quality.Quality) -> dict[str, object]:
    """The words on the model of BERTScore."""
    if scored.baseline is None:
        return {"bertscore": f"BERTScore {'' if scored.model.startswith('as ') else 'with '}{scored.model}"}
    baseline = f"our baseline (F1 {scored.baseline.f1:.3f}) of reference answers paired at random"
    return {"bertscore": f"BERTScore with {scored.model}, rescaled with {baseline}"}
