"""Where real data sets are, which are not part of the repository."""

from __future__ import annotations

import os
from pathlib import Path

from ovrag_core.project import project_file

VARIABLE = "OVRAG_EXTERNAL_DATA"
DEFAULT = Path("data/external")


def external_data(*parts: str) -> Path:
    """The path of a data set below `OVRAG_EXTERNAL_DATA`, or `data/external` without it; it need not exist."""
    return Path(os.environ.get(VARIABLE) or project_file(DEFAULT)).joinpath(*parts)
