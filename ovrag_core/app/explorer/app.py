"""The page of the explorer: its controls, and what happens when they are used.

A question is answered and a batch is run in threads of their own, so that the page stays usable meanwhile.
"""

from __future__ import annotations

import html
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import ipywidgets as widgets

from ovrag_core.app.explorer import desk as work
from ovrag_core.app.explorer import view
from ovrag_core.app.explorer.desk import Desk
from ovrag_core.base import ARM_NAMES, ArmName, Chunk, OvragError, QueryRecord, RunError
from ovrag_core.documents import SUFFIXES
from ovrag_core.loans import OUTCOMES, known_facts
from ovrag_core.runs import run_experiment

ARM_WORDS: dict[ArmName, str] = {
    "plain": "retrieves from all contracts; nothing is checked",
    "ovrag": "the published method: retrieves from all contracts, all loans are one, checked and corrected",
    "plain_scoped": "retrieves from the asked contract only; nothing is checked",
    "ovrag_scoped": "the published method on the asked contract only",
    "ovrag_evidence": "checked against the whole asked contract; tells whether answer or contract is at fault",
}
ALL = "all"
NO_QUERY = ("choose a query …", None)
READY = "Choose a contract and a question."
NONE_YET = "There are no contracts yet. Upload one, or make a small sample; the project's own come with make reproduce."
NO_RUN = "There is no run yet: make one in the tab Batch, or with make reproduce."

Place = tuple[str, str]  # collection and contract


def explorer(params: Path = Path("params.yaml")) -> widgets.Widget:
    """The page: ask a question, run a batch, look at a run; where the project cannot be opened, a sentence says why."""
    try:
        desk = work.open_desk(params)
    except OvragError as error:
        return widgets.HTML(view.style() + view.message(str(error), "bad"))
    runs = RunsTab(desk)
    batch = BatchTab(desk, runs.refresh)
    ask = AskTab(desk, batch.refresh)
    pages = {"Ask": ask.widget, "Batch": batch.widget, "Runs": runs.widget}
    tabs = widgets.Tab(list(pages.values()), titles=list(pages))
    return widgets.VBox([widgets.HTML(view.style()), tabs]).add_class("ovx")


class AskTab:
    """One question about one contract; `changed` is called when contracts were added."""

    def __init__(self, desk: Desk, changed: Callable[[], None]) -> None:
        self.desk, self.changed = desk, changed
        self.pool = ThreadPoolExecutor(1, "answer")
        self.contract = widgets.Dropdown(options=_places(desk), description="Contract")
        self.upload = widgets.FileUpload(
            accept=",".join(SUFFIXES), multiple=True, description="Upload contracts", icon=""
        )
        self.listed: tuple[Mapping[str, object], ...] = ()
        self.sample = widgets.Button(description="Make a small sample")
        self.sample.layout.display = "none" if desk.corpus else ""
        self.chosen = widgets.Dropdown(options=_listed(desk, "text"), description="Question")
        self.question = widgets.Textarea(value=self.chosen.value, rows=4, description="Wording")
        self.arm = widgets.Dropdown(options=ARM_NAMES, value="ovrag_evidence", description="Arm")
        self.arm_words = widgets.HTML(_soft(ARM_WORDS["ovrag_evidence"]))
        self.model = widgets.Dropdown(options=list(desk.models), description="Model")
        self.go = widgets.Button(description="Ask", button_style="primary", disabled=not _places(desk))
        self.status = widgets.HTML(view.message(READY if _places(desk) else NONE_YET))
        self.result = widgets.HTML()
        for widget, name in ((self.go, "ask"), (self.status, "status"), (self.sample, "sample")):
            widget.add_class(f"ovx-{name}")
        self.upload.observe(lambda change: self.take(change["new"]), "value")
        self.sample.on_click(lambda _: self.make_sample())
        self.chosen.observe(lambda change: setattr(self.question, "value", change["new"]), "value")
        self.arm.observe(lambda change: setattr(self.arm_words, "value", _soft(ARM_WORDS[change["new"]])), "value")
        self.go.on_click(lambda _: self.ask())
        if desk.corpus:
            self.pool.submit(self.warm, *self.contract.value)
        self.widget = _two_columns(
            [
                *(self.contract, self.upload, self.sample, self.chosen, self.question),
                *(self.arm, self.arm_words, self.model, self.go, self.status),
            ],
            [self.result],
        )

    def refresh(self, select: str | None) -> None:
        """List the contracts anew, and choose the added one of that id."""
        self.contract.options = _places(self.desk)
        self.contract.value = next(
            (choice for _, choice in self.contract.options if choice[1] == select), self.contract.value
        )
        self.go.disabled = not self.contract.options
        self.changed()

    def take(self, files: Sequence[Mapping[str, object]]) -> None:
        """Take in what was uploaded, and say of each file that cannot be read why."""
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
        self.listed = tuple({"name": name, **entry} for name in self.desk.collections.get(work.OWN, ()))
        self.upload.value = self.listed
        self.refresh(added[0] if added else None)
        words = " ".join([*([f"{', '.join(added)} can be asked about."] if added else []), *problems])
        self.status.value = view.message(words, "bad" if problems else "good")
        if added and self.model.value == work.OFFLINE:  # with a model, to index them may cost
            self.pool.submit(self.warm, work.OWN, added[0])

    def make_sample(self) -> None:
        """Generate a few contracts and offer them."""
        self.status.value = view.message("Contracts are written …")
        names = work.add_sample(self.desk)
        self.refresh(names[0])
        self.status.value = view.message(f"{len(names)} sample contracts can be asked about.", "good")

    def ask(self) -> None:
        """Have the question answered."""
        self.go.disabled = True
        self.status.value = view.message("Looking for an answer …")
        self.pool.submit(self.answer, self.model.value, self.contract.value, self.arm.value, self.question.value)

    def answer(self, model: str, place: Place, arm: ArmName, text: str) -> None:
        """Show the answer, or a sentence that says why there is none."""
        with _telling(self.status, "The question could not be answered", self.free):
            record, latency, bench = work.ask_about(self.desk, model, *place, arm, text, self.show_progress)
            facts = known_facts(record, bench) if record.outcome != "error" else ()
            document = bench.documents[place[1]]
            self.result.value = view.query_view(record, bench.index.chunk, document, latency, "ask", facts)
            self.status.value = view.message(f"Answered in {latency.total:.2f} s.", "good")

    def show_progress(self, done: int, whole: int) -> None:
        """Called between the passages that are embedded."""
        self.status.value = view.message(f"Passages are indexed: {done} of {whole} …")

    def free(self) -> None:
        """The next question can be asked."""
        self.go.disabled = False

    def warm(self, collection: str, contract: str) -> None:
        """Open what the first question needs before it is asked; what is wrong with it is told when it is.

        Offline the shown question is put to the contract, so that all is loaded and the contract read. At the end the
        status is what it was, unless a question has been asked meanwhile.
        """
        model, before = self.model.value, self.status.value
        with suppress(OvragError):
            work.bench_of(self.desk, model, collection, self.show_progress)
            if model == work.OFFLINE:
                work.ask_about(self.desk, model, collection, contract, self.arm.value, self.question.value)
        if not self.go.disabled:
            self.status.value = before


