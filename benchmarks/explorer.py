"""Start of the explorer to the first answer in a browser, and its kernels: `python benchmarks/explorer.py --times 3`.

Each start has a new browser profile and a server of its own, over the contracts and the index of this project. Seconds
are from the start of the server: until it listens, until the controls are shown, until the first answer is. Processor
seconds are those of the server with its kernel and reasoner, and those of the browser, until the first answer. After
that the page is reloaded, then left, and the kernels that run are counted. Memory is that of server, kernel and
reasoner at the first answer.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tests"))
from browser import Page, Server, open_browser, serve_explorer, wait_for  # noqa: E402 - the tests' browser

SHOWN = "!!document.querySelector('[data-part=answer]')"


RELOADS = 20
SETTLED = 30  # seconds in which kernels of earlier pages have to end


class Start(NamedTuple):
    """One start, in seconds but for the last four: GB, kernels twice, and the machine's load before the start."""

    listening: float
    controls: float
    answer: float
    further: float
    server_cpu: float
    browser_cpu: float
    memory: float
    reloaded: float
    closed: float
    load: float


NAMES = (
    "the server listens",
    "the controls are shown",
    "the first answer is shown",
    "a further answer, from its question on",
    "processor seconds of server, kernel and reasoner",
    "processor seconds of the browser",
    "memory of server, kernel and reasoner, GB",
    f"kernels after {RELOADS} reloads",
    "kernels after the page is closed",
    "load of the machine before",
)


def processor_seconds(root: psutil.Process) -> float:
    """What a process and those it started have used."""
    used = 0.0
    for process in (root, *root.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            used += times.user + times.system
    return used


def ask(page: Page) -> None:
    """Press the button, and wait for the answer."""
    page.evaluate("document.querySelectorAll('[data-part=answer]').forEach(each => each.remove())")
    page.evaluate("document.querySelector('.ovx-ask').click()")
    page.wait(SHOWN, 120)


def memory_of(root: psutil.Process) -> float:
    """Return the memory of a process and those it started, in GB; what they share is counted once."""
    return sum(process.memory_full_info().pss for process in (root, *root.children(recursive=True))) / 1e9


def kernels_after_reloads(page: Page, server: Server) -> tuple[int, int]:
    """Return how many kernels run after reloading the page often, and after it was left."""
    for _ in range(RELOADS):
        page.call("Page.reload")
        page.wait("!!document.querySelector('.ovx-ask:not([disabled])')", 120)
    with suppress(AssertionError):
        wait_for(lambda: len(server.kernels()) <= 1, SETTLED, "the earlier kernels")
    reloaded = len(server.kernels())
    page.call("Page.navigate", url="about:blank")
    with suppress(AssertionError):
        wait_for(lambda: not server.kernels(), SETTLED, "the last kernel")
    return reloaded, len(server.kernels())


def one_start(folder: Path) -> Start:
    """Start everything, ask as soon as the button can be pressed, and end everything."""
    load = os.getloadavg()[0]
    with open_browser(folder) as page:
        browser = psutil.Process().children()[0]
        before, began = processor_seconds(browser), time.monotonic()
        with serve_explorer(PROJECT, folder / "log") as server:
            listening = time.monotonic() - began
            page.call("Page.navigate", url=server.opened)
            page.wait("!!document.querySelector('.ovx-ask:not([disabled])')", 120)
            controls = time.monotonic() - began
            ask(page)
            answer = time.monotonic() - began
            used = processor_seconds(server.process), processor_seconds(browser) - before
            memory = memory_of(server.process)
            asked = time.monotonic()
            page.evaluate("document.querySelectorAll('select')[1].selectedIndex = 1")
            page.evaluate("document.querySelectorAll('select')[1].dispatchEvent(new Event('change', {bubbles: true}))")
            ask(page)
            further = time.monotonic() - asked
            return Start(
                listening, controls, answer, further, *used, memory, *kernels_after_reloads(page, server), load
            )


def table(starts: Sequence[Start]) -> str:
    """Return a Markdown table with a line for each quantity: its median, least and most."""
    rows = [
        f"| {name} | {statistics.median(values):.1f} | {min(values):.1f} | {max(values):.1f} |"
        for name, values in zip(NAMES, zip(*starts, strict=True), strict=True)
    ]
    return "\n".join([f"| seconds, n = {len(starts)} | median | least | most |", "|---|---|---|---|", *rows])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3, help="how many starts")
    asked = parser.parse_args()
    starts = []
    for _ in range(asked.times):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            starts.append(one_start(Path(folder)))
    print(table(starts))


if __name__ == "__main__":
    main()
