"""What is measured of answers to causal questions, and what tables, figures and macros say of it."""

import json
from dataclasses import replace
from pathlib import Path

import pandas
import pytest

from ovrag_core.base.errors import QuestionError
from ovrag_core.base.settings import Settings, load_settings
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.study.book import Book
from ovrag_studies.causal.questions import question_study
from ovrag_studies.causal.questions.question_files import split
from ovrag_studies.causal.questions.question_study import Asked, ask, run_questions
from ovrag_studies.causal.reports import question_results

PLAN = Resampling(100)
RULES = "We know that Kelm causes not Tarv, Tarv causes Osk, Osk and Tarv together cause Brin."
WHAT_IF = "Would Brin occur if not Kelm instead of Kelm?"
WORLD = "Imagine a world: Mood has a direct effect on watering and growth. Watering has a direct effect on growth."
HIDDEN = f"{WORLD} Mood is unobserved."
TABLE = (
    "For fields without watering, the probability of tall maize is 20%. "
    "For fields with watering, the probability of tall maize is 70%."
)
EFFECT = "Will watering increase the chance of tall maize?"


def rule(number: int, template: str, answer: str | None, **more: object) -> dict[str, object]:
    return {
        "id": str(number),
        "template": template,
        "type": "basic",
        "context": RULES,
        "query": WHAT_IF,
        "answer": answer,
        **more,
    }


