"""Where a graph is kept: a file of this process (LadybugDB) or a Neo4j server, behind one small interface.

Both speak openCypher and are given the same statements with the same parameters. Values are always bound, never written
into a statement, so that no text of a contract can become one. User and password of a server come from the environment
and are kept nowhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import urlsplit

from ovrag_core.errors import GraphError

if TYPE_CHECKING:
    import neo4j

Row = dict[str, Any]  # what a column holds depends on the statement
Statement = tuple[str, Mapping[str, Any]]
Type = Literal["STRING", "INT64", "DOUBLE", "FLOAT[]", "STRING[]"]

USER, PASSWORD = "NEO4J_USERNAME", "NEO4J_PASSWORD"
IN_MEMORY = ":memory:"
_SERVERS = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_MEMORY = 256 << 20  # bytes of cached pages; the library's own default is most of the machine's memory
_LARGEST = 1 << 34  # bytes of address space that are set aside for a file
_SECONDS = 10.0  # to reach a server
_LAYOUT = "GraphLayout"


@dataclass(frozen=True, slots=True)
class Schema:
    """Labels of nodes with the types of their properties (`id` is the key of each), and of edges with their ends.

    `version` is stored with the data: a graph of another version is refused, never misread.
    """

    version: int
    nodes: Mapping[str, Mapping[str, Type]]
    edges: Mapping[str, tuple[Sequence[tuple[str, str]], Mapping[str, Type]]]


class GraphStore(Protocol):
    """A store of nodes and edges. Every method raises GraphError, one sentence, where the store cannot do it."""

    @property
    def name(self) -> str:
        """What tables call it."""

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of one statement, each by the names of its columns."""

    def write(self, statements: Sequence[Statement]) -> None:
        """All of the statements, or none of them."""

    def close(self) -> None:
        """Let go of the file or the server."""


def open_store(url: str | Path, schema: Schema) -> GraphStore:
    """The store at `url`, prepared for `schema`: `bolt://…` or `neo4j://…` for Neo4j, `:memory:`, or a file.

    Raises GraphError where a server cannot be reached or refuses the user, a file is none of this store's or of another
    version of it or is in use, or the graph in it has another schema.
    """
    address = str(url)
    scheme = address.partition("://")[0].lower() if "://" in address else ""
    if scheme and scheme not in _SERVERS:
        raise GraphError(f"graph.url {scheme}:// is no graph store; write bolt://host:7687, {IN_MEMORY} or a path")
    store: Ladybug | Neo4j = Neo4j(address) if scheme else Ladybug(address)
    try:
        store.prepare(schema)
        _check_version(store, schema.version)
    except GraphError:
        store.close()
        raise
    return store


