"""What is flagged on CLadder, against another computation: by the data set's graph, type and order of percentages."""

import json
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from ovrag_studies.causal.questions.question_files import CausalQuestion, read_questions, solve

SAMPLES = Path("data/samples/causal/cladder.jsonl")
NOT_NUMERIC = ("det-counterfactual", "backadj", "collider_bias")
NOT_IDENTIFIED = frozenset({("nde", "arrowhead"), ("nie", "arrowhead"), ("ate", "IV"), ("ate", "bow"), ("ett", "bow")})
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")


def is_open(kind: str, graph: str, given_info: str) -> bool:
    """Whether the printed percentages allow either sign."""
    against = 0.5 if kind == "marginal" else 0.0
    between = spread(kind, graph, given_info)
    return between is not None and between[0] < against - 1e-9 and between[1] > against + 1e-9


def spread(kind: str, graph: str, given_info: str) -> tuple[float, float] | None:
    """The least and greatest value of numbers that print so; None where nothing is computed."""
    if kind in NOT_NUMERIC:
        return None
    printed = [float(number) / 100 for number in _PERCENT.findall(given_info)]
    corners = product(*[(max(0.0, number - 0.005), min(1.0, number + 0.005)) for number in printed])
    values = [value(kind, graph, corner) for corner in corners]
    return min(values), max(values)


def value(kind: str, graph: str, n: Sequence[float]) -> float:
    """The effect, difference or probability from the numbers in the order in which they are printed."""
    match kind, graph:
        case "marginal", _:
            return _mix(n[1], n[2], n[0])
        case "correlation", _:
            return n[2] / max(n[0], 1e-12) - n[1] / max(1 - n[0], 1e-12)
        case "exp_away", _:
            return n[4] - n[2]
        case "nde" | "nie", "mediation" | "arrowhead":
            crossed = len(n) > 8  # the mediator's table is by two variables, and the weight of one of them follows
            low, high = (_mix(n[4], n[5], n[8]), _mix(n[6], n[7], n[8])) if crossed else (n[4], n[5])
            return _mix(n[2] - n[0], n[3] - n[1], low) if kind == "nde" else (n[1] - n[0]) * (high - low)
    return _total(kind, graph, n)


def _total(kind: str, graph: str, n: Sequence[float]) -> float:
    """The average effect, on all or on the treated."""
    match kind, graph:
        case _, "IV":
            return (n[1] - n[0]) / (n[3] - n[2] or 1e-12)
        case "ett", "frontdoor":
            return (n[5] - n[4]) * (n[3] - n[2])
        case _, "frontdoor":
            return (n[1] - n[0]) * (_mix(n[3], n[5], n[6]) - _mix(n[2], n[4], n[6]))
        case "ett", "diamondcut":
            return _mix(n[2] - n[0], n[3] - n[1], n[5])
        case _, "diamondcut" | "confounding":
            return _mix(n[1] - n[0], n[3] - n[2], n[4])
    return n[1] - n[0]


def _mix(zero: float, one: float, share: float) -> float:
    """The average of two by the share of the second."""
    return zero * (1 - share) + one * share


def check_flags(path: Path) -> None:
    fields = {str(row["id"]): row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    wanted: dict[str, set[str]] = {"not identified": set(), "open by rounding": set()}
    for name, row in fields.items():
        if (row["type"], row["graph"]) in NOT_IDENTIFIED:
            wanted["not identified"].add(name)
        elif is_open(row["type"], row["graph"], row["given_info"]):
            wanted["open by rounding"].add(name)
    found: dict[str, set[str]] = {status: set() for status in wanted}
    for question in read_questions(path):
        assert isinstance(question, CausalQuestion)
        status = solve(question).status
        if status in found:
            found[status].add(question.id)
    assert found == wanted


def test_flags_on_the_samples() -> None:
    check_flags(SAMPLES)


def test_flags_on_the_development_half(external_data: Path) -> None:
    path = external_data / "causal" / "dev" / "cladder.jsonl"
    if not path.is_file():
        pytest.skip("no CLadder")
    check_flags(path)
