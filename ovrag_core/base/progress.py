"""Signs of life on standard error: only where a person is watching, and only when there is something to wait for."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType
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
    """Print `text` on standard error where the block takes longer than two seconds and a person is watching.

    A bar or another notice that begins meanwhile takes its place.
    """
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


class Kept:
    """Number of a run's queries whose answers are on disk, for whoever stops the run."""

    def __init__(self) -> None:
        self._kept, self._total = 0, 0

    def count(self, kept: int, total: int) -> None:
        """Take in how many of how many are kept."""
        self._kept, self._total = kept, total

    def text(self) -> str:
        """Sentence on what a stopped run keeps."""
        if not self._total:
            return "stopping; what was answered before is kept"
        return f"stopping; {self._kept:,} of {self._total:,} queries are kept, and `ovrag run` goes on with the rest"


@contextmanager
def telling_of_interrupts(text: Callable[[], str]) -> Iterator[None]:
    """Say at once, at Ctrl-C in the block, what the sentence says; the KeyboardInterrupt comes after it.

    What is under way is waited for then, which may take seconds. A second Ctrl-C is not waited with.
    """
    before = signal.getsignal(signal.SIGINT)

    def told(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        print(f"\novrag: {text()}", file=sys.stderr, flush=True)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, told)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