class Ladybug:
    """LadybugDB (the continuation of Kùzu, Feng et al., CIDR 2023) in this process; a graph is one file."""

    name = "ladybug"

    def __init__(self, path: str) -> None:
        import real_ladybug  # noqa: PLC0415 - loads a library that only graphs need

        self._path = path
        try:
            if path != IN_MEMORY:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._database = real_ladybug.Database(
                path, buffer_pool_size=_MEMORY, max_num_threads=1, max_db_size=_LARGEST
            )
            self._connection = real_ladybug.Connection(self._database)
        except (RuntimeError, OSError) as error:
            raise GraphError(_why_closed(path, str(error))) from None

    def prepare(self, schema: Schema) -> None:
        """Create the tables that are missing."""
        nodes = {**schema.nodes, _LAYOUT: {"id": "STRING", "version": "INT64"}}
        for label, properties in nodes.items():
            columns = ", ".join(f"{name} {kind}" for name, kind in properties.items())
            self.run(f"CREATE NODE TABLE IF NOT EXISTS {label}({columns}, PRIMARY KEY (id))")
        for label, (ends, properties) in schema.edges.items():
            columns = ", ".join(
                [f"FROM {start} TO {end}" for start, end in ends]
                + [f"{name} {kind}" for name, kind in properties.items()]
            )
            self.run(f"CREATE REL TABLE IF NOT EXISTS {label}({columns})")

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """See `GraphStore.run`."""
        try:
            result = self._connection.execute(statement, dict(parameters or {}))
            results = result if isinstance(result, list) else [result]
            return [row for each in results for row in each.rows_as_dict() if isinstance(row, dict)]
        except RuntimeError as error:
            raise GraphError(f"the graph {self._path} refused a statement ({_line(error)})") from None

    def write(self, statements: Sequence[Statement]) -> None:
        """See `GraphStore.write`."""
        self.run("BEGIN TRANSACTION")
        try:
            for statement, parameters in statements:
                self.run(statement, parameters)
            self.run("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def close(self) -> None:
        """See `GraphStore.close`."""
        self._connection.close()
        self._database.close()

    def _roll_back(self) -> None:
        with suppress(RuntimeError):  # a statement that fails has ended its transaction
            self._connection.execute("ROLLBACK")


class Neo4j:
    """A Neo4j server, 5 or later, over Bolt; user and password from `NEO4J_USERNAME` and `NEO4J_PASSWORD`."""

    name = "neo4j"

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.username is not None or parts.password is not None:
            raise GraphError(f"graph.url holds a user or password; take them out and set {USER} and {PASSWORD}")
        self._url = url
        self._driver = _driver(url)
        try:
            with _reported(url):
                self._driver.verify_connectivity()
        except GraphError:
            self._driver.close()
            raise

    def prepare(self, schema: Schema) -> None:
        """Make the key of every label unique."""
        for label in (*schema.nodes, _LAYOUT):
            self.run(f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE")

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """See `GraphStore.run`."""
        with _reported(self._url), self._driver.session() as session:
            return [dict(record) for record in session.run(statement, dict(parameters or {}))]

    def write(self, statements: Sequence[Statement]) -> None:
        """See `GraphStore.write`."""
        with _reported(self._url), self._driver.session() as session, session.begin_transaction() as transaction:
            for statement, parameters in statements:
                transaction.run(statement, dict(parameters)).consume()
            transaction.commit()

    def close(self) -> None:
        """See `GraphStore.close`."""
        self._driver.close()


def _driver(url: str) -> neo4j.Driver:
    try:
        import neo4j  # noqa: PLC0415 - optional
    except ImportError:
        raise GraphError(f"{url} needs the Neo4j driver; install it (pip install neo4j), or give a path") from None
    password = os.environ.get(PASSWORD)
    auth = (os.environ.get(USER) or "neo4j", password) if password else None
    with _reported(url):
        return neo4j.GraphDatabase.driver(
            url, auth=auth, connection_timeout=_SECONDS, connection_acquisition_timeout=_SECONDS
        )


@contextmanager
def _reported(url: str) -> Iterator[None]:
    """Errors of the driver as one sentence each."""
    from neo4j import exceptions  # noqa: PLC0415 - optional

    try:
        yield
    except exceptions.AuthError:
        raise GraphError(f"Neo4j at {url} refused the user; set {USER} and {PASSWORD} to its own") from None
    except (exceptions.ServiceUnavailable, exceptions.SessionExpired, OSError, ValueError):
        raise GraphError(f"Neo4j at {url} does not answer; start it, or set graph.url to a path") from None
    except (exceptions.DriverError, exceptions.Neo4jError) as error:
        raise GraphError(f"Neo4j at {url} refused a statement ({_line(error)})") from None


def _check_version(store: GraphStore, version: int) -> None:
    rows = store.run(f"MATCH (n:{_LAYOUT} {{id: $id}}) RETURN n.version AS version", {"id": "layout"})
    if not rows:
        store.run(f"CREATE (n:{_LAYOUT} {{id: $id, version: $version}})", {"id": "layout", "version": version})
    elif rows[0]["version"] != version:
        raise GraphError(
            f"the graph was written in layout {rows[0]['version']}, this version reads {version}; "
            "delete it, or name another place in graph.url, and index the contracts again"
        )


def _why_closed(path: str, problem: str) -> str:
    if "lock" in problem:
        return f"{path} is in use by another process; close it there, or name another file in graph.url"
    if Path(path).is_dir():
        return f"{path} is a folder, where a graph is one file; name a file in graph.url"
    if "version" in problem:
        return f"{path} was written by another version of real_ladybug; delete it and index the contracts again"
    if "valid" in problem or "past the end" in problem:
        return f"{path} is no graph, or a broken one; delete it and index the contracts again"
    return f"{path} cannot be opened as a graph ({_line(problem)}); name another file in graph.url"


def _line(error: object) -> str:
    words = " ".join(str(error).split())
    return words if len(words) <= 200 else f"{words[:199]}…"
