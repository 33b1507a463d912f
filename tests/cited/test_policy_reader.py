"""The reader tells a paragraph that answers from one that only lies near, and what it learns from is in order."""

import re
from pathlib import Path

import pytest

from ovrag_core.base.errors import SettingsError
from ovrag_core.retrieval.relevance import QUESTION_TOKENS, TOKENS, RelevanceReader, join_question, windows_of
from ovrag_studies.cited.corpus.golden import read_golden
from ovrag_studies.cited.corpus.relevance import load_reader

TRAINING = Path("training/cited/questions")
WEIGHED_ON = ("harrowmere", "tarnbeck", "travel")  # UNSEEN of tools/train_policy_reader.py
LOCKERS = "Lockers are given out by the porter on the first day. The key is handed back when you leave the club."
FEE = "The fee for a locker is 9 pounds a month. It is taken from the account on the first Monday."


@pytest.fixture(scope="module")
def reader() -> RelevanceReader:
    return load_reader()


@pytest.mark.parametrize(
    ("question", "answers", "beside"),
    [
        ("What does a locker cost?", FEE, LOCKERS),
        ("What do I do with the key when I leave?", LOCKERS, FEE),
        ("When is the money for my locker taken?", FEE, LOCKERS),
    ],
)
def test_what_answers_is_surer_than_what_lies_near(
    reader: RelevanceReader, question: str, answers: str, beside: str
) -> None:
    sure, unsure = reader.read(question, [answers, beside])
    assert sure > unsure


def test_a_pair_is_read_the_same_whatever_is_read_with_it(reader: RelevanceReader) -> None:
    question = "What does a locker cost?"
    alone = RelevanceReader.read(load_reader.__wrapped__(), question, [FEE])
    assert reader.read(question, [LOCKERS, FEE, LOCKERS])[1] == pytest.approx(alone[0], abs=0.01)
    assert reader.read(question, []) == []


def test_question_and_paragraph_stand_in_one_passage_under_marks_of_their_own() -> None:
    ids, (asked, said, first) = join_question([101, 7, 8, 102], [101, 21, 22, 23, 102])
    assert ids == [101, 7, 8, 102, 21, 22, 23, 102]
    assert [token for token, mark in zip(ids, asked, strict=True) if mark] == [7, 8]
    assert [token for token, mark in zip(ids, said, strict=True) if mark] == [21, 22, 23]
    assert first == [True] + [False] * 7


def test_what_is_too_long_is_cut() -> None:
    ids, (asked, said, _) = join_question([101, *[7] * 900, 102], [101, *[8] * 900, 102])
    assert len(ids) == TOKENS
    assert sum(asked) == QUESTION_TOKENS - 1
    assert sum(said) == TOKENS - QUESTION_TOKENS - 2


def test_a_sentence_is_read_behind_the_one_before_it() -> None:
    assert windows_of("Bring a towel. It stays dry. Go home.") == [
        "Bring a towel.",
        "Bring a towel. It stays dry.",
        "It stays dry. Go home.",
    ]


def test_weights_that_are_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="train_policy_reader"):
        RelevanceReader(tmp_path / "none.safetensors")


@pytest.mark.parametrize("path", sorted(TRAINING.glob("*.txt")), ids=lambda path: path.stem)
def test_documents_to_learn_from_are_in_order(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert {line[:2] for line in lines} == {"# ", "= ", "+ ", "- "}
    assert [line[0] for line in lines].count("#") == 1
    asked = {mark: {line[2:] for line in lines if line[0] == mark} for mark in "+-"}
    assert not asked["+"] & asked["-"]


def test_the_score_is_weighed_on_no_question_of_the_golden_set(external_data: Path) -> None:
    def plain(text: str) -> str:
        return " ".join(re.findall(r"\w+", text.lower()))

    golden = read_golden(external_data / "policy/dev/golden_set/golden_set_audited.csv")
    known = {plain(each.question) for each in golden}
    shared = {
        path.stem: known & {plain(line[2:]) for line in path.read_text("utf-8").splitlines() if line[0] in "+-"}
        for path in TRAINING.glob("*.txt")
    }
    assert [shared[name] for name in WEIGHED_ON] == [set()] * 3
    assert sum(map(len, shared.values())) == 3, "as the README of the training data says"
