"""The explorer: what it shows is escaped, what is missing is said in a sentence, and it works in a real browser."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy
import pytest
from browser import Page, find_browser, open_browser, wait_for
from conftest import without

from ovrag_core.errors import DocumentError, QuestionError, RunError, SettingsError
from ovrag_core.explorer import desk as work
from ovrag_core.explorer import view
from ovrag_core.explorer.app import AskTab, RunsTab, explorer
from ovrag_core.retrieval.embedding import Vectors
from ovrag_core.retrieval.store import index_documents
from ovrag_core.settings import load_settings
from ovrag_core.types import (
    Answer,
    Attempt,
    Chunk,
    Document,
    Evidence,
    QueryRecord,
    Retrieved,
    Triple,
    Verdict,
    Violation,
)

PROJECT = Path(__file__).resolve().parent.parent
ATTACK = "<script>window.owned = 1</script><img src=x onerror='window.owned = 1'>"
HARMLESS = "&lt;script&gt;window.owned = 1&lt;/script&gt;"
CLEAN = f"""LOAN AGREEMENT

This Loan Agreement is made on 3 March 2024 between Fernhill Savings Bank (the "Lender") and Ada Okafor, a natural
person (the "Borrower").

The Lender lends the Borrower USD 20,000 at a fixed rate of 6.5% per year. {ATTACK}

The loan is unsecured, and no collateral is given for it. The loan is repaid in 36 monthly instalments.
"""
CLASHING = """LOAN AGREEMENT

This Loan Agreement is made on 5 May 2024 between Wexley Bank (the "Lender") and Tomas Lind, a natural person (the
"Borrower").

The Lender lends the Borrower USD 90,000 at a fixed rate of 5.25% per year.

The loan is unsecured. No collateral is given for the loan.

The loan is secured by a mortgage on the property at 12 Mill Lane, granted by the Borrower to the Lender.
"""
QUESTIONS = """\
- {id: Q1, topic: security, text: 'Is the loan secured or unsecured?'}
- {id: Q2, topic: rate, text: 'What is the interest rate?'}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of its own with two contracts, one of which holds markup in its text and its name."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "own").mkdir()
    (folder / "own" / "A & <i>B.txt").write_text(CLEAN, encoding="utf-8")
    (folder / "own" / "Clashing.txt").write_text(CLASHING, encoding="utf-8")
    (folder / "questions.yaml").write_text(QUESTIONS, encoding="utf-8")
    (folder / "params.yaml").write_text("corpus: {source: own}\nquestions: questions.yaml\n", encoding="utf-8")
    (folder / "notebooks").mkdir()
    notebook = (PROJECT / "notebooks" / "00_explorer.ipynb").read_bytes()
    (folder / "notebooks" / "00_explorer.ipynb").write_bytes(notebook)
    return folder


@pytest.fixture
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project before its first run: no contracts, no index, no runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.yaml").write_text(QUESTIONS, encoding="utf-8")
    (tmp_path / "params.yaml").write_text("questions: questions.yaml\n", encoding="utf-8")
    return tmp_path


def a_record(text: str = ATTACK) -> tuple[QueryRecord, Chunk, Document]:
    """A refused query in which every text is hostile."""
    document = Document(id=f"D {text}", text=f"Before. {text} After.")
    passage = Evidence.of(document, 8, 8 + len(text))
    said = Evidence(document_id="answer", start=0, end=len(text), quote=text)
    triples = (
        Triple(subject=text, predicate=text, object=text, subject_type=text, origin="answer", evidence=said),
        Triple(subject=text, predicate=text, object=text, object_type=text, evidence=passage),
    )
    violation = Violation(
        rule=text, clash_type=text, severity="clash", kind="owl", cause="answer", triples=triples, axioms=(text,),
        message=text,
    )  # fmt: skip
    verdict = Verdict(status="inconsistent", violations=(violation,))
    answer = Answer(text=text, evidence=(passage,))
    record = QueryRecord(
        arm="ovrag_evidence", document_id=document.id, question_id="Q", question=text, outcome="hard_rejected",
        cause="answer", model=text, context_triples=triples[1:],
        retrieved=(Retrieved(chunk_id=text, document_id=document.id, start=0, end=len(document.text), score=0.5),),
        attempts=(
            Attempt(number=1, answer=answer, triples=triples[:1], verdict=verdict),
            Attempt(number=2, answer=answer, triples=triples[:1], verdict=verdict, feedback=text),
        ),
    )  # fmt: skip
    return record, Chunk(text, document.id, 0, len(document.text), document.text), document


