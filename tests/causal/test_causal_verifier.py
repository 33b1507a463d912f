"""Causal statements judged by a graph: what is verified, what contradicts it by which rule, and what is not known."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple
from sparql_server import Answer, SparqlServer, from_graph, in_turn, says

from ovrag_core.base.errors import GraphError, Unchecked
from ovrag_core.graph import LABEL, TYPE, load_graph
from ovrag_core.graph.endpoint import EndpointStore
from ovrag_core.graph.query import check
from ovrag_core.graph.triple_store import EmbeddedStore
from ovrag_studies.causal.graphs import verifier
from ovrag_studies.causal.graphs.causal_terms import AFFECTS, FACTOR, LOWERS, NO_EFFECT_ON, RAISES
from ovrag_studies.causal.graphs.linking import NameLexicon
from ovrag_studies.causal.graphs.verifier import CausalVerdict, Verifier
from ovrag_studies.causal.language.propositions import Polarity, Proposition, Relation, Unread

NAMES = ("rain", "river flow", "flood damage", "insurance cost", "sunshine", "dam height", "fish stock", "tide")
IRIS = {name: NamedNode(f"urn:t#{name.replace(' ', '_')}") for name in NAMES}


def named(names: Iterable[str]) -> list[Triple]:
    found = []
    for name in names:
        node = IRIS.get(name) or NamedNode(f"urn:t#{name.encode().hex()}")
        found += [Triple(node, TYPE, FACTOR), Triple(node, LABEL, Literal(name))]
    return found


def edge(subject: str, predicate: NamedNode, object_: str) -> Triple:
    return Triple(IRIS[subject], predicate, IRIS[object_])


EDGES = [
    edge("rain", RAISES, "river flow"),
    edge("river flow", RAISES, "flood damage"),
    edge("flood damage", RAISES, "insurance cost"),
    edge("dam height", LOWERS, "river flow"),
    edge("dam height", AFFECTS, "fish stock"),
    edge("rain", LOWERS, "sunshine"),
    edge("flood damage", NO_EFFECT_ON, "tide"),
]
STORE = EmbeddedStore([*named(NAMES), *EDGES])


def said(subject: str, relation: Relation, object_: str, polarity: Polarity = "positive") -> Proposition:
    quote = f"{subject} {relation} {object_}"
    return Proposition(subject, relation, object_, polarity, (0, len(quote)), quote)


def verify(
    statement: Proposition,
    store: EmbeddedStore | EndpointStore,
    lexicon: NameLexicon | None = None,
) -> CausalVerdict:
    return Verifier(store, lexicon).verify(statement)


def verdict(subject: str, relation: Relation, object_: str, polarity: Polarity = "positive") -> CausalVerdict:
    return verify(said(subject, relation, object_, polarity), STORE)


def test_what_the_graph_states_is_verified_with_its_triple() -> None:
    found = verdict("rain", "raises", "river flow")
    assert (found.outcome, found.rule) == ("VERIFIED", "stated")
    assert found.triples == (EDGES[0],)
    assert found.query == f"ASK {{ {IRIS['rain']} {RAISES} {IRIS['river flow']} }}"
    assert verdict("dam height", "affects", "river flow").triples == (EDGES[3],)


@pytest.mark.parametrize(
    ("statement", "rule", "clash"),
    [
        (said("rain", "raises", "river flow", "negative"), "stated negation", EDGES[:1]),
        (said("rain", "affects", "river flow", "negative"), "disjoint predicates", EDGES[:1]),
        (said("river flow", "raises", "rain"), "reversed edge", EDGES[:1]),
        (said("insurance cost", "lowers", "rain"), "reversed edge", EDGES[:3]),
        (said("rain", "lowers", "river flow"), "opposite polarity", EDGES[:1]),
        (said("rain", "lowers", "insurance cost"), "opposite polarity", EDGES[:3]),
        (said("dam height", "raises", "insurance cost"), "opposite polarity", [EDGES[3], *EDGES[1:3]]),
        (said("flood damage", "raises", "tide"), "disjoint predicates", EDGES[6:]),
        (said("flood damage", "affects", "tide"), "disjoint predicates", EDGES[6:]),
    ],
)
def test_a_contradiction_is_a_rule_with_the_triples_that_clash(
    statement: Proposition, rule: str, clash: list[Triple]
) -> None:
    found = verify(statement, STORE)
    assert (found.outcome, found.rule, list(found.triples)) == ("CONTRADICTION", rule, clash)
    assert found.query is not None and STORE.ask(found.query)


def test_the_opposite_of_each_contradiction_is_verified() -> None:
    for statement in (
        said("rain", "lowers", "river flow", "negative"),
        said("river flow", "raises", "rain", "negative"),
        said("flood damage", "affects", "tide", "negative"),
        said("dam height", "lowers", "insurance cost"),
        said("dam height", "raises", "flood damage", "negative"),
        said("flood damage", "raises", "tide", "negative"),
    ):
        found = verify(statement, STORE)
        assert found.outcome == "VERIFIED", statement
        assert found.triples and found.query and STORE.ask(found.query)


def test_a_triple_that_is_missing_contradicts_nothing() -> None:
    found = verdict("sunshine", "raises", "tide")
    assert found.outcome == "FAILED" and not found.triples
    assert "nothing is known of an effect of sunshine on tide" in found.reason
    assert found.query is not None and not STORE.ask(found.query)
    assert verdict("sunshine", "raises", "tide", "negative").outcome == "FAILED"


def test_an_effect_of_unknown_sign_is_partial() -> None:
    assert verdict("dam height", "raises", "fish stock").outcome == "PARTIAL"
    both = EmbeddedStore([*STORE.triples(), edge("rain", RAISES, "dam height")])
    open_sign = verify(said("rain", "raises", "fish stock"), both)
    assert (open_sign.outcome, open_sign.rule) == ("PARTIAL", "open sign")
    ways = EmbeddedStore([*named(NAMES), *EDGES[1:4], edge("rain", RAISES, "dam height"), edge("rain", RAISES, "tide"),
                          edge("tide", RAISES, "river flow")])  # fmt: skip
    assert verify(said("rain", "raises", "flood damage"), ways).outcome == "PARTIAL"
    assert verify(said("rain", "raises", "flood damage", "negative"), ways).outcome == "FAILED"


def test_nothing_is_its_own_cause() -> None:
    assert verdict("rain", "raises", "rain").rule == "reversed edge"
    assert verdict("rain", "raises", "rain", "negative").outcome == "VERIFIED"


def test_a_graph_that_contradicts_itself_is_told() -> None:
    torn = EmbeddedStore([*STORE.triples(), edge("rain", LOWERS, "river flow")])
    assert "contradicts itself" in verify(said("rain", "raises", "river flow"), torn).reason
    circle = EmbeddedStore([*STORE.triples(), edge("insurance cost", RAISES, "rain")])
    found = verify(said("river flow", "raises", "insurance cost"), circle)
    assert found.outcome == "FAILED" and "runs in a circle" in found.reason
    itself = EmbeddedStore([*STORE.triples(), edge("rain", RAISES, "rain")])
    assert "runs in a circle" in verify(said("rain", "raises", "rain"), itself).reason


def test_ways_that_are_too_many_to_follow_are_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier, "_FARTHEST", 3)
    found = verify(said("rain", "raises", "insurance cost"), STORE)
    assert found.outcome == "UNCHECKED" and "too many to follow" in found.reason
    assert verify(said("rain", "raises", "river flow"), STORE).outcome == "VERIFIED"


def test_a_mention_that_is_no_name_fails_with_the_nearest_and_is_never_forced() -> None:
    found = verdict("river flaw", "raises", "flood damage")
    assert found.outcome == "FAILED" and found.claim is None
    assert "river flaw is no name in the graph; the nearest are river flow" in found.reason


@pytest.mark.parametrize(
    ("mention", "told"),
    [
        ("rainfall", "the nearest are rain"),
        ("fish", "the nearest are fish stock"),
        ("dram height", "the nearest are dam height"),
    ],
)
def test_only_names_that_share_words_are_shown_as_near(mention: str, told: str) -> None:
    assert told in verdict(mention, "raises", "flood damage").reason


@pytest.mark.parametrize("mention", ["foo>", "quorum"])
def test_where_nothing_is_near_no_name_is_shown(mention: str) -> None:
    assert verdict(mention, "raises", "flood damage").reason == f"{mention} is no name in the graph"


def test_a_mention_of_several_things_fails_with_all_of_them_told_apart() -> None:
    twice = EmbeddedStore([*STORE.triples(), Triple(IRIS["tide"], LABEL, Literal("rain"))])
    found = verify(said("rain", "raises", "river flow"), twice)
    assert found.outcome == "FAILED" and "may be" in found.reason
    assert "rain <urn:t#rain>" in found.reason and "rain <urn:t#tide>" in found.reason


def circular() -> EmbeddedStore:
    """The graph with a circle of river flow, flood damage and insurance cost."""
    return EmbeddedStore([*STORE.triples(), edge("insurance cost", LOWERS, "river flow")])


@pytest.mark.parametrize(
    ("subject", "object_"),
    [
        ("river flow", "river flow"),  # its own cause, after all
        ("insurance cost", "flood damage"),  # the other way round
        ("river flow", "rain"),  # what leads into the circle
        ("river flow", "dam height"),
    ],
)
def test_where_effects_form_a_circle_nothing_follows_from_there_being_none(subject: str, object_: str) -> None:
    assert verdict(subject, "raises", object_).outcome == "CONTRADICTION"
    found = verify(said(subject, "raises", object_), circular())
    assert found.outcome == "FAILED"
    assert "the graph runs in a circle" in found.reason and "insurance cost lowers river flow" in found.reason


def test_a_circle_elsewhere_takes_nothing_back() -> None:
    assert verify(said("sunshine", "raises", "rain"), circular()).outcome == "CONTRADICTION"
    assert verify(said("rain", "raises", "river flow"), circular()).outcome == "VERIFIED"


def test_what_ends_in_a_movement_but_is_no_name_is_not_passed_over() -> None:
    found = Verifier(STORE).check("Gales see river flow decline. River flow declines.")
    assert [(each.outcome, each.quote) for each in found] == [("FAILED", "Gales see river flow decline")]


def test_names_that_cannot_be_had_are_asked_for_once() -> None:
    with SparqlServer(in_turn(Answer(status=404))) as server, EndpointStore(server.url, attempts=1) as store:
        found = Verifier(store).check("Rain raises tide. Tide raises rain. Rain lowers tide.")
        assert [each.outcome for each in found] == ["UNCHECKED"] * 3
        assert len(server.queries) == 1


def test_words_that_cannot_be_read_fail_with_the_reason() -> None:
    found = Verifier(STORE).verify(Unread((3, 9), "mumble", "it has no verb"))
    assert (found.outcome, found.span, found.quote) == ("FAILED", (3, 9), "mumble")
    assert "it has no verb" in found.reason


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"<html>Welcome</html>", headers={"Content-Type": "text/html"}),
        Answer(body=b'{"boolean": tr'),
        Answer(status=400, body=b"no"),
        Answer(status=503, body=b"busy"),
        Answer(status=200, body=b""),
        says({"head": {}, "results": {"bindings": []}}),
        says({"head": {"vars": ["__ASK_RETVAL"]}, "results": {"bindings": [{}]}}),
        says({"boolean": False}, X_SQL_State="S1TAT"),
    ],
)
def test_what_the_endpoint_does_not_answer_is_unchecked_and_never_false(answer: Answer) -> None:
    with SparqlServer(in_turn(answer)) as server, EndpointStore(server.url, attempts=1, pause=0) as store:
        found = Verifier(store, NameLexicon.of_graph(STORE)).verify(said("rain", "raises", "river flow"))
    assert found.outcome == "UNCHECKED"
    assert server.url in found.reason and not found.triples


def test_an_endpoint_that_is_down_leaves_every_statement_unchecked() -> None:
    with SparqlServer(in_turn(says({"boolean": True}))) as server:
        url = server.url
    with EndpointStore(url, attempts=1, seconds=0.5, pause=0) as store:
        found = Verifier(store).verify(said("rain", "raises", "river flow"))
    assert found.outcome == "UNCHECKED"


def test_a_failure_is_asked_again_and_an_answer_is_kept() -> None:
    class Once(EmbeddedStore):
        asked = 0

        def ask(self, query, terms=None):
            self.asked += 1
            if self.asked == 1:
                raise Unchecked("not yet")
            return super().ask(query, terms)

    store = Once(STORE.triples())
    judge, statement = Verifier(store), said("rain", "raises", "river flow")
    assert [judge.verify(statement).outcome for _ in range(2)] == ["UNCHECKED", "VERIFIED"]
    before = store.asked
    assert judge.verify(statement).outcome == "VERIFIED" and store.asked == before


def test_virtuosos_truth_values() -> None:
    def retval(*values: str) -> Answer:
        rows = [{"__ASK_RETVAL": {"type": "typed-literal", "datatype": "urn:i", "value": value}} for value in values]
        return says({"head": {"link": [], "vars": ["__ASK_RETVAL"]}, "results": {"bindings": rows}})

    for answer, truth in ((retval("1"), True), (retval(), False), (retval("0"), False)):
        with SparqlServer(in_turn(answer)) as server, EndpointStore(server.url) as store:
            assert store.ask("ASK { ?s ?p ?o }") is truth
    with SparqlServer(in_turn(retval("1", "1"))) as server, pytest.raises(Unchecked):
        EndpointStore(server.url).ask("ASK { ?s ?p ?o }")


HOSTILE = st.one_of(
    st.sampled_from(
        [
            'a" } ; DROP ALL ; #',
            "x> . } #",
            "back\\slash",
            "line\nbreak",
            "} # comment",
            "'''",
            '"""',
            "\\u0022 } DROP ALL",
            "?s ?p ?o",
            "$o",
            "<urn:x>",
            "rain\u2028flow",
            "DROP ALL",
            "\x00",
            "\u202eniar",
        ]
    ),
    st.text(st.sampled_from("ab <>\"\\\n\r\t}{#?$;.'|^`\u0000\u202e"), min_size=1, max_size=12),
    st.text(min_size=1, max_size=20),
)


