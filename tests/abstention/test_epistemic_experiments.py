"""All systems over a set of cards: the same records on every run, read back as written, and intervals' clusters."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from epistemic_rivers import Words, card, graph, iri
from faulty_server import KEY, MODEL, FaultyServer, always, say

from ovrag_core.base import sidecar
from ovrag_core.base.errors import CardError, SettingsError
from ovrag_core.base.settings import load_settings
from ovrag_core.llm.chat import ChatModel
from ovrag_core.llm.openai import OpenAIBackend
from ovrag_studies.abstention.arms.comparison import chat_arms, crossfit_arms, offline_arms, ranks, run
from ovrag_studies.abstention.arms.world import CardWorld, open_world
from ovrag_studies.abstention.measures import values
from ovrag_studies.abstention.records import CardAnswer, CardRun, read_run, write_run
from ovrag_studies.abstention.settings import Epistemic, GraphSource

CARDS = [
    card("Main", "Rhine", "YES"),
    card("Neckar", "Rhine", "YES"),
    card("Isar", "Danube", "YES", "Is Danube the mouth of Isar?"),
    card("Leine", "Aller", "YES"),
    card("Main", "North Sea", "YES", "Does water from Main eventually reach North Sea?", pred="drainsTo"),
    card("Main", "Danube", "NO"),
    card("Isar", "Rhine", "NO", "Is Rhine the mouth of Isar?"),
    card("Rhine", "Neckar", "NO"),
    card("Saale", "Elbe", "UNKNOWN"),
    card("Saale", "Danube", "UNKNOWN", "Is Danube the mouth of Saale?"),
]


@pytest.fixture
def world(tmp_path: Path) -> CardWorld:
    graph(tmp_path)
    hidden = tmp_path / "hidden.txt"
    hidden.write_text(f"{iri('Saale')}\n\n", encoding="utf-8")
    domain = Path(__file__).parents[2] / "ontologies/domains/rivers.yaml"
    source = GraphSource(graph=str(tmp_path / "rivers.tsv"), domain=domain, hidden=hidden)
    return open_world(source, Words(), tmp_path / "vectors")


@pytest.fixture
def made(world: CardWorld) -> CardRun:
    return run(world, CARDS, offline_arms(world).values())


def test_a_record_for_each_card_and_arm_in_order(world: CardWorld, made: CardRun) -> None:
    arms = [each.name for each in offline_arms(world).values()]
    assert [(each.arm, each.id) for each in made.records] == [(arm, each.id) for arm in arms for each in CARDS]
    assert list(made.by_arm()) == arms
    assert len(made.seconds) == len(made.records)
    assert min(made.seconds) >= 0


def test_the_licence_is_right(made: CardRun) -> None:
    figures = {arm: values([each.outcome() for each in records]) for arm, records in made.by_arm().items()}
    assert figures["Graph-RAG with licence"]["accuracy"] == 1
    assert figures["licence, claim given"]["accuracy"] == 1
    assert figures["KG oracle"]["false YES"] == 0


def test_every_rebuild_writes_the_same_bytes_but_for_the_seconds(
    world: CardWorld, made: CardRun, tmp_path: Path
) -> None:
    again = run(world, CARDS, offline_arms(world).values())
    paths = [tmp_path / "one" / "run.jsonl", tmp_path / "two" / "run.jsonl"]
    for each, path in zip((made, again), paths, strict=True):
        path.parent.mkdir()
        write_run(each, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert "seconds" not in json.loads(paths[0].read_text(encoding="utf-8").splitlines()[0])
    assert len(sidecar(paths[0], "latency").read_text(encoding="utf-8").splitlines()) == len(made.records)
    assert {each.name for each in paths[0].parent.iterdir()} == {"run.jsonl", "run.latency.jsonl"}


def test_a_run_is_read_as_it_was_written(made: CardRun, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    odd = made.records[0].model_copy(update={"detail": "<b>\n\u2028", "evidence": ('"} UNION {',)})
    write_run(CardRun((odd, *made.records[1:]), made.seconds), path)
    assert read_run(path).records == (odd, *made.records[1:])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 2"),
        ('{"id": "x"}', "line 2: 'arm' is missing"),
        ('{"answer": "MAYBE"}', "line 2"),
    ],
)
def test_a_broken_run_is_refused_with_its_line(made: CardRun, tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "run.jsonl"
    write_run(CardRun(made.records[:1], made.seconds[:1]), path)
    first = path.read_text(encoding="utf-8")
    path.write_text(first + line + "\n", encoding="utf-8")
    with pytest.raises(CardError, match=problem):
        read_run(path)


def test_a_run_that_cannot_be_written_leaves_nothing_behind(made: CardRun, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(CardError, match="cannot be written"):
        write_run(made, tmp_path / "file" / "run.jsonl")


def test_clusters_are_drainages_and_seas_join_nothing(world: CardWorld) -> None:
    assert world.cluster(card("Main", "x", "YES")) == world.cluster(card("Neckar", "x", "YES"))
    assert world.cluster(card("Rhine", "x", "YES")) != world.cluster(card("Elbe", "x", "YES"))
    # A hidden fact joins all the same, and an unknown thing stands alone.
    assert world.cluster(card("Saale", "x", "YES")) == world.cluster(card("Elbe", "x", "YES"))
    assert world.cluster(card("Nowhere", "x", "YES")) == iri("Nowhere")


def test_a_file_of_hidden_things_that_holds_no_iris_is_refused(world: CardWorld, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text(f"{iri('Elbe')}\nthe Elbe\n", encoding="utf-8")
    domain = Path(__file__).parents[2] / "ontologies/domains/rivers.yaml"
    source = GraphSource(graph=str(tmp_path / "rivers.tsv"), domain=domain, hidden=tmp_path / "bad.txt")
    with pytest.raises(CardError, match=r"bad\.txt, line 2 is no IRI"):
        open_world(source, Words(), tmp_path)


def test_cards_are_read_by_what_other_clusters_taught(world: CardWorld) -> None:
    cards = [*CARDS, *(card(name, "Rhine", "UNKNOWN") for name in ("Weser", "Ems", "Oder", "Warta"))]
    cards += [card("Leine", "Rhine", "NO"), card("Elbe", "Rhine", "NO")]
    arms = crossfit_arms(world, cards, folds=3)
    assert list(arms) == ["similarity", "weights"]
    made = run(world, cards, arms.values())
    assert [each.arm for each in made.records[:: len(cards)]] == ["RAG by similarity", "RAG by weights"]
    turned = [replace(each, gold="NO") if each.id == cards[0].id else each for each in cards]
    own, crossed = (each["weights"].answer(cards[0]) for each in (arms, crossfit_arms(world, turned, folds=3)))
    assert own.confidence == crossed.confidence  # the card itself is not among its teachers
    with pytest.raises(CardError, match="without any of gold"):
        crossfit_arms(world, [each for each in cards if each.gold != "NO"], folds=3)


def test_a_model_is_asked_once_for_both_of_its_arms_and_several_cards_at_once(world: CardWorld) -> None:
    with FaultyServer(always(say("YES\n90")), delay=0.05) as server:
        backend = OpenAIBackend(
            base_url=server.base_url, key=KEY, retries=0, seconds_per_attempt=5, announce=lambda line: None
        )
        arms = chat_arms(world, ChatModel(backend, MODEL, max_tokens=50))
        made = run(world, CARDS, arms.values(), at_once=4)
        assert len(server.calls) == len({each.question for each in CARDS})
        assert 1 < server.most_at_once <= 4
    said = made.by_arm()
    assert {each.answer for each in said[f"{MODEL} alone"]} == {CardAnswer.YES}
    assert [each.answer for each in said[f"{MODEL} with licence"]] == [
        CardAnswer.YES if each.gold == "YES" else CardAnswer.UNKNOWN for each in CARDS
    ]


def test_ranks_are_of_cards_that_a_fact_settles(world: CardWorld) -> None:
    found = ranks(world, CARDS)
    assert list(found["cluster"]) == [world.cluster(each) for each in CARDS if each.gold != "UNKNOWN"]
    assert found["words and vectors"][0] == 1


def test_the_settings_know_their_keys(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text("studies: {epistemic: {arms: [weights, licence]}}\n", encoding="utf-8")
    options = Epistemic.of(load_settings(path))
    assert options.arms == ("weights", "licence")
    assert list(options.sources) == ["rivers", "loans"]
    for bad in (
        "{tops: 3}",
        "{arms: [oracles]}",
        "{sources: {}}",
        "{sources: {a: {graph: x}}}",
    ):
        path.write_text(f"studies: {{epistemic: {bad}}}\n", encoding="utf-8")
        with pytest.raises(SettingsError, match=r"studies\.epistemic\."):
            Epistemic.of(load_settings(path))
