"""All metrics of a run as one plain object: what `ovrag score --format json` prints."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ovrag_core.base import Evaluation, LatencyRecord, QueryRecord, Settings
from ovrag_core.evaluation import confusion, contamination, latency, quality
from ovrag_core.evaluation.statistics import Estimate, Resampling

Json = dict[str, Any]
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
    tables = (frame, scored.frame, contamination.source_frame(records), latency.summary(latency.latency_frame(seconds)))
    arms = {arm: _arm(*(table[table["arm"] == arm] for table in tables), plan=plan) for arm in frame["arm"].unique()}
    return {
        "run": run or settings.evaluation.run,
        "interval": {"confidence": plan.confidence, "samples": plan.samples, "seed": plan.seed, "unit": "document"},
        "bertscore_model": scored.model,
        "bertscore_baseline": scored.baseline._asdict() if scored.baseline else None,
        "arms": arms,
    }


def score_text(result: Json) -> str:
    """A scored run for people: counts, rates with their intervals, quality and seconds, a block each, a line an arm."""
    arms = result["arms"]
    models = ", ".join(dict.fromkeys(arm["model"] for arm in arms.values()))
    queries = sum(arm["queries"] for arm in arms.values())
    failed = sum(arm["confusion"][name] for arm in arms.values() for name in ("unchecked", "error"))
    counts = f"{queries} queries judged" + (f", {failed} not" if failed else "")
    confidence = f"{result['interval']['confidence']:.0%}"
    head = f"run {result['run']}: {counts}, model {models}; {confidence} intervals, documents as clusters"
    blocks = [_table(title, columns, arms) for title, columns in _blocks(result).items()]
    return "\n\n".join(block for block in [head, *blocks, _seconds(arms)] if block)


def _blocks(result: Json) -> dict[str, dict[str, str]]:
    """The columns of each block of the text, by their headings: where the figure stands in the result of an arm."""
    arms = result["arms"].values()
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


def _seconds(arms: Mapping[str, Json]) -> str:
    """Seconds per part, a line an arm and part; nothing where no arm was timed."""
    rows = [["seconds", "part", *latency.STATISTICS]]
    for arm, result in arms.items():
        for stage, row in result["latency"].items():
            measured = [row[name] for name in latency.STATISTICS[1:-1]]
            cells = [NOTHING if v is None else f"{v:.4g}" if v < 1000 else f"{v:,.0f}" for v in measured]
            share = NOTHING if row["share"] is None else f"{row['share']:.1%}"
            rows.append([arm, stage, str(row["n"]), *cells, share])
    return _aligned(rows, left=2) if len(rows) > 1 else ""


def _table(title: str, columns: Mapping[str, str], arms: Mapping[str, Json]) -> str:
    """A line an arm under the headings; empty where no arm has anything to show."""
    rows = [[name, *(_cell(arm, key) for key in columns.values())] for name, arm in arms.items()]
    return _aligned([[title, *columns], *rows]) if any({*row[1:]} - {NOTHING} for row in rows) else ""


def _aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        words = [cell.ljust(width) for cell, width in zip(row[:left], widths, strict=False)]
        figures = [cell.rjust(width) for cell, width in zip(row[left:], widths[left:], strict=True)]
        lines.append("  ".join([*words, *figures]).rstrip())
    return "\n".join(lines)


def _cell(arm: Json, place: str) -> str:
    """A count, or a figure with its interval, at a dotted place of an arm's result."""
    *parents, name = place.split(".")
    for parent in parents:
        arm = arm.get(parent, {})
    value, bounds = arm.get(name), arm.get(f"{name}_interval")
    if not isinstance(value, float):
        return NOTHING if value is None else str(value)
    return f"{value:.3f}" + (f" [{bounds[0]:.3f}, {bounds[1]:.3f}]" if isinstance(bounds, list) else "")


def _arm(
    frame: pd.DataFrame, scored: pd.DataFrame, sources: pd.DataFrame, times: pd.DataFrame, *, plan: Resampling
) -> Json:
    shares = contamination.shares(sources, plan)
    about = shares.iloc[0] if len(shares) else pd.Series(dtype=object)
    kinds = {True: "recorded", False: "computed"}
    accepted_at = frame["accepted_at"].dropna()
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
        **_rate("hard_reject_rate", confusion.share_of(frame, "hard_rejected", "completed", plan)),
        "corrections": {
            "needed": int(frame["needed"].sum()),
            "succeeded": int(frame["succeeded"].sum()),
            **_rate("success_rate", confusion.share_of(frame, "succeeded", "needed", plan)),
        },
        "outcomes": frame["outcome"].value_counts().sort_index().to_dict(),
        "accepted_at": accepted_at.astype(int).value_counts().sort_index().rename(index=str).to_dict(),
        "quality_source": " and ".join(kinds[kind] for kind in sorted(scored["recorded"].unique())) or None,
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
        **_measured(about, "other", "wrong_contract_rate"),
        **{f"{kind}_contract_rate": _number(about[kind]) for kind in ("asked", "mixed") if len(about)},
    }


def _group(frame: pd.DataFrame, plan: Resampling) -> Json:
    group = _counts(frame)
    for name, estimate in confusion.rates(frame, plan).items():
        group |= _rate(name, estimate)
    return group


def _counts(frame: pd.DataFrame) -> Json:
    counts = confusion.count(frame)
    return {"queries": counts.pop("queries"), "confusion": counts}


def _document(frame: pd.DataFrame) -> Json:
    counts, row = _counts(frame), frame.iloc[0]
    return {
        "label": row["label"] or None,
        "clash_type": row["clash_type"] if row["label"] == "CLASH" else None,
        "queries": counts["queries"],
        "flagged": int(frame["flagged"].sum()),
        "confusion": counts["confusion"],
    }


def _documents(frame: pd.DataFrame, plan: Resampling) -> Json:
    row = confusion.document_rates(frame, plan.confidence).iloc[0]
    counts: Json = {name: int(row[name]) for name in ("clashes", "clashes_flagged", "clean", "clean_flagged")}
    return counts | _measured(row, "detection") | _measured(row, "false_alarm")


def _rate(name: str, estimate: Estimate) -> Json:
    return _measured(confusion.bounds(name, estimate), name)


def _measured(row: Mapping[str, object] | pd.Series, column: str, name: str = "") -> Json:
    """A figure of a table's row and its interval, null where they are missing."""
    interval = [_number(row.get(f"{column}{end}")) for end in ("_low", "_high")]
    name = name or column
    return {name: _number(row.get(column)), f"{name}_interval": None if None in interval else interval}


def _number(value: object) -> float | None:
    """A JSON number of six decimals; what is missing or not a number becomes null."""
    return round(float(value), 6) if isinstance(value, int | float) and not math.isnan(value) else None