@given(HOSTILE, HOSTILE, st.sampled_from(["raises", "lowers", "affects"]), st.sampled_from(["positive", "negative"]))
def test_no_name_in_a_text_can_ask_or_change_anything_else(
    first: str, second: str, relation: Relation, polarity: Polarity
) -> None:
    before = set(STORE.triples())
    found = Verifier(STORE).verify(said(first, relation, second, polarity))
    assert found.outcome in ("FAILED", "VERIFIED", "CONTRADICTION", "PARTIAL")
    assert set(STORE.triples()) == before


@given(
    HOSTILE, HOSTILE, st.sampled_from(["{} raises {}.", "If {} rises, {} falls.", "{} has no effect on {}.\n", "{}{}"])
)
def test_no_text_can_ask_or_change_anything_else(first: str, second: str, form: str) -> None:
    before = set(STORE.triples())
    text = form.format(first, second)
    for found in Verifier(STORE).check(f"{text} Rain raises river flow."):
        start, end = found.span
        assert 0 <= start <= end <= len(text) + 25
        assert "\n" not in found.reason
        if found.query:
            check(found.query, "ASK")
    assert set(STORE.triples()) == before


@given(HOSTILE, HOSTILE)
def test_no_name_in_the_graph_can_either(first: str, second: str) -> None:
    one, two = NamedNode("urn:t#one"), NamedNode("urn:t#two")
    names = [Triple(one, LABEL, _literal(first)), Triple(two, LABEL, _literal(second))]
    store = EmbeddedStore([Triple(one, TYPE, FACTOR), Triple(two, TYPE, FACTOR), *names, Triple(one, RAISES, two)])
    before = set(store.triples())
    verifier = Verifier(store)
    for statement in (said(first, "raises", second), said(second, "raises", first), said("one", "affects", first)):
        found = verifier.verify(statement)
        if found.query:
            check(found.query, "ASK")
            assert store.ask(found.query) == bool(found.triples)
        assert "\n" not in found.reason
    assert set(store.triples()) == before


