"""Answers about the wrong contract: tables and figures of a run."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ovrag_core.base import QueryRecord
from ovrag_core.evaluation import contamination
from ovrag_core.report import figures
from ovrag_core.report.run import MARK, UNRECORDED, Run, counted, integers, number_of, save, source, write
from ovrag_core.report.tables import with_bounds

BASES = {
    "answer": "the passages it quotes",
    "retrieval": "retrieved chunks where none are quoted",
    "text": "its text where neither was recorded",
}

NO_ONE = "no one alone"
_COMMONEST = 10  # rows of an arm


def contamination_table(run: Run, sources: pd.DataFrame) -> pd.DataFrame:
    """Shares of answers, and of retrieved chunks, about the asked contract, mixed, or only others: `contamination`."""
    frames: list[pd.DataFrame] = []
    for subject, column in (("answer", "about"), ("retrieved chunks", "retrieved_about")):
        frame = contamination.shares(sources, run.plan, column)
        frame.insert(1, "of", subject)
        frames += [frame] if frame["answers"].any() or not frames else []
    names = dict(zip(with_bounds(["other"]), with_bounds(["others_only"]), strict=True))
    table = pd.concat(frames, ignore_index=True).rename(columns={"answers": "n", **names})
    basis = ", ".join(BASES[name] for name in BASES if name in set(sources["basis"]))
    note = run.note(more=f"What an answer is about is read from {basis}; n leaves out answers about nothing (none)")
    caption = "Which contract answers and retrieved chunks are about, by arm."
    return write(run, table, "contamination", caption, note)


def false_positive_table(run: Run) -> pd.DataFrame:
    """Inventory of false positives, published ones beside them: `false_positives`, a row a query.

    In LaTeX queries that share arm, question, chunks and rules are counted.
    """
    table = contamination.false_positive_frame(run.records)
    if run.published and "ovrag" in run.arms:
        rows = pd.DataFrame(run.published.false_positives).assign(arm=f"ovrag {MARK}", attempts=4)
        rows = rows.assign(outcome="hard_rejected", rules=rows["message"])  # no rules were published, but the clash was
        table = pd.concat([rows, table], ignore_index=True)[list(table.columns)]
        table = integers(table, ["attempts"])
    note = run.note(interval=False, more=source(run))
    short = table.copy()
    short.loc[short["arm"].isin(run.lacking(lambda record: record.retrieved)), "chunks_also_from"] = UNRECORDED
    short.loc[short["arm"].isin(run.lacking(_explained)), "rules"] = UNRECORDED
    short = counted(short, ["arm", "question_id", "chunks_also_from", "rules"])
    caption = "False positives by arm, question and chunks."
    return write(run, short, "false_positives", caption, note, rows=25, long=True, full=table)


def wrong_answer_table(run: Run, sources: pd.DataFrame) -> pd.DataFrame:
    """Accepted answers about other contracts only: `wrong_contract_answers`, in LaTeX counted by what they quote."""
    table = contamination.wrong_answers(sources)
    short = counted(table, ["arm", "question_id", "sources", "basis"])
    short = short.sort_values("queries", ascending=False, kind="stable")
    short = short.sort_values("arm", key=lambda arms: arms.map(run.arms.index), kind="stable")
    shown = short.groupby("arm", sort=False).head(_COMMONEST).reset_index(drop=True)
    shown = shown.assign(sources=shown["sources"].replace("", NO_ONE))
    more = "Accepted answers that are about other contracts only"
    more += f". Source {NO_ONE}: of several alike" if (shown["sources"] == NO_ONE).any() else ""
    if len(shown) < len(short):
        more += f". The commonest {_COMMONEST} of each arm, {len(shown)} of {len(short)} rows; "
        more += "wrong_contract_answers.csv has every query"
    note = run.note(interval=False, more=more)
    caption = "Accepted answers about the wrong contract, by arm, question and source."
    return write(run, shown, "wrong_contract_answers", caption, note, full=table)


def _explained(record: QueryRecord) -> bool:
    return any(attempt.verdict and attempt.verdict.violations for attempt in record.attempts)


def contamination_figure(run: Run, sources: pd.DataFrame) -> Path:
    """Asked × answered contract as matrices, one an arm."""
    counts = {arm: contamination.matrix(sources, arm) for arm in run.arms}
    matrices = {arm: table.rename(columns=number_of, index=number_of) for arm, table in counts.items()}
    grid = figures.matrices(
        matrices, run.width, row_label="asked contract", column_label="answered contract", unit="queries"
    )
    caption = "Asked contract against the main source of the answer."
    return save(run, grid, "contamination_matrix", caption, run.note(interval=False))
