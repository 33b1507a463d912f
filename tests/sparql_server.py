"""A local SPARQL 1.1 endpoint over a small graph that answers, and fails, as told: real HTTP on 127.0.0.1."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qs

from pyoxigraph import Quad, QueryResultsFormat, QueryTriples, Store, Triple

RESULTS = "application/sparql-results+json"


@dataclass(frozen=True)
class Answer:
    """What the server sends; `drip` seconds lie between any two bytes of the body."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": RESULTS})
    wait: float = 0.0
    drip: float = 0.0


Responder = Callable[[int, str], Answer]


def says(document: object, **headers: str) -> Answer:
    """An answer with JSON in it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body=json.dumps(document).encode(), headers={"Content-Type": RESULTS, **named})


def from_graph(triples: Iterable[Triple]) -> Responder:
    """What a sound endpoint answers."""
    store = Store()
    store.extend(Quad(*triple) for triple in triples)

    def respond(number: int, query: str) -> Answer:
        found = store.query(query)
        assert not isinstance(found, QueryTriples)
        return Answer(body=found.serialize(format=QueryResultsFormat.JSON))

    return respond


def in_turn(*answers: Answer) -> Responder:
    """These answers, the last one for ever."""
    return lambda number, query: answers[min(number, len(answers) - 1)]


class SparqlServer:
    """The server, for a `with`; `queries` are what it was asked, `forms` all fields of each request."""

    def __init__(self, respond: Responder) -> None:
        self.queries: list[str] = []
        self.forms: list[dict[str, list[str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                outer.forms.append(form)
                outer.queries.append(form["query"][0])
                answer = respond(len(outer.queries) - 1, form["query"][0])
                time.sleep(answer.wait)
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self._send(answer)

            def _send(self, answer: Answer) -> None:
                pieces = [answer.body] if not answer.drip else [bytes([byte]) for byte in answer.body]
                try:
                    for piece in pieces:
                        self.wfile.write(piece)
                        self.wfile.flush()
                        time.sleep(answer.drip)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}/sparql"

    def __enter__(self) -> SparqlServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
