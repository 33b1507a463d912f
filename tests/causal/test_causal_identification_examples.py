"""Small models whose truth is known: what is identified equals it, what is not is said to be open."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ovrag_core.base.settings import Settings
from ovrag_core.study.book import Book, open_book
from ovrag_studies.causal.models import identification_examples as examples
from ovrag_studies.causal.models.identification_examples import examine
from ovrag_studies.causal.reports import question_results
from ovrag_studies.causal.settings import Causal


@pytest.fixture(scope="module")
def examined() -> dict[str, dict[str, Any]]:
    return {each.name: examine(each) for each in examples.examples()}


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return replace(open_book(Settings(), Causal), tables=tmp_path / "tables", figures=tmp_path / "figures")


def test_what_is_identified_is_the_effect_of_acting(examined: dict[str, dict[str, Any]]) -> None:
    methods = {
        name: each["identified"].removeprefix("by ") for name, each in examined.items() if each["identified"] != "no"
    }
    assert methods == {"measured confounder": "back-door", "front door": "front-door", "napkin": "ID"}
    for name in methods:
        assert examined[name]["computed"] == pytest.approx(examined[name]["true"])
        assert abs(examined[name]["naive"] - examined[name]["true"]) > 0.02, "confounding misleads"


def test_what_is_not_identified_names_the_path(examined: dict[str, dict[str, Any]]) -> None:
    paths = {name: each["by"].removeprefix("open: ") for name, each in examined.items() if each["identified"] == "no"}
    assert paths == {"bow": "x ← u → y", "instrument": "x ← u → y"}
    assert all(examined[name]["computed"] is None for name in paths)
    assert examined["bow"]["naive"] > 0 > examined["bow"]["true"], "what is seen points the other way"


def test_seeing_is_not_doing() -> None:
    model = examples.measured_confounder()
    told = {symbol: value for _, symbol, value in examples.quantities(model)}
    seen, done = told["P(y | x)"], told["P(y | do x)"]
    assert seen > told["P(y)"] > done
    # P(Y_(not x) = 1, x) is made of those who have y anyway and those that x spares: consistency by strata of z
    spared = told["P(Y_(not x) = 1 | x, not y)"]
    treated = told["E[Y_x − Y_(not x) | x]"]
    assert treated == pytest.approx(-spared * (1 - seen)), "x never helps here, so the effect is what it prevents"


def test_tables_of_the_models(book: Book, examined: dict[str, dict[str, Any]]) -> None:
    shown = question_results.identification_table(book, list(examined.values())).set_index("model")
    assert shown.loc["bow", "identified"] == "no" and shown.loc["bow", "by"] == "open: x ← u → y"
    assert "linearity" in shown.loc["instrument", "would suffice"]
    assert shown.loc["measured confounder", "by"] == "P(y | do x) = sum over z of P(z) P(y | z, x)"
    assert shown.loc["measured confounder", "true"] == "−0.120"
    actions = question_results.actions_table(book).set_index("symbol")
    assert actions.loc["P(y | do x)", "value"] == "0.380"
