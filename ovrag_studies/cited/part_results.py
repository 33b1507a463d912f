"""Tables of the parts by themselves: retrieval, checks, conflicts, critic, ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas

from ovrag_core.evaluation import Estimate
from ovrag_core.report import display
from ovrag_core.study import Book, bounds
from ovrag_studies.cited.critic.criticism import LABELS, CriticFinding
from ovrag_studies.cited.critic.criticism import NAMES as LABEL_NAMES
from ovrag_studies.cited.measuring.conflict_metrics import ConflictReport
from ovrag_studies.cited.measuring.critic_metrics import Snippet, assess_critic
from ovrag_studies.cited.measuring.dissertation import published
from ovrag_studies.cited.measuring.perturbations import CHECKS, TRIALS, share_rejected
from ovrag_studies.cited.measuring.ratings import read_report

Ranks = Mapping[tuple[str, str], Mapping[str, Estimate]]  # measures by golden set and way of finding
Criticised = Mapping[str, Sequence[Sequence[CriticFinding]]]  # findings by critic and snippet


def retrieval_table(book: Book, ranks: Ranks) -> pandas.DataFrame:
    """Write gold paragraphs among the first five, by labels and way of finding: `retrieval`."""
    rows: list[dict[str, object]] = []
    for (labels, way), measures in ranks.items():
        row: dict[str, object] = {"labels": labels, "found by": way, "queries": measures["recall@5"].clusters}
        for name, estimate in measures.items():
            row |= bounds(name, estimate)
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


def checks_table(book: Book, tried: pandas.DataFrame) -> pandas.DataFrame:
    """Write what each check rejects of sentences as they are and made wrong: `checks`."""
    rows = []
    for kind, title in TRIALS.items():
        if count := int((tried["kind"] == kind).sum()):
            row: dict[str, object] = {"sentences": title, "n": count}
            for check in CHECKS:
                row |= bounds(check, share_rejected(tried, check, kind, book.plan))
            rows.append(row)
    texts = tried.loc[tried["kind"] == "unchanged", "group"].nunique()
    return book.table(pandas.DataFrame(rows), "checks", {"tried": len(tried), "texts": texts})


def conflicts_table(book: Book, reports: Mapping[str, ConflictReport], paragraphs: int) -> pandas.DataFrame:
    """Write conflicts found and lookalikes flagged, by system: `conflicts`. Nothing where no pairs are named."""
    if not reports:
        return pandas.DataFrame()
    rows = []
    for system, report in reports.items():
        row: dict[str, object] = {"system": system, **bounds("found", report.found)}
        row |= bounds("lookalikes flagged", report.lookalikes) | bounds("other pairs flagged", report.others)
        row |= bounds("told apart", report.told_apart)
        row["missed"], row["mistaken"] = ", ".join(report.missed) or "none", ", ".join(report.mistaken) or "none"
        rows.append(row)
    first_report = next(iter(reports.values()))
    words = {
        "conflicts": first_report.found.clusters,
        "lookalikes": first_report.lookalikes.clusters,
        "paragraphs": paragraphs,
    }
    words["others"] = first_report.others.clusters
    shown = pandas.DataFrame(rows)
    return book.table(shown.drop(columns=["missed", "mistaken"]), "conflicts", words, full=shown)


def critic_table(book: Book, snippets: Sequence[Snippet], found: Criticised) -> pandas.DataFrame:
    """Write the measures of each critic over all labels: `critic`."""
    rows: list[dict[str, object]] = []
    for critic, findings in found.items():
        report = assess_critic(snippets, findings, book.plan)
        row: dict[str, object] = {"critic": critic, **bounds("macro F1", report.macro_f1)}
        row |= {"F1 of spans": report.span_f1, **bounds("exact match", report.exact)}
        rows.append(row | bounds("neutral flagged", report.neutral_flagged))
    rows += [{"critic": f"{name} (draft)", "macro F1": value} for name, value in published()["critic"].items()]
    return book.table(pandas.DataFrame(rows), "critic", _counted(snippets))


def critic_labels_table(book: Book, snippets: Sequence[Snippet], found: Criticised) -> pandas.DataFrame:
    """Write precision, recall and F1 by label and critic: `critic_labels`."""
    rows = []
    for critic, findings in found.items():
        report = assess_critic(snippets, findings, book.plan)
        for index, label in enumerate(LABELS):
            count = sum(label in snippet.labels for snippet in snippets)
            row: dict[str, object] = {"critic": critic, "label": f"{label} {LABEL_NAMES[label]}", "n": count}
            row |= bounds("precision", report.precision[index]) | bounds("recall", report.recall[index])
            rows.append(row | bounds("F1", report.f1[index]))
    return book.table(pandas.DataFrame(rows), "critic_labels", _counted(snippets))


def _counted(snippets: Sequence[Snippet]) -> dict[str, object]:
    return {"snippets": len(snippets), "neutral": sum(not snippet.labels for snippet in snippets)}


def agreement_table(book: Book, folder: Path) -> pandas.DataFrame:
    """Return how far the first two raters of a folder agree, by scale; no rows until two have rated.

    Raises ResultError where the folder holds no pack, or ratings of another one.
    """
    columns = ["scale", "answers", "agree", "kappa", "kappa_low", "kappa_high", "PABAK", "PABAK_low", "PABAK_high"]
    report = read_report(folder, book.plan)
    rows = [
        {"scale": scale, "answers": agreement.items, "agree": agreement.observed}
        | bounds("kappa", agreement.kappa)
        | bounds("PABAK", agreement.pabak)
        for scale, agreement in (report.agreement.items() if report else ())
    ]
    return display(pandas.DataFrame(rows, columns=columns), {name: name for name in columns})


def rating_means(book: Book, folder: Path) -> pandas.DataFrame:
    """Return the means of each arm by scale, over both raters; no rows until two have rated. Raises as the table."""
    report = read_report(folder, book.plan)
    return report.means.round(2) if report else pandas.DataFrame()
