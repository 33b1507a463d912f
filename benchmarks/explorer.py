"""Start of the explorer to the first answer in a browser, and its kernels: `python benchmarks/explorer.py --times 3`.

Each start has a new browser profile and a server of its own, over the contracts and the index of this project. The
question is asked as soon as its button can be pressed. Memory is that of the server, the kernel and the reasoner after
the answer. Then the page is reloaded, then left, and the kernels that run are counted.
"""

from __future__ import annotations

import argparse
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

READY = "!!document.querySelector('.ovx-ask:not([disabled])')"
RELOADS = 20
SETTLED = 30  # seconds in which kernels of earlier pages have to end


class Start(NamedTuple):
    """One start: seconds, processor seconds twice, GB, kernels twice."""

    answer: float
    server_cpu: float
    browser_cpu: float
    memory: float
    reloaded: float
    closed: float


NAMES = (
    "seconds from the start of the server to the first answer",
    "processor seconds of it: server, kernel and reasoner",
    "processor seconds of it: the browser",
    "memory of server, kernel and reasoner, GB",
    f"kernels after {RELOADS} reloads",
    "kernels after the page is closed",
)


def processor_seconds(root: psutil.Process) -> float:
    """What a process and those it started have used."""
    used = 0.0
    for process in (root, *root.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            used += times.user + times.system
    return used


def memory_of(root: psutil.Process) -> float:
    """Return the memory of a process and those it started, in GB; what they share is counted once."""
    return sum(process.memory_full_info().pss for process in (root, *root.children(recursive=True))) / 1e9


def kernels_after_reloads(page: Page, server: Server) -> tuple[int, int]:
    """Return how many kernels run after reloading the page often, and after it was left."""
    for _ in range(RELOADS):
        page.evaluate("window.isOld = true")
        page.call("Page.reload")
        page.wait(f"!window.isOld && {READY}", 120)
    with suppress(AssertionError):
        wait_for(lambda: len(server.kernels()) <= 1, SETTLED, "the earlier kernels")
    reloaded = len(server.kernels())
    page.call("Page.navigate", url="about:blank")
    with suppress(AssertionError):
        wait_for(lambda: not server.kernels(), SETTLED, "the last kernel")
    return reloaded, len(server.kernels())


def one_start(folder: Path) -> Start:
    """Start everything, ask as soon as the button can be pressed, and end everything."""
    with open_browser(folder) as page:
        browser = psutil.Process().children()[0]
        before, began = processor_seconds(browser), time.monotonic()
        with serve_explorer(PROJECT, folder / "log") as server:
            page.call("Page.navigate", url=server.opened)
            page.wait(READY, 120)
            page.evaluate("document.querySelector('.ovx-ask').click()")
            page.wait("!!document.querySelector('[data-part=answer]')", 120)
            answer = time.monotonic() - began
            used = processor_seconds(server.process), processor_seconds(browser) - before
            return Start(answer, *used, memory_of(server.process), *kernels_after_reloads(page, server))


def table(starts: Sequence[Start]) -> str:
    """Return a Markdown table with a line for each quantity: its median, least and most."""
    rows = [
        f"| {name} | {statistics.median(values):.1f} | {min(values):.1f} | {max(values):.1f} |"
        for name, values in zip(NAMES, zip(*starts, strict=True), strict=True)
    ]
    return "\n".join([f"| explorer, n = {len(starts)} | median | least | most |", "|---|---|---|---|", *rows])


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
