"""ROUGE-L and BERTScore agree with their libraries, survive empty texts and do not depend on order or cache."""

import pytest
from run_factory import record, run

from ovrag_core.base.errors import SettingsError
from ovrag_core.evaluation import quality
from ovrag_core.evaluation.statistics import Resampling

PAIRS = [
    ("The loan is secured by a house in Leeds.", "A mortgage on a house in Leeds secures the loan."),
    ("The borrower is Ada Byron, a person.", "Ada Byron, a natural person, borrows from Harbour Bank plc."),
    ("It is repaid in 60 monthly instalments.", "It is repaid in 60 monthly instalments."),
]


@pytest.fixture(scope="module")
def scores():
    return quality.bert_scores(PAIRS)


def test_rouge_stems_words():
    assert [quality.rouge_l(pair) for pair in (("loans secured", "loan secures"), ("", "loan"))] == [1.0, 0.0]


def test_bertscore_equals_the_library(scores):
    scorer = quality._scorer(quality.BUNDLED)
    answers, references = zip(*PAIRS, strict=True)
    expected = scorer.score(list(answers), list(references))
    for place, pair in enumerate(PAIRS):
        assert scores[pair] == pytest.approx([part[place].item() for part in expected], abs=2e-5)


def test_identical_texts_score_one(scores):
    assert scores[PAIRS[2]] == pytest.approx((1, 1, 1), abs=1e-5)


def test_empty_texts_score_zero_instead_of_crashing():
    assert set(quality.bert_scores([("", "x"), ("x", " ")]).values()) == {(0.0, 0.0, 0.0)}


def test_order_of_pairs_does_not_change_a_digit(scores):
    assert quality.bert_scores(PAIRS[::-1]) == scores


def test_cache_does_not_change_a_digit_and_a_broken_one_is_made_again(tmp_path):
    records = run(3, arms=("plain",))
    fresh = quality.score_quality(records, cache=tmp_path)
    cached = quality.score_quality(records, cache=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_text("[[1, 2", encoding="utf-8")
    again = quality.score_quality(records, cache=tmp_path)
    assert fresh.frame.equals(cached.frame)
    assert fresh.frame.equals(again.frame)
    assert fresh.baseline == cached.baseline

    (tmp_path / "file").touch()
    unkept = quality.score_quality(records, cache=tmp_path / "file")
    assert fresh.frame.equals(unkept.frame), "where nothing can be kept, it is computed all the same"


def test_baseline_pairs_are_of_other_documents_and_questions_and_always_the_same():
    records = run(4, arms=("plain", "ovrag"))
    pairs = quality.random_pairs(records)
    assert pairs == quality.random_pairs(records[::-1])
    owner = {r.reference_answer: (r.document_id, r.question_id) for r in records}
    assert pairs
    assert all(owner[a][0] != owner[b][0] and owner[a][1] != owner[b][1] for a, b in pairs)


def test_one_document_has_no_baseline_and_no_rescaled_scores():
    scored = quality.score_quality([record()])
    assert scored.baseline is None
    assert scored.frame["bertscore_f1_rescaled"].isna().all()


def test_queries_without_answer_or_reference_are_left_out():
    scored = quality.score_quality([record(), record(outcome="error"), record(reference=None)])
    assert len(scored.frame) == 1


def test_quality_of_arms_is_compared_where_both_accepted():
    a = [record("ovrag", f"D{i}", reference="one two", text="one two" if i else "no") for i in range(3)]
    b = [record("plain", f"D{i}", reference="one two", text="one") for i in range(3)]
    a[0] = record("ovrag", "D0", outcome="hard_rejected", reference="one two", text="one two")
    scored = quality.score_quality([*a, *b])
    difference = quality.compare_quality(scored, "ovrag", "plain", "rouge_l", Resampling(samples=100))
    assert difference.clusters == 2
    assert difference.value == pytest.approx(1 / 3, abs=1e-4)


def test_model_is_named_without_its_path():
    assert quality.model_name("bundled") == "all-MiniLM-L6-v2"
    assert quality.model_name("/somewhere/roberta-large") == "roberta-large"


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_a_model_that_cannot_be_loaded_is_one_sentence(name, tmp_path):
    (tmp_path / "empty").mkdir()
    path = str(tmp_path / "nowhere") if name == "nowhere" else str(tmp_path / "empty")
    with pytest.raises(SettingsError, match=r"evaluation\.bertscore_model"):
        quality.bert_scores(PAIRS, path)
