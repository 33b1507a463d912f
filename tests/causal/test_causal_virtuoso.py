"""Causal statements on Virtuoso 7 (Debian's virtuoso-opensource): the same verdicts as in this process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import virtuoso_server
from pyoxigraph import Literal, NamedNode
from virtuoso_server import GRAPH

from ovrag_core.base.errors import Unchecked
from ovrag_core.graph import load_graph
from ovrag_core.graph.endpoint import EndpointStore
from ovrag_core.graph.triple_store import EmbeddedStore
from ovrag_studies.causal.graphs.causal_terms import AFFECTS, LOWERS, RAISES
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.graphs.verifier import Verifier
from ovrag_studies.causal.language.cues import Relation
from ovrag_studies.causal.language.propositions import Polarity, Proposition


@pytest.fixture(scope="module")
def graph(project: Path) -> EmbeddedStore:
    return load_graph(project / "data/samples/causal/graph.ttl")


@pytest.fixture(scope="module")
def url(graph: EmbeddedStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of our own that holds the sample graph; it ends with the tests."""
    if not virtuoso_server.is_present():
        pytest.skip("no virtuoso-t and isql-vt here; Debian has them in virtuoso-opensource-7-bin")
    with virtuoso_server.serve(graph.triples(), tmp_path_factory.mktemp("virtuoso")) as address:
        yield address


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
    lexicon = NameLexicon.of_graph(graph)
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
