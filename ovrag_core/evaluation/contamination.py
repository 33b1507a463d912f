"""Which documents an answer is about, compared with the one that was asked about.

What an answer is about is read from the passages it was taken from; what it could have been about, from the retrieved
chunks. Where a model quotes no passages at all, the retrieved chunks stand in for them, which the `basis` column says.
What an answer is found to be about from its text alone (`ovrag_core.loop.identity`) is measured against that, and
stands in for it where a run recorded neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import pandas as pd

from ovrag_core.base.types import QueryRecord, Violation
from ovrag_core.evaluation.confusion import arms_of, cell
from ovrag_core.evaluation.statistics import Resampling, ratio
from ovrag_core.loop.identity import KINDS, About, Shelf


def about(documents: Collection[str], asked: str) -> About:
    """Whether documents are the asked one alone, it among others, only others, or none."""
    if not documents:
        return "none"
    if asked not in documents:
        return "other"
    return "asked" if set(documents) == {asked} else "mixed"


def source_frame(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """One row a query: what its answer and its retrieved chunks are about.

    Columns: arm, document_id, question_id, outcome, cell, about, main_source (the document most is quoted from),
    sources, basis (answer, retrieval or text), retrieved_about, retrieved_from, asked_chunks, chunks.
    """
    quoting = {record.model for record in records if record.answer and record.answer.evidence}
    rank = {arm: place for place, arm in enumerate(arms_of(records))}
    ordered = sorted(records, key=lambda record: (rank[record.arm], record.document_id, record.question_id))
    rows = [_row(record, record.model in quoting) for record in ordered]
    names = ["arm", "document_id", "question_id", "outcome", "cell", "about", "main_source", "sources", "basis"]
    return pd.DataFrame(rows, columns=[*names, "retrieved_about", "retrieved_from", "asked_chunks", "chunks"])


def shares(frame: pd.DataFrame, plan: Resampling, column: str = "about") -> pd.DataFrame:
    """Per arm, the share of answers about the asked document, mixed, and only others, with intervals over documents.

    Answers about no document are counted in `none` and left out of the shares. `column` may be `retrieved_about`.
    """
    rows = []
    for arm, group in frame.groupby("arm", sort=False):
        known = group[group[column] != "none"]
        row: dict[str, object] = {"arm": arm, "answers": len(known), "none": len(group) - len(known)}
        for kind in KINDS[:3]:
            sums = known.assign(hit=known[column] == kind).groupby("document_id", sort=True)["hit"].agg(["sum", "size"])
            estimate = ratio(sums["sum"].tolist(), sums["size"].tolist(), plan)
            row |= {kind: estimate.value, f"{kind}_low": estimate.low, f"{kind}_high": estimate.high}
        rows.append(row)
    ends = [f"{kind}{end}" for kind in KINDS[:3] for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=["arm", "answers", "none", *ends])


def matrix(frame: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Queries of an arm by asked document (rows) and main source of the answer (columns), over all documents."""
    of_arm = frame[(frame["arm"] == arm) & (frame["main_source"] != "")]
    documents = sorted({*frame["document_id"], *frame.loc[frame["main_source"] != "", "main_source"]})
    counts = pd.crosstab(of_arm["document_id"], of_arm["main_source"])
    return counts.reindex(index=documents, columns=documents, fill_value=0)


def retrieved_frame(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """Where the chunks of each query came from: arm, document, question, asked_chunks, chunks, sources with counts.

    Sources are in the order of their first chunk. A run that does not say what was retrieved has no rows.
    """
    rank = {arm: place for place, arm in enumerate(arms_of(records))}
    found = [record for record in records if record.retrieved]
    rows = []
    for record in sorted(found, key=lambda record: (rank[record.arm], record.document_id, record.question_id)):
        counts = Counter(chunk.document_id for chunk in record.retrieved)
        sources = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in counts.items())
        key = (record.arm, record.document_id, record.question_id)
        rows.append((*key, counts[record.document_id], counts.total(), sources))
    return pd.DataFrame(rows, columns=["arm", "document_id", "question_id", "asked_chunks", "chunks", "sources"])


def false_positives(records: Sequence[QueryRecord]) -> list[QueryRecord]:
    """Queries about clean documents that were flagged, by arm, document and question."""
    rank = {arm: place for place, arm in enumerate(arms_of(records))}
    found = [record for record in records if cell(record) == "fp"]
    return sorted(found, key=lambda record: (rank[record.arm], record.document_id, record.question_id))


