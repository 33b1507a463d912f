"""Figures of the imported table equal those that pandas alone computes from the file, to four decimals."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.latency import by_attempts, latency_frame
from ovrag_core.evaluation.score import Json, score_run
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.loans.imports import Import, import_run

MATRIX = ("tp", "fp", "tn", "fn")
SECONDS = ("rag", "extraction", "validation", "total")


@pytest.fixture(scope="module", params=["as it is", "with failures"])
def table(request: pytest.FixtureRequest, external_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The given table; the same with queries that failed, or were asked again and got no verdict."""
    path = external_data / "loan_thesis" / "per_query.csv"
    if not path.is_file():
        pytest.skip("no loan_thesis in the external data")
    if request.param == "as it is":
        return path
    rows = pd.read_csv(path, dtype=str)
    drawn = rows[rows["condition"] == "ovrag"].sample(24, random_state=7).index
    outcome = ["validation_passed", "total_attempts", "hard_reject", "accepted_at_attempt"]
    measured = [name for name in rows if name.startswith(("rouge", "bertscore", "latency"))]
    rows.loc[drawn[:12], [*outcome, *measured]] = None
    rows.loc[drawn[:12], "error"] = "the model gave no answer"
    rows.loc[drawn[12:], outcome] = None
    rows.loc[drawn[12:], "total_attempts"] = "3.0"
    changed = tmp_path_factory.mktemp("table") / "per_query.csv"
    rows.to_csv(changed, index=False)
    return changed


@pytest.fixture(scope="module")
def rows(table: Path) -> pd.DataFrame:
    """The table, read by pandas and by nothing of ours."""
    return pd.read_csv(table, dtype={"contract_id": str})


@pytest.fixture(scope="module")
def imported(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Import:
    return import_run(table, "theirs", folder=tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def scored(imported: Import) -> Json:
    settings = Settings.model_validate({"evaluation": {"bootstrap_samples": 50}})
    result = score_run(imported.records, imported.seconds, settings, run="theirs", cache=None)
    arms = json.loads(json.dumps(result))["arms"]
    assert isinstance(arms, dict)
    return arms


def judged(rows: pd.DataFrame) -> pd.DataFrame:
    """OV-RAG rows that completed, with flagged and expected."""
    done = rows[(rows["condition"] == "ovrag") & rows["error"].isna() & rows["validation_passed"].notna()]
    return done.assign(flagged=done["validation_passed"].astype(str) == "False", clash=done["ground_truth"] == "CLASH")


def cells(done: pd.DataFrame) -> dict[str, int]:
    flagged, clash = done["flagged"], done["clash"]
    hits = (flagged & clash, flagged & ~clash, ~flagged & ~clash, ~flagged & clash)
    return {name: int(hit.sum()) for name, hit in zip(MATRIX, hits, strict=True)}


def same(ours: object, theirs: float) -> bool:
    return isinstance(ours, int | float) and round(float(ours), 4) == round(float(theirs), 4)


def test_confusion_and_rates_are_those_of_the_table(rows: pd.DataFrame, scored: Json) -> None:
    counts, arm = cells(judged(rows)), scored["ovrag"]
    assert {name: arm["confusion"][name] for name in MATRIX} == counts
    asked = rows[rows["condition"] == "ovrag"]
    failed = int(asked["error"].notna().sum())
    assert (arm["queries"], arm["confusion"]["error"]) == (len(judged(rows)), failed)
    assert arm["confusion"]["unchecked"] == len(asked) - len(judged(rows)) - failed
    precision = counts["tp"] / (counts["tp"] + counts["fp"])
    recall = counts["tp"] / (counts["tp"] + counts["fn"])
    assert same(arm["precision"], precision)
    assert same(arm["recall"], recall)
    assert same(arm["f1"], 2 * precision * recall / (precision + recall))
    assert same(arm["hard_reject_rate"], (judged(rows)["hard_reject"].astype(str) == "True").mean())


@pytest.mark.parametrize(("part", "column"), [("per_clash_type", "clash_type"), ("per_question", "question_id")])
def test_confusion_of_each_part_is_that_of_the_table(part: str, column: str, rows: pd.DataFrame, scored: Json) -> None:
    done = judged(rows)
    for name, group in done.fillna({"clash_type": "clean"}).groupby(column):
        assert {cell: scored["ovrag"][part][name]["confusion"][cell] for cell in MATRIX} == cells(group), name
    assert sum(scored["ovrag"][part][name]["queries"] for name in scored["ovrag"][part]) == len(done)


def test_contracts_flagged_at_least_once_are_those_of_the_table(rows: pd.DataFrame, scored: Json) -> None:
    by = judged(rows).groupby("contract_id").agg(flagged=("flagged", "any"), clash=("clash", "first"))
    contracts = scored["ovrag"]["contracts"]
    assert contracts["clashes_flagged"] == int((by["flagged"] & by["clash"]).sum())
    assert contracts["clean_flagged"] == int((by["flagged"] & ~by["clash"]).sum())
    assert (contracts["clashes"], contracts["clean"]) == (int(by["clash"].sum()), int((~by["clash"]).sum()))


def test_corrections_are_those_of_the_table(rows: pd.DataFrame, scored: Json) -> None:
    done = judged(rows)
    accepted = done.loc[~done["flagged"], "accepted_at_attempt"].astype(int).value_counts()
    assert scored["ovrag"]["accepted_at"] == {str(at): int(count) for at, count in sorted(accepted.items())}
    assert scored["ovrag"]["corrections"]["needed"] == int((done["total_attempts"] > 1).sum())
    assert scored["ovrag"]["corrections"]["succeeded"] == int((accepted.index > 0).dot(accepted))


@pytest.mark.parametrize("arm", ["plain", "ovrag"])
def test_means_of_scores_are_those_of_the_table(arm: str, rows: pd.DataFrame, scored: Json) -> None:
    given = rows[rows["condition"] == arm]
    assert same(scored[arm]["rouge_l"], given["rouge_l"].mean())
    for name in ("precision", "recall", "f1"):
        assert same(scored[arm]["bertscore"][name], given[f"bertscore_{name}"].mean())
        low, high = scored[arm]["bertscore"][f"{name}_interval"]
        assert low <= scored[arm]["bertscore"][name] <= high


@pytest.mark.parametrize("part", SECONDS)
def test_seconds_are_those_of_the_table(part: str, rows: pd.DataFrame, scored: Json) -> None:
    given = rows.loc[rows["condition"] == "ovrag", f"latency_{part}"].dropna()
    ours = scored["ovrag"]["latency"][part]
    assert ours["n"] == len(given)
    assert same(ours["mean"], given.mean())
    assert same(ours["max"], given.max())
    for name, share in (("median", 0.5), ("p25", 0.25), ("p75", 0.75), ("p95", 0.95)):
        assert same(ours[name], given.quantile(share)), name


def test_seconds_by_attempts_are_those_of_the_table(rows: pd.DataFrame, imported: Import) -> None:
    given = rows[(rows["condition"] == "ovrag") & rows["latency_total"].notna()]
    ours = by_attempts(latency_frame(imported.seconds), Resampling(50)).query("arm == 'ovrag'").set_index("attempts")
    for attempts, group in given.groupby("total_attempts"):
        assert int(ours.loc[int(attempts), "n"]) == len(group)
        assert same(float(ours.loc[int(attempts), "mean"]), group["latency_total"].mean())
