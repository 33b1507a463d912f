"""A headless Chromium driven over the DevTools protocol, and the explorer's server, for tests of pages."""

import base64
import json
import os
import re
import shutil
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import psutil
import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def require_browser() -> None:
    """Skip the test where there is no browser, or let it fail where there is to be one."""
    from conftest import without  # noqa: PLC0415 - benchmarks have none

    if find_browser() is None:
        without("chromium", "chromium")


def wait_for(check: Any, seconds: float, what: str) -> Any:
    """The first true value of `check`, asked again and again; an AssertionError after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := check():
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s for {what}")


class Navigated(AssertionError):
    """The page that was asked has given way to another."""


class Page:
    """A page of the browser."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=60, suppress_origin=True)
        self._number = 0
        self.requested: list[str] = []  # what was answered
        self.tried: list[str] = []  # also what was blocked or not answered
        self._choosers: list[int] = []
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("method") == "Network.responseReceived":
                self.requested.append(message["params"]["response"]["url"])
            if message.get("method") == "Network.requestWillBeSent":
                self.tried.append(message["params"]["request"]["url"])
            if message.get("method") == "Page.fileChooserOpened":
                self._choosers.append(message["params"]["backendNodeId"])
            if message.get("id") == self._number:
                if "navigated" in message.get("error", {}).get("message", ""):
                    raise Navigated(message)
                assert "error" not in message, message
                return message["result"]

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression: str, seconds: float) -> Any:
        return wait_for(lambda: self._evaluate_here(expression), seconds, expression)

    def _evaluate_here(self, expression: str) -> Any:
        """The value of an expression; None while one page gives way to the next."""
        try:
            return self.evaluate(expression)
        except Navigated:
            return None

    def upload(self, selector: str, path: Path) -> None:
        """Press what opens a dialogue for a file, and choose `path` in it."""
        self.call("Page.setInterceptFileChooserDialog", enabled=True)
        self.call("Runtime.evaluate", expression=f"document.querySelector({selector!r}).click()", userGesture=True)
        wait_for(lambda: self.evaluate("1") and self._choosers, 30, "a dialogue for a file")
        self.call("DOM.setFileInputFiles", files=[str(path)], backendNodeId=self._choosers.pop())

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def open_browser(folder: Path, width: int = 1500, height: int = 1000) -> Iterator[Page]:
    """A browser with a profile of its own in `folder`, and its one page."""
    program = find_browser()
    assert program is not None
    profile = folder / "profile"
    command = [program, *FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"]
    with started([*command, "--remote-debugging-port=0", "about:blank"]):
        port_file = profile / "DevToolsActivePort"
        port = wait_for(lambda: port_file.exists() and port_file.read_text().split("\n")[0], 30, "the browser")
        yield Page(_page_address(int(port)))


@contextmanager
def started(command: Sequence[str], log: Path | None = None, **options: Any) -> Iterator[psutil.Process]:
    """A process, ended afterwards with all that it started; what it says is added to `log`."""
    with Path(log or os.devnull).open("ab") as said:
        process = psutil.Popen(command, stdout=said, stderr=said, **options)
    try:
        yield process
    finally:
        family = [*process.children(recursive=True), process]
        process.terminate()
        _, left = psutil.wait_procs(family, 20)
        for each in left:
            each.kill()


class Server(NamedTuple):
    """The explorer's server: its process, the address that it printed without the token, the token, and its log."""

    process: psutil.Process
    address: str
    token: str
    log: Path

    @property
    def opened(self) -> str:
        """The address as it was printed."""
        return f"{self.address}?token={self.token}"

    def kernels(self) -> list[psutil.Process]:
        """The kernels that run."""
        family = self.process.children(recursive=True)
        return [each for each in family if any("ipykernel" in part for part in _command(each))]


@contextmanager
def serve_explorer(project: Path, log: Path, *options: str) -> Iterator[Server]:
    """The explorer over a project, without opening a browser unless `options` name one."""
    shown = () if any("browser" in option for option in options) else ("--no-browser",)
    command = [sys.executable, "-m", "ovrag_core.app.explorer", f"--port={free_port()}", *shown, *options]
    root = str(Path(__file__).resolve().parent.parent)
    environment = {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1", "JUPYTER_TOKEN": ""}
    with started(command, log, cwd=project, env=environment) as process:
        printed = wait_for(lambda: re.search(r"(http://\S+/)\?token=(\w+)", log.read_text()), 90, "the server")
        yield Server(process, printed[1], printed[2], log)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it has just ended
        return []


def _page_address(port: int) -> str:

    def found() -> str | None:
        with urlopen(f"http://127.0.0.1:{port}/json") as reply:
            pages = [each for each in json.load(reply) if each["type"] == "page"]
        return pages[0]["webSocketDebuggerUrl"] if pages else None

    return wait_for(found, 30, "the browser's page")
