"""Facts become sentences, and the sentence that a question is about is found by its names, words and vectors."""

from pathlib import Path

import pytest
from epistemic_rivers import Words, card, graph, iri, opened, rivers

from ovrag_core.graph import EmbeddedStore, open_graph
from ovrag_studies.abstention.arms.fact_sentences import FactShelf, about, rank, verbalise, words
from ovrag_studies.abstention.cards.card import read_cards
from ovrag_studies.abstention.knowledge.likeness import bare


@pytest.fixture
def shelf(tmp_path: Path) -> FactShelf:
    return FactShelf(verbalise(graph(tmp_path), rivers()), Words(), tmp_path / "vectors")


def titles(shelf: FactShelf, question: str, k: int = 5) -> list[str]:
    return [each.passage.title for each in shelf.search(question, k)]


def test_each_fact_is_one_sentence_in_the_order_of_titles(tmp_path: Path) -> None:
    passages = verbalise(graph(tmp_path, hidden=["Elbe"]), rivers())
    assert len(passages) == 9
    assert passages[0].text == "Danube flows into Black Sea."
    assert [each.title for each in passages] == sorted(each.title for each in passages)
    assert not any(each.title == "Elbe" for each in passages)


def test_names_that_look_like_templates_stay_names(tmp_path: Path) -> None:
    path = tmp_path / "odd.tsv"
    rows = ["subject\tsubject_label\tobject\tobject_label\tobject_kind"]
    rows += [f"{iri('A')}\t{{object}} <b>Brook</b>\t{iri('B')}\t{{subject}}\triver"]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    (passage,) = verbalise(open_graph(path, rivers().table), rivers())
    assert passage.text == "{object} <b>Brook</b> flows into {subject}."


def test_a_thing_without_a_name_is_called_by_its_iri(tmp_path: Path) -> None:
    path = tmp_path / "bare.ttl"
    path.write_text(f"<{iri('Old Creek')}> <{rivers().prefix}hasMouth> <{iri('Ferry_Brook')}> .\n", encoding="utf-8")
    (passage,) = verbalise(open_graph(path), rivers())
    assert (passage.title, passage.object_name) == ("Old Creek", "Ferry Brook")


def test_names_decide_before_words_and_vectors(shelf: FactShelf) -> None:
    assert titles(shelf, "Does Neckar flow into Danube?", 1) == ["Neckar"]
    assert titles(shelf, "Is the sea called North Sea where the Elbe ends?", 1) == ["Elbe"]


def test_a_name_inside_a_longer_one_is_no_mention(shelf: FactShelf) -> None:
    found = titles(shelf, "Is Tauber (Main tributary) a tributary of Elbe?")
    assert found[0] == "Tauber (Main tributary)"
    assert found.index("Elbe") == 1  # and not Main, which stands in the brackets only


def test_a_short_name_finds_all_that_bear_it_the_exact_one_first(shelf: FactShelf) -> None:
    assert titles(shelf, "Does SAALE end in the Leine?")[:2] == ["Saale (Leine tributary)", "Saale"]
    assert titles(shelf, "What of Saale?", 2) == ["Saale", "Saale (Leine tributary)"]


def test_a_question_without_known_names_is_ranked_all_the_same(shelf: FactShelf) -> None:
    assert len(shelf.search("<script>?s ?p ?o</script>")) == 5
    assert len(shelf.search("")) == 5


def test_no_passages_are_found_in_an_empty_graph(tmp_path: Path) -> None:
    shelf = FactShelf(verbalise(EmbeddedStore(), rivers()), Words(), tmp_path)
    assert shelf.search("Does Neckar flow into Danube?") == ()
    assert shelf.nearest("Does Neckar flow into Danube?") == ()


def test_preparing_questions_changes_nothing(shelf: FactShelf) -> None:
    question = "Does Isar flow into Danube?"
    before = shelf.search(question)
    shelf.prepare([question, "Does Main flow into Rhine?"])
    assert shelf.search(question) == before
    assert shelf.nearest(question, 1)[0].passage.text == "Isar flows into Danube."


def test_rank_counts_passages_on_the_asked_subject_only(shelf: FactShelf) -> None:
    known = {each.fact[0] for each in shelf.passages}
    found = shelf.search("Does Rhine flow into Main?")
    # "Main flows into Rhine" names both, and is on Main.
    assert rank(about(card("Rhine", "Main", "NO"), known), found) == 2
    assert rank({iri("Elbe")}, found) is None


def test_the_object_is_what_is_asked_about_where_nothing_is_recorded_of_the_subject(shelf: FactShelf) -> None:
    known = {each.fact[0] for each in shelf.passages}
    assert about(card("Black Sea", "Danube", "NO"), known) == {iri("Danube")}
    assert about(card("Black Sea", "Weser", "UNKNOWN"), known) == frozenset()


def test_words_fold_case_width_and_punctuation() -> None:
    assert words("St. Mary's RIVER（Ａ）") == ("st", "mary", "s", "river", "a")
    assert bare("Saale (Leine tributary)") == "Saale"
    assert bare("(The) Aa") == "(The) Aa"
    assert bare("(Aa)") == "(Aa)"


def test_the_right_passage_is_found_for_cards_from_elsewhere(external_data: Path, tmp_path: Path) -> None:
    folder = external_data / "rivers"
    if not folder.is_dir():
        pytest.skip("no folder of rivers in the external data")
    hidden = (folder / "hidden_subjects.txt").read_text(encoding="utf-8").split()
    passages = verbalise(opened(folder / "hasMouth_facts.tsv", hidden), rivers())
    asked = [each for each in read_cards(folder / "cards_gold.jsonl") if each.label != "U"]
    shelf = FactShelf(passages, Words(), tmp_path)  # sentence vectors take half a minute, and do better
    known = {each.fact[0] for each in passages}
    ranks = [rank(about(each, known), shelf.search(each.question)) for each in asked]
    assert sum(place == 1 for place in ranks) / len(ranks) >= 0.8
    assert sum(place is not None for place in ranks) / len(ranks) >= 0.97
