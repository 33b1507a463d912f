"""A progress bar that shows itself only when there is something to wait for."""

from __future__ import annotations

import sys

from tqdm import tqdm

DELAY_SECONDS = 2.0


def bar(total: int, label: str, unit: str = "it") -> tqdm[None]:
    """A bar on standard error that appears after two seconds, and only where a person is watching."""
    return tqdm(
        total=total, desc=label, unit=unit, delay=DELAY_SECONDS, leave=False, disable=not sys.stderr.isatty(), ncols=90
    )
