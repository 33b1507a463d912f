"""What the study's tables, macros and curves say, on a run of a few queries that is written out here."""

import json
from dataclasses import replace
from pathlib import Path

import pandas
import pytest
from faulty_server import KEY, MODEL, Call, FaultyServer, scripted

from ovrag_core.base.errors import ResultError
from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.llm import ChatModel
from ovrag_core.llm.openai import OpenAIBackend
from ovrag_core.study.book import Book
from ovrag_studies.cited import (
    part_results,
    results,
    study,
)
from ovrag_studies.cited.answering.quotations import CitedSentence, cite
from ovrag_studies.cited.answering.silence import learn_then_test
from ovrag_studies.cited.answering.verification import SentenceVerifier
from ovrag_studies.cited.corpus.golden import GoldenQuery
from ovrag_studies.cited.corpus.policies import FileParagraph, PolicyCorpus, assemble, read_corpus
from ovrag_studies.cited.critic.critic_rules import LABELS, CriticFinding
from ovrag_studies.cited.measuring import conflict_metrics, golden_scores
from ovrag_studies.cited.measuring.conflict_metrics import Flagged, Pair, read_pairs
from ovrag_studies.cited.measuring.critic_metrics import Snippet
from ovrag_studies.cited.measuring.golden_scores import JudgedRecord, score_ranks
from ovrag_studies.cited.measuring.perturbations import CHECKS, share_rejected, try_checks
from ovrag_studies.cited.part_results import published
from ovrag_studies.cited.records import EvidenceRecord, PolicyRecord
from ovrag_studies.cited.settings import Arm, Policy

TEXTS = ("Dogs must be kept on a lead at all times.", "Dogs need no lead after dusk.", "Cats may roam in the garden.")
GOLDEN = [
    GoldenQuery("q1", "Must dogs be on a lead?", "contradiction", gold=("park::p1",), expected="unresolved"),
    GoldenQuery("q2", "May cats roam?", "answerable", gold=("park::p3",), quote="may roam"),
    GoldenQuery("q3", "May horses graze?", "unanswerable"),
    GoldenQuery("q4", "Where may cats roam?", "answerable", gold=("park::p3",), quote="in the garden"),
]


@pytest.fixture
def corpus() -> PolicyCorpus:
    read = [FileParagraph("park", "park.txt", 1, row, text, f"park::p{row + 1}") for row, text in enumerate(TEXTS)]
    return assemble(read, {"park": "0" * 64})


@pytest.fixture(scope="module")
def verifier() -> SentenceVerifier:
    return SentenceVerifier()


@pytest.fixture
def book(tmp_path: Path) -> Book:
    book = replace(results.open_book(Settings()), plan=Resampling(100))
    return replace(book, tables=tmp_path / "tables", figures=tmp_path / "figures")


def judged(corpus: PolicyCorpus, arm: Arm, said: dict[str, tuple[int | None, float]]) -> list[JudgedRecord]:
    """Records of an arm: for each query the paragraph that it copies, None for silence, and its confidence."""
    records = []
    for query in GOLDEN:
        row, confidence = said[query.query_id]
        sentences: tuple[CitedSentence, ...] = ()
        if row is not None:
            each = corpus.paragraphs[row]
            sentences = (CitedSentence(each.text, (cite(each, 0, len(each.text)),)),)
        found = EvidenceRecord(paragraph_id=corpus.paragraphs[row or 0].id, rank=1, score=1.0, by="fused")
        records.append(
            PolicyRecord(
                arm=arm,
                query_id=query.query_id,
                question=query.question,
                sentences=sentences,
                removed=(),
                silent=row is None,
                reason="" if row is not None else "score 0.100 is below the certified threshold 0.700",
                confidence=confidence,
                threshold=0.7,
                evidence=(found,),
                conflicts=(),
                notices=(),
                requested={},
                ran={},
                repairs=0,
                unknown=0,
                invented=0,
                corpus="",
            )
        )
    return golden_scores.judge(records, GOLDEN, corpus)


@pytest.fixture
def run(corpus: PolicyCorpus) -> list[JudgedRecord]:
    """B2 answers all, twice wrongly; ours is silent twice, once where it should not be."""
    eager = judged(corpus, "b2", {"q1": (0, 0.9), "q2": (2, 0.8), "q3": (2, 0.5), "q4": (1, 0.5)})
    ours = judged(corpus, "ours", {"q1": (0, 0.9), "q2": (2, 0.8), "q3": (None, 0.2), "q4": (None, 0.5)})
    return [*eager, *ours]


