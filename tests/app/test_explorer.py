"""The explorer: what it shows is escaped, what is missing is said in a sentence, and it works in a real browser."""

import asyncio
import contextlib
import html
import json
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener, urlopen

import numpy
import pytest
import tornado.web
import websocket
from browser import Page, Server, open_browser, require_browser, serve_explorer, wait_for
from traitlets.config import Config

from ovrag_core.app.explorer import desk as work
from ovrag_core.app.explorer import view
from ovrag_core.app.explorer.app import AskTab, RunsTab, explorer
from ovrag_core.app.explorer.server import PageKernels
from ovrag_core.base.errors import DocumentError, QuestionError, RunError, SettingsError
from ovrag_core.base.settings import load_settings
from ovrag_core.base.types import (
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
from ovrag_core.loans.grounds import Grounds, Passage
from ovrag_core.loans.reviewing import FactRow
from ovrag_core.loop.answering import NO_ANSWER
from ovrag_core.retrieval.embedding import Vectors
from ovrag_core.retrieval.indexing import index_documents

PROJECT = Path(__file__).resolve().parents[2]
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

    def test_contradiction_that_breaks_several_rules_is_shown_once(self):
        record, chunk, document = a_record("the loan is unsecured")
        attempt = record.attempts[-1]
        violation = attempt.verdict.violations[0]
        others = [violation.model_copy(update={"rule": name, "message": f"Rule {name}."}) for name in "BC"]
        warning = violation.model_copy(update={"severity": "warning", "message": "A remark."})
        verdict = Verdict(status="inconsistent", violations=(violation, *others, warning))
        last = attempt.model_copy(update={"verdict": verdict, "feedback": "Say it anew."})
        again = last.model_copy(update={"number": 3})
        page = view.query_view(
            record.model_copy(update={"attempts": (*record.attempts[:1], last, again)}), lambda _: chunk, document
        )
        assert page.count('class="finding clash"') == 1 and page.count('class="finding warning"') == 1
        assert page.count("Rule B. Rule C.</p>") == 1
        assert page.count("Say it anew.") == 1 and "told the same again" in page

    def test_facts_have_quote_page_and_place(self):
        record, chunk, document = a_record("the loan is unsecured")
        quote = Passage(quote=ATTACK, start=8, end=29, page=7, document=document.id)
        rows = [FactRow("security", "unsecured", Grounds(evidence=(quote,), reckoned="two <dates>"))]
        page = view.query_view(record, lambda _: chunk, document, facts=[("The <loan>", rows)])
        assert "As a review reads it: The &lt;loan&gt;" in page and "reckoned from: two &lt;dates&gt;" in page
        assert f"“{HARMLESS}" in page and 'page 7, <a href="#ovx-query-8">in the text</a>' in page
        assert "<sup>1, A, F</sup>" in page, "marked in the contract's text as well"

    def test_outcome_says_what_was_checked_and_not_that_the_answer_is_right(self):
        record, chunk, document = a_record("the loan is unsecured")
        fine = record.attempts[0].model_copy(update={"verdict": Verdict(status="consistent"), "triples": ()})
        fine = record.model_copy(update={"attempts": (fine,), "outcome": "accepted", "cause": None})
        page = view.query_view(fine, lambda _: chunk, document)
        assert '<span class="badge ">no answer was found</span>' in page and "Nearest in the text" in page
        stated = fine.attempts[0].answer.model_copy(update={"text": "The loan has no security."})
        stated = fine.attempts[0].model_copy(update={"answer": stated})
        page = view.query_view(fine.model_copy(update={"attempts": (stated,)}), lambda _: chunk, document)
        assert ">consistent with the agreement</span>" in page and "Nearest in the text" not in page
        silent = fine.attempts[0].model_copy(update={"answer": Answer(text=NO_ANSWER)})
        page = view.query_view(fine.model_copy(update={"attempts": (silent,)}), lambda _: chunk, document)
        assert '<span class="badge ">no answer was found</span> There is no answer to check.' in page
        assert "accepted" not in view.batch_view([fine]) + view.run_view([fine])

    def test_run_of_errors_says_so_and_shows_no_zeros(self):
        record, _, _ = a_record("x")
        failed = record.model_copy(
            update={"attempts": (), "outcome": "error", "error": "no reply <b>", "label": "CLASH"}
        )
        page = view.run_view([failed] * 3)
        assert "3 of 3 queries ended in an error" in page and "no reply &lt;b&gt;" in page
        assert '<td class="n">0</td>' not in page and "not defined" not in page
        part = view.run_view([failed, record.model_copy(update={"label": "CLASH"})])
        assert "1 of 2 queries ended in an error" in part and '<td class="n">1</td>' in part
        assert "ended in an error" not in view.run_view([record])

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

    def test_button_counts_what_is_held_and_takes_a_file_again(self, inside: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(AskTab, "warm", lambda *_: None)
        tab = AskTab(work.open_desk(), lambda: None)

        def upload(*names: str) -> int:
            """As the browser does: what was chosen takes the place of what was listed."""
            then = datetime.now(tz=UTC)
            tab.upload.value = [
                {"name": name, "type": "", "size": 9, "content": CLEAN.encode() if name != "bad.pdf" else b"%PDF-1.7",
                 "last_modified": then} for name in names
            ]  # fmt: skip
            return len(tab.upload.value)

        assert upload("bad.pdf") == 0 and "bad say" in tab.status.value
        assert upload("a.txt", "bad.pdf") == 1
        assert upload("b.txt", "c.txt") == 3
        tab.status.value = ""
        assert upload("a.txt") == 3 and "a can be asked about" in tab.status.value

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
            "questions: questions.yaml\nllm: {provider: openai, model: gpt-x}\n"
            "extraction: {extractor: chat, form: triples}\n"
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
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The explorer over the small project; its browser is a script that keeps what it was called with."""
    inside = tmp_path_factory.mktemp("server")
    keep = f"import sys; open({str(inside / 'called')!r}, 'w').write(sys.argv[1])"
    browser = shlex.join([sys.executable, "-c", keep, "%s"])
    with serve_explorer(folder, inside / "log", f"--Voila.browser={browser}", "--PageKernels.patience=1") as server:
        yield server


@pytest.fixture(scope="module")
def shown(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    require_browser()
    with open_browser(tmp_path_factory.mktemp("browser")) as page:
        started = server.process.create_time()
        page.call("Page.navigate", url=server.opened)
        page.wait("!!document.querySelector('.ovx-ask')", 120)
        ask(page, "A &", 0)
        yield Shown(page, time.time() - started)


def refusal(address: str, method: str = "GET", opener: OpenerDirector | None = None, **headers: str) -> int:
    """The status of an answer, redirections followed."""
    request = Request(address, method=method, headers=headers)
    try:
        with (opener.open if opener else urlopen)(request, timeout=60) as reply:
            return reply.status
    except HTTPError as error:
        return error.code


class Visit(NamedTuple):
    """A page that was opened without a browser."""

    opener: OpenerDirector
    cookie: str
    page: str
    kernel: str


@pytest.fixture(scope="module")
def visit(server: Server) -> Visit:
    """The page by the printed address, as a browser would get it; nothing is connected to its kernel yet."""
    cookies = HTTPCookieProcessor()
    opener = build_opener(cookies)
    with opener.open(server.opened, timeout=240) as reply:
        assert reply.url == server.address, "the token has left the address"
        page = reply.read().decode()
    kernel = re.search(r'"kernelId": "([\w-]+)"', html.unescape(page))
    assert kernel
    cookie = "; ".join(f"{each.name}={each.value}" for each in cookies.cookiejar)
    return Visit(opener, cookie, page, kernel[1])


def connect(server: Server, kernel: str, token: str = "", **options: object) -> websocket.WebSocket:
    address = server.address.replace("http://", "ws://")
    return websocket.create_connection(f"{address}api/kernels/{kernel}/channels{token}", timeout=30, **options)


class TestDoors:
    """Who has no token, comes by another name or from another page is refused, by each way in."""

    WAYS = (
        ("GET", ""),
        ("GET", "login"),
        ("GET", "anything"),
        ("GET", "api/kernels"),
        ("GET", "api/kernels/{kernel}"),
        ("DELETE", "api/kernels/{kernel}"),
        ("POST", "api/kernels/{kernel}/restart"),
        ("GET", "api/kernels/{kernel}/channels"),
        ("POST", "voila/api/shutdown/{kernel}"),
        ("GET", "voila/static/voila.js"),
        ("GET", "voila/templates/base/static/voila.js"),
        ("GET", "voila/labextensions/@voila-dashboards/widgets-manager8/package.json"),
        ("GET", "voila/api/themes/@jupyterlab/theme-light-extension/index.css"),
        ("GET", "voila/files/00_explorer.ipynb"),
        ("GET", "voila/files/../params.yaml"),
        ("GET", "voila/static/../../../../params.yaml"),
    )

    @pytest.mark.parametrize(("method", "way"), WAYS)
    def test_refused_without_token_with_a_wrong_one_and_under_another_name(
        self, server: Server, visit: Visit, method: str, way: str
    ):
        address = server.address + way.format(kernel=visit.kernel)
        assert refusal(address, method) == 403
        assert refusal(f"{address}?token=", method) == 403
        assert refusal(f"{address}?token={'0' * len(server.token)}", method) == 403
        assert refusal(f"{address}?token={server.token}", method, Host="rebound.example:80") == 403
        assert server.kernels(), "nothing of it ended a kernel"

    def test_files_of_the_project_are_refused_even_with_the_token(self, server: Server, visit: Visit):
        for way in ("voila/files/00_explorer.ipynb", "voila/files/..%2Fparams.yaml", "voila/static/..%2F..%2Fapp.py"):
            assert refusal(server.address + way, opener=visit.opener) in (403, 404)

    def test_socket_needs_cookie_or_token_and_the_pages_own_origin(self, server: Server, visit: Visit):
        own, foreign = server.address.rstrip("/"), "http://evil.example"
        for refused in (
            {"origin": own},
            {"origin": foreign},
            {"suppress_origin": True},
            {"cookie": visit.cookie, "origin": foreign},
            {"cookie": visit.cookie, "origin": "null"},
            {"cookie": visit.cookie, "origin": own, "host": "rebound.example"},
        ):
            with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
                connect(server, visit.kernel, **refused)

    def test_no_other_user_can_listen_to_a_kernel(self, server: Server, visit: Visit):
        kernel = next(each for each in server.kernels() if any(visit.kernel in part for part in each.cmdline()))
        connection = Path(next(part for part in kernel.cmdline() if visit.kernel in part))
        assert json.loads(connection.read_text())["transport"] == "ipc"
        assert connection.parent.stat().st_mode & 0o077 == 0

    def test_token_is_in_the_printed_address_alone(self, server: Server, visit: Visit):
        refusal(f"{server.address}voila/files/x?token={server.token}", Referer=server.opened)
        refusal(f"{server.address}api/kernels/no-such-k-er-nel?token={server.token}")
        assert server.log.read_text().count(server.token) == 1
        assert server.token not in visit.page
        family = [server.process, *server.process.children(recursive=True)]
        assert not any(server.token in " ".join([*each.cmdline(), *each.environ().values()]) for each in family)
        called = server.log.with_name("called")
        wait_for(called.exists, 30, "the browser to be called")
        opened = Path(called.read_text().removeprefix("file://"))
        assert server.token not in called.read_text() and server.token in opened.read_text()
        assert opened.parent.stat().st_mode & 0o077 == 0

    def test_page_may_connect_to_its_own_host_alone(self, server: Server, visit: Visit):
        with visit.opener.open(f"{server.address}voila/static/voila.js") as reply:
            policy = reply.headers["Content-Security-Policy"]
        host = server.address.split("/")[2]
        sources = re.search(r"connect-src ([^;]*)", policy)[1].split()
        assert set(sources) == {"'self'", f"ws://{host}", "data:", "blob:"}

    def test_who_has_the_token_comes_in_and_leaves_no_kernel(self, server: Server, visit: Visit):
        socket = connect(server, visit.kernel, cookie=visit.cookie, origin=server.address.rstrip("/"))
        assert refusal(f"{server.address}api/kernels/{visit.kernel}", opener=visit.opener) == 200
        socket.close()
        wait_for(lambda: not server.kernels(), 60, "the kernel to end with its connection")


class TestKernels:
    """Real kernels, empty ones."""

    @staticmethod
    def _run(folder: Path, work, **options: float) -> None:
        async def whole() -> None:
            config = Config({"KernelManager": {"transport": "ipc"}})
            kernels = PageKernels(connection_dir=str(folder), config=config, **options)
            try:
                await work(kernels)
            finally:
                await kernels.shutdown_all(now=True)

        asyncio.run(whole())

    def test_at_most_so_many_run_and_one_that_was_left_makes_way(self, tmp_path_factory: pytest.TempPathFactory):
        async def work(kernels: PageKernels) -> None:
            first, second = await kernels.start_kernel(), await kernels.start_kernel()
            kernels.notify_connect(first)
            with pytest.raises(tornado.web.HTTPError, match="2 pages of the explorer are open"):
                await kernels.start_kernel()
            kernels.notify_disconnect(first)
            third = await kernels.start_kernel()
            assert set(kernels.list_kernel_ids()) == {second, third}

        self._run(tmp_path_factory.mktemp("k"), work, most=2, patience=60)

    def test_each_ends_with_its_page_or_when_none_comes_or_when_it_is_idle(
        self, tmp_path_factory: pytest.TempPathFactory
    ):
        async def ended(kernels: PageKernels, kernel_id: str) -> None:
            async with asyncio.timeout(30):
                while kernel_id in kernels:
                    await asyncio.sleep(0.1)

        async def work(kernels: PageKernels) -> None:
            await ended(kernels, await kernels.start_kernel())
            kernels.longest_load = 60
            left = await kernels.start_kernel()
            for call in (kernels.notify_connect, kernels.notify_disconnect, kernels.notify_connect):
                call(left)
            await asyncio.sleep(3 * kernels.patience)
            assert left in kernels, "its page came back"
            kernels.notify_disconnect(left)
            await ended(kernels, left)
            kernels.cull_idle_timeout, kernels.cull_interval, kernels._initialized_culler = 1, 1, False
            idle = await kernels.start_kernel()
            kernels.notify_connect(idle)
            await ended(kernels, idle)

        self._run(tmp_path_factory.mktemp("k"), work, patience=0.2, longest_load=0.5, cull_idle_timeout=0)


class TestInABrowser:
    def test_first_answer_and_a_further_one_come_soon(self, shown: Shown):
        print(f"start to first answer {shown.seconds:.1f} s")
        assert shown.seconds < 90, "15 s on a machine that does nothing else"
        assert ask(shown.page, "A &", 1) < 10, "2 s on a machine that does nothing else"
        assert "6.5%" in shown.page.evaluate("document.querySelector('[data-part=answer]').innerText")
        marks = shown.page.evaluate("[...document.querySelectorAll('[data-part=contract] mark')].map(e => e.innerText)")
        assert any("6.5%" in each for each in marks), "the passage it rests on is marked"

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

    def test_controls_have_names_and_a_line_around_the_one_in_use(self, shown: Shown):
        nodes = shown.page.call("Accessibility.getFullAXTree")["nodes"]
        controls = [
            (node["role"]["value"], node["name"]["value"])
            for node in nodes
            if not node["ignored"] and node["role"]["value"] in ("combobox", "listbox", "textbox", "button", "tab")
        ]
        assert {"combobox", "textbox", "button", "tab"} <= {role for role, _ in controls}
        assert all(name for _, name in controls), controls
        for kind in ("keyDown", "keyUp"):
            shown.page.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        outline = shown.page.evaluate("getComputedStyle(document.activeElement).outline")
        assert "solid 3px" in outline

    def test_answer_is_as_wide_as_a_narrow_window(self, shown: Shown):
        ask(shown.page, "Clashing", 0)
        shown.page.call("Emulation.setDeviceMetricsOverride", width=380, height=900, deviceScaleFactor=1, mobile=False)
        place = "document.querySelector('[data-part=answer]').getBoundingClientRect()"
        shown.page.wait(f"innerWidth === 380 && {place}.right < innerWidth", 10)
        left, right = shown.page.evaluate(f"[{place}.left, {place}.right]")
        shown.page.call("Emulation.clearDeviceMetricsOverride")
        assert 0 < left < right < 380 and right - left > 280

    def test_upload_can_be_asked_about(self, shown: Shown, tmp_path: Path):
        path = tmp_path / "My <b>loan.txt"
        path.write_text(CLASHING.replace("5.25%", "7.75%"), encoding="utf-8")
        shown.page.upload(".widget-upload", path)
        shown.page.wait("document.querySelector('.ovx-status').innerText.includes('My <b>loan can be asked')", 30)
        assert "(1)" in shown.page.evaluate("document.querySelector('.widget-upload').innerText")
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

    def test_nothing_is_asked_of_another_machine(self, shown: Shown, server: Server):
        own = (server.address, "data:", "blob:")
        asked = [url for url in shown.page.requested if not url.startswith(own)]
        assert shown.page.requested and not asked

    def test_kernels_end_with_their_pages(self, shown: Shown, server: Server):
        """Reloaded 20 times, sometimes before the page is whole; the page says when its kernel is ended."""
        page = shown.page
        for number in range(20):
            page.evaluate("window.isOld = true")
            page.call("Page.reload")
            time.sleep(0.3)
            if number % 4 == 3:
                page.wait("!window.isOld && !!document.querySelector('.ovx-ask')", 120)
        wait_for(lambda: len(server.kernels()) <= 2, 30, "kernels of earlier pages to end")
        page.evaluate(
            """(() => {
                const values = new FormData();
                values.append("_xsrf", document.cookie.match("_xsrf=([^;]*)")[1]);
                const kernel = JSON.parse(document.querySelector("#jupyter-config-data").textContent).kernelId;
                fetch(`voila/api/shutdown/${kernel}`, {method: "POST", body: values});
            })()"""
        )
        page.wait("document.querySelector('.ovx-ended:not([hidden])')?.innerText.includes('Reload the page')", 60)
        page.call("Page.reload")
        page.wait("!!document.querySelector('.ovx-ask')", 120)
        page.call("Page.navigate", url="about:blank")
        wait_for(lambda: not server.kernels(), 30, "the last kernel to end with its page")
