"""The page of the explorer: its controls, and what happens when they are used."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import ipywidgets as widgets

from ovrag_core.app.explorer import desk as work
from ovrag_core.app.explorer import view
from ovrag_core.app.explorer.desk import Desk
from ovrag_core.base import ARM_NAMES, ArmName, Chunk, CorpusError, DocumentError, OvragError, QueryRecord, RunError
from ovrag_core.documents import SUFFIXES, load
from ovrag_core.loans import OUTCOMES, known_facts
from ovrag_core.retrieval import INDEX, read_chunks
from ovrag_core.runs import RUNS, read_run, run_files

ARM_WORDS: dict[ArmName, str] = {
    "plain": "retrieves from all contracts; nothing is checked",
    "ovrag": "the published method: retrieves from all contracts, all loans are one, checked and corrected",
    "plain_scoped": "retrieves from the asked contract only; nothing is checked",
    "ovrag_scoped": "the published method on the asked contract only",
    "ovrag_evidence": "checked against the whole asked contract; tells whether answer or contract is at fault",
}
ALL = "all"
PARTS_OF_RUNS = (".latency.jsonl", ".partial.jsonl")
NO_QUERY = ("choose a query …", None)
READY = "Choose a contract and a question."
NONE_YET = "There are no contracts yet. Upload one; the project's own come with make reproduce."
NO_RUN = "There is no run yet: make one with ovrag run, or with make reproduce."

Place = tuple[str, bool]  # contract, and whether it was uploaded


def explorer(params: Path = Path("params.yaml")) -> widgets.Widget:
    """The page: ask a question, look at a run; where the project cannot be opened, a sentence says why."""
    try:
        desk = work.open_desk(params)
    except OvragError as error:
        return widgets.HTML(view.style() + view.message(str(error), "bad"))
    pages = {"Ask": AskTab(desk).widget, "Runs": RunsTab(desk).widget}
    tabs = widgets.Tab(list(pages.values()), titles=list(pages))
    return widgets.VBox([widgets.HTML(view.style()), tabs]).add_class("ovx")


class AskTab:
    """One question about one contract, answered in a thread of its own, so that the page stays usable meanwhile."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.pool = ThreadPoolExecutor(1, "answer")
        self.contract = widgets.Dropdown(options=_places(desk), description="Contract")
        self.upload = widgets.FileUpload(
            accept=",".join(SUFFIXES), multiple=True, description="Upload contracts", icon=""
        )
        self.listed: tuple[Mapping[str, object], ...] = ()
        asked = [(f"{question.id}: {question.topic or question.text}", question.text) for question in desk.questions]
        self.chosen = widgets.Dropdown(options=asked, description="Question")
        self.question = widgets.Textarea(value=self.chosen.value, rows=4, description="Wording")
        self.arm = widgets.Dropdown(options=ARM_NAMES, value="ovrag_evidence", description="Arm")
        self.arm_words = widgets.HTML(_soft(ARM_WORDS["ovrag_evidence"]))
        self.model = widgets.Dropdown(options=list(desk.models), description="Model")
        self.go = widgets.Button(description="Ask", button_style="primary", disabled=not _places(desk))
        self.go.add_class("ovx-ask")
        self.status = widgets.HTML(view.message(READY if _places(desk) else NONE_YET)).add_class("ovx-status")
        self.result = widgets.HTML()
        self.upload.observe(lambda change: self.take(change["new"]), "value")
        self.chosen.observe(lambda change: setattr(self.question, "value", change["new"]), "value")
        self.arm.observe(lambda change: setattr(self.arm_words, "value", _soft(ARM_WORDS[change["new"]])), "value")
        self.go.on_click(lambda _: self.ask())
        controls = [self.contract, self.upload, self.chosen, self.question, self.arm, self.arm_words, self.model]
        columns = [widgets.VBox([*controls, self.go, self.status]).add_class("controls"), widgets.VBox([self.result])]
        self.widget = widgets.HBox(columns).add_class("columns")  # the style sheet has their sizes

    def take(self, files: Sequence[Mapping[str, object]]) -> None:
        """Take in what was uploaded, choose the first of it, and say of each file that cannot be read why."""
        if tuple(files) == self.listed:
            return
        added, problems = [], []
        for file in files:
            try:
                added.append(work.add_upload(self.desk, str(file["name"]), bytes(cast(memoryview, file["content"]))).id)
            except OvragError as error:
                problems.append(str(error))
        # The button counts its value: all that is held, without the content. The same file can be chosen again.
        then = datetime.fromtimestamp(0, tz=UTC)
        entry = {"type": "", "size": 0, "content": memoryview(b""), "last_modified": then}
        self.listed = tuple({"name": name, **entry} for name in self.desk.uploads)
        self.upload.value = self.listed
        self.contract.options = _places(self.desk)
        if added:
            self.contract.value = (added[0], True)
        self.go.disabled = not self.contract.options
        words = " ".join([*([f"{', '.join(added)} can be asked about."] if added else []), *problems])
        self.status.value = view.message(words, "bad" if problems else "good")

    def ask(self) -> None:
        """Have the question answered."""
        self.go.disabled = True
        self.status.value = view.message("Looking for an answer …")
        self.pool.submit(self.answer, self.model.value, self.contract.value, self.arm.value, self.question.value)

    def answer(self, model: str, place: Place, arm: ArmName, text: str) -> None:
        """Show the answer, or a sentence that says why there is none: nobody sees a thread end."""
        try:
            record, latency, bench = work.ask_about(self.desk, model, *place, arm, text)
            facts = known_facts(record, bench) if record.outcome != "error" else ()
            document = bench.documents[place[0]]
            self.result.value = view.query_view(record, bench.index.chunk, document, latency, "ask", facts)
            self.status.value = view.message(f"Answered in {latency.total:.2f} s.", "good")
        except OvragError as error:
            self.status.value = view.message(str(error), "bad")
        except BaseException as error:
            words = f"The question could not be answered ({type(error).__name__}: {error})."
            self.status.value = view.message(words, "bad")
            raise
        finally:
            self.go.disabled = False


