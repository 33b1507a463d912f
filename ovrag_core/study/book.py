"""Book of a study: where its tables and figures go, and what each rests on. The prose stands in `captions.yaml`.

That file stands beside the study's modules: `tables` and `figures` map names to captions; `model`, `arm`, `n` and
`interval` are for those that say nothing else; `headers` renames columns, and where `capitals` is true the others
begin with a capital. `{words}` in braces are filled in when a result is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import pandas
import yaml
from matplotlib.figure import Figure
from pydantic import Field

from ovrag_core.base.settings import Part, Settings
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.report import numbers
from ovrag_core.report.figures import FIGURES, save_figure
from ovrag_core.report.tables import TABLES, Note, write_table
from ovrag_core.study.settings import StudySettings

CAPTIONS = "captions.yaml"


class Caption(Part):
    """Caption of a table or figure, and the parts of its note; None stands for what the file says of all."""

    caption: str
    model: str | None = None
    arm: str | None = None
    n: str | None = None
    interval: str | None = None
    more: str = ""


class Captions(Part):
    """All captions of a study."""

    model: str = "none"
    arm: str = "each"
    n: str = ""
    interval: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    capitals: bool = False
    tables: dict[str, Caption]
    figures: dict[str, Caption]


@dataclass(frozen=True, slots=True)
class Book:
    """Where results of a study go, how wide figures are, and how intervals are made.

    `words` are known to every caption. `kept` is the number of decimals in a CSV, as `write_table` has it.
    """

    name: str
    captions: Captions
    plan: Resampling
    width: float
    words: Mapping[str, object] = field(default_factory=dict)
    kept: int | None = None
    tables: Path = TABLES
    figures: Path = FIGURES

    def table(
        self,
        frame: pandas.DataFrame,
        name: str,
        words: Mapping[str, object] | None = None,
        *,
        full: pandas.DataFrame | None = None,
        decimals: int | Mapping[str, int] = 3,
        long: bool = False,
    ) -> pandas.DataFrame:
        """Write `tables/<study>/<name>` and return the table as LaTeX shows it.

        `words` are those of its caption and note. The CSV holds `full` where that is given.
        """
        (self.tables / self.name).mkdir(parents=True, exist_ok=True)
        caption, note = self._filled(self.captions.tables[name], words)
        headers = {} if self.captions.capitals else {str(column): str(column) for column in frame.columns}
        return write_table(
            frame,
            f"{self.name}/{name}",
            caption,
            note,
            folder=self.tables,
            headers=headers | self.captions.headers,
            decimals=decimals,
            long=long,
            full=full,
            kept=self.kept,
        )

    def figure(self, fig: Figure, name: str, words: Mapping[str, object] | None = None) -> Path:
        """Write `figures/<study>/<name>` and return the path of the PNG."""
        (self.figures / self.name).mkdir(parents=True, exist_ok=True)
        caption, note = self._filled(self.captions.figures[name], words)
        return save_figure(fig, f"{self.name}/{name}", caption=caption, note=note, folder=self.figures)

    def numbers(self, values: Mapping[str, str], comment: str, name: str = "numbers") -> Path:
        """Write macros to `tables/<study>/<name>.tex`, each beginning with the study's name."""
        named = {numbers.macro_name(self.name, words): value for words, value in values.items()}
        return numbers.write_numbers(named, self.tables / self.name / f"{name}.tex", comment)

    def _filled(self, caption: Caption, words: Mapping[str, object] | None) -> tuple[str, Note]:
        made = {"samples": self.plan.samples, "confidence": f"{self.plan.confidence:.0%}"}
        known = {**made, **self.words, **(words or {})}
        parts = {}
        for part in ("model", "arm", "n", "interval"):
            own: str | None = getattr(caption, part)
            parts[part] = str(getattr(self.captions, part) if own is None else own).format(**known)
        return caption.caption.format(**known), Note(**parts, more=caption.more.format(**known))


def open_book(settings: Settings, study: type[StudySettings], **words: object) -> Book:
    """Return the book of a study by the settings. The word `chat` names the model where one is asked, after `; `."""
    package = study.__module__.rpartition(".")[0]
    captions = Captions.model_validate(yaml.safe_load(files(package).joinpath(CAPTIONS).read_text(encoding="utf-8")))
    chat = "" if settings.llm.provider == "offline" else f"; {settings.llm.model}"
    plan = study.of(settings).experiments.plan
    return Book(study.name, captions, plan, settings.figures.text_width_inches, {"chat": chat, **words})