class TestView:
    def test_every_text_is_escaped(self):
        record, chunk, document = a_record()
        page = view.query_view(record, lambda _: chunk, document)
        assert "<script" not in page and "onerror='" not in page.replace("&#39;", "")
        assert HARMLESS in page
        for part in (view.run_view([record]), view.batch_view([record]), view.message(ATTACK, ATTACK)):
            assert "<script" not in part and "<img" not in part

    def test_shows_all_parts_of_a_query(self):
        record, chunk, document = a_record("the loan is unsecured")
        page = view.query_view(record, lambda _: chunk, document)
        marked = '<mark id="ovx-query-8" class="">the loan is unsecured<sup>1, A</sup></mark>'
        assert f"Before. {marked} After." in page, "the contract's text, with what finding and answer quote"
        for words in (
            "Attempt 2",
            "It was told:",
            "The same answer as before",
            "(asked about)",
            "Triples from the answer",
        ):
            assert words in page
        assert page.count('<img class="graph" src="data:image/svg+xml;base64,') == 1

    def test_signs_that_turn_the_direction_of_text_are_shown(self):
        record, chunk, document = a_record("pay \u202e001 DSU")
        assert "\u202e" not in view.query_view(record, lambda _: chunk, document)

    def test_query_without_answer_or_texts_is_shown(self):
        record, _, _ = a_record()
        failed = record.model_copy(update={"attempts": (), "outcome": "error", "error": "no reply", "cause": None})
        page = view.query_view(failed, lambda _: None, None)
        assert "no reply" in page and "is not at hand" in page and "None was made" in page

    def test_long_contract_is_shown_around_its_marks(self):
        record, chunk, document = a_record("the loan is unsecured")
        long = Document(id=document.id, text=document.text + "x" * (view.MOST_TEXT + 1))
        page = view.query_view(record, lambda _: chunk, long)
        assert len(page) < view.MOST_TEXT and "characters are not shown" in page and "ovx-query-8" in page

    def test_rates_of_a_run_have_intervals_and_n(self):
        record, _, _ = a_record("x")
        records = [record.model_copy(update={"label": label, "clash_type": None}) for label in ("CLASH", "CLEAN")]
        assert "0.50 [0.09, 0.91], n = 2" in view.run_view(records)
        assert "not defined" in view.run_view([record])


