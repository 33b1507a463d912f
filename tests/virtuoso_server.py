"""A Virtuoso of our own for tests: it holds one graph, listens on this machine only, and ends with us.

Virtuoso 7 as Debian packs it (virtuoso-opensource; the programs alone are virtuoso-opensource-7-bin). Its manual on the
settings: https://docs.openlinksw.com/virtuoso/ch-server/#virtini.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
from pyoxigraph import NamedNode, RdfFormat, Triple, serialize

from ovrag_core.base.errors import GraphError
from ovrag_core.text.lines import one_line

SERVER, SHELL = "virtuoso-t", "isql-vt"
GRAPH = "urn:ovrag:graph"
_SECONDS_TO_START, _SECONDS_TO_LOAD, _SECONDS_TO_END = 60.0, 120.0, 20.0
# No LiteMode: a server in that mode has no HTTP.
_INI = """[Database]
DatabaseFile = {folder}/virtuoso.db
ErrorLogFile = {folder}/virtuoso.log
LockFile = {folder}/virtuoso.lck
TransactionFile = {folder}/virtuoso.trx
xa_persistent_file = {folder}/virtuoso.pxa
FileExtend = 200
Striping = 0
TempStorage = TempDatabase
[TempDatabase]
DatabaseFile = {folder}/virtuoso-temp.db
TransactionFile = {folder}/virtuoso-temp.trx
Striping = 0
[Parameters]
ServerPort = 127.0.0.1:{shell}
DisableUnixSocket = 1
ServerThreads = 4
NumberOfBuffers = 2000
MaxDirtyBuffers = 1200
DirsAllowed = {folder}
CheckpointInterval = 0
[HTTPServer]
ServerPort = 127.0.0.1:{http}
ServerThreads = 4
ServerRoot = {folder}
"""


def is_present() -> bool:
    """Whether the server and its shell can be started here."""
    return shutil.which(SERVER) is not None and shutil.which(SHELL) is not None


@contextmanager
def serve(triples: Iterable[Triple], folder: Path, graph: str = GRAPH) -> Iterator[str]:
    """The address of a SPARQL endpoint that holds the triples in the graph `graph`; files go into an empty `folder`.

    Raises GraphError where the server does not start or load.
    """
    shell, http = _free_ports()
    settings, facts, said = folder / "virtuoso.ini", folder / "graph.nt", folder / "said.txt"
    settings.write_text(_INI.format(folder=folder, shell=shell, http=http), encoding="utf-8")
    with facts.open("wb") as file:
        serialize(triples, file, format=RdfFormat.N_TRIPLES)
    with said.open("wb") as out:
        server = subprocess.Popen(
            [SERVER, "+configfile", str(settings), "+foreground", "+wait"],
            cwd=folder,
            stdout=out,
            stderr=out,
            env={**os.environ, "LC_ALL": "C"},
        )
    try:
        url = f"http://127.0.0.1:{http}/sparql"
        _wait_for(url, server, said)
        _load(facts, NamedNode(graph), shell)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _free_ports() -> tuple[int, int]:
    """Two ports of this machine that nobody listens on."""
    with socket.socket() as one, socket.socket() as two:
        for each in (one, two):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


def _wait_for(url: str, server: subprocess.Popen[bytes], said: Path) -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while server.poll() is None and time.monotonic() < deadline:
        with suppress(httpx2.HTTPError):
            if httpx2.get(url, params={"query": "ASK {}"}, timeout=2, trust_env=False).status_code == httpx2.codes.OK:
                return
        time.sleep(0.1)
    last = said.read_text(encoding="utf-8", errors="replace")[-300:]
    raise GraphError(f"Virtuoso did not start ({one_line(last, 200)}); look into {said.parent}")


def _load(facts: Path, graph: NamedNode, port: int) -> None:
    command = f"TTLP (file_to_string_output ('{facts}'), '', '{graph.value}')"
    given = [SHELL, f"127.0.0.1:{port}", "dba", "dba", "BANNER=OFF", "VERBOSE=OFF", "ERRORS=STDOUT", f"EXEC={command}"]
    try:
        loaded = subprocess.run(given, capture_output=True, timeout=_SECONDS_TO_LOAD, check=False)
    except subprocess.TimeoutExpired:
        raise GraphError(f"Virtuoso did not load the graph in {_SECONDS_TO_LOAD:g} seconds") from None
    said = loaded.stdout.decode("utf-8", "replace")
    if loaded.returncode or "Error" in said:
        raise GraphError(f"Virtuoso did not load the graph ({one_line(said, 200)})")
