"""Drawings of the study of chains in the style of the thesis's figures: frames in, figure out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ovrag_core.report.figures import GREY, MARKERS, colours, styled

LINES = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), ":")
Limits = tuple[float, float]


def marks(
    tables: Mapping[str, pandas.DataFrame],
    row: str,
    width: float,
    *,
    series: str | None = None,
    units: Mapping[str, str],
    limits: Limits = (-0.03, 1.03),
) -> Figure:
    """One panel a table: a mark with its interval for each row, or for each row and series, which differ in marker.

    Frames have the columns `row` and `series`, and value, low and high. `units` are the labels of the x axes by panel.
    """
    with styled():
        given = pandas.concat(tables.values(), ignore_index=True)
        rows = list(dict.fromkeys(given[row].astype(str)))
        kinds = list(dict.fromkeys(given[series].astype(str))) if series else [""]
        fig = Figure(figsize=(width, 0.8 + (0.14 + 0.085 * len(kinds)) * len(rows)), layout="constrained")
        axes = fig.subplots(1, len(tables), sharey=True, squeeze=False)[0]
        chosen = dict(zip(kinds, colours(len(kinds)), strict=True))
        for ax, (title, table) in zip(axes, tables.items(), strict=True):
            for place, kind in enumerate(kinds):
                part = table if not series else table[table[series].astype(str) == kind]
                part = part.dropna(subset=["value"])
                at = numpy.array([rows.index(str(each)) for each in part[row]], dtype=float)
                at += (place - (len(kinds) - 1) / 2) * 0.66 / max(2, len(kinds))
                ax.hlines(at, part["low"].astype(float), part["high"].astype(float), color=chosen[kind], lw=1.2)
                look = {"color": chosen[kind], "mec": "black", "mew": 0.4, "ms": 4.2, "ls": ""}
                ax.plot(part["value"].astype(float), at, MARKERS[place % len(MARKERS)], label=kind, **look)
            ax.set_title(title)
            ax.set_xlabel(units[title])
            ax.set_xlim(limits)
            ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
            ax.grid(axis="x")
            ax.set_axisbelow(True)
            ax.tick_params(axis="y", length=0)
        axes[0].set_yticks(range(len(rows)), rows)
        axes[0].set_ylim(len(rows) - 0.5, -0.5)
        for edge in range(1, len(rows) if series else 0):
            for ax in axes:
                ax.axhline(edge - 0.5, color="0.85", lw=0.5)
        if series:
            handles, names = axes[0].get_legend_handles_labels()
            fig.legend(handles, names, loc="outside lower center", ncols=min(5, len(names)))
        return fig


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
                if ends is not None:
                    ax.axvline(ends, color=GREY, lw=0.9, ls=(0, (4, 3)), label=f"no gain, {ends:.2f}")
        fig.supxlabel(axis, fontsize=8)
        handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        fig.legend(list(handles.values()), list(handles), loc="outside upper center", ncols=max(1, len(handles)))
        return fig


def _lines(ax: Axes, table: pandas.DataFrame, chosen: Sequence[str] | None = None) -> None:
    kinds = list(dict.fromkeys(table["series"]))
    for place, (kind, colour) in enumerate(zip(kinds, chosen or colours(len(kinds)), strict=True)):
        part = table[table["series"] == kind].sort_values("x")
        at, values = part["x"].to_numpy(dtype=float), part["value"].to_numpy(dtype=float)
        low, high = part["low"].to_numpy(dtype=float), part["high"].to_numpy(dtype=float)
        ax.fill_between(at, low, high, color=colour, alpha=0.18, lw=0)
        ls, marker = LINES[place % len(LINES)], MARKERS[place % len(MARKERS)]
        ax.plot(at, values, color=colour, ls=ls, marker=marker, lw=1.2, ms=4, mec="black", mew=0.4, label=kind)
    ax.grid()
    ax.set_axisbelow(True)


def replays(table: pandas.DataFrame, width: float, titles: Mapping[str, str]) -> Figure:
    """One panel a figure of the published table: the range of replays by arm as a bar, the published cell as a diamond.

    The frame has the columns figure, arm, mean, low, high and published.
    """
    with styled():
        arms = list(dict.fromkeys(table["arm"]))
        fig = Figure(figsize=(width, 0.9 + 0.26 * len(arms)), layout="constrained")
        axes = fig.subplots(1, len(titles), sharey=True, squeeze=False)[0]
        for ax, (name, title) in zip(axes, titles.items(), strict=True):
            part = table[table["figure"] == name]
            at = numpy.array([arms.index(arm) for arm in part["arm"]], dtype=float)
            ax.hlines(at, part["low"], part["high"], color=colours(1)[0], lw=3, alpha=0.55, label="range of replays")
            ax.plot(part["mean"], at, "|", color="black", ms=7, label="mean of replays")
            look = {"mfc": "white", "mec": "black", "ms": 4.5, "ls": ""}
            ax.plot(part["published"].astype(float), at, "D", label="published", **look)
            ax.set_title(title)
            ax.margins(x=0.15)
            ax.xaxis.set_major_locator(MaxNLocator(3))
            ax.grid(axis="x")
            ax.set_axisbelow(True)
            ax.tick_params(axis="y", length=0)
        axes[0].set_yticks(range(len(arms)), arms)
        axes[0].set_ylim(len(arms) - 0.5, -0.5)
        handles, names = axes[0].get_legend_handles_labels()
        fig.legend(handles, names, loc="outside lower center", ncols=3)
        return fig
