"""Tables, figures and macros of the study; captions and notes stand in `captions.yaml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas

from ovrag_core.base import Settings
from ovrag_core.evaluation import Difference
from ovrag_core.evaluation import holm as adjusted
from ovrag_core.report import (
    numbers,
    rates_by_group,
    with_bounds,
)
from ovrag_core.study import Book, bounds, told
from ovrag_core.study import book as books
from ovrag_studies.contract_review import (
    review_experiments,
    review_pictures,
)
from ovrag_studies.contract_review.inference.nli import JudgedHypothesis
from ovrag_studies.contract_review.measures import answer_metrics, chunk_metrics, nli_metrics, outcomes
from ovrag_studies.contract_review.measures.score_files import answer_measures, nli_measures
from ovrag_studies.contract_review.review_experiments import (
    BASELINE,
    LEARNED,
    OURS,
    PLAIN,
    ComparedRetrieval,
    Frames,
    ModelSample,
    published,
)
from ovrag_studies.contract_review.settings import ContractReview
from ovrag_studies.contract_review.texts.datasets import NliSet

DECIMALS = 3  # in a CSV: what hangs on the ranks of vectors differs beyond from processor to processor
BY_RANK = {"aupr": 2, "p_at_80_recall": 2}  # decimals of what hangs on the order of thousands of spans, everywhere
MARK = "(published)"
RULES: Mapping[answer_metrics.Rule, str] = {"cuad": "f1_cuad", "thesis 0.3": "f1_3", "thesis 0.5": "f1_5"}
RETRIEVAL = ("recall_1", "recall_3", "hit")
ANSWERS = ("aupr", "p_at_80_recall", "best_answer_hit", "presence_auroc", "f1_cuad", "f1_3", "f1_5")
NLI = ("accuracy", "f1_C_by_hypothesis", "f1_E_by_hypothesis", "f1_C_pooled", "f1_E_pooled", "evidence_map")

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


def _questions(frame: pandas.DataFrame) -> dict[str, object]:
    return {"questions": len(frame), "with_answer": frame["contract"].nunique()}


def _measured(frame: pandas.DataFrame) -> Row:
    """The cells of a row for measures with their bounds, from one row a measure."""
    cells: Row = {}
    for record in frame.to_dict("records"):
        name = record["measure"]
        cells |= {name: record["value"], f"{name}_low": record["low"], f"{name}_high": record["high"]}
    return cells


# -- retrieval --------------------------------------------------------------------------------------------------------


def retrieval_table(book: Book, grid: Grid) -> pandas.DataFrame:
    """Ways of finding by ways of cutting: `retrieval`."""
    rows: list[Row] = []
    for (chunker, arm), frame in grid.items():
        row: Row = {"chunks": chunker, "arm": arm}
        for name in (*RETRIEVAL, "mrr", "presence", "relevancy"):
            row |= bounds(name, chunk_metrics.estimate(frame, name, book.plan))
        rows.append(row)
    full = pandas.DataFrame(rows)[["chunks", "arm", *with_bounds(RETRIEVAL), "presence", "mrr", "relevancy"]]
    words = _questions(next(iter(grid.values())))
    return book.table(full.drop(columns=["mrr", "relevancy"]), "retrieval", words, full=full)


def retrieval_figure(book: Book, grid: Grid) -> Path:
    """Recall@3 and hits at equal context: `retrieval`."""
    tables = {}
    for name, title in (("recall_3", "recall@3"), ("hit", f"hit in {book.words['budget']} characters")):
        means = [(chunker, arm, frame[name].mean()) for (chunker, arm), frame in grid.items()]
        values = pandas.DataFrame(means, columns=["row", "arm", "value"])
        tables[title] = values.pivot_table(index="row", columns="arm", values="value", sort=False)
    fig = review_pictures.dots(tables, book.width, label="share of questions")
    return book.figure(fig, "retrieval", _questions(next(iter(grid.values()))))


def learned_table(book: Book, grid: Grid, baseline: str = "BM25", chunker: str = "recursive-2048") -> pandas.DataFrame:
    """Each way of finding against a baseline at one way of cutting, paired: `retrieval_differences`."""
    arms = {arm: frame for (cut, arm), frame in grid.items() if cut == chunker}
    tables = []
    for name in RETRIEVAL:
        measure = book.captions.headers[name]
        differences = chunk_metrics.differences(arms, baseline, name, book.plan).assign(measure=measure)
        tables.append(differences.rename(columns={"low": "difference_low", "high": "difference_high"}))
    table = pandas.concat(tables, ignore_index=True)[["measure", "arm", *with_bounds(["difference"]), "p", "holm"]]
    words = _questions(arms[baseline]) | {"baseline": baseline, "chunker": chunker}
    return book.table(table, "retrieval_differences", words)


# -- E2 and E3 --------------------------------------------------------------------------------------------------------


def compared_table(book: Book, found: ComparedRetrieval, name: str, experiment: str) -> pandas.DataFrame:
    """Arms of E2 or E3 beside the published ones: `e2`, `e3`."""
    rows = [_compared_row(book, found, arm) for arm in found.frames]
    rows += [
        {"arm": f"{arm} {MARK}", "relevancy": values["relevancy"], "f1_5": values["f1"]}
        for arm, values in published()[name].items()
    ]
    words = {"asked": len(next(iter(found.asked.values()))), "experiment": experiment}
    return book.table(pandas.DataFrame(rows), name, _questions(next(iter(found.frames.values()))) | words)


def _compared_row(book: Book, found: ComparedRetrieval, arm: str) -> Row:
    row: Row = {"arm": arm}
    for measure in ("recall_3", "hit", "presence", "relevancy"):
        row |= bounds(measure, chunk_metrics.estimate(found.frames[arm], measure, book.plan))
    for rule in ("thesis 0.3", "thesis 0.5"):
        row |= bounds(RULES[rule], answer_metrics.f1(found.asked[arm], rule, 0.0, book.plan))
    return row


def compared_figure(book: Book, found: ComparedRetrieval, name: str, experiment: str) -> Path:
    """Arms of E2 or E3 with published diamonds: `e2`, `e3`."""
    table = pandas.DataFrame([_compared_row(book, found, arm) for arm in found.frames])
    marks = {arm: {"relevancy": values["relevancy"], "f1_5": values["f1"]} for arm, values in published()[name].items()}
    hit = f"hit in {book.words['budget']} characters"
    titles = {"hit": hit, "relevancy": "contextual relevancy", "f1_5": "F1, J > 0.5"}
    fig = rates_by_group(table, "arm", titles, book.width, published=marks, limits=(0, 1))
    return book.figure(fig, name, _questions(next(iter(found.frames.values()))) | {"experiment": experiment})


def redraw_table(book: Book, found: ComparedRetrieval) -> pandas.DataFrame:
    """The published setting of two contracts, drawn again and again: `redraws`."""
    drawn = _redrawn(book, found)
    base = pandas.Series(drawn[BASELINE])
    rows = []
    for arm, values in drawn.items():
        series = pandas.Series(values)
        low, mid, high = series.quantile([0.025, 0.5, 0.975])
        above = float((series > base).mean()) if arm != BASELINE else None
        rows.append({"arm": arm, "mean": series.mean(), "lowest": low, "median": mid, "highest": high, "above": above})
    return book.table(pandas.DataFrame(rows), "redraws", {"cases": _cases(found), "baseline": BASELINE})


def redraw_figure(book: Book, found: ComparedRetrieval) -> Path:
    """The spread of the published setting: `redraws`."""
    marks = {arm: values["f1"] for arm, values in published()["e2"].items()}
    fig = review_pictures.spreads(_redrawn(book, found), marks, book.width, label="F1, J > 0.5", others="as published")
    return book.figure(fig, "redraws", {"cases": _cases(found)})


def _redrawn(book: Book, found: ComparedRetrieval) -> dict[str, list[float]]:
    draws = int(str(book.words["redraws"]))
    return {
        arm: review_experiments.redrawn_f1(questions, draws, book.plan.seed) for arm, questions in found.asked.items()
    }


def _cases(found: ComparedRetrieval) -> int:
    questions = next(iter(found.asked.values()))
    return 2 * len(questions) // max(1, len({q.contract for q in questions}))


def edges_table(book: Book, found: ComparedRetrieval, ablated: Frames) -> pandas.DataFrame:
    """Tabulate the gain of each kind of edge at equal context, against the plain ranking: `edges`."""
    plain = found.frames[PLAIN]
    arms = {"all": found.frames[OURS], **ablated, "v1": found.frames["graph v1"], "v2": found.frames["graph v2"]}
    gains = {
        name: [chunk_metrics.difference(frame, plain, measure, book.plan) for measure in ("hit_third", "hit")]
        for name, frame in arms.items()
    }
    after = adjusted([small.p for small, _ in gains.values()]), adjusted([whole.p for _, whole in gains.values()])
    rows = [
        {
            "edges": name,
            "hit_third": arms[name]["hit_third"].mean(),
            **bounds("gain_third", small),
            "holm_third": of_small,
            "hit": arms[name]["hit"].mean(),
            **bounds("gain", whole),
            "holm": of_whole,
        }
        for (name, (small, whole)), of_small, of_whole in zip(gains.items(), *after, strict=True)
    ]
    words = _questions(plain) | {"ours": OURS, "plain": PLAIN}
    return book.table(pandas.DataFrame(rows), "edges", words)


# -- answers ----------------------------------------------------------------------------------------------------------


def answers_table(book: Book, asked: Asked) -> pandas.DataFrame:
    """The checklist answered without training and with it, beside fine-tuned models: `answers`."""
    named = {f"f1 {rule}": name for rule, name in RULES.items()}
    rows = [
        {"arm": arm} | _measured(answer_measures(questions, book.plan).replace({"measure": named}))
        for arm, questions in asked.items()
    ]
    rows += [{"arm": f"{arm} {MARK}", **values} for arm, values in published()["cuad"].items()]
    table = pandas.DataFrame(rows)[["arm", *with_bounds(ANSWERS)]]
    shown = table.drop(columns=with_bounds(["f1_3"]))  # the line holds no more
    full = table.round({column: places for name, places in BY_RANK.items() for column in with_bounds([name])})
    first_questions = next(iter(asked.values()))
    words = {"asked": len(first_questions), "present": sum(bool(q.gold) for q in first_questions)}
    return book.table(shown, "answers", words, full=full, decimals=BY_RANK)


def presence_figure(book: Book, asked: Asked) -> Path:
    """Presence scores, and risk against coverage: `presence`."""
    scores = {
        arm: ([q.present for q in questions], [bool(q.gold) for q in questions]) for arm, questions in asked.items()
    }
    curves = {arm: answer_metrics.risk_coverage(questions) for arm, questions in asked.items()}
    words = {"asked": len(next(iter(asked.values())))}
    return book.figure(review_pictures.presence(scores, curves, book.width), "presence", words)


# -- hypotheses -------------------------------------------------------------------------------------------------------


def nli_table(book: Book, data: NliSet, judged: Judgements) -> pandas.DataFrame:
    """Hypotheses judged, beside the published models: `nli`."""
    rows = [{"arm": arm} | _measured(nli_measures(data, results, book.plan)) for arm, results in judged.items()]
    rows += [{"arm": f"{arm} {MARK}", **values} for arm, values in published()["contractnli"].items()]
    rows += [
        {"arm": f"{model}, {way.replace('_', '-')} {MARK}", "accuracy": value}
        for way, values in published()["e1"].items()
        for model, value in values.items()
    ]
    return book.table(pandas.DataFrame(rows)[["arm", *with_bounds(NLI)]], "nli", _pairs(data))


def _pairs(data: NliSet) -> dict[str, object]:
    return {"pairs": sum(len(a.judgements) for a in data.agreements)}


def nli_hypothesis_table(book: Book, data: NliSet, judged: Judgements) -> pandas.DataFrame:
    """Accuracy of each arm for each hypothesis: `nli_hypotheses`."""
    columns = {}
    for arm, results in judged.items():
        rows = pandas.DataFrame([(row.hypothesis, row.true == row.given) for row in _all(data, results)])
        columns[arm] = rows.groupby(0)[1].mean()
    table = pandas.DataFrame(columns).reindex(
        [name for name in data.hypotheses if name in columns[next(iter(columns))]]
    )
    wordings = pandas.Series(data.hypotheses, name="wording")
    shown = table.reset_index(names="hypothesis").assign(wording=list(wordings[table.index]))
    return book.table(shown, "nli_hypotheses", decimals=2)


def _all(data: NliSet, judged: Mapping[int, Sequence[JudgedHypothesis]]) -> list[nli_metrics.AskedHypothesis]:
    return [row for a in data.agreements for row in nli_metrics.asked_of(a, judged.get(a.number, ()))]


# -- a chat model -----------------------------------------------------------------------------------------------------


def model_table(book: Book, sample: ModelSample) -> pandas.DataFrame:
    """A chat model beside the offline arms, on the same questions and the same hypotheses: `model`."""
    rows: list[Row] = []
    for arm, questions in sample.asked.items():
        graded = [(q.contract, outcomes.of_answer(q), bool(q.gold)) for q in questions]
        rows.append(_outcomes(book, "checklist", arm, graded, sum(q.dropped for q in questions)))
    for arm, judged in sample.judged.items():
        graded = [
            (str(agreement.number), outcomes.of_hypothesis(question), question.true != "NotMentioned")
            for agreement in sample.data.agreements
            for question in nli_metrics.asked_of(agreement, judged[agreement.number])
        ]
        invented = sum(j.invented for results in judged.values() for j in results)
        rows.append(_outcomes(book, "hypotheses", arm, graded, invented))
    questions, calls = next(iter(sample.asked.values())), sample.usage.calls
    words = {"questions": len(questions), "contracts": len({q.contract for q in questions}), **_pairs(sample.data)}
    words |= {"present": sum(bool(q.gold) for q in questions), "agreements": len(sample.data.agreements)}
    words |= {"model": sample.model, "calls": calls, "written": sample.usage.completion_tokens / max(1, calls)}
    return book.table(pandas.DataFrame(rows), "model", words)


def _outcomes(
    book: Book, task: str, arm: str, found: Sequence[tuple[str, outcomes.Outcome, bool]], invented: int
) -> Row:
    """A row of the table, from each question's contract or agreement, its outcome, and if the text settles it."""
    counts = Counter(outcome for _, outcome, _ in found)
    frame = pandas.DataFrame(
        [(contract, outcome == "right") for contract, outcome, _ in found], columns=["contract", "right"]
    )
    share = chunk_metrics.estimate(frame, "right", book.plan)
    settled_right = sum(outcome == "right" and settled for _, outcome, settled in found)
    row: Row = {"task": task, "arm": arm, **{name: counts[name] for name in outcomes.OUTCOMES}}
    return row | {"right_there": settled_right, "invented_quotes": invented} | bounds("share_right", share)


