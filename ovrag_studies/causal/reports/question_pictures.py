"""Drawings of the questions half in the style of the thesis's figures: frames in, figure out."""

from collections.abc import Mapping

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from ovrag_core.report import styled

BLUE = "#0b5c8a"


def accuracies(tables: Mapping[str, pandas.DataFrame], width: float) -> Figure:
    """A panel a table, a row a group of questions: the share right with its interval, published ones hollow.

    Frames have the columns row, value, low, high, n and published.
    """
    with styled():
        rows = [len(table) for table in tables.values()]
        fig = Figure(figsize=(width, 0.9 + 0.19 * sum(rows)), layout="constrained")
        axes = fig.subplots(len(tables), 1, sharex=True, squeeze=False, height_ratios=rows)[:, 0]
        for ax, (title, table) in zip(axes, tables.items(), strict=True):
            _marks(ax, table)
            ax.set_title(title, loc="left")
        axes[-1].set_xlabel("share of questions answered as labelled")
        axes[-1].xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        handles = [
            Line2D([], [], marker="o", ms=4.5, color=BLUE, lw=1.3, label="measured, with interval"),
            Line2D([], [], marker="D", mfc="white", mec="black", ms=4.5, ls="", label="as published, on the benchmark"),
        ]
        fig.legend(handles=handles, loc="outside lower center", ncols=2)
        return fig


def _marks(ax: Axes, table: pandas.DataFrame) -> None:
    places = numpy.arange(len(table))
    for y, row in zip(places, table.to_dict("records"), strict=True):
        if row["published"]:
            ax.plot(row["value"], y, "D", mfc="white", mec="black", ms=4.5, mew=0.8, zorder=4)
            continue
        if not pandas.isna(row["low"]):
            ax.hlines(y, row["low"], row["high"], color=BLUE, lw=1.3)
        ax.plot(row["value"], y, "o", color=BLUE, ms=4.5, zorder=3)
    labels = [f"{row}, n = {n:,.0f}" for row, n in zip(table["row"], table["n"], strict=True)]
    ax.set_yticks(places, labels)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlim(0, 1.03)
    ax.grid(axis="x")
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
