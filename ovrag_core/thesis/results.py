"""The tables, figures and numbers of a run, each in one call: computed, written, and returned to be looked at.

Whatever depends on the machine's speed has `latency` in its name, and only functions that are given seconds write it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import yaml
from matplotlib.figure import Figure
from pydantic import Field, ValidationError

from ovrag_core.errors import RunError, SettingsError
from ovrag_core.evaluation import confusion, contamination, latency, quality
from ovrag_core.evaluation.score import CACHE, Json, resampling
from ovrag_core.evaluation.statistics import Resampling, holm
from ovrag_core.settings import Settings
from ovrag_core.thesis import figures, numbers
from ovrag_core.thesis.tables import TABLES, Note, write_table
from ovrag_core.types import Frozen, QueryRecord

PUBLISHED = Path("data/published.yaml")
MARK = "(published)"
CELLS = {"queries": "Queries", "tp": "TP", "fp": "FP", "tn": "TN", "fn": "FN"}
HEADERS = {
    **CELLS,
    "f1": "F1",
    "rouge_l": "ROUGE-L",
    "bertscore_precision": "BERTScore P",
    "bertscore_recall": "BERTScore R",
    "bertscore_f1": "BERTScore F1",
    "bertscore_f1_rescaled": "F1 rescaled",
    "p_holm": "p (Holm)",
    "document_id": "Contract",
    "question_id": "Question",
}
COMPARISONS = (
    ("ovrag", "plain"),
    ("plain_scoped", "plain"),
    ("ovrag_scoped", "ovrag"),
    ("ovrag_scoped", "plain_scoped"),
    ("ovrag_evidence", "ovrag_scoped"),
    ("ovrag_evidence", "ovrag"),
)


class Published(Frozen):
    """Figures of another system's publication, by arm; seconds, counts and rates as printed there."""

    source: str
    model: str
    setting: str = ""
    arms: dict[str, dict[str, float | dict[int, int]]] = Field(default_factory=dict)
    per_clash_type: dict[str, dict[str, int]] = Field(default_factory=dict)
    latency: dict[str, dict[str, float]] = Field(default_factory=dict)
    latency_by_attempts: list[dict[str, float]] = Field(default_factory=list)
    false_positives: list[dict[str, str]] = Field(default_factory=list)

    def value(self, arm: str, name: str) -> float | None:
        """A published figure of an arm; None where it was not published."""
        found = self.arms.get(arm, {}).get(name)
        return None if isinstance(found, dict) else found


@dataclass(frozen=True)
class Run:
    """A run opened for evaluation: its records, one row a query, and how results are to be written."""

    name: str
    records: Sequence[QueryRecord]
    settings: Settings
    published: Published | None = None
    tables: Path = TABLES
    figures: Path = figures.FIGURES
    frame: pd.DataFrame = field(init=False)

    def __post_init__(self) -> None:
        if not self.records:
            raise RunError(f"run {self.name} has no records; run the experiment first")
        object.__setattr__(self, "frame", confusion.query_frame(self.records))

    @property
    def plan(self) -> Resampling:
        """How intervals are made."""
        return resampling(self.settings.evaluation)

    @property
    def arms(self) -> list[str]:
        """The run's arms in their usual order."""
        return confusion.arms_of(self.records)

    @property
    def width(self) -> float:
        """Text width in inches."""
        return self.settings.figures.text_width_inches

    @property
    def model(self) -> str:
        """The models that answered."""
        return ", ".join(sorted(self.frame["model"].unique()))

    def note(self, *, interval: bool = True, arm: str = "", n: str = "", more: str = "") -> Note:
        """What a table or figure of this run rests on; published rows are named where there are any."""
        documents = self.frame["document_id"].nunique()
        per_arm = f"{len(self.frame)} queries: {documents} contracts, {self.frame['question_id'].nunique()} questions"
        arms = arm or (", ".join(self.arms) if len(self.arms) > 1 else self.arms[0])
        plan = self.plan
        how = f"{plan.confidence:.0%}, BCa bootstrap over contracts as clusters, {plan.samples} resamples"
        return Note(f"{self.model}, run {self.name}", arms, n or per_arm, how if interval else "", more)


def load_published(path: Path = PUBLISHED) -> Published:
    """Published figures from YAML. Raises SettingsError for a file that does not hold them."""
    try:
        return Published.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise SettingsError(f"{path} does not hold published figures ({reason}); restore it") from None