class TestDesk:
    def test_without_contracts_a_sentence_says_what_to_do(self, empty: Path):
        tab = AskTab(work.open_desk(), lambda: None)
        assert "There are no contracts yet" in tab.status.value
        assert tab.go.disabled and tab.sample.layout.display != "none"
        assert "There is no run yet" in RunsTab(tab.desk).summary.value

    def test_small_sample_is_made_outside_the_projects_data(self, empty: Path):
        tab = AskTab(work.open_desk(), lambda: None)
        tab.make_sample()
        assert len(tab.contract.options) == work.SAMPLE_SIZE and not tab.go.disabled
        assert sorted(path.name for path in empty.iterdir()) == ["params.yaml", "questions.yaml"]
        settings = work.batch_settings(
            tab.desk, "offline", work.SAMPLE, run="b", arms=["plain"], contracts=["Contract_001"], questions=["Q1"]
        )
        assert settings.corpus.ground_truth is not None and settings.corpus.ground_truth.exists()

    def test_upload_that_cannot_be_read_is_one_sentence(self, inside: Path):
        desk = work.open_desk()
        for name, content in (("scan.pdf", b"%PDF-1.7 broken"), ("../../evil.txt", b""), ("a.exe", b"MZ\0\0")):
            with pytest.raises(DocumentError, match=Path(name).name) as caught:
                work.add_upload(desk, name, content)
            assert "upload-" not in str(caught.value) and "\n" not in str(caught.value)
        assert work.OWN not in work.collections_of(desk)
        assert list(desk.folder.iterdir()) == []

    def test_uploads_come_first_and_keep_their_names(self, inside: Path):
        desk = work.open_desk()
        assert work.add_upload(desk, "C:\\papers\\My loan.txt", CLASHING.encode()).id == "My loan"
        assert list(work.collections_of(desk)) == [work.OWN, work.CORPUS]

    def test_what_is_embedded_is_not_embedded_again_and_progress_is_told(self):
        asked: list[str] = []
        told: list[tuple[int, int]] = []

        class Letters:
            name = "letters"

            def embed(self, texts: Sequence[str]) -> Vectors:
                asked.extend(texts)
                return numpy.array([[len(text), ord(text[0])] for text in texts], dtype=numpy.float32)

        def watch(done: int, whole: int) -> None:
            told.append((done, whole))

        texts = [f"{letter} passage" for letter in "abcdefghijklmnopqrstuvwxyz"]
        known: dict[tuple[str, str], Vectors] = {}
        first = work.Remembering(Letters(), known, watch).embed([*texts[::-1], "a passage"])
        assert first.tolist() == Letters().embed([*texts[::-1], "a passage"]).tolist()
        assert told == [(0, 26), (work.AT_A_TIME, 26)]
        asked.clear()
        again = work.Remembering(Letters(), known, watch).embed(["new", *texts])
        assert asked == ["new"] and again[1:].tolist() == first[:26][::-1].tolist()

    def test_index_of_the_project_is_used_until_a_contract_is_changed(self, folder: Path, tmp_path: Path):
        project = tmp_path / "project"
        shutil.copytree(folder, project)
        with contextlib.chdir(project):
            index_documents(load_settings(), Path("own"))
            told: list[int] = []
            for rate in ("5.25%", "7.75%"):
                path = Path("own", "Clashing.txt")
                if rate not in path.read_text(encoding="utf-8"):
                    path.write_text(CLASHING.replace("5.25%", rate), encoding="utf-8")
                desk, text = work.open_desk(), "What is the interest rate?"
                place = ("offline", work.CORPUS, "Clashing", "plain_scoped", text)
                record, _, bench = work.ask_about(desk, *place, watch=lambda done, whole: told.append(whole))
                bench.close()
                assert record.answer is not None and rate in record.answer.text
                assert told == ([2] if rate == "7.75%" else []), "indexed anew only after the change"

    def test_empty_question_and_empty_batch_are_refused(self, inside: Path):
        desk = work.open_desk()
        with pytest.raises(QuestionError, match="empty"):
            work.ask_about(desk, "offline", work.CORPUS, "Clashing", "plain", "  ")
        batch = {"arms": ["plain"], "contracts": ["Clashing"], "questions": ["Q1"]}
        for what in batch:
            with pytest.raises(RunError, match=f"no {what[:-1]} is chosen"):
                work.batch_settings(desk, "offline", work.CORPUS, run="b", **{**batch, what: []})
        with pytest.raises(RunError, match="cannot be the name of a run"):
            work.batch_settings(desk, "offline", work.CORPUS, run="../b", **batch)
        with pytest.raises(RunError, match="the project's own"):
            work.batch_settings(desk, "offline", work.CORPUS, run="main", **batch)

    def test_model_of_the_parameter_file_can_be_chosen_beside_offline(self, inside: Path):
        (inside / "other.yaml").write_text(
            "questions: questions.yaml\nllm: {provider: openai, model: gpt-x}\nextraction: {extractor: chat}\n"
        )
        desk = work.open_desk(Path("other.yaml"))
        assert list(desk.models) == ["gpt-x (openai)", "offline"]
        assert desk.models["offline"].extractor == "reader"

    def test_parameter_file_that_cannot_be_used_is_one_sentence(self, inside: Path):
        (inside / "bad.yaml").write_text("corpuss: {}\n")
        with pytest.raises(SettingsError):
            work.open_desk(Path("bad.yaml"))
        assert "did you mean corpus?" in explorer(Path("bad.yaml")).value


class TestRuns:
    def test_queries_are_listed_by_arm_and_outcome_and_shown(self, empty: Path):
        record, _, _ = a_record("x")
        other = record.model_copy(update={"arm": "plain", "outcome": "accepted", "cause": None})
        (empty / "data" / "runs").mkdir(parents=True)
        lines = "".join(each.model_dump_json() + "\n" for each in (record, other))
        (empty / "data" / "runs" / "mine.jsonl").write_text(lines, encoding="utf-8")
        tab = RunsTab(work.open_desk())
        tab.run.value = "mine"
        assert "2 queries about 1 contract" in tab.summary.value and len(tab.query.options) == 3
        tab.arm.value = "plain"
        assert [value for _, value in tab.query.options] == [None, 1]
        tab.query.value = 1
        assert 'data-outcome="accepted"' in tab.result.value
        tab.outcome.value = "hard_rejected"
        assert [value for _, value in tab.query.options] == [None] and tab.result.value == ""

    def test_broken_run_is_one_sentence(self, empty: Path):
        (empty / "data" / "runs").mkdir(parents=True)
        (empty / "data" / "runs" / "broken.jsonl").write_text("{}\n", encoding="utf-8")
        tab = RunsTab(work.open_desk())
        tab.run.value = "broken"
        assert "bad say" in tab.summary.value and "broken.jsonl" in tab.summary.value