class BatchTab:
    """Several questions about several contracts, kept as a run; `done` is called when there is a new one."""

    def __init__(self, desk: Desk, done: Callable[[], None]) -> None:
        self.desk, self.done = desk, done
        self.stopping = threading.Event()
        self.contracts = _several("Contracts", _places(desk), 10)
        self.questions = _several("Questions", _listed(desk, "id"), 6)
        self.arms = _several("Arms", [(name, name) for name in ARM_NAMES], 6)
        self.questions.value, self.arms.value = tuple(question.id for question in desk.questions), ("ovrag_evidence",)
        self.model = widgets.Dropdown(options=list(desk.models), description="Model")
        self.name = widgets.Text(value=work.free_name(), description="Name of the run")
        self.start = widgets.Button(description="Run", button_style="primary")
        self.stop = widgets.Button(description="Stop", disabled=True)
        self.progress = widgets.IntProgress(layout=widgets.Layout(width="100%"))
        self.status = widgets.HTML(view.message("Mark contracts, questions and arms; Ctrl or Shift marks several."))
        self.result = widgets.HTML()
        for widget, name in ((self.contracts, "contracts"), (self.start, "run"), (self.status, "progress")):
            widget.add_class(f"ovx-{name}")
        self.start.on_click(lambda _: self.begin())
        self.stop.on_click(lambda _: self.stopping.set())
        self.widget = _two_columns(
            [self.contracts, self.questions, self.arms, self.model, self.name, self.start, self.stop],
            [self.progress, self.status, self.result],
        )

    def refresh(self) -> None:
        """List the contracts anew."""
        self.contracts.options = _places(self.desk)

    def begin(self) -> None:
        """Start the batch that is marked."""
        self.start.disabled, self.stop.disabled, self.progress.value = True, False, 0
        self.stopping.clear()
        self.status.value = view.message("Getting ready …")
        chosen = (self.model.value, self.contracts.value, self.questions.value, self.arms.value, self.name.value)
        threading.Thread(target=self.run, args=chosen, daemon=True).start()

    def run(
        self, model: str, places: Sequence[Place], questions: Sequence[str], arms: Sequence[str], name: str
    ) -> None:
        """Run the batch and show what came of it, or a sentence that says why it ended."""
        with _telling(self.status, "The batch ended", self.free):
            collection = _common_collection(places)
            contracts = [contract for _, contract in places]
            settings = work.batch_settings(
                self.desk, model, collection, run=name, arms=arms, contracts=contracts, questions=questions
            )
            run_experiment(settings, work.bench_of(self.desk, model, collection), watch=self.show_progress)
            records = work.open_run(name)
            self.result.value = view.run_view(records) + view.batch_view(records)
            self.progress.value = self.progress.max
            failed = sum(record.outcome == "error" for record in records)
            done = f"{failed} of {len(records)} queries ended in an error." if failed else "Done."
            notice = f"{done} The run {name} is kept; the tab Runs shows each query."
            self.status.value = view.message(notice, "bad" if failed else "good")
            self.name.value = work.free_name()
            self.done()

    def show_progress(self, kept: int, total: int) -> None:
        """Called after each answer; ends the batch where that is wished."""
        self.progress.max, self.progress.value = total, kept
        self.status.value = view.message(f"{kept} of {total} queries are answered.")
        if self.stopping.is_set() and kept < total:
            raise RunError(f"stopped after {kept} of {total} queries; run it again under the same name to go on")

    def free(self) -> None:
        """The next batch can be run."""
        self.start.disabled, self.stop.disabled = False, True