def open_run(records: Sequence[QueryRecord], settings: Settings, *, published: Path = PUBLISHED) -> Run:
    """The run that the settings name. Published figures stand beside ours only for the generated corpus."""
    beside = load_published(published) if settings.corpus.source == "generated" and published.exists() else None
    return Run(settings.evaluation.run, records, settings, beside)


# --- flagged against expected


def confusion_table(run: Run) -> pd.DataFrame:
    """Counts per arm, published ones beside them: `confusion`."""
    counts = ["queries", *confusion.MATRIX, *confusion.BESIDE]
    table = confusion.confusion_by(run.frame, ["arm"], run.plan)[["arm", *counts]]
    table = _with_published(run, table, counts)
    if not table["unlabelled"].fillna(0).any():
        table = table.drop(columns="unlabelled")
    more = "Flagged: refused or reported as contradicting itself. Unchecked and failed queries stand beside the matrix"
    caption = "Confusion matrix by arm: contradiction flagged against contradiction expected."
    return _write(run, table, "confusion", caption, run.note(interval=False, more=_source(run, more)))


def rates_table(run: Run) -> pd.DataFrame:
    """Precision, recall and F1 per arm with intervals, published ones beside them: `rates`."""
    names = _with_bounds(confusion.RATES)
    table = confusion.confusion_by(run.frame, ["arm"], run.plan)[["arm", "queries", *names]]
    table = _with_published(run, table, ["queries", *confusion.RATES])
    caption = "Precision, recall and F1 of flagging by arm."
    more = _source(run, "Precision is not defined for an arm that flags nothing")
    return _write(run, table, "rates", caption, run.note(more=more))


def clash_type_table(run: Run) -> pd.DataFrame:
    """Counts and recall per arm and clash type, published ones beside them: `confusion_by_clash_type`."""
    table = confusion.confusion_by(run.frame, ["arm", "clash_type"], run.plan)
    table = table[["arm", "clash_type", *CELLS, *_with_bounds(["recall"])]]
    if run.published and "ovrag" in run.arms:
        rows = [
            {"arm": f"ovrag {MARK}", "clash_type": name, **counts, "recall": _recall(counts)}
            for name, counts in run.published.per_clash_type.items()
        ]
        table = _integers(pd.concat([table, pd.DataFrame(rows)], ignore_index=True), CELLS)
    caption = "Confusion by arm and type of contradiction."
    return _write(run, table, "confusion_by_clash_type", caption, run.note(more=_source(run)))


def question_table(run: Run) -> pd.DataFrame:
    """Counts and rates per arm and question: `confusion_by_question`."""
    table = confusion.confusion_by(run.frame, ["arm", "question_id"], run.plan)
    table = table[["arm", "question_id", *CELLS, *_with_bounds(["precision", "recall"])]]
    caption = "Confusion by arm and question."
    return _write(run, table, "confusion_by_question", caption, run.note())


def contract_table(run: Run) -> pd.DataFrame:
    """Flagged queries per contract, one column an arm: `confusion_by_contract`."""
    documents = confusion.document_frame(run.frame)
    keys = ["document_id", "label", "clash_type"]
    wide = documents.pivot_table(index=keys, columns="arm", values="flagged_queries", sort=True).reset_index()
    arms = [arm for arm in run.arms if arm in wide.columns]
    table = _integers(wide[[*keys, *arms]].rename_axis(columns=None), arms)
    questions = run.frame["question_id"].nunique()
    note = run.note(interval=False, more=f"Cells count flagged queries of {questions}")
    return _write(run, table, "confusion_by_contract", "Flagged queries by contract and arm.", note, long=True)


def detection_table(run: Run) -> pd.DataFrame:
    """Contracts flagged at least once, with Wilson intervals: `detection_by_contract`."""
    table = confusion.document_rates(run.frame, run.plan.confidence)
    note = run.note(n=f"{run.frame['document_id'].nunique()} contracts per arm")
    note = Note(note.model, note.arm, note.n, f"{run.plan.confidence:.0%}, Wilson, a contract is a trial", note.more)
    caption = "Contracts flagged in at least one of their queries, by arm."
    return _write(run, table, "detection_by_contract", caption, note)


