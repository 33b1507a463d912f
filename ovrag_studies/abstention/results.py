"""Tables, figures and macros of the study, each with the note that says what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import pandas
from matplotlib.figure import Figure

from ovrag_core.base.project import project_file
from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.statistics import Difference, Estimate, Resampling
from ovrag_core.report import numbers
from ovrag_core.report.figures import FIGURES, save_figure
from ovrag_core.report.tables import TABLES, Note, write_table
from ovrag_core.retrieval.embedding import Embedder
from ovrag_studies.abstention import multiple_choice, pictures
from ovrag_studies.abstention.cards import LABELS
from ovrag_studies.abstention.experiments import CONSTANTS, Ranked, open_world
from ovrag_studies.abstention.metrics import (
    ANSWERS,
    COLUMNS,
    CORRECTED,
    PUBLISHED,
    Outcome,
    by_kind,
    compare_all,
    count,
    estimates,
    references,
    risk_coverage,
    share_estimate,
    values,
)
from ovrag_studies.abstention.recorded import METRICS, published
from ovrag_studies.abstention.settings import epistemic
from ovrag_studies.abstention.shortcuts import Shortcut, best
from ovrag_studies.abstention.study import Answered

FOLDER = "epistemic"
MODEL = "none but all-MiniLM-L6-v2 for vectors"
LICENSED = "Graph-RAG with licence"
CONSTANT = tuple(f"always {answer}" for answer in CONSTANTS.values())
SHOWN = ("LA*", "CVRR*", "FAR*", "false YES", "AR*", "accuracy", "macro-F1")
IN_BRIEF = ("LA*", "CVRR*", "FAR*", "AR*", "accuracy")
AS_PUBLISHED = ("AP", "CVRR", "FAR-NE", "LA", "overall")
FORMS = {"LA": "LA*", "CVRR": "CVRR*", "FAR-NE": "FAR*", "AP": "AP*"}
SHORT = ("YES", "NO", "UNKNOWN", "none")
MEANING = (
    "LA*: entailed cards answered YES; CVRR*: contradicted ones answered NO; FAR*: YES where not entailed, or NO where "
    "unknown; AR*: unknown ones left open"
)

Measured = Mapping[str, Mapping[str, Estimate]]


@dataclass(frozen=True, slots=True)
class Book:
    """Where results go, how wide figures are, how intervals are made, and the chat model, if one was asked."""

    plan: Resampling
    width: float
    chat: str = ""
    tables: Path = TABLES
    figures: Path = FIGURES

    def note(self, answered: Answered, arm: str, *, interval: bool = True, more: str = "") -> Note:
        """What a result on the cards of a source rests on."""
        made = self.intervals(answered.clusters)
        n = f"{len(answered.cards)} cards on {answered.world.domain.name}"
        return Note(f"{MODEL}{self.chat and f'; {self.chat}'}", arm, n, made if interval else "", more)

    def intervals(self, clusters: int) -> str:
        """How intervals are made."""
        plan = self.plan
        return f"{plan.confidence:.0%}, bootstrap over {clusters} clusters of joined things, {plan.samples} resamples"


def open_book(settings: Settings) -> Book:
    """The book of the settings."""
    drawn = epistemic(settings).experiments
    chat = "" if settings.llm.provider == "offline" else settings.llm.model
    plan = Resampling(drawn.bootstrap_samples, drawn.confidence, drawn.seed)
    return Book(plan, settings.figures.text_width_inches, chat)


def measure(book: Book, answered: Answered) -> dict[str, dict[str, Estimate]]:
    """Every figure of every arm with its interval."""
    return {arm: estimates(outcomes, book.plan) for arm, outcomes in answered.outcomes.items()}


def _table(
    book: Book, frame: pandas.DataFrame, name: str, caption: str, note: Note, full: pandas.DataFrame | None = None
) -> pandas.DataFrame:
    (book.tables / FOLDER).mkdir(parents=True, exist_ok=True)
    headers = {str(column): str(column) for column in frame.columns}
    return write_table(frame, f"{FOLDER}/{name}", caption, note, folder=book.tables, headers=headers, full=full)


def _figure(book: Book, fig: Figure, name: str, caption: str, note: Note) -> Path:
    (book.figures / FOLDER).mkdir(parents=True, exist_ok=True)
    return save_figure(fig, f"{FOLDER}/{name}", caption=caption, note=note, folder=book.figures)


def _bounds(name: str, found: Estimate | Difference) -> dict[str, float | None]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _row(found: Mapping[str, Estimate], names: Sequence[str]) -> dict[str, float | None]:
    return {column: value for name in names for column, value in _bounds(name, found[name]).items()}


# -- cards ------------------------------------------------------------------------------------------------------------


def cards_table(book: Book, answered: Answered) -> pandas.DataFrame:
    """The cards by kind, with an example of each: `cards`."""
    kinds = Counter(card.subtype for card in answered.cards)
    first = {card.subtype: card for card in reversed(answered.cards)}
    ordered = sorted(kinds, key=lambda kind: (LABELS.index(first[kind].label), list(kinds).index(kind)))
    rows = [
        {"label": first[kind].label, "kind": kind, "cards": kinds[kind], "an example": first[kind].question}
        for kind in ordered
    ]
    note = Note("none", "none", f"{len(answered.cards)} cards on {answered.world.domain.name}", more=_made(answered))
    caption = "Cards by kind: entailed (E), contradicted (C), neither (U)."
    return _table(book, pandas.DataFrame(rows), "cards", caption, note)


def _made(answered: Answered) -> str:
    return "Made from the graph" if answered.source.cards is None else "Taken from a file"


def shortcuts_table(book: Book, answered: Answered, found: Sequence[Shortcut]) -> pandas.DataFrame:
    """What is scored without reading a fact through: `shortcuts`."""
    rows: list[dict[str, object]] = [
        {"shortcut": each.name, **_bounds("accuracy", each.accuracy), "over majority": each.gain} for each in found
    ]
    more = (
        f"The most frequent answer is right for {found[0].majority:.3f}. Learned ones are fitted to other clusters. "
        "Whether any fact is about the subject is part of the question, and no shortcut around it"
    )
    note = book.note(answered, "each shortcut", more=more)
    return _table(book, pandas.DataFrame(rows), "shortcuts", "What shortcuts score on the cards.", note)


# -- arms -------------------------------------------------------------------------------------------------------------


def arms_table(book: Book, answered: Answered, found: Measured) -> pandas.DataFrame:
    """The corrected metrics of each arm; the CSV has all metrics: `arms`."""
    rows = [{"arm": arm, **_row(each, SHOWN[:-1])} for arm, each in found.items()]
    full = [{"arm": arm, "cards": len(answered.cards), **_row(each, list(each))} for arm, each in found.items()]
    note = book.note(answered, "each", more=MEANING)
    caption = "Who answers, who rejects and who stays silent: corrected metrics."
    return _table(book, pandas.DataFrame(rows), "arms", caption, note, full=pandas.DataFrame(full))


def published_table(book: Book, answered: Answered, found: Measured) -> pandas.DataFrame:
    """The published metrics of each arm, with what was recorded and published: `published`."""
    rows: list[dict[str, object]] = [{"arm": arm, **_row(each, AS_PUBLISHED)} for arm, each in found.items()]
    theirs = published()
    rows += [{"arm": f"{name} (recorded)", **run.metrics} for name, run in theirs.recorded.items()]
    rows.append({"arm": "licensed, its paper (published)", **{name: theirs.paper[name] for name in METRICS}})
    more = f"YES or NO counts as an answer, right or wrong. Recorded and published: other cards, {theirs.source}"
    note = book.note(answered, "each", more=more)
    caption = "The same answers by the published metrics."
    return _table(book, pandas.DataFrame(rows), "published", caption, note)


def references_table(book: Book, answered: Answered) -> pandas.DataFrame:
    """What perfect and constant systems score by both forms of the metrics: `references`."""
    given = references(next(iter(answered.outcomes.values())))
    names = ("AP", "CVRR", "FAR-NE", "LA", "overall", "AP*", "CVRR*", "FAR*", "LA*", "accuracy", "macro-F1")
    rows = []
    for system, outcomes in given.items():
        found = values(outcomes)
        rows.append({"system": system, **{name: found[name] for name in names}})
    more = "Left the published form, right the corrected one. The published form gives a system that makes no mistake"
    more += " a CVRR of 0, and one that never answers a CVRR of 1"
    note = book.note(answered, "systems that cannot be but as they are", interval=False, more=more)
    caption = "A perfect system and constant ones by both forms of the metrics."
    return _table(book, pandas.DataFrame(rows), "references", caption, note)


def forms_figure(book: Book, answered: Answered, found: Measured) -> Path:
    """Published beside corrected metrics, by arm, a perfect system above: `forms`."""
    perfect = references(next(iter(answered.outcomes.values())))["perfect"]
    rows = {"perfect": estimates(perfect, book.plan), **found}
    fig = pictures.forms(rows, FORMS, book.width)
    more = "Hollow squares: as published; points: corrected, with interval. A perfect system shows what each can say"
    note = book.note(answered, "each", more=more)
    return _figure(book, fig, "forms", "Published and corrected metrics of the same answers.", note)


def confusion_figure(book: Book, answered: Answered) -> Path:
    """Tables of gold against answered, by arm: `confusion`."""
    counted = {arm: count(outcomes) for arm, outcomes in answered.outcomes.items() if arm not in CONSTANT}
    columns = len(COLUMNS) if any(each[:, -1].any() for each in counted.values()) else len(ANSWERS)
    tables = {
        arm: pandas.DataFrame(each[:, :columns], index=list(LABELS), columns=list(SHORT[:columns]))
        for arm, each in counted.items()
    }
    fig = pictures.confusion(tables, book.width)
    more = "Rows: entailed, contradicted, neither; columns: answers, right ones on the diagonal. None: no usable answer"
    note = book.note(answered, "each", interval=False, more=more)
    return _figure(book, fig, "confusion", "What the arms said of which cards.", note)


def kinds_table(book: Book, answered: Answered) -> pandas.DataFrame:
    """Accuracy of each arm by kind of card: `kinds`."""
    frame = _by_kind(answered)
    counts = Counter(card.subtype for card in answered.cards)
    shown = frame.reset_index(names="kind")
    shown.insert(1, "cards", [counts[kind] for kind in shown["kind"]])
    note = book.note(answered, "each", interval=False)
    brief = {arm: arm.replace("RAG by ", "").replace(" with licence", "") for arm in frame.columns}
    narrow = shown.rename(columns=brief)
    return _table(book, narrow, "kinds", "Share answered rightly, by kind of card and arm.", note, full=shown)


def _by_kind(answered: Answered) -> pandas.DataFrame:
    columns = {}
    for arm, outcomes in answered.outcomes.items():
        if arm not in CONSTANT:
            kinds = by_kind(outcomes)
            columns[arm] = {kind: float(numpy.mean([each.right for each in part])) for kind, part in kinds.items()}
    return pandas.DataFrame(columns)


def paired_table(book: Book, answered: Answered, arm: str = LICENSED) -> pandas.DataFrame:
    """One arm against each other one, card by card: `paired`; without rows where the arm was not asked."""
    ours = answered.outcomes.get(arm, ())
    others = {name: (ours, theirs) for name, theirs in answered.outcomes.items() if ours and name != arm}
    rows: list[dict[str, object]] = []
    for name, (found, holm) in compare_all(others, book.plan).items():
        right = {f"{arm} alone right": found.cards.first_only, "the other alone": found.cards.second_only}
        rows.append({"against": name, **right, "Holm p": holm, **_bounds("difference", found.accuracy)})
    names = ["against", f"{arm} alone right", "the other alone", "Holm p", "difference"]
    frame = pandas.DataFrame(rows, columns=[*names, "difference_low", "difference_high"])
    more = "p: exact McNemar over cards, after Holm's adjustment; difference: of accuracy, over clusters"
    note = book.note(answered, f"{arm} against each", more=more)
    return _table(book, frame, "paired", f"{arm} against the others on the same cards.", note)


# -- risk and coverage ------------------------------------------------------------------------------------------------


def risk_table(book: Book, answered: Answered, found: Measured) -> pandas.DataFrame:
    """How well confidence ranks answers: `risk`."""
    rows: list[dict[str, object]] = []
    for arm, outcomes in answered.outcomes.items():
        curve = risk_coverage(outcomes)
        own = {"answered": curve.answered, "wrong of those": curve.own_risk}
        rows.append({"arm": arm, **own, **_row(found[arm], ("AURC", "excess AURC"))})
    more = (
        "AURC: mean share of errors over all coverages, the surest first; what was not answered counts as an error. "
        "Excess: over that of a perfect ranking"
    )
    note = book.note(answered, "each", more=more)
    return _table(book, pandas.DataFrame(rows), "risk", "Risk and coverage of the arms.", note)


def risk_figure(book: Book, answered: Answered) -> Path:
    """Errors among the surest answers: `risk`."""
    curves = {arm: risk_coverage(each) for arm, each in answered.outcomes.items() if arm not in CONSTANT}
    answerable = sum(card.gold != "UNKNOWN" for card in answered.cards)
    fig = pictures.risk_and_coverage(curves, answerable, book.width)
    more = "To the mark an arm answers by itself, beyond it is made to. Below the dotted line nobody can be"
    note = book.note(answered, "each", interval=False, more=more)
    return _figure(book, fig, "risk", "Share of errors among the surest answers.", note)


# -- retrieval, other domains, other questions ------------------------------------------------------------------------


def retrieval_table(book: Book, answered: Answered, found: Sequence[Ranked]) -> pandas.DataFrame:
    """How often the passage that settles a card is found: `retrieval`."""
    rows: list[dict[str, object]] = []
    for way, places in (
        ("words and vectors", [each.fused for each in found]),
        ("vectors alone", [each.vectors for each in found]),
    ):
        row: dict[str, object] = {"retrieval": way}
        for name, most in (("in the first", 1), ("in the first five", 5)):
            hits = [place is not None and place <= most for place in places]
            row |= _bounds(name, _share(found, hits, book.plan))
        rows.append(row)
    frame = pandas.DataFrame(rows)
    n = f"{len(found)} cards that a passage settles, on {answered.world.domain.name}"
    clusters = len({each.cluster for each in found})
    note = Note(MODEL, "retrieval", n, book.intervals(clusters))
    return _table(book, frame, "retrieval", "The right passage among those retrieved.", note)


def _share(found: Sequence[Ranked], hits: Sequence[bool], plan: Resampling) -> Estimate:
    outcomes = [
        Outcome(each.card.id, "YES", "YES" if hit else "NO", cluster=each.cluster)
        for each, hit in zip(found, hits, strict=True)
    ]
    return share_estimate(CORRECTED["accuracy"], outcomes, plan)


def domains_table(book: Book, others: Sequence[Answered]) -> pandas.DataFrame:
    """The corrected metrics on the other sources: `domains`."""
    rows = [
        {"source": each.name, "arm": arm, **_row(found, IN_BRIEF)}
        for each in others
        for arm, found in measure(book, each).items()
        if arm not in CONSTANT
    ]
    n = ", ".join(f"{len(each.cards)} cards on {each.name} ({each.clusters} clusters)" for each in others) or "0 cards"
    made = f"{book.plan.confidence:.0%}, bootstrap over clusters of joined things, {book.plan.samples} resamples"
    note = Note(MODEL, "each", n, made, "The same code: only the file of the domain and the graph are others")
    columns = ["source", "arm", *(f"{name}{end}" for name in IN_BRIEF for end in ("", "_low", "_high"))]
    frame = pandas.DataFrame(rows, columns=columns)
    return _table(book, frame, "domains", "The same arms on other domains.", note)


def choices_table(answered: Answered, embedder: Embedder) -> pandas.DataFrame:
    """What is said of right and wrong options of multiple-choice questions; empty where the source has none.

    They come from other text and may be about anything: the graph is asked with nothing hidden.
    """
    choices = answered.source.choices
    if choices is None:
        return pandas.DataFrame(columns=["options", *ANSWERS])
    world = open_world(answered.source.model_copy(update={"hidden": None}), embedder)
    judged = multiple_choice.judge(world, multiple_choice.read_questions(choices, project_file(choices.path)))
    counted = multiple_choice.counts(judged)
    rows = {
        kind: {str(answer): number for (of, answer), number in counted.items() if of is right}
        for kind, right in (("right", True), ("wrong", False))
    }
    return pandas.DataFrame(rows).T.reset_index(names="options")


def latency_table(book: Book, answered: Answered) -> pandas.DataFrame:
    """The seconds that an answer takes, which differ from run to run: `latency`."""
    seconds: dict[str, list[float]] = {}
    for record, taken in zip(answered.run.records, answered.run.seconds, strict=True):
        seconds.setdefault(record.arm, []).append(1000 * taken)
    rows = [
        {"arm": arm, "median": float(numpy.median(taken)), "95th percentile": float(numpy.quantile(taken, 0.95))}
        for arm, taken in seconds.items()
    ]
    note = book.note(answered, "each", interval=False, more="Milliseconds of the clock, with the cards embedded before")
    return _table(book, pandas.DataFrame(rows), "latency", "Milliseconds for one answer.", note)


# -- prose ------------------------------------------------------------------------------------------------------------


def numbers_file(book: Book, answered: Answered, found: Measured, short: Sequence[Shortcut]) -> Path:
    """The headline figures as macros, each beginning with `Epistemic`: `numbers.tex`."""
    told = {"cards": str(len(answered.cards)), "clusters": str(answered.clusters)}
    told["best shortcut"] = numbers.number(best(short).accuracy.value)
    told["majority"] = numbers.number(short[0].majority)
    for arm, each in found.items():
        for name in (*PUBLISHED, *CORRECTED, "macro-F1", "AURC", "excess AURC"):
            form = f"{name} published" if name in PUBLISHED else name.replace("*", " corrected")
            told |= numbers.with_interval(f"{arm} {form}", each[name].value, each[name].low, each[name].high)
    perfect = values(references(next(iter(answered.outcomes.values())))["perfect"])
    told |= {f"perfect {name} published": numbers.number(perfect[name]) for name in AS_PUBLISHED}
    named = {numbers.macro_name("epistemic", name): value for name, value in told.items()}
    comment = f"Abstention on a graph: {len(answered.cards)} cards on {answered.world.domain.name}."
    return numbers.write_numbers(named, book.tables / FOLDER / "numbers.tex", comment)


def sentences(answered: Answered, found: Measured, short: Sequence[Shortcut], others: Sequence[Answered]) -> list[str]:
    """What the study shows on these cards, computed from its results."""
    lines = [
        f"{arm}: LA* {_told(each['LA*'])}, FAR* {_told(each['FAR*'])}, accuracy {_told(each['accuracy'])}."
        for arm, each in found.items()
        if arm not in CONSTANT
    ]
    perfect = values(references(next(iter(answered.outcomes.values())))["perfect"])
    lines.append(
        f"By the published metrics a system without a mistake has CVRR {numbers.number(perfect['CVRR'])}, FAR-NE "
        f"{numbers.number(perfect['FAR-NE'])} and overall {numbers.number(perfect['overall'])} on these cards."
    )
    shortcut = best(short)
    lines.append(f"The best shortcut, {shortcut.name}, gains {shortcut.gain:+.3f} over the most frequent answer.")
    for each in others:
        licensed = each.outcomes.get(LICENSED)
        if licensed:
            accuracy = numbers.number(values(licensed)["accuracy"])
            lines.append(f"On {each.name}, {len(each.cards)} cards: {LICENSED}, accuracy {accuracy}.")
    return lines


def _told(found: Estimate) -> str:
    bounds = None if found.low is None or found.high is None else [found.low, found.high]
    return numbers.number(found.value) + (f" {numbers.interval(bounds)}" if bounds else "")
