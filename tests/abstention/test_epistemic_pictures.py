"""Drawings of the study: they show what they are given, at the width of the text, with the same bytes each time."""

from pathlib import Path

import numpy
import pandas
import pytest
from matplotlib.figure import Figure

from ovrag_core.evaluation.statistics import Estimate
from ovrag_core.report.figures import save_figure
from ovrag_studies.abstention import card_pictures
from ovrag_studies.abstention.measures import CardOutcome, risk_curve

WIDTH = 5.9
KNOWN = {"LA": Estimate(0.5), "LA*": Estimate(0.25, 0.1, 0.4), "AP": Estimate(None), "AP*": Estimate(None)}
HALF = risk_curve([CardOutcome("a", "YES", "YES", 0.9), CardOutcome("b", "UNKNOWN", "UNKNOWN", 0.2)])
TABLE = pandas.DataFrame([[8, 1, 1], [0, 0, 0], [2, 3, 5]], index=list("ECU"), columns=["YES", "NO", "UNKNOWN"])
DRAWN = {
    "forms": lambda: card_pictures.forms({"one": KNOWN, "two": KNOWN}, {"LA": "LA*", "AP": "AP*"}, WIDTH),
    "risk": lambda: card_pictures.risk_and_coverage({"one": HALF}, 1, WIDTH),
    "confusion": lambda: card_pictures.confusion(dict.fromkeys("abcd", TABLE), WIDTH),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_as_wide_as_the_text_and_has_the_same_bytes(name: str, tmp_path: Path) -> None:
    assert DRAWN[name]().get_size_inches()[0] == WIDTH
    first, second = (save_figure(DRAWN[name](), name, folder=tmp_path / place) for place in ("1", "2"))
    assert first.read_bytes() == second.read_bytes()
    assert first.with_suffix(".pdf").read_bytes() == second.with_suffix(".pdf").read_bytes()


def texts(fig: Figure) -> list[str]:
    return [text.get_text() for ax in fig.axes for text in ax.texts]


def test_what_is_not_defined_is_said_and_no_point() -> None:
    fig = DRAWN["forms"]()
    assert texts(fig) == ["n/a"] * 4
    drawn = [line.get_xdata() for line in fig.axes[0].lines if len(line.get_xdata())]
    assert sorted(float(each[0]) for each in drawn) == [0.25, 0.25, 0.5, 0.5]


def test_cells_hold_counts_and_shares_of_their_row() -> None:
    fig = DRAWN["confusion"]()
    assert texts(fig)[:3] == ["8\n80%", "1\n10%", "1\n10%"]
    assert "0\n0%" in texts(fig)
    assert [ax.get_title() for ax in fig.axes] == ["a", "b", "c", "d", "", ""]


def test_the_least_risk_is_none_as_long_as_cards_have_an_answer() -> None:
    fig = card_pictures.risk_and_coverage({"one": HALF}, 1, WIDTH)
    least = next(line for line in fig.axes[0].lines if line.get_label() == "least possible")
    assert numpy.allclose(least.get_ydata(), [0, 0.5])
