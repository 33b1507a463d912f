"""Where the study's results go, what they rest on, and the published figures that they stand beside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypedDict

import pandas
import yaml
from matplotlib.figure import Figure

from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.statistics import Estimate, Resampling
from ovrag_core.report.figures import FIGURES, save_figure
from ovrag_core.report.tables import TABLES, Note, write_table
from ovrag_studies.cited.settings import Policy

FOLDER = "policy"
MODEL = "none but all-MiniLM-L6-v2 for vectors"
# Measures that notes explain, as short as columns are narrow.
HEADERS = {
    "abstention accuracy": "abstained",
    "wrong of answered": "wrong",
    "holds the gold quotation": "quotation",
    "citation recall": "gold cited",
    "quotes that verify": "verify",
    "ungrounded claims": "ungrounded",
    "conflict recall": "conflicts",
    "conflict precision": "of flagged",
    "conflicts told apart": "told apart",
}


class Published(TypedDict):
    """Figures of the dissertation, by their names there."""

    source: str
    corpus: str
    recorded: dict[str, dict[str, float | None]]
    draft: dict[str, dict[str, float]]
    critic: dict[str, float]


@cache
def published() -> Published:
    """What `published.yaml` holds."""
    text = (files(__package__) / "published.yaml").read_text(encoding="utf-8")
    read: Published = yaml.safe_load(text)
    return read


@dataclass(frozen=True, slots=True)
class Book:
    """Where results go, how wide figures are, how intervals are made, and the chat model, if one was asked."""

    plan: Resampling
    width: float
    alpha: float
    chat: str = ""
    tables: Path = TABLES
    figures: Path = FIGURES

    def note(self, arm: str, n: str, interval: str = "", more: str = "") -> Note:
        """What a result rests on."""
        return Note(f"{MODEL}{self.chat and f'; {self.chat}'}", arm, n, interval and self._made(interval), more)

    def _made(self, how: str) -> str:
        return f"{self.plan.confidence:.0%}, {how}"

    @property
    def over_queries(self) -> str:
        """How intervals of shares and means over queries are made."""
        return f"over queries, Wilson for shares, bootstrap of {self.plan.samples} resamples for means"


def open_book(settings: Settings) -> Book:
    """The book of the settings."""
    options = Policy.of(settings)
    chat = settings.llm.model if settings.llm.provider != "offline" else ""
    plan = options.experiments.plan
    return Book(plan, settings.figures.text_width_inches, options.silence.alpha, chat)


def table(
    book: Book, frame: pandas.DataFrame, name: str, caption: str, note: Note, full: pandas.DataFrame | None = None
) -> pandas.DataFrame:
    """Write `tables/policy/<name>`, the CSV with `full` where that is given; the table as LaTeX shows it."""
    (book.tables / FOLDER).mkdir(parents=True, exist_ok=True)
    headers = {str(column): HEADERS.get(str(column), str(column)) for column in frame.columns}
    return write_table(frame, f"{FOLDER}/{name}", caption, note, folder=book.tables, headers=headers, full=full)


def figure(book: Book, fig: Figure, name: str, caption: str, note: Note) -> Path:
    """Write `figures/policy/<name>`; the path of the PNG."""
    (book.figures / FOLDER).mkdir(parents=True, exist_ok=True)
    return save_figure(fig, f"{FOLDER}/{name}", caption=caption, note=note, folder=book.figures)


def bounds(name: str, found: Estimate) -> dict[str, float | None]:
    """A figure as the columns of a table."""
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def plain(found: Estimate) -> dict[str, float | None]:
    """A figure as the columns of a picture."""
    return {"value": found.value, "low": found.low, "high": found.high}
