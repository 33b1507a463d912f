"""Published figures that stand beside ours; none was measured here."""

from functools import cache
from importlib.resources import files

import yaml

from ovrag_core.base import Part


class PublishedSystem(Part):
    """Accuracy of a system on a benchmark, 0 to 1, with its source."""

    system: str
    accuracy: float
    questions: int
    source: str


class PublishedLoop(Part):
    """Basis of the published table of the loop."""

    source: str
    model: str
    chains: int
    not_measured: str


class PublishedFigures(Part):
    """Contents of `published.yaml`."""

    loop: PublishedLoop
    counterbench: tuple[PublishedSystem, ...]
    cladder: tuple[PublishedSystem, ...]


@cache
def published() -> PublishedFigures:
    """Return what `published.yaml` holds."""
    text = (files(__package__) / "published.yaml").read_text(encoding="utf-8")
    return PublishedFigures.model_validate(yaml.safe_load(text))
