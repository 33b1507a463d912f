"""All metrics of a run as one plain object: what `ovrag score --format json` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from ovrag_core.evaluation import confusion, contamination, latency, quality
from ovrag_core.evaluation.statistics import Estimate, Resampling
from ovrag_core.settings import Evaluation, Settings
from ovrag_core.types import LatencyRecord, QueryRecord

Json = dict[str, object]
CACHE = Path("data/cache")


def resampling(settings: Evaluation) -> Resampling:
    """How intervals are made under these settings."""
    return Resampling(samples=settings.bootstrap_samples, confidence=settings.confidence)


def score_run(
    records: Sequence[QueryRecord],
    seconds: Sequence[LatencyRecord],
    settings: Settings,
    *,
    run: str | None = None,
    cache: Path | None = CACHE,
) -> Json:
    """Per arm: confusion, rates, quality, latency and the share of answers about the wrong document.

    Each rate `x` has its interval beside it as `x_interval: [low, high]`; what is not defined is null. Intervals have
    documents as clusters (see `evaluation.statistics`). `cache` is the folder of BERTScore's cache, or None.
    """
    plan = resampling(settings.evaluation)
    frame = confusion.query_frame(records)
    scored = quality.score_quality(records, settings.evaluation.bertscore_model, cache)
    sources = contamination.source_frame(records)
    times = latency.summary(latency.latency_frame(seconds))
    arms = {
        arm: _arm(*(_of(arm, table) for table in (frame, scored.frame, sources, times)), plan=plan)
        for arm in frame["arm"].unique()
    }
    baseline = scored.baseline._asdict() if scored.baseline else None
    return {
        "run": run or settings.evaluation.run,
        "interval": {"confidence": plan.confidence, "samples": plan.samples, "seed": plan.seed, "unit": "document"},
        "bertscore_model": scored.model,
        "bertscore_baseline": baseline,
        "arms": arms,
    }


def score_text(result: Json) -> str:
    """The headline figures of a scored run, one line an arm, for people."""
    arms = result["arms"]
    assert isinstance(arms, dict)
    header = f"{'arm':<16}{'queries':>8}{'precision':>22}{'recall':>22}{'F1':>8}{'ROUGE-L':>9}{'wrong contract':>16}"
    lines = [f"run {result['run']}, {_percent(result)} intervals with documents as clusters", header]
    for name, arm in arms.items():
        cells = f"{_cell(arm, 'precision'):>22}{_cell(arm, 'recall'):>22}{_plain(arm['f1']):>8}"
        lines.append(
            f"{name:<16}{arm['queries']:>8}{cells}{_plain(arm['rouge_l']):>9}{_plain(arm['wrong_contract_rate']):>16}"
        )
    return "\n".join(lines)


def _percent(result: Json) -> str:
    interval = result["interval"]
    assert isinstance(interval, dict)
    return f"{interval['confidence']:.0%}"


def _cell(arm: Json, name: str) -> str:
    low_high = arm[f"{name}_interval"]
    bounds = f" [{low_high[0]:.3f}, {low_high[1]:.3f}]" if isinstance(low_high, list) else ""
    return _plain(arm[name]) + bounds


def _plain(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "n/a"


def _arm(
    frame: pd.DataFrame, scored: pd.DataFrame, sources: pd.DataFrame, times: pd.DataFrame, *, plan: Resampling
) -> Json:
    return {
        "model": ", ".join(sorted(frame["model"].unique())),
        "documents": int(frame["document_id"].nunique()),
        **_group(frame, plan),
        "per_clash_type": {
            name: _group(group, plan) for name, group in frame.groupby("clash_type", sort=False) if name
        },
        "per_question": {name: _group(group, plan) for name, group in frame.groupby("question_id", sort=True)},
        "per_contract": {name: _document(group) for name, group in frame.groupby("document_id", sort=True)},
        "contracts": _documents(frame, plan),
        **_rate("hard_reject_rate", confusion.hard_reject_rate(frame, plan)),
        "corrections": {
            "needed": int(frame["needed"].sum()),
            "succeeded": int(frame["succeeded"].sum()),
            **_rate("success_rate", confusion.correction_success(frame, plan)),
        },
        "outcomes": {name: int((frame["outcome"] == name).sum()) for name in sorted(frame["outcome"].unique())},
        "accepted_at": {
            str(int(at)): int((frame["accepted_at"] == at).sum())
            for at in sorted(frame["accepted_at"].dropna().unique())
        },
        **_rate("rouge_l", quality.mean(scored, "rouge_l", plan)),
        **_rate("rouge_l_accepted", quality.mean(scored[scored["accepted"]], "rouge_l", plan)),
        "bertscore": {
            key: value
            for name in (*quality.METRICS[1:], *quality.RESCALED)
            for key, value in _rate(name.removeprefix("bertscore_"), quality.mean(scored, name, plan)).items()
        },
        "latency": {
            row["part"]: {"n": int(row["n"]), **{name: _number(row[name]) for name in latency.STATISTICS[1:]}}
            for _, row in times.iterrows()
        },
        **_sources(sources, plan),
    }


def _of(arm: str, table: pd.DataFrame) -> pd.DataFrame:
    return table[table["arm"] == arm]


def _group(frame: pd.DataFrame, plan: Resampling) -> Json:
    counts = confusion.count(frame)
    measured = confusion.rates(frame, plan)
    rates = {key: value for name, estimate in measured.items() for key, value in _rate(name, estimate).items()}
    return {"queries": counts.queries, "confusion": asdict(counts), **rates}


def _document(frame: pd.DataFrame) -> Json:
    counts = confusion.count(frame)
    first = frame.iloc[0]
    return {
        "label": first["label"] or None,
        "clash_type": first["clash_type"] if first["label"] == "CLASH" else None,
        "queries": counts.queries,
        "flagged": int(frame["flagged"].sum()),
        "confusion": asdict(counts),
    }


def _documents(frame: pd.DataFrame, plan: Resampling) -> Json:
    row = confusion.document_rates(frame, plan.confidence).iloc[0]
    counts: Json = {name: int(row[name]) for name in ("clashes", "clashes_flagged", "clean", "clean_flagged")}
    for name in ("detection", "false_alarm"):
        counts |= {name: _number(row[name]), f"{name}_interval": _interval(row[f"{name}_low"], row[f"{name}_high"])}
    return counts


def _sources(frame: pd.DataFrame, plan: Resampling) -> Json:
    table = contamination.shares(frame, plan)
    if table.empty:
        return {"wrong_contract_rate": None, "wrong_contract_rate_interval": None}
    row = table.iloc[0]
    wrong: Json = {"wrong_contract_rate": _number(row["other"])}
    wrong["wrong_contract_rate_interval"] = _interval(row["other_low"], row["other_high"])
    return wrong | {f"{kind}_contract_rate": _number(row[kind]) for kind in ("asked", "mixed")}


def _rate(name: str, estimate: Estimate) -> Json:
    return {name: _number(estimate.value), f"{name}_interval": _interval(estimate.low, estimate.high)}


def _interval(low: object, high: object) -> list[float] | None:
    bounds = [_number(low), _number(high)]
    return [bound for bound in bounds if bound is not None] if None not in bounds else None


def _number(value: object) -> float | None:
    """A JSON number of six decimals; what is missing or not a number becomes null."""
    if value is None or not isinstance(value, int | float):
        return None
    return None if math.isnan(value) else round(float(value), 6)
