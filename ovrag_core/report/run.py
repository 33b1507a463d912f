"""A run opened for evaluation, published figures to stand beside it, and how its results are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from ovrag_core.base import Frozen, QueryRecord, RunError, Settings, SettingsError, read_model
from ovrag_core.evaluation import Difference, Resampling, confusion, holm, resampling
from ovrag_core.report.captions import read_captions
from ovrag_core.report.figures import FIGURES, save_figure
from ovrag_core.report.tables import TABLES, write_table

PACKAGE = "ovrag_core.report"  # whose captions a run has
PUBLISHED = Path("data/published.yaml")
MARK = "(published)"
UNRECORDED = "not recorded"
CELLS = ("queries", *confusion.MATRIX)
CORRECTING = (
    "No model answers here: an answer quotes passages and words nothing anew, so that asked again it can only quote "
    "others of the same chunks. What corrections are worth shows with a model"
)
UNLABELLED = "No contract of this run has a label, so no flag can be counted as right or wrong."
# Pairs of arms that differ in one thing (or, last, in all that we add), first against second.
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
    calls_by_attempts: dict[int, int] = Field(default_factory=dict)
    false_positives: list[dict[str, str]] = Field(default_factory=list)


@dataclass(frozen=True)
class Run:
    """A run opened for evaluation: its records, one row a query, and how results are to be written.

    `folder` is that of its results within tables and figures, if they are not to lie there themselves. `prefix` begins
    the labels of its tables and figures and the names of its macros, where another run's are in the same document.
    """

    name: str
    records: Sequence[QueryRecord]
    settings: Settings
    published: Published | None = None
    tables: Path = TABLES
    figures: Path = FIGURES
    folder: str = ""
    prefix: str = ""
    frame: pd.DataFrame = field(init=False)

    def __post_init__(self) -> None:
        if not self.records:
            raise RunError(f"run {self.name} has no records; run the experiment first")
        object.__setattr__(self, "frame", confusion.query_frame(self.records))

    @property
    def plan(self) -> Resampling:
        """Plan by which intervals are made."""
        return resampling(self.settings.evaluation)

    @property
    def arms(self) -> list[str]:
        """The run's arms in their usual order."""
        return confusion.arms_of(self.records)

    @property
    def imported(self) -> bool:
        """Return True where the run was recorded elsewhere, so that its texts are not ours to print."""
        return any(record.recorded is not None for record in self.records)

    @property
    def judging(self) -> frozenset[str]:
        """Arms that judge their answers."""
        return frozenset(record.arm for record in self.records if any(attempt.verdict for attempt in record.attempts))

    @property
    def labelled(self) -> int:
        """Number of contracts whose label is known; without one nothing can be counted as right or wrong."""
        labelled = self.frame[self.frame["label"].isin(["CLEAN", "CLASH"])]
        return int(labelled["document_id"].nunique())

    @property
    def width(self) -> float:
        """Text width in inches."""
        return self.settings.figures.text_width_inches

    @property
    def model(self) -> str:
        """The models that answered."""
        return ", ".join(sorted(self.frame["model"].unique()))

    @property
    def publisher(self) -> str:
        """Name of the publisher of the figures that stand beside ours."""
        return f"{self.published.source} ({self.published.model})" if self.published else "nobody"

    def printed(self, arm: str) -> Mapping[str, Any]:
        """The published figures of an arm that this run has too."""
        return self.published.arms.get(arm, {}) if self.published and arm in self.arms else {}

    def table(
        self, frame: pd.DataFrame, name: str, words: Mapping[str, object] | None = None, **options: Any
    ) -> pd.DataFrame:
        """Write a table of the run and return it as LaTeX shows it.

        `words` are those of its caption and note, beside the run's own; `options` are those of `write_table`.
        """
        captions = read_captions(PACKAGE)
        caption, note = captions.filled("tables", name, self._words(words), "a run")
        headers = captions.headings(name, frame) | options.pop("headers", {})
        options |= {"folder": self.tables, "label": self._label(name), "headers": headers}
        return write_table(frame, self.place(name), caption, note, **options)

    def figure(self, fig: Figure, name: str, words: Mapping[str, object] | None = None, *, captioned: str = "") -> Path:
        """Write a figure of the run and return the path of the PNG; `captioned` names another caption than its own."""
        caption, note = read_captions(PACKAGE).filled("figures", captioned or name, self._words(words), "a run")
        return save_figure(
            fig, self.place(name), caption=caption, note=note, folder=self.figures, label=self._label(name)
        )

    def place(self, name: str) -> str:
        """The path of a result within tables and figures, without suffix."""
        return f"{self.folder}/{name}" if self.folder else name

    def _label(self, name: str) -> str:
        return f"{self.prefix}_{name}" if self.prefix else name

    def _words(self, words: Mapping[str, object] | None) -> dict[str, object]:
        """The words of captions: what every result rests on, and those of one result."""
        published = f"{MARK}: as published, {self.publisher}, not measured here" if self.published else ""
        plan = {"confidence": f"{self.plan.confidence:.0%}", "samples": self.plan.samples}
        own = {"model": self.model, "run": self.name, "published": published, **plan, **extent(self.frame)}
        return {**own, "correcting": CORRECTING if self.model.startswith("offline") else "", **(words or {})}