def correction_table(run: Run) -> pd.DataFrame:
    """Corrections and hard rejects per arm with acceptance by attempt: `corrections`."""
    rows = [_corrections(run, arm) for arm in run.arms]
    for arm in run.arms:
        if run.published and (counts := run.published.arms.get(arm, {})).get("needed"):
            accepted = counts.get("accepted_at")
            by = {f"accepted_{at}": n for at, n in accepted.items()} if isinstance(accepted, dict) else {}
            names = ("needed", "succeeded", "success_rate", "hard_rejected", "hard_reject_rate")
            rows.append({"arm": f"{arm} {MARK}", **{name: counts.get(name) for name in names}, **by})
    table = pd.DataFrame(rows)
    by_attempt = [str(name) for name in table if str(name).startswith("accepted_")]
    table = _integers(table, ["needed", "succeeded", "hard_rejected", *by_attempt])
    headers = {name: f"At {name.removeprefix('accepted_')}" for name in by_attempt}
    more = "At k: accepted after k corrections. Rejects are of completed queries"
    caption = "Corrections needed and succeeded, hard rejects, and acceptance by number of corrections."
    return _write(run, table, "corrections", caption, run.note(more=_source(run, more)), headers=headers)


def comparison_table(run: Run) -> pd.DataFrame:
    """Paired comparisons of arms: difference, interval, p and Holm's p within each metric: `comparisons`.

    Rates are resampled by contract; `contracts judged rightly` is McNemar's exact test, one pair a contract.
    """
    pairs = [pair for pair in COMPARISONS if set(pair) <= set(run.arms)]
    rows: list[dict[str, object]] = []
    for metric in confusion.RATES:
        found = [confusion.compare(run.frame, first, second, run.plan)[metric] for first, second in pairs]
        adjusted = holm([difference.p for difference in found])
        for (first, second), difference, p_holm in zip(pairs, found, adjusted, strict=True):
            if difference.value is not None:
                row = {"difference": difference.value, "difference_low": difference.low}
                row |= {"difference_high": difference.high, "p": difference.p, "p_holm": p_holm}
                rows.append({"metric": metric, "first": first, "second": second, **row})
    tests = [confusion.compare_documents(run.frame, first, second) for first, second in pairs]
    for (first, second), test, p_holm in zip(pairs, tests, holm([test.p for test in tests]), strict=True):
        share = (test.first_only - test.second_only) / test.pairs if test.pairs else None
        row = {"difference": share, "p": test.p, "p_holm": p_holm}
        rows.append({"metric": "contracts judged rightly", "first": first, "second": second, **row})
    names = ["metric", "first", "second", *_with_bounds(["difference"]), "p", "p_holm"]
    table = pd.DataFrame(rows, columns=names)
    more = "First arm minus second. p: bootstrap, or McNemar's exact test for contracts judged rightly. Holm by metric"
    headers = {"f1": "F1", "p": "p", "p_holm": "p (Holm)"}
    caption = "Paired comparisons of arms."
    return _write(run, table, "comparisons", caption, run.note(more=more), headers=headers, decimals=3)


def outcome_table(run: Run) -> pd.DataFrame:
    """Queries per arm and outcome: `outcomes`."""
    order = ("accepted", "corrected", "hard_rejected", "source_finding", "unchecked", "error")
    counts = pd.crosstab(run.frame["arm"], run.frame["outcome"])
    counts = counts.reindex(index=run.arms, columns=list(order), fill_value=0)
    table = counts.rename_axis(columns=None).reset_index()
    return _write(run, table, "outcomes", "Outcomes of queries by arm.", run.note(interval=False))


# --- quality


def scored_quality(run: Run, cache: Path | None = CACHE) -> quality.Quality:
    """ROUGE-L and BERTScore of the run's answers."""
    return quality.score_quality(run.records, run.settings.evaluation.bertscore_model, cache)


