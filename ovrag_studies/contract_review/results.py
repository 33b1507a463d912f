"""Tables, figures and macros of the study; captions and notes stand in `captions.yaml`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy
import pandas
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from ovrag_core.base import Settings
from ovrag_core.evaluation import Difference, Estimate, Resampling, holm
from ovrag_core.report import colours, interval_plot, numbers, rates_by_group, styled, with_bounds
from ovrag_core.study import Book, bounds
from ovrag_core.study import book as books
from ovrag_studies.contract_review import review_experiments
from ovrag_studies.contract_review.inference.nli import JudgedHypothesis
from ovrag_studies.contract_review.measures import answer_metrics, chunk_metrics, nli_metrics
from ovrag_studies.contract_review.measures.nli_metrics import AskedHypothesis
from ovrag_studies.contract_review.review_experiments import BASELINE, OURS, PLAIN, ComparedRetrieval, ModelSample
from ovrag_studies.contract_review.settings import ContractReview
from ovrag_studies.contract_review.texts.datasets import NliSet

DECIMALS = 3  # in a CSV: what hangs on the ranks of vectors differs beyond from processor to processor
BY_RANK = {"aupr": 2, "p_at_80_recall": 2}  # decimals of what hangs on the order of thousands of spans, everywhere
MARK = "(published)"
OUTCOMES: tuple[answer_metrics.Outcome, ...] = get_args(answer_metrics.Outcome)
RULES: Mapping[answer_metrics.Rule, str] = {"cuad": "f1_cuad", "thesis 0.3": "f1_3", "thesis 0.5": "f1_5"}
RETRIEVAL = ("recall_1", "recall_3", "hit")
ANSWERS = ("aupr", "p_at_80_recall", "best_answer_hit", "presence_auroc", "f1_cuad", "f1_3", "f1_5")
NLI = ("accuracy", "f1_C_by_hypothesis", "f1_E_by_hypothesis", "f1_C_pooled", "f1_E_pooled", "evidence_map")

LINES = ("-", "--", ":", "-.")
_REDRAWN = ["arm", "mean", "lowest", "median", "highest", "above"]

Grid = Mapping[tuple[str, str], pandas.DataFrame]
Asked = Mapping[str, Sequence[answer_metrics.AnsweredQuestion]]
Judgements = Mapping[str, Mapping[int, Sequence[JudgedHypothesis]]]
Row = dict[str, object]


def open_book(settings: Settings, contracts: int, agreements: int) -> Book:
    """The book of a data set of so many contracts and agreements."""
    options = ContractReview.of(settings)
    data = {"contracts": contracts, "agreements": agreements}
    drawn = {"budget": options.retrieval.budget, "redraws": options.experiments.redraws}
    return replace(books.open_book(settings, ContractReview, **data, **drawn), kept=DECIMALS)


def _questions(frames: Mapping[Any, pandas.DataFrame]) -> dict[str, object]:
    frame = next(iter(frames.values()))  # all are of the same questions
    return {"questions": len(frame), "with_answer": frame["contract"].nunique()}


def _cells(figures: Iterable[tuple[str, Estimate]]) -> Row:
    """The cells of a row for measures with their bounds."""
    return {column: cell for name, figure in figures for column, cell in bounds(name, figure).items()}


def _chunk_cells(frame: pandas.DataFrame, names: Iterable[str], plan: Resampling) -> Row:
    return _cells((name, chunk_metrics.estimate(frame, name, plan)) for name in names)


def retrieval_table(book: Book, grid: Grid) -> pandas.DataFrame:
    """Ways of finding by ways of cutting: `retrieval`."""
    names = (*RETRIEVAL, "presence", "mrr", "relevancy")
    rows = [{"chunks": cut, "arm": arm, **_chunk_cells(frame, names, book.plan)} for (cut, arm), frame in grid.items()]
    full = pandas.DataFrame(rows)[["chunks", "arm", *with_bounds(RETRIEVAL), "presence", "mrr", "relevancy"]]
    return book.table(full.drop(columns=["mrr", "relevancy"]), "retrieval", _questions(grid), full=full)


def retrieval_figure(book: Book, grid: Grid) -> Path:
    """Recall@3 and hits at equal context: `retrieval`."""
    panels = {}
    for name, title in (("recall_3", "recall@3"), ("hit", f"hit in {book.words['budget']} characters")):
        figures = {key: chunk_metrics.estimate(frame, name, book.plan) for key, frame in grid.items()}
        rows = [(*key, e.value, e.low, e.high) for key, e in figures.items()]
        panels[title] = pandas.DataFrame(rows, columns=["chunks", "arm", "value", "low", "high"])
    units = dict.fromkeys(panels, "share of questions")
    fig = interval_plot(panels, "chunks", book.width, series="arm", units=units)
    return book.figure(fig, "retrieval", _questions(grid))


def learned_table(book: Book, grid: Grid, baseline: str = "BM25", chunker: str = "recursive-2048") -> pandas.DataFrame:
    """Each way of finding against a baseline at one way of cutting, paired: `retrieval_differences`."""
    arms = {arm: frame for (cut, arm), frame in grid.items() if cut == chunker}
    tables = []
    for name in RETRIEVAL:
        differences = chunk_metrics.differences(arms, baseline, name, book.plan)
        tables.append(differences.assign(measure=book.captions.headers[name]))
    table = pandas.concat(tables, ignore_index=True)[["measure", "arm", *with_bounds(["difference"]), "p", "holm"]]
    words = _questions(arms) | {"baseline": baseline, "chunker": chunker}
    return book.table(table, "retrieval_differences", words)


def compared_table(book: Book, found: ComparedRetrieval, name: str, experiment: str) -> pandas.DataFrame:
    """Arms of E2 or E3 beside the published ones: `e2`, `e3`."""
    rows = [_compared_row(book, found, arm) for arm in found.frames]
    rows += [{"arm": f"{arm} {MARK}", **values} for arm, values in _marks(name).items()]
    words = {"asked": len(next(iter(found.asked.values()))), "experiment": experiment}
    return book.table(pandas.DataFrame(rows), name, _questions(found.frames) | words)


def _marks(experiment: str) -> dict[str, dict[str, float]]:
    read = review_experiments.published()[experiment].items()
    return {arm: {"relevancy": values["relevancy"], "f1_5": values["f1"]} for arm, values in read}


def _compared_row(book: Book, found: ComparedRetrieval, arm: str) -> Row:
    measures = ("recall_3", "hit", "presence", "relevancy")
    row: Row = {"arm": arm, **_chunk_cells(found.frames[arm], measures, book.plan)}
    for rule in ("thesis 0.3", "thesis 0.5"):
        row |= bounds(RULES[rule], answer_metrics.f1(found.asked[arm], rule, 0.0, book.plan))
    return row


def compared_figure(book: Book, found: ComparedRetrieval, name: str, experiment: str) -> Path:
    """Arms of E2 or E3 with published diamonds: `e2`, `e3`."""
    table = pandas.DataFrame([_compared_row(book, found, arm) for arm in found.frames])
    hit = f"hit in {book.words['budget']} characters"
    titles = {"hit": hit, "relevancy": "contextual relevancy", "f1_5": "F1, J > 0.5"}
    fig = rates_by_group(table, "arm", titles, book.width, published=_marks(name))
    return book.figure(fig, name, _questions(found.frames) | {"experiment": experiment})


def redraw_table(book: Book, found: ComparedRetrieval) -> pandas.DataFrame:
    """The published setting of two contracts, drawn again and again: `redraws`."""
    return book.table(_redrawn(book, found), "redraws", {"cases": _cases(found), "baseline": BASELINE})


def redraw_figure(book: Book, found: ComparedRetrieval) -> Path:
    """The spread of the published setting: `redraws`."""
    names = {"median": "f1_5", "lowest": "f1_5_low", "highest": "f1_5_high"}
    table = _redrawn(book, found).rename(columns=names)
    fig = rates_by_group(table, "arm", {"f1_5": "F1, J > 0.5"}, book.width, published=_marks("e2"))
    return book.figure(fig, "redraws", {"cases": _cases(found)})


def _redrawn(book: Book, found: ComparedRetrieval) -> pandas.DataFrame:
    draws, seed = int(str(book.words["redraws"])), book.plan.seed
    drawn = {arm: review_experiments.redrawn_f1(asked, draws, seed) for arm, asked in found.asked.items()}
    table = pandas.DataFrame(drawn)
    shares = table.quantile([0.025, 0.5, 0.975]).T.set_axis(["lowest", "median", "highest"], axis="columns")
    above = table.gt(table[BASELINE], axis=0).mean().mask(table.columns == BASELINE)
    return shares.assign(mean=table.mean(), above=above).rename_axis("arm").reset_index()[_REDRAWN]


def _cases(found: ComparedRetrieval) -> int:
    questions = next(iter(found.asked.values()))
    return 2 * len(questions) // max(1, len({q.contract for q in questions}))


def edges_table(book: Book, found: ComparedRetrieval, ablated: Mapping[str, pandas.DataFrame]) -> pandas.DataFrame:
    """Tabulate the gain of each kind of edge at equal context, against the plain ranking: `edges`."""
    frames, plain = found.frames, found.frames[PLAIN]
    arms = {"all": frames[OURS], **ablated, "v1": frames["graph v1"], "v2": frames["graph v2"]}
    table = pandas.DataFrame({"edges": list(arms)})
    for measure, end in (("hit_third", "_third"), ("hit", "")):
        gains = [chunk_metrics.difference(frame, plain, measure, book.plan) for frame in arms.values()]
        table[measure] = [frame[measure].mean() for frame in arms.values()]
        table = table.join(pandas.DataFrame([bounds(f"gain{end}", gain) for gain in gains]))
        table[f"holm{end}"] = holm([gain.p for gain in gains])
    return book.table(table, "edges", _questions(arms) | {"ours": OURS, "plain": PLAIN})


def answers_table(book: Book, asked: Asked) -> pandas.DataFrame:
    """The checklist answered without training and with it, beside fine-tuned models: `answers`."""
    named = {f"f1 {rule}": name for rule, name in RULES.items()}
    rows: list[Row] = []
    for arm, questions in asked.items():
        measured = answer_metrics.measures(questions, book.plan)
        rows.append({"arm": arm, **_cells((named.get(name, name), figure) for name, figure in measured.items())})
    rows += [{"arm": f"{arm} {MARK}", **values} for arm, values in review_experiments.published()["cuad"].items()]
    table = pandas.DataFrame(rows)[["arm", *with_bounds(ANSWERS)]]
    shown = table.drop(columns=with_bounds(["f1_3"]))  # the line holds no more
    full = table.round({column: places for name, places in BY_RANK.items() for column in with_bounds([name])})
    first_questions = next(iter(asked.values()))
    words = {"asked": len(first_questions), "present": sum(bool(q.gold) for q in first_questions)}
    return book.table(shown, "answers", words, full=full, decimals=BY_RANK)


def presence_figure(book: Book, asked: Asked) -> Path:
    """Presence scores of items that are there and that are not, and risk against coverage of each arm: `presence`."""
    with styled():
        fig = Figure(figsize=(book.width, 2.7), layout="constrained")
        panels = fig.subplots(1, len(asked) + 1)
        for ax, (name, questions) in zip(panels, asked.items(), strict=False):
            present = [question.present for question in questions if question.gold]
            absent = [question.present for question in questions if not question.gold]
            edges = numpy.linspace(0, 1, 21)
            ax.hist(present, bins=edges, color="#0b5c8a", ec="white", lw=0.3, label="there")
            ax.hist(absent, bins=edges, histtype="step", color="black", hatch="////", lw=0.8, label="not there")
            ax.set_title(name)
            ax.set_xlabel("presence score")
        panels[0].set_ylabel("questions")
        ax = panels[-1]
        for (name, questions), line, colour in zip(asked.items(), LINES, colours(len(asked)), strict=False):
            curve = answer_metrics.risk_coverage(questions)
            ax.plot(curve[:, 0], curve[:, 1], ls=line, color=colour, label=name)
        ax.set_title("risk and coverage")
        ax.set_xlabel("questions decided")
        ax.set_ylabel("share of the decided that is wrong")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(PercentFormatter(1))
        ax.set_ylim(0)
        ax.grid()
        handles = [handle for panel in panels[[0, -1]] for handle in panel.get_legend_handles_labels()[0]]
        fig.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return book.figure(fig, "presence", {"asked": len(next(iter(asked.values())))})


def nli_table(book: Book, data: NliSet, judged: Judgements) -> pandas.DataFrame:
    """Hypotheses judged, beside the published models: `nli`."""
    rows: list[Row] = []
    published = review_experiments.published()
    for arm, results in judged.items():
        rows.append({"arm": arm, **_cells(nli_metrics.estimates(_asked(data, results), book.plan).items())})
    rows += [{"arm": f"{arm} {MARK}", **values} for arm, values in published["contractnli"].items()]
    rows += [
        {"arm": f"{model}, {way.replace('_', '-')} {MARK}", "accuracy": value}
        for way, values in published["e1"].items()
        for model, value in values.items()
    ]
    return book.table(pandas.DataFrame(rows)[["arm", *with_bounds(NLI)]], "nli", _pairs(data))


def _asked(data: NliSet, judged: Mapping[int, Sequence[JudgedHypothesis]]) -> dict[int, list[AskedHypothesis]]:
    return {a.number: nli_metrics.asked_of(a, judged[a.number]) for a in data.agreements}


def _pairs(data: NliSet) -> dict[str, object]:
    return {"pairs": sum(len(a.judgements) for a in data.agreements)}


def nli_hypothesis_table(book: Book, data: NliSet, judged: Judgements) -> pandas.DataFrame:
    """Accuracy of each arm for each hypothesis: `nli_hypotheses`."""
    right = pandas.DataFrame(
        [
            (arm, row.hypothesis, row.true == row.given)
            for arm, results in judged.items()
            for rows in _asked(data, results).values()
            for row in rows
        ],
        columns=["arm", "hypothesis", "right"],
    )
    table = right.pivot_table("right", "hypothesis", "arm")[list(judged)].rename_axis(columns=None)
    table = table.reindex([name for name in data.hypotheses if name in table.index]).reset_index()
    table["wording"] = table["hypothesis"].map(data.hypotheses)
    return book.table(table, "nli_hypotheses", decimals=2)


def model_table(book: Book, sample: ModelSample) -> pandas.DataFrame:
    """A chat model beside the offline arms, on the same questions and the same hypotheses: `model`."""
    rows: list[Row] = []
    for arm, questions in sample.asked.items():
        graded = [(q.contract, answer_metrics.outcome(q), bool(q.gold)) for q in questions]
        rows.append(_outcomes(book, "checklist", arm, graded, sum(q.dropped for q in questions)))
    for arm, judged in sample.judged.items():
        graded = [
            (str(number), nli_metrics.outcome(question), question.true != "NotMentioned")
            for number, asked in _asked(sample.data, judged).items()
            for question in asked
        ]
        invented = sum(j.invented for results in judged.values() for j in results)
        rows.append(_outcomes(book, "hypotheses", arm, graded, invented))
    questions, calls = next(iter(sample.asked.values())), sample.usage.calls
    words = {"questions": len(questions), "contracts": len({q.contract for q in questions}), **_pairs(sample.data)}
    words |= {"present": sum(bool(q.gold) for q in questions), "agreements": len(sample.data.agreements)}
    words |= {"model": sample.model, "calls": calls, "written": sample.usage.completion_tokens / max(1, calls)}
    return book.table(pandas.DataFrame(rows), "model", words)


def _outcomes(
    book: Book, task: str, arm: str, found: Sequence[tuple[str, answer_metrics.Outcome, bool]], invented: int
) -> Row:
    """A row of the table, from each question's contract or agreement, its outcome, and if the text settles it."""
    frame = pandas.DataFrame(found, columns=["contract", "outcome", "settled"])
    right = frame["outcome"] == "right"
    share = chunk_metrics.estimate(frame.assign(right=right), "right", book.plan)
    row: Row = {"task": task, "arm": arm, **{name: int((frame["outcome"] == name).sum()) for name in OUTCOMES}}
    right_there = int((right & frame["settled"]).sum())
    return row | {"right_there": right_there, "invented_quotes": invented} | bounds("share_right", share)


