"""Published figures of the dissertation, which the study's own stand beside."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TypedDict

import yaml


class DissertationFigures(TypedDict):
    """Figures of the dissertation, by their names there."""

    source: str
    corpus: str
    recorded: dict[str, dict[str, float | None]]
    draft: dict[str, dict[str, float]]
    critic: dict[str, float]


@cache
def published() -> DissertationFigures:
    """Return the content of `published.yaml`."""
    text = (files(__package__) / "published.yaml").read_text(encoding="utf-8")
    read: DissertationFigures = yaml.safe_load(text)
    return read