def test_statements_in_free_words_are_never_called_contradictions_wrongly_and_never_lost(project: Path) -> None:
    graph = load_graph(project / "data/samples/causal/graph.ttl")
    verifier = Verifier(graph, NameLexicon.of_graph(graph))
    with (project / "tests/data/causal_statements.tsv").open(encoding="utf-8", newline="") as file:
        rows = [(row["outcome"], verifier.check(row["sentence"])) for row in csv.DictReader(file, delimiter="\t")]
    assert len(rows) == 93 and all(verdicts for _, verdicts in rows)
    called = [expected for expected, found in rows if any(each.outcome == "CONTRADICTION" for each in found)]
    assert set(called) == {"CONTRADICTION"}
    assert len(called) >= 40  # of 53: what is not read is FAILED
    assert not any(each.outcome == "VERIFIED" for expected, found in rows if expected == "FAILED" for each in found)


def test_a_sentence_of_which_no_effect_was_read_is_told() -> None:
    (found,) = Verifier(STORE).check("Higher rain gladdens river flow.")
    assert found.outcome == "FAILED"
    assert Verifier(STORE).check("Given: a rise in rain. What follows for river flow?") == []


def _literal(text: str) -> Literal:
    return Literal(text.encode("utf-8", "replace").decode("utf-8"))


