"""Tables, figures and macros of the study: what they count, that the stage lists them, and the same bytes each time."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from epistemic_rivers import Words, card, graph, iri
from faulty_server import KEY, MODEL, Call, FaultyServer, scripted

from ovrag_core.base.errors import DomainError, SettingsError
from ovrag_core.base.settings import Settings
from ovrag_core.llm import open_chat
from ovrag_core.study.book import Book
from ovrag_studies.abstention import results, study
from ovrag_studies.abstention.arms import comparison
from ovrag_studies.abstention.arms.world import open_world
from ovrag_studies.abstention.cards.card import write_cards
from ovrag_studies.abstention.cards.shortcuts import shortcuts
from ovrag_studies.abstention.settings import GraphSource
from ovrag_studies.abstention.study import Answered

CARDS = (
    card("Main", "Rhine", "YES"),
    card("Isar", "Danube", "YES", "Is Danube the mouth of Isar?"),
    card("Main", "North Sea", "YES", "Does water from Main eventually reach North Sea?", pred="drainsTo"),
    card("Elbe", "Rhine", "NO"),
    card("Rhine", "Neckar", "NO"),
    card("Saale", "Danube", "UNKNOWN"),
    card("Nile", "Danube", "UNKNOWN", "Of what is Nile?"),
)


@pytest.fixture
def answered(tmp_path: Path, project: Path) -> Answered:
    graph(tmp_path)
    (tmp_path / "hidden.txt").write_text(f"{iri('Saale')}\n", encoding="utf-8")
    domain = project / "ontologies/domains/rivers.yaml"
    source = GraphSource(graph=str(tmp_path / "rivers.tsv"), domain=domain, hidden=tmp_path / "hidden.txt")
    world = open_world(source, Words(), tmp_path / "vectors")
    arms = study.make_arms(world, CARDS, ("claim", "oracle", "licence"))
    return Answered("rivers", source, world, CARDS, comparison.run(world, CARDS, arms.values()))


def write_all(answered: Answered, folder: Path) -> Book:
    few = Settings(studies={"epistemic": {"experiments": {"bootstrap_samples": 60}}})
    book = replace(results.open_book(few), tables=folder / "tables", figures=folder / "figures")
    measured = results.measure(book, answered)
    gained = shortcuts(answered.cards, book.plan, answered.world.clusters)
    results.cards_table(book, answered)
    results.shortcuts_table(book, answered, gained)
    results.arms_table(book, answered, measured)
    results.published_table(book, answered, measured)
    results.references_table(book, answered)
    results.kinds_table(book, answered)
    results.paired_table(book, answered)
    results.risk_table(book, answered, measured)
    results.retrieval_table(book, answered, comparison.ranks(answered.world, answered.cards))
    results.domains_table(book, [answered])
    results.model_table(book, answered)
    results.latency_table(book, answered)
    results.forms_figure(book, answered, measured)
    results.risk_figure(book, answered)
    results.confusion_figure(book, answered)
    results.numbers_file(book, answered, measured, gained)
    return book


def rows(book: Book, name: str) -> list[dict[str, str]]:
    with (book.tables / "epistemic" / "samples" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_stage_lists_the_folders_written_and_a_rebuild_has_the_same_bytes(
    answered: Answered, tmp_path: Path, project: Path
) -> None:
    for place in ("1", "2"):
        write_all(answered, tmp_path / place)
    written = {path.relative_to(tmp_path / "1").as_posix() for path in (tmp_path / "1").rglob("*.*")}
    stage = yaml.safe_load((project / "dvc.yaml").read_text(encoding="utf-8"))["stages"]["08_epistemic_abstention"]
    listed = {next(iter(out)).replace("${results}", "samples") for out in stage["outs"]}
    folders = {path.rpartition("/")[0] for path in written}
    assert folders == {path for path in listed if not path.startswith("reports/")}
    for path in written:
        assert (tmp_path / "1" / path).read_bytes() == (tmp_path / "2" / path).read_bytes(), path


def test_tables_say_what_was_answered_in_both_forms(answered: Answered, tmp_path: Path) -> None:
    book = write_all(answered, tmp_path)
    arms = {row["arm"]: row for row in rows(book, "arms")}
    assert list(arms) == ["licence, claim given", "KG oracle", "Graph-RAG with licence"]
    licensed, silent = arms["Graph-RAG with licence"], arms["KG oracle"]
    assert (licensed["accuracy"], licensed["CVRR*"], licensed["CVRR"]) == ("1", "1", "0")
    assert (silent["CVRR*"], silent["CVRR"], silent["AR*"]) == ("0", "1", "1")
    references = {row["system"]: row for row in rows(book, "references")}
    assert references["perfect"]["CVRR"] == "0" and references["perfect"]["CVRR*"] == "1"
    paired = {row["against"]: row for row in rows(book, "paired")}
    against = paired["KG oracle"]
    assert (against["Graph-RAG with licence alone right"], against["the other alone"]) == ("3", "0")
    published = [row["arm"] for row in rows(book, "published")]
    assert published[:3] == list(arms)
    assert all(name.endswith(("(recorded)", "(published)")) for name in published[3:]) and len(published) > 8
    kinds = {row["kind"]: row for row in rows(book, "kinds")}
    assert (kinds["C_direct"]["cards"], kinds["C_direct"]["Graph-RAG with licence"]) == ("2", "1")


def test_every_table_and_figure_says_what_it_rests_on(answered: Answered, tmp_path: Path) -> None:
    book = write_all(answered, tmp_path)
    made = [
        *(book.tables / "epistemic" / "samples").glob("*.tex"),
        *(book.figures / "epistemic" / "samples").glob("*.tex"),
    ]
    for file in made:
        text = file.read_text(encoding="utf-8")
        assert ("Model: " in text and "n = " in text) or file.name == "numbers.tex", file.name
    arms = (book.tables / "epistemic/samples/arms.tex").read_text(encoding="utf-8")
    assert f"bootstrap over {answered.clusters} clusters of joined things, 60 resamples" in arms


def test_macros_of_the_study_are_its_own_and_those_of_the_section(project: Path) -> None:
    text = (project / "tables/epistemic/external/numbers.tex").read_text(encoding="utf-8")
    names = re.findall(r"\\newcommand\{\\(\w+)\}", text)
    assert len(names) == len(set(names)) and all(name.startswith("EpistemicExternal") for name in names)
    section = (project / "thesis/study_epistemic.tex").read_text(encoding="utf-8")
    assert set(re.findall(r"\\(Epistemic[A-Za-z]+)", section)) <= set(names)


def test_the_settings_choose_source_arms_and_readers(answered: Answered, project: Path) -> None:
    with pytest.raises(SettingsError, match=r"set llm\.provider"):
        study.make_arms(answered.world, CARDS, ("chat", "chat_licence"))
    assert list(study.make_arms(answered.world, CARDS, ("licence", "oracle"))) == ["licence", "oracle"]
    assert study.find_domain("loans").samefile(project / "ontologies/domains/loans.yaml")
    with pytest.raises(DomainError, match="no file of a domain; name one, or one of the bundled: loans, rivers"):
        study.find_domain("lakes")
    assert study.examples(answered) == [CARDS[0].question, CARDS[3].question, CARDS[5].question]
    assert study.size(answered) == f"rivers: 7 cards in {answered.clusters} clusters, 9 facts, 3 arms"


def test_no_chat_model_is_opened_offline() -> None:
    with open_chat(Settings().llm) as chat:
        assert chat is None


REPLIES = {
    "Does Main flow into Rhine?": "YES\n90",
    "Does water from Main eventually reach North Sea?": "UNKNOWN\n50",
    "Does Rhine flow into Neckar?": "Perhaps",
    "Does Nile flow into Danube?": "YES\n99",
}
ASKED = (CARDS[0], CARDS[2], CARDS[4], card("Nile", "Danube", "UNKNOWN"))


def test_a_model_stands_beside_the_offline_arms_on_the_same_sample_and_is_replayed(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEST_KEY", KEY)
    graph(tmp_path)
    write_cards(
        [each for asked in ASKED for each in (asked, replace(asked, id=f"{asked.id} again"))], Path("cards.jsonl")
    )
    source = {"graph": "rivers.tsv", "domain": str(project / "ontologies/domains/rivers.yaml"), "cards": "cards.jsonl"}
    options = {"sources": {"rivers": source}, "sample": 4, "arms": ["oracle", "licence", "chat", "chat_licence"]}
    llm = {"model": MODEL, "key_variable": "TEST_KEY", "store": "replies.jsonl", "concurrency": 2}

    def written(provider: str, base_url: str, folder: Path) -> list[dict[str, str]]:
        chosen = {**llm, "provider": provider, "base_url": base_url}
        settings = Settings.model_validate({"llm": chosen, "studies": {"epistemic": options}})
        (answered,) = study.answer(settings, Words())
        assert answered.cards == ASKED
        book = replace(results.open_book(settings), tables=folder)
        results.model_table(book, answered)
        return rows(book, "model")

    def model(call: Call) -> str:
        return REPLIES[call.fenced[0]]

    with FaultyServer(scripted(model)) as server:
        found = {row["arm"]: row for row in written("openai", server.base_url, tmp_path / "1")}
        assert len(server.calls) == 4
    names = ("right", "wrong", "silent", "no answer")
    assert {arm: tuple(int(row[name]) for name in names) for arm, row in found.items()} == {
        "KG oracle": (2, 0, 2, 0),
        "Graph-RAG with licence": (4, 0, 0, 0),
        f"{MODEL} alone": (1, 1, 1, 1),
        f"{MODEL} with licence": (2, 0, 1, 1),
    }
    assert (found[f"{MODEL} alone"]["FAR*"], found[f"{MODEL} with licence"]["FAR*"]) == ("0.5", "0")
    assert list(found.values()) == written("replay", server.base_url, tmp_path / "2")
    first, again = ((tmp_path / place / "epistemic/samples/model.tex").read_text(encoding="utf-8") for place in "12")
    assert first == again
    mean = sum(map(len, REPLIES.values())) / len(REPLIES)
    assert MODEL in first and f"called 4 times and wrote {mean:.1f} tokens a call" in " ".join(first.split())