def test_arms_are_told_apart_by_who_is_wrong(
    book: Book, run: list[JudgedRecord], corpus: PolicyCorpus, verifier: SentenceVerifier
) -> None:
    labelled = {"audited": run}
    scored = {"audited": golden_scores.score(run, corpus, book.plan, verifier)}
    shown = results.arms_table(book, labelled, scored).set_index("arm")
    assert shown.loc["B2, extract", "wrong"].startswith("0.500 ["), "one query has no answer, one cites no gold"
    assert shown.loc["ours", "wrong"].startswith("0.000 [") and shown.loc["ours", "abstained"].startswith("1.000 [")
    assert shown.loc["ours", "answer rate"].startswith("0.500 [")
    full = pandas.read_csv(book.tables / "policy" / "samples" / "arms.csv")
    row = full[(full["arm"] == "ours") & (full["measure"] == "wrong of answered")].iloc[0]
    assert row["n"] == 2, "of the answers, not of the queries"
    tex = (book.tables / "policy" / "samples" / "arms.tex").read_text(encoding="utf-8")
    assert "4 queries with audited labels (2 answerable, 1 contradiction, 1 unanswerable)" in tex


def test_what_is_missed_is_listed_with_what_happened(book: Book, run: list[JudgedRecord]) -> None:
    ours = results.cases_table(book, {"audited": run})
    assert ours["query"].tolist() == ["q4"] and ours["what happened"][0].startswith("silent: score 0.100")
    eager = results.cases_table(book, {"audited": run}, "b2")
    assert eager["what happened"].tolist() == [
        "answered, though the text does not say",
        "answered without a gold paragraph",
    ]


def test_published_figures_stand_beside_ours_and_are_marked(
    book: Book, run: list[JudgedRecord], corpus: PolicyCorpus, verifier: SentenceVerifier
) -> None:
    scored = {"audited": golden_scores.score(run, corpus, book.plan, verifier)}
    shown = results.published_table(book, {"audited": run}, scored).set_index("arm")
    assert shown.loc["B3, gpt-4o-mini (recorded)", "answer rate"] == "0.250"
    assert shown.loc["extractive (draft)", "abstained"] == "1.000"
    assert shown.loc["extractive (draft)", "answer rate"] == "n/a", "the draft says nothing of it"
    assert all("(recorded)" in arm or "(draft)" in arm for arm in shown.index if arm not in results.NAMES.values())


def test_published_figures_are_those_of_the_dissertation() -> None:
    recorded = published()["recorded"]
    assert len(recorded) == 5 and {run["queries"] for run in recorded.values()} == {63, 44}
    assert recorded["B3, gpt-4o-mini"]["citation recall"] == 0.5556
    assert recorded["B3, extractive"]["conflict precision"] == 0.2857
    assert recorded["B2, gpt-4o-mini"]["conflict precision"] is None, "nothing was flagged"


def test_published_figures_are_those_of_the_run_files(external_data: Path) -> None:
    names = {
        "answer_rate": "answer rate",
        "abstention_accuracy": "abstention accuracy",
        "evidence_recall_at_5": "recall@5",
        "evidence_mrr": "MRR@5",
        "citation_precision": "citation precision",
        "citation_recall": "citation recall",
        "contradiction_recall": "conflict recall",
        "contradiction_precision": "conflict precision",
    }
    paths = sorted((external_data / "policy/dev/runs").glob("*/summary.json"))
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    found = sorted(str({ours: _figure(run[theirs]) for theirs, ours in names.items()}) for run in runs)
    assert found == sorted(
        str({name: each[name] for name in names.values()}) for each in published()["recorded"].values()
    )


def _figure(value: float | str) -> float | None:
    return None if isinstance(value, str) else float(value)


def test_a_curve_takes_answers_of_one_confidence_together(run: list[JudgedRecord]) -> None:
    eager = [each for each in run if each.record.arm == "b2"]
    own = {each.query.query_id: each.record.confidence for each in eager}
    assert results.curve_of(eager, own).tolist() == [[0.25, 0.0], [0.5, 0.0], [1.0, 0.5]]
    assert results.curve_of(eager, {"q1": 0.1, "q2": 0.2, "q3": 0.9, "q4": 0.8})[0].tolist() == [0.25, 1.0]
    assert results.point_of(eager) == (1.0, 0.5)
    silent = [each for each in run if not each.answered]
    assert results.point_of(silent) is None and len(results.curve_of(silent, own)) == 0


def test_silence_says_whether_it_is_certified(book: Book) -> None:
    certificates = {
        "audited": learn_then_test([0.9] * 30 + [0.1] * 10, [False] * 30 + [True] * 10),
        "few": learn_then_test([0.9] * 19, [False] * 19),
    }
    shown = results.silence_table(book, certificates).set_index("labels")
    assert shown.loc["audited", "certified"] == "yes" and shown.loc["audited", "answered"] == "30"
    assert shown.loc["few", "certified"] == "no" and shown.loc["few", "threshold"] == "n/a"
    assert shown.loc["few", "least answers"] == "22"


