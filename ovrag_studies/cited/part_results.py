"""Tables and figures of the parts by themselves: retrieval, checks, conflicts, critic, ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy
import numpy.typing as npt
import pandas

from ovrag_core.evaluation.statistics import Estimate, ratio
from ovrag_core.report.tables import display
from ovrag_core.study.book import Book
from ovrag_core.study.scores import bounds
from ovrag_studies.cited import pictures
from ovrag_studies.cited.critic.criticism import LABELS, CriticFinding
from ovrag_studies.cited.critic.criticism import NAMES as LABEL_NAMES
from ovrag_studies.cited.measuring.conflict_metrics import ConflictReport
from ovrag_studies.cited.measuring.critic_metrics import CriticReport, Snippet, assess
from ovrag_studies.cited.measuring.dissertation import published
from ovrag_studies.cited.measuring.paragraph_ranks import RankedQuery, summarise_ranks
from ovrag_studies.cited.measuring.ratings import compare, read_key, read_pack, read_ratings
from ovrag_studies.cited.measuring.rejections import Trial, Tried, rejected

Table = npt.NDArray[numpy.float64]

# -- retrieval --------------------------------------------------------------------------------------------------------

Ranks = Mapping[tuple[str, str], Sequence[RankedQuery]]  # by golden set and way of finding


def retrieval_table(book: Book, ranks: Ranks) -> pandas.DataFrame:
    """Gold paragraphs among the first five, by labels and way of finding: `retrieval`."""
    rows: list[dict[str, object]] = []
    for (labels, way), given in ranks.items():
        row: dict[str, object] = {"labels": labels, "found by": way, "queries": len(given)}
        for name, found in _ranking(book, given).items():
            row |= bounds(name, found)
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
    frame = pandas.DataFrame(rows).astype({"queries": "Int64"})
    return book.table(frame, "retrieval")


def _plain(found: Estimate) -> dict[str, float | None]:
    """A figure as the columns of a picture."""
    return {"value": found.value, "low": found.low, "high": found.high}


def _ranking(book: Book, given: Sequence[RankedQuery]) -> dict[str, Estimate]:
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
    return book.figure(fig, "retrieval", {"counted": n})


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
    return book.table(shown, "checks", _checks_words(tries))


def checks_figure(book: Book, tries: Tries) -> Path:
    """The same drawn: `checks`."""
    fig = pictures.marks({"rejected": _checks(book, tries)}, "check", "sentences", book.width, levels={})
    return book.figure(fig, "checks", _checks_words(tries))


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


def _checks_words(tries: Tries) -> dict[str, object]:
    tried = next(iter(tries.values()))
    return {"tried": len(tried), "texts": len({each.group for each in tried if each.trial == "unchanged"})}


# -- conflicts --------------------------------------------------------------------------------------------------------


def conflicts_table(book: Book, reports: Mapping[str, ConflictReport], paragraphs: int) -> pandas.DataFrame:
    """Conflicts found and lookalikes flagged, by system: `conflicts`."""
    rows = []
    for system, each in reports.items():
        row: dict[str, object] = {"system": system, **bounds("found", each.found)}
        row |= bounds("lookalikes flagged", each.lookalikes) | bounds("other pairs flagged", each.others)
        row |= bounds("told apart", each.told_apart)
        row["missed"], row["mistaken"] = ", ".join(each.missed) or "none", ", ".join(each.mistaken) or "none"
        rows.append(row)
    first = next(iter(reports.values()))
    words = {"conflicts": first.found.clusters, "lookalikes": first.lookalikes.clusters, "paragraphs": paragraphs}
    words["others"] = first.others.clusters
    shown = pandas.DataFrame(rows)
    return book.table(shown.drop(columns=["missed", "mistaken"]), "conflicts", words, full=shown)


# -- critic -----------------------------------------------------------------------------------------------------------

Criticised = Mapping[str, Sequence[Sequence[CriticFinding]]]  # findings by critic and snippet


def critic_table(book: Book, snippets: Sequence[Snippet], found: Criticised) -> pandas.DataFrame:
    """What each critic is worth over all labels: `critic`."""
    rows: list[dict[str, object]] = []
    for critic, findings in found.items():
        report = _assessed(snippets, findings)
        row: dict[str, object] = {"critic": critic, **bounds("macro F1", _macro_f1(book, snippets, findings))}
        row |= {"F1 of spans": report.span_f1, **bounds("exact match", report.exact)}
        rows.append(row | bounds("neutral flagged", report.neutral_flagged))
    rows += [{"critic": f"{name} (draft)", "macro F1": value} for name, value in published()["critic"].items()]
    return book.table(pandas.DataFrame(rows), "critic", _snippets(snippets))


def critic_labels_table(book: Book, snippets: Sequence[Snippet], found: Criticised) -> pandas.DataFrame:
    """The same by label: `critic_labels`."""
    return book.table(_by_label(book, snippets, found), "critic_labels", _snippets(snippets))


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
    return book.figure(fig, "critic", _snippets(snippets))


def _assessed(snippets: Sequence[Snippet], findings: Sequence[Sequence[CriticFinding]]) -> CriticReport:
    following = iter(findings)
    return assess(snippets, lambda _: next(following))


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
            row |= bounds("precision", ratio(both, marked, book.plan)) | bounds("recall", ratio(both, given, book.plan))
            rows.append(row | bounds("F1", ratio([2 * each for each in both], total, book.plan)))
    return pandas.DataFrame(rows)


def _macro_f1(book: Book, snippets: Sequence[Snippet], findings: Sequence[Sequence[CriticFinding]]) -> Estimate:
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


def _snippets(snippets: Sequence[Snippet]) -> dict[str, object]:
    return {"snippets": len(snippets), "neutral": sum(not each.labels for each in snippets)}


# -- ratings ----------------------------------------------------------------------------------------------------------


def agreement_table(book: Book, folder: Path) -> pandas.DataFrame:
    """How far the first two raters of a folder agree, by scale; no rows until two have rated.

    Raises ResultError where the folder holds no pack, or ratings of another one.
    """
    pack = read_pack(folder)
    raters = read_ratings(folder, pack)
    columns = ["scale", "answers", "agree", "kappa", "kappa_low", "kappa_high", "PABAK", "PABAK_low", "PABAK_high"]
    if len(raters) < 2:
        return display(pandas.DataFrame(columns=columns), {})
    first, second = list(raters.values())[:2]
    report = compare(first, second, read_key(folder, pack), book.plan)
    rows = [
        {"scale": scale, "answers": each.items, "agree": each.observed}
        | bounds("kappa", each.kappa)
        | bounds("PABAK", each.pabak)
        for scale, each in report.agreement.items()
    ]
    return display(pandas.DataFrame(rows, columns=columns), {name: name for name in columns})
