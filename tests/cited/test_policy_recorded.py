"""Recorded answers: those that a misread citation refused are given once it is read right."""

import json
from pathlib import Path
from typing import Any

import pytest

from ovrag_core.base.errors import RunError
from ovrag_studies.cited.answering.published_pipeline import published_support
from ovrag_studies.cited.measuring.recorded_answers import RecordedAnswer, RecordedClaim, read_answers, rebuilt_reply

LEAD, CATS = "garden::p0001::i0000::aaaaaaaaaaaa", "garden::p0001::i0001::bbbbbbbbbbbb"
TEXTS = {LEAD: "All dogs must be kept on a lead in the rose garden.", CATS: "Cats may roam in the garden at night."}


def _line(**changes: Any) -> dict[str, Any]:
    claims = [
        {"text": "All dogs must be kept on a lead in the rose garden.", "citations": []},
        {"text": "Cats may roam in the garden at night.", "citations": [LEAD, CATS]},
    ]
    return {
        "query_id": "q1",
        "category": "answerable",
        "answer": "INSUFFICIENT_EVIDENCE",
        "is_abstained": True,
        "evidence": [{"paragraph_id": name, "text": text} for name, text in TEXTS.items()],
        "claim_verification": {"claims": claims},
    } | changes


def test_an_answer_that_lost_its_first_citation_is_given() -> None:
    answer = RecordedAnswer.model_validate(_line())
    assert answer.cited_sentences() == [(TEXTS[LEAD], (TEXTS[LEAD],)), (TEXTS[CATS], (TEXTS[CATS],))]
    assert answer.is_answered_when_read_right()


def test_an_answer_whose_words_are_not_in_the_evidence_stays_refused() -> None:
    claims = [{"text": "Parking costs money.", "citations": [LEAD]}]
    assert not RecordedAnswer.model_validate(_line(claim_verification={"claims": claims})).is_answered_when_read_right()


def test_citations_before_the_full_stop_are_rebuilt_there() -> None:
    claims = [RecordedClaim(text=f"{name} .", citations=(name[0],)) for name in ("Dogs are led", "Cats roam")]
    assert rebuilt_reply(claims) == "Dogs are led [CITATION: D]. Cats roam [CITATION: C]."


def test_the_published_rule_does_not_see_not() -> None:
    evidence = [TEXTS[LEAD]]
    assert published_support("All dogs must not be kept on a lead in the rose garden.", evidence)
    assert not published_support("Parking costs money.", evidence)
    assert not published_support("All dogs must be led.", [])


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "outputs.jsonl").write_text(f"{json.dumps(_line())}\n{json.dumps(_line(category='maybe'))}\n")
    with pytest.raises(RunError, match=r"outputs\.jsonl, line 2: category"):
        read_answers(tmp_path)


def test_with_citations_read_right_29_of_36_are_answered(external_data: Path) -> None:
    answers = read_answers(external_data / "policy" / "dev" / "runs" / "b3_generative_bm25_fallback_final")
    refused = [each for each in answers if each.is_abstained and each.claims]
    assert (len(refused), sum(each.is_answered_when_read_right() for each in refused)) == (35, 27)
    answerable = [each for each in answers if each.category == "answerable"]
    assert (sum(not each.is_abstained for each in answerable), len(answerable)) == (9, 36)
    assert sum(each.is_answered_when_read_right() for each in answerable) == 29
