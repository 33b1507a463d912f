"""Tables, figures and macros of the arms and of silence; captions and notes stand in `captions.yaml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
import pandas

from ovrag_core.base import Settings
from ovrag_core.evaluation import wilson
from ovrag_core.report import numbers
from ovrag_core.study import Book, bounds, told
from ovrag_core.study import book as books
from ovrag_studies.cited import pictures
from ovrag_studies.cited.answering.chat_answers import UNUSABLE
from ovrag_studies.cited.answering.silence import Certificate, least_answers
from ovrag_studies.cited.corpus.golden import Category
from ovrag_studies.cited.measuring.dissertation import published
from ovrag_studies.cited.measuring.golden_scores import JudgedRecord, Scored, compare_arms
from ovrag_studies.cited.measuring.perturbations import CHECKS, TRIALS, share_rejected
from ovrag_studies.cited.pictures import Curve, OperatingPoint
from ovrag_studies.cited.settings import Arm, Policy

if TYPE_CHECKING:
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
AS_PUBLISHED = (
    "answer rate",
    "abstention accuracy",
    "recall@5",
    "MRR@5",
    "citation precision",
    "citation recall",
    "ungrounded claims",
    "conflict recall",
    "conflict precision",
)
BY_MODEL = ("answered", "wrong of answered", "right", "ungrounded claims")
PARTS = ("right", "wrong", "silent")
KINDS: Mapping[Category, str] = {
    "answerable": "one rule answers",
    "contradiction": "two rules conflict",
    "unanswerable": "no rule answers",
}
CURVES: Sequence[tuple[str, Arm, Arm]] = (  # whose answers, and whose confidence ranks them
    ("without silence, by our score", "no_silence", "ours"),
    ("B2, by cosine", "b2", "b2"),
)
Labelled = Mapping[str, Sequence[JudgedRecord]]  # judged records by the name of the golden set
ScoredSets = Mapping[str, Scored]  # figures of arms by the name of the golden set


def open_book(settings: Settings) -> Book:
    """The book of the settings."""
    return books.open_book(settings, Policy)


def _queries(given: Sequence[JudgedRecord]) -> list[JudgedRecord]:
    """One record for each query."""
    return list({judged.query.query_id: judged for judged in given}.values())


def _counted(labelled: Labelled) -> str:
    """State how many queries each golden set has, by category."""
    sets = []
    for name, judged_records in labelled.items():
        kinds = Counter(judged.query.category for judged in _queries(judged_records))
        by_category = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
        sets.append(f"{sum(kinds.values())} queries with {name} labels ({by_category})")
    return "; ".join(sets)


# -- arms -------------------------------------------------------------------------------------------------------------


def _rows(scored: ScoredSets, names: Sequence[str]) -> list[dict[str, object]]:
    """Return a row for each golden set and arm with the measures named, as far as it has them."""
    rows = []
    for labels, figures in scored.items():
        for arm, measures in figures.items():
            row: dict[str, object] = {"labels": labels, "arm": NAMES[arm]}
            for name in measures:
                row |= bounds(name, measures[name]) if name in names else {}
            rows.append(row)
    return rows


def arms_table(book: Book, labelled: Labelled, scored: ScoredSets) -> pandas.DataFrame:
    """Write who answers, who is silent and who is wrong; the CSV has all measures with their n: `arms`."""
    full = pandas.DataFrame(
        [
            {"labels": labels, "arm": NAMES[arm], "measure": name, "n": estimate.clusters} | bounds("value", estimate)
            for labels, figures in scored.items()
            for arm, measures in figures.items()
            for name, estimate in measures.items()
        ]
    )
    frame = pandas.DataFrame(_rows(scored, SILENCE))
    frame["arm"] = [_told_labels(row["arm"], row["labels"], labelled) for _, row in frame.iterrows()]
    shown = frame.drop(columns="labels")
    return book.table(shown, "arms", {"counted": _counted(labelled)}, full=full)


def citations_table(book: Book, labelled: Labelled, scored: ScoredSets) -> pandas.DataFrame:
    """Tabulate what citations are worth, and conflicts reported with answers: `citations`."""
    first_set = next(iter(scored))
    frame = pandas.DataFrame(_rows({first_set: scored[first_set]}, CITED)).drop(columns="labels")
    return book.table(frame, "citations", {"counted": _counted({first_set: labelled[first_set]})})


def published_table(book: Book, labelled: Labelled, scored: ScoredSets) -> pandas.DataFrame:
    """The measures of the dissertation, ours beside what it recorded and what its draft says: `published`."""
    rows = _rows(scored, AS_PUBLISHED)
    theirs = published()
    rows += [{"labels": "published", "arm": f"{name} (recorded)", **row} for name, row in theirs["recorded"].items()]
    rows += [{"labels": "published", "arm": f"{name} (draft)", **row} for name, row in theirs["draft"].items()]
    columns = ["labels", "arm", *(f"{name}{end}" for name in AS_PUBLISHED for end in ("", "_low", "_high"))]
    full = pandas.DataFrame(rows).reindex(columns=columns)
    left = [name for name in columns if not name.startswith(("labels", "MRR", "citation precision", "conflict prec"))]
    shown = full[left].assign(arm=[_told_labels(row["arm"], row["labels"], labelled) for _, row in full.iterrows()])
    words = {"counted": _counted(labelled), "source": theirs["source"], "corpus": theirs["corpus"]}
    return book.table(shown, "published", words, full=full, long=True)


def _told_labels(arm: str, labels: str, labelled: Labelled) -> str:
    """The arm with the labels where there are several."""
    return f"{arm}, {labels} labels" if len(labelled) > 1 and labels in labelled else arm


def outcomes_figure(book: Book, labelled: Labelled) -> Path:
    """Answered rightly, wrongly and not at all, by kind of query and arm: `outcomes`."""
    name, judged_records = next(iter(labelled.items()))
    tables = {title: _outcomes(judged_records, kind) for kind, title in KINDS.items()}
    fig = pictures.outcomes({title: table for title, table in tables.items() if len(table)}, PARTS, book.width)
    return book.figure(fig, "outcomes", {"counted": _counted({name: judged_records})})


def _outcomes(given: Sequence[JudgedRecord], kind: str) -> pandas.DataFrame:
    counts: dict[str, Counter[str]] = {}
    for judged in given:
        if judged.query.category == kind:
            outcome = "silent" if not judged.answered else "wrong" if judged.wrong else "right"
            counts.setdefault(NAMES[judged.record.arm], Counter())[outcome] += 1
    rows = [[count[o] for o in PARTS] for count in counts.values()]
    return pandas.DataFrame(rows, index=list(counts), columns=list(PARTS))


def paired_table(book: Book, labelled: Labelled) -> pandas.DataFrame:
    """Ours against each other arm, query by query: `paired`."""
    columns = {"arm": "arm", "other": "against", "only_arm_right": "ours alone right", "only_other_right": "it alone"}
    name, judged_records = next(iter(labelled.items()))
    frame = compare_arms(judged_records).rename(columns={**columns, "p_holm": "Holm p"})
    frame["against"] = [NAMES[arm] for arm in frame["against"]]
    shown = frame[["against", "queries", "ours alone right", "it alone", "p", "Holm p"]]
    return book.table(shown, "paired", {"counted": _counted({name: judged_records})})


def cases_table(book: Book, labelled: Labelled, arm: Arm = "ours") -> pandas.DataFrame:
    """Every query whose outcome is not right: `cases`."""
    name, judged_records = next(iter(labelled.items()))
    rows = [
        {
            "query": judged.query.query_id,
            "question": judged.query.question,
            "kind": judged.query.category,
            "what happened": f"silent: {judged.record.reason}" if not judged.answered else _wrongly(judged),
        }
        for judged in judged_records
        if judged.record.arm == arm and not judged.right
    ]
    frame = pandas.DataFrame(rows, columns=["query", "question", "kind", "what happened"])
    return book.table(frame, "cases", {"counted": _counted({name: judged_records}), "arm": NAMES[arm]})


def _wrongly(judged: JudgedRecord) -> str:
    if not judged.query.answerable:
        return "answered, though the text does not say"
    return "answered without a gold paragraph" + ("" if judged.paragraphs else ": nothing was found")


def model_table(book: Book, *studies: PolicyStudy) -> pandas.DataFrame:
    """Write arms with answers of a model, and with copied ones, on the same queries: `model`."""
    rows: list[dict[str, object]] = []
    for study in studies:
        name, judged_records = next(iter(study.labelled.items()))
        for arm, measures in study.scored(book.plan)[name].items():
            records = [judged.record for judged in judged_records if judged.record.arm == arm]
            row: dict[str, object] = {"arm": "B2, unchecked" if arm == "b2" else NAMES[arm]}
            row["answers"] = "chat" if records[0].requested["answers"] == "chat" else "copied"
            for measure in BY_MODEL:
                row |= bounds(measure, measures[measure])
            row["removed"] = sum(len(record.removed) for record in records)
            row["unusable"] = sum(UNUSABLE in record.reason for record in records)
            rows.append({**row, "tokens": sum(record.written for record in records) / len(records)})
    words = {"counted": _counted(dict([next(iter(studies[0].labelled.items()))]))}
    return book.table(pandas.DataFrame(rows), "model", words, decimals={"tokens": 0})


# -- silence ----------------------------------------------------------------------------------------------------------


def curve_of(given: Sequence[JudgedRecord], score: Mapping[str, float]) -> Curve:
    """Return coverage and risk, the surest answers first by a score for each query.

    Answers that are equally sure come together; silence counts as no answer.
    """
    answered = pandas.DataFrame(
        [(score[judged.query.query_id], judged.wrong) for judged in given if judged.answered],
        columns=["score", "wrong"],
    )
    sure = answered.groupby("score")["wrong"].agg(["size", "sum"]).sort_index(ascending=False).cumsum()
    return numpy.column_stack([sure["size"] / len(given), sure["sum"] / sure["size"]]).astype(float)


def point_of(given: Sequence[JudgedRecord]) -> OperatingPoint | None:
    """Return the point where an arm works by itself; None where it answers nothing."""
    answered = [judged for judged in given if judged.answered]
    return (
        OperatingPoint(len(answered) / len(given), sum(judged.wrong for judged in answered) / len(answered))
        if answered
        else None
    )


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
    shown = full.drop(columns=["alpha", "delta"])
    return book.table(shown, "silence", {"levels": _levels(certificates)}, full=full)


def _levels(certificates: Mapping[str, Certificate]) -> str:
    """The levels of the test, in words."""
    certificate = next(iter(certificates.values()))
    return f"alpha = {certificate.alpha:g}, delta = {certificate.delta:g}"


def risk_figure(book: Book, labelled: Labelled, certificate: Certificate) -> Path:
    """Wrong answers against answers, by arm: `risk`."""
    name, judged_records = next(iter(labelled.items()))
    by_arm: dict[Arm, list[JudgedRecord]] = {}
    for judged in judged_records:
        by_arm.setdefault(judged.record.arm, []).append(judged)
    curves = {
        name: curve_of(by_arm[arm], {judged.query.query_id: judged.record.confidence for judged in by_arm[scored_by]})
        for name, arm, scored_by in CURVES
        if arm in by_arm and scored_by in by_arm
    }
    points = {NAMES[arm]: point for arm, arm_records in by_arm.items() if (point := point_of(arm_records))}
    certified = NAMES["ours"] if certificate.certified else ""
    fig = pictures.risk_and_coverage(curves, points, certificate.alpha, certified, book.width)
    return book.figure(fig, "risk", {"counted": _counted({name: judged_records}), "threshold": certificate.text})


def latency_table(book: Book, seconds: Mapping[Arm, Sequence[float]]) -> pandas.DataFrame:
    """Tabulate how long a query takes, which differs from run to run: `latency`."""
    rows = [
        {
            "arm": NAMES[arm],
            "queries": len(durations),
            "all": sum(durations),
            "median": float(numpy.median(durations)),
            "95th percentile": float(numpy.quantile(durations, 0.95)),
            "longest": max(durations),
        }
        for arm, durations in seconds.items()
        if durations
    ]
    return book.table(pandas.DataFrame(rows), "latency")


# -- prose ------------------------------------------------------------------------------------------------------------


def numbers_file(
    book: Book,
    labelled: Labelled,
    scored: ScoredSets,
    certificates: Mapping[str, Certificate],
    tried: pandas.DataFrame,
    paragraphs: int,
) -> Path:
    """Write the headline figures as macros, each beginning with `Policy`: `numbers.tex`.

    Those by the first golden set carry no name of labels.
    """
    first_set, *_ = labelled
    macros = {"queries": str(len(_queries(labelled[first_set]))), "paragraphs": str(paragraphs)}
    for labels, figures in scored.items():
        prefix = "" if labels == first_set else f"{labels} "
        for arm, measures in figures.items():
            for name, estimate in measures.items():
                macros |= numbers.with_interval(f"{prefix}{arm} {name}", estimate.value, estimate.low, estimate.high)
    for labels, certificate in certificates.items():
        prefix = "" if labels == first_set else f"{labels} "
        words = {"certified": "certified" if certificate.certified else "not certified"}
        words |= {"answered": str(certificate.answered), "errors": str(certificate.errors), "n": str(certificate.n)}
        words |= {"threshold": numbers.number(certificate.threshold), "coverage": numbers.number(certificate.coverage)}
        words |= {"alpha": f"{certificate.alpha:g}", "delta": f"{certificate.delta:g}"}
        macros |= {f"{prefix}silence {name}": value for name, value in words.items()}
    for check, kind in product(CHECKS, TRIALS):
        estimate = share_rejected(tried, check, kind, book.plan)
        macros |= numbers.with_interval(f"{check} {kind} rejected", estimate.value, estimate.low, estimate.high)
    return book.numbers(macros, f"Cited or silent: {_counted(labelled)}.")


def sentences(scored: ScoredSets, certificates: Mapping[str, Certificate]) -> list[str]:
    """Return what the study shows on these queries, computed from its results."""
    lines = [
        f"{NAMES[arm]}, {labels} labels: answers {told(measures['answered'])} of the queries, wrong of those "
        f"{told(measures['wrong of answered'])}; right outcomes {told(measures['right'])}."
        for labels, figures in scored.items()
        for arm, measures in figures.items()
    ]
    return lines + [f"Silence, {labels} labels: {certificate.text}." for labels, certificate in certificates.items()]