def extent(frame: pd.DataFrame) -> dict[str, object]:
    """The words of a caption that say which arms, and how many queries, contracts and questions a frame of them has."""
    counts = {"contracts": frame["document_id"].nunique(), "questions": frame["question_id"].nunique()}
    return {"arms": ", ".join(map(str, frame["arm"].unique())), "queries": len(frame), **counts}


def load_published(path: Path = PUBLISHED) -> Published:
    """Published figures from YAML. Raises SettingsError for a file that does not hold them."""
    return read_model(path, Published, SettingsError, "restore it")


def open_run(records: Sequence[QueryRecord], settings: Settings, folder: str = "", *, prefix: str = "") -> Run:
    """The run that the settings name. Published figures stand beside ours only for the generated corpus."""
    beside = load_published() if settings.corpus.is_generated and PUBLISHED.exists() else None
    return Run(settings.evaluation.run, records, settings, beside, folder=folder, prefix=prefix)


def paired_rows(
    run: Run, metrics: Sequence[str], difference: Callable[[tuple[str, str], str], Difference]
) -> list[dict[str, object]]:
    """Paired comparisons of the run's arms, a row a metric and pair, with Holm's p within each metric.

    Columns: metric, first, second, contracts, difference (and bounds), p, p_holm.
    """
    pairs = [pair for pair in COMPARISONS if set(pair) <= set(run.arms)]
    rows: list[dict[str, object]] = []
    for metric in metrics:
        differences = [difference(pair, metric) for pair in pairs]
        for (first, second), d, p_holm in zip(pairs, differences, holm([d.p for d in differences]), strict=True):
            row = {"metric": metric, "first": first, "second": second, "contracts": d.clusters}
            rows.append(row | confusion.bounds("difference", d) | {"p": d.p, "p_holm": p_holm})
    return rows


def with_rows(table: pd.DataFrame, rows: Sequence[Mapping[str, object]], counts: Iterable[str]) -> pd.DataFrame:
    """The table with published rows below its own; its columns of `counts` stay whole numbers, missing ones allowed."""
    longer = pd.concat([table, pd.DataFrame(rows)], ignore_index=True) if rows else table
    return longer.astype({name: "Int64" for name in counts if name in longer})


def number_of(document_id: str) -> str:
    """The number of a generated contract, for crowded axes; any other document's id as it is."""
    digits = document_id.removeprefix("Contract_")
    return digits.lstrip("0") if digits.isdecimal() and digits.strip("0") else document_id
