"""The published table of the causal loop, replayed from drawn verdicts."""

import json
from collections import Counter
from pathlib import Path

from ovrag_studies.causal.chains import random_verdicts
from ovrag_studies.causal.chains.random_verdicts import PUBLISHED, STEPS, ReplayedCell, replay, reproduced


def cell(cells: list[ReplayedCell], arm: str, figure: str) -> ReplayedCell:
    return next(each for each in cells if (each.arm, each.figure) == (arm, figure))


def test_every_measured_cell_lies_in_the_range_of_replays_without_any_model() -> None:
    cells = replay(400)
    assert reproduced(cells) == (16, 16)
    assert len(cells) == 20


def test_the_loop_gains_by_stopping_on_a_lucky_draw_alone() -> None:
    once, often = replay(100, rounds=1), replay(100, rounds=10)
    vanilla = cell(once, "Vanilla", "entailment accuracy")
    assert abs(cell(once, "CAF", "entailment accuracy").mean - vanilla.mean) < 0.02
    assert abs(vanilla.mean - 0.63) < 0.01  # 0.8 h + 0.2 h / 2 at h = 0.7
    assert abs(cell(often, "CAF", "entailment accuracy").mean - 0.871) < 0.01
    assert abs(cell(once, "RAG", "entailment accuracy").mean - 0.54) < 0.01


def test_the_invariance_printed_as_zero_would_not_have_been_zero() -> None:
    for each in replay(100):
        if each.figure == "semantic invariance" and each.arm != "CAF":
            assert each.published is None and each.inside is None
            assert each.low > 0.6


def test_a_replay_is_the_same_each_time() -> None:
    assert replay(20, seed=7) == replay(20, seed=7)
    assert replay(20, seed=7) != replay(20, seed=8)


def test_a_figure_from_elsewhere_is_not_within_the_range() -> None:
    there = cell(replay(100), "CAF", "entailment accuracy")
    assert not ReplayedCell(there.arm, there.figure, 0.95, there.mean, there.low, there.high).inside


def test_the_figures_kept_here_are_those_of_the_recorded_run(external_data: Path) -> None:
    folder = external_data / "causal" / "recorded"
    chains = json.loads((folder / "chains_75_published_run.json").read_text(encoding="utf-8"))["chains"]
    assert Counter(len(chain["steps"]) for chain in chains) == STEPS
    assert {len(chain["perturbations"]) for chain in chains} == {random_verdicts.PARAPHRASES}
    recorded = json.loads((folder / "metrics_published_run.json").read_text(encoding="utf-8"))["metrics_by_method"]
    for arm, figures in PUBLISHED.items():
        primary = recorded[arm]["primary_metrics"]
        assert figures["inference depth"] == primary["mean_inference_depth"]
        assert figures["contradiction rate"] * 100 == primary["contradiction_rate_percent"]
        assert figures["entailment accuracy"] == primary["entailment_accuracy"]