class Shown(NamedTuple):
    """The page in a browser, and the seconds from the start of the server to the first answer."""

    page: Page
    seconds: float


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers_on(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def press(page: Page, name: str) -> None:
    page.evaluate(f"document.querySelector('.ovx-{name}').click()")


def ask(page: Page, contract: str, place: int, arm: int = 4) -> float:
    """Choose a contract by its name, a question and an arm by their places; the seconds until the answer is shown."""
    page.evaluate("document.querySelectorAll('[data-part=answer]').forEach(each => each.remove())")
    page.evaluate(
        f"""(() => {{
            const lists = document.querySelectorAll("select");
            const texts = [...lists[0].options].map(each => each.text.replace(/\\s/g, " "));
            const places = [texts.findIndex(each => each.startsWith({contract!r})), {place}, {arm}];
            places.forEach((place, number) => {{
                lists[number].selectedIndex = place;
                lists[number].dispatchEvent(new Event("change", {{bubbles: true}}));
            }});
        }})()"""
    )
    page.wait("!document.querySelector('.ovx-ask').disabled", 30)
    started = time.monotonic()
    press(page, "ask")
    page.wait("!!document.querySelector('[data-part=answer], .ovx-status .bad')", 60)
    assert not page.evaluate("document.querySelector('.ovx-status .bad')?.innerText")
    return time.monotonic() - started


@pytest.fixture(scope="module")
def shown(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    if find_browser() is None:
        without("chromium", "chromium")
    port = free_port()
    command = [sys.executable, "-m", "ovrag_core.explorer", "--no-browser", f"--port={port}"]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "OMP_NUM_THREADS": "1"}
    with open_browser(tmp_path_factory.mktemp("browser")) as page:
        started = time.monotonic()
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as server:
            try:
                wait_for(lambda: answers_on(port), 60, "the server")
                page.call("Page.navigate", url=f"http://127.0.0.1:{port}/")
                page.wait("!!document.querySelector('.ovx-ask')", 120)
                ask(page, "A &", 0)
                yield Shown(page, time.monotonic() - started)
            finally:
                server.terminate()


class TestInABrowser:
    def test_first_answer_and_a_further_one_come_soon(self, shown: Shown):
        print(f"start to first answer {shown.seconds:.1f} s")
        assert shown.seconds < 90, "15 s on a machine that does nothing else"
        assert ask(shown.page, "A &", 1) < 10, "2 s on a machine that does nothing else"
        assert "6.5%" in shown.page.evaluate("document.querySelector('[data-part=answer]').innerText")

    def test_markup_in_a_contract_is_text(self, shown: Shown):
        ask(shown.page, "A &", 1)
        assert ATTACK in shown.page.evaluate("document.querySelector('[data-part=contract]').innerText")
        assert shown.page.evaluate("document.querySelectorAll('.ovx script, .ovx img[src=x], .ovx i').length") == 0
        assert shown.page.evaluate("typeof window.owned") == "undefined"

    def test_contradiction_is_marked_in_the_text_and_drawn(self, shown: Shown):
        ask(shown.page, "Clashing", 0)
        outcome = shown.page.evaluate("document.querySelector('[data-outcome]').dataset.outcome")
        assert outcome == "source_finding"
        marks = shown.page.evaluate("[...document.querySelectorAll('[data-part=contract] mark')].map(e => e.innerText)")
        assert any("unsecured" in each for each in marks) and any("mortgage" in each for each in marks)
        assert shown.page.evaluate("[...document.querySelectorAll('img.graph')].every(e => e.naturalWidth > 100)")

    def test_upload_can_be_asked_about(self, shown: Shown, tmp_path: Path):
        path = tmp_path / "My <b>loan.txt"
        path.write_text(CLASHING.replace("5.25%", "7.75%"), encoding="utf-8")
        shown.page.upload(".widget-upload", path)
        shown.page.wait("document.querySelector('.ovx-status').innerText.includes('My <b>loan can be asked')", 30)
        ask(shown.page, "My <b>loan", 1)
        assert "7.75%" in shown.page.evaluate("document.querySelector('[data-part=answer]').innerText")

    def test_batch_runs_and_is_kept(self, shown: Shown, folder: Path):
        press(shown.page, "run")
        shown.page.wait("document.querySelector('.ovx-progress').innerText.includes('no contract is chosen')", 30)
        shown.page.evaluate(
            "(() => { const list = document.querySelector('.ovx-contracts select');"
            "for (const each of list.options) each.selected = !each.text.includes('uploaded');"
            "list.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )
        press(shown.page, "run")
        shown.page.wait("document.querySelector('.ovx-progress').innerText.includes('Done')", 60)
        assert shown.page.evaluate("document.querySelectorAll('[data-part=batch] tr').length") == 5
        assert (folder / "data" / "runs" / "batch-1.jsonl").read_text(encoding="utf-8").count("\n") == 4

    def test_nothing_is_asked_of_another_machine(self, shown: Shown):
        asked = [url for url in shown.page.requested if not url.startswith(("http://127.0.0.1:", "data:", "blob:"))]
        assert shown.page.requested and not asked
