"""Questions are read from files of either form or split off a text, and solved without a look at their labels."""

import json
from pathlib import Path

import pytest

from ovrag_studies.causal.questions.question_files import CausalQuestion, read_questions, solve, split

RULES = "We know that Kelm causes not Tarv, Tarv causes Osk, Osk and Tarv together cause Brin."
WHAT_IF = "Would Brin occur if not Kelm instead of Kelm?"
WORLD = "Imagine a self-contained, hypothetical world: Watering has a direct effect on growth."
NUMBERS = (
    "For fields without watering, the probability of tall maize is 20%. "
    "For fields with watering, the probability of tall maize is 70%."
)
ASKED = "Will watering increase the chance of tall maize?"


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines))
    return path


def questions(path: Path) -> list[CausalQuestion]:
    return [each for each in read_questions(path) if isinstance(each, CausalQuestion)]


def test_both_forms_are_read_and_solved(tmp_path: Path) -> None:
    rules = {"id": 7, "context": RULES, "query": WHAT_IF, "answer": "yes", "template": "t1", "type": "basic"}
    numbers = {"id": "n", "background": WORLD, "given_info": NUMBERS, "question": ASKED, "answer": "yes", "model": 4}
    first, second = questions(written(tmp_path / "q.jsonl", rules, "", numbers))
    assert (first.id, first.language, first.group, first.kind) == ("7", "rules", "t1", "basic")
    assert (second.language, second.group) == ("numbers", "4")
    assert (solve(first).answer, solve(first).status) == ("yes", "determined")
    solved = solve(second)
    assert (solved.answer, solved.status, solved.record["value"]) == ("yes", "determined", 0.5)
    assert solved.record["between"] == [0.49, 0.51]


def test_the_background_of_a_model_stands_beside(tmp_path: Path) -> None:
    written(tmp_path / "q_models.jsonl", {"model_id": 4, "background": WORLD, "params": {"p": 1}})
    told = {"id": "n", "given_info": NUMBERS, "question": ASKED, "model": 4}
    lost = {**told, "id": "m", "model": 5}
    path = written(tmp_path / "q.jsonl", told, lost)
    read = list(read_questions(path))
    assert isinstance(read[0], CausalQuestion) and solve(read[0]).answer == "yes"
    assert read[1] == f"{path}, line 2: it has neither context and query nor background and question"


def test_labels_and_ground_truths_change_no_answer(tmp_path: Path) -> None:
    plain = {"id": "n", "background": WORLD, "given_info": NUMBERS, "question": ASKED}
    told = {**plain, "answer": "no", "groundtruth": -0.5, "estimand": "x", "type": "nie", "params": {"p": 9}}
    one, other = questions(written(tmp_path / "q.jsonl", plain, told))
    assert solve(one).record | {"label": "no"} == solve(other).record


def test_a_label_that_the_rules_contradict_is_contested_with_its_derivation(tmp_path: Path) -> None:
    line = {"id": "1", "context": RULES, "query": WHAT_IF, "answer": "no"}
    record = solve(questions(written(tmp_path / "q.jsonl", line))[0]).record
    assert (record["contested"], record["derived"], record["answer"]) == (True, "yes", "yes")
    assert any("Brin occurs" in str(step) for step in record["steps"] or [])


def test_lines_that_are_no_questions_are_named(tmp_path: Path) -> None:
    path = written(
        tmp_path / "q.jsonl", "{", {"context": "c"}, {"id": "1", "context": RULES, "query": "?", "answer": 3}
    )
    said = [each for each in read_questions(path) if isinstance(each, str)]
    assert [each.split(": ")[0] for each in said] == [f"{path}, line {number}" for number in (1, 2, 3)]


def test_a_text_is_split_into_what_is_given_and_what_is_asked() -> None:
    assert split(f"{RULES} {WHAT_IF}").answer == "yes"
    nested = split(
        f"{RULES} Assume not Kelm, and based on this assumption, further suppose not Tarv. Would Brin occur?"
    )
    assert (nested.answer, nested.question.language) == ("no", "rules")
    numbers = split(f"{WORLD} {NUMBERS} {ASKED}")
    assert (numbers.answer, numbers.question.given, numbers.question.asked) == ("yes", NUMBERS, ASKED)


def test_a_circle_that_stays_open_is_named() -> None:
    solved = split("We know that Ab causes Bo, Bo causes Cu, Cu causes Bo. Would Cu occur if not Ab instead of Ab?")
    assert (solved.answer, solved.status) == (None, "cyclic")
    assert "Bo → Cu → Bo" in solved.reason and "Bo → Cu → Bo" in solved.lines[0]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("is 70%", "is 170%", "outside 0 to 100%"),
        ("is 70%", "is -7%", "outside 0 to 100%"),
        (
            "Watering has",
            "Growth has a direct effect on watering. Watering has",
            "the cycle growth → watering → growth",
        ),
    ],
)
def test_what_is_wrong_with_a_story_is_told_and_not_that_it_is_no_graph(old: str, new: str, told: str) -> None:
    solved = split(f"{WORLD} {NUMBERS} {ASKED}".replace(old, new))
    assert (solved.answer, solved.status) == (None, "unread")
    assert told in solved.reason and "as rules" not in solved.reason


def test_what_is_in_neither_language_is_not_guessed() -> None:
    for text in ("", "Why?", "Is it so? It is.", f"{RULES} Why is that so?", "word " * 10_000):
        solved = split(text)
        assert (solved.answer, solved.status) == (None, "unread"), text[:40]
        assert solved.reason
