"""The lists that contracts are sampled and worded from: the YAML files beside this module, which explain them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

_FOLDER = Path(__file__).resolve().parent
Entry = dict[str, Any]  # of a list: a place, a register, a kind of loan


@cache
def lists() -> Entry:
    """The lists of all files by name, each in its file's order."""
    named: Entry = {}
    for path in _FOLDER.glob("*.yaml"):
        named |= yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return named