def scaling_table(book: Book, measured: pandas.DataFrame) -> pandas.DataFrame:
    """Recall@3 with growing numbers of contracts searched together: `scaling`."""
    rows = []
    for (contracts, scope), frame in measured.groupby(["contracts", "scope"], sort=False):
        recall = chunk_metrics.estimate(frame, "recall_3", book.plan)
        rows.append({"contracts": contracts, "scope": scope, "questions": len(frame), **bounds("value", recall)})
    return book.table(pandas.DataFrame(rows), "scaling")


def numbers_file(
    book: Book, grid: Grid, asked: Asked, found: ComparedRetrieval, data: NliSet, judged: Judgements
) -> Path:
    """The headline figures as macros, each beginning with `ContractReview`: `numbers.tex`."""
    values = {name: str(book.words[name]) for name in ("contracts", "agreements", "redraws")}
    figures: dict[str, Estimate | Difference] = {
        f"{chunker} {arm} {name}": chunk_metrics.estimate(frame, name, book.plan)
        for (chunker, arm), frame in grid.items()
        for name in RETRIEVAL
    }
    plain = found.frames[PLAIN]
    for arm, frame in found.frames.items():
        figures[f"{arm} hit gain"] = chunk_metrics.difference(frame, plain, "hit", book.plan)
    measured = {arm: answer_metrics.measures(questions, book.plan) for arm, questions in asked.items()}
    measured |= {f"nli {arm}": nli_metrics.estimates(_asked(data, given), book.plan) for arm, given in judged.items()}
    figures |= {f"{arm} {measure}": figure for arm, values in measured.items() for measure, figure in values.items()}
    for name, figure in figures.items():
        decimals = BY_RANK.get(name.rpartition(" ")[2], DECIMALS)
        values |= numbers.with_interval(name, figure.value, figure.low, figure.high, decimals)
    comment = "Contract review: {contracts} contracts and {agreements} agreements.".format(**book.words)
    return book.numbers(values, comment)
