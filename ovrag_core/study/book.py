"""Book of a study: where its tables and figures go, and what each rests on. The prose stands in `captions.yaml`.

That file stands beside the study's modules and has the fields of `Captions`. `{words}` in braces are filled in when a
result is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import pandas
from matplotlib.figure import Figure
from pydantic import Field, ValidationError

from ovrag_core.base import Part, ResultError, Settings, fault, read_yaml
from ovrag_core.evaluation import Resampling
from ovrag_core.report import FIGURES, TABLES, Note, display, numbers, save_figure, within, write_table
from ovrag_core.study.settings import StudySettings

CAPTIONS = "captions.yaml"
SAMPLES, EXTERNAL = "samples", "external"
NOTED = {"model", "arm", "n", "interval"}


class Caption(Part):
    """Caption of a table or figure, and the parts of its note; None stands for what the file says of all.

    A table that `quotes` the data is shown and not written where these are another publisher's.
    """

    caption: str
    model: str | None = None
    arm: str | None = None
    n: str | None = None
    interval: str | None = None
    more: str = ""
    quotes: bool = False


class Captions(Part):
    """All captions of a study; `model`, `arm`, `n` and `interval` are for those that say nothing else.

    `headers` renames columns; where `capitals` is true the others begin with a capital.
    """

    model: str = "none"
    arm: str = "each"
    n: str = ""
    interval: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    capitals: bool = False
    tables: dict[str, Caption] = Field(default_factory=dict)
    figures: dict[str, Caption] = Field(default_factory=dict)


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
        headers = {} if self.captions.capitals else {str(column): str(column) for column in frame.columns}
        headers |= self.captions.headers
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
        """Caption and note of a result. Raises ResultError for one without, or with a word not known."""
        captions: dict[str, Caption] = getattr(self.captions, kind)
        if name not in captions:
            raise ResultError(f"{CAPTIONS} of {self.name}: {kind} has no {name}; write its caption there")
        caption = captions[name]
        plan_words = {"samples": self.plan.samples, "confidence": f"{self.plan.confidence:.0%}"}
        placeholders = {**plan_words, **self.words, **(words or {})}
        templates = self.captions.model_dump(include=NOTED) | caption.model_dump(exclude={"quotes"}, exclude_none=True)
        try:
            filled = {key: template.format(**placeholders) for key, template in templates.items()}
        except KeyError as missing:
            raise ResultError(
                f"{CAPTIONS} of {self.name}: {kind}.{name} has the word {{{missing.args[0]}}}, which nobody fills in; "
                "give it to the table, the figure or the book"
            ) from None
        return filled.pop("caption"), Note(**filled)


def open_book(settings: Settings, study: type[StudySettings], **words: object) -> Book:
    """Return the book of a study by the settings. The word `chat` names the model where one is asked, after `; `.

    Raises ResultError for captions that are missing or not of the form that `Captions` has.
    """
    package = study.__module__.rpartition(".")[0]
    path = Path(str(files(package).joinpath(CAPTIONS)))
    try:
        captions = Captions.model_validate(read_yaml(path, ResultError, "each study has one beside its modules"))
    except ValidationError as problem:
        raise ResultError(f"{CAPTIONS} of {study.name}: {fault(problem)}; mend that") from None
    chat = "" if settings.llm.provider == "offline" else f"; {settings.llm.model}"
    plan = study.of(settings).experiments.plan
    width = settings.figures.text_width_inches
    return Book(study.name, study.name, captions, plan, width, {"chat": chat, **words}, results=settings.results)
