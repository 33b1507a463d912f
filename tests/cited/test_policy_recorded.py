"""Recorded runs: their figures come out again, and answers that a misread citation refused are given."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ovrag_core.base.errors import RunError
from ovrag_studies.cited.answering.recorded import (
    Label,
    RecordedClaim,
    RecordedRun,
    corrected,
    published_support,
    read_run,
    rebuilt_reply,
    require_known,
    summarise,
)
from ovrag_studies.cited.corpus.policies import assemble, read_corpus

LEAD, CATS = "garden::p0001::i0000::aaaaaaaaaaaa", "garden::p0001::i0001::bbbbbbbbbbbb"
TEXTS = {LEAD: "All dogs must be kept on a lead in the rose garden.", CATS: "Cats may roam in the garden at night."}
RUNS = {
    "b1_generative_final": (36, 36),
    "b2_generative_bm25_fallback_final": (30, 36),
    "b2_test_extractive_bm25_20260422_210137": (25, 25),
    "b3_generative_bm25_fallback_final": (9, 36),
    "b3_test_extractive_bm25_20260422_210138": (22, 25),
}


def _line(query: str = "q1", **changes: Any) -> dict[str, Any]:
    claims = [
        {"text": "All dogs must be kept on a lead in the rose garden.", "citations": [], "supported": False},
        {"text": "Cats may roam in the garden at night.", "citations": [LEAD, CATS], "supported": True},
    ]
    return {
        "query_id": query,
        "question": "May animals run free?",
        "category": "answerable",
        "gold_paragraph_ids": f"{LEAD},{CATS}",
        "answer": "INSUFFICIENT_EVIDENCE",
        "is_abstained": True,
        "citations": [],
        "evidence": [{"paragraph_id": name, "text": text} for name, text in TEXTS.items()],
        "claim_verification": {"claims": claims},
        "latency_ms": {"generation": 1500.0, "verification": 500.0},
    } | changes


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., RecordedRun]:
    """Writes a run of the lines given and reads it."""

    def read(*lines: dict[str, Any], summary: dict[str, Any] | None = None) -> RecordedRun:
        (tmp_path / "outputs.jsonl").write_text("\n".join(json.dumps(each) for each in lines), encoding="utf-8")
        (tmp_path / "summary.json").write_text(json.dumps(summary or {"baseline": "b3"}), encoding="utf-8")
        config = {
            "baseline": "b3",
            "backend_requested": "dense",
            "backend_used": "bm25",
            "model": "m",
            "enable_llm": True,
        }
        (tmp_path / "run_config.json").write_text(json.dumps(config), encoding="utf-8")
        return read_run(tmp_path)

    return read


def test_what_was_asked_for_and_what_ran_are_both_kept(recorded: Callable[..., RecordedRun]) -> None:
    run = recorded(_line(), summary={"baseline": "b3", "answer_rate": 0, "contradiction_precision": "N/A"})
    assert (run.requested, run.used, run.model) == ("dense", "bm25", "m")
    assert run.published == {"answer_rate": 0.0, "contradiction_precision": None}
    assert run.answers[0].seconds == 2.0


def test_an_answer_that_lost_its_first_citation_is_given(recorded: Callable[..., RecordedRun]) -> None:
    run = recorded(_line())
    assert summarise(run)["answer_rate"] == 0
    right = corrected(run)
    assert [each.ids for each in right.answers[0].claims] == [(LEAD,), (CATS,)]
    figures = summarise(right)
    assert (figures["answer_rate"], figures["citation_recall"], figures["ungrounded_rate"]) == (1, 1, 0)


def test_an_answer_whose_words_are_not_in_the_evidence_stays_refused(recorded: Callable[..., RecordedRun]) -> None:
    claims = [{"text": "Parking costs money.", "citations": [LEAD], "supported": False}]
    right = corrected(recorded(_line(claim_verification={"claims": claims})))
    assert right.answers[0].silent
    assert right.answers[0].cited == ()


def test_another_golden_set_changes_what_counts(recorded: Callable[..., RecordedRun]) -> None:
    run = recorded(_line())
    assert summarise(run, {"q1": Label("unanswerable", ())})["abstention_accuracy"] == 1
    with pytest.raises(RunError, match="no query q1"):
        summarise(run, {})


def test_citations_before_the_full_stop_are_rebuilt_there() -> None:
    claims = (RecordedClaim("Dogs are led .", ("a",), True), RecordedClaim("Cats roam .", ("b",), True))
    assert rebuilt_reply(claims) == "Dogs are led [CITATION: a]. Cats roam [CITATION: b]."


def test_the_published_rule_does_not_see_not() -> None:
    evidence = [TEXTS[LEAD]]
    assert published_support("All dogs must not be kept on a lead in the rose garden.", evidence)
    assert not published_support("Parking costs money.", evidence)
    assert not published_support("All dogs must be led.", [])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"query_id": 3}, "query_id"),
        ({"category": "maybe"}, "category"),
        ({"claim_verification": {"claims": [{}]}}, "claim_verification.claims.0.text"),
    ],
)
def test_a_broken_line_is_named(recorded: Callable[..., RecordedRun], line: dict[str, Any], said: str) -> None:
    with pytest.raises(RunError, match=f"outputs.jsonl, line 2: {said}"):
        recorded(_line(), _line("q2", **line))


def test_a_query_twice_is_refused(recorded: Callable[..., RecordedRun]) -> None:
    with pytest.raises(RunError, match="q1 more than once"):
        recorded(_line(), _line())


def test_a_run_about_paragraphs_that_the_corpus_lacks_is_refused(recorded: Callable[..., RecordedRun]) -> None:
    with pytest.raises(RunError, match=f"2 paragraphs are not in the corpus.*{LEAD}, {CATS}"):
        require_known(recorded(_line()), assemble([], {}))


@pytest.mark.parametrize(("name", "counts"), RUNS.items())
def test_published_figures_come_out_to_four_decimals(external_data: Path, name: str, counts: tuple[int, int]) -> None:
    folder = external_data / "policy" / "dev"
    run = read_run(folder / "runs" / name)
    require_known(run, read_corpus(folder / "corpus" / "processed" / "paragraphs.jsonl"))
    found = {key: value if value is None else round(value, 4) for key, value in summarise(run).items()}
    assert found == run.published
    answerable = [each for each in run.answers if each.category == "answerable"]
    assert (sum(not each.silent for each in answerable), len(answerable)) == counts


def test_with_citations_read_right_29_of_36_are_answered(external_data: Path) -> None:
    run = read_run(external_data / "policy" / "dev" / "runs" / "b3_generative_bm25_fallback_final")
    right = corrected(run)
    refused = [each for each in run.answers if each.silent and each.claims]
    given = [each for each in right.answers if not each.silent]
    assert (len(refused), sum(each.query_id in {r.query_id for r in refused} for each in given)) == (35, 27)
    assert sum(each.category == "answerable" for each in given) == 29
    assert summarise(right)["answer_rate"] == pytest.approx(29 / 36)
