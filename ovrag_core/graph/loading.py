"""From files to triples: RDF as it is written, and tables of facts by their columns; and what had to be mended."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from ovrag_core.base import GraphError, OvragError

TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
# A second scheme inside the path: an IRI that was pasted behind the address of a resource, its colon often lost.
_DOUBLED = re.compile(r"^https?://.+?/(?P<scheme>https?)(?:_|:|%3A)//(?P<rest>.+)$", re.IGNORECASE)
_COLUMNS = ("subject", "object")
_FORMATS = {".ttl": RdfFormat.TURTLE, ".nt": RdfFormat.N_TRIPLES, ".rdf": RdfFormat.RDF_XML, ".owl": RdfFormat.RDF_XML}


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Report on the loading of a graph: size, IRIs that were mended (before, after), names of several things."""

    triples: int
    repaired: tuple[tuple[str, str], ...] = ()
    double_labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FactTable:
    """Rules by which a table's rows become triples.

    Columns: `subject`, `object`, and where there are any `subject_label`, `object_label`, `object_kind`, `predicate`.
    `predicates` by the names in the column `predicate`; `predicate` where a table has no such column. `kinds` are the
    classes by the names in `object_kind`, unless `named` has some for the kind and a word (in lower case) of the
    object's label, no two of which are `apart`; an object of a kind in `literals`, or that is no IRI, is text.
    """

    predicates: Mapping[str, NamedNode]
    predicate: str | None = None
    subject_class: NamedNode | None = None
    kinds: Mapping[str, NamedNode] = field(default_factory=dict)
    named: Mapping[tuple[str, str], NamedNode] = field(default_factory=dict)
    literals: frozenset[str] = frozenset({"literal"})
    apart: frozenset[tuple[NamedNode, NamedNode]] = frozenset()

    def classes_of(self, kind: str, label: str) -> list[NamedNode]:
        """The classes of an object; none where the table says nothing of it."""
        words = re.findall(r"\w+", label.casefold())
        special = dict.fromkeys(class_ for word in words if (class_ := self.named.get((kind, word))))
        if not special or self.apart.intersection(permutations(special, 2)):
            return [self.kinds[kind]] if kind in self.kinds else []
        return list(special)


def read_triples(paths: Sequence[Path], table: FactTable | None) -> tuple[list[Triple], LoadReport]:
    """The triples of all files, each once, in their order. Raises GraphError as `open_graph` does."""
    distinct: dict[Triple, None] = {}
    repaired: dict[str, str] = {}
    for path in paths:
        triples = _of_table(path, table) if path.suffix.lower() == ".tsv" else parse_file(path)
        if not triples:
            raise GraphError(f"{path} holds no triples; give a graph that says something")
        distinct.update((_mended(triple, repaired), None) for triple in triples)
    return list(distinct), LoadReport(len(distinct), tuple(sorted(repaired.items())), _double_labels(distinct))


def parse_file(path: Path, error_class: type[OvragError] = GraphError) -> list[Triple]:
    """The triples of an RDF file. Raises `error_class`, with the line, where it is missing or broken."""
    kind = _FORMATS.get(path.suffix.lower())
    if kind is None:
        raise error_class(f"{path} is no graph by its name; give {', '.join(sorted(_FORMATS))} or .tsv")
    try:
        return [quad.triple for quad in parse(path=str(path), format=kind)]
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise error_class(f"{path}{line}: {_first_line(error)}; mend the file") from None
    except FileNotFoundError:
        raise error_class(f"{path} does not exist; name the file of a graph") from None
    except (OSError, ValueError) as error:
        raise error_class(f"{path} cannot be read ({_first_line(error)})") from None


def _of_table(path: Path, table: FactTable | None) -> list[Triple]:
    if table is None:
        raise GraphError(f"{path} is a table of facts; name the domain that says what its columns mean")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
            if missing:
                raise GraphError(f"{path} has no column {' and '.join(missing)}; its first line names the columns")
            return [triple for row in rows for triple in _of_row(f"{path}, line {rows.line_num}", row, table)]
    except FileNotFoundError:
        raise GraphError(f"{path} does not exist; name the file of a graph") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise GraphError(f"{path} cannot be read ({_first_line(error)})") from None


def _of_row(where: str, row: Mapping[str | None, str | None], table: FactTable) -> list[Triple]:
    subject_text, object_text = row.get("subject"), row.get("object")
    if subject_text is None or object_text is None or None in row:
        raise GraphError(f"{where}: the row has not as many fields as the first line; mend it")
    subject, name = _iri(where, subject_text), row.get("predicate") or table.predicate or ""
    if name not in table.predicates:
        raise GraphError(f"{where}: the predicate {name or '(none)'} is not in the domain; add it there")
    kind, label = row.get("object_kind") or "", row.get("object_label")
    literal = kind in table.literals or not re.match(r"[a-z][a-z0-9+.\-]*:", object_text)
    value = Literal(object_text) if literal else _iri(where, object_text)
    triples = [*_labelled(subject, row.get("subject_label")), *_labelled(value, label)]
    if table.subject_class:
        triples.append(Triple(subject, TYPE, table.subject_class))
    if isinstance(value, NamedNode):
        triples += [Triple(value, TYPE, class_) for class_ in table.classes_of(kind, label or "")]
    triples.append(Triple(subject, table.predicates[name], value))
    return triples


def _labelled(node: NamedNode | Literal, label: str | None) -> list[Triple]:
    return [Triple(node, LABEL, Literal(label))] if label and isinstance(node, NamedNode) else []


def _iri(where: str, text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise GraphError(f"{where}: {text!r} is no IRI ({error}); mend it") from None


def _mended(triple: Triple, repaired: dict[str, str]) -> Triple:
    """The triple with the IRIs of its subject and object mended; those that were are added to `repaired`."""
    ends: list[Any] = []
    for term in (triple.subject, triple.object):
        iri = written = term.value if isinstance(term, NamedNode) else ""
        while match := _DOUBLED.match(iri):
            iri = f"{match['scheme'].lower()}://{match['rest']}"
        if iri != written:
            repaired[written] = iri
        ends.append(NamedNode(iri) if iri else term)
    return Triple(ends[0], triple.predicate, ends[1])


def _double_labels(triples: Iterable[Triple]) -> dict[str, tuple[str, ...]]:
    bearers: dict[str, set[str]] = {}
    for triple in triples:
        if triple.predicate == LABEL and isinstance(triple.object, Literal) and isinstance(triple.subject, NamedNode):
            bearers.setdefault(triple.object.value, set()).add(triple.subject.value)
    return {label: tuple(sorted(iris)) for label, iris in sorted(bearers.items()) if len(iris) > 1}


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
