"""Drawings of the study of chains in the style of the thesis's figures: frames in, figure out."""

from collections.abc import Mapping, Sequence

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ovrag_core.report import GREY, MARKERS, colours, styled

LINES = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), ":")


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
