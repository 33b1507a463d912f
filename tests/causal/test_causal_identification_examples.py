"""Small models whose truth is known: what is identified equals it, what is not is bounded or said to be open."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from ovrag_core.base.settings import Settings
from ovrag_core.study.book import Book, open_book
from ovrag_studies.causal.models import identification_examples as examples
from ovrag_studies.causal.models.identification import Estimand, NotIdentified
from ovrag_studies.causal.models.identification_examples import Examined, examine
from ovrag_studies.causal.reports import identification_results
from ovrag_studies.causal.settings import Causal


@pytest.fixture(scope="module")
def examined() -> dict[str, Examined]:
    return {each.name: examine(each) for each in examples.examples()}


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return replace(open_book(Settings(), Causal), tables=tmp_path / "tables", figures=tmp_path / "figures")


def test_what_is_identified_is_the_effect_of_acting(examined: dict[str, Examined]) -> None:
    methods = {name: each.found.method for name, each in examined.items() if isinstance(each.found, Estimand)}
    assert methods == {"measured confounder": "back-door", "front door": "front-door", "napkin": "ID"}
    for name in methods:
        assert examined[name].estimate == pytest.approx(examined[name].truth)
        assert abs(examined[name].naive - examined[name].truth) > 0.02, "confounding misleads"


def test_what_is_not_identified_names_the_path_and_is_bounded(examined: dict[str, Examined]) -> None:
    paths = {name: each.found.path for name, each in examined.items() if isinstance(each.found, NotIdentified)}
    assert paths == {
        "bow": "x ← u → y",
        "instrument": "x ← u → y",
        "hidden cause of mediator and effect": "m ← u → y",
    }
    assert all(examined[name].estimate is None for name in paths)
    for name in ("bow", "instrument"):
        low, high = examined[name].bounds or (1.0, 0.0)
        assert low <= examined[name].truth <= high
    mediated = examined["hidden cause of mediator and effect"]
    assert mediated.naive < 0 < mediated.truth, "what is seen points the other way"


def test_seeing_is_not_doing() -> None:
    model = examples.measured_confounder()
    told = {symbol: value for _, symbol, value in examples.quantities(model)}
    seen, done = told["P(y | x)"], told["P(y | do x)"]
    assert seen > told["P(y)"] > done
    assert examples.done_by_pgmpy(model) == pytest.approx(done)
    # P(Y_(not x) = 1, x) is made of those who have y anyway and those that x spares: consistency by strata of z
    spared = told["P(Y_(not x) = 1 | x, not y)"]
    treated = told["E[Y_x − Y_(not x) | x]"]
    assert treated == pytest.approx(-spared * (1 - seen)), "x never helps here, so the effect is what it prevents"


def test_instability_grows_with_the_context_and_is_none_without() -> None:
    curve = examples.stability_curve(5)
    assert curve[0][1:] == (0, 0)
    for before, after in itertools.pairwise(curve):
        assert after[1] > before[1] and after[2] > before[2]


def test_libraries_agree_on_examples_and_random_graphs() -> None:
    found = examples.agreements(random_graphs=10, seed=7)
    assert len(found) == 16 and all(each.pgmpy and each.y0 for each in found)
    assert {each.name for each in found if not each.identified} >= {"bow", "instrument"}
    assert next(each for each in found if each.name == "front door").front_doors == 1


def test_tables_and_figures_of_the_models(book: Book, examined: dict[str, Examined]) -> None:
    shown = identification_results.identification_table(book, list(examined.values())).set_index("model")
    assert shown.loc["bow", "identified"] == "no" and shown.loc["bow", "by"] == "open: x ← u → y"
    assert (
        shown.loc["instrument", "bounds"] == "[0.092, 0.481]"
        and "linearity" in shown.loc["instrument", "would suffice"]
    )
    assert shown.loc["measured confounder", "true"] == "−0.120"
    assert identification_results.identification_figure(book, list(examined.values())).is_file()
    wrong = replace(examples.agreements(0)[0], y0=False)
    libraries = identification_results.libraries_table(book, [wrong, replace(wrong, name="random 1", y0=True)])
    assert libraries["y0 agrees"].tolist() == ["0 of 1", "1 of 1"]
    actions = identification_results.actions_table(book).set_index("symbol")
    assert actions.loc["P(y | do x)", "by pgmpy"] == actions.loc["P(y | do x)", "value"] == "0.380"
    assert identification_results.stability_figure(book, 0.2).is_file()
