"""Arms change one thing each, records say what ran, and scores count what is wrong."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from faulty_server import KEY, MODEL, Call, FaultyServer, scripted

from ovrag_core.base import progress
from ovrag_core.base.errors import CorpusError, ModelSetupError, RunError
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.llm import ChatModel
from ovrag_core.llm.openai import OpenAIBackend
from ovrag_core.retrieval import minilm
from ovrag_studies.cited.answering.published_pipeline import opposed_pairs
from ovrag_studies.cited.answering.silence import Calibration, Certificate, read_calibration, write_calibration
from ovrag_studies.cited.arms import ArmParts, ask, calibrate_on, runnable
from ovrag_studies.cited.corpus.golden import GoldenQuery
from ovrag_studies.cited.corpus.policies import PolicyCorpus, assemble
from ovrag_studies.cited.corpus.retrieval import CorpusIndex
from ovrag_studies.cited.corpus.sources import FileParagraph
from ovrag_studies.cited.measuring.golden_scores import compare_arms, holds_quote, judge, score
from ovrag_studies.cited.records import PolicyRecord, read_run, write_run
from ovrag_studies.cited.settings import ARMS, Arm, Policy, PolicyAnswers

HANDBOOK = (
    "Rowing Club Handbook Issue 2, 3 March 2022",
    "1. Fees The annual fee is 120 pounds and is due on 1 March.",
    "Guests must sign the book in the boathouse before they row.",
    "The clubhouse is cleaned once a week by the caretaker.",
    "Dogs must be kept on a lead near the jetty.",
)
UPDATE = (
    "Rowing Club Update 5 May 2024",
    "1. Precedence Where this update differs from the Rowing Club Handbook, this update prevails.",
    "2. Fees The annual fee is 150 pounds and is due on 1 March.",
)
FEE, DOGS, BOATS = "How high is the annual fee?", "Must dogs be kept on a lead?", "What does a new racing boat cost?"


@pytest.fixture(scope="module")
def corpus() -> PolicyCorpus:
    read = [
        FileParagraph(name, f"{name}.txt", 1, row, text)
        for name, texts in (("handbook", HANDBOOK), ("update", UPDATE))
        for row, text in enumerate(texts)
    ]
    return assemble(read, {"handbook": "0" * 64, "update": "1" * 64})


@pytest.fixture(scope="module")
def parts(corpus: PolicyCorpus) -> ArmParts:
    return ArmParts(Policy(), CorpusIndex(corpus))


def said(record: PolicyRecord) -> str:
    return " ".join(sentence.text for sentence in record.sentences)


def calibrated(corpus_digest: str, threshold: float | None = 0.5) -> Calibration:
    certificate = Certificate(threshold, 0.1, 0.1, 40, 30, 0, 0.75, 0.04, threshold is not None)
    return Calibration(corpus=corpus_digest, golden="g", certificate=certificate)


def test_the_rule_that_prevails_comes_first_and_both_are_shown(parts: ArmParts) -> None:
    result = ask(parts, "no_silence", FEE)
    assert "150 pounds" in result.sentences[0].text
    assert any("120 pounds" in each.text for each in result.sentences)
    (conflict,) = {each.status: each for each in result.conflicts}.values()
    assert (conflict.status, conflict.clause and conflict.clause.doc_id) == ("superseded", "update")
    without = ask(parts, "no_conflicts", FEE)
    assert without.conflicts == ()
    assert without.ran["conflicts"] == "none"
    assert {"retrieval": "fused", "embedder": minilm().name, "rerank": "reader"}.items() <= without.ran.items()


def test_silence_is_kept_below_the_threshold_and_only_where_an_arm_has_it(parts: ArmParts) -> None:
    strict = replace(parts, calibration=calibrated(parts.index.corpus.digest, 0.9999))
    silent = ask(strict, "ours", DOGS)
    assert silent.silent
    assert "is below the certified threshold 1.000" in silent.reason
    assert not ask(strict, "no_silence", DOGS).silent
    assert not ask(replace(parts, calibration=calibrated(parts.index.corpus.digest, 0.0001)), "ours", DOGS).silent


def test_without_a_certificate_ours_says_nothing(parts: ArmParts) -> None:
    uncertified = replace(parts, calibration=calibrated(parts.index.corpus.digest, None))
    result = ask(uncertified, "ours", DOGS)
    assert (result.silent, result.reason) == (True, "no threshold is certified")


def test_the_baselines_quote_the_first_paragraph_whole(parts: ArmParts) -> None:
    answer = ask(parts, "b2", "Who cleans the clubhouse?")
    assert said(answer) == HANDBOOK[3]
    assert ask(parts, "b2", "xylophone zebra").silent
    gated = ask(parts, "b3", "Is it wet?")
    assert gated.silent


def test_published_rules_flag_opposed_words_and_other_minima(corpus: PolicyCorpus) -> None:
    def pairs(*texts: str) -> list[tuple[int, int]]:
        made = assemble([FileParagraph("d", "d", 1, n, text) for n, text in enumerate(texts)], {"d": ""})
        return opposed_pairs(made.paragraphs)

    assert pairs("You must knock.", "You must not sing.") == [(0, 1)]
    assert pairs("You must knock.", "You must sing.") == []
    assert pairs("A minimum of 8 is set.", "At least 12 are due.", "At least 8.") == [(0, 1), (1, 2)]


def test_arms_that_ask_a_model_need_one(parts: ArmParts) -> None:
    assert runnable(ARMS, parts) == list(ARMS[1:])
    with pytest.raises(ModelSetupError, match="b1 asks a chat model"):
        ask(parts, "b1", DOGS)
    with pytest.raises(ModelSetupError, match="answering by chat"):
        replace(parts, options=Policy(answers=PolicyAnswers(by="chat")))


def _replies(call: Call) -> object:
    if "passages" not in call.prompt.lower():
        return "Dogs may run free."
    return {
        "sentences": [{"text": "Dogs may run free near the jetty.", "quotes": [{"passage": "P1", "quote": "Dogs"}]}]
    }


def test_what_a_model_says_is_checked_but_where_an_arm_leaves_that_out(parts: ArmParts) -> None:
    with FaultyServer(scripted(_replies)) as server:
        chat = ChatModel(OpenAIBackend(base_url=server.base_url, key=KEY), MODEL)
        asking = replace(parts, options=Policy(answers=PolicyAnswers(by="chat")), chat=chat)
        alone, ours, unchecked = (ask(asking, arm, DOGS) for arm in ("b1", "no_silence", "no_verification"))
    assert said(alone) == "Dogs may run free."
    assert ours.silent
    assert [each.text for each in ours.removed] == ["Dogs may run free near the jetty."]
    assert said(unchecked) == "Dogs may run free near the jetty."
    assert (unchecked.requested["answers"], unchecked.ran["answers"]) == ("chat", MODEL)
    assert unchecked.ran["verification"] == "none"


QUERIES = [
    GoldenQuery("q1", FEE, "contradiction", expected="superseded", quote="The annual fee is 150 pounds"),
    GoldenQuery("q2", DOGS, "answerable", quote="kept on a lead"),
    GoldenQuery("q3", BOATS, "unanswerable"),
]


def _queries(corpus: PolicyCorpus) -> list[GoldenQuery]:
    ids = {each.text: each.id for each in corpus.paragraphs}
    gold = {"q1": (ids[UPDATE[2]], ids[HANDBOOK[1]]), "q2": (ids[HANDBOOK[4]],)}
    return [replace(each, gold=gold.get(each.query_id, ())) for each in QUERIES]


def _records(parts: ArmParts, arms: Sequence[Arm] = ("b2", "no_silence")) -> list[PolicyRecord]:
    return [ask(parts, arm, each.question, each.query_id) for arm in arms for each in QUERIES]


def test_scores_count_what_is_wrong(parts: ArmParts, corpus: PolicyCorpus) -> None:
    judged = judge(_records(parts, ["no_silence"]), _queries(corpus), corpus)
    assert [each.wrong for each in judged] == [False, False, True]
    figures = score(judged, corpus, Resampling(50), parts.verifier)["no_silence"]
    expected = {
        "answered": 1.0,
        "abstention accuracy": 0.0,
        "wrong of answered": 1 / 3,
        "recall@5": 1.0,
        "quotes that verify": 1.0,
        "holds the gold quotation": 1.0,
        "conflict recall": 1.0,
        "conflicts told apart": 1.0,
        "ungrounded claims": 0.0,
    }
    assert {name: figures[name].value for name in expected} == pytest.approx(expected)
    assert compare_arms(judge(_records(parts), _queries(corpus), corpus), "b2")["queries"].tolist() == [3]


@pytest.mark.parametrize(
    ("quote", "held"),
    [
        ("dogs must be kept on a lead", True),
        ("Dogs must be kept on a lead near the jetty. Cats are welcome.", False),
        ("Cats are welcome. || Dogs must be kept on a lead", True),
        ("Cats are welcome. | Birds too.", False),
    ],
)
def test_a_gold_quotation_is_held_with_each_of_its_sentences(
    parts: ArmParts, corpus: PolicyCorpus, quote: str, held: bool
) -> None:
    record = ask(parts, "no_silence", DOGS, "q2")
    query = replace(next(each for each in _queries(corpus) if each.query_id == "q2"), quote=quote)
    assert holds_quote(judge([record], [query], corpus)[0]) is held


def test_a_run_is_read_as_it_was_written_and_its_bytes_do_not_depend_on_time(
    parts: ArmParts, corpus: PolicyCorpus, tmp_path: Path
) -> None:
    records = _records(parts)
    for name, seconds in (("one", 0.1), ("two", 7.0)):
        assert write_run(tmp_path / f"{name}.jsonl", [(each, seconds) for each in records]) == 6
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert read_run(tmp_path / "one.jsonl", corpus) == records
    assert (tmp_path / "one.latency.jsonl").read_text().count("\n") == 6


def test_a_run_over_another_corpus_is_refused_with_the_list(
    parts: ArmParts, corpus: PolicyCorpus, tmp_path: Path
) -> None:
    write_run(tmp_path / "run.jsonl", [(each, 0.0) for each in _records(parts)])
    other = assemble([FileParagraph("handbook", "h", 1, 0, HANDBOOK[4])], {"handbook": ""})
    with pytest.raises(CorpusError, match=r"names \d paragraphs that the corpus does not have.*handbook::"):
        read_run(tmp_path / "run.jsonl", other)


@pytest.mark.parametrize("line", ["no JSON", "{}", '{"arm": "b9"}'])
def test_lines_that_are_no_records_are_named(corpus: PolicyCorpus, tmp_path: Path, line: str) -> None:
    (tmp_path / "run.jsonl").write_text(line + "\n")
    with pytest.raises(RunError, match=r"run\.jsonl, line 1"):
        read_run(tmp_path / "run.jsonl", corpus)


def test_altered_quotations_and_sentences_are_counted(parts: ArmParts, corpus: PolicyCorpus) -> None:
    (record,) = (each for each in _records(parts, ["no_silence"]) if each.query_id == "q2")
    said = record.sentences[0]
    turned = replace(said, text=said.text.replace("must be", "must not be"))
    moved = replace(said, citations=(replace(said.citations[0], start=said.citations[0].start + 1),))
    changed = record.model_copy(update={"sentences": (said, turned, moved)})
    figures = score(judge([changed], _queries(corpus), corpus), corpus, Resampling(50), parts.verifier)["no_silence"]
    assert figures["ungrounded claims"].value == pytest.approx(1 / 3)
    assert figures["quotes that verify"].value == pytest.approx(2 / 3)


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = calibrated("c")
    write_calibration(tmp_path / "c.json", made)
    assert read_calibration(tmp_path / "c.json") == made


def test_calibrating_shows_how_far_it_is(
    parts: ArmParts, corpus: PolicyCorpus, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    calibrate_on(parts, _queries(corpus), "g")
    assert "calibrating silence" in capsys.readouterr().err