def test_macros_of_the_first_labels_carry_no_name(
    book: Book, run: list[JudgedRecord], corpus: PolicyCorpus, verifier: SentenceVerifier
) -> None:
    scored = {name: golden_scores.score(run, corpus, book.plan, verifier) for name in ("audited", "published")}
    certificates = {"audited": learn_then_test([0.9] * 30, [False] * 30)}
    tried = pandas.DataFrame([("must", "text", False, True)], columns=["kind", "group", *CHECKS])
    path = results.numbers_file(book, dict.fromkeys(scored, run), scored, certificates, tried, 3)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert r"\newcommand{\PolicyBTwoWrongOfAnswered}{0.500}" in lines
    assert r"\newcommand{\PolicyPublishedBTwoWrongOfAnswered}{0.500}" in lines
    assert r"\newcommand{\PolicySilenceCertified}{certified}" in lines
    assert r"\newcommand{\PolicyQueries}{4}" in lines and r"\newcommand{\PolicyThreeRulesMustRejected}{1.000}" in lines


def test_ways_of_finding_stand_beside_recorded_runs(book: Book, corpus: PolicyCorpus) -> None:
    found = [(GOLDEN[1], corpus.paragraphs[1:]), (GOLDEN[3], corpus.paragraphs[:1])]
    ranks = {("audited", "dense"): score_ranks(found, book.plan)}
    shown = part_results.retrieval_table(book, ranks)
    assert shown.loc[0, "recall@5"].startswith("0.500") and shown.loc[0, "queries"] == "2"
    assert "B1, gpt-4o-mini (recorded)" not in shown["found by"].tolist(), "nothing was retrieved there"
    assert "dense and reranked (draft)" in shown["found by"].tolist()


def test_checks_are_tried_on_every_kind_of_sentence(
    corpus: PolicyCorpus, book: Book, verifier: SentenceVerifier
) -> None:
    tried = try_checks(corpus, verifier, 42)
    assert set(tried["kind"]) == {"unchanged", "must", "paragraph"}, "no figure to change"
    assert share_rejected(tried, "three rules", "must", book.plan).value == 1.0
    assert share_rejected(tried, "published check", "must", book.plan).value == 0.0
    assert share_rejected(tried, "three rules", "number", book.plan).value is None
    shown = part_results.checks_table(book, tried)
    assert shown["sentences"].tolist() == ["unchanged", "must and must not swapped", "another paragraph"]
    assert shown["n"].tolist()[:2] == ["3", "1"]


def pair(label: str, second: str = "park::p2", **more: str) -> Pair:
    quotes = {"first_quote": TEXTS[0], "second_quote": TEXTS[int(second[-1]) - 1]}
    return Pair.model_validate(
        {"pair_id": label, "label": label, "first": "park::p1", "second": second, **quotes, **more}
    )


def test_conflicts_count_where_both_paragraphs_are_named(corpus: PolicyCorpus, book: Book) -> None:
    pairs = [pair("conflict", status="unresolved"), pair("lookalike", "park::p3")]
    found = conflict_metrics.assess(Flagged(frozenset({(0, 1), (1, 2)})), pairs, corpus, book.plan)
    assert (found.found.value, found.lookalikes.value, found.others.value) == (1.0, 0.0, 1.0)
    missed = conflict_metrics.assess(Flagged(frozenset({(0, 2)})), pairs, corpus, book.plan)
    assert (missed.found.value, missed.lookalikes.value, missed.others.value) == (0.0, 1.0, 0.0)
    shown = part_results.conflicts_table(book, {"ours": found, "theirs": missed}, 3)
    assert shown["system"].tolist() == ["ours", "theirs"] and shown["told apart"].tolist() == ["n/a", "n/a"]


def test_a_file_of_pairs_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{pair('conflict').model_dump_json()}\n{{}}\n", encoding="utf-8")
    with pytest.raises(ResultError, match=r"line 2: 'pair_id' is missing"):
        read_pairs(path)
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(ResultError, match="no pair"):
        read_pairs(path)