def quality_table(run: Run, scored: quality.Quality) -> pd.DataFrame:
    """ROUGE-L and BERTScore per arm, over all answers and over accepted ones, published ones beside: `quality`."""
    names = [*quality.METRICS, *quality.RESCALED]
    parts = []
    for answers, only in (("all", False), ("accepted", True)):
        part = quality.quality_by(scored, ["arm"], run.plan, accepted_only=only)
        part.insert(1, "which", answers)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)[["arm", "which", "answers", *_with_bounds(names)]]
    beside = [
        {"arm": f"{arm} {MARK}", "which": "all", "answers": run.published.value(arm, "queries")}
        | {name: run.published.value(arm, name) for name in quality.METRICS}
        for arm in run.arms
        if run.published and run.published.value(arm, "rouge_l") is not None
    ]
    table = _integers(pd.concat([table, pd.DataFrame(beside)], ignore_index=True) if beside else table, ["answers"])
    note = run.note(more=_source(run, _bert_note(scored)))
    caption = "Likeness of answers to reference answers by arm: ROUGE-L F and BERTScore."
    _write(run, table, "quality_components", caption, note, decimals=3)
    main = ["rouge_l", "bertscore_f1", "bertscore_f1_rescaled"]
    return _write(run, table[["arm", "which", "answers", *_with_bounds(main)]], "quality", caption, note)


def quality_comparison_table(run: Run, scored: quality.Quality) -> pd.DataFrame:
    """Paired differences in quality between arms, over queries that both accepted: `quality_comparisons`."""
    pairs = [pair for pair in COMPARISONS if set(pair) <= set(run.arms)]
    rows = []
    for metric in ("rouge_l", "bertscore_f1"):
        found = [quality.compare_quality(scored, first, second, metric, run.plan) for first, second in pairs]
        for (first, second), d, p_holm in zip(pairs, found, holm([d.p for d in found]), strict=True):
            rows.append((metric, first, second, d.clusters, d.value, d.low, d.high, d.p, p_holm))
    names = ["metric", "first", "second", "contracts", *_with_bounds(["difference"]), "p", "p_holm"]
    note = run.note(more=f"First arm minus second, over queries accepted by both. {_bert_note(scored)}")
    caption = "Paired differences in likeness to the reference answer."
    return _write(run, pd.DataFrame(rows, columns=names), "quality_comparisons", caption, note)


# --- latency


def latency_table(run: Run, seconds: pd.DataFrame) -> pd.DataFrame:
    """Seconds per arm and part, published ones beside them: `latency`."""
    table = latency.summary(seconds)
    if run.published and "ovrag" in run.arms:
        rows = [{"arm": f"ovrag {MARK}", "part": part, **row} for part, row in run.published.latency.items()]
        table = _integers(pd.concat([table, pd.DataFrame(rows)], ignore_index=True), ["n"])
    note = run.note(interval=False, more=_source(run, "Seconds, one machine; share of the summed totals"))
    caption = "Latency by arm and part, in seconds."
    return _write(run, table, "latency", caption, note, decimals={**dict.fromkeys(latency.STATISTICS, 4), "share": 3})


def latency_attempts_table(run: Run, seconds: pd.DataFrame) -> pd.DataFrame:
    """Seconds per arm and number of attempts, published ones beside them: `latency_by_attempts`."""
    table = latency.by_attempts(seconds)
    if run.published and "ovrag" in run.arms and run.published.latency_by_attempts:
        rows = pd.DataFrame(run.published.latency_by_attempts).assign(arm=f"ovrag {MARK}")
        table = _integers(pd.concat([table, rows], ignore_index=True), ["n", "attempts"])
    note = run.note(interval=False, more=_source(run, "Seconds, one machine"))
    return _write(run, table, "latency_by_attempts", "Latency by number of attempts, in seconds.", note, decimals=4)


def latency_outlier_table(run: Run, seconds: pd.DataFrame) -> pd.DataFrame:
    """Queries far slower than the rest of their arm: `latency_outliers`."""
    table = latency.outliers(seconds)
    more = "Above Q3 + 3 IQR of the logarithm within the arm. Seconds, one machine"
    note = run.note(interval=False, more=more)
    return _write(run, table, "latency_outliers", "Outliers in latency.", note, decimals=4, rows=20)


# --- contamination


def contamination_table(run: Run, sources: pd.DataFrame) -> pd.DataFrame:
    """Shares of answers, and of retrieved chunks, about the asked contract, mixed, or only others: `contamination`."""
    parts = []
    for what, column in (("answer", "about"), ("retrieved chunks", "retrieved_about")):
        part = contamination.shares(sources, run.plan, column)
        part.insert(1, "of", what)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True).rename(columns={"answers": "n", "other": "others_only"})
    table = table.rename(columns={"other_low": "others_only_low", "other_high": "others_only_high"})
    basis = (
        "the passages it quotes" if (sources["basis"] == "answer").all() else "retrieved chunks where none are quoted"
    )
    note = run.note(more=f"What an answer is about is read from {basis}; n leaves out answers about nothing (none)")
    caption = "Which contract answers and retrieved chunks are about, by arm."
    return _write(run, table, "contamination", caption, note)


