"""Likeness to reference answers: tables and a figure of a run."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ovrag_core.evaluation import CACHE, holm, quality
from ovrag_core.report.run import COMPARISONS, MARK, Run, source, with_rows, write
from ovrag_core.report.tables import with_bounds

DECIMALS = 4  # of a mean BERTScore in a CSV or a picture: beyond, processors differ


def scored_quality(run: Run, cache: Path | None = CACHE) -> quality.Quality:
    """ROUGE-L and BERTScore of the run's answers."""
    return quality.score_quality(run.records, run.settings.evaluation.bertscore_model, cache)


def quality_table(run: Run, scored: quality.Quality) -> pd.DataFrame:
    """ROUGE-L and BERTScore per arm, over all answers and over accepted ones, published ones beside: `quality`.

    BERTScore's precision and recall go to `quality_components`.
    """
    names = [*quality.METRICS, *quality.RESCALED]
    frames = []
    for answers, only in (("all", False), ("accepted", True)):
        frame = quality.quality_by(scored, ["arm"], run.plan, accepted_only=only)
        frame.insert(1, "which", answers)
        frames.append(frame)
    table = pd.concat(frames, ignore_index=True)[["arm", "which", "answers", *with_bounds(names)]]
    beside = [
        {"arm": f"{arm} {MARK}", "which": "all", "answers": run.printed(arm).get("queries")}
        | {name: run.printed(arm).get(name) for name in quality.METRICS}
        for arm in run.arms
        if "rouge_l" in run.printed(arm)
    ]
    table = with_rows(table, beside, ["answers"])
    note = run.note(more=source(run, _bert_note(scored)))
    caption = "Likeness of answers to reference answers by arm: ROUGE-L F and BERTScore."
    keys = ["arm", "which", "answers"]
    components = table[[*keys, *with_bounds(quality.METRICS[1:])]].dropna(subset="bertscore_f1")
    write(run, components, "quality_components", "Components of BERTScore by arm, raw.", note, kept=DECIMALS)
    main = ["rouge_l", "bertscore_f1", "bertscore_f1_rescaled"]
    return write(run, table[[*keys, *with_bounds(main)]], "quality", caption, note, kept=DECIMALS)


def quality_comparison_table(run: Run, scored: quality.Quality) -> pd.DataFrame:
    """Paired differences in quality between arms, over queries that both accepted: `quality_comparisons`."""
    pairs = [pair for pair in COMPARISONS if set(pair) <= set(run.arms)]
    rows = []
    for metric in ("rouge_l", "bertscore_f1"):
        differences = [quality.compare_quality(scored, *pair, metric, run.plan) for pair in pairs]
        for pair, d, p_holm in zip(pairs, differences, holm([d.p for d in differences]), strict=True):
            rows.append((metric, *pair, d.clusters, d.value, d.low, d.high, d.p, p_holm))
    names = ["metric", "first", "second", "contracts", *with_bounds(["difference"]), "p", "p_holm"]
    note = run.note(more=f"First arm minus second, over queries accepted by both. {_bert_note(scored)}")
    caption = "Paired differences in likeness to the reference answer."
    return write(run, pd.DataFrame(rows, columns=names), "quality_comparisons", caption, note, kept=DECIMALS)


def _bert_note(scored: quality.Quality) -> str:
    if scored.baseline is None:
        return f"BERTScore {scored.model}" if scored.model.startswith("as ") else f"BERTScore with {scored.model}"
    baseline = f"our baseline (F1 {scored.baseline.f1:.3f}) of reference answers paired at random"
    return f"BERTScore with {scored.model}, rescaled with {baseline}"
