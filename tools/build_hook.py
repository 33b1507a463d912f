"""Puts what the packages read beside their own files into a wheel, where `ovrag_core.base.project` looks for it.

An editable installation finds these files in the checkout.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = "ovrag_core/files"
INCLUDED = (
    "ontologies", "params.yaml", "data/samples",
    "data/external.yaml", "data/prices.yaml", "data/published.yaml", "data/questions.yaml", "data/unlabelled.json",
)  # fmt: skip


class Hook(BuildHookInterface):
    """Called by hatchling for each wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, unless the wheel is that of an editable installation."""
        if version != "editable":
            build_data["force_include"] |= {path: f"{FILES}/{path}" for path in INCLUDED}
