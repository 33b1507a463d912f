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


def retrieved_table(run: Run) -> pd.DataFrame:
    """Sources that were retrieved for each question: `retrieved_sources`, in LaTeX for chosen contracts.

    Chosen are the middle contract of the clean ones and of each type of contradiction, where a pool has had time to
    grow; arms that retrieved the same share a row, and arms that cannot retrieve from elsewhere are left out.
    """
    table = contamination.retrieved_frame(run.records)
    foreign = table.groupby("arm")["asked_chunks"].sum() < table.groupby("arm")["chunks"].sum()
    shown = table[table["arm"].map(foreign).astype(bool) & table["document_id"].isin(chosen_contracts(run))]
    keys = ["document_id", "question_id", "asked_chunks", "chunks", "sources"]
    shown = shown.groupby(keys, sort=False)["arm"].agg(", ".join).reset_index(name="arms")
    shown = shown.sort_values(["document_id", "question_id"], kind="stable")
    shown.insert(2, "arms", shown.pop("arms"))
    more = "Chosen: the middle contract of the clean ones and of each type. Arms with chunks of the asked contract only"
    more += " are left out" + ("" if len(table) else ". The run does not say what was retrieved")
    note = run.note(interval=False, more=more)
    headers = {"asked_chunks": "Of asked", "chunks": "Chunks"}
    caption = "Contracts that chunks were retrieved from, by question, for chosen contracts."
    return write(run, shown, "retrieved_sources", caption, note, headers=headers, long=True, full=table)


def chosen_contracts(run: Run) -> list[str]:
    """The middle contract, by id, of the clean ones and of each type of contradiction."""
    contracts = run.frame[["document_id", "clash_type"]].drop_duplicates("document_id").sort_values("document_id")
    groups = contracts.groupby("clash_type", sort=False)["document_id"]
    return sorted(str(names.iloc[len(names) // 2]) for _, names in groups)


def contamination_figures(run: Run, sources: pd.DataFrame) -> list[Path]:
    """Shares per arm as bars, and asked × answered contract as matrices."""
    table = contamination.shares(sources, run.plan)
    legends = {"asked": "asked contract only", "mixed": "asked and others", "other": "other contracts only"}
    bars = figures.stacked_shares(table, "arm", legends, run.width, unit="share of answers")
    counts = {arm: contamination.matrix(sources, arm) for arm in run.arms}
    matrices = {arm: table.rename(columns=number_of, index=number_of) for arm, table in counts.items()}
    grid = figures.matrices(
        matrices, run.width, row_label="asked contract", column_label="answered contract", unit="queries"
    )
    note = run.note(interval=False)
    return [
        save(run, bars, "contamination_shares", "Which contract answers are about, by arm.", note),
        save(run, grid, "contamination_matrix", "Asked contract against the main source of the answer.", note),
    ]


def sentences(run: Run, sources: pd.DataFrame) -> list[str]:
    """Describe what the sources of answers show, a sentence an arm, computed from them."""
    table = contamination.shares(sources, run.plan)
    false = contamination.false_positive_frame(run.records)
    unknown = run.lacking(lambda record: record.retrieved)
    lines = []
    for _, row in table.iterrows():
        of_arm = false[false["arm"] == row["arm"]]
        foreign = int((of_arm["chunks_also_from"] != "").sum())
        about = "no answer is about any contract"
        if row["answers"]:
            about = f"{row['asked']:.1%} of {row['answers']} answers are about the asked contract alone, "
            about += f"{row['other']:.1%} about other contracts only"
        flagged = f"{len(of_arm)} clean queries are flagged"
        if len(of_arm) and row["arm"] not in unknown:
            flagged += f", {foreign} of them with chunks of other contracts in the context"
        lines.append(f"{row['arm']}: {about}; {flagged}.")
    return lines
