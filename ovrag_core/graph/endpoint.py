"""A graph behind a SPARQL 1.1 endpoint (https://www.w3.org/TR/sparql11-protocol/): Virtuoso, Fuseki, QLever and others.

Whatever is not a whole answer to the question is `Unchecked`: no connection, an error, a page of HTML, rows that were
cut off, silence beyond the time limit. An endpoint that says nothing does not say no.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from urllib.parse import urlsplit

import httpx2
from pyoxigraph import BlankNode, NamedNode, QueryBoolean, QueryResultsFormat, Triple, parse_query_results

from ovrag_core.base import GraphError, Unchecked
from ovrag_core.graph import query as queries
from ovrag_core.graph.query import Row, Term
from ovrag_core.text import one_line

_JSON = ("application/sparql-results+json", "application/json")
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_PATTERN = "{} {{ ?s ?p ?o }}"
_KEPT = 10_000  # answers
_RETVAL = "__ASK_RETVAL"  # the column in which Virtuoso 7 answers an ASK

_Answer = list[Row] | bool


class EndpointStore(AbstractContextManager["EndpointStore"]):
    """The endpoint at `url`, asked with a time limit of `seconds` for each of `attempts`; answers are kept.

    `graph` is the IRI of the graph to ask where it is not the endpoint's default. `pause` seconds, doubled each time,
    lie between attempts. Raises GraphError for a URL that is none of HTTP or carries a password. Close it at the end.
    """

    def __init__(
        self, url: str, *, graph: str | None = None, seconds: float = 10.0, attempts: int = 3, pause: float = 0.5
    ) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise GraphError(f"{one_line(url, 80)} is no address of an endpoint; write http://host/sparql")
        if address.username is not None or address.password is not None:
            raise GraphError("the address of the endpoint holds a user or password; take them out")
        self.url = url
        self._form = {"default-graph-uri": NamedNode(graph).value} if graph else {}
        self._attempts, self._pause = max(1, attempts), pause
        is_local = address.hostname in ("localhost", "127.0.0.1", "::1")  # which no proxy can know
        headers = {"Accept": _JSON[0], "User-Agent": "ovrag"}
        self._client = httpx2.Client(timeout=seconds, headers=headers, trust_env=not is_local)
        self._answer = lru_cache(_KEPT)(self._asked)  # an error is not kept
        self._unreached = False

    def ask(self, query: str, terms: Mapping[str, Term] | None = None) -> bool:
        """See `Store.ask`."""
        queries.check(query, "ASK")
        answer = self._answer(queries.bind(query, terms or {}))
        if not isinstance(answer, bool):
            raise Unchecked(f"{self.url} gave no truth value")
        return answer

    def select(self, query: str, terms: Mapping[str, Term] | None = None) -> list[Row]:
        """See `Store.select`."""
        queries.check(query, "SELECT")
        answer = self._answer(queries.bind(query, terms or {}))
        if isinstance(answer, bool):
            raise Unchecked(f"{self.url} gave a truth value where rows were asked for")
        return [dict(row) for row in answer]

    def triples(
        self,
        subject: NamedNode | BlankNode | None = None,
        predicate: NamedNode | None = None,
        object_: Term | None = None,
    ) -> list[Triple]:
        """See `Store.triples`."""
        pattern = {"s": subject, "p": predicate, "o": object_}
        bound = {name: term for name, term in pattern.items() if term is not None}
        if len(bound) == len(pattern):
            return [_triple(bound)] if self.ask(_PATTERN.format("ASK"), bound) else []
        free = " ".join(f"?{name}" for name in pattern if name not in bound)
        return [_triple({**bound, **row}) for row in self.select(_PATTERN.format(f"SELECT {free} WHERE"), bound)]

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _asked(self, query: str) -> _Answer:
        """The answer, at the first attempt that is not refused for the moment."""
        why = ""
        # Who has not answered yet is not waited for at each query.
        for attempt in range(1 if self._unreached else self._attempts):
            time.sleep(self._pause * (2**attempt - 1))
            try:
                response = self._client.post(self.url, data={"query": query, **self._form})
            except httpx2.HTTPError as error:
                why, self._unreached = f"does not answer ({one_line(str(error) or type(error).__name__, 120)})", True
                continue
            self._unreached = False
            if response.status_code not in _BUSY:
                return self._read(response)
            why = f"is busy or out of order (HTTP {response.status_code})"
        raise Unchecked(f"{self.url} {why}")

    def _read(self, response: httpx2.Response) -> _Answer:
        headers = response.headers
        if response.status_code != httpx2.codes.OK:
            raise Unchecked(f"{self.url} refused the query (HTTP {response.status_code})")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _JSON:
            raise Unchecked(f"{self.url} answered with {one_line(kind, 60) or 'something'}, not with SPARQL results")
        if "x-sql-state" in headers:  # Virtuoso: the time limit was reached, and the rows are those found until then
            raise Unchecked(f"{self.url} gave a part of the answer only")
        try:
            answer = _parsed(response.content)
        except (SyntaxError, ValueError):
            raise Unchecked(f"{self.url} answered with something that is no SPARQL result") from None
        most = headers.get("x-sparql-maxrows", "")
        if isinstance(answer, list) and most.isdigit() and len(answer) >= int(most) > 0:
            raise Unchecked(f"{self.url} cut the answer off after {len(answer)} rows; ask for less at once")
        return answer


def _triple(terms: Mapping[str, Term]) -> Triple:
    subject, predicate = terms.get("s"), terms.get("p")
    if not isinstance(subject, NamedNode | BlankNode) or not isinstance(predicate, NamedNode) or "o" not in terms:
        raise Unchecked("the endpoint gave rows that are no triples")
    return Triple(subject, predicate, terms["o"])


def _parsed(content: bytes) -> _Answer:
    """SPARQL 1.1 Query Results JSON, with blank nodes and truth values as Virtuoso 7 writes them, too."""
    answer = parse_query_results(content.replace(b"nodeID://", b""), format=QueryResultsFormat.JSON)
    if isinstance(answer, QueryBoolean):
        return bool(answer)
    names = [variable.value for variable in answer.variables]
    rows = [{name: term for name, term in zip(names, row, strict=True) if term is not None} for row in answer]
    if names != [_RETVAL]:
        return rows
    values = [getattr(row.get(_RETVAL), "value", None) for row in rows]  # one row that holds 1, or none for a no
    if values not in ([], ["1"], ["0"]):
        raise ValueError
    return values == ["1"]
