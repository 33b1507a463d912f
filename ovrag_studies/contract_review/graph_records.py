"""Graphs of contracts in a store: the same statements for every store, with every value bound."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from ovrag_core.base.errors import GraphError
from ovrag_studies.contract_review.graph import (
    EDGE_KINDS,
    SCHEMA,
    ChunkNode,
    ContractGraph,
    Edge,
    EdgeKind,
    Node,
    PartyNode,
    SectionNode,
    TermNode,
)
from ovrag_studies.contract_review.graph_store import GraphStore, Statement

_GROUPS = ("Document", "Section", "Chunk", "Term", "Party")
_ROWS = 500  # rows in one statement


def write_graph(store: GraphStore, graph: ContractGraph) -> None:
    """Put a contract into `store` in place of what is there of it; all of it or, with a GraphError, nothing."""
    ids = Counter(node.id for nodes in (graph.chunks, graph.sections, graph.terms, graph.parties) for node in nodes)
    if doubled := [each for each, count in ids.items() if count > 1]:
        raise GraphError(f"two parts of {graph.document} are called {doubled[0]}; give each chunk an id of its own")
    ids[graph.document] += 1
    if dangling := [end for edge in graph.edges for end in (edge.start, edge.end) if end not in ids]:
        raise GraphError(f"an edge of {graph.document} ends at {dangling[0]}, which is not in its graph")
    store.write([*_removal(graph.document), *_insertion(graph)])


def remove_graph(store: GraphStore, document_id: str) -> None:
    """Take a contract out of `store`; nothing happens where it is not in it."""
    store.write(_removal(document_id))


def documents_in(store: GraphStore) -> list[str]:
    """The contracts in `store`, sorted."""
    return sorted(str(row["id"]) for row in store.run("MATCH (d:Document) RETURN d.id AS id"))


def read_graph(store: GraphStore, document_id: str) -> ContractGraph:
    """A contract as it was written. Raises GraphError where it is not in `store`."""
    known = store.run("MATCH (d:Document {id: $id}) RETURN d.characters AS characters", {"id": _valid(document_id)})
    if not known:
        raise GraphError(f"the graph holds no contract {document_id!r}; index it first")
    return ContractGraph(
        document_id,
        int(known[0]["characters"]),
        tuple(ChunkNode(**row) for row in _nodes(store, "Chunk", document_id)),
        tuple(
            SectionNode(**{**row, "vector": tuple(row["vector"] or ())})
            for row in _nodes(store, "Section", document_id)
        ),
        tuple(TermNode(**row) for row in _nodes(store, "Term", document_id)),
        tuple(PartyNode(**row) for row in _nodes(store, "Party", document_id)),
        tuple(edge for kind in EDGE_KINDS for edge in _stored_edges(store, kind, document_id)),
    )


def _removal(document_id: str) -> list[Statement]:
    source = {"source": _valid(document_id)}
    owned = [
        (f"MATCH (n:{name} {{source: $source}}) DETACH DELETE n", source) for name in SCHEMA.nodes if name != "Document"
    ]
    return [*owned, ("MATCH (n:Document {id: $source}) DETACH DELETE n", source)]


def _insertion(graph: ContractGraph) -> Iterator[Statement]:
    names = [party.short or party.name for party in graph.parties]
    yield _creation("Document"), {"rows": [{"id": graph.document, "characters": graph.characters, "names": names}]}
    for name, nodes in _labelled(graph):
        rows = [
            {column: _valid(_value(node, column, graph.document)) for column in SCHEMA.nodes[name]} for node in nodes
        ]
        for first in range(0, len(rows), _ROWS):
            yield _creation(name), {"rows": rows[first : first + _ROWS]}
    labels = {node.id: name for name, nodes in _labelled(graph) for node in nodes} | {graph.document: "Document"}
    grouped: defaultdict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
    for edge in graph.edges:
        row = {"start": _valid(edge.start), "stop": _valid(edge.end), "why": _valid(edge.why)}
        grouped[labels[edge.start], edge.kind, labels[edge.end]].append(row)
    for (start, kind, end), rows in grouped.items():
        statement = (
            f"UNWIND $rows AS row MATCH (a:{start} {{id: row.start}}), (b:{end} {{id: row.stop}}) "
            f"CREATE (a)-[:{kind} {{why: row.why}}]->(b)"
        )
        for first in range(0, len(rows), _ROWS):
            yield statement, {"rows": rows[first : first + _ROWS]}


def _labelled(graph: ContractGraph) -> list[tuple[str, Sequence[Node]]]:
    return [("Section", graph.sections), ("Chunk", graph.chunks), ("Term", graph.terms), ("Party", graph.parties)]


def _creation(name: str) -> str:
    columns = ", ".join(f"{column}: row.{column}" for column in SCHEMA.nodes[name])
    return f"UNWIND $rows AS row CREATE (n:{name} {{{columns}}})"


def _value(node: Node, column: str, document_id: str) -> Any:
    value = document_id if column == "source" else getattr(node, column)
    return list(value) if isinstance(value, tuple) else value


def _valid(value: Any) -> Any:
    """Halves of characters, which no store takes, as U+FFFD; anything else as it is."""
    return (
        value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if isinstance(value, str) else value
    )


def _nodes(store: GraphStore, name: str, document_id: str) -> list[dict[str, Any]]:
    columns = ", ".join(f"n.{column} AS {column}" for column in SCHEMA.nodes[name] if column != "source")
    statement = f"MATCH (n:{name} {{source: $source}}) RETURN {columns} ORDER BY n.seq"
    return store.run(statement, {"source": _valid(document_id)})


def _stored_edges(store: GraphStore, kind: EdgeKind, document_id: str) -> list[Edge]:
    """Edges of a kind in the order of the nodes at their ends; the document stands before all of them."""
    found: list[tuple[int, int, int, int, Edge]] = []
    for start, end in SCHEMA.edges[kind][0]:
        groups = _GROUPS.index(start), _GROUPS.index(end)
        place = "0" if end == "Document" else "b.seq"
        statement = (
            f"MATCH (a:{start} {{source: $source}})-[e:{kind}]->(b:{end}) "
            f"RETURN a.id AS first, b.id AS last, e.why AS why, a.seq AS seq, {place} AS place"
        )
        for row in store.run(statement, {"source": _valid(document_id)}):
            edge = Edge(kind, str(row["first"]), str(row["last"]), str(row["why"]))
            found.append((groups[0], int(row["seq"]), groups[1], int(row["place"]), edge))
    return [edge for *_, edge in sorted(found, key=lambda each: each[:4])]