def effect(number: int, model: int, answer: str, background: str, **more: object) -> dict[str, object]:
    said = {"given_info": TABLE, "question": EFFECT, "type": "ate", "rung": 2, "variant": "own", "groundtruth": 0.5}
    return {"id": f"e{number}", "model": model, "background": background, "answer": answer, **said, **more}


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines))
    return path


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Three texts that the rules answer with yes, the label of one set against them; one has no label."""
    return written(
        tmp_path / "rules.jsonl",
        rule(1, "t1", "yes"),
        rule(2, "t1", "yes"),
        rule(3, "t2", "yes"),
        rule(4, "t3", "no"),
        rule(5, "t4", None),
    )


@pytest.fixture
def effects(tmp_path: Path) -> Path:
    """One effect that is identified, one that a hidden mood confounds and whose label says so."""
    confounded = "For fields with watering, the probability of tall maize is 71%."
    return written(
        tmp_path / "effects.jsonl",
        effect(1, 1, "yes", WORLD.replace("watering and ", ""), graph="fork"),
        effect(2, 2, "no", HIDDEN, graph="bow"),
        effect(3, 2, "no", HIDDEN, graph="bow", given_info=f"{TABLE.split('. ', maxsplit=1)[0]}. {confounded}"),
    )


@pytest.fixture
def study(rules: Path, effects: Path) -> Asked:
    return {"rules": ask(rules, "rules"), "numbers": ask(effects, "numbers")}


@pytest.fixture
def book(tmp_path: Path, study: Asked) -> Book:
    return written_to(tmp_path, study)


def written_to(folder: Path, study: Asked) -> Book:
    opened = question_results.open_book(Settings(), study)
    return replace(opened, plan=PLAN, tables=folder / "tables", figures=folder / "figures")


def shares(asked: pandas.DataFrame) -> dict[str, tuple[int, int]]:
    return {each["name"]: (each["hits"], each["of"]) for each in question_study.figures(asked, PLAN)}


# Measures


def test_labels_that_the_rules_contradict_count_as_given_and_apart(rules: Path) -> None:
    asked = ask(rules, "rules")
    assert shares(asked)["labels as given"] == (3, 4), "the one without a label is not compared"
    assert shares(asked)["labels that the rules contradict"] == (1, 4)
    written(rules.with_name("rules_contested.jsonl"), {"id": "4", "note": "the printed rules give yes"})
    known = shares(ask(rules, "rules"))
    assert known["label and rules agree"] == (3, 3)
    assert known["contested labels found"] == known["contested of those found"] == (1, 1)
    written(rules.with_name("rules_contested.jsonl"), {"id": "1", "note": "the printed rules give no"})
    mistaken = shares(ask(rules, "rules"))
    assert mistaken["contested labels found"] == (0, 1) and mistaken["contested of those found"] == (0, 1)
    assert mistaken["label and rules agree"] == (2, 3)


def test_intervals_are_over_texts_and_models(rules: Path, effects: Path) -> None:
    given = question_study.figures(ask(rules, "rules"), PLAN)[0]
    assert (given["name"], given["clusters"]) == ("labels as given", 3), "two namings of one text are one cluster"
    assert question_study.figures(ask(effects, "numbers"), PLAN)[0]["clusters"] == 2


def test_statuses_and_what_the_numbers_fix_are_counted_apart(effects: Path) -> None:
    asked = ask(effects, "numbers")
    counted = {status: len(of) for status, of in question_study.statuses(asked).items()}
    assert counted == {"not identified": 2, "determined": 1}
    assert shares(asked)["– identified, and the numbers fix the sign"] == (1, 1)


def test_groups_are_those_of_the_file(effects: Path) -> None:
    found = question_study.groups("numbers", ask(effects, "numbers"), PLAN)
    assert {field: [each["name"] for each in of] for field, of in found.items()} == {
        "type": ["ate"],
        "graph": ["bow", "fork"],
        "rung": ["2"],
        "variant": ["own"],
    }


def test_seconds_are_those_of_the_watch(rules: Path) -> None:
    ticks = iter(range(100))
    assert set(ask(rules, "rules", lambda: float(next(ticks)))["seconds"]) == {1.0}


def test_files_that_are_none_are_named(rules: Path, effects: Path, tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="no question"):
        ask(written(tmp_path / "empty.jsonl"), "rules")
    with pytest.raises(QuestionError, match=r"bad\.jsonl, line 2"):
        ask(written(tmp_path / "bad.jsonl", rule(1, "t1", "yes"), "no JSON"), "rules")
    changed = {"studies.causal.data.counterbench": str(effects), "studies.causal.data.cladder": str(effects)}
    with pytest.raises(QuestionError, match="name a file of questions over rules"):
        run_questions(load_settings(Path("params.yaml"), changed))


# Results


def test_published_figures_stand_beside_and_are_marked(book: Book, study: Asked) -> None:
    shown = question_results.questions_table(book, study)
    marked = shown[shown["figure"].str.endswith("(published)")].set_index("figure")
    assert marked.loc["GPT-4 with a causal prompt (published)", "share"] == "0.704"
    assert marked.loc["CAF, TinyLlama (published)", "of"] == "1000" and set(marked["hits"]) == {"n/a"}
    assert shown.loc[0, "share"].startswith("0.750 [") and shown.loc[0, "of"] == "4"
    tex = (book.tables / "causal_questions" / "samples" / "questions.tex").read_text(encoding="utf-8")
    assert "4 labelled questions in the language of CounterBench (rules.jsonl, 3 texts)" in tex
    assert "bootstrap of 100 resamples over texts (rules) and models (numbers)" in tex


def test_contested_labels_are_shown_with_their_derivation(book: Book, study: Asked) -> None:
    shown = question_results.contested_table(book, study)
    assert shown[["text", "label", "rules"]].to_numpy().tolist() == [["t3", "no", "yes"]]
    assert shown.loc[0, "derivation"].startswith("Kelm does not occur: by the action; Tarv occurs: Tarv := not Kelm")


def test_statuses_say_what_is_answered(book: Book, study: Asked) -> None:
    shown = question_results.status_table(book, study).set_index(["questions", "status"])
    assert shown.loc[("numbers", "not identified"), "as labelled"].startswith("0.000")
    assert shown.loc[("rules", "determined"), "n"] == "5", "those without a label too"
    assert shown.loc[("rules", "label contested"), "n"] == "1"


def test_figures_and_tables_say_the_same_twice(study: Asked, tmp_path: Path) -> None:
    made = []
    for name in ("first", "second"):
        kept = written_to(tmp_path / name, study)
        question_results.groups_table(kept, study)
        question_results.accuracy_figure(kept, study)
        question_results.numbers_file(kept, study, [])
        files = sorted((tmp_path / name).rglob("*.*"))
        made.append({path.relative_to(tmp_path / name): path.read_bytes() for path in files})
    assert made[0] == made[1] and len(made[0]) == 6


def test_macros_name_language_and_figure(book: Book, study: Asked) -> None:
    lines = question_results.numbers_file(book, study, []).read_text(encoding="utf-8").splitlines()
    assert r"\newcommand{\CausalQuestionsRulesLabelsAsGiven}{0.750}" in lines
    assert r"\newcommand{\CausalQuestionsNumbersNotIdentified}{2}" in lines
    assert r"\newcommand{\CausalQuestionsPublishedGPTFourWithACausalPrompt}{0.704}" in lines
    assert r"\newcommand{\CausalQuestionsNumbersOpenByRounding}{0}" in lines, "the section names it"


def test_latency_counts_every_question(book: Book, study: Asked) -> None:
    shown = question_results.latency_table(book, study)
    assert shown["n"].tolist() == ["5", "3"]


def test_the_samples_are_solved_with_a_size_and_an_example_of_each(book: Book) -> None:
    done = run_questions(load_settings(Path("params.yaml")))
    assert question_results.counted(done).startswith("48 labelled questions in the language of CounterBench")
    shown = [question_results.example(each) for each in done.values()]
    inside = question_results.inside_table(book, shown)
    assert inside["question"].iloc[0] == "rules" and "estimand" in set(inside["step"])


# From the inside


def test_a_question_of_ones_own_has_its_graph_and_steps() -> None:
    steps = question_results.steps(split(f"{HIDDEN} {TABLE} {EFFECT}"))
    graph = "mood → watering; mood → growth; watering → growth"
    assert steps.set_index("step").loc["graph", "text"] == graph
    assert steps.iloc[-1].tolist() == ["answer", "yes (not identified)"]


def test_what_is_not_read_has_a_reason_and_no_graph() -> None:
    solved = split("Kelm usually causes Tarv. Would Tarv occur if Kelm?")
    steps = question_results.steps(solved).set_index("step")["text"]
    assert "usually" in steps["reason"] and steps["answer"] == "none (unread)"
    assert "graph" not in steps.index


def test_one_question_of_each_status_is_shown_with_its_reason(book: Book, study: Asked) -> None:
    shown = question_results.flagged_table(book, study)
    assert shown[["status", "answer", "label"]].to_numpy().tolist() == [["not identified", "yes", "no"]]
    assert "watering ← mood → growth" in shown.loc[0, "reason"] and "mood" in shown.loc[0, "would suffice"]


def test_estimands_read_without_signs() -> None:
    assert question_results.in_words("Σ_{z, w} P(y | z) Σ_m P(m)") == "sum over z, w of P(y | z) sum over m of P(m)"