def false_positive_table(run: Run) -> pd.DataFrame:
    """Inventory of false positives, published ones beside them: `false_positives`."""
    table = contamination.false_positive_frame(run.records)
    if run.published and "ovrag" in run.arms:
        rows = pd.DataFrame(run.published.false_positives).assign(arm=f"ovrag {MARK}", attempts=4)
        rows["outcome"] = "hard_rejected"
        table = _integers(pd.concat([table, rows], ignore_index=True), ["attempts"])
    note = run.note(interval=False, more=_source(run))
    shown = ["arm", "document_id", "question_id", "outcome", "attempts", "chunks_also_from", "rules"]
    _write(run, table, "false_positives_full", "False positives in full.", note, rows=15)
    return _write(run, table[shown], "false_positives", "False positives.", note, rows=25)


def wrong_answer_table(run: Run, sources: pd.DataFrame) -> pd.DataFrame:
    """Accepted answers about other contracts only: `wrong_contract_answers`."""
    table = contamination.wrong_answers(sources)
    note = run.note(interval=False, more="Accepted answers whose passages are all of other contracts")
    caption = "Accepted answers about the wrong contract."
    return _write(run, table, "wrong_contract_answers", caption, note, rows=20)


# --- figures


def confusion_figure(run: Run) -> Path:
    """Heat map of the matrix per arm."""
    maps = {}
    for arm in run.arms:
        counts = confusion.count(run.frame[run.frame["arm"] == arm])
        cells = [[counts.tp, counts.fn], [counts.fp, counts.tn]]
        maps[arm] = pd.DataFrame(cells, index=["clash", "clean"], columns=["flagged", "not"])
    fig = figures.heat_maps(maps, run.width, row_label="expected", column_label="")
    caption = "Confusion matrices by arm; shading and percentages are shares of a row."
    return _save(run, fig, "confusion", caption, run.note(interval=False))


def rates_figure(run: Run) -> Path:
    """Precision, recall and F1 per arm with intervals and published values."""
    table = confusion.confusion_by(run.frame, ["arm"], run.plan)
    titles = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
    fig = figures.rates_by_group(table, "arm", titles, run.width, published=_published_rates(run, titles))
    return _save(run, fig, "rates", "Precision, recall and F1 by arm.", run.note(more=_source(run)))


def detection_figure(run: Run) -> Path:
    """Every query as a cell: contracts across, questions down, a panel an arm; contracts grouped by expected clash."""
    order = run.frame[["document_id", "clash_type"]].drop_duplicates().sort_values("document_id")
    places = {name: place for place, name in enumerate(order["clash_type"].unique())}
    order = order.assign(place=order["clash_type"].map(places)).sort_values(["place", "document_id"], kind="stable")
    kinds = {
        "tp": ("clash, flagged", "#0b5c8a"),
        "fn": ("clash, missed", "#f0a35e"),
        "fp": ("clean, flagged", "#b2182b"),
        "tn": ("clean, accepted", "0.93"),
        "unchecked": ("unchecked", "0.6"),
        "error": ("error", "black"),
        "unlabelled": ("no label", "#fdf3c8"),
    }
    tables = {}
    for arm, group in run.frame.groupby("arm", sort=False):
        wide = group.pivot(index="question_id", columns="document_id", values="cell")
        tables[str(arm)] = wide.reindex(columns=order["document_id"]).rename(columns=_number_of)
    fig = figures.grid_of_cells(
        tables,
        kinds,
        run.width,
        row_label="question",
        column_label="contract",
        groups=order["clash_type"].tolist(),
    )
    caption = "Every query by contract and question: what was expected and what was flagged."
    return _save(run, fig, "detection", caption, run.note(interval=False))


