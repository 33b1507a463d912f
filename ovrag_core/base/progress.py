"""Signs of life on standard error: only where a person is watching, and only when there is something to wait for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Never

from tqdm import tqdm

DELAY_SECONDS = 2.0

_waiting: list[Timer] = []


def bar(total: int, label: str, unit: str = "it") -> tqdm[Never]:
    """A bar on standard error that appears after two seconds, and only where a person is watching."""
    no_notice()
    hidden = not sys.stderr.isatty()
    progress: tqdm[Never] = tqdm(
        total=total, desc=label, unit=unit, delay=DELAY_SECONDS, leave=False, disable=hidden, ncols=90
    )
    return progress


@contextmanager
def notice(text: str) -> Iterator[None]:
    """Print `text` on standard error after two seconds where a person is watching, unless a bar or notice begins."""
    no_notice()
    if not sys.stderr.isatty():
        yield
        return
    timer = Timer(DELAY_SECONDS, print, (text,), {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    _waiting.append(timer)
    try:
        yield
    finally:
        timer.cancel()


def no_notice() -> None:
    """Print no notice that is still to come: something else is shown from now on."""
    while _waiting:
        _waiting.pop().cancel()


def print_beside(text: str) -> None:
    """Print on standard output, with any bar on the same terminal taken away for the moment."""
    no_notice()
    with tqdm.external_write_mode(file=sys.stdout):
        print(text, flush=True)