class RunsTab:
    """The results of a run, and each of its queries."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.records: list[QueryRecord] = []
        self.chunks: dict[str, Chunk] = {}
        self.run = widgets.Dropdown(description="Run").add_class("ovx-run-name")
        self.arm = widgets.Dropdown(options=[ALL], description="Arm")
        self.outcome = widgets.Dropdown(options=[ALL], description="Outcome")
        self.query = widgets.Dropdown(options=[NO_QUERY], description="Query").add_class("ovx-query")
        self.summary, self.result = widgets.HTML(), widgets.HTML()
        self.run.observe(lambda change: self.open(change["new"]), "value")
        self.arm.observe(lambda _: self.choose(), "value")
        self.outcome.observe(lambda _: self.choose(), "value")
        self.query.observe(lambda change: self.show(change["new"]), "value")
        row = widgets.HBox([self.run, self.arm, self.outcome, self.query]).add_class("controls")
        self.widget = widgets.VBox([row, self.summary, self.result])
        files = [path for path in RUNS.glob("*.jsonl") if not path.name.endswith(PARTS_OF_RUNS)]
        files.sort(key=lambda path: (-path.stat().st_mtime, path.name))  # the last one made first
        self.run.options = [("choose a run …", None), *((path.stem, path.stem) for path in files)]
        self.summary.value = view.message("Choose a run." if files else NO_RUN)

    def open(self, run: str | None) -> None:
        """Show the results of the run of that name."""
        self.records, self.result.value = [], ""
        if run is not None:
            self.summary.value = view.message("Reading …")
            try:
                self.records = read_run(run_files(run).records)
                if not self.records:
                    raise RunError(f"the run {run} holds no query; choose another")
                self.summary.value = view.run_view(self.records)
            except OvragError as error:
                self.summary.value = view.message(str(error), "bad")
            with suppress(CorpusError):  # without the index, queries are shown without the chunks' text
                self.chunks = {chunk.id: chunk for chunk in read_chunks(INDEX / "chunks.jsonl")}
        self.arm.options = [ALL, *dict.fromkeys(record.arm for record in self.records)]
        outcomes = {record.outcome for record in self.records}
        self.outcome.options = [(ALL, ALL), *((words, name) for name, words in OUTCOMES.items() if name in outcomes)]
        self.choose()

    def choose(self) -> None:
        """List the queries of the chosen arm and outcome."""
        rows = [
            (f"{record.document_id}, {record.question_id}, {record.arm}", number)
            for number, record in enumerate(self.records)
            if self.arm.value in (ALL, record.arm) and self.outcome.value in (ALL, record.outcome)
        ]
        self.query.options = [NO_QUERY, *rows]

    def show(self, place: int | None) -> None:
        """Show the query at that place of the run."""
        if place is None or place >= len(self.records):
            self.result.value = ""
            return
        record = self.records[place]
        document = self.desk.uploads.get(record.document_id)
        if document is None and (path := self.desk.corpus.get(record.document_id)):
            with suppress(DocumentError):
                document = load(path)
        self.result.value = view.query_view(record, self.chunks.get, document, name="runs")


def _places(desk: Desk) -> list[tuple[str, Place]]:
    """The contracts as a list shows them: uploaded ones first, which it says of them."""
    uploaded = [(f"{name} (uploaded)", (name, True)) for name in sorted(desk.uploads)]
    return [*uploaded, *((name, (name, False)) for name in sorted(desk.corpus))]


def _soft(text: str) -> str:
    return f'<div class="ovx"><p class="soft">{html.escape(text)}.</p></div>'
