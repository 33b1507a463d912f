"""Where the study's results go, what they rest on, and the published figures that they stand beside."""

from __future__ import annotations

from collections.abc import Mapping
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
from ovrag_studies.causal.settings import Causal

FOLDER = "causal"
NO_MODEL = "none"


class System(TypedDict):
    """A published accuracy on a benchmark."""

    system: str
    accuracy: float
    questions: int
    source: str


class Loop(TypedDict):
    """What the published table of the loop rests on."""

    source: str
    model: str
    chains: int
    not_measured: str


class Published(TypedDict):
    """Figures of others."""

    loop: Loop
    counterbench: list[System]
    cladder: list[System]


@cache
def published() -> Published:
    """What `published.yaml` holds."""
    read: Published = yaml.safe_load((files(__package__) / "published.yaml").read_text(encoding="utf-8"))
    return read


@dataclass(frozen=True, slots=True)
class Book:
    """Where results go, how wide figures are, and how intervals are made."""

    plan: Resampling
    width: float
    tables: Path = TABLES
    figures: Path = FIGURES

    def note(self, model: str, arm: str, n: str, cluster: str = "", more: str = "") -> Note:
        """What a result rests on; `cluster` is what is resampled, as a plural."""
        interval = f"{self.plan.confidence:.0%}, bootstrap of {self.plan.samples} resamples over {cluster}"
        return Note(model, arm, n, interval if cluster else "", more)


def open_book(settings: Settings) -> Book:
    """The book of the settings."""
    return Book(Causal.of(settings).experiments.plan, settings.figures.text_width_inches)


def table(
    book: Book,
    frame: pandas.DataFrame,
    name: str,
    caption: str,
    note: Note,
    *,
    full: pandas.DataFrame | None = None,
    headers: Mapping[str, str] | None = None,
    decimals: int | Mapping[str, int] = 3,
    long: bool = False,
) -> pandas.DataFrame:
    """Write `tables/causal/<name>`, the CSV with `full` where that is given; the table as LaTeX shows it.

    `long` lets it run over pages.
    """
    (book.tables / FOLDER).mkdir(parents=True, exist_ok=True)
    shown = {str(column): str(column) for column in frame.columns} | dict(headers or {})
    place = f"{FOLDER}/{name}"
    return write_table(
        frame, place, caption, note, folder=book.tables, headers=shown, decimals=decimals, full=full, long=long
    )


def figure(book: Book, fig: Figure, name: str, caption: str, note: Note) -> Path:
    """Write `figures/causal/<name>`; the path of the PNG."""
    (book.figures / FOLDER).mkdir(parents=True, exist_ok=True)
    return save_figure(fig, f"{FOLDER}/{name}", caption=caption, note=note, folder=book.figures)


def bounds(name: str, found: Estimate) -> dict[str, float | None]:
    """A figure as the columns of a table."""
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
