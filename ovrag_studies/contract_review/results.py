"""Tables, figures and macros of the study, each with the note that says what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas
from matplotlib.figure import Figure

from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.statistics import Difference, Estimate, Resampling
from ovrag_core.evaluation.statistics import holm as adjusted
from ovrag_core.report import numbers
from ovrag_core.report.figures import FIGURES, rates_by_group, save_figure
from ovrag_core.report.tables import TABLES, Note, write_table
from ovrag_studies.contract_review import answer_metrics, experiments, nli_metrics, pictures, retrieval_metrics
from ovrag_studies.contract_review.datasets import NliSet
from ovrag_studies.contract_review.experiments import BASELINE, LEARNED, OURS, PLAIN, Compared, Frames, published
from ovrag_studies.contract_review.nli import Judged
from ovrag_studies.contract_review.scores import answer_measures, nli_measures
from ovrag_studies.contract_review.settings import ContractReview

FOLDER = "contract_review"
DECIMALS = 3  # in a CSV: what hangs on the ranks of vectors differs beyond from processor to processor
BY_RANK = {"aupr": 2, "p_at_80_recall": 2}  # decimals of what hangs on the order of thousands of spans, everywhere
MARK = "(published)"
MODEL = "none but all-MiniLM-L6-v2 for vectors"
LEARNED_MODEL = "linear scorers and trees trained on CUAD"
GPT = "published: GPT-4"
RULES: Mapping[answer_metrics.Rule, str] = {"cuad": "f1_cuad", "thesis 0.3": "f1_3", "thesis 0.5": "f1_5"}
HEADERS = {
    "recall_1": "Recall@1",
    "recall_3": "Recall@3",
    "recall_5": "Recall@5",
    "mrr": "MRR",
    "hit": "Hit",
    "presence": "Present",
    "relevancy": "Relevancy",
    "f1_cuad": "F1, CUAD",
    "f1_3": "F1, J > 0.3",
    "f1_5": "F1, J > 0.5",
    "aupr": "AUPR",
    "p_at_80_recall": "P@80R",
    "presence_auroc": "Presence AUROC",
    "best_answer_hit": "Best answer",
    "evidence_map": "Evidence mAP",
    "evidence_recall@3": "Evidence R@3",
    "f1_C_by_hypothesis": "F1(C) by h.",
    "f1_E_by_hypothesis": "F1(E) by h.",
    "f1_C_pooled": "F1(C) pooled",
    "f1_E_pooled": "F1(E) pooled",
    "holm": "Holm",
    "hit_third": "Hit, third",
    "gain_third": "Gain, third",
    "holm_third": "Holm",
}


@dataclass(frozen=True, slots=True)
class Book:
    """Where results go, how wide figures are, how intervals are made, and the words for the data."""

    plan: Resampling
    width: float
    contracts: int
    agreements: int
    budget: int
    redraws: int
    tables: Path = TABLES
    figures: Path = FIGURES

    def note(self, arm: str, n: str, *, interval: bool = True, model: str = MODEL, more: str = "") -> Note:
        """What a result rests on; intervals are over contracts."""
        made = f"{self.plan.confidence:.0%}, bootstrap over {self.contracts} contracts, {self.plan.samples} resamples"
        return Note(model, arm, n, made if interval else "", more)


def open_book(settings: Settings, contracts: int, agreements: int) -> Book:
    """The book of a data set of so many contracts and agreements."""
    options = ContractReview.of(settings)
    plan = options.experiments.plan
    width = settings.figures.text_width_inches
    return Book(plan, width, contracts, agreements, options.retrieval.budget, options.experiments.redraws)


def _table(
    book: Book,
    frame: pandas.DataFrame,
    name: str,
    caption: str,
    note: Note,
    decimals: int | Mapping[str, int] = 3,
    full: pandas.DataFrame | None = None,
) -> pandas.DataFrame:
    (book.tables / FOLDER).mkdir(parents=True, exist_ok=True)
    path = f"{FOLDER}/{name}"
    return write_table(
        frame, path, caption, note, folder=book.tables, headers=HEADERS, decimals=decimals, full=full, kept=DECIMALS
    )


def _figure(book: Book, fig: Figure, name: str, caption: str, note: Note) -> Path:
    (book.figures / FOLDER).mkdir(parents=True, exist_ok=True)
    return save_figure(fig, f"{FOLDER}/{name}", caption=caption, note=note, folder=book.figures)


def _bounds(name: str, found: Estimate | Difference) -> dict[str, float | None]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _with_bounds(names: Sequence[str]) -> list[str]:
    return [column for name in names for column in (name, f"{name}_low", f"{name}_high")]


def _questions(frame: pandas.DataFrame) -> str:
    return f"{len(frame)} questions with an answer, of {frame['contract'].nunique()} contracts"


# -- retrieval --------------------------------------------------------------------------------------------------------

Grid = Mapping[tuple[str, str], pandas.DataFrame]


def retrieval_table(book: Book, grid: Grid) -> pandas.DataFrame:
    """Ways of finding by ways of cutting: `retrieval`."""
    names = ("recall_1", "recall_3", "mrr", "hit", "presence", "relevancy")
    rows: list[dict[str, object]] = []
    for (chunker, arm), frame in grid.items():
        row: dict[str, object] = {"chunks": chunker, "arm": arm}
        for name in names:
            row |= _bounds(name, retrieval_metrics.estimate(frame, name, book.plan))
        rows.append(row)
    table = pandas.DataFrame(rows)
    more = f"Hit: within {book.budget} characters. Present: gold is in the first three chunks"
    note = book.note("each way of finding", _questions(next(iter(grid.values()))), more=more)
    bounded = ("recall_1", "recall_3", "hit")
    shown = table[["chunks", "arm", *_with_bounds(bounded), "presence"]]
    full = table[["chunks", "arm", *_with_bounds(bounded), "presence", "mrr", "relevancy"]]
    return _table(book, shown, "retrieval", "Passages found, by way of cutting and of finding.", note, full=full)


def retrieval_figure(book: Book, grid: Grid) -> Path:
    """Recall@3 and hits at equal context: `retrieval`."""
    tables = {}
    keys = ["row", "arm", "value"]
    for name, title in (("recall_3", "recall@3"), ("hit", f"hit in {book.budget} characters")):
        values = pandas.DataFrame(
            [(chunker, arm, frame[name].mean()) for (chunker, arm), frame in grid.items()],
            columns=keys,
        )
        tables[title] = values.pivot_table(index="row", columns="arm", values="value", sort=False)
    fig = pictures.dots(tables, book.width, label="share of questions")
    note = book.note("each way of finding", _questions(next(iter(grid.values()))), interval=False)
    return _figure(book, fig, "retrieval", "Passages found, by way of cutting (rows) and of finding (markers).", note)


def learned_table(book: Book, grid: Grid, baseline: str = "BM25", chunker: str = "recursive-2048") -> pandas.DataFrame:
    """Each way of finding against a baseline at one way of cutting, paired: `retrieval_differences`."""
    arms = {arm: frame for (cut, arm), frame in grid.items() if cut == chunker}
    parts = []
    for name in ("recall_1", "recall_3", "hit"):
        found = retrieval_metrics.differences(arms, baseline, name, book.plan).assign(measure=HEADERS[name])
        parts.append(found.rename(columns={"low": "difference_low", "high": "difference_high"}))
    table = pandas.concat(parts, ignore_index=True)[["measure", "arm", *_with_bounds(("difference",)), "p", "holm"]]
    more = f"Chunks: {chunker}. Holm's adjustment within a measure. The learned arm has seen contracts, the others none"
    note = book.note(f"each against {baseline}", _questions(arms[baseline]), more=more)
    return _table(book, table, "retrieval_differences", f"Ways of finding against {baseline}, paired.", note)


# -- E2 and E3 --------------------------------------------------------------------------------------------------------


def compared_table(book: Book, found: Compared, name: str, experiment: str) -> pandas.DataFrame:
    """Arms of E2 or E3 beside the published ones: `e2`, `e3`."""
    rows = [_compared_row(book, found, arm) for arm in found.frames]
    rows += [
        {"arm": f"{arm} {MARK}", "relevancy": values["relevancy"], "f1_5": values["f1"]}
        for arm, values in published()[name].items()
    ]
    table = pandas.DataFrame(rows)
    base = next(iter(found.frames.values()))
    more = (
        "F1 by the thesis's rule (its text says 0.5, its code 0.3), one answer to every question of the checklist: the "
        "sentence of the first three chunks nearest to it. Published: 82 cases, GPT-4; relevancy judged by a chat "
        "model, ours by gold spans"
    )
    n = f"{_questions(base)}, and {len(next(iter(found.asked.values())))} asked for F1"
    return _table(book, table, name, f"{experiment} beside the published figures.", book.note("each", n, more=more))


def _compared_row(book: Book, found: Compared, arm: str) -> dict[str, object]:
    row: dict[str, object] = {"arm": arm}
    for measure in ("recall_3", "hit", "presence", "relevancy"):
        row |= _bounds(measure, retrieval_metrics.estimate(found.frames[arm], measure, book.plan))
    for rule in ("thesis 0.3", "thesis 0.5"):
        counted = answer_metrics.counts(found.asked[arm], rule, 0.0, book.plan)
        row |= _bounds(RULES[rule], counted.f1)
    return row


def compared_figure(book: Book, found: Compared, name: str, experiment: str) -> Path:
    """Arms of E2 or E3 with published diamonds: `e2`, `e3`."""
    table = pandas.DataFrame([_compared_row(book, found, arm) for arm in found.frames])
    marks = {arm: {"relevancy": each["relevancy"], "f1_5": each["f1"]} for arm, each in published()[name].items()}
    titles = {"hit": f"hit in {book.budget} characters", "relevancy": "contextual relevancy", "f1_5": "F1, J > 0.5"}
    fig = rates_by_group(table, "arm", titles, book.width, published=marks, limits=(0, 1))
    note = book.note("each", _questions(next(iter(found.frames.values()))), more=GPT)
    return _figure(book, fig, name, f"{experiment} beside the published figures (diamonds).", note)


def redraw_table(book: Book, found: Compared) -> pandas.DataFrame:
    """The published setting of two contracts, drawn again and again: `redraws`."""
    drawn = _redrawn(book, found)
    base = drawn[BASELINE]
    rows = []
    for arm, values in drawn.items():
        series = pandas.Series(values)
        low, mid, high = series.quantile([0.025, 0.5, 0.975])
        above = float((series > pandas.Series(base)).mean()) if arm != BASELINE else None
        rows.append({"arm": arm, "mean": series.mean(), "lowest": low, "median": mid, "highest": high, "above": above})
    table = pandas.DataFrame(rows)
    more = f"Lowest and highest: of the central 95%. Above: share of draws in which the arm beats {BASELINE}"
    n = f"{book.redraws} draws of two contracts, {_cases(found)} questions each"
    note = book.note("each", n, interval=False, more=more)
    return _table(book, table, "redraws", "F1 (J > 0.5) in the published setting, drawn again and again.", note)


def redraw_figure(book: Book, found: Compared) -> Path:
    """The spread of the published setting: `redraws`."""
    marks = {arm: each["f1"] for arm, each in published()["e2"].items()}
    fig = pictures.spreads(_redrawn(book, found), marks, book.width, label="F1, J > 0.5", others="as published")
    n = f"{book.redraws} draws of two contracts, {_cases(found)} questions each"
    more = "Boxes hold the middle half, whiskers the central 95%; published: one draw"
    note = book.note("each", n, interval=False, more=more)
    return _figure(book, fig, "redraws", "The setting of two contracts, its contracts drawn anew.", note)


def _redrawn(book: Book, found: Compared) -> dict[str, list[float]]:
    return {arm: experiments.redrawn_f1(asked, book.redraws, book.plan.seed) for arm, asked in found.asked.items()}


def _cases(found: Compared) -> int:
    asked = next(iter(found.asked.values()))
    return 2 * len(asked) // max(1, len({each.contract for each in asked}))


def edges_table(book: Book, found: Compared, ablated: Frames) -> pandas.DataFrame:
    """What each kind of edge is worth at equal context, against the plain ranking: `edges`."""
    table = _edges(book, found, ablated)
    note = _edges_note(book, found)
    return _table(book, table, "edges", "Our graph edge by edge, at equal context.", note)


def edges_figure(book: Book, found: Compared, ablated: Frames) -> Path:
    """The same drawn: `edges`."""
    titles = {"gain_third": f"hit in {book.budget // 3} characters", "gain": f"hit in {book.budget} characters"}
    fig = rates_by_group(_edges(book, found, ablated), "edges", titles, book.width, limits=None)
    for ax in fig.axes:
        ax.axvline(0, color="black", lw=0.7)
    return _figure(
        book, fig, "edges", "Our graph edge by edge: hits gained over the plain ranking.", _edges_note(book, found)
    )


def _edges(book: Book, found: Compared, ablated: Frames) -> pandas.DataFrame:
    plain = found.frames[PLAIN]
    arms = {"all": found.frames[OURS], **ablated, "v1": found.frames["graph v1"], "v2": found.frames["graph v2"]}
    gains = {
        name: [retrieval_metrics.difference(frame, plain, measure, book.plan) for measure in ("hit_third", "hit")]
        for name, frame in arms.items()
    }
    after = adjusted([small.p for small, _ in gains.values()]), adjusted([whole.p for _, whole in gains.values()])
    rows = [
        {
            "edges": name,
            "hit_third": arms[name]["hit_third"].mean(),
            **_bounds("gain_third", small),
            "holm_third": of_small,
            "hit": arms[name]["hit"].mean(),
            **_bounds("gain", whole),
            "holm": of_whole,
        }
        for (name, (small, whole)), of_small, of_whole in zip(gains.items(), *after, strict=True)
    ]
    return pandas.DataFrame(rows)


def _edges_note(book: Book, found: Compared) -> Note:
    more = (
        f"Hit within {book.budget} characters, and within a third of them; gains are over the plain ranking. Holm: "
        "their p after Holm's adjustment. All search one contract and begin with the same ranking"
    )
    return book.note(f"{OURS}, against {PLAIN}", _questions(found.frames[PLAIN]), more=more)


# -- answers ----------------------------------------------------------------------------------------------------------

Asked = Mapping[str, Sequence[answer_metrics.Asked]]


def answers_table(book: Book, asked: Asked) -> pandas.DataFrame:
    """The checklist answered without training and with it, beside fine-tuned models: `answers`."""
    rows: list[dict[str, object]] = []
    named = {f"f1 {rule}": name for rule, name in RULES.items()}
    for arm, each in asked.items():
        row: dict[str, object] = {"arm": arm}
        for _, one in answer_measures(each, book.plan).iterrows():
            name = named.get(one["measure"], one["measure"])
            row |= {name: one["value"], f"{name}_low": one["low"], f"{name}_high": one["high"]}
        rows.append(row)
    rows += [{"arm": f"{arm} {MARK}", **values} for arm, values in published()["cuad"].items()]
    names = ("aupr", "p_at_80_recall", "best_answer_hit", "presence_auroc", "f1_cuad", "f1_3", "f1_5")
    table = pandas.DataFrame(rows)[["arm", *_with_bounds(names)]]
    shown = table.drop(columns=_with_bounds(["f1_3"]))  # the line holds no more
    first = next(iter(asked.values()))
    n = f"{len(first)} questions, {sum(bool(each.gold) for each in first)} with an answer"
    more = "F1: the best answer where presence is 0.5 or more. Published: fine-tuned, 102 contracts of CUAD's test set"
    note = book.note("each", n, model=f"extractive: {MODEL}; learned: {LEARNED_MODEL}", more=more)
    full = table.round({column: places for name, places in BY_RANK.items() for column in _with_bounds([name])})
    return _table(book, shown, "answers", "The checklist answered, by arm.", note, BY_RANK, full)


def answers_figure(book: Book, asked: Asked) -> Path:
    """Precision against recall over spans: `precision_recall`."""
    curves = {arm: answer_metrics.precision_recall(each) for arm, each in asked.items()}
    marks = {name: values["p_at_80_recall"] for name, values in published()["cuad"].items()}
    fig = pictures.precision_recall(curves, marks, book.width)
    gold = sum(len(each.gold) for each in next(iter(asked.values())))
    note = book.note("each", f"{gold} gold spans of {book.contracts} contracts", interval=False)
    return _figure(book, fig, "precision_recall", "Precision and recall of answers over all spans.", note)


def presence_figure(book: Book, asked: Asked) -> Path:
    """Presence scores, and risk against coverage: `presence`."""
    given = {arm: ([one.present for one in each], [bool(one.gold) for one in each]) for arm, each in asked.items()}
    curves = {arm: answer_metrics.risk_coverage(each) for arm, each in asked.items()}
    fig = pictures.presence(given, curves, book.width)
    note = book.note("each", f"{len(next(iter(asked.values())))} questions", interval=False)
    return _figure(book, fig, "presence", "Whether an item is there: scores, risk and coverage.", note)


# -- hypotheses -------------------------------------------------------------------------------------------------------

Judgements = Mapping[str, Mapping[int, Sequence[Judged]]]


def nli_table(book: Book, data: NliSet, judged: Judgements) -> pandas.DataFrame:
    """Hypotheses judged, beside the published models: `nli`."""
    rows: list[dict[str, object]] = []
    for arm, each in judged.items():
        row: dict[str, object] = {"arm": arm}
        for _, one in nli_measures(data, each, book.plan).iterrows():
            row |= {
                one["measure"]: one["value"],
                f"{one['measure']}_low": one["low"],
                f"{one['measure']}_high": one["high"],
            }
        rows.append(row)
    rows += [{"arm": f"{arm} {MARK}", **values} for arm, values in published()["contractnli"].items()]
    for way, values in published()["e1"].items():
        rows += [
            {"arm": f"{model}, {way.replace('_', '-')} {MARK}", "accuracy": value} for model, value in values.items()
        ]
    names = ("accuracy", "f1_C_by_hypothesis", "f1_E_by_hypothesis", "f1_C_pooled", "f1_E_pooled", "evidence_map")
    table = pandas.DataFrame(rows)[["arm", *_with_bounds(names)]]
    pairs = sum(len(each.judgements) for each in data.agreements)
    more = (
        "Published of models fine-tuned on ContractNLI: its test set. Published of chat models: 400 questions, called "
        "F1 there, and shown as accuracy, which their values are those of"
    )
    note = _nli_note(book, f"{pairs} judgements of {book.agreements} agreements", more)
    return _table(book, table, "nli", "Hypotheses judged, by arm.", note)


def _nli_note(book: Book, n: str, more: str = "") -> Note:
    made = f"{book.plan.confidence:.0%}, bootstrap over {book.agreements} agreements, {book.plan.samples} resamples"
    return Note("majority and learned: trained on ContractNLI; lexical: none", "each", n, made, more)


def nli_hypothesis_table(book: Book, data: NliSet, judged: Judgements) -> pandas.DataFrame:
    """Accuracy of each arm for each hypothesis: `nli_hypotheses`."""
    table = _by_hypothesis(data, judged)
    note = _nli_note(book, f"{book.agreements} agreements a hypothesis")
    wordings = pandas.Series(data.hypotheses, name="wording")
    shown = table.reset_index(names="hypothesis").assign(wording=list(wordings[table.index]))
    return _table(book, shown, "nli_hypotheses", "Accuracy by hypothesis.", Note(note.model, note.arm, note.n), 2)


def nli_figure(book: Book, data: NliSet, judged: Judgements) -> Path:
    """Accuracy by hypothesis, and of all: `nli`."""
    table = _by_hypothesis(data, judged)
    table.loc["all"] = [float(nli_metrics.measure(_all(data, each))["accuracy"]) for each in judged.values()]
    fig = pictures.dots({"accuracy": table}, book.width * 0.8, label="share judged rightly", limits=(-0.03, 1.03))
    note = _nli_note(book, f"{book.agreements} agreements a hypothesis")
    return _figure(book, fig, "nli", "Accuracy by hypothesis and arm.", Note(note.model, note.arm, note.n))


def nli_beside_figure(book: Book, data: NliSet, judged: Judgements) -> Path:
    """Accuracy over all hypotheses beside the published models: `nli_published`."""
    rows = []
    for arm, each in judged.items():
        asked = {one.number: nli_metrics.asked_of(one, each.get(one.number, ())) for one in data.agreements}
        rows.append({"arm": arm, **_bounds("value", nli_metrics.estimates(asked, book.plan)["accuracy"])})
    marks = {f"{name}, fine-tuned": values["accuracy"] for name, values in published()["contractnli"].items()}
    for way, values in published()["e1"].items():
        words = way.replace("_", "-").replace("rag", "RAG")
        marks |= {f"{model}, {words}": value for model, value in values.items()}
    fig = pictures.beside(pandas.DataFrame(rows), marks, book.width, label="accuracy, all hypotheses")
    pairs = sum(len(each.judgements) for each in data.agreements)
    note = _nli_note(book, f"{pairs} judgements of {book.agreements} agreements", "Published: other agreements")
    return _figure(book, fig, "nli_published", "Hypotheses judged, beside the published figures (diamonds).", note)


def _all(data: NliSet, judged: Mapping[int, Sequence[Judged]]) -> list[nli_metrics.Asked]:
    return [row for each in data.agreements for row in nli_metrics.asked_of(each, judged.get(each.number, ()))]


def _by_hypothesis(data: NliSet, judged: Judgements) -> pandas.DataFrame:
    columns = {}
    for arm, each in judged.items():
        rows = pandas.DataFrame([(row.hypothesis, row.true == row.given) for row in _all(data, each)])
        columns[arm] = rows.groupby(0)[1].mean()
    return pandas.DataFrame(columns).reindex([name for name in data.hypotheses if name in columns[next(iter(columns))]])


# -- scaling ----------------------------------------------------------------------------------------------------------


def scaling_table(book: Book, measured: pandas.DataFrame) -> pandas.DataFrame:
    """Recall@3 with growing numbers of contracts searched together: `scaling`."""
    return _table(
        book, _scaled(book, measured), "scaling", "Recall@3 in the asked contract and in all.", _scaling_note(book)
    )


def scaling_figure(book: Book, measured: pandas.DataFrame) -> Path:
    """The same drawn: `scaling`."""
    fig = pictures.by_size(_scaled(book, measured), book.width, label="recall@3")
    return _figure(
        book, fig, "scaling", "Recall@3 in the asked contract alone and in all contracts.", _scaling_note(book)
    )


def _scaled(book: Book, measured: pandas.DataFrame) -> pandas.DataFrame:
    rows = []
    for (contracts, scope), frame in measured.groupby(["contracts", "scope"], sort=False):
        found = retrieval_metrics.estimate(frame, "recall_3", book.plan)
        rows.append({"contracts": contracts, "scope": scope, "questions": len(frame), **_bounds("value", found)})
    return pandas.DataFrame(rows)


def _scaling_note(book: Book) -> Note:
    more = "Pooled: the query names the contract, and chunks of others count as misses. Seconds are in the benchmarks"
    return book.note("the retriever of the settings", f"questions of up to {book.contracts} contracts", more=more)


# -- prose ------------------------------------------------------------------------------------------------------------


def numbers_file(book: Book, grid: Grid, asked: Asked, found: Compared, data: NliSet, judged: Judgements) -> Path:
    """The headline figures as macros, each beginning with `ContractReview`: `numbers.tex`."""
    values = {"contracts": str(book.contracts), "agreements": str(book.agreements), "redraws": str(book.redraws)}
    for (chunker, arm), frame in grid.items():
        for name in ("recall_1", "recall_3", "hit"):
            value = retrieval_metrics.estimate(frame, name, book.plan)
            values |= numbers.with_interval(f"{chunker} {arm} {name}", value.value, value.low, value.high)
    for arm, frame in found.frames.items():
        gained = retrieval_metrics.difference(frame, found.frames[PLAIN], "hit", book.plan)
        values |= numbers.with_interval(f"{arm} hit gain", gained.value, gained.low, gained.high)
    measures = {arm: answer_measures(each, book.plan) for arm, each in asked.items()}
    measures |= {f"nli {arm}": nli_measures(data, each, book.plan) for arm, each in judged.items()}
    for arm, frame in measures.items():
        columns = (frame[name].astype(float).tolist() for name in ("value", "low", "high"))
        for measure, value, low, high in zip(frame["measure"], *columns, strict=True):
            values |= numbers.with_interval(f"{arm} {measure}", value, low, high, BY_RANK.get(measure, DECIMALS))
    named = {numbers.macro_name("contract review", name): value for name, value in values.items()}
    comment = f"Contract review: {book.contracts} contracts and {book.agreements} agreements."
    return numbers.write_numbers(named, book.tables / FOLDER / "numbers.tex", comment)


def sentences(book: Book, grid: Grid, asked: Asked, found: Compared, judged: Judgements, data: NliSet) -> list[str]:
    """What the study shows on these data, computed from its results."""
    at = {arm: frame for (chunker, arm), frame in grid.items() if chunker == "recursive-2048"}
    zero = max((arm for arm in at if arm != LEARNED), key=lambda arm: float(at[arm]["recall_3"].mean()))
    told = {arm: _told(retrieval_metrics.estimate(at[arm], "recall_3", book.plan)) for arm in (zero, "MiniLM", LEARNED)}
    lines = [
        f"Without training, {zero} finds most: recall@3 {told[zero]}; MiniLM {told['MiniLM']}; learned {told[LEARNED]}."
    ]
    gain = retrieval_metrics.difference(found.frames[OURS], found.frames[PLAIN], "hit", book.plan)
    lines.append(f"At equal context our graph adds {_gained(gain)} to the hits of the plain ranking.")
    for arm, each in asked.items():
        best = answer_metrics.best_answer(each, book.plan)
        auroc = answer_metrics.presence_auroc(each)
        lines.append(
            f"{arm}: the best answer is right for {_told(best)} of what is there; presence AUROC "
            f"{'n/a' if auroc is None else f'{auroc:.3f}'}."
        )
    for arm, results in judged.items():
        lines.append(f"Hypotheses, {arm}: accuracy {nli_metrics.measure(_all(data, results))['accuracy']:.3f}.")
    return lines


def _told(found: Estimate) -> str:
    if found.value is None:
        return "n/a"
    return f"{found.value:.3f}" + ("" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]")


def _gained(found: Difference) -> str:
    if found.value is None:
        return "nothing that can be measured"
    return f"{found.value:+.3f}" + ("" if found.low is None else f" [{found.low:+.3f}, {found.high:+.3f}]")
