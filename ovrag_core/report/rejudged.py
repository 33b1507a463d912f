"""A run that was recorded elsewhere beside our verdicts on what it recorded."""

from __future__ import annotations

import pandas as pd

from ovrag_core.evaluation import confusion
from ovrag_core.report.run import REJUDGED, Run, write
from ovrag_core.report.tables import with_bounds

_HEADERS = {
    "recorded": "First",
    "ours": "Second",
    "recorded_only": "First only",
    "ours_only": "Second only",
    "recall": "Recall, difference",
}


def pairs(run: Run) -> list[tuple[str, str]]:
    """Each arm with the arm in which it was judged again."""
    return [(arm, f"{arm}{REJUDGED}") for arm in run.arms if f"{arm}{REJUDGED}" in run.arms]


def rejudged_table(run: Run) -> pd.DataFrame:
    """Recorded verdicts against ours on the same queries: `rejudged`.

    Columns: recorded, ours, label, queries, both, recorded_only, ours_only, neither (flagged by whom), beside (not
    judged by one of them), and the difference in recall or, on clean contracts, in flagged queries, with its interval.
    """
    rows = []
    for first, second in pairs(run):
        joined = _joined(run, first, second)
        differences = confusion.compare(run.frame, second, first, run.plan)
        for label, group in joined.groupby("label", sort=True):
            inside = group[group["inside"]]
            a, b = inside["flagged_first"].astype(bool), inside["flagged_second"].astype(bool)
            counts = {"both": a & b, "recorded_only": a & ~b, "ours_only": ~a & b, "neither": ~a & ~b}
            row: dict[str, object] = {"recorded": first, "ours": second, "label": label, "queries": len(group)}
            row |= {name: int(hits.sum()) for name, hits in counts.items()} | {"beside": len(group) - len(inside)}
            if label == "CLASH" and (recall := differences["recall"]).value is not None:
                row |= {"recall": recall.value, "recall_low": recall.low, "recall_high": recall.high}
            rows.append(row)
    cells = ["both", "recorded_only", "ours_only", "neither", "beside"]
    names = ["recorded", "ours", "label", "queries", *cells, *with_bounds(["recall"])]
    table = pd.DataFrame(rows, columns=names)
    more = "First: as recorded. Second: by our engine, rejudged from the recorded statements. "
    more += (
        "Cells: flagged by both, one, neither; beside: unchecked or failed in one of them. Recall: second minus first"
    )
    caption = "Recorded verdicts against ours on the same queries."
    return write(run, table, "rejudged", caption, run.note(more=more), headers=_HEADERS)


def _joined(run: Run, first: str, second: str) -> pd.DataFrame:
    keys = ["document_id", "question_id"]
    frame = run.frame.assign(judged=run.frame["cell"].isin(confusion.MATRIX))
    a, b = (frame.loc[frame["arm"] == arm, [*keys, "label", "flagged", "judged"]] for arm in (first, second))
    both = a.merge(b.drop(columns="label"), on=keys, suffixes=("_first", "_second"))
    return both.assign(inside=both["judged_first"] & both["judged_second"])
