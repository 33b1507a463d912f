"""Tables, drawings and macros of the arms and of silence; captions and notes stand in `captions.yaml`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, product
from pathlib import Path

import numpy
import numpy.typing as npt
import pandas
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ovrag_core.base import Settings
from ovrag_core.evaluation import Estimate, wilson
from ovrag_core.report import HATCHES, MARKERS, colours, numbers, styled, with_bounds
from ovrag_core.study import Book, bounds
from ovrag_core.study import open_book as open_study_book
from ovrag_studies.cited.answering.cited_answers import UNUSABLE
from ovrag_studies.cited.answering.silence import Certificate, least_answers
from ovrag_studies.cited.corpus.golden import Category
from ovrag_studies.cited.measuring.golden_scores import JudgedRecord, Scored, by_arm, compare_arms
from ovrag_studies.cited.measuring.perturbations import CHECKS, TRIALS, share_rejected
from ovrag_studies.cited.part_results import columns_of, published
from ovrag_studies.cited.settings import Arm, Policy
from ovrag_studies.cited.study import PolicyStudy

NAMES: Mapping[Arm, str] = {
    "b1": "B1, model alone",
    "b2": "B2, extract",
    "b3": "B3, published checks",
    "ours": "ours",
    "no_verification": "without verification",
    "no_silence": "without silence",
    "no_conflicts": "without conflicts",
}
SILENCE = ("answered", "answer rate", "abstention accuracy", "wrong of answered", "right", "holds the gold quotation")
CITED = (
    "citation recall",
    "quotes that verify",
    "ungrounded claims",
    "conflict recall",
    "conflict precision",
    "conflicts told apart",
)
BY_MODEL = ("answered", "wrong of answered", "right", "ungrounded claims")
PARTS = ("right", "wrong", "silent")
COUNTED = ("answered", "errors", "n", "threshold", "coverage")  # of a certificate, in macros
KINDS: Mapping[Category, str] = {
    "answerable": "one rule answers",
    "contradiction": "two rules conflict",
    "unanswerable": "no rule answers",
}
CURVES: Sequence[tuple[str, Arm, Arm]] = (  # whose answers, and whose confidence ranks them
    ("without silence, by our score", "no_silence", "ours"),
    ("B2, by cosine", "b2", "b2"),
)
LINES = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), ":")
SHADES = ("#0b5c8a", "#f2d49b", "0.93")
Curve = npt.NDArray[numpy.float64]
OperatingPoint = tuple[float, float]  # share of queries that an arm answers, and of those the share that is wrong
Labelled = Mapping[str, Sequence[JudgedRecord]]  # judged records by the name of the golden set
ScoredSets = Mapping[str, Scored]  # figures of arms by the name of the golden set


def open_book(settings: Settings) -> Book:
    """The book of the settings."""
    return open_study_book(settings, Policy)


def _counted(labelled: Labelled) -> dict[str, object]:
    """State how many queries each golden set has, by category: the word `counted` of captions."""
    sets = []
    for name, judged_records in labelled.items():
        kinds = Counter({judged.query.query_id: judged.query.category for judged in judged_records}.values())
        by_category = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
        sets.append(f"{kinds.total()} queries with {name} labels ({by_category})")
    return {"counted": "; ".join(sets)}


def _first_set(labelled: Labelled) -> tuple[Sequence[JudgedRecord], dict[str, object]]:
    """Return the records of the first golden set, and the words that captions have of it."""
    name, judged_records = next(iter(labelled.items()))
    return judged_records, _counted({name: judged_records})


def _figures(scored: ScoredSets) -> Iterator[tuple[str, Arm, Mapping[str, Estimate]]]:
    """Yield the measures of each arm by each golden set."""
    for labels, figures in scored.items():
        for arm, measures in figures.items():
            yield labels, arm, measures


def _rows(scored: ScoredSets, names: Sequence[str]) -> list[dict[str, object]]:
    """Return a row for each golden set and arm with the measures named, as far as it has them."""
    return [
        {"labels": labels, "arm": NAMES[arm]} | columns_of({name: measures[name] for name in measures if name in names})
        for labels, arm, measures in _figures(scored)
    ]


def arms_table(book: Book, labelled: Labelled, scored: ScoredSets) -> pandas.DataFrame:
    """Write who answers, who is silent and who is wrong; the CSV has all measures with their n: `arms`."""
    rows = [
        {"labels": labels, "arm": NAMES[arm], "measure": name, "n": estimate.clusters} | bounds("value", estimate)
        for labels, arm, measures in _figures(scored)
        for name, estimate in measures.items()
    ]
    shown = _with_labels(pandas.DataFrame(_rows(scored, SILENCE)), labelled)
    return book.table(shown, "arms", _counted(labelled), full=pandas.DataFrame(rows))


def citations_table(book: Book, labelled: Labelled, scored: ScoredSets) -> pandas.DataFrame:
    """Tabulate what citations are worth, and conflicts reported with answers: `citations`."""
    first_set = next(iter(scored))
    frame = pandas.DataFrame(_rows({first_set: scored[first_set]}, CITED)).drop(columns="labels")
    return book.table(frame, "citations", _counted({first_set: labelled[first_set]}))


def published_table(book: Book, labelled: Labelled, scored: ScoredSets) -> pandas.DataFrame:
    """The measures of the dissertation, ours beside what it recorded and what its draft says: `published`."""
    theirs = published()
    names = [name for name in next(iter(theirs["recorded"].values())) if name != "queries"]
    rows = _rows(scored, names)
    for source in ("recorded", "draft"):
        rows += [{"labels": "published", "arm": f"{name} ({source})", **row} for name, row in theirs[source].items()]
    full = pandas.DataFrame(rows).reindex(columns=["labels", "arm", *with_bounds(names)])
    left = [name for name in full.columns if not name.startswith(("MRR", "citation precision", "conflict prec"))]
    words = _counted(labelled) | {"source": theirs["source"], "corpus": theirs["corpus"]}
    return book.table(_with_labels(full[left], labelled), "published", words, full=full, long=True)


def _with_labels(frame: pandas.DataFrame, labelled: Labelled) -> pandas.DataFrame:
    """Return rows by arm, with their labels in its name where there are several."""
    arms = [
        f"{arm}, {labels} labels" if len(labelled) > 1 and labels in labelled else arm
        for arm, labels in zip(frame["arm"], frame["labels"], strict=True)
    ]
    return frame.assign(arm=arms).drop(columns="labels")


def outcomes_figure(book: Book, labelled: Labelled) -> Path:
    """Answered rightly, wrongly and not at all, by kind of query and arm: `outcomes`."""
    judged_records, words = _first_set(labelled)
    rows = [(NAMES[j.record.arm], j.answered and not j.wrong, j.wrong, not j.answered) for j in judged_records]
    outcomes = pandas.DataFrame(rows, columns=["arm", *PARTS])
    tables = {
        title: frame.groupby("arm", sort=False).sum().rename_axis(None)
        for kind, title in KINDS.items()
        if len(frame := outcomes[[judged.query.category == kind for judged in judged_records]])
    }
    return book.figure(draw_outcomes(tables, book.width), "outcomes", words)


def paired_table(book: Book, labelled: Labelled) -> pandas.DataFrame:
    """Ours against each other arm, query by query: `paired`."""
    columns = {"other": "against", "only_arm_right": "ours alone right", "only_other_right": "it alone"}
    columns["p_holm"] = "Holm p"
    judged_records, words = _first_set(labelled)
    frame = compare_arms(judged_records).drop(columns="arm").rename(columns=columns).replace({"against": dict(NAMES)})
    return book.table(frame, "paired", words)


def cases_table(book: Book, labelled: Labelled, arm: Arm = "ours") -> pandas.DataFrame:
    """Every query whose outcome is not right: `cases`."""
    judged_records, words = _first_set(labelled)
    rows = [
        (judged.query.query_id, judged.query.question, judged.query.category, _what_happened(judged))
        for judged in judged_records
        if judged.record.arm == arm and not judged.right
    ]
    frame = pandas.DataFrame(rows, columns=["query", "question", "kind", "what happened"])
    return book.table(frame, "cases", words | {"arm": NAMES[arm]})


def _what_happened(judged: JudgedRecord) -> str:
    if not judged.answered:
        return f"silent: {judged.record.reason}"
    if not judged.query.answerable:
        return "answered, though the text does not say"
    return "answered without a gold paragraph" + ("" if judged.paragraphs else ": nothing was found")


def model_table(book: Book, *studies: PolicyStudy) -> pandas.DataFrame:
    """Write arms with answers of a model, and with copied ones, on the same queries: `model`."""
    rows = []
    for study in studies:
        name, judged_records = next(iter(study.labelled.items()))
        by_name = by_arm(judged_records)
        for arm, measures in study.scored(book.plan)[name].items():
            records = [judged.record for judged in by_name[arm]]
            row = {
                "arm": "B2, unchecked" if arm == "b2" else NAMES[arm],
                "answers": "chat" if records[0].requested["answers"] == "chat" else "copied",
                **columns_of({measure: measures[measure] for measure in BY_MODEL}),
                "removed": sum(len(record.removed) for record in records),
                "unusable": sum(UNUSABLE in record.reason for record in records),
                "tokens": sum(record.written for record in records) / len(records),
            }
            rows.append(row)
    _, words = _first_set(studies[0].labelled)
    return book.table(pandas.DataFrame(rows), "model", words, decimals={"tokens": 0})


def curve_of(given: Sequence[JudgedRecord], score: Mapping[str, float]) -> Curve:
    """Return coverage and risk, the surest answers first by a score for each query; equally sure ones together."""
    answers = [(score[judged.query.query_id], judged.wrong) for judged in given if judged.answered]
    answered = pandas.DataFrame(answers, columns=["score", "wrong"])
    sure = answered.groupby("score")["wrong"].agg(["size", "sum"]).sort_index(ascending=False).cumsum()
    return numpy.column_stack([sure["size"] / len(given), sure["sum"] / sure["size"]]).astype(float)


def point_of(given: Sequence[JudgedRecord]) -> OperatingPoint | None:
    """Return the point where an arm works by itself; None where it answers nothing."""
    wrong = [judged.wrong for judged in given if judged.answered]
    return (len(wrong) / len(given), sum(wrong) / len(wrong)) if wrong else None


def silence_table(book: Book, certificates: Mapping[str, Certificate]) -> pandas.DataFrame:
    """The test of the threshold, by labels that it was calibrated on: `silence`."""
    rows = [
        {
            "labels": labels,
            "alpha": certificate.alpha,
            "delta": certificate.delta,
            "queries": certificate.n,
            "least answers": least_answers(certificate.alpha, certificate.delta),
            "certified": certificate.certified,
            "threshold": certificate.threshold,
            "answered": certificate.answered,
            "wrong": certificate.errors,
            **bounds("coverage", wilson(certificate.answered, certificate.n, book.plan.confidence)),
            **bounds("risk", wilson(certificate.errors, certificate.answered, book.plan.confidence)),
            "p": certificate.p,
        }
        for labels, certificate in certificates.items()
    ]
    full = pandas.DataFrame(rows)
    certificate = next(iter(certificates.values()))
    levels = f"alpha = {certificate.alpha:g}, delta = {certificate.delta:g}"
    return book.table(full.drop(columns=["alpha", "delta"]), "silence", {"levels": levels}, full=full)


def risk_figure(book: Book, labelled: Labelled, certificate: Certificate) -> Path:
    """Wrong answers against answers, by arm: `risk`."""
    judged_records, words = _first_set(labelled)
    records = by_arm(judged_records)
    curves = {
        name: curve_of(records[arm], {judged.query.query_id: judged.record.confidence for judged in records[scored_by]})
        for name, arm, scored_by in CURVES
        if arm in records and scored_by in records
    }
    points = {NAMES[arm]: point for arm, arm_records in records.items() if (point := point_of(arm_records))}
    certified = NAMES["ours"] if certificate.certified else ""
    fig = draw_risk(curves, points, certificate.alpha, certified, book.width)
    return book.figure(fig, "risk", words | {"threshold": certificate.text})


def latency_table(book: Book, seconds: Mapping[Arm, Sequence[float]]) -> pandas.DataFrame:
    """Tabulate how long a query takes, which differs from run to run: `latency`."""
    rows = [
        (NAMES[arm], len(durations), sum(durations), *numpy.quantile(durations, [0.5, 0.95, 1.0]).tolist())
        for arm, durations in seconds.items()
    ]
    columns = ["arm", "queries", "all", "median", "95th percentile", "longest"]
    return book.table(pandas.DataFrame(rows, columns=columns), "latency")


def numbers_file(
    book: Book,
    labelled: Labelled,
    scored: ScoredSets,
    certificates: Mapping[str, Certificate],
    tried: pandas.DataFrame,
    paragraphs: int,
) -> Path:
    """Write the headline figures as macros: `numbers.tex`. Those by the first golden set carry no name of labels."""
    first_set, *others = labelled
    query_count = len({judged.query.query_id for judged in labelled[first_set]})
    macros = {"queries": str(query_count), "paragraphs": str(paragraphs)}
    prefixes = {first_set: "", **{labels: f"{labels} " for labels in others}}
    for labels, arm, measures in _figures(scored):
        for name, estimate in measures.items():
            figure = estimate.value, estimate.low, estimate.high
            macros |= numbers.with_interval(f"{prefixes[labels]}{arm} {name}", *figure)
    for labels, certificate in certificates.items():
        words = {name: numbers.number(getattr(certificate, name)) for name in COUNTED}
        words["certified"] = "certified" if certificate.certified else "not certified"
        words |= {"alpha": f"{certificate.alpha:g}", "delta": f"{certificate.delta:g}"}
        macros |= {f"{prefixes[labels]}silence {name}": value for name, value in words.items()}
    for check, kind in product(CHECKS, TRIALS):
        estimate = share_rejected(tried, check, kind, book.plan)
        macros |= numbers.with_interval(f"{check} {kind} rejected", estimate.value, estimate.low, estimate.high)
    return book.numbers(macros, f"Cited or silent: {_counted(labelled)['counted']}.")


def draw_risk(
    curves: Mapping[str, Curve], points: Mapping[str, OperatingPoint], alpha: float, certified: str, width: float
) -> Figure:
    """Share of wrong answers against the share of queries answered, the surest first: a line a curve, a mark an arm.

    Curves have columns coverage and risk; arms at one point have one mark. The dashed level is the risk that is
    allowed, `alpha`; the arm `certified` is ringed, none where that is empty.
    """
    together: dict[OperatingPoint, list[str]] = {}
    for name, point in points.items():
        together.setdefault(point, []).append(name)
    with styled():
        fig = Figure(figsize=(width, 3.0), layout="constrained")
        ax = fig.subplots()
        for (name, curve), line, colour in zip(curves.items(), LINES, colours(len(curves)), strict=False):
            ax.plot(curve[:, 0], curve[:, 1], ls=line, color=colour, lw=1.3, label=name)
        chosen = colours(len(curves) + len(together))[len(curves) :]
        for (point, names), colour, marker in zip(together.items(), chosen, cycle(MARKERS), strict=False):
            label = ",\n".join(names)
            ax.plot(*point, marker, color=colour, mec="black", mew=0.5, ms=6, ls="", label=label, zorder=4)
        ax.axhline(alpha, color="black", lw=0.8, ls=(0, (4, 3)), label=f"allowed, {alpha:g}", zorder=1)
        if certified in points:
            ax.plot(
                *points[certified], "o", ls="", label="certified", zorder=5, mfc="none", mec="black", ms=12, mew=1.0
            )
        ax.set(xlabel="share of queries answered, the surest first", ylabel="share of the answered that is wrong")
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, max([0.3, *(risk + 0.05 for _, risk in points.values())]))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(PercentFormatter(1, decimals=0))
        ax.grid()
        ax.set_axisbelow(True)
        fig.legend(loc="outside right center")
        return fig


def draw_outcomes(tables: Mapping[str, pandas.DataFrame], width: float) -> Figure:
    """One panel a kind of query, a bar an arm, divided into counts by outcome; frames are arms × PARTS."""
    with styled():
        rows = max(len(table.index) for table in tables.values())
        fig = Figure(figsize=(width, 0.95 + 0.26 * rows), layout="constrained")
        axes = fig.subplots(1, len(tables), sharey=True, squeeze=False)[0]
        for ax, (title, table) in zip(axes, tables.items(), strict=True):
            table.plot.barh(stacked=True, ax=ax, color=list(SHADES), ec="black", lw=0.4, width=0.72, legend=False)
            for bars, outcome, hatch in zip(ax.containers, PARTS, HATCHES, strict=False):
                for bar in bars:
                    bar.set_hatch(hatch)
                box = {"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.85}
                for place in table[outcome].to_numpy().nonzero()[0]:
                    bar, count = bars[place], f"{table[outcome].iloc[place]:.0f}"
                    middle = bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height() / 2
                    ax.text(*middle, count, ha="center", va="center", fontsize=6, bbox=box)
            ax.set(title=title, xlabel="queries", xlim=(0, max(1, table.sum(axis=1).max())))
            ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            ax.tick_params(axis="y", length=0)
        axes[0].invert_yaxis()
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(PARTS))
        return fig
