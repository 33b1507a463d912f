"""Start of the explorer to the first answer in a browser: `python benchmarks/explorer.py [--times 5] [--wait SECONDS]`.

Each start has a new browser profile and a server of its own, over the contracts and the index of this project. Seconds
are from the start of the server: until it listens, until the controls are shown, until the first answer is. Processor
seconds are those of the server with its kernel and reasoner, and those of the browser, until the first answer.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
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
from browser import Page, open_browser, wait_for  # noqa: E402 - the tests' browser

SHOWN = "!!document.querySelector('[data-part=answer]')"


class Start(NamedTuple):
    """Seconds of one start, and the load of the machine in the minute before it."""

    listening: float
    controls: float
    answer: float
    further: float
    server_cpu: float
    browser_cpu: float
    load: float


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Whether somebody listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


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


def one_start(folder: Path, wait: float) -> Start:
    """Start everything, ask as soon as the button can be pressed, and end everything."""
    port, load = free_port(), os.getloadavg()[0]
    command = [sys.executable, "-m", "ovrag_core.explorer", "--no-browser", f"--port={port}"]
    with open_browser(folder) as page:
        browser = psutil.Process().children()[0]
        before, began = processor_seconds(browser), time.monotonic()
        with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                wait_for(lambda: listens(port), 120, "the server")
                listening = time.monotonic() - began
                page.call("Page.navigate", url=f"http://127.0.0.1:{port}/")
                page.wait("!!document.querySelector('.ovx-ask:not([disabled])')", 120)
                controls = time.monotonic() - began
                time.sleep(wait)
                ask(page)
                answer = time.monotonic() - began
                used = processor_seconds(psutil.Process(server.pid)), processor_seconds(browser) - before
                asked = time.monotonic()
                page.evaluate("document.querySelectorAll('select')[1].selectedIndex = 1")
                page.evaluate(
                    "document.querySelectorAll('select')[1].dispatchEvent(new Event('change', {bubbles: true}))"
                )
                ask(page)
                return Start(listening, controls, answer, time.monotonic() - asked, *used, load)
            finally:
                server.terminate()


def table(starts: Sequence[Start]) -> str:
    """A line a start, and the medians."""
    rows = [*starts, Start(*map(statistics.median, zip(*starts, strict=True)))]
    names = [*map(str, range(1, len(starts) + 1)), "median"]
    head = "start    listening  controls   answer  further  server cpu  browser cpu   load"
    widths = (10, 9, 8, 8, 11, 12, 6)
    lines = [
        f"{name:7}{''.join(f'{value:{width}.1f}' for value, width in zip(row, widths, strict=True))}"
        for name, row in zip(names, rows, strict=True)
    ]
    return "\n".join([head, *lines])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5, help="how many starts")
    parser.add_argument("--wait", type=float, default=0, help="seconds between seeing the controls and asking")
    asked = parser.parse_args()
    starts = []
    for _ in range(asked.times):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            starts.append(one_start(Path(folder), asked.wait))
    print(table(starts))


if __name__ == "__main__":
    main()
