"""A graph behind an endpoint: asked like any other; whatever is no whole answer is unchecked, never a no."""

import socket
import time

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from sparql_server import Answer, Responder, SparqlServer, from_graph, in_turn, says

from ovrag_core.base.errors import GraphError, Unchecked
from ovrag_core.graph import LABEL, open_graph
from ovrag_core.graph.endpoint import EndpointStore

P = NamedNode("http://example.org/p")
A, B = NamedNode("http://example.org/a"), NamedNode("http://example.org/b")
HOSTILE = '" } UNION { ?s ?p ?o . FILTER("" = "'
GRAPH = [Triple(A, P, B), Triple(A, LABEL, Literal(HOSTILE)), Triple(B, LABEL, Literal("B", language="en"))]
YES = says({"head": {}, "boolean": True})
ASK = "ASK { ?s ?p ?o }"


def ask(respond: Responder, seconds: float = 5.0, attempts: int = 1) -> bool:
    with (
        SparqlServer(respond) as server,
        EndpointStore(server.url, seconds=seconds, attempts=attempts, pause=0) as store,
    ):
        return store.ask(ASK)


def test_an_endpoint_answers_like_the_graph_behind_it() -> None:
    with SparqlServer(from_graph(GRAPH)) as server, EndpointStore(server.url) as store:
        assert store.ask(ASK, {"s": A, "o": B})
        assert not store.ask(ASK, {"s": B, "o": A})
        assert store.select("SELECT ?o WHERE { ?s ?p ?o }", {"s": A, "p": P}) == [{"o": B}]
        assert store.select("SELECT ?o WHERE { ?s ?p ?o }", {"s": B}) == [{"o": Literal("B", language="en")}]
        assert store.select("SELECT ?s WHERE { ?s ?p ?text }", {"text": Literal(HOSTILE)}) == [{"s": A}]


def test_the_same_question_is_sent_once() -> None:
    with SparqlServer(from_graph(GRAPH)) as server, EndpointStore(server.url) as store:
        for _ in range(3):
            rows = store.select("SELECT ?o WHERE { ?s ?p ?o }", {"s": A, "p": P})
            rows[0].clear()
        assert len(server.queries) == 1


def test_the_graph_to_ask_is_named_to_the_endpoint() -> None:
    with SparqlServer(in_turn(YES)) as server, EndpointStore(server.url, graph="http://example.org/g") as store:
        assert store.ask(ASK)
        assert server.forms[0]["default-graph-uri"] == ["http://example.org/g"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"<html>Welcome</html>", headers={"Content-Type": "text/html"}),
        Answer(body=b"<html>Welcome</html>"),
        Answer(body=b'{"boolean": tr'),
        Answer(body=b"[" * 100_000),
        Answer(body=b"\xff\xfe\x00"),
        says(True),
        says({"boolean": "true"}),
        says({"boolean": None}),
        says({"results": {"bindings": []}}),
        says({}),
        Answer(status=400, body=b"no"),
        Answer(status=401, body=b"no"),
        Answer(status=503, body=b"busy"),
        Answer(status=302, headers={"Location": "http://127.0.0.1:9/"}),
        says({"boolean": False}, X_SQL_State="S1TAT"),
    ],
)
def test_what_is_no_answer_is_unchecked(answer: Answer) -> None:
    with pytest.raises(Unchecked) as caught:
        ask(in_turn(answer))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "rows",
    [
        None,
        {"s": {"type": "uri", "value": "urn:a"}},
        [[]],
        [{"s": {"type": "uri", "value": "not an iri>"}}],
        [{"s": {"type": "literal"}}],
        [{"s": {"type": "literal", "value": 5}}],
        [{"s": {"type": "literal", "value": "x", "xml:lang": "?? ??"}}],
        [{"s": {"type": "shell", "value": "x"}}],
    ],
)
def test_rows_that_are_none_are_unchecked(rows: object) -> None:
    with (
        SparqlServer(in_turn(says({"head": {"vars": ["s"]}, "results": {"bindings": rows}}))) as server,
        pytest.raises(Unchecked),
    ):
        EndpointStore(server.url).select("SELECT ?s WHERE { ?s ?p ?o }")


def test_terms_are_read_as_virtuoso_writes_them_too() -> None:
    number = "http://www.w3.org/2001/XMLSchema#integer"
    row = {
        "a": {"type": "typed-literal", "value": "5", "datatype": number},
        "b": {"type": "bnode", "value": "nodeID://b10009"},
    }
    with SparqlServer(in_turn(says({"head": {"vars": ["a", "b"]}, "results": {"bindings": [row]}}))) as server:
        (found,) = EndpointStore(server.url).select("SELECT ?a ?b WHERE { ?a ?p ?b }")
    assert found["a"] == Literal("5", datatype=NamedNode(number))
    assert isinstance(found["b"], BlankNode)


def test_rows_that_were_cut_off_are_unchecked() -> None:
    rows = [{"s": {"type": "uri", "value": f"urn:{number}"}} for number in range(3)]
    cut = says({"head": {"vars": ["s"]}, "results": {"bindings": rows}}, X_SPARQL_MaxRows="3")
    with SparqlServer(in_turn(cut)) as server, pytest.raises(Unchecked, match="cut the answer off after 3 rows"):
        EndpointStore(server.url).select("SELECT ?s WHERE { ?s ?p ?o }")


def test_a_slow_endpoint_is_unchecked_in_time() -> None:
    start = time.monotonic()
    with pytest.raises(Unchecked, match="does not answer"):
        ask(in_turn(Answer(wait=2.0)), seconds=0.3)
    assert time.monotonic() - start < 1.9


def test_a_busy_endpoint_is_asked_again() -> None:
    assert ask(in_turn(Answer(status=503), Answer(status=429), YES), attempts=3)
    with pytest.raises(Unchecked, match="HTTP 503"):
        ask(in_turn(Answer(status=503), Answer(status=503), YES), attempts=2)


def test_a_failure_is_not_kept() -> None:
    with SparqlServer(in_turn(Answer(status=400), YES)) as server, EndpointStore(server.url) as store:
        with pytest.raises(Unchecked):
            store.ask(ASK)
        assert store.ask(ASK)


def test_an_endpoint_that_is_down_is_waited_for_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/sparql"
    store = EndpointStore(url, attempts=2, pause=0.2)
    start = time.monotonic()
    for _ in range(10):
        with pytest.raises(Unchecked, match="does not answer"):
            store.ask(ASK)
    assert time.monotonic() - start < 1.5


def test_an_address_that_is_none_or_holds_a_password_is_refused() -> None:
    for url in ("ftp://x.org/sparql", "http://", "x"):
        with pytest.raises(GraphError, match="no address of an endpoint"):
            EndpointStore(url)
    with pytest.raises(GraphError, match="password") as caught:
        EndpointStore("http://me:secret@x.org/sparql")
    assert "secret" not in str(caught.value)
    assert isinstance(open_graph("https://x.org/sparql"), EndpointStore)