# -- scaling ----------------------------------------------------------------------------------------------------------


def scaling_table(book: Book, measured: pandas.DataFrame) -> pandas.DataFrame:
    """Recall@3 with growing numbers of contracts searched together: `scaling`."""
    rows = []
    for (contracts, scope), frame in measured.groupby(["contracts", "scope"], sort=False):
        recall = chunk_metrics.estimate(frame, "recall_3", book.plan)
        rows.append({"contracts": contracts, "scope": scope, "questions": len(frame), **bounds("value", recall)})
    return book.table(pandas.DataFrame(rows), "scaling")


# -- prose ------------------------------------------------------------------------------------------------------------


def numbers_file(
    book: Book, grid: Grid, asked: Asked, found: ComparedRetrieval, data: NliSet, judged: Judgements
) -> Path:
    """The headline figures as macros, each beginning with `ContractReview`: `numbers.tex`."""
    values = {name: str(book.words[name]) for name in ("contracts", "agreements", "redraws")}
    for (chunker, arm), frame in grid.items():
        for name in RETRIEVAL:
            value = chunk_metrics.estimate(frame, name, book.plan)
            values |= numbers.with_interval(f"{chunker} {arm} {name}", value.value, value.low, value.high)
    for arm, frame in found.frames.items():
        gained = chunk_metrics.difference(frame, found.frames[PLAIN], "hit", book.plan)
        values |= numbers.with_interval(f"{arm} hit gain", gained.value, gained.low, gained.high)
    measures = {arm: answer_measures(questions, book.plan) for arm, questions in asked.items()}
    measures |= {f"nli {arm}": nli_measures(data, results, book.plan) for arm, results in judged.items()}
    for arm, frame in measures.items():
        columns = (frame[name].astype(float).tolist() for name in ("value", "low", "high"))
        for measure, value, low, high in zip(frame["measure"], *columns, strict=True):
            values |= numbers.with_interval(f"{arm} {measure}", value, low, high, BY_RANK.get(measure, DECIMALS))
    comment = "Contract review: {contracts} contracts and {agreements} agreements.".format(**book.words)
    return book.numbers(values, comment)


