"""Tables of the parts by themselves: retrieval, checks, conflicts, critic, ratings."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas
import yaml

from ovrag_core.evaluation import Estimate
from ovrag_core.report import display, with_bounds
from ovrag_core.study import Book, bounds
from ovrag_studies.cited.critic.critic_rules import LABELS, CriticFinding
from ovrag_studies.cited.critic.critic_rules import NAMES as LABEL_NAMES
from ovrag_studies.cited.measuring.conflict_metrics import ConflictReport
from ovrag_studies.cited.measuring.critic_metrics import Snippet, assess_critic
from ovrag_studies.cited.measuring.perturbations import CHECKS, TRIALS, share_rejected
from ovrag_studies.cited.measuring.ratings import read_report

Ranks = Mapping[tuple[str, str], Mapping[str, Estimate]]  # measures by golden set and way of finding
Criticised = Mapping[str, Sequence[Sequence[CriticFinding]]]  # findings by critic and snippet


@cache
def published() -> dict[str, Any]:
    """Return the content of `published.yaml`: figures of the dissertation, which ours stand beside, by their names."""
    path = Path(__file__).parent / "measuring" / "published.yaml"
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def columns_of(measures: Mapping[str, Estimate]) -> dict[str, object]:
    """Return measures as the columns of a row, each with those of its interval."""
    return {column: value for name, estimate in measures.items() for column, value in bounds(name, estimate).items()}


def retrieval_table(book: Book, ranks: Ranks) -> pandas.DataFrame:
    """Write gold paragraphs among the first five, by labels and way of finding: `retrieval`."""
    rows = [
        {"labels": labels, "found by": way, "queries": measures["recall@5"].clusters} | columns_of(measures)
        for (labels, way), measures in ranks.items()
    ]
    rows += [
        {"labels": "published", "found by": f"{name} ({source})"}
        | {measure: values[measure] for measure in ("recall@5", "MRR@5") if measure in values}
        for source in ("recorded", "draft")
        for name, values in published()[source].items()
        if values.get("recall@5")
    ]
    return book.table(pandas.DataFrame(rows).astype({"queries": "Int64"}), "retrieval")


def checks_table(book: Book, tried: pandas.DataFrame) -> pandas.DataFrame:
    """Write what each check rejects of sentences as they are and made wrong: `checks`."""
    counts = tried["kind"].value_counts()
    rows = [
        {"sentences": title, "n": int(counts[kind])}
        | columns_of({check: share_rejected(tried, check, kind, book.plan) for check in CHECKS})
        for kind, title in TRIALS.items()
        if kind in counts
    ]
    texts = tried.loc[tried["kind"] == "unchanged", "group"].nunique()
    return book.table(pandas.DataFrame(rows), "checks", {"tried": len(tried), "texts": texts})


def conflicts_table(book: Book, reports: Mapping[str, ConflictReport], paragraphs: int) -> pandas.DataFrame:
    """Write conflicts found and lookalikes flagged, by system: `conflicts`. Nothing where no pairs are named."""
    if not reports:
        return pandas.DataFrame()
    names = "found", "lookalikes flagged", "other pairs flagged", "told apart"  # in the order of the report's fields
    rows = [
        {"system": system, **columns_of(dict(zip(names, report, strict=True)))} for system, report in reports.items()
    ]
    found, lookalikes, others, _ = (estimate.clusters for estimate in next(iter(reports.values())))
    words = {"conflicts": found, "lookalikes": lookalikes, "others": others, "paragraphs": paragraphs}
    return book.table(pandas.DataFrame(rows), "conflicts", words)


def critic_table(book: Book, snippets: Sequence[Snippet], found: Criticised) -> pandas.DataFrame:
    """Write the measures of each critic over all labels: `critic`."""
    rows: list[dict[str, object]] = []
    for critic, findings in found.items():
        report = assess_critic(snippets, findings, book.plan)
        row = {"critic": critic, **bounds("macro F1", report.macro_f1), "F1 of spans": report.span_f1}
        rows.append(row | columns_of({"exact match": report.exact, "neutral flagged": report.neutral_flagged}))
    rows += [{"critic": f"{name} (draft)", "macro F1": value} for name, value in published()["critic"].items()]
    return book.table(pandas.DataFrame(rows), "critic", _counted(snippets))


def critic_labels_table(book: Book, snippets: Sequence[Snippet], found: Criticised) -> pandas.DataFrame:
    """Write precision, recall and F1 by label and critic: `critic_labels`."""
    rows = []
    for critic, findings in found.items():
        report = assess_critic(snippets, findings, book.plan)
        for label, precision, recall, f1 in zip(LABELS, report.precision, report.recall, report.f1, strict=True):
            count = sum(label in snippet.labels for snippet in snippets)
            row = {"critic": critic, "label": f"{label} {LABEL_NAMES[label]}", "n": count}
            rows.append(row | columns_of({"precision": precision, "recall": recall, "F1": f1}))
    return book.table(pandas.DataFrame(rows), "critic_labels", _counted(snippets))


def _counted(snippets: Sequence[Snippet]) -> dict[str, object]:
    return {"snippets": len(snippets), "neutral": sum(not snippet.labels for snippet in snippets)}


def agreement_table(book: Book, folder: Path) -> pandas.DataFrame:
    """Return how far the first two raters of a folder agree, by scale; no rows until two have. Raises ResultError."""
    columns = ["scale", "answers", "agree", *with_bounds(["kappa", "PABAK"])]
    report = read_report(folder, book.plan)
    rows = [
        {"scale": scale, "answers": agreement.items, "agree": agreement.observed}
        | columns_of({"kappa": agreement.kappa, "PABAK": agreement.pabak})
        for scale, agreement in (report.agreement.items() if report else ())
    ]
    return display(pandas.DataFrame(rows, columns=columns), {name: name for name in columns})


def rating_means(book: Book, folder: Path) -> pandas.DataFrame:
    """Return the means of each arm by scale, over both raters; no rows until two have rated. Raises as the table."""
    report = read_report(folder, book.plan)
    return report.means.round(2) if report else pandas.DataFrame()
