"""Drawings of the study in the style of the thesis's figures: frames in, figure out."""

from collections.abc import Mapping, Sequence

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from ovrag_core.report import GREY, MARKERS, colours, styled

LINES = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), ":")
BLUE = "#0b5c8a"


def curves(
    panels: Mapping[str, pandas.DataFrame],
    width: float,
    *,
    axis: str,
    units: Mapping[str, str],
    level: str | None = None,
    ends: float | None = None,
) -> Figure:
    """One panel a measure over the same x: a line a series with its interval as a band.

    Frames have the columns x, series, value, low and high. `axis` names x, `units` the y axes by panel; `level` is the
    panel with a line at 0, which is a series of its own in black, `ends` the place on its x axis where it crosses it.
    """
    with styled():
        fig = Figure(figsize=(width, 2.6), layout="constrained")
        axes = fig.subplots(1, len(panels), squeeze=False)[0]
        for ax, (title, table) in zip(axes, panels.items(), strict=True):
            _lines(ax, table, ["black"] if title == level else None)
            ax.set(title=title, ylabel=units[title])
            if title == level:
                ax.axhline(0, color="black", lw=0.7)
            if title == level and ends is not None:
                ax.axvline(ends, color=GREY, lw=0.9, ls=(0, (4, 3)), label=f"no gain, {ends:.2f}")
        fig.supxlabel(axis, fontsize=8)
        handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        fig.legend(list(handles.values()), list(handles), loc="outside upper center", ncols=max(1, len(handles)))
        return fig


def _lines(ax: Axes, table: pandas.DataFrame, chosen: Sequence[str] | None = None) -> None:
    kinds = list(dict.fromkeys(table["series"]))
    for index, (kind, colour) in enumerate(zip(kinds, chosen or colours(len(kinds)), strict=True)):
        series = table[table["series"] == kind].sort_values("x")
        xs, values, low, high = series[["x", "value", "low", "high"]].to_numpy(dtype=float).T
        ax.fill_between(xs, low, high, color=colour, alpha=0.18, lw=0)
        ls, marker = LINES[index % len(LINES)], MARKERS[index % len(MARKERS)]
        ax.plot(xs, values, color=colour, ls=ls, marker=marker, lw=1.2, ms=4, mec="black", mew=0.4, label=kind)
    ax.grid()
    ax.set_axisbelow(True)


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
