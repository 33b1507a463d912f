"""Book of a study: where its tables and figures go, and what each rests on. The prose stands in `captions.yaml`.

That file stands beside the study's modules and has the fields of `Captions`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas
from matplotlib.figure import Figure

from ovrag_core.base import Settings
from ovrag_core.evaluation import Resampling
from ovrag_core.report import (
    FIGURES,
    TABLES,
    Captions,
    Note,
    display,
    numbers,
    read_captions,
    save_figure,
    within,
    write_table,
)
from ovrag_core.study.settings import StudySettings

SAMPLES, EXTERNAL = "samples", "external"


@dataclass(frozen=True, slots=True)
class Book:
    """Writer of a study's results: their folders, the width of figures, and the way intervals are made.

    `folder` is that of the study in tables/ and figures/. `results` is the one within it: SAMPLES, or a name that
    labels and macros of LaTeX have after `name`. `words` are known to every caption. `kept` is the number of decimals
    in a CSV, as `write_table` has it.
    """

    name: str
    folder: str
    captions: Captions
    plan: Resampling
    width: float
    words: Mapping[str, object] = field(default_factory=dict)
    kept: int | None = None
    results: str = SAMPLES
    tables: Path = TABLES
    figures: Path = FIGURES

    def table(
        self, frame: pandas.DataFrame, name: str, words: Mapping[str, object] | None = None, **options: Any
    ) -> pandas.DataFrame:
        """Write `tables/<folder>/<results>/<name>` and return the table as LaTeX shows it; latency lies apart.

        `words` are those of its caption and note; `options` are those of `write_table`: `full`, `decimals`, `long`.
        """
        caption, note = self._filled("tables", name, words)
        headers = self.captions.headings(name, frame)
        if self.results == EXTERNAL and self.captions.tables[name].quotes:
            return display(frame, headers, options.get("decimals", 3))
        options |= {"folder": self.tables, "label": f"{self._label}/{name}", "headers": headers, "kept": self.kept}
        return write_table(frame, within(f"{self.folder}/{self.results}", name), caption, note, **options)

    def figure(self, fig: Figure, name: str, words: Mapping[str, object] | None = None) -> Path:
        """Write `figures/<folder>/<results>/<name>` and return the path of the PNG."""
        caption, note = self._filled("figures", name, words)
        path, label = within(f"{self.folder}/{self.results}", name), f"{self._label}/{name}"
        return save_figure(fig, path, caption=caption, note=note, folder=self.figures, label=label)

    def numbers(self, values: Mapping[str, str], comment: str) -> Path:
        """Write macros to `tables/<folder>/<results>/numbers.tex`, each beginning with the study's name."""
        named = {numbers.macro_name(self._label, words): value for words, value in values.items()}
        return numbers.write_numbers(named, self.tables / self.folder / self.results / "numbers.tex", comment)

    @property
    def _label(self) -> str:
        return self.name if self.results == SAMPLES else f"{self.name}/{self.results}"

    def _filled(
        self, kind: Literal["tables", "figures"], name: str, words: Mapping[str, object] | None
    ) -> tuple[str, Note]:
        plan_words = {"samples": self.plan.samples, "confidence": f"{self.plan.confidence:.0%}"}
        return self.captions.filled(kind, name, {**plan_words, **self.words, **(words or {})}, self.name)


def open_book(settings: Settings, study: type[StudySettings], **words: object) -> Book:
    """Return the book of a study by the settings. The word `chat` names the model where one is asked, after `; `.

    Raises ResultError for captions that are missing or of another form.
    """
    captions = read_captions(study.__module__.rpartition(".")[0])
    chat = "" if settings.llm.provider == "offline" else f"; {settings.llm.model}"
    plan = study.of(settings).experiments.plan
    width = settings.figures.text_width_inches
    return Book(study.name, study.name, captions, plan, width, {"chat": chat, **words}, results=settings.results)
