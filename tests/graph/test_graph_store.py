"""Stores of triples: how files become triples, how terms are bound, and what a query may not do."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from ovrag_core.base.errors import GraphError
from ovrag_core.graph import LABEL, EmbeddedStore, FactTable, open_graph
from ovrag_core.graph.query import bind, tokens

P = NamedNode("http://example.org/p")
A, B = NamedNode("http://example.org/a"), NamedNode("http://example.org/b")
HOSTILE = '" } UNION { ?s ?p ?o . FILTER("" = "'
TABLE = FactTable({"flows": P}, "flows", NamedNode("urn:River"), {"sea": NamedNode("urn:Sea")})


@pytest.fixture
def store() -> EmbeddedStore:
    return EmbeddedStore(
        [Triple(A, P, B), Triple(A, LABEL, Literal(HOSTILE)), Triple(B, P, Literal("x", language="en"))]
    )


def test_terms_are_bound_and_rows_come_by_name(store: EmbeddedStore) -> None:
    assert store.ask("ASK { ?s ?p ?o }", {"s": A, "o": B})
    assert not store.ask("ASK { ?s ?p ?o }", {"s": B, "o": A})
    assert store.select("SELECT ?o WHERE { ?s ?p ?o }", {"s": A, "p": P}) == [{"o": B}]
    assert store.select("SELECT DISTINCT ?s ?o WHERE { ?s ?p ?o }", {"s": A, "p": P}) == [{"o": B}]
    assert store.select("SELECT * WHERE { ?s ?p ?o }", {"s": A, "p": P}) == [{"o": B}]
    assert store.select("SELECT ?o ?none WHERE { ?s ?p ?o OPTIONAL { ?o <urn:x> ?none } }", {"s": A, "p": P}) == [
        {"o": B}
    ]


def test_a_text_that_looks_like_a_query_is_text(store: EmbeddedStore) -> None:
    assert store.select("SELECT ?s WHERE { ?s ?p ?text }", {"text": Literal(HOSTILE)}) == [{"s": A}]
    assert not store.ask("ASK { ?s ?p ?text }", {"text": Literal(HOSTILE + " ")})
    assert store.select("SELECT ?s WHERE { ?s ?p ?text }", {"text": Literal("<b>\n</b>")}) == []


@pytest.mark.parametrize(
    "query",
    [
        "ASK { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "ASK { service SILENT <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "ASK { #\n SERVICE ?where { ?s ?p ?o } }",
        "PREFIX a: <urn:a> ASK { { SERVICE a:b {} } }",
        "ASK FROM <http://127.0.0.1:9/> { ?s ?p ?o }",
        "LOAD <http://127.0.0.1:9/>",
        "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
    ],
)
def test_a_query_that_reaches_out_of_its_graph_is_refused(store: EmbeddedStore, query: str) -> None:
    with pytest.raises(GraphError, match="may ask its own graph only"):
        store.ask(query)


@pytest.mark.parametrize(
    "query",
    [
        'ASK { ?s ?p "SERVICE" }',
        "ASK { ?s ?p '''a ' SERVICE \n x''' }",
        "ASK { ?s ?p <urn:SERVICE> } # SERVICE",
        "PREFIX service: <urn:s> ASK { ?service service:SERVICE ?load }",
    ],
)
def test_a_word_inside_a_text_a_name_or_a_comment_is_no_keyword(store: EmbeddedStore, query: str) -> None:
    assert not store.ask(query)


def test_a_query_of_another_form_or_that_cannot_be_read_is_an_error(store: EmbeddedStore) -> None:
    with pytest.raises(GraphError, match="no ASK query"):
        store.ask("SELECT ?s WHERE { ?s ?p ?o }")
    with pytest.raises(GraphError, match="no SELECT query"):
        store.select("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }")
    with pytest.raises(GraphError, match="cannot be read"):
        store.select("SELECT ?s WHERE { ?s ?p }")
    with pytest.raises(GraphError, match="may hide anything"):
        store.ask(r"ASK { \u0053ERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }")
    with pytest.raises(GraphError, match="computes in its SELECT"):
        store.select("SELECT (COUNT(?s) AS ?n) WHERE { ?s ?p ?o }", {"p": P})


@given(st.text())
def test_a_bound_text_never_leaves_its_quotes(text: str) -> None:
    literal = Literal(text.encode("utf-8", "replace").decode("utf-8"))
    query = bind("ASK { ?s ?p ?text }", {"text": literal})
    assert [part for kind, part in tokens(query) if kind == "string"] == [str(literal)]
    assert "".join(part for kind, part in tokens(query) if kind != "string") == "ASK { ?s ?p  }"


def test_only_what_has_a_name_elsewhere_is_written_into_a_query() -> None:
    assert bind("SELECT ?o WHERE { ?s ?p ?o } # ?s", {"s": A}) == f"SELECT ?o WHERE {{ {A} ?p ?o }} # ?s"
    with pytest.raises(GraphError, match="gives back"):
        bind("SELECT ?s WHERE { ?s ?p ?o }", {"s": A})
    with pytest.raises(GraphError, match="no name outside"):
        bind("ASK { ?s ?p ?o }", {"s": BlankNode("b")})


def test_a_table_becomes_triples_with_names_and_classes(tmp_path: Path) -> None:
    path = tmp_path / "facts.tsv"
    path.write_text(
        "subject\tsubject_label\tobject\tobject_label\tobject_kind\n"
        'urn:r\tR "the" river\turn:s\tS\tsea\n'
        "urn:q\tQ\tfree text\t\t\n",
        encoding="utf-8",
    )
    store = open_graph(path, TABLE)
    assert store.ask("ASK { ?r a <urn:River> ; ?p ?s . ?s a <urn:Sea> }", {"p": P})
    assert store.ask("ASK { ?r ?label ?text }", {"text": Literal('R "the" river')})
    assert store.ask("ASK { ?q ?p ?text }", {"q": NamedNode("urn:q"), "text": Literal("free text")})
    assert store.report.triples == len(store) == 8


def test_several_files_are_one_graph(tmp_path: Path) -> None:
    table, turtle = tmp_path / "facts.tsv", tmp_path / "facts.ttl"
    table.write_text("subject\tsubject_label\tobject\nurn:r\tR\turn:s\nurn:q\tQ\turn:s\n", encoding="utf-8")
    turtle.write_text(f"<urn:t> {P} <urn:s> ; {LABEL} 'T' .", encoding="utf-8")
    store = open_graph([table, turtle], TABLE)
    assert len(store.select("SELECT ?s WHERE { ?s ?p ?o }", {"p": P})) == 3
    assert len(store.select("SELECT ?s WHERE { ?s ?p ?o }", {"p": LABEL})) == 3


def test_a_second_scheme_in_an_iri_is_mended_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text(
        f"<http://x.org/resource/A> {P} <http://x.org/resource/http_//x.org/resource/B> .\n"
        f"<http://x.org/resource/B> {P} <http://x.org/resource/https://x.org/resource/C> .\n"
        f"<http://x.org/resource/B> {P} <http://x.org/http_server> .\n",
        encoding="utf-8",
    )
    store = open_graph(path)
    assert store.ask(f"ASK {{ <http://x.org/resource/A> {P}/{P} <https://x.org/resource/C> }}")
    assert store.ask("ASK { ?s ?p <http://x.org/http_server> }")
    assert [after for _, after in store.report.repaired] == ["http://x.org/resource/B", "https://x.org/resource/C"]


def test_a_name_of_two_things_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "graph.nt"
    path.write_text(f'<urn:a> {LABEL} "Mill Creek" .\n<urn:b> {LABEL} "Mill Creek" .\n<urn:c> {LABEL} "C" .\n')
    assert open_graph(path).report.double_labels == {"Mill Creek": ("urn:a", "urn:b")}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.ttl", "<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> .\n", "line 2"),
        ("a.ttl", "ex:a ex:b ex:c .", "line 1"),
        ("a.ttl", "# nothing\n", "holds no triples"),
        ("a.csv", "a,b", "no graph by its name"),
        ("a.tsv", "subject\tlabel\nurn:a\tA\n", "no column object"),
        ("a.tsv", "subject\tobject\nurn:a\n", "line 2: the row has not as many fields"),
        ("a.tsv", "subject\tobject\nurn:a b\turn:b\n", "line 2: 'urn:a b' is no IRI"),
        (
            "a.tsv",
            "subject\tobject\tpredicate\nurn:a\turn:b\tswims\n",
            "line 2: the predicate swims is not in the domain",
        ),
        ("a.tsv", "subject\tobject\n", "holds no triples"),
    ],
)
def test_a_graph_that_cannot_be_used_is_named_with_its_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GraphError, match=message) as caught:
        open_graph(path, TABLE)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_are_no_text_are_errors(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="does not exist"):
        open_graph(tmp_path / "none.ttl")
    with pytest.raises(GraphError, match="does not exist"):
        open_graph(tmp_path / "none.tsv", TABLE)
    binary = tmp_path / "binary.tsv"
    binary.write_bytes(b"subject\tobject\n\xff\xfe\t\x80")
    with pytest.raises(GraphError, match="cannot be read"):
        open_graph(binary, TABLE)
    with pytest.raises(GraphError, match="name the domain"):
        open_graph(binary)


def test_a_graph_with_fewer_facts_is_another_graph(store: EmbeddedStore) -> None:
    assert store.without([Triple(A, P, B)]).triples(predicate=P) == store.triples(B, P)
