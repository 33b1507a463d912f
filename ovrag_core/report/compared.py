"""Several runs side by side, and a run recorded elsewhere beside our verdicts on it: rates and paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pandas as pd

from ovrag_core.base import RunError
from ovrag_core.evaluation import confusion, holm
from ovrag_core.report.run import REJUDGED, Run, write
from ovrag_core.report.tables import Note, with_bounds

_HEADERS = {
    "recorded": "First",
    "ours": "Second",
    "recorded_only": "First only",
    "ours_only": "Second only",
    "recall": "Recall, difference",
}


def runs_table(runs: Sequence[Run]) -> pd.DataFrame:
    """A row a run and arm: contracts, queries, what stands beside the matrix, precision, recall, F1: `runs`.

    It is written where the first run's tables are. Raises RunError for fewer than two runs, or two of one name.
    """
    _refuse_alike(runs)
    frames = [
        confusion.confusion_by(run.frame, ["arm"], run.plan).assign(run=run.name, model=run.model) for run in runs
    ]
    table = pd.concat(frames, ignore_index=True)
    table["beside"] = table[list(confusion.BESIDE)].sum(axis=1)
    names = ["run", "model", "arm", "documents", "queries", "beside", *with_bounds(confusion.RATES)]
    n = f"{sum(len(run.records) for run in runs)} queries in {len(runs)} runs"
    note = _note(runs, n, "Beside: unchecked, failed or without a label")
    return write(runs[0], table[names], "runs", "Runs compared.", note, headers={"documents": "Contracts"})


def run_differences(runs: Sequence[Run]) -> pd.DataFrame:
    """Differences between runs in an arm that both have, over contracts with the same name and label: `runs_paired`.

    p-values are Holm's within a rate.
    """
    _refuse_alike(runs)
    rows: list[tuple[object, ...]] = []
    for run_a, run_b in combinations(runs, 2):
        for arm in (name for name in run_a.arms if name in run_b.arms):
            named = {"first": run_a.frame, "second": run_b.frame}
            frames = [frame[frame["arm"] == arm].assign(arm=name) for name, frame in named.items()]
            both = pd.concat(frames, ignore_index=True)
            labels = both.groupby("document_id")["label"].nunique()
            shared = both[both["document_id"].map(labels) == 1]
            for rate, difference in confusion.compare(shared, "first", "second", run_a.plan).items():
                if difference.value is not None:
                    bounds = confusion.bounds("difference", difference).values()
                    rows.append((rate, arm, run_a.name, run_b.name, difference.clusters, *bounds, difference.p))
    names = ["rate", "arm", "first", "second", "contracts", *with_bounds(["difference"]), "p"]
    table = pd.DataFrame(rows, columns=names).sort_values("rate", kind="stable", ignore_index=True)
    adjusted = [
        holm([None if pd.isna(p) else float(p) for p in group["p"]]) for _, group in table.groupby("rate", sort=True)
    ]
    table["p_holm"] = pd.Series([p for family in adjusted for p in family], dtype=float)
    note = _note(runs, "the contracts that both runs have, as listed", "First run minus second")
    return write(runs[0], table, "runs_paired", "Paired differences between runs in the same arm.", note)


def _note(runs: Sequence[Run], n: str, more: str) -> Note:
    models = "; ".join(f"{run.model}, run {run.name}" for run in runs)
    return replace(runs[0].note(n=n, more=more), model=models, arm="as listed")


def _refuse_alike(runs: Sequence[Run]) -> None:
    names = [run.name for run in runs]
    if len(set(names)) < max(2, len(names)):
        raise RunError(f"{', '.join(names) or 'nothing'} cannot be compared; name two different runs")


def pairs(run: Run) -> list[tuple[str, str]]:
    """Each arm with the arm in which it was judged again."""
    return [(arm, f"{arm}{REJUDGED}") for arm in run.arms if f"{arm}{REJUDGED}" in run.arms]


def rejudged_table(run: Run) -> pd.DataFrame:
    """Recorded verdicts against ours on the same queries: `rejudged`.

    Columns: recorded, ours, label, queries, both, recorded_only, ours_only, neither (flagged by whom), beside (not
    judged by one of them), and the difference in recall or, on clean contracts, in flagged queries, with its interval.
    """
    rows = []
    for recorded, ours in pairs(run):
        joined = _joined(run, recorded, ours)
        differences = confusion.compare(run.frame, ours, recorded, run.plan)
        for label, group in joined.groupby("label", sort=True):
            inside = group[group["inside"]]
            a, b = inside["flagged_first"].astype(bool), inside["flagged_second"].astype(bool)
            counts = {"both": a & b, "recorded_only": a & ~b, "ours_only": ~a & b, "neither": ~a & ~b}
            row: dict[str, object] = {"recorded": recorded, "ours": ours, "label": label, "queries": len(group)}
            row |= {name: int(hits.sum()) for name, hits in counts.items()} | {"beside": len(group) - len(inside)}
            row |= confusion.bounds("recall", differences["recall"]) if label == "CLASH" else {}
            rows.append(row)
    cells = ["both", "recorded_only", "ours_only", "neither", "beside"]
    names = ["recorded", "ours", "label", "queries", *cells, *with_bounds(["recall"])]
    table = pd.DataFrame(rows, columns=names)
    more = "First: as recorded. Second: by our engine, rejudged from the recorded statements. "
    more += "Cells: flagged by both, one, neither; beside: unchecked or failed in one of them. "
    more += "Recall: second minus first"
    caption = "Recorded verdicts against ours on the same queries."
    return write(run, table, "rejudged", caption, run.note(more=more), headers=_HEADERS)


def _joined(run: Run, first: str, second: str) -> pd.DataFrame:
    keys = ["document_id", "question_id"]
    frame = run.frame.assign(judged=run.frame["cell"].isin(confusion.MATRIX))
    a, b = (frame.loc[frame["arm"] == arm, [*keys, "label", "flagged", "judged"]] for arm in (first, second))
    both = a.merge(b.drop(columns="label"), on=keys, suffixes=("_first", "_second"))
    return both.assign(inside=both["judged_first"] & both["judged_second"])
