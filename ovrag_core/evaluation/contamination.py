"""Compare the documents an answer is about with the one that was asked about.

What an answer is about is read from the passages it quotes; where a model quotes none, from the retrieved chunks, and
where a run recorded neither, from the answer's text (`ovrag_core.loop.identity`). The `basis` column says which.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import pandas as pd

from ovrag_core.base import QueryRecord, Violation
from ovrag_core.evaluation.confusion import EMPTY, bounds, cell, ordered, share_of, with_bounds
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.loop import KINDS, About


def about(documents: Collection[str], asked: str) -> About:
    """Classify documents: the asked one alone, it among others, only others, or none."""
    if not documents:
        return "none"
    if asked not in documents:
        return "other"
    return "asked" if set(documents) == {asked} else "mixed"


def source_frame(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """One row a query: what its answer and its retrieved chunks are about.

    Columns: arm, document_id, question_id, outcome, cell, about, main_source (the document most is quoted from),
    sources, basis (answer, retrieval or text), retrieved_about.
    """
    quoting = {record.model for record in records if record.answer and record.answer.evidence}
    rows = [_row(record, record.model in quoting) for record in ordered(records)]
    return pd.DataFrame(rows, columns=list(_row(EMPTY, False)))


def shares(frame: pd.DataFrame, plan: Resampling, column: str = "about") -> pd.DataFrame:
    """Per arm, the share of answers about the asked document, mixed, and only others, with intervals over documents.

    Answers about no document are counted in `none` and left out of the shares. `column` may be `retrieved_about`.
    """
    rows = []
    for arm, group in frame.groupby("arm", sort=False):
        attributed = group[group[column] != "none"]
        row: dict[str, object] = {"arm": arm, "answers": len(attributed), "none": len(group) - len(attributed)}
        for kind in KINDS[:3]:
            hits = attributed.assign(hit=attributed[column] == kind, answer=1)
            row |= bounds(kind, share_of(hits, "hit", "answer", plan))
        rows.append(row)
    return pd.DataFrame(rows, columns=["arm", "answers", "none", *with_bounds(KINDS[:3])])


def matrix(frame: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Queries of an arm by asked document (rows) and main source of the answer (columns), over all documents."""
    of_arm = frame[(frame["arm"] == arm) & (frame["main_source"] != "")]
    documents = sorted({*frame["document_id"], *frame.loc[frame["main_source"] != "", "main_source"]})
    counts = pd.crosstab(of_arm["document_id"], of_arm["main_source"])
    return counts.reindex(index=documents, columns=documents, fill_value=0)


def false_positive_frame(records: Sequence[QueryRecord]) -> pd.DataFrame:
    """Inventory of false positives: arm, document, question, outcome, cause, attempts, other sources, rules, words."""
    rows = []
    for record in ordered([record for record in records if cell(record) == "fp"]):
        clashes = clashes_of(record)
        foreign = sorted({chunk.document_id for chunk in record.retrieved} - {record.document_id})
        rules = sorted({violation.rule for violation in clashes})
        message = clashes[0].message if clashes else ""
        key = (record.arm, record.document_id, record.question_id, record.outcome, record.cause or "")
        rows.append((*key, record.attempt_count, ", ".join(foreign), ", ".join(rules), message))
    names = ["arm", "document_id", "question_id", "outcome", "cause", "attempts"]
    return pd.DataFrame(rows, columns=[*names, "chunks_also_from", "rules", "message"])


def wrong_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """Accepted answers that are about other documents only: arm, document, question, sources, basis."""
    accepted = frame["outcome"].isin(["accepted", "corrected"])
    wrong = frame[accepted & (frame["about"] == "other")]
    return wrong[["arm", "document_id", "question_id", "sources", "basis"]].reset_index(drop=True)


def clashes_of(record: QueryRecord) -> tuple[Violation, ...]:
    """The clashes of the last attempt that was judged; warnings are left out."""
    return tuple(violation for violation in last_violations(record) if violation.severity == "clash")


def last_violations(record: QueryRecord) -> tuple[Violation, ...]:
    """Everything that the last attempt that was judged breaks, warnings included."""
    verdicts = [attempt.verdict for attempt in record.attempts if attempt.verdict is not None]
    return verdicts[-1].violations if verdicts else ()


def _row(record: QueryRecord, model_quotes: bool) -> dict[str, object]:
    retrieved = [chunk.document_id for chunk in record.retrieved]
    quoted: Counter[str] = Counter()
    for passage in record.answer.evidence if record.answer else ():
        quoted[passage.document_id] += len(passage.quote)
    counted = quoted if model_quotes or record.answer is None else Counter(retrieved)
    main = min(counted, key=lambda name: (-counted[name], name), default="")
    sources, level = sorted(counted), about(counted, record.document_id)
    basis = "answer" if model_quotes else "retrieval"
    if not counted and record.recorded is not None and record.recorded.about is not None:
        level, basis, sources = record.recorded.about, "text", list(record.recorded.about_documents)
        main = sources[0] if sources else record.document_id if level == "asked" else ""
    return {
        "arm": record.arm,
        "document_id": record.document_id,
        "question_id": record.question_id,
        "outcome": record.outcome,
        "cell": cell(record),
        "about": level,
        "main_source": main,
        "sources": ", ".join(sources),
        "basis": basis,
        "retrieved_about": about(retrieved, record.document_id),
    }