def quality_figure(run: Run, scored: quality.Quality) -> Path:
    """ROUGE-L and BERTScore F1 of accepted answers per arm with intervals."""
    table = quality.quality_by(scored, ["arm"], run.plan, accepted_only=True)
    titles = {"rouge_l": "ROUGE-L", "bertscore_f1": "BERTScore F1", "bertscore_f1_rescaled": "BERTScore F1, rescaled"}
    fig = figures.rates_by_group(table, "arm", titles, run.width)
    note = run.note(more=f"Accepted answers. {_bert_note(scored)}")
    return _save(run, fig, "quality", "Likeness of accepted answers to reference answers.", note)


def latency_figures(run: Run, seconds: pd.DataFrame) -> list[Path]:
    """Histogram of totals per arm, and the distribution of each part, both on a logarithmic scale."""
    samples = {str(arm): group[latency.TOTAL] for arm, group in seconds.groupby("arm", sort=False)}
    histogram = figures.log_histograms(samples, run.width, label="seconds per query")
    parts = [*latency.PARTS, latency.TOTAL]
    boxes = figures.part_distributions(seconds, "arm", parts, run.width, label="seconds per query")
    note = run.note(interval=False, more="One machine")
    return [
        _save(run, histogram, "latency_histogram", "Latency of queries by arm, logarithmic scale.", note),
        _save(run, boxes, "latency_parts", "Latency by part and arm, logarithmic scale.", note),
    ]


def contamination_figures(run: Run, sources: pd.DataFrame) -> list[Path]:
    """Shares per arm as bars, and asked × answered contract as matrices."""
    table = contamination.shares(sources, run.plan)
    parts = {"asked": "asked contract only", "mixed": "asked and others", "other": "other contracts only"}
    bars = figures.stacked_shares(table, "arm", parts, run.width, unit="share of answers")
    counts = {arm: contamination.matrix(sources, arm) for arm in run.arms}
    matrices = {arm: table.rename(columns=_number_of, index=_number_of) for arm, table in counts.items()}
    grid = figures.matrices(
        matrices, run.width, row_label="asked contract", column_label="answered contract", unit="queries"
    )
    note = run.note(interval=False)
    return [
        _save(run, bars, "contamination_shares", "Which contract answers are about, by arm.", note),
        _save(run, grid, "contamination_matrix", "Asked contract against the main source of the answer.", note),
    ]


# --- numbers


def numbers_file(run: Run, scores: Json) -> Path:
    """Macros of the headline figures of a scored run: `numbers.tex`."""
    arms = scores["arms"]
    assert isinstance(arms, dict)
    values = {
        "RunName": run.name,
        "RunModel": run.model,
        "RunContracts": str(run.frame["document_id"].nunique()),
        "RunQuestions": str(run.frame["question_id"].nunique()),
        "RunQueries": str(len(run.frame)),
        "RunConfidence": f"{run.plan.confidence:.0%}",
        "RunResamples": str(run.plan.samples),
        "BertscoreModel": str(scores["bertscore_model"]),
    }
    for arm, result in arms.items():
        values |= _arm_numbers(arm, result)
    for arm, published in (run.published.arms if run.published else {}).items():
        names = [name for name, value in published.items() if not isinstance(value, dict)]
        values |= {numbers.macro_name("published", arm, name): f"{published[name]:g}" for name in names}
    comment = f"Run {run.name}, model {run.model}. Published...: as published by {_publisher(run)}."
    return numbers.write_numbers(values, run.tables / "numbers.tex", comment)


def latency_numbers_file(run: Run, seconds: pd.DataFrame) -> Path:
    """Macros of mean, median and 95th percentile per arm and part: `numbers_latency.tex`."""
    values = {}
    for _, row in latency.summary(seconds).iterrows():
        for name in ("mean", "median", "p95"):
            values[numbers.macro_name("latency", row["arm"], row["part"], name)] = figures.duration(float(row[name]))
    return numbers.write_numbers(values, run.tables / "numbers_latency.tex", f"Run {run.name}; one machine.")


