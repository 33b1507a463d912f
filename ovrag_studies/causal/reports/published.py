"""Published figures that stand beside ours; none was measured here."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def published() -> dict[str, Any]:
    """Return what `published.yaml` holds: systems by language, their accuracies 0 to 1, and the table of the loop."""
    figures: dict[str, Any] = yaml.safe_load((files(__package__) / "published.yaml").read_text(encoding="utf-8"))
    return figures
