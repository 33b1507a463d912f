"""Answers about the wrong contract: tables and figures of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ovrag_core.evaluation import contamination
from ovrag_core.report import figures
from ovrag_core.report.run import MARK, UNRECORDED, Run, number_of, with_rows
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
    return run.table(table, "contamination", {"basis": basis})


def false_positive_table(run: Run) -> pd.DataFrame:
    """Inventory of false positives, published ones beside: `false_positives`, in LaTeX counted by what they share."""
    table = contamination.false_positive_frame(run.records)
    if run.published and "ovrag" in run.arms:
        rows = pd.DataFrame(run.published.false_positives).assign(arm=f"ovrag {MARK}", attempts=4)
        rows = rows.assign(outcome="hard_rejected", rules=rows["message"])  # no rules were published, but the clash was
        table = with_rows(pd.concat([rows, table], ignore_index=True)[list(table.columns)], [], ["attempts"])
    retrieving = {record.arm for record in run.records if record.retrieved}
    verdicts = [(record.arm, attempt.verdict) for record in run.records for attempt in record.attempts]
    explaining = {arm for arm, verdict in verdicts if verdict and verdict.violations}
    short = table.copy()
    short.loc[short["arm"].isin(set(run.arms) - retrieving), "chunks_also_from"] = UNRECORDED
    short.loc[short["arm"].isin(set(run.arms) - explaining), "rules"] = UNRECORDED
    short = _counted(short, ["arm", "question_id", "chunks_also_from", "rules"])
    return run.table(short, "false_positives", rows=25, long=True, full=table)


def wrong_answer_table(run: Run, sources: pd.DataFrame) -> pd.DataFrame:
    """Accepted answers about other contracts only: `wrong_contract_answers`, in LaTeX counted by what they quote."""
    table = contamination.wrong_answers(sources)
    short = _counted(table, ["arm", "question_id", "sources", "basis"])
    short = short.sort_values("queries", ascending=False, kind="stable")
    short = short.sort_values("arm", key=lambda arms: arms.map(run.arms.index), kind="stable")
    shown = short.groupby("arm", sort=False).head(_COMMONEST).reset_index(drop=True)
    shown = shown.assign(sources=shown["sources"].replace("", NO_ONE))
    cut = f"The commonest {_COMMONEST} of each arm, {len(shown)} of {len(short)} rows; "
    words = {
        "alike": f"Source {NO_ONE}: of several alike" if (shown["sources"] == NO_ONE).any() else "",
        "cut": f"{cut}wrong_contract_answers.csv has every query" if len(shown) < len(short) else "",
    }
    return run.table(shown, "wrong_contract_answers", words, full=table)


def _counted(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Rows that agree in `keys` as one, with their number and the first contract, in the order of their firsts."""
    groups = table.groupby(list(keys), sort=False, dropna=False)["document_id"]
    return groups.agg(queries="size", first_contract="first").reset_index()


def contamination_figure(run: Run, sources: pd.DataFrame) -> Path:
    """Asked × answered contract as matrices, one an arm."""
    counts = {arm: contamination.matrix(sources, arm) for arm in run.arms}
    matrices = {arm: table.rename(columns=number_of, index=number_of) for arm, table in counts.items()}
    return run.figure(figures.matrices(matrices, run.width), "contamination_matrix")
