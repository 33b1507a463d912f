"""All metrics of a run as one plain object: what `ovrag score --format json` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from ovrag_core.base import Evaluation, LatencyRecord, QueryRecord, Settings, Usage
from ovrag_core.evaluation import confusion, contamination, latency, quality
from ovrag_core.evaluation.statistics import Estimate, Resampling

Json = dict[str, object]
CACHE = Path("data/cache")
NOTHING = "-"


def resampling(settings: Evaluation) -> Resampling:
    """Choose how intervals are made under these settings."""
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

    `queries` counts judged queries; failed and unchecked ones stand beside them (see `evaluation.confusion`). Each rate
    `x` has its interval beside it as `x_interval: [low, high]`; what is not defined is null. Intervals have
    documents as clusters (see `evaluation.statistics`). `cache` is the folder of BERTScore's cache, or None. Scores
    that came with an imported run are taken as they are.
    """
    plan = resampling(settings.evaluation)
    frame = confusion.query_frame(records)
    scored = quality.score_quality(records, settings.evaluation.bertscore_model, cache)
    sources = contamination.source_frame(records)
    times = latency.summary(latency.latency_frame(seconds))
    arms = {
        arm: {
            **_arm(*(_of(arm, table) for table in (frame, scored.frame, sources, times)), plan=plan),
            "usage": _usage([record for record in records if record.arm == arm]),
        }
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
    """A scored run for people: counts, rates with their intervals, quality and seconds, a block each, a line an arm."""
    arms = _dict(result["arms"])
    models = ", ".join(dict.fromkeys(arm["model"] for arm in arms.values()))
    queries = sum(arm["queries"] for arm in arms.values())
    failed = sum(arm["confusion"][name] for arm in arms.values() for name in ("unchecked", "error"))
    counts = f"{queries} queries judged" + (f", {failed} not" if failed else "")
    confidence = f"{_dict(result['interval'])['confidence']:.0%}"
    head = f"run {result['run']}: {counts}, model {models}; {confidence} intervals, documents as clusters"
    blocks = [_table(title, columns, arms) for title, columns in _blocks(result).items()]
    return "\n\n".join([head, *(block for block in blocks if block), *_seconds_block(arms)])


def _blocks(result: Json) -> dict[str, dict[str, str]]:
    """The columns of each block of the text, by their headings: where the figure stands in the result of an arm."""
    arms = _dict(result["arms"]).values()
    kinds = dict.fromkeys(kind for arm in arms for kind in arm["per_clash_type"])
    cells = ("tp", "fp", "tn", "fn", "unchecked", "error")
    scores = {f"BERTScore {name}": f"bertscore.{name}" for name in ("precision", "recall", "f1")}
    return {
        "confusion": {"queries": "queries", **{name: f"confusion.{name}" for name in cells}},
        "rates": {name: name for name in ("precision", "recall", "f1", "hard_reject_rate")},
        "recall by clash type": {kind: f"per_clash_type.{kind}.recall" for kind in kinds if kind != confusion.CLEAN},
        "corrections": {
            "needed": "corrections.needed",
            "succeeded": "corrections.succeeded",
            "success rate": "corrections.success_rate",
            "wrong contract": "wrong_contract_rate",
        },
        f"quality (BERTScore: {result['bertscore_model']})": {"ROUGE-L": "rouge_l", **scores},
    }


def _seconds_block(arms: Mapping[str, Json]) -> list[str]:
    """Seconds per part, a line an arm and part; nothing where no arm was timed."""
    rows = [
        [arm, stage, str(row["n"]), *(_seconds(row[name]) for name in latency.STATISTICS[1:-1]), _share(row["share"])]
        for arm, result in arms.items()
        for stage, row in _dict(result["latency"]).items()
    ]
    return [_aligned([["seconds", "part", *latency.STATISTICS], *rows], left=2)] if rows else []


def _table(title: str, columns: Mapping[str, str], arms: Mapping[str, Json]) -> str:
    """A line an arm under the headings; empty where no arm has anything to show."""
    rows = [[name, *(_cell(arm, key) for key in columns.values())] for name, arm in arms.items()]
    if all(cell == NOTHING for row in rows for cell in row[1:]):
        return ""
    return _aligned([[title, *columns], *rows])


def _aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _dict(value: object) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value


def _cell(arm: Json, place: str) -> str:
    """A count, or a figure with its interval, at a dotted place of an arm's result."""
    *parents, name = place.split(".")
    for parent in parents:
        arm = _dict(arm.get(parent, {}))
    value, bounds = arm.get(name), arm.get(f"{name}_interval")
    if not isinstance(value, float):
        return NOTHING if value is None else str(value)
    return f"{value:.3f}" + (f" [{bounds[0]:.3f}, {bounds[1]:.3f}]" if isinstance(bounds, list) else "")


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4g}" if value < 1000 else f"{value:,.0f}"


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1%}"


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
            str(int(attempt)): int((frame["accepted_at"] == attempt).sum())
            for attempt in sorted(frame["accepted_at"].dropna().unique())
        },
        "quality_source": _quality_source(scored),
        **_rate("rouge_l", confusion.mean_of(scored, "rouge_l", plan)),
        **_rate("rouge_l_accepted", confusion.mean_of(scored[scored["accepted"]], "rouge_l", plan)),
        "bertscore": {
            key: value
            for name in (*quality.METRICS[1:], *quality.RESCALED)
            for key, value in _rate(name.removeprefix("bertscore_"), confusion.mean_of(scored, name, plan)).items()
        },
        "latency": {
            row["part"]: {"n": int(row["n"]), **{name: _number(row[name]) for name in latency.STATISTICS[1:]}}
            for _, row in times.iterrows()
        },
        **_sources(sources, plan),
    }


def _usage(records: Sequence[QueryRecord]) -> Json:
    """Model calls, tokens and cost, calls per query and per accepted query. No cost where a price is not known."""
    accepted = [record.usage.calls for record in records if record.outcome in ("accepted", "corrected")]
    costs = [record.cost_usd for record in records]
    used: Json = {name: sum(getattr(record.usage, name) for record in records) for name in Usage.model_fields}
    used["cost_usd"] = None if None in costs else _number(float(sum(filter(None, costs))))
    used["calls_per_query"] = _number(sum(record.usage.calls for record in records) / len(records))
    used["calls_per_accepted_query"] = _number(sum(accepted) / len(accepted)) if accepted else None
    return used


def _quality_source(scored: pd.DataFrame) -> str | None:
    """Name the source of the scores: `computed` here, `recorded` with the run, or both."""
    kinds = {True: "recorded", False: "computed"}
    return " and ".join(kinds[kind] for kind in sorted(scored["recorded"].unique())) or None


def _of(arm: str, table: pd.DataFrame) -> pd.DataFrame:
    return table[table["arm"] == arm]


def _group(frame: pd.DataFrame, plan: Resampling) -> Json:
    counts = confusion.count(frame)
    measured = confusion.rates(frame, plan)
    rates = {key: value for name, estimate in measured.items() for key, value in _rate(name, estimate).items()}
    return {"queries": counts.queries, "confusion": asdict(counts), **rates}


def _document(frame: pd.DataFrame) -> Json:
    counts = confusion.count(frame)
    row = frame.iloc[0]
    return {
        "label": row["label"] or None,
        "clash_type": row["clash_type"] if row["label"] == "CLASH" else None,
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