def sentences(
    book: Book, grid: Grid, asked: Asked, found: ComparedRetrieval, judged: Judgements, data: NliSet
) -> list[str]:
    """State what the study shows on these data, computed from its results."""
    by_arm = {arm: frame for (chunker, arm), frame in grid.items() if chunker == "recursive-2048"}
    zero = max((arm for arm in by_arm if arm != LEARNED), key=lambda arm: float(by_arm[arm]["recall_3"].mean()))
    best, plain, learned = (
        told(chunk_metrics.estimate(by_arm[arm], "recall_3", book.plan)) for arm in (zero, "MiniLM", LEARNED)
    )
    lines = [f"Without training, {zero} finds most: recall@3 {best}; MiniLM {plain}; learned {learned}."]
    gain = chunk_metrics.difference(found.frames[OURS], found.frames[PLAIN], "hit", book.plan)
    lines.append(f"At equal context our graph adds {_gained(gain)} to the hits of the plain ranking.")
    for arm, questions in asked.items():
        answered = answer_metrics.best_answer(questions, book.plan)
        auroc = answer_metrics.presence_auroc(questions)
        lines.append(
            f"{arm}: the best answer is right for {told(answered)} of what is there; presence AUROC "
            f"{'n/a' if auroc is None else f'{auroc:.3f}'}."
        )
    for arm, results in judged.items():
        lines.append(f"Hypotheses, {arm}: accuracy {nli_metrics.measure(_all(data, results))['accuracy']:.3f}.")
    return lines


def _gained(found: Difference) -> str:
    if found.value is None:
        return "nothing that can be measured"
    return f"{found.value:+.3f}" + ("" if found.low is None else f" [{found.low:+.3f}, {found.high:+.3f}]")
