"""A progress bar that shows itself only when there is something to wait for."""

from __future__ import annotations

import sys
from typing import Never

from tqdm import tqdm

DELAY_SECONDS = 2.0


def bar(total: int, label: str, unit: str = "it") -> tqdm[Never]:
    """A bar on standard error that appears after two seconds, and only where a person is watching."""
    hidden = not sys.stderr.isatty()
    made: tqdm[Never] = tqdm(
        total=total, desc=label, unit=unit, delay=DELAY_SECONDS, leave=False, disable=hidden, ncols=90
    )
    return made
