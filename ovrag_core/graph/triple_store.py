"""Stores of triples: what can be asked of any of them, and the one in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from pyoxigraph import BlankNode, NamedNode, Quad, QuerySolutions, Triple, Variable
from pyoxigraph import Store as Oxigraph

from ovrag_core.base import GraphError, Unchecked
from ovrag_core.graph import query as queries
from ovrag_core.graph.loading import FactTable, LoadReport, read_triples
from ovrag_core.graph.query import Row, Term
from ovrag_core.text import one_line


class Store(Protocol):
    """Graph that can be asked. A query that cannot be read is a GraphError, one without an answer Unchecked."""

    def ask(self, query: str, terms: Mapping[str, Term] | None = None) -> bool:
        """The truth value of an ASK query; `terms` by the names of variables (no question mark) are bound to them."""

    def select(self, query: str, terms: Mapping[str, Term] | None = None) -> list[Row]:
        """The rows of a SELECT query by the names of its columns; what has no value, or was bound, is left out."""

    def triples(
        self,
        subject: NamedNode | BlankNode | None = None,
        predicate: NamedNode | None = None,
        object_: Term | None = None,
    ) -> list[Triple]:
        """The triples that fit, in no order; None fits everything."""


class EmbeddedStore:
    """A graph in the memory of this process. `report` says what was met while it was loaded."""

    def __init__(self, triples: Iterable[Triple] = (), report: LoadReport | None = None) -> None:
        self._store = Oxigraph()
        self._store.bulk_extend(Quad(*triple) for triple in triples)
        self.report = report or LoadReport(triples=len(self._store))

    def __len__(self) -> int:
        return len(self._store)

    def ask(self, query: str, terms: Mapping[str, Term] | None = None) -> bool:
        """See `Store.ask`."""
        queries.check(query, "ASK")
        with _reported():
            return bool(self._store.query(query, substitutions=_variables(terms)))

    def select(self, query: str, terms: Mapping[str, Term] | None = None) -> list[Row]:
        """See `Store.select`."""
        queries.check(query, "SELECT")
        full = queries.with_bound(query, frozenset(terms)) if terms else query
        with _reported():
            answer = self._store.query(full, substitutions=_variables(terms))
            assert isinstance(answer, QuerySolutions)  # of a SELECT
            names = [variable.value for variable in answer.variables if variable.value not in (terms or {})]
            return [{name: row[name] for name in names if row[name] is not None} for row in answer]

    def triples(
        self,
        subject: NamedNode | BlankNode | None = None,
        predicate: NamedNode | None = None,
        object_: Term | None = None,
    ) -> list[Triple]:
        """See `Store.triples`."""
        return [quad.triple for quad in self._store.quads_for_pattern(subject, predicate, object_)]

    def without(self, removed: Iterable[Triple]) -> EmbeddedStore:
        """A copy of the graph without these triples."""
        gone = set(removed)
        return EmbeddedStore((t for t in self.triples() if t not in gone), self.report)


def _variables(terms: Mapping[str, Term] | None) -> dict[Variable, Term]:
    return {Variable(name): term for name, term in (terms or {}).items()}


@contextmanager
def _reported() -> Iterator[None]:
    """Errors of the store as one sentence each."""
    try:
        yield
    except SyntaxError as error:
        raise GraphError(f"the query cannot be read ({one_line(str(error), 160)}); mend it") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise Unchecked(f"the graph could not answer ({one_line(str(error), 160)})") from None


def load_graph(source: str | Path | Sequence[str | Path], table: FactTable | None = None) -> EmbeddedStore:
    """The graph in one or several files: Turtle, N-Triples, RDF/XML, or tables of facts (`.tsv`, needs `table`).

    Raises GraphError for a file that is missing, empty or broken (with its line).
    """
    paths = [source] if isinstance(source, str | Path) else source
    triples, report = read_triples([Path(path) for path in paths], table)
    return EmbeddedStore(triples, report)


def open_graph(source: str | Path | Sequence[Path], table: FactTable | None = None, *, attempts: int = 3) -> Store:
    """The graph at the address of a SPARQL endpoint, asked at most `attempts` times, or in files (see `load_graph`)."""
    if isinstance(source, str) and "://" in source:
        from ovrag_core.graph.endpoint import EndpointStore  # noqa: PLC0415 - files need no HTTP, which loads slowly

        return EndpointStore(source, attempts=attempts)
    return load_graph(source, table)