def test_a_critic_is_worth_what_its_labels_are(book: Book) -> None:
    snippets = [Snippet(snippet_id=f"s{row}", text="Only a fool objects.", labels=["L1"]) for row in range(2)]
    snippets.append(Snippet(snippet_id="s3", text="Doors close at six.", labels=[]))
    half: list[list[CriticFinding]] = [[CriticFinding("L1", 0, 11, "")], [], [CriticFinding("L3", 0, 5, "")]]
    found = {"half": half, "perfect": [[CriticFinding("L1", 0, 11, "")], [CriticFinding("L1", 0, 11, "")], []]}
    shown = part_results.critic_table(book, snippets, found).set_index("critic")
    assert (
        shown.loc["perfect", "macro F1"].startswith("1.000") and shown.loc["perfect", "neutral flagged"][:5] == "0.000"
    )
    assert shown.loc["half", "macro F1"].startswith("0.333"), "L1 two thirds, L3 nothing right"
    assert shown.loc["half", "neutral flagged"].startswith("1.000")
    labels = part_results.critic_labels_table(book, snippets, found)
    assert len(labels) == 2 * len(LABELS) and labels.loc[0, "precision"].startswith("1.000")


def test_a_second_set_of_labels_judges_the_same_answers(corpus: PolicyCorpus, run: list[JudgedRecord]) -> None:
    stricter = [replace(each, gold=("park::p2",)) if each.query_id == "q1" else each for each in GOLDEN]
    again = golden_scores.judge([each.record for each in run], stricter, corpus)
    assert [each.wrong for each in run if each.query.query_id == "q1"] == [False, False]
    assert [each.wrong for each in again if each.query.query_id == "q1"] == [True, True]


def _model(call: Call) -> object:
    """A model that quotes what it was shown first beside a sentence of its own, and has nothing to say of horses."""
    asked = call.messages[1]["content"]
    if "horses" in asked:
        return "I would rather not." if "Question:" in asked else "INSUFFICIENT_EVIDENCE"
    if "Sentence:" in asked:
        return {"supported": True, "quote": call.fenced[0]}
    if "Question:" not in asked:
        return "As you like."
    quotes = [{"passage": "P1", "quote": call.fenced[0]}]
    own = {"text": "The moon is made of green cheese.", "quotes": quotes}
    return {"sentences": [{"text": call.fenced[0], "quotes": quotes}, own]}


def test_a_model_stands_beside_copied_answers_to_a_sample(book: Book, tmp_path: Path) -> None:
    (tmp_path / "park").mkdir()
    texts = (TEXTS[0], "Keys hang in the shed.", TEXTS[2])  # nothing contested: a conflict asks no model
    (tmp_path / "park" / "park.txt").write_text("\n\n".join(texts))
    ids = [each.id for each in read_corpus(tmp_path / "park").paragraphs]
    gold = {"q1": ids[0], "q2": ids[2], "q3": "", "q4": ids[2]}
    rows = [f"{each.query_id},{each.question},{each.category},{gold[each.query_id]}" for each in GOLDEN]
    (tmp_path / "golden.csv").write_text("\n".join(["query_id,question,category,gold_paragraph_ids", *rows]))
    with FaultyServer(scripted(_model)) as server:
        settings = Policy.changed(
            Settings(),
            sample=2,
            data={"corpus": [str(tmp_path / "park")], "golden": {"audited": str(tmp_path / "golden.csv")}},
            arms=["b1", "b2", "no_silence"],
            answers={"by": "chat"},
            verification={"by": "chat"},
        )
        chat = ChatModel(OpenAIBackend(base_url=server.base_url, key=KEY), MODEL)
        by_chat = study.run_study(settings, chat=chat)
    assert by_chat.certificates["audited"].n == 4, "silence is calibrated on all"
    assert study.size(by_chat)[-1] == "3 arms, 2 queries each: b1, b2, no_silence"
    plain = study.copied(by_chat)
    assert [each.query_id for each in plain.records] == ["q1", "q3"] * 2
    shown = results.model_table(book, by_chat, plain).set_index(["answers", "arm"])
    alone, unchecked, checked = (shown.loc["chat"].iloc[row] for row in range(3))
    assert alone["answered"].startswith("0.500 [") and alone["wrong"].startswith("1.000 ["), "it cites nothing"
    assert unchecked["right"].startswith("1.000 ["), "what cannot be used is silence"
    assert unchecked["ungrounded"].startswith("0.500 [") and checked["ungrounded"].startswith("0.000 [")
    assert shown.loc["chat", "removed"].tolist() == ["0", "0", "1"]
    assert shown.loc["chat", "unusable"].tolist() == ["0", "1", "1"]
    written = [sum(each.written for each in by_chat.records if each.arm == arm) for arm in ("b1", "no_silence")]
    assert written[0] == len("As you like." + "INSUFFICIENT_EVIDENCE") and alone["tokens"] == str(round(written[0] / 2))
    assert shown.loc["copied"].index.tolist() == ["B2, unchecked", "without silence"]
    assert shown.loc["copied", "tokens"].tolist() == ["0", "0"] and written[1] > 0
