"""Tables, figures and macros of the study, each with the note that says what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypedDict

import numpy
import numpy.typing as npt
import pandas
import yaml
from matplotlib.figure import Figure

from ovrag_core.evaluation.statistics import Estimate, Resampling, ratio, wilson
from ovrag_core.settings import Settings
from ovrag_core.studies.policy import pictures
from ovrag_core.studies.policy.conflict_metrics import ConflictReport
from ovrag_core.studies.policy.critic import LABELS, Finding
from ovrag_core.studies.policy.critic import NAMES as LABEL_NAMES
from ovrag_core.studies.policy.critic_metrics import CriticReport, Snippet
from ovrag_core.studies.policy.critic_metrics import assess as assess_critic
from ovrag_core.studies.policy.golden import Category
from ovrag_core.studies.policy.pictures import Curve, Point
from ovrag_core.studies.policy.rejections import Trial, Tried, rejected
from ovrag_core.studies.policy.retrieval_metrics import Ranked, summarise_ranks
from ovrag_core.studies.policy.scores import Figure as Measured
from ovrag_core.studies.policy.scores import Judged, compare_arms
from ovrag_core.studies.policy.settings import Arm, policy
from ovrag_core.studies.policy.silence import Certificate, least_answers
from ovrag_core.thesis import numbers
from ovrag_core.thesis.figures import FIGURES, save_figure
from ovrag_core.thesis.tables import TABLES, Note, write_table

FOLDER = "policy"
MODEL = "none but all-MiniLM-L6-v2 for vectors"
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
CITED = ("citation precision", "citation recall", "quotes that verify", "ungrounded claims")
CONFLICTS = ("conflict recall", "conflict precision", "conflicts told apart")
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
PARTS = ("right", "wrong", "silent")
KINDS: Mapping[Category, str] = {
    "answerable": "one rule answers",
    "contradiction": "two rules conflict",
    "unanswerable": "no rule answers",
}
WRONG = "Wrong: a query without an answer is answered, or no gold paragraph is cited"

Table = npt.NDArray[numpy.float64]
Labelled = Mapping[str, Sequence[Judged]]  # judged records by the name of the golden set
Scored = Mapping[str, Sequence[Measured]]


class Published(TypedDict):
    """Figures of the dissertation, by their names there."""

    source: str
    corpus: str
    recorded: dict[str, dict[str, float | None]]
    draft: dict[str, dict[str, float]]
    critic: dict[str, float]


@cache
def published() -> Published:
    """What `published.yaml` holds."""
    text = (files(__package__) / "published.yaml").read_text(encoding="utf-8")
    read: Published = yaml.safe_load(text)
    return read


@dataclass(frozen=True, slots=True)
class Book:
    """Where results go, how wide figures are, how intervals are made, and the chat model, if one was asked."""

    plan: Resampling
    width: float
    alpha: float
    chat: str = ""
    tables: Path = TABLES
    figures: Path = FIGURES

    def note(self, arm: str, n: str, interval: str = "", more: str = "") -> Note:
        """What a result rests on."""
        return Note(f"{MODEL}{self.chat and f'; {self.chat}'}", arm, n, interval and self._made(interval), more)

    def _made(self, how: str) -> str:
        return f"{self.plan.confidence:.0%}, {how}"

    @property
    def over_queries(self) -> str:
        """How intervals of shares and means over queries are made."""
        return f"over queries, Wilson for shares, bootstrap of {self.plan.samples} resamples for means"


def open_book(settings: Settings) -> Book:
    """The book of the settings."""
    options = policy(settings)
    drawn = options.experiments
    chat = settings.llm.model if settings.llm.provider != "offline" else ""
    plan = Resampling(drawn.bootstrap_samples, drawn.confidence, drawn.seed)
    return Book(plan, settings.figures.text_width_inches, options.silence.alpha, chat)


def _table(
    book: Book, frame: pandas.DataFrame, name: str, caption: str, note: Note, full: pandas.DataFrame | None = None
) -> pandas.DataFrame:
    (book.tables / FOLDER).mkdir(parents=True, exist_ok=True)
    headers = {str(column): str(column) for column in frame.columns}
    return write_table(frame, f"{FOLDER}/{name}", caption, note, folder=book.tables, headers=headers, full=full)


def _figure(book: Book, fig: Figure, name: str, caption: str, note: Note) -> Path:
    (book.figures / FOLDER).mkdir(parents=True, exist_ok=True)
    return save_figure(fig, f"{FOLDER}/{name}", caption=caption, note=note, folder=book.figures)


def _bounds(name: str, found: Estimate) -> dict[str, float | None]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _queries(given: Sequence[Judged]) -> list[Judged]:
    """One record for each query."""
    return list({each.query.query_id: each for each in given}.values())


def _counted(labelled: Labelled) -> str:
    """How many queries each golden set has, by category."""
    told = []
    for name, given in labelled.items():
        kinds = Counter(each.query.category for each in _queries(given))
        parts = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
        told.append(f"{sum(kinds.values())} queries with {name} labels ({parts})")
    return "; ".join(told)


# -- retrieval --------------------------------------------------------------------------------------------------------

Ranks = Mapping[tuple[str, str], Sequence[Ranked]]  # by golden set and way of finding


def retrieval_table(book: Book, ranks: Ranks) -> pandas.DataFrame:
    """Gold paragraphs among the first five, by labels and way of finding: `retrieval`."""
    rows: list[dict[str, object]] = []
    for (labels, way), given in ranks.items():
        row: dict[str, object] = {"labels": labels, "found by": way, "queries": len(given)}
        for name, found in _ranking(book, given).items():
            row |= _bounds(name, found)
        rows.append(row)
    for run, values in published()["recorded"].items():
        if values["recall@5"]:
            shown = {"recall@5": values["recall@5"], "MRR@5": values["MRR@5"]}
            rows.append({"labels": "published", "found by": f"{run} (recorded)", **shown})
    rows += [
        {"labels": "published", "found by": f"{name} (draft)", "recall@5": values["recall@5"]}
        for name, values in published()["draft"].items()
        if "recall@5" in values
    ]
    more = "Recorded and draft: another corpus, unless the study runs on it; the draft's figure is in no run"
    note = book.note("retrieval", "queries with gold paragraphs, as listed", book.over_queries, more)
    frame = pandas.DataFrame(rows).astype({"queries": "Int64"})
    return _table(book, frame, "retrieval", "Gold paragraphs among the first five found.", note)


def _ranking(book: Book, given: Sequence[Ranked]) -> dict[str, Estimate]:
    titles = {"recall_at_5": "recall@5", "mrr_at_5": "MRR@5", "first_is_gold": "first is gold"}
    return {titles[name]: found for name, found in summarise_ranks(given, book.plan).items()}


def retrieval_figure(book: Book, ranks: Ranks) -> Path:
    """The same drawn: `retrieval`."""
    rows = [
        {"labels": f"{labels} labels", "found by": way, "measure": name, **_plain(found)}
        for (labels, way), given in ranks.items()
        for name, found in _ranking(book, given).items()
    ]
    frame = pandas.DataFrame(rows)
    tables = {str(name): part for name, part in frame.groupby("measure", sort=False)}
    fig = pictures.marks(tables, "labels", "found by", book.width, levels={})
    counts = {labels: len(given) for (labels, _), given in ranks.items()}
    n = ", ".join(f"{count} queries with gold paragraphs by {labels} labels" for labels, count in counts.items())
    note = book.note("retrieval", n, book.over_queries)
    return _figure(book, fig, "retrieval", "Gold paragraphs among the first five found.", note)


def _plain(found: Estimate) -> dict[str, float | None]:
    return {"value": found.value, "low": found.low, "high": found.high}


# -- arms -------------------------------------------------------------------------------------------------------------


def _rows(scored: Scored, names: Sequence[str]) -> list[dict[str, object]]:
    rows: dict[tuple[str, Arm], dict[str, object]] = {}
    for labels, figures in scored.items():
        for each in figures:
            row = rows.setdefault((labels, each.arm), {"labels": labels, "arm": NAMES[each.arm]})
            if each.measure in names:
                row |= _bounds(each.measure, each.estimate)
    return list(rows.values())


def arms_table(book: Book, labelled: Labelled, scored: Scored) -> pandas.DataFrame:
    """Who answers, who is silent and who is wrong; the CSV has all measures with their n: `arms`."""
    full = pandas.DataFrame(
        [
            {"labels": labels, "arm": NAMES[each.arm], "measure": each.measure, "n": each.estimate.clusters}
            | _bounds("value", each.estimate)
            for labels, figures in scored.items()
            for each in figures
        ]
    )
    more = f"{WRONG}. Right: not wrong where there is an answer, silent where there is none. Answer rate: of answerable"
    note = book.note("each", _counted(labelled), book.over_queries, more)
    frame = pandas.DataFrame(_rows(scored, SILENCE))
    return _table(book, frame, "arms", "Who answers, who is silent, and who is wrong.", note, full)


def citations_table(book: Book, labelled: Labelled, scored: Scored) -> pandas.DataFrame:
    """What citations are worth, and conflicts reported with answers: `citations`."""
    first = next(iter(scored))
    frame = pandas.DataFrame(_rows({first: scored[first]}, (*CITED, *CONFLICTS))).drop(columns="labels")
    more = (
        "Quotes verify: they stand at their place, unchanged. Ungrounded: claims that fail one of the three rules. "
        "Both are shares of sentences, taken as independent. Told apart: superseded or unresolved, of conflicts found"
    )
    note = book.note("each", _counted({first: labelled[first]}), book.over_queries, more)
    return _table(book, frame, "citations", "Citations and conflicts of the answers given.", note)


def published_table(book: Book, labelled: Labelled, scored: Scored) -> pandas.DataFrame:
    """The measures of the dissertation, ours beside what it recorded and what its draft says: `published`."""
    rows = _rows(scored, AS_PUBLISHED)
    theirs = published()
    rows += [{"labels": "published", "arm": f"{name} (recorded)", **row} for name, row in theirs["recorded"].items()]
    rows += [{"labels": "published", "arm": f"{name} (draft)", **row} for name, row in theirs["draft"].items()]
    columns = ["labels", "arm", *(f"{name}{end}" for name in AS_PUBLISHED for end in ("", "_low", "_high"))]
    frame = pandas.DataFrame(rows).reindex(columns=columns)
    more = f"Recorded, and in the draft alone: {theirs['source']}, {theirs['corpus']}. Extractive: its 44 test queries"
    note = book.note("each", _counted(labelled), book.over_queries, more)
    return _table(book, frame, "published", "The measures of the dissertation, ours beside its own.", note)


def outcomes_figure(book: Book, labelled: Labelled) -> Path:
    """Answered rightly, wrongly and not at all, by kind of query and arm: `outcomes`."""
    name, given = next(iter(labelled.items()))
    tables = {title: _outcomes(given, kind) for kind, title in KINDS.items()}
    fig = pictures.outcomes({title: table for title, table in tables.items() if len(table)}, PARTS, book.width)
    note = book.note("each", _counted({name: given}), more=WRONG)
    return _figure(book, fig, "outcomes", "Answered rightly, answered wrongly, and not answered.", note)


def _outcomes(given: Sequence[Judged], kind: str) -> pandas.DataFrame:
    counts: dict[str, Counter[str]] = {}
    for each in given:
        if each.query.category == kind:
            said = "silent" if not each.answered else "wrong" if each.wrong else "right"
            counts.setdefault(NAMES[each.record.arm], Counter())[said] += 1
    rows = [[count[part] for part in PARTS] for count in counts.values()]
    return pandas.DataFrame(rows, index=list(counts), columns=list(PARTS))


def paired_table(book: Book, labelled: Labelled) -> pandas.DataFrame:
    """Ours against each other arm, query by query: `paired`."""
    columns = {"arm": "arm", "other": "against", "only_arm_right": "ours alone right", "only_other_right": "it alone"}
    name, given = next(iter(labelled.items()))
    frame = compare_arms(given).rename(columns={**columns, "p_holm": "Holm p"})
    frame["against"] = [NAMES[arm] for arm in frame["against"]]
    note = book.note("ours against each", _counted({name: given}), more="p: exact McNemar over queries, before Holm")
    shown = frame[["against", "queries", "ours alone right", "it alone", "p", "Holm p"]]
    return _table(book, shown, "paired", "Right outcomes of ours and of the others on the same queries.", note)


def cases_table(book: Book, labelled: Labelled, arm: Arm = "ours") -> pandas.DataFrame:
    """Every query whose outcome is not right: `cases`."""
    name, given = next(iter(labelled.items()))
    rows = [
        {
            "query": each.query.query_id,
            "question": each.query.question,
            "kind": each.query.category,
            "what happened": f"silent: {each.record.reason}" if not each.answered else _wrongly(each),
        }
        for each in given
        if each.record.arm == arm and not each.right
    ]
    frame = pandas.DataFrame(rows, columns=["query", "question", "kind", "what happened"])
    note = book.note(NAMES[arm], _counted({name: given}), more=WRONG)
    return _table(book, frame, "cases", "Queries that are not answered rightly, or not rightly left open.", note)


def _wrongly(judged: Judged) -> str:
    if not judged.query.answerable:
        return "answered, though the text does not say"
    return "answered without a gold paragraph" + ("" if judged.paragraphs else ": nothing was found")


# -- silence ----------------------------------------------------------------------------------------------------------


def curve_of(given: Sequence[Judged]) -> Curve:
    """Coverage and risk, the surest answers first; answers of one confidence come together, silence counts as none."""
    answered = sorted((each for each in given if each.answered), key=lambda each: -each.record.confidence)
    points = []
    wrong = 0
    for place, each in enumerate(answered, 1):
        wrong += each.wrong
        following = answered[place].record.confidence if place < len(answered) else None
        if following != each.record.confidence:
            points.append((place / len(given), wrong / place))
    return numpy.array(points, dtype=float).reshape(-1, 2)


def point_of(given: Sequence[Judged]) -> Point | None:
    """Where an arm works by itself; None where it answers nothing."""
    answered = [each for each in given if each.answered]
    return Point(len(answered) / len(given), sum(each.wrong for each in answered) / len(answered)) if answered else None


def silence_table(book: Book, certificates: Mapping[str, Certificate]) -> pandas.DataFrame:
    """The test of the threshold, by labels that it was calibrated on: `silence`."""
    rows = [
        {
            "labels": labels,
            "alpha": each.alpha,
            "delta": each.delta,
            "queries": each.n,
            "least answers": least_answers(each.alpha, each.delta),
            "certified": each.certified,
            "threshold": each.threshold,
            "answered": each.answered,
            "wrong": each.errors,
            **_bounds("coverage", wilson(each.answered, each.n, book.plan.confidence)),
            **_bounds("risk", wilson(each.errors, each.answered, book.plan.confidence)),
            "p": each.p,
        }
        for labels, each in certificates.items()
    ]
    more = (
        "Learn-then-test over thresholds from strict to lax, on cross-fitted scores. p: of no more errors at a risk of "
        "alpha. Where it is not certified, the counts are those of the threshold that failed. It holds for queries "
        "that are exchangeable with these. Least answers: fewer cannot be certified even without an error"
    )
    note = book.note("ours", "queries, as listed", "Wilson, over queries", more)
    return _table(book, pandas.DataFrame(rows), "silence", "The threshold below which the system is silent.", note)


def risk_figure(book: Book, labelled: Labelled, certificate: Certificate) -> Path:
    """Wrong answers against answers, by arm: `risk`."""
    name, given = next(iter(labelled.items()))
    by_arm: dict[Arm, list[Judged]] = {}
    for each in given:
        by_arm.setdefault(each.record.arm, []).append(each)
    curves = {NAMES[arm]: curve_of(by_arm[arm]) for arm in ("no_silence", "b2") if arm in by_arm}
    points = {NAMES[arm]: point for arm, of in by_arm.items() if (point := point_of(of))}
    certified = NAMES["ours"] if certificate.certified else ""
    fig = pictures.risk_and_coverage(curves, points, certificate.alpha, certified, book.width)
    more = f"{WRONG}. Lines: the answers of an arm from the surest on. Threshold of ours {certificate.text}"
    note = book.note("each", _counted({name: given}), more=more)
    return _figure(book, fig, "risk", "Share of wrong answers by share of queries answered.", note)


# -- verification -----------------------------------------------------------------------------------------------------

TRIALS: Mapping[Trial, str] = {
    "unchanged": "unchanged",
    "must": "must and must not swapped",
    "number": "a number changed",
    "paragraph": "another paragraph",
}
Tries = Mapping[str, Sequence[Tried]]


def checks_table(book: Book, tries: Tries) -> pandas.DataFrame:
    """What each check rejects of sentences as they are and made wrong: `checks`."""
    frame = _checks(book, tries)
    shown = pandas.DataFrame(
        [
            {"sentences": trial, "n": part["n"].iloc[0]}
            | {
                column: value
                for _, row in part.iterrows()
                for column, value in (
                    (row["check"], row["value"]),
                    (f"{row['check']}_low", row["low"]),
                    (f"{row['check']}_high", row["high"]),
                )
            }
            for trial, part in frame.groupby("sentences", sort=False)
        ]
    )
    return _table(book, shown, "checks", "Share of sentences that each check rejects.", _checks_note(book, tries))


def checks_figure(book: Book, tries: Tries) -> Path:
    """The same drawn: `checks`."""
    fig = pictures.marks({"rejected": _checks(book, tries)}, "check", "sentences", book.width, levels={})
    return _figure(book, fig, "checks", "Share of sentences that each check rejects.", _checks_note(book, tries))


def _checks(book: Book, tries: Tries) -> pandas.DataFrame:
    rows = [
        {
            "check": check,
            "sentences": title,
            "n": sum(each.trial == trial for each in tried),
            **_plain(rejected(tried, trial, book.plan)),
        }
        for trial, title in TRIALS.items()
        for check, tried in tries.items()
        if any(each.trial == trial for each in tried)
    ]
    return pandas.DataFrame(rows)


def _checks_note(book: Book, tries: Tries) -> Note:
    tried = next(iter(tries.values()))
    texts = len({each.group for each in tried if each.trial == "unchanged"})
    n = f"{len(tried)} sentences of the {texts} paragraphs of the corpus, as they are and made wrong"
    how = f"over paragraphs, bootstrap of {book.plan.samples} resamples, Wilson where all are treated alike"
    more = (
        "Each is checked against its own paragraph, or another one. What is unchanged should pass, all else should not"
    )
    return book.note("verification", n, how, more)


# -- conflicts --------------------------------------------------------------------------------------------------------


def conflicts_table(book: Book, reports: Mapping[str, ConflictReport], paragraphs: int) -> pandas.DataFrame:
    """Conflicts found and lookalikes flagged, by system: `conflicts`."""
    rows = []
    for system, each in reports.items():
        row: dict[str, object] = {"system": system, **_bounds("found", each.found)}
        row |= _bounds("lookalikes flagged", each.lookalikes) | _bounds("other pairs flagged", each.others)
        row |= _bounds("told apart", each.told_apart)
        row["missed"], row["mistaken"] = ", ".join(each.missed) or "none", ", ".join(each.mistaken) or "none"
        rows.append(row)
    first = next(iter(reports.values()))
    n = f"{first.found.clusters} conflicts, {first.lookalikes.clusters} lookalikes, {first.others.clusters} other pairs"
    more = "Told apart: superseded or unresolved, of the conflicts found. The published rule only names paragraphs"
    note = book.note("conflicts", f"{n} of {paragraphs} paragraphs", "Wilson, over pairs", more)
    shown = pandas.DataFrame(rows)
    caption = "Conflicts found, and pairs flagged that do not conflict."
    return _table(book, shown.drop(columns=["missed", "mistaken"]), "conflicts", caption, note, full=shown)


# -- critic -----------------------------------------------------------------------------------------------------------

Criticised = Mapping[str, Sequence[Sequence[Finding]]]  # findings by critic and snippet
LEARNED = "Weights were learned from the samples' snippets among others: on the samples their figures measure nothing"


def critic_table(book: Book, snippets: Sequence[Snippet], found: Criticised) -> pandas.DataFrame:
    """What each critic is worth over all labels: `critic`."""
    rows: list[dict[str, object]] = []
    for critic, findings in found.items():
        report = _assessed(snippets, findings)
        row: dict[str, object] = {"critic": critic, **_bounds("macro F1", _macro_f1(book, snippets, findings))}
        row |= {"F1 of spans": report.span_f1, **_bounds("exact match", report.exact)}
        rows.append(row | _bounds("neutral flagged", report.neutral_flagged))
    rows += [{"critic": f"{name} (draft)", "macro F1": value} for name, value in published()["critic"].items()]
    more = f"{LEARNED}. The draft's table is of other categories and other snippets"
    note = book.note("critic", _snippets(snippets), f"over snippets, {_percentiles(book)}; Wilson for shares", more)
    return _table(book, pandas.DataFrame(rows), "critic", "What critics of policy prose are worth.", note)


def critic_labels_table(book: Book, snippets: Sequence[Snippet], found: Criticised) -> pandas.DataFrame:
    """The same by label: `critic_labels`."""
    note = book.note("critic", _snippets(snippets), _over_snippets(book), LEARNED)
    return _table(book, _by_label(book, snippets, found), "critic_labels", "The critics by label.", note)


def critic_figure(book: Book, snippets: Sequence[Snippet], found: Criticised) -> Path:
    """Precision, recall and F1 by label and critic: `critic`."""
    frame = _by_label(book, snippets, found)
    names = ("precision", "recall", "F1")
    tables = {
        name: pandas.DataFrame(
            {
                "critic": frame["critic"],
                "label": frame["label"],
                "value": frame[name],
                "low": frame[f"{name}_low"],
                "high": frame[f"{name}_high"],
            }
        )
        for name in names
    }
    fig = pictures.marks(tables, "critic", "label", book.width, levels={})
    note = book.note("critic", _snippets(snippets), _over_snippets(book), LEARNED)
    return _figure(book, fig, "critic", "Findings of the critics by label.", note)


def _assessed(snippets: Sequence[Snippet], findings: Sequence[Sequence[Finding]]) -> CriticReport:
    following = iter(findings)
    return assess_critic(snippets, lambda _: next(following))


def _by_label(book: Book, snippets: Sequence[Snippet], found: Criticised) -> pandas.DataFrame:
    rows = []
    for critic, findings in found.items():
        said = [{each.label for each in of} for of in findings]
        for label in LABELS:
            given = [float(label in each.labels) for each in snippets]
            marked = [float(label in each) for each in said]
            both = [one * other for one, other in zip(given, marked, strict=True)]
            total = [one + other for one, other in zip(given, marked, strict=True)]
            row: dict[str, object] = {"critic": critic, "label": f"{label} {LABEL_NAMES[label]}", "n": int(sum(given))}
            row |= _bounds("precision", ratio(both, marked, book.plan)) | _bounds(
                "recall", ratio(both, given, book.plan)
            )
            rows.append(row | _bounds("F1", ratio([2 * each for each in both], total, book.plan)))
    return pandas.DataFrame(rows)


def _macro_f1(book: Book, snippets: Sequence[Snippet], findings: Sequence[Sequence[Finding]]) -> Estimate:
    """Macro F1 with percentiles of resamples of snippets; a label without a trace in a resample is left out of it."""
    given = numpy.array([[label in each.labels for label in LABELS] for each in snippets], dtype=float)
    said = numpy.array([[any(one.label == label for one in of) for label in LABELS] for of in findings], dtype=float)
    drawn = numpy.random.default_rng(book.plan.seed).integers(0, len(snippets), (book.plan.samples, len(snippets)))
    values = [_mean_f1(given[rows], said[rows]) for rows in drawn]
    tail = (1 - book.plan.confidence) / 2
    low, high = (float(each) for each in numpy.nanquantile(values, [tail, 1 - tail]))
    return Estimate(_mean_f1(given, said), low, high, len(snippets), "percentile")


def _mean_f1(given: Table, said: Table) -> float:
    total = given.sum(axis=0) + said.sum(axis=0)
    right = 2 * (given * said).sum(axis=0)
    known = total > 0
    return float((right[known] / total[known]).mean()) if known.any() else float("nan")


def _snippets(snippets: Sequence[Snippet]) -> str:
    neutral = sum(not each.labels for each in snippets)
    return f"{len(snippets)} snippets, {neutral} of them neutral"


def _percentiles(book: Book) -> str:
    return f"percentiles of {book.plan.samples} resamples"


def _over_snippets(book: Book) -> str:
    return f"over snippets, bootstrap of {book.plan.samples} resamples"


def latency_table(book: Book, seconds: Mapping[Arm, Sequence[float]]) -> pandas.DataFrame:
    """How long a query takes, which differs from run to run: `latency`."""
    rows = [
        {
            "arm": NAMES[arm],
            "queries": len(taken),
            "all": sum(taken),
            "median": float(numpy.median(taken)),
            "95th percentile": float(numpy.quantile(taken, 0.95)),
            "longest": max(taken),
        }
        for arm, taken in seconds.items()
        if taken
    ]
    more = "Seconds of the clock; what the arms share is made once, within the first query that needs it"
    note = book.note("each", "queries, as listed", more=more)
    return _table(book, pandas.DataFrame(rows), "latency", "Seconds for a query.", note)


# -- prose ------------------------------------------------------------------------------------------------------------


def numbers_file(
    book: Book,
    labelled: Labelled,
    scored: Scored,
    certificates: Mapping[str, Certificate],
    tries: Tries,
    paragraphs: int,
) -> Path:
    """The headline figures as macros, each beginning with `Policy`: `numbers.tex`."""
    first = next(iter(labelled.values()))
    told = {"queries": str(len(_queries(first))), "paragraphs": str(paragraphs)}
    for labels, figures in scored.items():
        for each in figures:
            told |= _macro(f"{labels} {each.arm} {each.measure}", each.estimate)
    for labels, certificate in certificates.items():
        words = {"certified": "certified" if certificate.certified else "not certified"}
        words |= {"answered": str(certificate.answered), "errors": str(certificate.errors), "n": str(certificate.n)}
        words |= {"threshold": numbers.number(certificate.threshold), "coverage": numbers.number(certificate.coverage)}
        words |= {"alpha": f"{certificate.alpha:g}", "delta": f"{certificate.delta:g}"}
        told |= {f"{labels} silence {name}": value for name, value in words.items()}
    for check, tried in tries.items():
        for trial in TRIALS:
            told |= _macro(f"{check} {trial} rejected", rejected(tried, trial, book.plan))
    named = {numbers.macro_name("policy", name): value for name, value in told.items()}
    comment = f"Cited or silent: {_counted(labelled)}."
    return numbers.write_numbers(named, book.tables / FOLDER / "numbers.tex", comment)


def _macro(name: str, found: Estimate) -> dict[str, str]:
    bounds = None if found.low is None or found.high is None else [found.low, found.high]
    return {name: numbers.number(found.value), f"{name} interval": numbers.interval(bounds)}


def sentences(scored: Scored, certificates: Mapping[str, Certificate]) -> list[str]:
    """What the study shows on these queries, computed from its results."""
    lines = []
    for labels, figures in scored.items():
        by_arm: dict[Arm, dict[str, Estimate]] = {}
        for each in figures:
            by_arm.setdefault(each.arm, {})[each.measure] = each.estimate
        lines += [
            f"{NAMES[arm]}, {labels} labels: answers {_told(found['answered'])} of the queries, wrong of those "
            f"{_told(found['wrong of answered'])}; right outcomes {_told(found['right'])}."
            for arm, found in by_arm.items()
        ]
    lines += [f"Silence, {labels} labels: {each.text}." for labels, each in certificates.items()]
    return lines


def _told(found: Estimate) -> str:
    bounds = None if found.low is None or found.high is None else [found.low, found.high]
    return numbers.number(found.value) + (f" {numbers.interval(bounds)}" if bounds else "")
