"""Published figures of the dissertation, which the study's own stand beside."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def published() -> dict[str, Any]:
    """Return the content of `published.yaml`: figures of the dissertation, by their names there."""
    figures: dict[str, Any] = yaml.safe_load((files(__package__) / "published.yaml").read_text(encoding="utf-8"))
    return figures
