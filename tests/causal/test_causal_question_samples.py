"""The questions about effects of our own: labelled by what is true of their models."""

import json
from pathlib import Path

import pytest

from ovrag_studies.causal.models.structural_models import Scm, from_strata
from ovrag_studies.causal.questions.question_files import CausalQuestion, read_questions, solve

SAMPLES = Path("data/samples/causal")


def lines(name: str) -> list[dict]:
    return [json.loads(line) for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines()]


def flat(values: object) -> list[float]:
    return [leaf for each in values for leaf in flat(each)] if isinstance(values, list) else [values]


def scm_of(model: dict) -> Scm:
    """The model by its published probabilities."""
    strata, causes = {}, {}
    for key, values in model["params"].items():
        name, _, given = key[2:-1].partition(" | ")
        causes[name] = given.split(", ") if given else []
        cells = [tuple(map(int, f"{place:0{len(causes[name])}b}")) for place in range(2 ** len(causes[name]))]
        strata[name] = dict(zip(cells if given else [()], flat(values), strict=True))
    return from_strata(strata, causes)


@pytest.fixture(scope="module")
def models() -> dict[int, Scm]:
    return {each["model_id"]: scm_of(each) for each in lines("cladder_models.jsonl")}


def test_labels_are_true_of_the_models(models: dict[int, Scm]) -> None:
    compared = 0
    for row in lines("cladder.jsonl"):
        scm = models[row["model"]]
        if row["type"] == "ate":
            size = scm.do({"X": 1}).distribution(["Y"])[1] - scm.do({"X": 0}).distribution(["Y"])[1]
            up = "increase" in row["question"]
        elif row["type"] == "ett":
            size = scm.distribution(["Y"], {"X": 1})[1] - scm.counterfactual(["Y"], {"X": 0}, {"X": 1})[1]
            up = "be less likely" in row["question"]
        elif row["type"] == "marginal":
            size, up = scm.distribution(["Y"])[1] - 0.5, "more likely" in row["question"]
        elif row["type"] == "correlation":
            size = scm.distribution(["Y"], {"X": 1})[1] - scm.distribution(["Y"], {"X": 0})[1]
            up = "larger" in row["question"]
        else:
            continue
        compared += 1
        assert row["answer"] == ("yes" if (size if up else -size) > 0.005 else "no"), row["id"]
        truth = row["groundtruth"] - (0.5 if row["type"] == "marginal" else 0)
        assert truth == pytest.approx(size, abs=1e-6), row["id"]
    assert compared > 30


def test_indirect_effect_of_a_chain_is_the_whole_effect() -> None:
    effects = {(row["model"], row["type"]): row["groundtruth"] for row in lines("cladder.jsonl")}
    shared = [model for model, kind in effects if kind == "nie" and (model, "nde") not in effects]
    assert shared and all(effects[model, "nie"] == effects[model, "ate"] for model in shared)


def test_the_samples_are_solved_and_what_cannot_be_known_is_flagged() -> None:
    solved = [solve(each) for each in read_questions(SAMPLES / "cladder.jsonl") if isinstance(each, CausalQuestion)]
    by_status: dict[str, list[bool]] = {}
    for each in solved:
        by_status.setdefault(each.status, []).append(each.answer == each.question.label)
    assert {status: len(right) for status, right in by_status.items()} == {
        "determined": 49,
        "not identified": 10,
        "open by rounding": 2,
    }
    assert all(by_status["determined"]) and sum(by_status["not identified"]) == 6