def _arm_numbers(arm: str, result: Json) -> dict[str, str]:
    values = {}
    rates = ["precision", "recall", "f1", "hard_reject_rate", "rouge_l", "rouge_l_accepted", "wrong_contract_rate"]
    for name in rates:
        values[numbers.macro_name(arm, name)] = numbers.number(result[name])
        values[numbers.macro_name(arm, name, "interval")] = numbers.interval(result[f"{name}_interval"])
    for group, names in (
        ("confusion", [*confusion.MATRIX, *confusion.BESIDE]),
        ("corrections", ["needed", "succeeded"]),
        ("contracts", ["clashes", "clashes_flagged", "clean", "clean_flagged", "detection", "false_alarm"]),
        ("bertscore", ["precision", "recall", "f1", "f1_rescaled"]),
    ):
        found = result[group]
        assert isinstance(found, dict)
        values |= {numbers.macro_name(arm, group, name): numbers.number(found[name]) for name in names}
    values[numbers.macro_name(arm, "queries")] = numbers.number(result["queries"])
    values[numbers.macro_name(arm, "asked_contract_rate")] = numbers.number(result.get("asked_contract_rate"))
    return values


def _corrections(run: Run, arm: str) -> dict[str, object]:
    frame = run.frame[run.frame["arm"] == arm]
    row: dict[str, object] = {"arm": arm, "needed": int(frame["needed"].sum())}
    row["succeeded"] = int(frame["succeeded"].sum())
    row |= confusion.columns("success_rate", confusion.correction_success(frame, run.plan))
    row["hard_rejected"] = int(frame["hard_rejected"].sum())
    row |= confusion.columns("hard_reject_rate", confusion.hard_reject_rate(frame, run.plan))
    most = max(int(run.frame["accepted_at"].max()) if run.frame["accepted_at"].notna().any() else 0, 2)
    return row | {f"accepted_{at}": int((frame["accepted_at"] == at).sum()) for at in range(most + 1)}


def _with_published(run: Run, table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with a row for each published arm that the run has; what was not published is missing."""
    rows = [
        {"arm": f"{arm} {MARK}"} | {name: run.published.value(arm, name) for name in names}
        for arm in run.arms
        if run.published and any(run.published.value(arm, name) is not None for name in names if name != "queries")
    ]
    both = pd.concat([table, pd.DataFrame(rows)], ignore_index=True) if rows else table
    return _integers(both, [name for name in names if name not in confusion.RATES])


def _published_rates(run: Run, names: dict[str, str]) -> dict[str, dict[str, float]]:
    if run.published is None:
        return {}
    found = {arm: {name: run.published.value(arm, name) for name in names} for arm in run.arms}
    rates = {arm: {n: v for n, v in values.items() if v is not None} for arm, values in found.items()}
    return {arm: values for arm, values in rates.items() if values}


def _recall(counts: dict[str, int]) -> float | None:
    clashes = counts["tp"] + counts["fn"]
    return counts["tp"] / clashes if clashes else None


def _integers(table: pd.DataFrame, names: Sequence[str] | dict[str, str]) -> pd.DataFrame:
    """Counts as whole numbers, missing ones allowed."""
    return table.astype({name: "Int64" for name in names if name in table})


def _with_bounds(names: Sequence[str]) -> list[str]:
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


def _publisher(run: Run) -> str:
    return f"{run.published.source} ({run.published.model})" if run.published else "nobody"


def _source(run: Run, more: str = "") -> str:
    """`more` with a sentence on published rows, where there are any."""
    if run.published is None:
        return more
    return f"{more + '. ' if more else ''}{MARK}: as published, {_publisher(run)}, not measured here"


def _bert_note(scored: quality.Quality) -> str:
    base = f"{scored.baseline.f1:.3f}" if scored.baseline else "none"
    return (
        f"BERTScore with {scored.model}, rescaled with our baseline (F1 {base}) of reference answers paired at random"
    )


def _number_of(document_id: str) -> str:
    """The number that a document's id ends with, for crowded axes; else the id."""
    digits = document_id.rstrip("0123456789")
    return document_id[len(digits) :].lstrip("0") or document_id


def _write(
    run: Run,
    table: pd.DataFrame,
    name: str,
    caption: str,
    note: Note,
    *,
    headers: dict[str, str] | None = None,
    decimals: int | dict[str, int] = 3,
    rows: int | None = None,
    long: bool = False,
) -> pd.DataFrame:
    titles = {**HEADERS, **(headers or {})}
    return write_table(
        table, name, caption, note, folder=run.tables, headers=titles, decimals=decimals, rows=rows, long=long
    )


def _save(run: Run, fig: Figure, name: str, caption: str, note: Note) -> Path:
    return figures.save_figure(fig, name, caption=caption, note=note, folder=run.figures)
