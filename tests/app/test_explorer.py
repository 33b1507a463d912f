"""The explorer: what it shows is escaped, what is missing is said in a sentence, and it works in a real browser."""

import contextlib
import html
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener, urlopen

import pytest
import websocket
from browser import Page, Server, open_browser, require_browser, serve_explorer

from ovrag_core.app.explorer import desk as work
from ovrag_core.app.explorer import view
from ovrag_core.app.explorer.app import AskTab, RunsTab, explorer
from ovrag_core.base.errors import DocumentError, QuestionError, SettingsError
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
from ovrag_core.loans.workbench import documents_bench
from ovrag_core.loop.answering import NO_ANSWER
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
        for part in (view.run_view([record]), view.message(ATTACK, ATTACK)):
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
        assert "accepted" not in view.run_view([fine])

    def test_run_of_errors_says_so(self):
        record, _, _ = a_record("x")
        failed = record.model_copy(update={"attempts": (), "outcome": "error", "error": "no reply <b>"})
        page = view.run_view([failed] * 3)
        assert "3 of 3 queries ended in an error" in page and "no reply &lt;b&gt;" in page
        part = view.run_view([failed, record])
        assert "1 of 2 queries ended in an error" in part and part.count('<td class="n">1</td>') == 2
        assert "ended in an error" not in view.run_view([record])


class TestDesk:
    def test_without_contracts_a_sentence_says_what_to_do(self, empty: Path):
        tab = AskTab(work.open_desk())
        assert "There are no contracts yet" in tab.status.value and tab.go.disabled
        assert "There is no run yet" in RunsTab(tab.desk).summary.value

    def test_upload_that_cannot_be_read_is_one_sentence(
        self, inside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        desk = work.open_desk()
        for name, content in (("scan.pdf", b"%PDF-1.7 broken"), ("../../evil.txt", b""), ("a.exe", b"MZ\0\0")):
            with pytest.raises(DocumentError, match=Path(name).name) as caught:
                work.add_upload(desk, name, content)
            assert "upload-" not in str(caught.value) and "\n" not in str(caught.value)
        assert not desk.uploads
        assert list(tmp_path.iterdir()) == []

    def test_button_counts_what_is_held_and_takes_a_file_again(self, inside: Path):
        tab = AskTab(work.open_desk())

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
        assert AskTab(desk).contract.options[0] == ("My loan (uploaded)", ("My loan", True))

    def test_index_of_the_project_is_used_until_a_contract_is_changed(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        made: list[object] = []
        monkeypatch.setattr(work, "documents_bench", lambda *given: made.append(given) or documents_bench(*given))
        project = tmp_path / "project"
        shutil.copytree(folder, project)
        with contextlib.chdir(project):
            index_documents(load_settings(), Path("own"))
            for rate in ("5.25%", "7.75%"):
                Path("own", "Clashing.txt").write_text(CLASHING.replace("5.25%", rate), encoding="utf-8")
                question = ("offline", "Clashing", False, "plain_scoped", "What is the interest rate?")
                record, _, bench = work.ask_about(work.open_desk(), *question)
                bench.close()
                assert record.answer is not None and rate in record.answer.text
                assert len(made) == (rate == "7.75%"), "indexed anew only after the change"

    def test_empty_question_is_refused(self, inside: Path):
        with pytest.raises(QuestionError, match="empty"):
            work.ask_about(work.open_desk(), "offline", "Clashing", False, "plain", "  ")

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
    """The explorer over the small project."""
    with serve_explorer(folder, tmp_path_factory.mktemp("server") / "log") as server:
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


def answer_to(address: str) -> str:
    """What is answered, redirections followed; empty for a refusal."""
    try:
        with urlopen(address, timeout=60) as reply:
            return reply.read().decode()
    except HTTPError:
        return ""


def refusal(address: str, method: str = "GET", opener: OpenerDirector | None = None, **headers: str) -> int:
    """The status of an answer, redirections followed."""
    request = Request(address, method=method, headers=headers)
    try:
        with (opener.open if opener else urlopen)(request, timeout=60) as reply:
            return reply.status
    except HTTPError as error:
        return error.code


def connect(server: Server, kernel: str, **options: object) -> websocket.WebSocket:
    address = server.address.replace("http://", "ws://")
    return websocket.create_connection(f"{address}api/kernels/{kernel}/channels", timeout=30, **options)


def test_who_has_no_token_or_comes_by_another_name_or_from_another_page_is_refused(server: Server):
    cookies = HTTPCookieProcessor()
    opener = build_opener(cookies)
    with opener.open(server.opened, timeout=240) as reply:
        page = reply.read().decode()
        assert "connect-src" not in reply.headers["Content-Security-Policy"], "default-src 'self' says it of all"
    kernel = re.search(r'"kernelId": "([\w-]+)"', html.unescape(page))[1]
    cookie = "; ".join(f"{each.name}={each.value}" for each in cookies.cookiejar)
    for way in ("", "api/kernels", f"api/kernels/{kernel}", f"api/kernels/{kernel}/channels"):
        for query in ("", f"?token={'0' * len(server.token)}"):
            assert "kernelId" not in answer_to(server.address + way + query)
        assert refusal(f"{server.address}{way}?token={server.token}", Host="rebound.example:80") == 403
    for way in ("voila/files/00_explorer.ipynb", "voila/files/..%2Fparams.yaml", "voila/static/..%2F..%2Fapp.py"):
        assert refusal(server.address + way, opener=opener) in (403, 404), "no file of the project is served"
    own = server.address.rstrip("/")
    for refused in ({"origin": own}, {"cookie": cookie, "origin": "http://evil.example"}):
        with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
            connect(server, kernel, **refused)
    socket = connect(server, kernel, cookie=cookie, origin=own)
    assert refusal(f"{server.address}api/kernels/{kernel}", opener=opener) == 200
    socket.close()


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

    def test_nothing_is_asked_of_another_machine(self, shown: Shown, server: Server):
        own = (server.address, "data:", "blob:")
        asked = [url for url in shown.page.requested if not url.startswith(own)]
        assert shown.page.requested and not asked
