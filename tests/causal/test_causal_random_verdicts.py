"""The published table of the causal loop, replayed from drawn verdicts."""

import json
from collections import Counter
from pathlib import Path

import pandas
import pytest

from ovrag_studies.causal.chains import random_verdicts
from ovrag_studies.causal.chains.random_verdicts import FIGURES, PUBLISHED, STEPS, replay, reproduced


def mean(cells: pandas.DataFrame, arm: str, figure: str) -> float:
    return cells.set_index(["arm", "figure"]).loc[(arm, figure), "mean"]


def test_every_measured_cell_lies_in_the_range_of_replays_without_any_model() -> None:
    cells = replay(400)
    assert reproduced(cells) == (16, 16)
    assert len(cells) == 20


def test_the_loop_gains_by_stopping_on_a_lucky_draw_alone() -> None:
    once, often = replay(100, rounds=1), replay(100, rounds=10)
    vanilla = mean(once, "Vanilla", "entailment accuracy")
    assert abs(mean(once, "CAF", "entailment accuracy") - vanilla) < 0.02
    assert abs(vanilla - 0.63) < 0.01  # 0.8 h + 0.2 h / 2 at h = 0.7
    assert abs(mean(often, "CAF", "entailment accuracy") - 0.871) < 0.01
    assert abs(mean(once, "RAG", "entailment accuracy") - 0.54) < 0.01


def test_the_invariance_printed_as_zero_would_not_have_been_zero() -> None:
    cells = replay(100)
    baselines = cells[(cells["figure"] == "semantic invariance") & (cells["arm"] != "CAF")]
    assert baselines[["published", "inside"]].isna().all(axis=None) and (baselines["low"] > 0.6).all()


def test_a_replay_is_the_same_each_time() -> None:
    assert replay(20, seed=7).equals(replay(20, seed=7))
    assert not replay(20, seed=7).equals(replay(20, seed=8))


def test_a_figure_from_elsewhere_is_not_within_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_verdicts, "PUBLISHED", dict.fromkeys(PUBLISHED, (1.32, 0.84, 0.95, None)))
    assert not replay(100).set_index(["arm", "figure"]).loc[("CAF", "entailment accuracy"), "inside"]


def test_the_figures_kept_here_are_those_of_the_recorded_run(external_data: Path) -> None:
    folder = external_data / "causal" / "recorded"
    chains = json.loads((folder / "chains_75_published_run.json").read_text(encoding="utf-8"))["chains"]
    assert Counter(len(chain["steps"]) for chain in chains) == STEPS
    assert {len(chain["perturbations"]) for chain in chains} == {random_verdicts.PARAPHRASES}
    recorded = json.loads((folder / "metrics_published_run.json").read_text(encoding="utf-8"))["metrics_by_method"]
    for arm, published in PUBLISHED.items():
        figures = dict(zip(FIGURES, published, strict=True))
        primary = recorded[arm]["primary_metrics"]
        assert figures["inference depth"] == primary["mean_inference_depth"]
        assert figures["contradiction rate"] * 100 == primary["contradiction_rate_percent"]
        assert figures["entailment accuracy"] == primary["entailment_accuracy"]