def test_an_endpoint_is_sent_nothing_but_questions() -> None:
    hostile = ['a" } ; DROP ALL ; #', "x> . } #", "back\\slash", "line\nbreak", "} #", "DROP ALL"]
    nodes = {name: NamedNode(f"urn:t#n{number}") for number, name in enumerate(hostile)}
    triples = [Triple(node, TYPE, FACTOR) for node in nodes.values()]
    triples += [Triple(node, LABEL, Literal(name)) for name, node in nodes.items()]
    triples.append(Triple(nodes[hostile[0]], RAISES, nodes[hostile[1]]))
    with SparqlServer(from_graph(triples)) as server, EndpointStore(server.url) as store:
        verifier = Verifier(store)
        for one, two in zip(hostile, [*hostile[1:], hostile[0]], strict=True):
            assert verifier.verify(said(one, "raises", two)).outcome != "UNCHECKED"
        assert server.queries
        for query in server.queries:
            form = next(form for form in ("ASK", "SELECT") if query.startswith(form))
            check(query, form)
        assert set(store.triples()) == set(triples)


def test_an_iri_that_would_end_early_is_none() -> None:
    for text in ("urn:a> . ?s ?p ?o", 'urn:a"', "urn:a b", "urn:a}{"):
        with pytest.raises((ValueError, GraphError)):
            NamedNode(text)
