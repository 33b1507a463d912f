"""Parameters of a study, and how a study is made known: an entry point of the group `ovrag.studies`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Annotated, ClassVar, Self, TypeVar

from pydantic import Field

from ovrag_core.base import NotNegative, Part, Positive, Settings, SettingsError, study_settings

if TYPE_CHECKING:
    import typer

    from ovrag_core.evaluation import Resampling

T = TypeVar("T")


class Intervals(Part):
    """The resamples of intervals and their seed."""

    bootstrap_samples: Positive = 2000
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: NotNegative = 42

    @property
    def plan(self) -> Resampling:
        """Plan by which intervals are made."""
        from ovrag_core.evaluation import Resampling  # noqa: PLC0415 - loads scipy

        return Resampling(self.bootstrap_samples, self.confidence, self.seed)


class StudySettings(Part):
    """All parameters of a study, `studies.<name>` of params.yaml. Paths are relative to the project's folder.

    `sample` is how many of what is asked (cards, queries, questions, chains) are, evenly spread; None for all.
    """

    name: ClassVar[str]
    sample: Positive | None = None
    experiments: Intervals = Intervals()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the study's part of the settings. Raises SettingsError for an unknown key or a bad value."""
        return study_settings(settings, cls.name, cls)

    def sampled(self, items: Sequence[T]) -> list[T]:
        """Return the items that are asked, in their order."""
        count = len(items) if self.sample is None else min(self.sample, len(items))
        return [items[i * len(items) // count] for i in range(count)]

    @classmethod
    def changed(cls, settings: Settings, **parts: object) -> Settings:
        """Return the settings with other parts of the study, given as in params.yaml. Raises as `of`."""
        study_values = {**settings.studies.get(cls.name, {}), **parts}
        changed = settings.model_copy(update={"studies": {**settings.studies, cls.name: study_values}})
        cls.of(changed)
        return changed


@dataclass(frozen=True, slots=True)
class Study:
    """A study as its entry point names it: parameters, and its commands as `module:app`, loaded when they are asked.

    The name of the entry point is that of the parameters; the command's has hyphens for underscores.
    """

    settings: type[StudySettings]
    commands: str

    def load_commands(self) -> typer.Typer:
        """Return the study's commands. Raises SettingsError where `commands` names none."""
        try:
            app: typer.Typer = EntryPoint(self.settings.name, self.commands, "").load()
        except (ImportError, AttributeError, ValueError) as error:
            raise SettingsError(
                f"the study {self.settings.name}: its commands, {self.commands}, cannot be loaded ({error}); mend that"
            ) from None
        return app
