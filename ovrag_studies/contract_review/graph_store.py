"""Where a graph is kept: memory, or one file, of LadybugDB in this process.

LadybugDB speaks openCypher. Values are always bound, never written into a statement, so that no text of a contract can
become one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ovrag_core.base.errors import GraphError

Row = dict[str, Any]  # what a column holds depends on the statement
Statement = tuple[str, Mapping[str, Any]]
Type = Literal["STRING", "INT64", "DOUBLE", "FLOAT[]", "STRING[]"]

IN_MEMORY = ":memory:"
_MEMORY = 256 << 20  # bytes of cached pages; the library's own default is most of the machine's memory
_LARGEST = 1 << 34  # bytes of address space that are set aside for a file
_LAYOUT = "GraphLayout"


@dataclass(frozen=True, slots=True)
class Schema:
    """Labels of nodes with the types of their properties (`id` is the key of each), and of edges with their ends.

    `version` is stored with the data: a graph of another version is refused, never misread.
    """

    version: int
    nodes: Mapping[str, Mapping[str, Type]]
    edges: Mapping[str, tuple[Sequence[tuple[str, str]], Mapping[str, Type]]]


def open_store(path: str | Path, schema: Schema) -> GraphStore:
    """Open the store at `path`, `:memory:` or a file, and prepare it for `schema`.

    Raises GraphError where the path is an address, the file is no graph, one of another version or in use, or the graph
    in it has another schema.
    """
    if "://" in str(path):
        raise GraphError(f"graph.path {str(path).partition('://')[0]}:// is an address; write {IN_MEMORY} or a file")
    store = GraphStore(str(path))
    try:
        store.prepare(schema)
        store.check_version(schema.version)
    except GraphError:
        store.close()
        raise
    return store


class GraphStore:
    """LadybugDB (the continuation of Kùzu, Feng et al., CIDR 2023) in this process; a graph is one file.

    Every method raises GraphError, one sentence, where the store cannot do it.
    """

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
        """Return the rows of one statement, each by the names of its columns."""
        try:
            result = self._connection.execute(statement, dict(parameters or {}))
            results = result if isinstance(result, list) else [result]
            return [row for each in results for row in each.rows_as_dict() if isinstance(row, dict)]
        except RuntimeError as error:
            raise GraphError(f"the graph {self._path} refused a statement ({_line(error)})") from None

    def write(self, statements: Sequence[Statement]) -> None:
        """Write all of the statements, or none of them."""
        self.run("BEGIN TRANSACTION")
        try:
            for statement, parameters in statements:
                self.run(statement, parameters)
            self.run("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
        self._database.close()

    def check_version(self, version: int) -> None:
        """Write the layout's version into a new graph. Raises GraphError where another one stands."""
        rows = self.run(f"MATCH (n:{_LAYOUT} {{id: $id}}) RETURN n.version AS version", {"id": "layout"})
        if not rows:
            self.run(f"CREATE (n:{_LAYOUT} {{id: $id, version: $version}})", {"id": "layout", "version": version})
        elif rows[0]["version"] != version:
            raise GraphError(
                f"the graph was written in layout {rows[0]['version']}, this version reads {version}; "
                "delete it, or name another place in graph.path, and index the contracts again"
            )

    def _roll_back(self) -> None:
        with suppress(RuntimeError):  # a statement that fails has ended its transaction
            self._connection.execute("ROLLBACK")


def _why_closed(path: str, problem: str) -> str:
    if "lock" in problem:
        return f"{path} is in use by another process; close it there, or name another file in graph.path"
    if Path(path).is_dir():
        return f"{path} is a folder, where a graph is one file; name a file in graph.path"
    if "version" in problem:
        return f"{path} was written by another version of real_ladybug; delete it and index the contracts again"
    if "valid" in problem or "past the end" in problem:
        return f"{path} is no graph, or a broken one; delete it and index the contracts again"
    return f"{path} cannot be opened as a graph ({_line(problem)}); name another file in graph.path"


def _line(error: object) -> str:
    words = " ".join(str(error).split())
    return words if len(words) <= 200 else f"{words[:199]}…"
