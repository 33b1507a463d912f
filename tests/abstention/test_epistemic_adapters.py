"""Systems that answer cards: what they say, what they rest it on, and that no failure passes for an abstention."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from epistemic_rivers import Words, card, graph, iri, rivers
from faulty_server import KEY, MODEL, FaultyServer, always, failure, refusal, say
from faulty_server import Answer as Served
from pyoxigraph import Triple

from ovrag_core.base.errors import CardError, DomainError, ModelSetupError, Unchecked
from ovrag_core.graph import EmbeddedStore, Term
from ovrag_core.llm.chat import ChatModel
from ovrag_core.llm.openai import OpenAIBackend
from ovrag_studies.abstention.arms.adapters import (
    Adapter,
    chat_alone,
    chat_licensed,
    claim_given,
    claims_of,
    graph_rag,
    rag,
    string_oracle,
)
from ovrag_studies.abstention.arms.fact_sentences import FactShelf, Found, verbalise
from ovrag_studies.abstention.arms.readers import Reader
from ovrag_studies.abstention.cards.card import Card, CardClaim
from ovrag_studies.abstention.parsing.name_index import names_of
from ovrag_studies.abstention.records import CardAnswer, CardReply

CARDS = [
    card("Main", "Rhine", "YES"),
    card("Isar", "Danube", "YES", "Does Danube receive Isar directly?"),
    card("Main", "Danube", "NO"),
    card("Rhine", "Main", "NO", "Is Main the mouth of Rhine?"),
    card("Saale", "Elbe", "UNKNOWN"),
]


class Silent:
    """A graph that answers nothing."""

    def ask(self, query: str, terms: Mapping[str, Term] | None = None) -> bool:
        raise Unchecked("the endpoint did not answer")

    def select(self, query: str, terms: Mapping[str, Term] | None = None) -> list[dict[str, Term]]:
        raise Unchecked("the endpoint did not answer")

    def triples(self, *pattern: object) -> list[Triple]:
        raise Unchecked("the endpoint did not answer")


@pytest.fixture
def store(tmp_path: Path) -> EmbeddedStore:
    return graph(tmp_path, hidden=["Saale"])


@pytest.fixture
def licensed(store: EmbeddedStore) -> Adapter:
    return graph_rag(store, rivers(), names_of(store, rivers()))


class Models:
    """Chat models, each at a server of its own, which stops with the others."""

    def __init__(self, running: ExitStack) -> None:
        self.servers: list[FaultyServer] = []
        self._running = running

    def __call__(self, answer: Served | str, key: str = KEY) -> Adapter:
        server = self._running.enter_context(FaultyServer(always(say(answer) if isinstance(answer, str) else answer)))
        self.servers.append(server)
        backend = OpenAIBackend(
            base_url=server.base_url, key=key, retries=0, seconds_per_attempt=5.0, announce=lambda line: None
        )
        return chat_alone(ChatModel(backend, MODEL, max_tokens=50))


@pytest.fixture
def model() -> Iterator[Models]:
    with ExitStack() as running:
        yield Models(running)


def answers(adapter: Adapter) -> list[str]:
    return [str(adapter.answer(each).answer) for each in CARDS]


def test_the_licence_is_right_with_the_claim_given_and_shows_its_proof(store: EmbeddedStore) -> None:
    adapter = claim_given(store, rivers())
    assert answers(adapter) == [each.gold for each in CARDS]
    said = adapter.answer(CARDS[0])
    assert said.evidence == (f"<{iri('Main')}> <{rivers().prefix}hasMouth> <{iri('Rhine')}> .",)
    assert said.seconds > 0
    assert "Saale" in adapter.answer(CARDS[-1]).detail
    assert "one_mouth" in adapter.answer(CARDS[2]).detail


def test_graph_rag_reads_the_question_alone(licensed: Adapter) -> None:
    assert answers(licensed) == [each.gold for each in CARDS]
    other = Card("x", "", "YES", "Is Rhine the mouth of Main?", CardClaim(iri("Elbe"), "hasMouth", iri("Isar")))
    assert licensed.answer(other).answer is CardAnswer.YES


@pytest.mark.parametrize(
    "question",
    ["Does Weser flow into Rhine?", "What a day!", " ", 'Is " } UNION { ?s ?p ?o . FILTER("" = " the mouth of Main?'],
)
def test_a_question_that_is_not_understood_is_unknown_with_the_reason(licensed: Adapter, question: str) -> None:
    said = licensed.answer(card("Main", "Rhine", "YES", question))
    assert said.answer is CardAnswer.UNKNOWN
    assert said.detail
    assert said.evidence == ()


def test_a_graph_that_does_not_answer_is_a_failure_and_no_abstention(store: EmbeddedStore) -> None:
    given = claim_given(Silent(), rivers()).answer(CARDS[0])
    asked = graph_rag(Silent(), rivers(), names_of(store, rivers())).answer(CARDS[0])
    for said in (given, asked):
        assert said.answer is CardAnswer.FAILED
        assert "did not answer" in said.detail


def test_the_oracle_tests_the_strings_of_facts(store: EmbeddedStore) -> None:
    oracle = string_oracle(names_of(store, rivers()), verbalise(store, rivers()), rivers())
    assert answers(oracle) == ["YES", "YES", "UNKNOWN", "UNKNOWN", "UNKNOWN"]
    assert oracle.answer(CARDS[0]).evidence == ("Main flows into Rhine.",)


def test_retrieval_answers_by_what_its_reader_read(store: EmbeddedStore, tmp_path: Path) -> None:
    shelf = FactShelf(verbalise(store, rivers()), Words(), tmp_path)
    seen: dict[str, tuple[Found, ...]] = {}

    def reader_of(card: Card) -> Reader:
        return lambda question, found: seen.update({question: found}) or CardReply(CardAnswer.NO, 0.7)

    said = rag("weights", shelf, reader_of).answer(CARDS[0])
    assert (said.answer, said.confidence) == (CardAnswer.NO, 0.7)
    assert seen == {CARDS[0].question: shelf.search(CARDS[0].question)}
    rag("similarity", shelf, reader_of).answer(CARDS[0])
    assert seen == {CARDS[0].question: shelf.nearest(CARDS[0].question)}


def test_a_chat_model_alone_is_asked_once_for_each_question(model: Models) -> None:
    alone = model("YES\n90")
    said = [alone.answer(CARDS[0]), alone.answer(CARDS[0])]
    assert said[0] == said[1]
    assert (said[0].answer, said[0].confidence, said[0].evidence) == (CardAnswer.YES, 0.9, ())
    (server,) = model.servers
    assert len(server.calls) == 1
    assert server.calls[0].fenced == [CARDS[0].question]


@pytest.mark.parametrize(
    ("reply", "answer", "confidence"),
    [
        ("Unknown.", CardAnswer.UNKNOWN, 0.5),
        ("I do not know", CardAnswer.UNPARSED, 0.5),
        ("Yesterday", CardAnswer.UNPARSED, 0.5),
        ("NO\n70", CardAnswer.NO, 0.7),
        (failure(500), CardAnswer.FAILED, 0.0),
        (refusal(), CardAnswer.FAILED, 0.0),
    ],
)
def test_replies_and_failures_of_a_model(
    model: Models, store: EmbeddedStore, reply: Served | str, answer: CardAnswer, confidence: float
) -> None:
    alone = model(reply)
    said = alone.answer(CARDS[2])
    assert (said.answer, said.confidence) == (answer, confidence)
    assert bool(said.detail) == (answer in (CardAnswer.UNPARSED, CardAnswer.FAILED))
    licensed = chat_licensed(alone, store, rivers(), names_of(store, rivers())).answer(CARDS[2])
    assert licensed.answer is answer  # the graph says NO of this card, so that a NO stands too


def test_a_model_is_silent_where_the_graph_says_something_else(model: Models, store: EmbeddedStore) -> None:
    adapter = chat_licensed(model("YES\n80"), store, rivers(), names_of(store, rivers()))
    assert adapter.name == f"{MODEL} with licence"
    assert answers(adapter) == ["YES", "YES", "UNKNOWN", "UNKNOWN", "UNKNOWN"]
    stands, silent = adapter.answer(CARDS[0]), adapter.answer(CARDS[2])
    assert stands.confidence <= 0.8
    assert stands.evidence
    assert "the model says YES, the graph NO" in silent.detail


def test_a_licence_that_cannot_be_checked_is_a_failure(model: Models, store: EmbeddedStore) -> None:
    adapter = chat_licensed(model("YES\n80"), Silent(), rivers(), names_of(store, rivers()))
    assert adapter.answer(CARDS[0]).answer is CardAnswer.FAILED


def test_a_wrong_key_stops_everything(model: Models) -> None:
    with pytest.raises(ModelSetupError):
        model("YES", key="sk-wrong").answer(CARDS[0])


def test_the_claims_of_a_card() -> None:
    domain = rivers()
    several = CardClaim((iri("Saale"), iri("Saale_(Leine_tributary)")), "drainsTo", iri("Elbe"))
    claims = claims_of(Card("x", "", "UNKNOWN", "?", several), domain)
    assert [(each.subject.value, each.predicate) for each in claims] == [(one, "drainsTo") for one in several.subjects]
    by_iri = CardClaim(iri("Main"), f"{domain.prefix}hasMouth", iri("Rhine"))
    assert claims_of(Card("x", "", "YES", "?", by_iri), domain)[0].predicate == "hasMouth"
    with pytest.raises(CardError, match="no IRI"):
        claims_of(Card("x", "", "YES", "?", CardClaim("not an iri", "hasMouth", iri("Rhine"))), domain)
    with pytest.raises(DomainError, match="hasMouth"):
        claims_of(Card("x", "", "YES", "?", CardClaim(iri("Main"), "hasMoth", iri("Rhine"))), domain)