class RunsTab:
    """The results of a run, and each of its queries."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.records: list[QueryRecord] = []
        self.chunks: dict[str, Chunk] = {}
        self.run = widgets.Dropdown(description="Run")
        self.arm = widgets.Dropdown(options=[ALL], description="Arm")
        self.outcome = widgets.Dropdown(options=[ALL], description="Outcome")
        self.query = widgets.Dropdown(options=[NO_QUERY], description="Query")
        self.summary, self.result = widgets.HTML(), widgets.HTML()
        self.run.observe(lambda change: self.open(change["new"]), "value")
        self.arm.observe(lambda _: self.choose(), "value")
        self.outcome.observe(lambda _: self.choose(), "value")
        self.query.observe(lambda change: self.show(change["new"]), "value")
        row = widgets.HBox([self.run, self.arm, self.outcome, self.query]).add_class("controls")
        for widget, name in ((self.run, "run-name"), (self.query, "query")):
            widget.add_class(f"ovx-{name}")
        self.widget = widgets.VBox([row, self.summary, self.result])
        self.refresh()

    def refresh(self) -> None:
        """List the runs anew."""
        self.run.options = [("choose a run …", None), *((name, name) for name in work.runs_of())]
        self.summary.value = view.message("Choose a run." if self.run.options[1:] else NO_RUN)

    def open(self, run: str | None) -> None:
        """Show the results of the run of that name."""
        self.records, self.result.value = [], ""
        if run is not None:
            self.summary.value = view.message("Reading …")
            try:
                self.records = work.open_run(run)
                self.summary.value = view.run_view(self.records)
            except OvragError as error:
                self.summary.value = view.message(str(error), "bad")
            self.chunks = work.stored_chunks()
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
        document = work.document_of(self.desk, record.document_id)
        self.result.value = view.query_view(record, self.chunks.get, document, name="runs")


@contextmanager
def _telling(status: widgets.HTML, what: str, done: Callable[[], None]) -> Iterator[None]:
    """Tell on the page what goes wrong in a thread, since nobody sees a thread end; call `done` in any case."""
    try:
        yield
    except OvragError as error:
        status.value = view.message(str(error), "bad")
    except BaseException as error:
        status.value = view.message(f"{what} ({type(error).__name__}: {error}).", "bad")
        raise
    finally:
        done()


def _two_columns(controls: Sequence[widgets.Widget], results: Sequence[widgets.Widget]) -> widgets.Widget:
    """Controls beside what comes of them; in a narrow window above it. The style sheet has their sizes."""
    return widgets.HBox([widgets.VBox(controls).add_class("controls"), widgets.VBox(results)]).add_class("columns")


def _listed(desk: Desk, value: str) -> list[tuple[str, str]]:
    """The questions as a list shows them, each with its `value`, id or text."""
    return [(f"{asked.id}: {asked.topic or asked.text}", getattr(asked, value)) for asked in desk.questions]


def _places(desk: Desk) -> list[tuple[str, Place]]:
    """The contracts as a list shows them: those that were added say to what they belong."""
    return [
        (name if collection == work.CORPUS else f"{name} ({collection})", (collection, name))
        for collection, names in work.collections_of(desk).items()
        for name in names
    ]


def _common_collection(places: Sequence[Place]) -> str:
    collections = sorted({collection for collection, _ in places})
    if not collections:
        raise RunError("no contract is chosen; mark at least one")
    if len(collections) > 1:
        raise RunError(f"a batch is about {' or '.join(collections)}, not both; mark contracts of one")
    return collections[0]


def _several(name: str, options: Sequence[tuple[str, object]], rows: int) -> widgets.SelectMultiple:
    return widgets.SelectMultiple(options=options, rows=rows, description=name)


def _soft(text: str) -> str:
    return f'<div class="ovx"><p class="soft">{html.escape(text)}.</p></div>'
