"""A run opened for evaluation, published figures to stand beside it, and how its results are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from matplotlib.figure import Figure
from pydantic import Field, ValidationError

from ovrag_core.base import Frozen, QueryRecord, RunError, Settings, SettingsError
from ovrag_core.evaluation import Resampling, confusion, resampling
from ovrag_core.report import figures
from ovrag_core.report.tables import TABLES, Note, write_table

PUBLISHED = Path("data/published.yaml")
MARK = "(published)"
UNRECORDED = "not recorded"
CELLS = {"queries": "Queries", "tp": "TP", "fp": "FP", "tn": "TN", "fn": "FN"}
HEADERS = {
    **CELLS,
    "f1": "F1",
    "rouge_l": "ROUGE-L",
    "bertscore_precision": "BERTScore P",
    "bertscore_recall": "BERTScore R",
    "bertscore_f1": "BERTScore F1",
    "bertscore_f1_rescaled": "F1 rescaled",
    "p": "p",
    "p_holm": "p (Holm)",
    "bertscore_precision_rescaled": "P rescaled",
    "bertscore_recall_rescaled": "R rescaled",
    "clashes_flagged": "Flagged",
    "clean_flagged": "Flagged",
    "clash_type": "Type",
    "document_id": "Contract",
    "question_id": "Question",
}
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

    def value(self, arm: str, name: str) -> float | None:
        """A published figure of an arm; None where it was not published."""
        figure = self.arms.get(arm, {}).get(name)
        return None if isinstance(figure, dict) else figure


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
    figures: Path = figures.FIGURES
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
    def offline(self) -> bool:
        """Return True where no model answered."""
        return self.model.startswith("offline")

    def lacking(self, held: Callable[[QueryRecord], object]) -> list[str]:
        """The arms of which no record holds this."""
        return [arm for arm in self.arms if not any(held(record) for record in self.records if record.arm == arm)]

    @property
    def width(self) -> float:
        """Text width in inches."""
        return self.settings.figures.text_width_inches

    @property
    def model(self) -> str:
        """The models that answered."""
        return ", ".join(sorted(self.frame["model"].unique()))

    def note(self, *, interval: bool = True, arm: str = "", n: str = "", more: str = "") -> Note:
        """State what a table or figure of this run rests on; published rows are named where there are any."""
        documents = self.frame["document_id"].nunique()
        per_arm = f"{len(self.frame)} queries: {documents} contracts, {self.frame['question_id'].nunique()} questions"
        how = f"{self.plan.confidence:.0%}, BCa bootstrap over contracts as clusters ({self.plan.samples} resamples), "
        how += "of a share on which all contracts agree Wilson over contracts"
        model = f"{self.model}, run {self.name}"
        return Note(model, arm or ", ".join(self.arms), n or per_arm, how if interval else "", more)

    def printed(self, arm: str) -> Mapping[str, Any]:
        """The published figures of an arm that this run has too."""
        return self.published.arms.get(arm, {}) if self.published and arm in self.arms else {}

    def place(self, name: str) -> str:
        """The path of a result within tables and figures, without suffix."""
        return f"{self.folder}/{name}" if self.folder else name

    def label(self, name: str) -> str:
        """The label of a result in LaTeX."""
        return f"{self.prefix}_{name}" if self.prefix else name


def load_published(path: Path = PUBLISHED) -> Published:
    """Published figures from YAML. Raises SettingsError for a file that does not hold them."""
    try:
        return Published.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise SettingsError(f"{path} does not hold published figures ({reason}); restore it") from None


def open_run(
    records: Sequence[QueryRecord],
    settings: Settings,
    folder: str = "",
    *,
    published: Path = PUBLISHED,
    prefix: str = "",
) -> Run:
    """The run that the settings name. Published figures stand beside ours only for the generated corpus."""
    beside = load_published(published) if settings.corpus.is_generated and published.exists() else None
    return Run(settings.evaluation.run, records, settings, beside, folder=folder, prefix=prefix)


def write(
    run: Run,
    table: pd.DataFrame,
    name: str,
    caption: str,
    note: Note,
    *,
    headers: Mapping[str, str] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Write a table of the run; `options` are those of `tables.write_table`, which says what of it goes where."""
    titles = {**HEADERS, **(headers or {})}
    options |= {"folder": run.tables, "label": run.label(name)}
    return write_table(table, run.place(name), caption, note, headers=titles, **options)


def save(run: Run, fig: Figure, name: str, caption: str, note: Note) -> Path:
    """Write a figure of the run with its caption; the path of the PNG."""
    path, label = run.place(name), run.label(name)
    return figures.save_figure(fig, path, caption=caption, note=note, folder=run.figures, label=label)


def source(run: Run, more: str = "") -> str:
    """`more` with a sentence on published rows, where there are any."""
    remark = f"{MARK}: as published, {publisher(run)}, not measured here" if run.published else ""
    return ". ".join(filter(None, [more, remark]))


def quoting(run: Run) -> str:
    """Sentence to append on what a correction can do where no model answers; empty where one does."""
    return f". {CORRECTING}" if run.offline else ""


def publisher(run: Run) -> str:
    """Name the publisher of the figures that stand beside ours."""
    return f"{run.published.source} ({run.published.model})" if run.published else "nobody"


def integers(table: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Counts as whole numbers, missing ones allowed."""
    return table.astype({name: "Int64" for name in names if name in table})


def with_rows(table: pd.DataFrame, rows: Sequence[Mapping[str, object]], counts: Iterable[str]) -> pd.DataFrame:
    """The table with published rows below its own; its columns of `counts` stay whole numbers."""
    return integers(pd.concat([table, pd.DataFrame(rows)], ignore_index=True) if rows else table, counts)


def counted(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Rows that agree in `keys` as one, with their number and the first contract, in the order of their firsts."""
    groups = table.groupby(list(keys), sort=False, dropna=False)["document_id"]
    return groups.agg(queries="size", first_contract="first").reset_index()


def number_of(document_id: str) -> str:
    """The number of a generated contract, for crowded axes; any other document's id as it is."""
    digits = document_id.removeprefix("Contract_")
    return digits.lstrip("0") if digits.isdecimal() and digits.strip("0") else document_id
