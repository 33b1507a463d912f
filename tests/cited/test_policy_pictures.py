"""Drawings of the study: what is in them, at the width of the text, the same bytes each time."""

from pathlib import Path

import numpy
import pandas
from matplotlib.figure import Figure
from PIL import Image

from ovrag_core.report.figures import save_figure
from ovrag_studies.cited import results

WIDTH = 5.9


def words(fig: Figure) -> list[str]:
    """The legend's words."""
    return [text.get_text() for text in fig.legends[0].get_texts()]


def risk(certified: str = "ours") -> Figure:
    curves = {"without silence": numpy.array([(0.5, 0.0), (1.0, 0.3)])}
    points = {"b2": (1.0, 0.6), "ours": (0.5, 0.0), "without conflicts": (0.5, 0.0)}
    return results.draw_risk(curves, points, 0.1, certified, WIDTH)


def test_arms_at_one_point_have_one_mark_and_the_certified_one_is_ringed() -> None:
    assert words(risk()) == ["without silence", "b2", "ours,\nwithout conflicts", "allowed, 0.1", "certified"]
    assert "certified" not in words(risk("")), "nothing is ringed that is not certified"
    bottom, top = risk().axes[0].get_ylim()
    assert bottom < 0 and top > 0.6, "every mark is inside"


def test_outcomes_are_counted_in_bars() -> None:
    table = pandas.DataFrame([[3, 0, 1], [2, 1, 1]], index=["ours", "b2"], columns=["right", "wrong", "silent"])
    fig = results.draw_outcomes({"one rule answers": table}, WIDTH)
    assert [text.get_text() for text in fig.axes[0].texts] == ["3", "2", "1", "1", "1"], "empty parts are not labelled"
    assert fig.axes[0].get_xlim() == (0, 4) and words(fig) == ["right", "wrong", "silent"]
    assert len({bar.get_hatch() for bar in fig.axes[0].patches}) == 3, "told apart without colour"


def test_a_picture_is_as_wide_as_the_text_and_the_same_each_time(tmp_path: Path) -> None:
    first, second = (save_figure(risk(), name, folder=tmp_path) for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    assert Image.open(first).size[0] == round(WIDTH * 200)