def false_positive_frame(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """Inventory of false positives: arm, document, question, outcome, cause, attempts, other sources, rules, words."""
    rows = []
    for record in false_positives(records):
        clashes = clashes_of(record)
        others = sorted({chunk.document_id for chunk in record.retrieved} - {record.document_id})
        rules = sorted({violation.rule for violation in clashes})
        message = clashes[0].message if clashes else ""
        key = (record.arm, record.document_id, record.question_id, record.outcome, record.cause or "")
        rows.append((*key, record.attempt_count, ", ".join(others), ", ".join(rules), message))
    names = [
        "arm",
        "document_id",
        "question_id",
        "outcome",
        "cause",
        "attempts",
        "chunks_also_from",
        "rules",
        "message",
    ]
    return pd.DataFrame(rows, columns=names)


def detected_frame(records: Sequence[QueryRecord], shelf: Shelf) -> pd.DataFrame:
    """One row an answer about a document of the shelf: what it is about, and what its text says it is about.

    Columns: arm, document_id, question_id, about (as in `source_frame`), detected (asked, mixed, other, none), by
    (text, context, nothing), detected_documents. The texts of the retrieved chunks are read as the answer's context;
    their documents' ids are used for nothing else.
    """
    sources = source_frame(records).set_index(["arm", "document_id", "question_id"])["about"]
    rows = []
    for record in records:
        if record.answer is None or record.document_id not in shelf.documents:
            continue
        found = shelf.judge(record.answer.text, record.document_id, context=_context(record, shelf))
        key = (record.arm, record.document_id, record.question_id)
        rows.append((*key, sources[key], found.about, found.by, ", ".join(found.documents)))
    names = ["arm", "document_id", "question_id", "about", "detected", "by", "detected_documents"]
    return pd.DataFrame(rows, columns=names)


def _context(record: QueryRecord, shelf: Shelf) -> list[str]:
    chunks = [chunk for chunk in record.retrieved if chunk.document_id in shelf.documents]
    return [shelf.documents[chunk.document_id].text[chunk.start : chunk.end] for chunk in chunks]


def detection(frame: pd.DataFrame, plan: Resampling) -> pd.DataFrame:
    """Per arm of a detected frame, precision and recall of "about other documents only", with intervals over documents.

    Answers of which the run does not show what they are about are left out of both and counted in `unknown`; `found` is
    the share of all answers detected.
    """
    rows = []
    for arm, group in frame.groupby("arm", sort=False):
        known = group[group["about"] != "none"]
        said, true = known["detected"] == "other", known["about"] == "other"
        row: dict[str, object] = {"arm": arm, "answers": len(group), "unknown": len(group) - len(known)}
        everything = pd.Series(data=True, index=group.index)
        for name, hits, of, among in (
            ("precision", said & true, said, known),
            ("recall", said & true, true, known),
            ("found", group["detected"] == "other", everything, group),
        ):
            sums = among.assign(hit=hits, of=of).groupby("document_id", sort=True)[["hit", "of"]].sum()
            estimate = ratio(sums["hit"].tolist(), sums["of"].tolist(), plan)
            row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        rows.append(row)
    ends = [f"{name}{end}" for name in ("precision", "recall", "found") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=["arm", "answers", "unknown", *ends])


def wrong_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """Accepted answers that are about other documents only: arm, document, question, sources, basis."""
    accepted = frame["outcome"].isin(["accepted", "corrected"])
    wrong = frame[accepted & (frame["about"] == "other")]
    return wrong[["arm", "document_id", "question_id", "sources", "basis"]].reset_index(drop=True)


def clashes_of(record: QueryRecord) -> tuple[Violation, ...]:
    """The clashes of the last attempt that was judged; warnings are left out."""
    verdicts = [attempt.verdict for attempt in record.attempts if attempt.verdict is not None]
    return tuple(v for v in verdicts[-1].violations if v.severity == "clash") if verdicts else ()


def _row(record: QueryRecord, model_quotes: bool) -> tuple[object, ...]:
    retrieved = [chunk.document_id for chunk in record.retrieved]
    quoted: Counter[str] = Counter()
    for passage in record.answer.evidence if record.answer else ():
        quoted[passage.document_id] += len(passage.quote)
    counted = quoted if model_quotes or record.answer is None else Counter(retrieved)
    main = min(counted, key=lambda name: (-counted[name], name)) if counted else ""
    sources, level = sorted(counted), about(counted, record.document_id)
    basis = "answer" if model_quotes else "retrieval"
    if not counted and record.recorded is not None and record.recorded.about is not None:
        level, basis, sources = record.recorded.about, "text", list(record.recorded.about_documents)
        main = sources[0] if sources else record.document_id if level == "asked" else ""
    return (
        record.arm,
        record.document_id,
        record.question_id,
        record.outcome,
        cell(record),
        level,
        main,
        ", ".join(sources),
        basis,
        about(retrieved, record.document_id),
        ", ".join(sorted(set(retrieved))),
        retrieved.count(record.document_id),
        len(retrieved),
    )
