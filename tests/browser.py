"""A headless Chromium driven over the DevTools protocol, for tests of pages."""

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def wait_for(check: Any, seconds: float, what: str) -> Any:
    """The first true value of `check`, asked again and again; an AssertionError after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := check():
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s for {what}")


class Page:
    """A page of the browser."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=60, suppress_origin=True)
        self._number = 0
        self.requested: list[str] = []
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
            if message.get("method") == "Page.fileChooserOpened":
                self._choosers.append(message["params"]["backendNodeId"])
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression: str, seconds: float) -> Any:
        return wait_for(lambda: self.evaluate(expression), seconds, expression)

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
    with subprocess.Popen(
        [*command, "--remote-debugging-port=0", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            port_file = profile / "DevToolsActivePort"
            port = wait_for(lambda: port_file.exists() and port_file.read_text().split("\n")[0], 30, "the browser")
            yield Page(_page_address(int(port)))
        finally:
            process.terminate()


def _page_address(port: int) -> str:

    def found() -> str | None:
        with urlopen(f"http://127.0.0.1:{port}/json") as reply:
            pages = [each for each in json.load(reply) if each["type"] == "page"]
        return pages[0]["webSocketDebuggerUrl"] if pages else None

    return wait_for(found, 30, "the browser's page")
