"""Causal statements on Virtuoso 7 (Debian's virtuoso-opensource): the same verdicts as in this process."""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, serialize

from ovrag_core.errors import Unchecked
from ovrag_core.graph import load_graph
from ovrag_core.graph.endpoint import EndpointStore
from ovrag_core.graph.store import EmbeddedStore
from ovrag_core.studies.causal.linking import Lexicon
from ovrag_core.studies.causal.propositions import Polarity, Proposition, Relation
from ovrag_core.studies.causal.verifier import Verifier
from ovrag_core.studies.causal.vocabulary import AFFECTS, LOWERS, RAISES

SERVER, SHELL = shutil.which("virtuoso-t"), shutil.which("isql-vt")
GRAPH = "urn:ovrag:test"
SECONDS = 30.0  # for the server to start
# No LiteMode: it has no HTTP.
INI = """
[Database]
DatabaseFile = {folder}/v.db
ErrorLogFile = {folder}/v.log
LockFile = {folder}/v.lck
TransactionFile = {folder}/v.trx
xa_persistent_file = {folder}/v.pxa
FileExtend = 200
Striping = 0
TempStorage = TempDatabase
[TempDatabase]
DatabaseFile = {folder}/v-temp.db
TransactionFile = {folder}/v-temp.trx
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

pytestmark = pytest.mark.skipif(
    not (SERVER and SHELL), reason="no virtuoso-t and isql-vt here; Debian has them in virtuoso-opensource"
)


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as two:
        for each in (one, two):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


def answers(url: str) -> bool:
    try:
        return httpx2.get(url, params={"query": "ASK {}"}, timeout=2, trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False


@pytest.fixture(scope="module")
def graph(project: Path) -> EmbeddedStore:
    return load_graph(project / "data/samples/causal/graph.ttl")


@pytest.fixture(scope="module")
def url(graph: EmbeddedStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of our own that holds the sample graph; it ends with the tests."""
    assert SERVER and SHELL
    folder = tmp_path_factory.mktemp("virtuoso")
    shell, http = free_ports()
    (folder / "virtuoso.ini").write_text(INI.format(folder=folder, shell=shell, http=http), encoding="utf-8")
    (folder / "graph.nt").write_bytes(serialize(graph.triples(), format=RdfFormat.N_TRIPLES))
    with (folder / "out.txt").open("wb") as out:
        server = subprocess.Popen(
            [SERVER, "+configfile", str(folder / "virtuoso.ini"), "+foreground", "+wait"],
            cwd=folder, stdout=out, stderr=out, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    address = f"http://127.0.0.1:{http}/sparql"
    try:
        deadline = time.monotonic() + SECONDS
        while not answers(address):
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.skip(f"Virtuoso did not start here: {(folder / 'out.txt').read_text(errors='replace')[-300:]}")
            time.sleep(0.2)
        load = f"TTLP (file_to_string_output ('{folder}/graph.nt'), '', '{GRAPH}')"
        subprocess.run(
            [SHELL, f"127.0.0.1:{shell}", "dba", "dba", "BANNER=OFF", "VERBOSE=OFF", "ERRORS=STDOUT", f"EXEC={load}"],
            check=True, timeout=60, capture_output=True,
        )  # fmt: skip
        yield address
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.fixture
def store(url: str) -> Iterator[EndpointStore]:
    with EndpointStore(url, graph=GRAPH) as opened:
        yield opened


def test_its_truth_values_are_read(store: EndpointStore, graph: EmbeddedStore) -> None:
    held = graph.triples(None, RAISES)[0]
    assert store.ask("ASK { ?s ?p ?o }", {"s": held.subject, "p": held.predicate, "o": held.object})
    assert not store.ask("ASK { ?s ?p ?o }", {"s": held.subject, "p": LOWERS, "o": held.object})
    assert not store.ask("ASK { ?s ?p ?o }", {"s": NamedNode("urn:nobody")})


def said(subject: str, relation: Relation, object_: str, polarity: Polarity = "positive") -> Proposition:
    quote = f"{subject} {relation} {object_}"
    return Proposition(subject, relation, object_, polarity, (0, len(quote)), quote)


def test_the_same_verdicts_as_in_this_process(store: EndpointStore, graph: EmbeddedStore) -> None:
    lexicon = Lexicon.of_graph(graph)
    here, there = Verifier(graph, lexicon), Verifier(store, lexicon)
    names = [here.name(each.subject) for each in graph.triples(None, LOWERS) if isinstance(each.subject, NamedNode)]
    seen = set()
    for one, two in zip(names, [*names[1:], names[0]], strict=True):
        for statement in (said(one, "raises", two), said(two, "lowers", one, "negative"), said(one, "affects", two)):
            given = there.verify(statement)
            assert given == here.verify(statement)
            seen.add(given.outcome)
    for triple in graph.triples(None, RAISES)[:20]:
        verdict = there.verify(said(here.name(triple.object), "raises", here.name(triple.subject)))
        assert (verdict.outcome, verdict.rule) == ("CONTRADICTION", "reversed edge")
        assert verdict.query and store.ask(verdict.query)
    assert "FAILED" in seen


def test_its_names_and_rows_are_those_of_the_graph(store: EndpointStore, graph: EmbeddedStore) -> None:
    assert set(store.triples(None, RAISES)) == set(graph.triples(None, RAISES))


def test_hostile_terms_ask_and_change_nothing(store: EndpointStore) -> None:
    before = store.select("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")
    for text in ('" } ; DROP ALL ; #', "\\", "a\nb", "} #", "'''", '"""', "\\u0022 }", "\x07"):
        assert not store.ask("ASK { ?s ?p ?text }", {"text": Literal(text)})
    with EndpointStore(store.url, graph=GRAPH) as fresh:
        assert fresh.select("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }") == before


def test_a_query_that_it_cannot_answer_is_unchecked(store: EndpointStore) -> None:
    with pytest.raises(Unchecked, match=r"HTTP [45]00"):
        store.ask("ASK { ?s ?p ?o FILTER(<urn:no:such:function>(?o)) }")
    with EndpointStore(store.url.replace("/sparql", "/nowhere")) as wrong, pytest.raises(Unchecked, match="HTTP 404"):
        wrong.ask("ASK { ?s ?p ?o }")


def test_a_question_takes_milliseconds(store: EndpointStore, graph: EmbeddedStore) -> None:
    taken = []
    for triple in graph.triples(None, RAISES):
        start = time.perf_counter()
        assert store.ask("ASK { ?s ?p ?o }", {"s": triple.subject, "p": RAISES, "o": triple.object})
        taken.append(time.perf_counter() - start)
    assert statistics.median(taken) < 0.05  # 1 ms on an idle machine
    assert not store.ask(f"ASK {{ ?s {AFFECTS} ?o }}", {"s": triple.object, "o": triple.subject})
